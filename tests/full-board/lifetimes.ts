import { setTimeout as pause } from 'node:timers/promises'
import { type Account, newAccount } from '@lockstep/testing/accounts'
import { Client } from '@lockstep/testing/client'
import { type Random, seeded } from '@lockstep/testing/random'
import type pg from 'pg'
import { etagOfBoard } from '../../packages/server/src/boards/board-cache.ts'
import { readBoard, readBoardVersion } from '../../packages/server/src/boards/board-queries.ts'
import { readColumn } from '../../packages/server/src/columns/column-queries.ts'
import type { Db } from '../../packages/server/src/database/database.ts'
import { learn } from '../fold/record-board.ts'
import { Dice, inputsOf, type Known, knownOf, type WritingOperation, weightOf, writeNames } from '../fold/writes.ts'

export interface LifetimeOptions {
  seeds: readonly number[]
  /** Writes in each lifetime. After each of them, every instance is read. */
  steps: number
  /** Lifetimes at the same time, each with users of its own. */
  concurrency: number
  /** The instances that are running at the moment. */
  urls: () => readonly string[]
  sql: pg.Pool
  progress?: (done: number, reads: number) => void
}
export interface LifetimeResult {
  reads: number
  writes: number
  violations: string[]
}

const USERS_PER_LANE = 4
/** Large enough that a board with some of these cards has several segments. */
const LARGE_TEXT = 20_000
const LARGE_CARDS = 10
/** Enough to use up the space between two ranks. */
const SMALL_CARDS = 20
const MAX_VIOLATIONS = 20
const MAX_TRIES = 200

/**
 * Random writes on boards. After each write, the board is read from every instance, and must equal what PostgreSQL builds at
 * its position, byte for byte.
 */
export async function runLifetimes(options: LifetimeOptions): Promise<LifetimeResult> {
  const result: LifetimeResult = { reads: 0, writes: 0, violations: [] }
  const seeds = [...options.seeds]
  let done = 0
  const lane = async () => {
    const users = await Promise.all(
      Array.from({ length: USERS_PER_LANE }, () => persistently(() => newAccount(urlOf(options)))),
    )
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      await live(seed, users, options, result)
      options.progress?.(++done, result.reads)
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, lane))
  return result
}

const urlOf = ({ urls }: LifetimeOptions, random?: Random) => {
  const all = urls()
  return (random ? random.pick(all) : all[0]) as string
}

async function live(seed: number, users: Account[], options: LifetimeOptions, result: LifetimeResult) {
  const random = seeded(seed)
  const [owner] = users as [Account]
  const people = users.map(({ id }) => id)
  const known = await newBoard(seed, people, random, () => new Client(urlOf(options, random), owner.token))
  const { board_id } = known
  const names = writeNames.flatMap((name) => Array.from({ length: weightOf(name) }, () => name))
  for (let step = 0; step < options.steps; step++) {
    const client = new Client(urlOf(options, random), (random.below(4) === 0 ? random.pick(users) : owner).token)
    const name = random.below(8) === 0 ? 'createCard' : random.pick(names)
    const inputs = name === 'createCard' ? nextToFirst(known) : inputsOf(name, diceOf(random), known)
    const isRenaming = random.below(25) === 0
    // An instance may be killed or stopped at any time. What matters is that reads agree with the database afterwards.
    const send = async () => {
      if (isRenaming) await client.send('updateMe', { body: { firstname: textOf(random, 5) } })
      const response = await client.send(name, inputs as never)
      if (response.status < 300) learn(known, name, inputs, response)
    }
    await send().catch(ignoreLostConnection)
    result.writes++
    const where = `seed ${seed}, step ${step}, ${name}`
    for (const url of options.urls()) await compare(url, owner, board_id, where, options, result)
    if (result.violations.length >= MAX_VIOLATIONS) return
  }
}

const diceOf = (random: Random) => new Dice(Array.from({ length: 14 }, () => random.below(10_000)))

/** A board with two columns: of large cards, or of many cards at the same place, so that ranks must be re-spaced. */
async function newBoard(seed: number, people: string[], random: Random, client: () => Client): Promise<Known> {
  const { id: board_id } = await persistently(() => client().call('createBoard', { body: { title: `Life ${seed}` } }))
  const known = knownOf(board_id, people)
  const send = async (name: WritingOperation, inputs: object) =>
    learn(known, name, inputs, await persistently(() => client().send(name, inputs as never)))
  const params = { board_id }
  for (const user_id of people.slice(1)) await send('inviteMember', { params, body: { user_id } })
  for (const title of ['One', 'Two']) await send('createColumn', { params, body: { title } })
  const isLarge = seed % 2 === 0
  for (let n = 0; n < (isLarge ? LARGE_CARDS : SMALL_CARDS); n++) {
    const at = { ...params, column_id: known.ids.column[n % 2] as string }
    const body = { title: `Card ${n}`, description: textOf(random, LARGE_TEXT) }
    await send('createCard', isLarge || n === 0 ? { params: at, body } : nextToFirst(known))
  }
  for (const card_id of known.ids.card.slice(0, 2))
    await send('createChecklist', { params: { card_id }, body: { title: 'List' } })
  for (const checklist_id of known.ids.checklist)
    for (const content of ['One', 'Two']) await send('createItem', { params: { checklist_id }, body: { content } })
  return known
}

/** A new card behind the first one. Halving the same gap again and again, it soon needs space. */
const nextToFirst = ({ board_id, ids }: Known) => ({
  params: { board_id, column_id: ids.column[0] as string },
  body: { title: 'Next', after_id: ids.card[0] as string },
})

/** Reads until the response has the version of the database, and compares their texts. */
async function compare(
  url: string,
  { token }: Account,
  board_id: string,
  where: string,
  { sql, urls }: LifetimeOptions,
  result: LifetimeResult,
) {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    // A killed instance gets another address.
    if (!urls().includes(url)) return
    const read = () => new Client(url, token).send('getBoard', { params: { board_id } })
    const response = await read().catch(ignoreLostConnection)
    const expected = await expectedBoard(sql, board_id).catch(() => undefined)
    if (response?.status === 200 && expected && response.headers.get('etag') === expected.etag) {
      result.reads++
      if (response.text === expected.text) return
      let at = 0
      while (expected.text[at] === response.text[at]) at++
      result.violations.push(
        `${where}: the board at ${expected.etag} differs after …${expected.text.slice(Math.max(0, at - 150), at + 20)}`,
      )
      return
    }
    // The owner may have been removed by a member who became an owner: then nobody reads this board any more.
    if (response?.status === 403 || response?.status === 404) return
    await pause(50)
  }
  result.violations.push(`${where}: ${url} never returned the current version`)
}

/** The board as PostgreSQL builds it now, from the texts of the board and of each column. */
async function expectedBoard(sql: pg.Pool, board_id: string) {
  const client = await sql.connect()
  const db: Db = {
    run: async (statement, args) =>
      (await client.query({ text: statement.text, values: statement.values(args) })).rows as never,
  }
  try {
    await client.query('begin isolation level repeatable read, read only')
    const version = await readBoardVersion(db, board_id)
    const board = await readBoard(db, board_id)
    const columns = await client.query<{ id: string }>('select id from columns where board_id = $1 order by rank, id', [
      board_id,
    ])
    const texts: (string | undefined)[] = []
    for (const { id } of columns.rows) texts.push(await readColumn(db, { board_id, id }))
    await client.query('commit')
    if (!version || !board) throw new Error('The board does not exist')
    return { etag: etagOfBoard(version), text: `${board.slice(0, -1)},"columns":[${texts.join(', ')}]}` }
  } finally {
    client.release(true)
  }
}

const textOf = (random: Random, length: number) =>
  Array.from({ length }, () => String.fromCharCode(97 + random.below(26))).join('')

/** A request whose instance was stopped has no response. Other errors are thrown. */
function ignoreLostConnection(error: unknown): undefined {
  if (error instanceof TypeError) return undefined
  throw error
}

async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === MAX_TRIES) throw error
      await pause(100)
    }
  }
}

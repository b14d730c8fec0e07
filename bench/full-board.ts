import { gunzipSync } from 'node:zlib'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { assertValid, byTurns, rounded } from '@lockstep/testing/load/measure'
import { cardOf, idOf, seedBoards } from '@lockstep/testing/load/seed'
import { median } from '@lockstep/testing/statistics'
import pg from 'pg'
import { readFullBoard } from '../packages/server/src/boards/full-board-queries.ts'
import type { Db } from '../packages/server/src/database/database.ts'
import { type Cost, measureCost } from './cost.ts'
import type { Environment } from './environment.ts'
import { type Figure, figure, type Goal, perOperation } from './figure.ts'

/** Number of the first large board, above the numbers of all other boards. */
const FIRST = 20_001
/** By number of cards: milliseconds of PostgreSQL, and of the response, for a load after a change. */
const goals: Record<number, number> = {
  1000: 25,
  5000: 100,
}
const WARM_UP_LOADS = 100
/** Loads after a change per round: the first ones after another measurement take twice as long. */
const CHANGED_LOADS = 50
/** An unchanged board takes less than a millisecond, so it is loaded often. */
const UNCHANGED_LOADS = 100

type Loads = Cost & { ms: number }

/** Loads of a full board by its size: after a change of one card, unchanged, and unchanged with its ETag (304). */
export async function measureFullBoard(environment: Environment): Promise<Figure[]> {
  const { size, progress, pool, tokens } = environment
  const service = await environment.sharedService()
  const client = new pg.Client({ connectionString: environment.url('ours') })
  await client.connect()
  const figures: Figure[] = []
  for (const [i, cards] of size.cards.entries()) {
    const board = FIRST + i
    const id = idOf('board', board)
    // Reads of a small board are shorter and vary more, so there are more of them.
    const bareLoads = Math.ceil(size.loadedCards / cards)
    const changedLoads = Math.min(CHANGED_LOADS, size.loadedCards)
    await seedBoards(pool('ours'), { from: board, to: board, cards })
    await pool('ours').query('vacuum analyze')
    using http = new HttpClient(service.baseUrl, tokens[1] as string)
    const load = async (expectedStatus: number, headers = {}) => {
      const response = await http.request('GET', `/boards/${id}`, { 'accept-encoding': 'gzip', ...headers })
      assertValid(response.status === expectedStatus, `a full board returned ${response.status}`)
      return response
    }
    const cost = (pid: number, work: () => Promise<number>) =>
      measureCost({ server: pool('postgres'), database: 'ours', pid }, work)
    let changes = 0
    /** The change is not part of the cost. */
    const loadAfterChange = async (): Promise<Loads> => {
      const title = `Change ${++changes}`
      const { status } = await http.json('PATCH', `/cards/${idOf('card', cardOf(board, 1))}`, { title })
      assertValid(status === 200, `a change returned ${status}`)
      let ms = 0
      const measured = await cost(service.pid, async () => {
        const response = await load(200)
        ms = response.ms
        assertValid(gunzipSync(response.bytes).includes(`"${title}"`), 'a load did not contain the last change')
        return 1
      })
      return { ...measured, ms }
    }
    const repeat = async (status: number, headers: () => Promise<object>): Promise<Loads> => {
      const sent = await headers()
      const times: number[] = []
      const measured = await cost(service.pid, async () => {
        for (let n = 0; n < UNCHANGED_LOADS; n++) times.push((await load(status, sent)).ms)
        return UNCHANGED_LOADS
      })
      return { ...measured, ms: median(times) }
    }
    const changed = async (): Promise<Loads> => {
      const all: Loads[] = []
      for (let n = 0; n < changedLoads; n++) all.push(await loadAfterChange())
      const of = (key: keyof Loads) => median(all.map((each) => each[key]))
      return { node: of('node'), postgres: of('postgres'), count: 1, ms: of('ms') }
    }
    const statement = await fullBoardStatement(id)
    const bare = async (): Promise<Loads> => {
      const measured = await cost(process.pid, async () => {
        for (let n = 0; n < bareLoads; n++) await client.query({ name: 'full_board', ...statement })
        return bareLoads
      })
      return { ...measured, ms: 0 }
    }
    // PostgreSQL plans the first executions of a prepared statement one by one, and then caches a generic plan.
    for (let n = 0; n < WARM_UP_LOADS; n++) await loadAfterChange()
    const rounds = await byTurns(size.rounds, {
      changed,
      bare,
      unchanged: () => repeat(200, async () => ({})),
      known: () => repeat(304, async () => ({ 'if-none-match': String((await load(200)).headers.etag) })),
    })
    const name = `full board of ${cards} cards`
    const p50 = (costs: Loads[]) => costs.map(({ ms }) => ms)
    const [node, postgres] = [perOperation(rounds.changed, 'node'), perOperation(rounds.changed, 'postgres')]
    const goal = goals[cards]
    const bounds: (Goal | undefined)[] = [goal && { what: 'response ms', most: goal, values: p50(rounds.changed) }].map(
      (each) => each || undefined,
    )
    const limitOf = (costs: Loads[], rest: string) =>
      `A response takes ${rounded(median(p50(costs)))} ms (median). ${rest}`
    figures.push(
      figure(
        `${name}, after a change`,
        { node, postgres, bare: perOperation(rounds.bare, 'postgres') },
        limitOf(rounds.changed, 'The bare engine is the statement that reads the whole board.'),
        bounds.filter((each) => each !== undefined),
      ),
    )
    for (const [kind, what] of [
      ['unchanged', 'unchanged'],
      ['known', 'known to the client (304)'],
    ] as const) {
      const costs = rounds[kind]
      figures.push(
        figure(
          `${name}, ${what}`,
          { node: perOperation(costs, 'node'), postgres: perOperation(costs, 'postgres') },
          limitOf(costs, 'The access check of the request, and Node.'),
        ),
      )
    }
    progress(`  ${cards} cards after a change: ${rounded(median(p50(rounds.changed)))} ms`)
  }
  await client.end()
  return figures
}

/** The service's own statement for a full board. */
async function fullBoardStatement(id: string): Promise<{ text: string; values: unknown[] }> {
  let found = { text: '', values: [] as unknown[] }
  const db: Db = {
    run: async (statement, args) => {
      found = { text: statement.text, values: statement.values(args) }
      return []
    },
  }
  await readFullBoard(db, id)
  return found
}

import { gunzipSync } from 'node:zlib'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { assertValid, byTurns, type Figure, type Findings, figure, rounded } from '@lockstep/testing/load/measure'
import { cardOf, idOf, seedBoards } from '@lockstep/testing/load/seed'
import { median } from '@lockstep/testing/statistics'
import { readFullBoard } from '../packages/server/src/boards/full-board-queries.ts'
import type { Db } from '../packages/server/src/database/database.ts'
import { withoutColons } from './bare-statements.ts'
import type { Environment } from './environment.ts'
import { pgbench } from './pgbench.ts'

/** Number of the first large board, above the numbers of all other boards. */
const FIRST = 20_001
const LEAST_CHANGED_RATIO = 0.8
const LEAST_UNCHANGED_RATIO = 50
const MOST_MS = 400
/** The size of board with that goal. */
const MOST_CARDS = 5_000
const WARM_UP_LOADS = 10
/** An unchanged board takes less than a millisecond, so it is loaded often enough to outlast cold caches. */
const UNCHANGED_LOADS = 50

/** Loads of a full board by its size: after a change, unchanged, and unchanged with its ETag (304). */
export async function measureFullBoard(environment: Environment): Promise<Findings> {
  const { size, progress, pool, tokens } = environment
  const script = `${withoutColons(await fullBoardStatement())};\n`
  // The generic plan, which a connection of the service uses after its first executions.
  const url = `${environment.url('ours')}?options=${encodeURIComponent('-c plan_cache_mode=force_generic_plan')}`
  const service = await environment.sharedService()
  const figures: Figure[] = []
  let limits = ''
  for (const [i, cards] of size.cards.entries()) {
    const board = FIRST + i
    const id = idOf('board', board)
    // Loads of small boards are shorter and vary more, so there are more of them.
    const loads = Math.ceil(size.loadedCards / cards)
    await seedBoards(pool('ours'), { from: board, to: board, cards })
    await pool('ours').query('vacuum analyze')
    using client = new HttpClient(service.baseUrl, tokens[1] as string)
    const load = async (expectedStatus: number, headers = {}) => {
      const response = await client.request('GET', `/boards/${id}`, { 'accept-encoding': 'gzip', ...headers })
      assertValid(response.status === expectedStatus, `a full board returned ${response.status}`)
      return response
    }
    let changes = 0
    const loadAfterChange = async () => {
      const title = `Change ${++changes}`
      const { status } = await client.json('PATCH', `/cards/${idOf('card', cardOf(board, 1))}`, { title })
      assertValid(status === 200, `a change returned ${status}`)
      const { ms, bytes } = await load(200)
      assertValid(gunzipSync(bytes).includes(`"${title}"`), 'a load did not contain the last change')
      return ms
    }
    const medianOf = async (count: number, work: () => Promise<number>) => {
      const times: number[] = []
      for (let n = 0; n < count; n++) times.push(await work())
      return median(times)
    }
    // PostgreSQL plans the first executions of a prepared statement one by one, and then caches a generic plan.
    if (i === 0) await medianOf(WARM_UP_LOADS, loadAfterChange)
    const times = await byTurns(size.rounds, {
      changed: () => medianOf(loads, loadAfterChange),
      unchanged: () => medianOf(UNCHANGED_LOADS, async () => (await load(200)).ms),
      notModified: async () => {
        const etag = String((await load(200)).headers.etag)
        return medianOf(UNCHANGED_LOADS, async () => (await load(304, { 'if-none-match': etag })).ms)
      },
      statement: async () => (await pgbench(url, script, { clients: 1, transactions: loads + 1, define: { id } })).ms,
    })
    const [changed, unchanged] = [median(times.changed), median(times.unchanged)]
    const [notModified, statement] = [median(times.notModified), median(times.statement)]
    const name = `full board of ${cards} cards`
    const rates = (ours: number, bare: number) => ({ ours: 1_000 / ours, bare: 1_000 / bare })
    figures.push(
      figure(`${name}, changed, vs its own statement`, '/s', rates(changed, statement), {
        ratio: { least: LEAST_CHANGED_RATIO },
      }),
      figure(`${name}, unchanged, vs its own statement`, '/s', rates(unchanged, statement), {
        ratio: { least: LEAST_UNCHANGED_RATIO },
      }),
      figure(`${name}, known (304), vs unchanged`, '/s', rates(notModified, unchanged), { ratio: { least: 1 } }),
    )
    if (cards === MOST_CARDS)
      figures.push(figure(`${name}, changed`, 'ms', { ours: changed }, { ours: { most: MOST_MS } }))
    // Of the largest board.
    limits = `After a change, PostgreSQL: at ${cards} cards the statement takes ${rounded(statement)} of ${rounded(changed)} ms; the rest is compressing and sending. An unchanged board is sent from the cache.`
    progress(
      `  ${cards} cards: changed ${rounded(changed)} ms, its statement ${rounded(statement)} ms, unchanged ${rounded(unchanged)} ms, 304 ${rounded(notModified)} ms`,
    )
  }
  return { figures, limits }
}

/** The service's own statement for a full board, with the pgbench variable `id` as its only parameter. */
async function fullBoardStatement(): Promise<string> {
  let text = ''
  const db: Db = {
    run: async (statement) => {
      text = statement.text
      return []
    },
  }
  await readFullBoard(db, '')
  return text.replaceAll(/\$\d+/g, ':id')
}

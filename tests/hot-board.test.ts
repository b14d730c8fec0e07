import { Agent, request } from 'node:http'
import {
  endProcesses,
  holdBoard,
  lockWaiters,
  type ServiceProcess,
  startServiceProcess,
} from '@lockstep/testing/processes'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { median } from '@lockstep/testing/statistics'
import { afterAll, beforeAll, expect, test } from 'vitest'

const BOARD_WAIT_MS = 300
/** How long a change waits in PostgreSQL for a lock of another instance. */
const LOCK_WAIT_MS = 2_000

let service: TestService
/** The service under load, in its own process, so that it shares no thread with the load. */
let loaded: ServiceProcess
let hot: TestBoard
let quiet: TestBoard
beforeAll(async () => {
  const JWT_SECRET = 'hush-hush-one-secret-for-two-instances'
  service = await startService({ JWT_SECRET, BOARD_WAIT_MS: String(BOARD_WAIT_MS) })
  const { databaseUrl: DATABASE_URL } = service
  loaded = await startServiceProcess({ JWT_SECRET, DATABASE_URL, LOG_LEVEL: 'warn' })
  ;[hot, quiet] = await Promise.all([service.board(), service.board()])
})
afterAll(async () => {
  await endProcesses()
  await service.stop()
})

const agent = new Agent({ keepAlive: true })
/** Adds a card with little CPU time in this process. */
const addCard = ({ id, columns: [column], owner }: TestBoard) =>
  new Promise<number>((resolve, reject) => {
    const headers = { authorization: `Bearer ${owner.api.token}`, 'content-type': 'application/json' }
    const url = `${loaded.baseUrl}/boards/${id}/columns/${column.id}/cards`
    request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end('{"title":"Load"}')
  })

/** Starts writers. The returned function stops them, and returns the number of successes and the other statuses. */
function startWriters(count: number, boards: TestBoard[]) {
  let isOver = false
  let written = 0
  const rejected: number[] = []
  const writers = Array.from({ length: count }, async (_, i) => {
    while (!isOver) {
      const status = await addCard(boards[i % boards.length] as TestBoard)
      if (status !== 201) rejected.push(status)
      else if (!isOver) written++
    }
  })
  return async () => {
    isOver = true
    await Promise.all(writers)
    return { written, rejected }
  }
}

test('[WRITE-7] with 32 writers on one board, the other boards keep at least half of their throughput', async () => {
  const PAIRS = 12
  const WINDOW_MS = 400
  const others = [quiet, ...(await Promise.all([service.board(), service.board(), service.board()]))]
  let hotWrites = 0
  /** Writes to the other boards in one window, alone or beside the hot board. */
  const measure = async (kind: 'alone' | 'beside') => {
    const stopHot = startWriters(kind === 'beside' ? 32 : 0, [hot])
    const stop = startWriters(8, others)
    await new Promise((resolve) => setTimeout(resolve, WINDOW_MS))
    const [{ written, rejected }, onHot] = await Promise.all([stop(), stopHot()])
    hotWrites += onHot.written
    expect([...rejected, ...onHot.rejected]).toEqual([])
    return written
  }
  // Warm-up: opens connections and prepares statements.
  await measure('alone')
  await measure('beside')

  // Short alternating windows, so that other load on the machine affects both kinds.
  const alone: number[] = []
  const beside: number[] = []
  for (let i = 0; i < PAIRS; i++) {
    if (i % 2 === 0) alone.push(await measure('alone'))
    beside.push(await measure('beside'))
    if (i % 2 === 1) alone.push(await measure('alone'))
  }

  console.log(
    `writes to other boards in ${WINDOW_MS} ms: alone ${alone.join(' ')}, beside a hot board ${beside.join(' ')}`,
  )
  console.log(`medians ${median(alone)} and ${median(beside)}; writes to the hot board: ${hotWrites}`)
  expect(hotWrites).toBeGreaterThan(0)
  expect(median(beside)).toBeGreaterThanOrEqual(median(alone) / 2)
})

test('[WRITE-7] [ACCESS-4] a change that waits too long is rejected with board_busy, and other boards are not affected', async () => {
  const params = { board_id: hot.id, column_id: hot.columns[0].id }
  const before = await hot.owner.api.call('getBoard', { params: { board_id: hot.id } })
  const logged = (await hot.events()).length
  await using held = await holdBoard(service.sql, hot.id)
  const since = Date.now()

  const rejected = Promise.all(
    Array.from({ length: 50 }, () => hot.owner.api.send('createCard', { params, body: { title: 'Too many' } })),
  )
  await held.isAwaited()
  const waiters: number[] = []
  const meanwhile = { board_id: quiet.id, column_id: quiet.columns[0].id }
  for (let i = 0; i < 12; i++) {
    await quiet.owner.api.call('createCard', { params: meanwhile, body: { title: 'Meanwhile' } })
    waiters.push(await lockWaiters(service.sql))
  }
  const responses = await rejected

  // One change at a time waits in PostgreSQL; the others use no connection.
  expect(Math.max(...waiters)).toBeLessThanOrEqual(1)
  expect(new Set(responses.map(({ body }) => (body as { code: string }).code))).toEqual(new Set(['board_busy']))
  for (const { headers } of responses) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  // Twice the two limits, for a slow machine.
  expect(Date.now() - since).toBeLessThan(2 * (BOARD_WAIT_MS + LOCK_WAIT_MS))
  await held.release()
  expect(await hot.owner.api.call('getBoard', { params: { board_id: hot.id } })).toEqual(before)
  expect(await hot.events()).toHaveLength(logged)
  await hot.owner.api.call('createCard', { params, body: { title: 'Free again' } })
})

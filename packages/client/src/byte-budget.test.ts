import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { TestClock } from '@lockstep/testing/test-clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from './client.ts'
import { openBoard } from './live/index.ts'

/** Stands still, so that a budget that is used up stays so until the first 429. */
const clock = new TestClock()
let service: TestService
beforeAll(async () => {
  service = await startService({ RATE_LIMITS: 'on' }, { clock })
})
afterAll(() => service.stop())

/** A client of the owner of a new board. After a 429, enough time passes for the service to answer again. */
async function clientOfBoard() {
  const board = await service.board()
  const rejected: string[] = []
  const client = createClient({
    baseUrl: service.baseUrl,
    token: board.owner.api.token,
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      if (response.status !== 429) return response
      rejected.push(`${init?.method} ${new URL(new Request(input).url).pathname}`)
      clock.advance(10_000)
      return response
    },
  })
  return { board, client, rejected }
}

/** Changes large cards until the service rejects it. */
async function useUpBudget({ id: board_id, owner, columns }: TestBoard) {
  const params = { board_id, column_id: columns[1].id }
  const body = { title: 'Large', description: 'x'.repeat(65_536) }
  while ((await owner.api.send('createCard', { params, body })).status !== 429);
}

const titlesOf = async (client: Client, board_id: string) =>
  (await client.getBoard({ board_id })).columns[0]?.cards.map(({ title }) => title)

test('[SDK-4] a call waits until the byte budget of its user allows it, unless that takes longer than its timeout', async () => {
  const { board, client, rejected } = await clientOfBoard()
  await useUpBudget(board)
  const error = await client.getMe({}, { timeoutMs: 900 }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ status: 429, code: 'too_many_requests', retryAfterSeconds: 1 })
  await useUpBudget(board)
  expect(await client.getBoard({ board_id: board.id })).toMatchObject({ id: board.id })
  expect(rejected).toEqual(['GET /auth/me', `GET /boards/${board.id}`])
  client.close()
})

test('[SYNC-36] a live board is loaded once the byte budget allows it, and its changes wait and are sent in order', async () => {
  const { board, client, rejected } = await clientOfBoard()
  const { id: board_id, columns } = board
  await useUpBudget(board)
  await using live = await openBoard(client, board_id)
  expect(rejected.length).toBeGreaterThan(0)
  rejected.length = 0
  await useUpBudget(board)
  const changes = ['One', 'Two', 'Three'].map((title) => live.change('createCard', { column_id: columns[0].id, title }))
  expect(await Promise.all(changes.map(({ done }) => done))).toEqual(changes.map(() => ({ outcome: 'confirmed' })))
  expect(rejected).toContain(`POST /boards/${board_id}/columns/${columns[0].id}/cards`)
  expect(live.failedChanges).toEqual([])
  expect(await titlesOf(client, board_id)).toEqual(['One', 'Two', 'Three'])
  client.close()
})

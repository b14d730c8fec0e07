import { randomUUID } from 'node:crypto'
import { eventually } from '@lockstep/testing/processes'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { TestClock } from '@lockstep/testing/test-clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Database } from '../database/database.ts'
import { Admission } from '../http/admission.ts'
import { ByteBudget } from '../platform/byte-budget.ts'
import { ChunkStore } from './file-store.ts'

const BYTES = 300_000
let service: TestService
let board: TestBoard
beforeAll(async () => {
  service = await startService()
  board = await service.board()
})
afterAll(() => service.stop())

test('[LOAD-14] files of one user are limited to a rate, and those of others do not wait', async () => {
  const db = new Database({ url: service.databaseUrl, size: 4, onError: () => {} })
  let fetched = 0
  const onTransfer = (direction: string) => {
    if (direction === 'fetched') fetched++
  }
  const clock = new TestClock()
  const budget = new ByteBudget(BYTES, BYTES / 2, clock)
  const files = new ChunkStore(db, new Admission(4, { isFair: false }), budget, onTransfer)
  const key = { board_id: board.id, file_id: randomUUID() }
  async function* content() {
    yield Buffer.alloc(BYTES)
  }
  await files.put(key, content(), 'greedy')
  const fetchAs = async (user: string, end: number) => {
    for await (const _ of files.get(key, { start: 0, end }, user));
  }
  const timeOf = (work: () => Promise<void>) => clock.timeOf(work(), 10_000)
  // Two seconds' worth of bytes, of which half a second's are not delayed.
  const twice = async () => {
    for (let i = 0; i < 2; i++) await fetchAs('greedy', BYTES)
  }
  expect(await timeOf(twice)).toBeCloseTo(1_500, -3)
  const greedy = files.pace('greedy', 2 * BYTES)
  // Less than half a second's worth, which is not delayed.
  await files.pace('other', BYTES / 3)
  expect(clock.waits).toHaveLength(1)
  await timeOf(() => greedy)
  // A download waits before it reads, so that it holds no chunk meanwhile.
  const before = files.pace('fourth', 2 * BYTES)
  const download = files.get(key, { start: 0, end: BYTES }, 'fourth')[Symbol.asyncIterator]()
  fetched = 0
  const first = download.next()
  await eventually('both wait', () => clock.waits.length === 2)
  expect(fetched).toBe(0)
  clock.advance(Math.max(...clock.waits))
  await before
  expect([(await first).done, fetched]).toEqual([false, 1])
  await download.return?.()
  // A range of a byte counts as its chunk, 0.2 seconds' worth.
  const ranges = async () => {
    for (let i = 0; i < 5; i++) await fetchAs('third', 1)
  }
  expect(await timeOf(ranges)).toBeCloseTo(600, -2)
  await db.close()
})

import { randomUUID } from 'node:crypto'
import { eventually } from '@lockstep/testing/processes'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Database } from '../database/database.ts'
import { ChunkStore } from './file-store.ts'

const BYTES = 300_000
let service: TestService
let board: TestBoard
beforeAll(async () => {
  service = await startService()
  board = await service.board()
})
afterAll(() => service.stop())

test('[LOAD-11] chunks that wait for a connection are served fairly by user', async () => {
  const db = new Database({ url: service.databaseUrl, size: 1, isFair: true, onError: () => {} })
  const files = new ChunkStore(db, { maxConcurrent: 8 })
  const other = await service.board()
  const stored: string[] = []
  const put = async (name: string, board_id: string) => {
    async function* content() {
      yield Buffer.from('x')
    }
    await files.put({ board_id, file_id: randomUUID() }, content(), name)
    stored.push(name)
  }
  const gate = Promise.withResolvers<{ result: undefined }>()
  const occupied = db.transaction(
    async () => {},
    () => gate.promise,
  )
  // On several boards, which gives a user no larger share.
  const puts = [board, board, other, other].map(({ id }) => put('greedy', id))
  puts.push(put('other', other.id))
  await eventually('all wait', () => db.waiting === 5)
  gate.resolve({ result: undefined })
  await Promise.all([occupied, ...puts])
  expect(stored.indexOf('other')).toBeLessThan(2)
  await db.close()
})

test('[LOAD-14] files of one user are limited to a rate, in both directions, and those of others do not wait', async () => {
  const db = new Database({ url: service.databaseUrl, size: 4, onError: () => {} })
  const files = new ChunkStore(db, { maxConcurrent: 4, bytesPerSecond: BYTES })
  const key = { board_id: board.id, file_id: randomUUID() }
  const time = async (work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    return performance.now() - began
  }
  async function* content() {
    yield Buffer.alloc(BYTES)
  }
  const fetchAs = async (user: string) => {
    for await (const _ of files.get(key, { start: 0, end: BYTES }, user));
  }
  // A second's worth of bytes, of which half a second's are free.
  expect(await time(() => files.put(key, content(), 'greedy'))).toBeGreaterThan(400)
  const [again, other] = await Promise.all([time(() => fetchAs('greedy')), time(() => fetchAs('other'))])
  expect(again).toBeGreaterThan(800)
  expect(other).toBeLessThan(again)
  await db.close()
})

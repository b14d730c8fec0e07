import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
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

test('[LOAD-14] files of one user are limited to a rate, and those of others do not wait', async () => {
  const db = new Database({ url: service.databaseUrl, size: 4, onError: () => {} })
  let fetched = 0
  const onTransfer = (direction: string) => {
    if (direction === 'fetched') fetched++
  }
  const files = new ChunkStore(db, { maxConcurrent: 4, bytesPerSecond: BYTES }, onTransfer)
  const key = { board_id: board.id, file_id: randomUUID() }
  async function* content() {
    yield Buffer.alloc(BYTES)
  }
  await files.put(key, content(), 'greedy')
  const fetchAs = async (user: string, end: number) => {
    for await (const _ of files.get(key, { start: 0, end }, user));
  }
  const timed = async (work: () => Promise<void>) => {
    const began = performance.now()
    await work()
    return performance.now() - began
  }
  // Two seconds' worth of bytes, of which half a second's are not delayed.
  const twice = async () => {
    for (let i = 0; i < 2; i++) await fetchAs('greedy', BYTES)
  }
  expect(await timed(twice)).toBeGreaterThan(1_400)
  const greedy = files.pace('greedy', 2 * BYTES).then(() => 'greedy')
  // Less than half a second's worth, which is not delayed.
  const other = files.pace('other', BYTES / 3).then(() => 'other')
  expect(await Promise.race([greedy, other])).toBe('other')
  await greedy
  // A download waits before it reads, so that it holds no chunk meanwhile.
  const waiting = files.pace('fourth', 2 * BYTES)
  const download = files.get(key, { start: 0, end: BYTES }, 'fourth')[Symbol.asyncIterator]()
  fetched = 0
  const first = download.next()
  await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 300))])
  expect(fetched).toBe(0)
  expect((await first).done).toBe(false)
  await download.return?.()
  // A range of a byte counts as its chunk, 0.2 seconds' worth.
  const ranges = async () => {
    for (let i = 0; i < 5; i++) await fetchAs('third', 1)
  }
  expect(await timed(ranges)).toBeGreaterThan(500)
  // A file smaller than a chunk counts as its size.
  const small = { board_id: board.id, file_id: randomUUID() }
  await files.put(small, Readable.from([Buffer.from('x')]), 'fifth')
  const began = performance.now()
  for (let i = 0; i < 100; i++) for await (const _ of files.get(small, { start: 0, end: 1 }, 'fifth'));
  // As a chunk each, they would take 20 seconds.
  expect(performance.now() - began).toBeLessThan(15_000)
  await db.close()
})

import { expect, test } from 'vitest'
import { BoardCore } from './core.ts'
import { localQueue, StoredQueue } from './storage.ts'
import type { Change } from './types.ts'

const AT = '2026-01-01T00:00:00.000Z'
const rename = (title: string): Change => ({ name: 'updateBoard', input: { title } }) as Change

/** A fake `localStorage` that counts writes. */
function fakeLocalStorage() {
  const texts = new Map<string, string>()
  const store = {
    puts: 0,
    get length() {
      return texts.size
    },
    key: (i: number) => [...texts.keys()][i] ?? null,
    getItem: (id: string) => texts.get(id) ?? null,
    setItem: (id: string, text: string) => {
      store.puts++
      texts.set(id, text)
    },
    removeItem: (id: string) => void texts.delete(id),
  }
  const open = () => new StoredQueue(localQueue(store), 'user', 'board')
  return { store, open }
}

test('[SYNC-13] a confirmed change rewrites only the next stored change, and a reload still knows the latest base', async () => {
  const { store, open } = fakeLocalStorage()
  const [queue, core] = [open(), new BoardCore()]
  const COUNT = 50
  for (let i = 0; i < COUNT; i++) core.change(`key ${i}`, rename(`Title ${i}`), AT)
  queue.save(core.pending)
  store.puts = 0
  for (let i = 0; i < COUNT - 2; i++) {
    core.markSent(`key ${i}`)
    core.accept(`key ${i}`, { epoch: 1, seq: i + 1 })
    queue.save(core.pending)
  }
  // The accepted change and the next one.
  expect(store.puts).toBeLessThanOrEqual(2 * COUNT)
  const left = (await open().load()).filter(({ position }) => !position)
  expect(left.map(({ key, base }) => [key, base])).toEqual([
    ['key 48', { epoch: 1, seq: 48 }],
    ['key 49', { epoch: 1, seq: 48 }],
  ])
})

test('[SYNC-13] an unreadable stored change does not hide the others', async () => {
  const { store, open } = fakeLocalStorage()
  const core = new BoardCore()
  for (const key of ['a', 'c']) core.change(key, rename(key), AT)
  open().save(core.pending)
  store.setItem(`lockstep/user/board/${AT}-000000-b`, '{"key":')
  expect((await open().load()).map(({ key }) => key)).toEqual(['a', 'c'])
})

test('[SYNC-34] what another tab knows about a queued change is merged', async () => {
  const { open } = fakeLocalStorage()
  const [first, second] = [open(), open()]
  const [core, other] = [new BoardCore(), new BoardCore()]
  for (const key of ['sent', 'accepted', 'removed']) core.change(key, rename(key), AT)
  first.save(core.pending)
  other.addQueued(await second.load())
  core.markSent('sent')
  core.requeue('sent')
  core.markSent('accepted')
  core.accept('accepted', { epoch: 1, seq: 7 })
  core.discard('removed')
  first.save(core.pending)
  other.addQueued(await second.load())
  other.markShared(['removed'])
  expect(
    other.pending.map(({ key, state, attempts, isShared, position }) => [
      key,
      state,
      attempts,
      isShared,
      position?.seq,
    ]),
  ).toEqual([
    ['sent', 'queued', 1, false, undefined],
    ['accepted', 'accepted', 1, false, 7],
    // It may have been sent: only the service knows, and the key makes it apply once.
    ['removed', 'queued', 0, true, undefined],
  ])
})

import { expect, test } from 'vitest'
import { BoardCore } from './core.ts'
import { KeptQueue, localQueue } from './storage.ts'
import type { Change } from './types.ts'

const AT = '2026-01-01T00:00:00.000Z'
const rename = (title: string): Change => ({ name: 'updateBoard', input: { title } }) as Change

/** A `localStorage`, and how often something was written to it. */
function place() {
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
  const open = () => new KeptQueue(localQueue(store), 'user', 'board')
  return { store, open }
}

test('[SYNC-13] each confirmed change writes the next one and not the whole queue, and a reload knows what all of them did', async () => {
  const { store, open } = place()
  const [queue, core] = [open(), new BoardCore()]
  const COUNT = 50
  for (let i = 0; i < COUNT; i++) core.change(`key ${i}`, rename(`Title ${i}`), AT)
  queue.save(core.pending)
  store.puts = 0
  for (let i = 0; i < COUNT - 2; i++) {
    core.sent(`key ${i}`)
    core.accept(`key ${i}`, { epoch: 1, seq: i + 1 })
    queue.save(core.pending)
  }
  // The one that was accepted, and the one that is next.
  expect(store.puts).toBeLessThanOrEqual(2 * COUNT)
  const left = (await open().load()).filter(({ position }) => !position)
  expect(left.map(({ key, base }) => [key, base])).toEqual([
    ['key 48', { epoch: 1, seq: 48 }],
    ['key 49', { epoch: 1, seq: 48 }],
  ])
})

test('[SYNC-13] a stored change that cannot be read hides no other', async () => {
  const { store, open } = place()
  const core = new BoardCore()
  for (const key of ['a', 'c']) core.change(key, rename(key), AT)
  open().save(core.pending)
  store.setItem(`lockstep/user/board/${AT}-000000-b`, '{"key":')
  expect((await open().load()).map(({ key }) => key)).toEqual(['a', 'c'])
})

test('[SYNC-34] what another page has learned of a queued change is taken over', async () => {
  const { open } = place()
  const [first, second] = [open(), open()]
  const [core, other] = [new BoardCore(), new BoardCore()]
  for (const key of ['sent', 'accepted', 'ended']) core.change(key, rename(key), AT)
  first.save(core.pending)
  other.adopt(await second.load())
  core.sent('sent')
  core.lost('sent')
  core.sent('accepted')
  core.accept('accepted', { epoch: 1, seq: 7 })
  core.discard('ended')
  first.save(core.pending)
  other.adopt(await second.load())
  other.share(['ended'])
  expect(
    other.pending.map(({ key, state, attempts, is_shared, position }) => [
      key,
      state,
      attempts,
      is_shared,
      position?.seq,
    ]),
  ).toEqual([
    ['sent', 'queued', 1, false, undefined],
    ['accepted', 'accepted', 1, false, 7],
    // It may have been sent: only the service knows, and its key lets it happen once.
    ['ended', 'queued', 0, true, undefined],
  ])
})

import { isDeepStrictEqual } from 'node:util'
import { randomChange } from '@lockstep/testing/client/random-change'
import { smallBoard } from '@lockstep/testing/client/sample-board'
import { mulberry32 } from '@lockstep/testing/prng'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BoardCore, toQueued } from './core.ts'
import type { BoardEvent, Change, FullBoard } from './types.ts'

const AT = '2026-01-01T00:00:00.000Z'

/** A core with a board and some random changes by a user. */
function coreWithChanges(seed: number, count: number) {
  const random = mulberry32(seed)
  const below = (n: number) => Math.floor(random() * n)
  let made = 0
  const core = new BoardCore()
  core.load(smallBoard(), { epoch: 1, seq: 10 })
  const changes: { key: string; change: Change }[] = []
  for (let i = 0; i < count; i++) {
    const change = randomChange(core.view as FullBoard, below, (kind) => `${kind}-new-${made++}`, ['user-0', 'user-1'])
    if (!change) continue
    core.change(`key-${i}`, change, AT)
    changes.push({ key: `key-${i}`, change })
  }
  return { core, changes, below }
}
/** What a user sees. Labels and assignees are sorted, because undo restores them at the end, and a restored card has a new number. */
const visible = (board: FullBoard | undefined) =>
  JSON.parse(
    JSON.stringify(board, (key, value: unknown) => {
      if (['rank', 'number', 'created_at', 'updated_at'].includes(key)) return undefined
      if ((key === 'labels' || key === 'assignees') && Array.isArray(value))
        return value.toSorted((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1))
      return value
    }),
  ) as unknown

describe('changes', () => {
  test('[SYNC-6] rejecting one change has no effect on the others', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.integer({ min: 1, max: 8 }), (seed, count) => {
        const { core, changes, below } = coreWithChanges(seed, count)
        fc.pre(changes.length > 0)
        const victim = changes[below(changes.length)] as (typeof changes)[number]
        core.markSent(victim.key)
        core.reject(victim.key, { status: 403, code: 'no', detail: 'No.' })
        const others = core.pending.map(({ key, change, base }) => ({ key, change, base }))
        const fresh = new BoardCore(others.map((each) => ({ ...each, at: AT, attempts: 0, position: undefined })))
        fresh.load(smallBoard(), { epoch: 1, seq: 10 })
        expect(core.view).toEqual(fresh.view)
        expect(core.failedChanges.map(({ key }) => key)).toContain(victim.key)
      }),
      { numRuns: 300 },
    )
  })

  /** Makes a change, undoes and redoes it twice, and returns its name; undefined if it had no effect. */
  function undoAndRedo(seed: number, count: number) {
    const { core, below } = coreWithChanges(seed, count)
    const before = visible(core.view)
    const change = randomChange(core.view as FullBoard, below, (kind) => `${kind}-undone`, ['user-0', 'user-1'])
    if (!change) return undefined
    core.change('last', change, AT)
    const after = visible(core.view)
    if (isDeepStrictEqual(before, after)) return undefined
    for (const round of [1, 2]) {
      for (const [i, back] of core.undo().entries()) core.change(`undo-${round}-${i}`, back, AT, 'undo')
      expect(visible(core.view)).toEqual(before)
      core.change(`redo-${round}`, core.redo()?.change as Change, AT, 'redo')
      expect(visible(core.view)).toEqual(after)
    }
    return change.name
  }

  test('[SYNC-7] [SYNC-24] undo restores the previous view, and redo the later one', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(6), (seed, count) => fc.pre(undoAndRedo(seed, count) !== undefined)),
      { numRuns: 500 },
    )
  })

  test('[SYNC-7] [SYNC-24] every kind of change that can be undone is undone and redone correctly', () => {
    const kinds = new Set<string>()
    for (let seed = 1; kinds.size < 26 && seed <= 10_000; seed++) kinds.add(undoAndRedo(seed, 12) ?? 'updateBoard')
    expect([...kinds]).toHaveLength(26)
  })

  test('[SYNC-24] all changes can be undone and redone in order; a new change clears the redo stack', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.integer({ min: 1, max: 8 }), (seed, count) => {
        const { core, below } = coreWithChanges(seed, count)
        const views: unknown[] = []
        let made = 0
        const undo = () => {
          views.push(visible(core.view))
          for (const change of core.undo()) core.change(`back-${made++}`, change, AT, 'undo')
        }
        while (core.canUndo) undo()
        for (let wanted = views.pop(); core.canRedo; wanted = views.pop()) {
          core.change(`again-${made++}`, core.redo()?.change as Change, AT, 'redo')
          expect(visible(core.view)).toEqual(wanted)
        }
        expect(views).toEqual([])
        for (let i = below(3); i >= 0; i--) undo()
        core.change('new', { name: 'updateBoard', input: { title: 'a new change' } }, AT)
        expect([core.canRedo, core.redo()]).toEqual([false, undefined])
      }),
      { numRuns: 200 },
    )
  })

  test('[SYNC-24] failed changes, and changes whose undo failed, can be neither undone nor redone', () => {
    const { core } = coreWithChanges(1, 0)
    const no = { status: 403, code: 'no', detail: 'No.' }
    const rename = (key: string) => core.change(key, { name: 'updateBoard', input: { title: key } }, AT)
    const undo = (key: string) => core.undo().map((change) => core.change(key, change, AT, 'undo'))
    for (const key of ['a', 'b', 'c']) rename(key)
    core.reject('c', no)
    undo('undo b')
    undo('undo a')
    core.reject('b', no)
    core.reject('undo a', no)
    expect([core.canUndo, core.canRedo]).toEqual([false, false])
  })

  test('[SYNC-24] a change that is not the last one can be undone and redone on its own', () => {
    const { core } = coreWithChanges(1, 0)
    const card_id = (core.view as FullBoard).columns[0]?.cards[0]?.id ?? ''
    const hasCard = () => core.view?.columns.some(({ cards }) => cards.some(({ id }) => id === card_id))
    core.change('delete', { name: 'deleteCard', input: { card_id } }, AT)
    core.change('rename', { name: 'updateBoard', input: { title: 'renamed' } }, AT)
    for (const [i, back] of core.undo('delete').entries()) core.change(`back-${i}`, back, AT, 'undo')
    expect([hasCard(), core.view?.title]).toEqual([true, 'renamed'])
    expect(core.undo('delete')).toEqual([])
    expect(core.undo('unknown')).toEqual([])
    core.change('again', core.redo()?.change as Change, AT, 'redo')
    expect([hasCard(), core.view?.title, core.canRedo]).toEqual([false, 'renamed', false])
  })

  test('[SYNC-24] all undo steps that are kept can be redone', () => {
    const { core } = coreWithChanges(1, 0)
    for (let i = 0; i < 150; i++) core.change(`${i}`, { name: 'updateBoard', input: { title: `${i}` } }, AT)
    let steps = 0
    for (; core.canUndo; steps++) for (const change of core.undo()) core.change(`back-${steps}`, change, AT, 'undo')
    expect([steps, core.view?.title]).toEqual([100, '49'])
    for (; core.canRedo; steps--) core.change(`again-${steps}`, core.redo()?.change as Change, AT, 'redo')
    expect([steps, core.view?.title]).toEqual([0, '149'])
  })

  const event = (seq: number, type: string, data: unknown): BoardEvent =>
    ({ seq, type, data, user_id: 'user-9', timestamp: AT, version: '1.0' }) as unknown as BoardEvent

  test('[SYNC-6] a change whose target is gone is dropped and its text is kept; a deletion is dropped silently', () => {
    const { core } = coreWithChanges(1, 0)
    const card = (core.view as FullBoard).columns[0]?.cards[0]
    const card_id = card?.id ?? ''
    core.change('a', { name: 'updateCard', input: { card_id, description: 'long work' } }, AT)
    core.change('b', { name: 'deleteCard', input: { card_id } }, AT)
    core.receive(event(11, 'card.deleted', card), 1)
    expect(core.next()).toBeUndefined()
    expect(core.failedChanges).toMatchObject([{ key: 'a', reason: 'gone', text: 'long work' }])
    core.dismiss('a')
    expect(core.failedChanges).toEqual([])
  })

  test('[SYNC-6] rejecting a create also drops the changes that depend on it', () => {
    const { core } = coreWithChanges(1, 0)
    const column_id = (core.view as FullBoard).columns[0]?.id ?? ''
    core.change('a', { name: 'createCard', input: { id: 'new', column_id, title: 'typed' } }, AT)
    core.change('b', { name: 'updateCard', input: { card_id: 'new', description: 'more' } }, AT)
    core.markSent('a')
    core.reject('a', { status: 422, code: 'invalid', detail: 'No.' })
    expect(core.next()).toBeUndefined()
    expect(core.failedChanges).toMatchObject([
      { key: 'a', reason: 'rejected', text: 'typed', problem: { status: 422 } },
      { key: 'b', reason: 'gone', text: 'more' },
    ])
  })

  test('[SYNC-5] a restored queue has the same keys, order and view', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(10), (seed, count) => {
        const { core } = coreWithChanges(seed, count)
        const view = core.view
        const again = new BoardCore(core.pending.map(toQueued))
        expect(again.pending.map(toQueued)).toEqual(core.pending.map(toQueued))
        again.load(smallBoard(), { epoch: 1, seq: 10 })
        expect(again.view).toEqual(view)
      }),
      { numRuns: 300 },
    )
  })

  test('[SYNC-31] a board older than a queued change does not decide that its target is gone, even after a reload', () => {
    const { core } = coreWithChanges(1, 0)
    const column_id = (core.view as FullBoard).columns[0]?.id ?? ''
    const added = { id: 'added', column_id, title: 'added' }
    core.change('create', { name: 'createCard', input: added }, AT)
    core.change('rename', { name: 'updateCard', input: { card_id: 'added', title: 'typed' } }, AT)
    core.change('delete', { name: 'deleteCard', input: { card_id: 'added' } }, AT)
    core.markSent('create')
    core.accept('create', { epoch: 1, seq: 11 })
    const again = new BoardCore(JSON.parse(JSON.stringify(core.pending.map(toQueued))))
    again.load(smallBoard(), { epoch: 1, seq: 10 })
    expect([again.view, again.failedChanges]).toEqual([smallBoard(), []])
    expect(again.next()?.key).toBe('rename')
    again.receive(event(11, 'card.created', { ...added, rank: 1, labels: [], assignees: [], checklists: [] }), 1)
    expect(again.pending.map(({ key }) => key)).toEqual(['rename', 'delete'])
    // Once the board contained the card, its deletion counts.
    again.receive(event(12, 'card.deleted', added), 1)
    expect(again.next()).toBeUndefined()
    expect(again.failedChanges).toMatchObject([{ key: 'rename', reason: 'gone' }])
  })

  test('[SYNC-31] nor does it decide about a card that another user added since', () => {
    const { core } = coreWithChanges(1, 0)
    const column_id = (core.view as FullBoard).columns[0]?.id ?? ''
    const added = { id: 'added', column_id, title: 'added', rank: 1, labels: [], assignees: [], checklists: [] }
    core.receive(event(11, 'card.created', added), 1)
    core.change('rename', { name: 'updateCard', input: { card_id: 'added', title: 'typed' } }, AT)
    const again = new BoardCore(JSON.parse(JSON.stringify(core.pending.map(toQueued))))
    again.load(smallBoard(), { epoch: 1, seq: 10 })
    expect([again.view, again.failedChanges]).toEqual([smallBoard(), []])
    expect(again.next()?.key).toBe('rename')
  })

  test('[SYNC-35] after a reload with an older board, an accepted change is shown and not sent again', () => {
    const { core } = coreWithChanges(1, 0)
    const column_id = (core.view as FullBoard).columns[0]?.id ?? ''
    const added = { id: 'added', column_id, title: 'added' }
    core.change('create', { name: 'createCard', input: added }, AT)
    core.markSent('create')
    core.accept('create', { epoch: 1, seq: 11 })
    const again = new BoardCore(JSON.parse(JSON.stringify(core.pending.map(toQueued))))
    again.load(smallBoard(), { epoch: 1, seq: 10 })
    expect(again.view?.columns[0]?.cards.at(-1)?.id).toBe('added')
    expect(again.next()).toBeUndefined()
    again.receive(event(11, 'card.created', { ...added, rank: 1, labels: [], assignees: [], checklists: [] }), 1)
    expect([again.pending, again.pending.map(toQueued)]).toEqual([[], []])
  })

  test('[SYNC-1] with too many out-of-order events, the whole board is requested', () => {
    const { core } = coreWithChanges(1, 0)
    for (let seq = 12; seq <= 1_013; seq++) core.receive(event(seq, 'unknown.kind', {}), 1)
    expect(core.missing).toBe('board')
    core.load(smallBoard(), { epoch: 1, seq: 1_013 })
    expect(core.missing).toBe('nothing')
  })
})

import { isDeepStrictEqual } from 'node:util'
import { mutant, mutations, removeMutants, weaknesses } from '@lockstep/testing/client/mutants'
import { choose } from '@lockstep/testing/client/random-change'
import { generator, smallBoard } from '@lockstep/testing/client/small-board'
import { type CoreClass, type Outcome, simulate } from '@lockstep/testing/client/sync-simulation'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { BoardCore, keptOf } from './core.ts'
import type { BoardEvent, Change, FullBoard } from './types.ts'

const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 200)
const MUTANT_SEEDS = 150
const AT = '2026-01-01T00:00:00.000Z'
afterAll(() => removeMutants('core'))

/** How many seeds it takes until something is noticed. */
function seedsUntilNoticed(Core: CoreClass, options = {}): number {
  for (let seed = 1; seed <= MUTANT_SEEDS; seed++) if (simulate(seed, Core, options).violations.length > 0) return seed
  return Number.POSITIVE_INFINITY
}

describe('the core in simulation', () => {
  test(`[SYNC-1] [SYNC-2] [SYNC-3] [SYNC-4] [SYNC-5] [SYNC-6] [SYNC-23] [SYNC-31] [SYNC-32] ${SEEDS} seeds of loss, repetition, disorder, reloads, old boards and lost answers break no promise`, () => {
    const outcomes: Outcome[] = []
    for (let seed = 1; seed <= SEEDS; seed++) outcomes.push(simulate(seed, BoardCore))
    expect(outcomes.flatMap(({ violations }) => violations)).toEqual([])
    // It must not pass because nothing happened.
    const sum = (key: 'confirmations' | 'room' | 'lost' | 'own' | 'foreign' | 'stale' | 'stored') =>
      outcomes.reduce((total, outcome) => total + outcome[key], 0)
    expect(sum('confirmations')).toBeGreaterThan(SEEDS * 20)
    expect(sum('room')).toBeGreaterThan(SEEDS)
    expect(sum('lost')).toBeGreaterThan(SEEDS)
    expect(Math.min(sum('stale'), sum('stored'))).toBeGreaterThan(SEEDS / 5)
    expect(Math.min(sum('own'), sum('foreign'))).toBeGreaterThan(SEEDS * 10)
  }, 120_000)

  test.each(Object.entries(mutations))(
    `[SYNC-2] [SYNC-3] [SYNC-32] it is noticed within ${MUTANT_SEEDS} seeds when %s`,
    async (name, changes) => {
      expect(seedsUntilNoticed(await mutant(name, changes))).toBeLessThanOrEqual(MUTANT_SEEDS)
    },
    60_000,
  )

  test.each(Object.entries(weaknesses))(
    `[SYNC-2] [SYNC-5] it is noticed within ${MUTANT_SEEDS} seeds when %s`,
    (_, options) => {
      expect(seedsUntilNoticed(BoardCore, options)).toBeLessThanOrEqual(MUTANT_SEEDS)
    },
  )

  test('[SYNC-1] a seed can be played again', () => {
    expect(simulate(7, BoardCore)).toEqual(simulate(7, BoardCore))
  })
})

/** A core with a board in it, and some changes that a user might make to it one after the other. */
function coreWithChanges(seed: number, count: number) {
  const random = generator(seed)
  const below = (n: number) => Math.floor(random() * n)
  let made = 0
  const core = new BoardCore()
  core.load(smallBoard(), { epoch: 1, seq: 10 })
  const changes: { key: string; change: Change }[] = []
  for (let i = 0; i < count; i++) {
    const change = choose(core.view as FullBoard, below, (kind) => `${kind}-new-${made++}`, ['user-0', 'user-1'])
    if (!change) continue
    core.change(`key-${i}`, change, AT)
    changes.push({ key: `key-${i}`, change })
  }
  return { core, changes, below }
}
/** What a user sees; labels and assignees without their order, because what comes back comes back last. */
const visible = (board: FullBoard | undefined) =>
  JSON.parse(
    JSON.stringify(board, (key, value: unknown) => {
      if (['rank', 'created_at', 'updated_at'].includes(key)) return undefined
      if ((key === 'labels' || key === 'assignees') && Array.isArray(value))
        return value.toSorted((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1))
      return value
    }),
  ) as unknown

describe('changes', () => {
  test('[SYNC-6] rejecting one change leaves the others as if it had never been', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.integer({ min: 1, max: 8 }), (seed, count) => {
        const { core, changes, below } = coreWithChanges(seed, count)
        fc.pre(changes.length > 0)
        const victim = changes[below(changes.length)] as (typeof changes)[number]
        core.sent(victim.key)
        core.reject(victim.key, { status: 403, code: 'no', detail: 'No.' })
        const others = core.pending.map(({ key, change, base }) => ({ key, change, base }))
        const fresh = new BoardCore(others.map((each) => ({ ...each, at: AT, attempts: 0, position: undefined })))
        fresh.load(smallBoard(), { epoch: 1, seq: 10 })
        expect(core.view).toEqual(fresh.view)
        expect(core.notices.map(({ key }) => key)).toContain(victim.key)
      }),
      { numRuns: 300 },
    )
  })

  /** A change, back and again, twice: what it was, or undefined when it had no effect. */
  function backAndAgain(seed: number, count: number) {
    const { core, below } = coreWithChanges(seed, count)
    const before = visible(core.view)
    const change = choose(core.view as FullBoard, below, (kind) => `${kind}-undone`, ['user-0', 'user-1'])
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

  test('[SYNC-7] [SYNC-24] undoing a change shows the board as it was, redoing it as it was after it', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(6), (seed, count) => fc.pre(backAndAgain(seed, count) !== undefined)),
      { numRuns: 500 },
    )
  })

  test('[SYNC-7] [SYNC-24] so it is with every kind of change that can be taken back', () => {
    const kinds = new Set<string>()
    for (let seed = 1; kinds.size < 26 && seed <= 10_000; seed++) kinds.add(backAndAgain(seed, 12) ?? 'updateBoard')
    expect([...kinds]).toHaveLength(26)
  }, 60_000)

  test('[SYNC-24] everything can be taken back and made again, in its order; a new change ends that', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.integer({ min: 1, max: 8 }), (seed, count) => {
        const { core, below } = coreWithChanges(seed, count)
        const views: unknown[] = []
        let made = 0
        const undo = () => {
          views.push(visible(core.view))
          for (const change of core.undo()) core.change(`back-${made++}`, change, AT, 'undo')
        }
        while (core.can_undo) undo()
        for (let wanted = views.pop(); core.can_redo; wanted = views.pop()) {
          core.change(`again-${made++}`, core.redo()?.change as Change, AT, 'redo')
          expect(visible(core.view)).toEqual(wanted)
        }
        expect(views).toEqual([])
        for (let i = below(3); i >= 0; i--) undo()
        core.change('new', { name: 'updateBoard', input: { title: 'another course' } }, AT)
        expect([core.can_redo, core.redo()]).toEqual([false, undefined])
      }),
      { numRuns: 200 },
    )
  })

  test('[SYNC-24] what failed can neither be taken back nor made again, nor what could not be taken back', () => {
    const { core } = coreWithChanges(1, 0)
    const no = { status: 403, code: 'no', detail: 'No.' }
    const rename = (key: string) => core.change(key, { name: 'updateBoard', input: { title: key } }, AT)
    const undo = (key: string) => core.undo().map((change) => core.change(key, change, AT, 'undo'))
    for (const key of ['a', 'b', 'c']) rename(key)
    core.reject('c', no)
    undo('take b back')
    undo('take a back')
    core.reject('b', no)
    core.reject('take a back', no)
    expect([core.can_undo, core.can_redo]).toEqual([false, false])
  })

  test('[SYNC-24] a change that is not the last one is undone and redone on its own', () => {
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
    expect([hasCard(), core.view?.title, core.can_redo]).toEqual([false, 'renamed', false])
  })

  test('[SYNC-24] as many steps back as are kept can be made again', () => {
    const { core } = coreWithChanges(1, 0)
    for (let i = 0; i < 150; i++) core.change(`${i}`, { name: 'updateBoard', input: { title: `${i}` } }, AT)
    let steps = 0
    for (; core.can_undo; steps++) for (const change of core.undo()) core.change(`back-${steps}`, change, AT, 'undo')
    expect([steps, core.view?.title]).toEqual([100, '49'])
    for (; core.can_redo; steps--) core.change(`again-${steps}`, core.redo()?.change as Change, AT, 'redo')
    expect([steps, core.view?.title]).toEqual([0, '149'])
  })

  const event = (seq: number, type: string, data: unknown): BoardEvent =>
    ({ seq, type, data, user_id: 'user-9', timestamp: AT, version: '1.0' }) as unknown as BoardEvent

  test('[SYNC-6] a change whose target is gone is dropped with a notice that keeps its text; a deletion without one', () => {
    const { core } = coreWithChanges(1, 0)
    const card = (core.view as FullBoard).columns[0]?.cards[0]
    const card_id = card?.id ?? ''
    core.change('a', { name: 'updateCard', input: { card_id, description: 'long work' } }, AT)
    core.change('b', { name: 'deleteCard', input: { card_id } }, AT)
    core.take(event(11, 'card.deleted', card), 1)
    expect(core.next()).toBeUndefined()
    expect(core.notices).toMatchObject([{ key: 'a', reason: 'gone', text: 'long work' }])
    core.dismiss('a')
    expect(core.notices).toEqual([])
  })

  test('[SYNC-6] a rejected change takes the changes of what it would have made along', () => {
    const { core } = coreWithChanges(1, 0)
    const column_id = (core.view as FullBoard).columns[0]?.id ?? ''
    core.change('a', { name: 'createCard', input: { id: 'new', column_id, title: 'typed' } }, AT)
    core.change('b', { name: 'updateCard', input: { card_id: 'new', description: 'more' } }, AT)
    core.sent('a')
    core.reject('a', { status: 422, code: 'invalid', detail: 'No.' })
    expect(core.next()).toBeUndefined()
    expect(core.notices).toMatchObject([
      { key: 'a', reason: 'rejected', text: 'typed', problem: { status: 422 } },
      { key: 'b', reason: 'gone', text: 'more' },
    ])
  })

  test('[SYNC-5] a queue is taken up again with its keys, in its order, and shows the same', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(10), (seed, count) => {
        const { core } = coreWithChanges(seed, count)
        const view = core.view
        const again = new BoardCore(core.pending.map(keptOf))
        expect(again.pending.map(keptOf)).toEqual(core.pending.map(keptOf))
        again.load(smallBoard(), { epoch: 1, seq: 10 })
        expect(again.view).toEqual(view)
      }),
      { numRuns: 300 },
    )
  })

  test('[SYNC-31] a board that is older than a queued change does not decide that its target is gone, also after a reload', () => {
    const { core } = coreWithChanges(1, 0)
    const column_id = (core.view as FullBoard).columns[0]?.id ?? ''
    const added = { id: 'added', column_id, title: 'added' }
    core.change('create', { name: 'createCard', input: added }, AT)
    core.change('rename', { name: 'updateCard', input: { card_id: 'added', title: 'typed' } }, AT)
    core.change('delete', { name: 'deleteCard', input: { card_id: 'added' } }, AT)
    core.sent('create')
    core.accept('create', { epoch: 1, seq: 11 })
    const again = new BoardCore(JSON.parse(JSON.stringify(core.pending.map(keptOf))))
    again.load(smallBoard(), { epoch: 1, seq: 10 })
    expect([again.view, again.notices]).toEqual([smallBoard(), []])
    expect(again.next()?.key).toBe('rename')
    again.take(event(11, 'card.created', { ...added, rank: 1, labels: [], assignees: [], checklists: [] }), 1)
    expect(again.pending.map(({ key }) => key)).toEqual(['rename', 'delete'])
    // On the board that has had it, the deletion counts.
    again.take(event(12, 'card.deleted', added), 1)
    expect(again.next()).toBeUndefined()
    expect(again.notices).toMatchObject([{ key: 'rename', reason: 'gone' }])
  })

  test('[SYNC-35] a change that was accepted is shown after a reload on an older board, and is not sent again', () => {
    const { core } = coreWithChanges(1, 0)
    const column_id = (core.view as FullBoard).columns[0]?.id ?? ''
    const added = { id: 'added', column_id, title: 'added' }
    core.change('create', { name: 'createCard', input: added }, AT)
    core.sent('create')
    core.accept('create', { epoch: 1, seq: 11 })
    const again = new BoardCore(JSON.parse(JSON.stringify(core.pending.map(keptOf))))
    again.load(smallBoard(), { epoch: 1, seq: 10 })
    expect(again.view?.columns[0]?.cards.at(-1)?.id).toBe('added')
    expect(again.next()).toBeUndefined()
    again.take(event(11, 'card.created', { ...added, rank: 1, labels: [], assignees: [], checklists: [] }), 1)
    expect([again.pending, again.pending.map(keptOf)]).toEqual([[], []])
  })

  test('[SYNC-1] too much that came early is not kept: the board is asked for', () => {
    const { core } = coreWithChanges(1, 0)
    for (let seq = 12; seq <= 1_013; seq++) core.take(event(seq, 'unknown.kind', {}), 1)
    expect(core.missing).toBe('board')
    core.load(smallBoard(), { epoch: 1, seq: 1_013 })
    expect(core.missing).toBe('nothing')
  })
})

import { test as always, fc } from '@fast-check/vitest'
import { expect, test } from 'vitest'
import { GAP, makeGap, rankBetween } from './rank.ts'

const LIMIT = Number.MAX_SAFE_INTEGER

interface Item {
  name: string
  rank: number
}

/** Places an item as the service does: between its neighbours if there is a gap, else after re-spacing. */
function place(list: Item[], index: number, name: string): { list: Item[]; moved: { index: number; rank: number }[] } {
  const ranks = list.map((item) => item.rank)
  const between = rankBetween(ranks[index - 1], ranks[index])
  const { rank, moved } = between === undefined ? makeGap(ranks, index) : { rank: between, moved: [] }
  return { list: applyAll(list, moved).toSpliced(index, 0, { name, rank }), moved }
}

/** Applies the moves one by one, and checks the list after each. */
function applyAll(list: Item[], moved: { index: number; rank: number }[]): Item[] {
  let seen = list
  for (const { index, rank } of moved) {
    seen = seen.map((item, i) => (i === index ? { ...item, rank } : item))
    expectOrdered(seen)
  }
  return seen
}

function expectOrdered(list: Item[]) {
  const wrong = list.findIndex(
    ({ rank }, i) => !(Number.isSafeInteger(rank) && rank > (list[i - 1]?.rank ?? -Infinity)),
  )
  if (wrong !== -1)
    expect.fail(`rank ${wrong} of ${list.map((item) => item.rank).join(', ')} is out of order or of bounds`)
}

const named = (ranks: number[]): Item[] => ranks.map((rank, i) => ({ name: `first ${i}`, rank }))

/** Lists with large gaps, without gaps, and at either limit. */
const adjacent = (from: fc.Arbitrary<number>) =>
  fc.tuple(from, fc.integer({ min: 0, max: 60 })).map(([start, length]) => Array.from({ length }, (_, i) => start + i))
const anyRanks = fc.oneof(
  adjacent(fc.integer({ min: -1000, max: 1000 })),
  adjacent(fc.integer({ min: -LIMIT, max: -LIMIT + 3 })),
  adjacent(fc.integer({ min: LIMIT - 63, max: LIMIT - 60 })),
  fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { maxLength: 60 }),
  fc.uniqueArray(fc.maxSafeInteger(), { maxLength: 20 }),
  fc.constant([-LIMIT, LIMIT]),
  fc.constant([-LIMIT, -LIMIT + 1, LIMIT - 1, LIMIT]),
)
const anyList = anyRanks.map((ranks) => named(ranks.toSorted((a, b) => a - b)))

const anyStep = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('insert' as const), at: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('move' as const), which: fc.nat(), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('remove' as const), which: fc.nat() }) },
)
/** Any steps, or many inserts at one spot. */
const anyHistory = fc.oneof(
  fc.array(anyStep, { maxLength: 120 }),
  fc
    .tuple(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 120 }))
    .map(([at, count]) => Array.from({ length: count }, () => ({ does: 'insert' as const, at }))),
)

always.prop([anyList, anyHistory], { numRuns: 300 })(
  '[ORDER-1] [ORDER-3] [ORDER-4] inserted, moved and removed items are in the expected order, and others keep theirs',
  (start, history) => {
    let list = start
    let model = start.map((item) => item.name)
    for (const [n, step] of history.entries()) {
      const name = step.does === 'insert' ? `new ${n}` : model[step.which % model.length]
      if (name === undefined) continue
      list = list.filter((item) => item.name !== name)
      model = model.filter((other) => other !== name)
      if (step.does === 'remove') continue
      const index = step.at % (model.length + 1)
      list = place(list, index, name).list
      model = model.toSpliced(index, 0, name)
      expectOrdered(list)
      expect(list.map((item) => item.name)).toEqual(model)
    }
  },
)

always.prop([anyList, fc.nat()])('[ORDER-4] making room moves only those whose rank changes, each once', (list, at) => {
  const ranks = list.map((item) => item.rank)
  const { rank, moved } = makeGap(ranks, at % (ranks.length + 1))
  expect(new Set(moved.map((m) => m.index)).size).toBe(moved.length)
  for (const m of moved) expect(m.rank).not.toBe(ranks[m.index])
  expect(Number.isSafeInteger(rank)).toBe(true)
})

always.prop([fc.option(fc.maxSafeInteger(), { nil: undefined }), fc.option(fc.maxSafeInteger(), { nil: undefined })])(
  '[ORDER-3] a rank between two neighbours is between them, and is missing only if there is no integer left',
  (a, b) => {
    const [before, after] = a !== undefined && b !== undefined && a > b ? [b, a] : [a, b]
    if (before !== undefined && before === after) return
    const rank = rankBetween(before, after)
    if (rank === undefined) {
      const room = (after ?? LIMIT) - (before ?? -LIMIT)
      expect(room).toBeLessThan(before === undefined || after === undefined ? GAP : 2)
    } else {
      expect(Number.isSafeInteger(rank)).toBe(true)
      expect(rank).toBeGreaterThan(before ?? -Infinity)
      expect(rank).toBeLessThan(after ?? Infinity)
    }
  },
)

const INSERTS = 10_000
/** The average and maximum number of others that an insert moves, when all go to one spot. */
function costOf(start: number[], spot: (length: number, n: number) => number) {
  let ranks = start
  let total = 0
  let most = 0
  for (let n = 0; n < INSERTS; n++) {
    const index = spot(ranks.length, n)
    const rank = rankBetween(ranks[index - 1], ranks[index])
    const room = rank === undefined ? makeGap(ranks, index) : { rank, moved: [] }
    for (const m of room.moved) ranks[m.index] = m.rank
    ranks = ranks.toSpliced(index, 0, room.rank)
    total += room.moved.length
    most = Math.max(most, room.moved.length)
  }
  return { average: total / INSERTS, most }
}

test.for<[string, number[], (length: number, n: number) => number]>([
  ['behind the first', [GAP, 2 * GAP], () => 1],
  ['before the last', [GAP, 2 * GAP], (length) => length - 1],
  ['in the middle', [GAP, 2 * GAP], (length) => length >> 1],
  ['at the start', [], () => 0],
  ['at the end', [], (length) => length],
  ['at the start, at the lower limit', [-LIMIT], () => 0],
  ['at the end, at the upper limit', [LIMIT], (length) => length],
  ['behind the first, between the limits', [-LIMIT, LIMIT], () => 1],
  ['behind the first of many without room', Array.from({ length: 1000 }, (_, i) => i), () => 1],
  ['at two spots by turns', [GAP, 2 * GAP, 3 * GAP], (length, n) => (n % 2 ? 1 : length - 1)],
])('[ORDER-5] ten thousand inserts %s move few others', ([spot, start, where]) => {
  const { average, most } = costOf([...start], where)
  console.info(`inserting ${spot}: ${average.toFixed(2)} others moved for each, ${most} at most`)
  expect(average).toBeLessThan(12)
})

/** Ranks are integers that JavaScript and JSON can hold exactly. */
const LIMIT = Number.MAX_SAFE_INTEGER
/** The distance that an item at either end of a list keeps from its neighbour. */
export const GAP = 2 ** 20
/**
 * How roomy a neighbourhood must be to be worth re-spacing: the room for each item grows with the number of items, so
 * that a large re-spacing buys many small ones. This keeps the cost of an insert logarithmic over any sequence.
 */
const ROOM = 32

/** The rank of an item between two neighbours; undefined when there is no integer left. No neighbour: an end. */
export function rankBetween(before: number | undefined, after: number | undefined): number | undefined {
  if (before === undefined && after === undefined) return GAP
  const rank =
    before === undefined
      ? (after as number) - GAP
      : after === undefined
        ? before + GAP
        : before + Math.floor((after - before) / 2)
  return rank !== before && Math.abs(rank) <= LIMIT ? rank : undefined
}

/**
 * Makes room at `index` of a list whose ranks leave none: finds a small neighbourhood of that place with enough room and
 * spreads its items, and the new one, evenly over it. Answers the new rank and the items whose rank changed, in an order
 * in which they can be applied one by one without two of them ever changing places.
 */
export function makeRoom(
  ranks: readonly number[],
  index: number,
): { rank: number; moved: { index: number; rank: number }[] } {
  let from = index
  let to = index
  for (;;) {
    const count = to - from + 1
    const low = from === 0 ? undefined : ranks[from - 1]
    const high = ranks[to]
    const [start, step] = spread(low, high, count)
    const fits = step >= (low === undefined && high === undefined ? 1 : ROOM * count)
    if (fits && Math.abs(start) <= LIMIT && Math.abs(start + step * (count - 1)) <= LIMIT) {
      const next = (i: number) => start + step * (i - from + (i >= index ? 1 : 0))
      const changed = []
      for (let i = from; i < to; i++) if (next(i) !== ranks[i]) changed.push({ index: i, rank: next(i) })
      return { rank: start + step * (index - from), moved: inOrder(ranks, changed) }
    }
    // Towards the side that offers more room.
    const left = from === 0 ? -1 : (ranks[from - 1] as number) - (ranks[from - 2] ?? -LIMIT)
    const right = to === ranks.length ? -1 : (ranks[to + 1] ?? LIMIT) - (ranks[to] as number)
    if (left >= right) from--
    else to++
  }
}

/** The first of `count` ranks between two bounds, and the step from one to the next. An open end gives the usual gap. */
function spread(low: number | undefined, high: number | undefined, count: number): [start: number, step: number] {
  if (low === undefined && high === undefined) return [-Math.floor(count / 2) * GAP, GAP]
  if (high === undefined) return [(low as number) + GAP, GAP]
  if (low === undefined) return [high - count * GAP, GAP]
  const step = Math.floor((high - low) / (count + 1))
  return [low + step, step]
}

/** Items that go up from the top down, then items that go down from the bottom up: nobody passes anybody. */
function inOrder<Item extends { index: number; rank: number }>(ranks: readonly number[], changed: Item[]): Item[] {
  const up = changed.filter(({ index, rank }) => rank > (ranks[index] as number))
  const down = changed.filter(({ index, rank }) => rank < (ranks[index] as number))
  return [...up.reverse(), ...down]
}

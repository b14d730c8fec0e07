/** Ranks are integers that JavaScript and JSON can hold exactly. */
const LIMIT = Number.MAX_SAFE_INTEGER
/** The gap between an item at either end of a list and its neighbour. */
export const GAP = 2 ** 20
/**
 * Minimum gap after re-spacing a range, per item of the range: the gap grows with the range, so that a large re-spacing
 * leaves space for many inserts. This keeps the amortized cost of an insert logarithmic for any sequence of inserts.
 */
const MIN_GAP_PER_ITEM = 32

/** The rank between two neighbours (undefined: an end of the list); undefined when there is no integer left. */
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
 * Re-spacing: makes a gap at `index` of a list. Finds a small range of items around it with enough space, and spreads its
 * items and the new one evenly over it. Returns the new rank and the items whose rank changed, in an order in which they can be
 * applied one by one without changing the order of the list in between.
 */
export function makeGap(
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
    const fits = step >= (low === undefined && high === undefined ? 1 : MIN_GAP_PER_ITEM * count)
    if (fits && Math.abs(start) <= LIMIT && Math.abs(start + step * (count - 1)) <= LIMIT) {
      const next = (i: number) => start + step * (i - from + (i >= index ? 1 : 0))
      const changed = []
      for (let i = from; i < to; i++) if (next(i) !== ranks[i]) changed.push({ index: i, rank: next(i) })
      return { rank: start + step * (index - from), moved: inOrder(ranks, changed) }
    }
    // Extend the range to the side with the larger gap.
    const left = from === 0 ? -1 : (ranks[from - 1] as number) - (ranks[from - 2] ?? -LIMIT)
    const right = to === ranks.length ? -1 : (ranks[to + 1] ?? LIMIT) - (ranks[to] as number)
    if (left >= right) from--
    else to++
  }
}

/** The first of `count` ranks between two bounds, and the step between them. At an open end the step is `GAP`. */
function spread(low: number | undefined, high: number | undefined, count: number): [start: number, step: number] {
  if (low === undefined && high === undefined) return [-Math.floor(count / 2) * GAP, GAP]
  if (high === undefined) return [(low as number) + GAP, GAP]
  if (low === undefined) return [high - count * GAP, GAP]
  const step = Math.floor((high - low) / (count + 1))
  return [low + step, step]
}

/** First the items whose rank grows, from the last to the first; then those whose rank shrinks, from the first to the last. */
function inOrder<Item extends { index: number; rank: number }>(ranks: readonly number[], changed: Item[]): Item[] {
  const up = changed.filter(({ index, rank }) => rank > (ranks[index] as number))
  const down = changed.filter(({ index, rank }) => rank < (ranks[index] as number))
  return [...up.reverse(), ...down]
}

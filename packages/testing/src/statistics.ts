const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b)

/** The mean of the two middle values when their number is even; NaN without values. */
export function median(values: readonly number[]): number {
  const all = sorted(values)
  const half = Math.floor(all.length / 2)
  const [low, high] = [all[half - (all.length % 2 === 0 ? 1 : 0)], all[half]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

/** The value below which `p` percent of the values lie; NaN without values. */
export const percentile = (values: readonly number[], p: number) => percentileOfSorted(sorted(values), p)

/** The same for values that are sorted already. */
export const percentileOfSorted = (values: ArrayLike<number>, p: number) =>
  values[Math.min(values.length - 1, Math.floor((values.length * p) / 100))] ?? Number.NaN

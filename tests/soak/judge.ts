import { median } from '@lockstep/testing/statistics'

/** A time series: seconds since the start, and the value. */
export type Series = readonly (readonly [atS: number, value: number])[]

export interface Growth {
  median: number
  /** Growth over the measured time, from the slope. */
  growth: number
  perHour: number
  /** The maximum growth in that time. */
  most: number
  isFlat: boolean
}
export interface Levels {
  /** The medians of the second and of the last third. */
  early: number
  late: number
  most: number
  isFlat: boolean
}

/** A third of the time. The first one is the warm-up, in which caches fill and code is compiled. */
const third = (series: Series, endS: number, nth: 1 | 2) =>
  series.filter(([at]) => at >= (endS * nth) / 3 && (nth === 2 || at < (endS * (nth + 1)) / 3))

/**
 * Growth by the Theil–Sen slope, which is robust against outliers and the sawtooth of garbage collection. It is
 * bounded by a share of the value, or by an amount per hour.
 */
export function measureGrowth(series: Series, { share, perHour }: { share: number; perHour: number }): Growth {
  const endS = endOf(series)
  const measured = [...third(series, endS, 1), ...third(series, endS, 2)]
  const seconds = (endS * 2) / 3
  const middle = median(measured.map(([, value]) => value))
  const slope = slopeOf(measured)
  const growth = slope * seconds
  const most = Math.max(share * middle, (perHour * seconds) / 3_600)
  return { median: middle, growth, perHour: slope * 3_600, most, isFlat: growth <= most }
}

/** Compares the last third of the time with the one before. Values below the floor always pass. */
export function compareLevels(
  series: Series,
  { ratio, floor }: { ratio: number; floor: number },
  endS = endOf(series),
): Levels {
  const [early, late] = ([1, 2] as const).map((nth) => median(third(series, endS, nth).map(([, value]) => value))) as [
    number,
    number,
  ]
  const most = Math.max(floor, early * ratio)
  return { early, late, most, isFlat: late <= most }
}

/** The median of the slopes between all pairs of points. */
function slopeOf(series: Series): number {
  // A typed array, because an hour has a hundred thousand slopes to sort.
  const slopes = new Float64Array((series.length * (series.length - 1)) / 2)
  let count = 0
  series.forEach(([x, y], i) => {
    for (const [x2, y2] of series.slice(i + 1)) slopes[count++] = (y2 - y) / (x2 - x)
  })
  return slopes.sort()[Math.floor(slopes.length / 2)] ?? Number.NaN
}

const endOf = (series: Series) => series.at(-1)?.[0] ?? Number.NaN

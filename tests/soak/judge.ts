import { median } from '@lockstep/testing/statistics'

/** Something that was looked at again and again: when, in seconds since the load began, and how much it was. */
export type Series = readonly (readonly [at_s: number, value: number])[]

export interface Growth {
  median: number
  /** By how much it grew while it was measured, as the slope says. */
  growth: number
  per_hour: number
  /** The most that it may grow in that time. */
  most: number
  is_flat: boolean
}
export interface Levels {
  /** The medians of the second and of the last third. */
  early: number
  late: number
  most: number
  is_flat: boolean
}

/** Of the whole time; the first third is for warming up: caches fill, code is compiled, the heap finds its size. */
const third = (series: Series, end_s: number, nth: 1 | 2) =>
  series.filter(([at]) => at >= (end_s * nth) / 3 && (nth === 2 || at < (end_s * (nth + 1)) / 3))

/**
 * Whether something that is collected now and then, such as memory, keeps its size: by the slope of Theil and Sen, which
 * a few outliers and the teeth of a saw do not move. It may grow by a share of itself, or by so much in an hour.
 */
export function measureGrowth(series: Series, { share, per_hour }: { share: number; per_hour: number }): Growth {
  const end_s = endOf(series)
  const measured = [...third(series, end_s, 1), ...third(series, end_s, 2)]
  const seconds = (end_s * 2) / 3
  const middle = median(measured.map(([, value]) => value))
  const slope = slopeOf(measured)
  const growth = slope * seconds
  const most = Math.max(share * middle, (per_hour * seconds) / 3_600)
  return { median: middle, growth, per_hour: slope * 3_600, most, is_flat: growth <= most }
}

/** Whether something stays as low as it was: its last third against the one before. Below the floor nobody minds. */
export function compareLevels(
  series: Series,
  { ratio, floor }: { ratio: number; floor: number },
  end_s = endOf(series),
): Levels {
  const [early, late] = ([1, 2] as const).map((nth) => median(third(series, end_s, nth).map(([, value]) => value))) as [
    number,
    number,
  ]
  const most = Math.max(floor, early * ratio)
  return { early, late, most, is_flat: late <= most }
}

/** The middle one of the slopes between every two points. */
function slopeOf(series: Series): number {
  // In an hour there are a hundred thousand: an array of numbers alone is sorted quickly.
  const slopes = new Float64Array((series.length * (series.length - 1)) / 2)
  let count = 0
  series.forEach(([x, y], i) => {
    for (const [x2, y2] of series.slice(i + 1)) slopes[count++] = (y2 - y) / (x2 - x)
  })
  return slopes.sort()[Math.floor(slopes.length / 2)] ?? Number.NaN
}

const endOf = (series: Series) => series.at(-1)?.[0] ?? Number.NaN

import { atMost, type Figure, info } from '../prove/report.ts'
import { compareLevels, measureGrowth, type Series } from './judge.ts'
import type { InstanceSample, Sample, StoreSample } from './sampler.ts'

const rounded = (value: number) => Math.round(value * 10) / 10

/**
 * Allowed growth: a share of the value, or an amount per hour. Resident memory varies by a few percent with the allocator,
 * whatever the service holds.
 */
interface GrowthBound {
  share: number
  perHour: number
}
const GROWTH = {
  kept: { share: 0.02, perHour: 10 },
  resident: { share: 0.04, perHour: 10 },
  redis: { share: 0.1, perHour: 1 },
}
const MEMORY: [name: keyof InstanceSample, what: string, bound: GrowthBound][] = [
  ['rss_mib', 'resident memory after a garbage collection', GROWTH.resident],
  ['heap_mib', 'heap after a garbage collection', GROWTH.kept],
  ['external_mib', 'buffers outside the heap after a garbage collection', GROWTH.kept],
]
/** Values that must stay level. Below the floor they always pass. */
type Level = [name: keyof InstanceSample, what: string, unit: string, floor: number]
const TIMES: Level[] = [
  ['lag_p50_ms', 'event-loop lag, p50', 'ms', 15],
  ['lag_p99_ms', 'event-loop lag, p99', 'ms', 30],
  ['pool_wait_ms', 'wait for a database connection, mean', 'ms', 1],
  ['pool_wait_p99_ms', 'wait for a database connection, p99', 'ms', 10],
  ['pool_waiting', 'requests waiting for a database connection', '', 1],
  ['latency_p50_ms', 'latency, p50', 'ms', 10],
  ['latency_p99_ms', 'latency, p99', 'ms', 60],
]
const COUNTS: Level[] = [
  ['files', 'open files', '', 40],
  ['sockets', 'open sockets', '', 20],
]
/** Cores used by other processes, from which on times say little about the service. */
const BUSY_CORES = 0.5
/** The share of each third that must remain. */
const ENOUGH = 0.2
const RATIO = 1.25
/** Connections of both instances and of the sampler. */
const POOLS = 24

/** Samples without other load on the machine and without a forced garbage collection; all samples, if too few of a third remain. */
export function undisturbed(samples: readonly Sample[]): readonly Sample[] {
  const quiet = samples.filter(({ otherCores, isCollected }) => otherCores < BUSY_CORES && !isCollected)
  const last = samples.at(-1)?.atS ?? 0
  const thirdOf = (all: readonly Sample[], nth: number) =>
    all.filter(({ atS }) => atS > (last * nth) / 3 && atS <= (last * (nth + 1)) / 3).length
  return [1, 2].every((nth) => thirdOf(quiet, nth) >= ENOUGH * thirdOf(samples, nth)) ? quiet : samples
}

/** A figure, and how much of its bound it uses. */
interface Judged {
  figure: Figure
  used: number
}
const judged = (figure: Figure, used: number): Judged => ({
  figure,
  used: figure.met ? used : Number.POSITIVE_INFINITY,
})
/** The instance that is over its bound, or closest to it. */
const worstOf = (judged: Judged[]) => judged.reduce((worst, each) => (each.used > worst.used ? each : worst)).figure

/** Whether everything that was sampled stayed level. Of each figure the worst instance is shown. */
export function verdict(samples: readonly Sample[]): Figure[] {
  const instances = [...(samples[0]?.instances.keys() ?? [])]
  const quiet = undisturbed(samples)
  const collected = samples.filter(({ isCollected }) => isCollected)
  const ofInstance = (nth: number, name: keyof InstanceSample, among = samples): Series =>
    among.map(({ atS, instances: all }) => [atS, all[nth]?.[name] ?? Number.NaN])
  const ofStore = (name: keyof StoreSample): Series => samples.map(({ atS, stores }) => [atS, stores[name]])
  const level = (what: string, series: Series, unit: string, floor: number): Judged => {
    const { early, late, most } = compareLevels(series, { ratio: RATIO, floor }, samples.at(-1)?.atS)
    const figure = atMost(`${what}, last third (${rounded(early)} before)`, late, rounded(most), unit)
    return judged(figure, late / most)
  }
  const grows = (what: string, series: Series, bound: GrowthBound): Judged => {
    const { median, growth, most } = measureGrowth(series, bound)
    const figure = atMost(`growth of ${what} (${rounded(median)} MiB)`, growth, rounded(most), 'MiB')
    return judged(figure, growth / most)
  }
  return [
    info(`samples without other load, of ${samples.length}, for lag, waits and latency`, quiet.length),
    ...MEMORY.map(([name, what, bound]) =>
      worstOf(instances.map((nth) => grows(what, ofInstance(nth, name, collected), bound))),
    ),
    worstOf(instances.map((nth) => level('resident memory', ofInstance(nth, 'rss_mib'), 'MiB', 0))),
    ...TIMES.map(([name, what, unit, floor]) =>
      worstOf(instances.map((nth) => level(what, ofInstance(nth, name, quiet), unit, floor))),
    ),
    ...COUNTS.map(([name, what, unit, floor]) =>
      worstOf(instances.map((nth) => level(what, ofInstance(nth, name), unit, floor))),
    ),
    level('connections of PostgreSQL', ofStore('connections'), '', POOLS).figure,
    level('boards and files in PostgreSQL', ofStore('content_mib'), 'MiB', 20).figure,
    info(
      'growth of the event log, stored responses and rule runs, kept by design',
      grownBy(ofStore('kept_mib')),
      'MiB',
    ),
    grows('Redis', ofStore('redis_mib'), GROWTH.redis).figure,
  ]
}

const grownBy = (series: Series) => (series.at(-1)?.[1] ?? 0) - (series[0]?.[1] ?? 0)

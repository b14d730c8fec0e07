import { atMost, type Goal, told } from '../prove/goals.ts'
import { judgeGrowth, judgeLevel, type Series } from './judge.ts'
import type { InstanceSample, Sample, StoreSample } from './sampler.ts'

const rounded = (value: number) => Math.round(value * 10) / 10

/**
 * What may grow with time: by a share of itself, or by so much in an hour. What the allocators hold of the system's memory
 * wavers by a few hundredths, whatever the service keeps.
 */
const GROWTH = {
  kept: { share: 0.02, per_hour: 10 },
  resident: { share: 0.04, per_hour: 10 },
  redis: { share: 0.1, per_hour: 1 },
}
/** What must stay as low as it was; below the floor it is as good as nothing. */
type Level = [name: keyof InstanceSample, what: string, unit: string, floor: number]
const TIMES: Level[] = [
  ['lag_p50_ms', 'event-loop lag, half', 'ms', 15],
  ['lag_p99_ms', 'event-loop lag, 99 %', 'ms', 30],
  ['pool_wait_ms', 'wait for a connection, mean', 'ms', 1],
  ['pool_wait_p99_ms', 'wait for a connection, 99 %', 'ms', 10],
  ['pool_waiting', 'waiting for a connection', '', 1],
  ['latency_p50_ms', 'latency, half', 'ms', 10],
  ['latency_p99_ms', 'latency, 99 %', 'ms', 60],
]
const COUNTS: Level[] = [
  ['files', 'open files', '', 40],
  ['sockets', 'open sockets', '', 20],
]
/** Something else takes so much of the machine: how long things take says little about the service. */
const BUSY_CORES = 0.5
/** As large a part of each third must be left of it. */
const ENOUGH = 0.2
const RATIO = 1.25
/** Connections that both instances and whoever looks may have. */
const POOLS = 24

/** The moments in which the machine was there for the run, and nobody had garbage collected; all, when there were too few of them in a third. */
export function undisturbed(samples: readonly Sample[]): readonly Sample[] {
  const quiet = samples.filter(({ other_cores, is_collected }) => other_cores < BUSY_CORES && !is_collected)
  const last = samples.at(-1)?.at_s ?? 0
  const thirdOf = (all: readonly Sample[], nth: number) =>
    all.filter(({ at_s }) => at_s > (last * nth) / 3 && at_s <= (last * (nth + 1)) / 3).length
  return [1, 2].every((nth) => thirdOf(quiet, nth) >= ENOUGH * thirdOf(samples, nth)) ? quiet : samples
}

/** Whether everything that was looked at stayed flat. */
export function verdict(samples: readonly Sample[]): Goal[] {
  const count = samples[0]?.instances.length ?? 0
  const quiet = undisturbed(samples)
  const collected = samples.filter(({ is_collected }) => is_collected)
  const ofInstance = (nth: number, name: keyof InstanceSample, among = samples): Series =>
    among.map(({ at_s, instances }) => [at_s, instances[nth]?.[name] ?? Number.NaN])
  const ofStore = (name: keyof StoreSample): Series => samples.map(({ at_s, stores }) => [at_s, stores[name]])
  const level = (what: string, series: Series, unit: string, floor: number): Goal => {
    const { early, late, most } = judgeLevel(series, { ratio: RATIO, floor }, samples.at(-1)?.at_s)
    return atMost(`${what}, last third (before: ${rounded(early)})`, late, rounded(most), unit)
  }
  const instances = Array.from({ length: count }, (_, nth) => {
    const of = `instance ${nth + 1}:`
    const grows = (name: keyof InstanceSample, what: string, bound = GROWTH.kept): Goal[] => {
      const { median, per_hour, growth, most } = judgeGrowth(ofInstance(nth, name, collected), bound)
      return [
        told(`${of} ${what}, median`, median, 'MiB'),
        told(`${of} ${what}, slope`, per_hour, 'MiB/h'),
        atMost(`${of} ${what}, growth while it was measured`, growth, rounded(most), 'MiB'),
      ]
    }
    return [
      ...grows('rss_mib', 'resident memory after a collection', GROWTH.resident),
      ...grows('heap_mib', 'heap after a collection'),
      ...grows('external_mib', 'buffers outside the heap after a collection'),
      level(`${of} resident memory`, ofInstance(nth, 'rss_mib'), 'MiB', 0),
      ...TIMES.map(([name, what, unit, floor]) => level(`${of} ${what}`, ofInstance(nth, name, quiet), unit, floor)),
      ...COUNTS.map(([name, what, unit, floor]) => level(`${of} ${what}`, ofInstance(nth, name), unit, floor)),
    ]
  })
  const redis = judgeGrowth(ofStore('redis_mib'), GROWTH.redis)
  return [
    told('moments that were looked at', samples.length),
    told('of them undisturbed, for lag, waits and latency', quiet.length),
    ...instances.flat(),
    level('connections of PostgreSQL', ofStore('connections'), '', POOLS),
    level('boards and files in PostgreSQL', ofStore('content_mib'), 'MiB', 20),
    told('log, answers for retries and runs of rules, kept by design: growth', grownBy(ofStore('kept_mib')), 'MiB'),
    atMost('Redis, growth while it was measured', redis.growth, rounded(redis.most), 'MiB'),
  ]
}

const grownBy = (series: Series) => (series.at(-1)?.[1] ?? 0) - (series[0]?.[1] ?? 0)

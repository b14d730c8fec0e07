import { appendFileSync, readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { cpuOf, machineTime, residentOf } from '@lockstep/testing/load/measure'
import { Scrape, scrape } from '@lockstep/testing/metrics'
import type { createClient } from '@redis/client'
import type pg from 'pg'
import type { Instance } from './instances.ts'

const MIB = 2 ** 20
const COLLECT_MS = 700

/** The state of an instance, and its activity since the last sample. */
export interface InstanceSample {
  rss_mib: number
  heap_mib: number
  external_mib: number
  lag_p50_ms: number
  lag_p99_ms: number
  pool_waiting: number
  pool_wait_ms: number
  pool_wait_p99_ms: number
  sockets: number
  files: number
  requests_per_second: number
  latency_p50_ms: number
  latency_p99_ms: number
  cpu_cores: number
}
/** The state of the stores. */
export interface StoreSample {
  content_mib: number
  kept_mib: number
  connections: number
  redis_mib: number
}
export interface Sample {
  atS: number
  /** Whether there was a garbage collection before, so that the memory is what is retained. */
  isCollected: boolean
  /** Cores used by other processes on the machine. */
  otherCores: number
  instances: InstanceSample[]
  stores: StoreSample
}
/** The stores to measure, beside the instances. */
export interface MeasuredStores {
  sql: pg.Pool
  redis: Pick<ReturnType<typeof createClient>, 'info'>
  /** The root processes of the run: this one, and PostgreSQL. */
  parents: number[]
}

/** Tables that grow by design: the log, stored responses and rule runs. */
const KEPT = ['board_events', 'board_stream', 'stored_responses', 'automation_runs']

/** Samples the instances and the stores. Samples are appended to a file, so that an interrupted run keeps them. */
export class Sampler {
  readonly samples: Sample[] = []
  /** The reasons of failed samples. */
  readonly missed: string[] = []
  private readonly before: { at: number; scrape: Scrape; cpuMs: number }[]
  private readonly began = performance.now()
  private readonly instances: readonly Instance[]
  private readonly stores: MeasuredStores
  private machine: { at: number; busyMs: number; ownMs: number }
  private readonly file: string | undefined
  private count = 0

  constructor(instances: readonly Instance[], around: MeasuredStores, file?: string) {
    this.instances = instances
    this.stores = around
    this.file = file
    this.before = instances.map(({ pid }) => ({ at: this.began, scrape: new Scrape(''), cpuMs: cpuOf(pid) }))
    this.machine = this.readMachine()
  }

  async sample(isCollected = false) {
    const atS = (performance.now() - this.began) / 1_000
    try {
      if (isCollected) await this.collect()
      const [stores, ...instances] = await Promise.all([
        readStores(this.stores),
        ...this.instances.map((instance, i) => this.readInstance(instance, i)),
      ])
      const sample = { atS, isCollected, otherCores: this.otherCores(), instances, stores }
      this.count++
      // The first sample covers the time since the start of the process, so it is skipped.
      if (this.count === 1) return
      this.samples.push(sample)
      if (this.file) appendFileSync(this.file, `${JSON.stringify(sample)}\n`)
    } catch (error) {
      this.missed.push(`after ${atS.toFixed(0)} s: ${(error as Error).message}`)
    }
  }

  /** A garbage collection blocks the loop for a moment, and does not report its end. */
  private async collect() {
    for (const { signal } of this.instances) signal('SIGCONT')
    await pause(COLLECT_MS)
  }

  private readMachine() {
    const ownMs = this.stores.parents.reduce((sum, pid) => sum + cpuOf(pid), 0)
    return { at: performance.now(), busyMs: machineTime().busy, ownMs }
  }

  private otherCores(): number {
    const [before, now] = [this.machine, this.readMachine()]
    this.machine = now
    const otherMs = now.busyMs - before.busyMs - (now.ownMs - before.ownMs)
    return Math.max(0, otherMs / (now.at - before.at))
  }

  private async readInstance({ pid, baseUrl, metricsToken }: Instance, nth: number): Promise<InstanceSample> {
    const now = await scrape(baseUrl, metricsToken)
    const [at, cpuMs] = [performance.now(), cpuOf(pid)]
    const before = this.before[nth] as (typeof this.before)[number]
    this.before[nth] = { at, scrape: now, cpuMs }
    const since = (name: string) => now.sum(name) - before.scrape.sum(name)
    const seconds = (at - before.at) / 1_000
    const quantiles = (name: string) => quantilesOf(bucketsOf(now, name), bucketsOf(before.scrape, name))
    const latency = quantiles('lockstep_http_request_duration_seconds')
    const waits = since('lockstep_database_pool_wait_seconds_count')
    return {
      rss_mib: residentOf(pid) / MIB,
      heap_mib: now.sum('nodejs_heap_size_used_bytes') / MIB,
      external_mib: now.sum('nodejs_external_memory_bytes') / MIB,
      lag_p50_ms: now.sum('nodejs_eventloop_lag_p50_seconds') * 1_000,
      lag_p99_ms: now.sum('nodejs_eventloop_lag_p99_seconds') * 1_000,
      pool_waiting: now.sum('lockstep_database_pool_waiting'),
      pool_wait_ms: waits > 0 ? (since('lockstep_database_pool_wait_seconds_sum') / waits) * 1_000 : 0,
      pool_wait_p99_ms: quantiles('lockstep_database_pool_wait_seconds')(0.99) * 1_000,
      sockets: now.sum('lockstep_sockets'),
      files: readdirSync(`/proc/${pid}/fd`).length,
      requests_per_second: since('lockstep_http_requests_total') / seconds,
      latency_p50_ms: latency(0.5) * 1_000,
      latency_p99_ms: latency(0.99) * 1_000,
      cpu_cores: (cpuMs - before.cpuMs) / (at - before.at),
    }
  }
}

/** The cumulative counts of a histogram by bucket bound, over all labels. */
function bucketsOf({ series }: Scrape, name: string): Map<number, number> {
  const counts = new Map<number, number>()
  for (const [key, count] of series) {
    if (!key.startsWith(`${name}_bucket{`)) continue
    const bound = Number(/[{,]le="([^"]+)"/.exec(key)?.[1]?.replace('+Inf', 'Infinity'))
    counts.set(bound, (counts.get(bound) ?? 0) + count)
  }
  return counts
}

/** Quantiles between two samples, with linear interpolation within a bucket like in Prometheus. */
export function quantilesOf(now: Map<number, number>, before: Map<number, number>): (share: number) => number {
  const buckets = [...now]
    .map(([bound, count]) => ({ bound, count: count - (before.get(bound) ?? 0) }))
    .sort((a, b) => a.bound - b.bound)
  const total = buckets.at(-1)?.count ?? 0
  return (share) => {
    if (total === 0) return 0
    const nth = buckets.findIndex(({ count }) => count >= share * total)
    const [bucket, lower] = [buckets[nth], buckets[nth - 1] ?? { bound: 0, count: 0 }]
    // Above the last bound the value is unknown.
    if (!bucket || bucket.bound === Infinity) return lower.bound
    const into = (share * total - lower.count) / (bucket.count - lower.count || 1)
    return lower.bound + into * (bucket.bound - lower.bound)
  }
}

async function readStores({ sql, redis }: MeasuredStores): Promise<StoreSample> {
  const [{ rows }, info] = await Promise.all([
    sql.query<{ content: string; kept: string; connections: string }>(
      `select coalesce(sum(pg_total_relation_size(oid)) filter (where relname <> all ($1)), 0) content,
         coalesce(sum(pg_total_relation_size(oid)) filter (where relname = any ($1)), 0) kept,
         (select count(*) from pg_stat_activity where datname = current_database()) connections
       from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
      [KEPT],
    ),
    redis.info('memory'),
  ])
  const [row] = rows
  return {
    content_mib: Number(row?.content) / MIB,
    kept_mib: Number(row?.kept) / MIB,
    connections: Number(row?.connections),
    redis_mib: Number(/^used_memory:(\d+)/m.exec(info)?.[1]) / MIB,
  }
}

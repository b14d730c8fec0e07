import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { scrape } from '@lockstep/testing/metrics'
import { eventually } from '@lockstep/testing/processes'
import { median } from '@lockstep/testing/statistics'
import { openSql } from '@lockstep/testing/template-database'
import { createClient } from '@redis/client'
import { checkDatabase } from '../race-pairs/check.ts'
import { type Instance, startInstances } from './instances.ts'
import { type Sample, Sampler } from './sampler.ts'
import type { WorkloadReport, WorkloadSize } from './workload.ts'
import { Workloads } from './workloads.ts'

export interface SoakSize extends WorkloadSize {
  seed: number
  workloads: number
  seconds: number
  /** Seconds between samples, how many samples there are for each garbage collection, and seconds between progress lines. */
  sampleS: number
  collectEvery: number
  reportS: number
}
/** Totals of an instance, and the sockets and requests that remained after all clients had left. */
interface InstanceTotals {
  requests: number
  /** Responses with 503 and Retry-After, and with any other 5xx. */
  shed: number
  serverErrors: number
  resumes: number
  events: number
  deliveries: number
  ruleRuns: number
  socketsLeft: number
  requestsLeft: number
}
export interface SoakResult {
  report: WorkloadReport
  samples: Sample[]
  totals: InstanceTotals[]
  /** Violations that do not depend on the figures. */
  violations: string[]
}
/** The stores, and the processes with children that belong to the run, such as its own PostgreSQL. */
export interface Stores {
  databaseUrl: string
  redis_url: string
  pids: number[]
}
const LEFT_MS = 60_000

/** Runs two instances under a mixed load of real clients, and samples them. */
export async function soak(
  { seed, workloads: workloadCount, seconds, sampleS, collectEvery, reportS, ...size }: SoakSize,
  stores: Stores,
  progress: (line: string) => void,
  file?: string,
): Promise<SoakResult> {
  const sql = openSql(stores.databaseUrl)
  const redis = await createClient({ url: stores.redis_url }).connect()
  if (file) rmSync(file, { force: true })
  let workloads: Workloads | undefined
  try {
    const instances = await startInstances(stores.databaseUrl, stores.redis_url)
    const baseUrls = instances.map(({ baseUrl }) => baseUrl)
    workloads = new Workloads(workloadCount)
    await workloads.start(
      Array.from({ length: workloadCount }, (_, i) => ({ ...size, seed: seed * 1_000 + i, baseUrls })),
    )
    const sampler = new Sampler(instances, { sql, redis, parents: [process.pid, ...stores.pids] }, file)
    const endsAt = performance.now() + seconds * 1_000
    let count = 0
    let reportAt = performance.now() + reportS * 1_000
    for (let at = performance.now(); at < endsAt && workloads.exits.length === 0; at += sampleS * 1_000) {
      await pause(Math.max(0, at - performance.now()))
      await sampler.sample(++count % collectEvery === 0)
      if (performance.now() < reportAt) continue
      reportAt += reportS * 1_000
      progress(lineOf(sampler, await workloads.report(), seconds))
    }
    progress('stopping the workloads, and comparing every live board with the service')
    const report = await workloads.stop()
    const totals = await Promise.all(instances.map(readTotals))
    const violations = [
      ...report.failures,
      ...workloads.exits,
      ...sampler.missed.map((why) => `no sample ${why}`),
      ...(await checkDatabase(sql)),
    ]
    for (const instance of instances) {
      const code = await instance.end('SIGTERM')
      if (code !== 0) violations.push(`an instance ended with ${code}`)
      violations.push(...(await instance.errors()))
    }
    return { report, samples: sampler.samples, totals, violations }
  } finally {
    await workloads?.end()
    redis.destroy()
    await sql.end()
  }
}

/** Reads the totals after all clients have left. Broken connections are detected by the next heartbeat. */
async function readTotals({ baseUrl, metricsToken }: Instance): Promise<InstanceTotals> {
  const read = () => scrape(baseUrl, metricsToken)
  const isEmpty = async () => (await read()).sum('lockstep_sockets') === 0
  await eventually('all sockets are gone', isEmpty, LEFT_MS).catch(() => {})
  const found = await read()
  const answered = (pattern: RegExp) =>
    [...found.series]
      .filter(([key]) => key.startsWith('lockstep_http_requests_total{') && pattern.test(key))
      .reduce((sum, [, value]) => sum + value, 0)
  return {
    requests: answered(/./),
    shed: answered(/status="503"/),
    serverErrors: answered(/status="5(?!03)/),
    resumes: found.sum('lockstep_socket_resumes_total'),
    events: found.sum('lockstep_events_committed_total'),
    deliveries: found.sum('lockstep_deliveries_total'),
    ruleRuns: found.sum('lockstep_rule_runs_total'),
    socketsLeft: found.sum('lockstep_sockets'),
    // The scrape itself is one request.
    requestsLeft: Math.max(0, found.sum('lockstep_http_requests_in_flight') - 1),
  }
}

function lineOf({ samples }: Sampler, { live, failures }: WorkloadReport, seconds: number) {
  const { atS, instances = [] } = samples.at(-1) ?? { atS: 0 }
  const each = (name: keyof (typeof instances)[number], digits = 0) =>
    instances.map((one) => one[name].toFixed(digits)).join(' + ')
  const lag = median(samples.slice(-6).flatMap((sample) => sample.instances.map((one) => one.lag_p99_ms)))
  return [
    `${(atS / 60).toFixed(1)} of ${(seconds / 60).toFixed(0)} min: ${each('requests_per_second')} requests/s`,
    `RSS ${each('rss_mib')} MiB, ${each('cpu_cores', 2)} cores, lag p99 ${lag.toFixed(1)} ms, pool wait ${each('pool_wait_ms', 2)} ms`,
    `p99 ${each('latency_p99_ms')} ms, ${each('files')} files, ${live} live boards, ${failures.length} failures${failures[0] ? `: ${failures[0]}` : ''}`,
  ].join(', ')
}

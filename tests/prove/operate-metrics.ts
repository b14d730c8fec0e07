import { randomBytes, randomUUID } from 'node:crypto'
import { type Scrape, scrape } from '../../packages/server/testing/metrics.ts'
import { freePort } from '../../packages/server/testing/ports.ts'
import {
  endProcesses,
  eventually,
  type ServiceProcess,
  startServiceProcess,
} from '../../packages/server/testing/processes.ts'
import { databaseUrl, onServer, REDIS } from '../../packages/server/testing/template-database.ts'
import { queriesOver } from '../../scripts/dashboard.ts'
import { atMost, collectGoals, is, told } from './goals.ts'
import { METRICS_TOKEN, makeTraffic, type Prometheus, promtool, startPrometheus } from './metrics-stage.ts'
import type { Progress, Report } from './report.ts'

const SECONDS = 60
const WRITERS = 4
const FLOOD = 2_000
const ROUNDS = 6
const ROUND_REQUESTS = 1_500

/** A real Prometheus beside two instances under mixed traffic: what it sees, what a scrape costs, and what counting costs. */
export async function prove(progress: Progress): Promise<Report> {
  const { add, sections, violations } = collectGoals(progress)
  const name = `lockstep_prove_metrics_${process.pid}`
  const settings = { DATABASE_URL: databaseUrl(name), REDIS_URL: REDIS, LOG_LEVEL: 'warn', JWT_SECRET: randomUUID() }
  let prometheus: Prometheus | undefined
  try {
    await onServer((client) => client.query(`create database ${name}`))
    const first = await startServiceProcess({ ...settings, METRICS_TOKEN })
    const port = String(await freePort())
    const second = await startServiceProcess({ ...settings, METRICS_TOKEN, METRICS_PORT: port })
    prometheus = await startPrometheus([new URL(first.base_url).host, `127.0.0.1:${port}`])
    progress(`${SECONDS} s of traffic on two instances`)
    const over_at = performance.now() + SECONDS * 1_000
    const isOver = () => performance.now() > over_at
    const { writes } = await makeTraffic([first.base_url, second.base_url], isOver, WRITERS)
    add('Traffic', 'As Prometheus saw it.', await seenBy(prometheus, writes))
    const before = await timedScrape(first)
    progress(`${FLOOD} requests for made-up paths`)
    await flood(first.base_url, FLOOD)
    const after = await timedScrape(first)
    const { isFine } = await promtool(['check', 'metrics'], after.found.text)
    add(
      'A scrape',
      'Of the instance that was written to, before and after a flood of made-up paths, ids and methods.',
      [
        told('size', after.found.text.length / 1_000, 'kB'),
        told('duration', after.ms, 'ms'),
        told('series before', before.found.series.size),
        told('series after', after.found.series.size),
        is('series that made-up paths brought', newSeries(before.found, after.found), 0),
        is('complaints of promtool', isFine ? 0 : 1, 0),
      ],
    )
    progress('requests with and without metrics')
    const bare = await startServiceProcess(settings)
    add('What counting costs', 'The same requests, in turns, with metrics and without.', [
      ...(await compare(first.base_url, bare.base_url)),
    ])
  } finally {
    await prometheus?.end()
    await endProcesses()
    await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
  }
  const setting = { seconds: SECONDS, writers: WRITERS, instances: 2, flood: FLOOD, compared: ROUNDS * ROUND_REQUESTS }
  return { title: 'Metrics that a Prometheus reads', setting, sections, violations }
}

/** What the dashboard's queries say, and how many have no answer. */
async function seenBy(prometheus: Prometheus, writes: number) {
  const value = async (expr: string) => Number((await prometheus.ask(expr))[0]?.value[1] ?? Number.NaN)
  const delivery = (q: number, source: string) =>
    value(
      `1000 * histogram_quantile(${q}, sum by (le) (rate(lockstep_delivery_seconds_bucket{source="${source}"}[5m])))`,
    )
  const queries = queriesOver('1m')
  let unanswered = 0
  for (const { expr } of queries) if ((await prometheus.ask(expr)).length === 0) unanswered++
  return [
    told('changes that were made', writes),
    told('events committed', await value('sum(lockstep_events_committed_total)')),
    told('deliveries', await value('sum(lockstep_deliveries_total)')),
    told('half of the events delivered here', await delivery(0.5, 'here'), 'ms'),
    told('99 % of the events delivered here', await delivery(0.99, 'here'), 'ms'),
    told('half of the events delivered through Redis', await delivery(0.5, 'bus'), 'ms'),
    told('99 % of the events delivered through Redis', await delivery(0.99, 'bus'), 'ms'),
    told(
      'scrape as Prometheus timed it, longest',
      1_000 * (await value('max(max_over_time(scrape_duration_seconds[5m]))')),
      'ms',
    ),
    told('queries of the dashboard', queries.length),
    is('queries without an answer', unanswered, 0),
    is('alerts that fire', (await prometheus.ask('ALERTS{alertstate="firing"}')).length, 0),
  ]
}

async function timedScrape({ base_url }: ServiceProcess) {
  const began = performance.now()
  const found = await scrape(base_url, METRICS_TOKEN)
  return { found, ms: performance.now() - began }
}

/** Series that are new and not of the one route that stands for all unknown paths, or a template. */
const newSeries = (before: Scrape, after: Scrape) =>
  [...after.series.keys()].filter(
    (key) => !before.series.has(key) && !/route="(none|\*|\/boards\/:board_id)"/.test(key),
  ).length

async function flood(base_url: string, count: number) {
  const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']
  for (let i = 0; i < count; i += 10) {
    const some = Array.from({ length: 10 }, (_, k) => {
      const path = k % 2 === 0 ? `/${randomBytes(8).toString('hex')}` : `/boards/${randomUUID()}`
      return fetch(base_url + path, { method: methods[(i + k) % methods.length] as string }).then((r) => r.text())
    })
    await Promise.all(some)
  }
}

/** The middle of several rounds for each, one after the other, so that what disturbs one disturbs both. */
async function compare(counting: string, bare: string) {
  const times: Record<string, number[]> = { [counting]: [], [bare]: [] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const base_url of round % 2 === 0 ? [counting, bare] : [bare, counting]) {
      const began = performance.now()
      for (let i = 0; i < ROUND_REQUESTS; i++) await fetch(`${base_url}/openapi-unknown`).then((r) => r.text())
      // The first round is for warming up.
      if (round > 0) times[base_url]?.push((performance.now() - began) / ROUND_REQUESTS)
    }
  }
  const middle = (url: string) => (times[url] ?? []).sort((a, b) => a - b)[ROUNDS / 2] ?? Number.NaN
  await eventually('both were measured', () => Number.isFinite(middle(counting)) && Number.isFinite(middle(bare)))
  return [
    told('the cheapest request, without metrics', 1_000 * middle(bare), 'µs'),
    told('the same with metrics', 1_000 * middle(counting), 'µs'),
    // The cheapest request of all, so that the share is as large as it can be.
    atMost('ratio', middle(counting) / middle(bare), 1.5),
  ]
}

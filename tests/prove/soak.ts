import { fileURLToPath } from 'node:url'
import { startStores } from '@lockstep/testing/environment'
import { OUTPUT } from '@lockstep/testing/template-database'
import { chartOf } from '../soak/chart.ts'
import { type SoakResult, soak } from '../soak/run.ts'
import { verdict } from '../soak/verdict.ts'
import { atLeast, collectFigures, equals, type Figure, info, type Progress, type Report } from './report.ts'

const MINUTES = Number(process.env['MINUTES'] ?? 60)
const SIZE = {
  seed: Number(process.env['SEED'] ?? 1),
  workloads: 2,
  people: 12,
  boards: 12,
  rate: Number(process.env['RATE'] ?? 30),
  liveShare: 5,
  stayS: 45,
  thinkS: 5,
  seconds: MINUTES * 60,
  sampleS: 5,
  collectEvery: 6,
  reportS: 30,
}

/** An hour of realistic client behaviour on two instances: memory, lag, waits and open files must stay level. */
export async function prove(progress: Progress): Promise<Report> {
  const { figures, violations, add, fail } = collectFigures(progress)
  await using stores = await startStores({ postgres: { shared_buffers: '128MB' } })
  const { redis, postgres } = stores
  await stores.createDatabase('lockstep')
  const target = { databaseUrl: stores.url('lockstep'), redis_url: redis.url, pids: [postgres.process().pid] }
  const result = await soak(SIZE, target, progress, fileURLToPath(new URL('soak-samples.jsonl', OUTPUT)))
  for (const sentence of result.violations.slice(0, 50)) fail(sentence)
  add(...figuresOf(result), ...verdict(result.samples))
  const svg = chartOf(result.samples, `Two instances under a mixed load for ${MINUTES} minutes`)
  return { figures, violations, picture: { caption: 'Memory, lag, waits, latency and load over time', svg } }
}

function figuresOf({ report, totals, violations }: SoakResult): Figure[] {
  const sum = (of: (one: SoakResult['totals'][number]) => number) => totals.reduce((all, one) => all + of(one), 0)
  const changes = Object.values(report.settled).reduce((all, times) => all + times, 0)
  return [
    // Each action is at least one request: users that are rejected or stall would prove nothing.
    atLeast(
      'requests',
      sum(({ requests }) => requests),
      SIZE.seconds * SIZE.workloads * SIZE.rate,
    ),
    info(
      'events',
      sum(({ events }) => events),
    ),
    info(
      'deliveries',
      sum(({ deliveries }) => deliveries),
    ),
    atLeast('changes through live boards', changes, SIZE.seconds),
    info('connections cut by the test', report.cuts),
    atLeast('live boards compared with GET', report.compared, MINUTES * 10),
    info(
      'responses with 503 and Retry-After',
      sum(({ shed }) => shed),
    ),
    equals(
      'responses with another 5xx',
      sum(({ serverErrors }) => serverErrors),
      0,
    ),
    equals('client failures, wrong live boards, logged errors and gaps in the log', violations.length, 0),
    equals(
      'sockets and requests left in the end',
      sum(({ socketsLeft, requestsLeft }) => socketsLeft + requestsLeft),
      0,
    ),
  ]
}

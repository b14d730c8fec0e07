import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { median } from '../../bench/measure.ts'
import { endProcesses, startPostgres, startRedis } from '../../packages/server/testing/processes.ts'
import { OUTPUT } from '../../packages/server/testing/template-database.ts'
import { picture } from '../soak/picture.ts'
import { type Soaked, soak } from '../soak/run.ts'
import type { InstanceSample, Sample } from '../soak/sampler.ts'
import { BOARD_CACHE_BYTES } from '../soak/stage.ts'
import { verdict } from '../soak/verdict.ts'
import { atLeast, collectGoals, type Goal, is, told } from './goals.ts'
import { openPool } from './realtime-stage.ts'
import type { Progress, Report, Section } from './report.ts'

const MINUTES = Number(process.env['MINUTES'] ?? 60)
const SIZE = {
  seed: Number(process.env['SEED'] ?? 1),
  crowds: 2,
  people: 12,
  boards: 12,
  rate: Number(process.env['RATE'] ?? 30),
  live_share: 5,
  stay_s: 45,
  think_s: 5,
  seconds: MINUTES * 60,
  sample_s: 5,
  collect_every: 6,
  tell_s: 30,
}
const PICTURE = new URL('../../docs/pictures/soak.svg', import.meta.url)
const ROWS = 12

/** An hour of real client behaviour on two instances: memory, lag, waits and files must stay flat. */
export async function prove(progress: Progress): Promise<Report> {
  const goals = collectGoals(progress)
  try {
    const [postgres, redis] = await Promise.all([startPostgres({ settings: ['shared_buffers=128MB'] }), startRedis()])
    const server = openPool(postgres.url)
    await server.query('create database lockstep')
    await server.end()
    const database_url = Object.assign(new URL(postgres.url), { pathname: '/lockstep' }).href
    const file = fileURLToPath(new URL('soak-samples.jsonl', OUTPUT))
    const stores = { database_url, redis_url: redis.url, pids: [postgres.process().pid] }
    const soaked = await soak(SIZE, stores, progress, file)
    for (const sentence of soaked.violations.slice(0, 50)) goals.fail(sentence)
    goals.add('What people did', ABOUT_LOAD, figuresOf(soaked))
    goals.sections.push({
      heading: 'Each of it, how often',
      table: { columns: ['act', 'times'], rows: Object.entries(soaked.doings.acts) },
    })
    await writeFile(PICTURE, picture(soaked.samples, `Two instances under a mixed load for ${MINUTES} minutes`))
    goals.add('Flat', `${ABOUT_FLAT}\n\n![Everything over time](../pictures/soak.svg)`, verdict(soaked.samples))
    goals.sections.push(inSteps(soaked.samples))
  } finally {
    await endProcesses()
  }
  const { seconds: _, ...size } = SIZE
  const setting = { ...size, minutes: MINUTES, instances: 2, board_cache_bytes: BOARD_CACHE_BYTES }
  return { title: 'Soak', setting, sections: goals.sections, violations: goals.violations }
}

const ABOUT_LOAD =
  'Two instances with production settings, limits on, each with a log of every request; crowds in processes of their own use the client library. What is begun does not wait for what was begun before. Boards, cards and files are deleted as fast as they are made.'
const ABOUT_FLAT =
  'The first third is for warming up. Growth is the slope of Theil and Sen over the other two thirds, of memory as it is when garbage was collected, which is asked for twice a minute; a level is the median of the last third, held against the median of the third before. Moments in which the machine was busy with something else are left out of lag, waits and latency.'

function figuresOf({ doings, counted, samples, violations }: Soaked): Goal[] {
  const sum = (of: (one: Soaked['counted'][number]) => number) => counted.reduce((all, one) => all + of(one), 0)
  const cpu = median(samples.map(({ instances }) => instances.reduce((all, one) => all + one.cpu_cores, 0)))
  const changes = Object.values(doings.settled).reduce((all, times) => all + times, 0)
  return [
    // Each act is at least one: a crowd that is sent away, or that stands still, proves nothing.
    atLeast(
      'requests',
      sum(({ requests }) => requests),
      SIZE.seconds * SIZE.crowds * SIZE.rate,
    ),
    told('cores that both instances used, median', cpu),
    told(
      'events',
      sum(({ events }) => events),
    ),
    told(
      'deliveries',
      sum(({ deliveries }) => deliveries),
    ),
    atLeast('changes through live boards', changes, SIZE.seconds),
    told('reads that were answered 304', doings.unchanged),
    told(
      'runs of rules',
      sum(({ rule_runs }) => rule_runs),
    ),
    told('connections that were cut', doings.cuts),
    told('readers that fell asleep', doings.sleeps),
    told('sockets that came back', doings.comebacks),
    told(
      'resumes that the service counted',
      sum(({ resumes }) => resumes),
    ),
    told(
      'refusals, as somebody else was quicker',
      Object.values(doings.refusals).reduce((a, b) => a + b, 0),
    ),
    atLeast('live boards that were held against GET', doings.compared, MINUTES * 10),
    told(
      'answers of 503 with a time to come back',
      sum(({ shed }) => shed),
    ),
    is(
      'answers of any other 5xx',
      sum(({ server_errors }) => server_errors),
      0,
    ),
    is('failures that clients met, wrong live boards, errors in the logs, holes in the log', violations.length, 0),
    is(
      'sockets left when everybody had gone',
      sum(({ sockets_left }) => sockets_left),
      0,
    ),
    is(
      'requests left when everybody had gone',
      sum(({ requests_left }) => requests_left),
      0,
    ),
  ]
}

/** Medians of a dozen steps: what the picture shows, for reading. */
function inSteps(samples: readonly Sample[]): Section {
  const columns: [keyof InstanceSample, string][] = [
    ['rss_mib', 'memory, MiB'],
    ['lag_p99_ms', 'lag 99 %, ms'],
    ['pool_wait_ms', 'pool wait, ms'],
    ['latency_p99_ms', 'latency 99 %, ms'],
    ['requests_per_second', 'requests/s'],
    ['files', 'files'],
  ]
  const size = Math.ceil(samples.length / ROWS)
  const rows = Array.from({ length: Math.ceil(samples.length / size) }, (_, i) =>
    samples.slice(i * size, (i + 1) * size),
  )
  const cell = (part: Sample[], name: keyof InstanceSample) =>
    (part[0]?.instances ?? [])
      .map((_, nth) => Number(median(part.map(({ instances }) => instances[nth]?.[name] ?? 0)).toPrecision(3)))
      .join(' / ')
  return {
    heading: 'Step by step',
    text: 'Medians, of each instance.',
    table: {
      columns: ['minutes', ...columns.map(([, title]) => title)],
      rows: rows.map((part) => [
        ((part.at(-1)?.at_s ?? 0) / 60).toFixed(1),
        ...columns.map(([name]) => cell(part, name)),
      ]),
    },
  }
}

import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { Client } from '../../packages/server/testing/client.ts'
import {
  endProcesses,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '../../packages/server/testing/processes.ts'
import { OUTPUT } from '../../packages/server/testing/template-database.ts'
import { checkLife } from '../fold/check.ts'
import { type Life, live, type Person, type Stage } from '../fold/life.ts'
import { play } from '../fold/play.ts'
import { writeNames } from '../fold/writes.ts'
import { openPool } from './realtime-stage.ts'
import type { Progress, Report } from './report.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 200)
const SIZE = { lanes: 10, steps: 40 }
const PASSWORD = 'hush-hush correct horse of the fold'

/** Boards on which several clients write at random, at two instances: whatever they do, the log folds to the board. */
export async function prove(progress: Progress): Promise<Report> {
  await mkdir(OUTPUT, { recursive: true })
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  const settings = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    JWT_SECRET: 'hush-hush-signing-secret-of-the-fold-0123456789',
    LOG_LEVEL: 'warn',
    // On a busy machine writes may be slow; they must not fail for that.
    BOARD_WAIT_MS: '12000',
  }
  const sql = openPool(postgres.url)
  try {
    const one = await startServiceProcess(settings)
    const two = await startServiceProcess(settings)
    const newcomers = Array.from({ length: 6 }, () => register(new Client(one.base_url)))
    const people = (await Promise.all(newcomers)) as [Person, ...Person[]]
    const stage: Stage = { urls: [one.base_url, two.base_url], sql, people }
    const sums = { writes: 0, events: 0, by_nobody: 0, snapshots: 0, longest: 0 }
    const succeeded = new Map<string, number>()
    const refusals: Record<string, number> = {}
    const violations: string[] = []
    const count = ({ done, log, snapshots, refusals: met }: Life) => {
      sums.writes += done.length
      sums.events += log.length
      sums.by_nobody += log.filter(({ user_id }) => user_id === null).length
      sums.snapshots += snapshots.length + 1
      sums.longest = Math.max(sums.longest, log.length)
      for (const { name } of done) succeeded.set(name, (succeeded.get(name) ?? 0) + 1)
      for (const [code, times] of Object.entries(met)) refusals[code] = (refusals[code] ?? 0) + times
    }
    for (let seed = 1; seed <= SEEDS; seed++) {
      const life = await live(stage, play(seed, SIZE, stage))
      count(life)
      violations.push(...checkLife(life).map((complaint) => `seed ${seed}: ${complaint}`))
      if (seed % 25 === 0) progress(`fold: ${seed} of ${SEEDS} seeds, ${violations.length} violations`)
    }
    violations.push(...writeNames.filter((name) => !succeeded.has(name)).map((name) => `${name} never succeeded`))
    const figures: [string, number][] = [
      ['writes that succeeded', sums.writes],
      ['events', sums.events],
      ['events by nobody: rules, and cards that made room', sums.by_nobody],
      ['boards that GET answered, in between and in the end', sums.snapshots],
      ['events of the longest life', sums.longest],
    ]
    return {
      title: 'The log folds to the board',
      setting: { seeds: `1 to ${SEEDS}`, clients: `${SIZE.lanes} requests at once by ${people.length - 1} people` },
      violations,
      sections: [
        {
          heading: 'What was held against each other',
          text: 'For each board: its log, numbered without a hole; what GET answered, in the end and in between, against the events up to that position; what two sockets were told on two instances; who wrote, against whom the events name.',
          table: { columns: ['', 'in all'], rows: figures.map(([name, sum]) => [name, sum.toLocaleString('en')]) },
        },
        { heading: 'Writes that succeeded', table: { columns: ['operation', 'times'], rows: [...succeeded] } },
        {
          heading: 'Writes that were refused',
          table: { columns: ['problem', 'times'], rows: Object.entries(refusals) },
        },
      ],
    }
  } finally {
    await sql.end()
    await endProcesses()
  }
}

async function register(anybody: Client): Promise<Person> {
  const username = `folder-${randomBytes(5).toString('hex')}`
  const email = `${username}@example.com`
  const { id } = await anybody.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token } = await anybody.call('login', { body: { username: email, password: PASSWORD } })
  return { id, token: access_token }
}

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Progress } from '@lockstep/testing/load/measure'
import { idOf, seedBoards, seedUsers, USERS } from '@lockstep/testing/load/seed'
import {
  endProcesses,
  type ServiceProcess,
  type Store,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '@lockstep/testing/processes'
import pg from 'pg'
import { migrate } from '../packages/server/src/database/migrations/migrate.ts'
import { Tokens } from '../packages/server/src/security/tokens.ts'
import type { Size } from './size.ts'

/** Connections to PostgreSQL, of the service and of pgbench. */
export const POOL = 8
const JWT_SECRET = 'hush-hush-signing-secret-of-the-benchmarks'

/** PostgreSQL, Redis and two databases with the same boards: `ours` for the service, `bare` for pgbench. */
export interface Environment {
  size: Size
  progress: Progress
  postgres: Store
  redis: Store
  /** The time after seeding and before the first write. */
  seededAt: Date
  /** Access tokens by user number, from 1. */
  tokens: string[]
  url: (database: string) => string
  pool: (database: string) => pg.Pool
  /** Creates a migrated database without rows. */
  createDatabase: (name: string) => Promise<void>
  startService: (database: string, settings?: Record<string, string>) => Promise<ServiceProcess>
  /** The service on `ours`. It is started once, so that it stays warm from one benchmark to the next. */
  sharedService: () => Promise<ServiceProcess>
  /** PostgreSQL's main process, the parent of its backends. */
  postgresPid: () => number
  [Symbol.asyncDispose]: () => Promise<void>
}

export const settingsOf = (values: Record<string, string>) =>
  Object.entries(values).map(([name, value]) => `${name}=${value}`)

export async function startEnvironment(size: Size, progress: Progress): Promise<Environment> {
  progress(`starting PostgreSQL and Redis, seeding ${size.boards} boards`)
  const [postgres, redis] = await Promise.all([
    startPostgres({ settings: settingsOf({ ...size.postgres, log_line_prefix: '@%p@' }) }),
    startRedis(),
  ])
  const url = (database: string) => Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href
  const pools = new Map<string, pg.Pool>()
  const pool = (database: string) => {
    const existing = pools.get(database)
    if (existing) return existing
    const created = new pg.Pool({ connectionString: url(database), max: 4 })
    created.on('error', () => {})
    pools.set(database, created)
    return created
  }
  const copy = async (from: string, to: string) => {
    await pools.get(from)?.end()
    pools.delete(from)
    await pool('postgres').query(`create database ${to} template ${from}`)
  }
  await pool('postgres').query('create database empty')
  await migrate(url('empty'))
  await copy('empty', 'ours')
  await seedUsers(pool('ours'), 1, USERS)
  await seedBoards(pool('ours'), { from: 1, to: size.boards })
  await pool('ours').query('analyze')
  await copy('ours', 'bare')
  const seededAt = new Date()
  const issuer = new Tokens({ secret: JWT_SECRET, algorithm: 'HS256', lifetimeSeconds: 7_200 })
  const issuedAt = Math.floor(Date.now() / 1_000) - 1
  const tokens = Array.from({ length: USERS + 1 }, (_, n) => issuer.issue(idOf('user', n), issuedAt))
  const startService: Environment['startService'] = (database, settings = {}) =>
    startServiceProcess({
      DATABASE_URL: url(database),
      REDIS_URL: redis.url,
      DATABASE_POOL_SIZE: String(POOL),
      LOG_LEVEL: 'warn',
      // Shared by all instances, so that only the first one compiles the code.
      NODE_COMPILE_CACHE: join(tmpdir(), 'lockstep-bench-compiled'),
      JWT_SECRET,
      ...settings,
    })
  let shared: Promise<ServiceProcess> | undefined
  return {
    size,
    progress,
    postgres,
    redis,
    seededAt,
    tokens: await Promise.all(tokens),
    url,
    pool,
    createDatabase: (name) => copy('empty', name),
    startService,
    sharedService: () => {
      shared ??= startService('ours').catch((error: Error) => {
        shared = undefined
        throw error
      })
      return shared
    },
    postgresPid: () => postgres.process().pid,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...pools.values()].map((each) => each.end()))
      await endProcesses()
    },
  }
}

/** The number of events in the log of a database. */
export async function countEvents(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: string }>('select count(*) from board_events')
  return Number(rows[0]?.count)
}

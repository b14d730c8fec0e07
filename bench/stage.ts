import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hash } from '@node-rs/argon2'
import pg from 'pg'
import { migrate } from '../packages/server/src/database/migrations/migrate.ts'
import { Tokens } from '../packages/server/src/security/tokens.ts'
import {
  endProcesses,
  type ServiceProcess,
  type Store,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '../packages/server/testing/processes.ts'
import type { Progress } from './measure.ts'
import { idOf, seedBoards, seedUsers, USERS } from './seed.ts'
import type { Size } from './size.ts'

/** Connections of the service to PostgreSQL, and of the bare engine. */
export const POOL = 8
const JWT_SECRET = 'hush-hush-signing-secret-of-the-benchmarks'
export const PASSWORD = 'hush-hush correct horse'

/** Stores of our own, filled with boards: one database for the service, and a copy of it for the bare engine. */
export interface Stage {
  size: Size
  progress: Progress
  postgres: Store
  redis: Store
  /** When all was there and nothing had been written yet. */
  seeded_at: Date
  /** By the number of the user; user 0 is nobody. */
  tokens: string[]
  url: (database: string) => string
  sql: (database: string) => pg.Pool
  /** A copy of the migrated database without content. */
  emptyDatabase: (name: string) => Promise<void>
  service: (database: string, settings?: Record<string, string>) => Promise<ServiceProcess>
  /** The service that most measurements ask: started once, and warm ever after. */
  main: () => Promise<ServiceProcess>
  /** The process that is PostgreSQL, and the parent of its backends. */
  postgres_pid: () => number
  [Symbol.asyncDispose]: () => Promise<void>
}

export const settingsOf = (values: Record<string, string>) =>
  Object.entries(values).map(([name, value]) => `${name}=${value}`)

export async function setStage(size: Size, progress: Progress): Promise<Stage> {
  progress(`PostgreSQL and Redis, and ${size.boards} boards`)
  const [postgres, redis] = await Promise.all([
    startPostgres({ settings: settingsOf({ ...size.postgres, log_line_prefix: '@%p@' }) }),
    startRedis(),
  ])
  const url = (database: string) => Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href
  const pools = new Map<string, pg.Pool>()
  const sql = (database: string) => {
    const known = pools.get(database)
    if (known) return known
    const pool = new pg.Pool({ connectionString: url(database), max: 4 })
    pool.on('error', () => {})
    pools.set(database, pool)
    return pool
  }
  const copy = async (from: string, to: string) => {
    await pools.get(from)?.end()
    pools.delete(from)
    await sql('postgres').query(`create database ${to} template ${from}`)
  }
  await sql('postgres').query('create database empty')
  await migrate(url('empty'))
  await copy('empty', 'ours')
  await seedUsers(sql('ours'), 1, USERS, await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }))
  await seedBoards(sql('ours'), { from: 1, to: size.boards })
  await sql('ours').query('analyze')
  await copy('ours', 'bare')
  const seeded_at = new Date()
  const issuer = new Tokens({ secret: JWT_SECRET, algorithm: 'HS256', lifetimeSeconds: 7_200 })
  const at = Math.floor(Date.now() / 1_000) - 1
  const tokens = Array.from({ length: USERS + 1 }, (_, n) => issuer.issue(idOf('user', n), at))
  const service: Stage['service'] = (database, settings = {}) =>
    startServiceProcess({
      DATABASE_URL: url(database),
      REDIS_URL: redis.url,
      DATABASE_POOL_SIZE: String(POOL),
      LOG_LEVEL: 'warn',
      // Several are started; only the first one compiles what they load.
      NODE_COMPILE_CACHE: join(tmpdir(), 'lockstep-bench-compiled'),
      JWT_SECRET,
      ...settings,
    })
  let main: Promise<ServiceProcess> | undefined
  return {
    size,
    progress,
    postgres,
    redis,
    seeded_at,
    tokens: await Promise.all(tokens),
    url,
    sql,
    emptyDatabase: (name) => copy('empty', name),
    service,
    main: () => {
      main ??= service('ours').catch((error: Error) => {
        main = undefined
        throw error
      })
      return main
    },
    postgres_pid: () => postgres.process().pid,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.end()))
      await endProcesses()
    },
  }
}

/** How many events the log of a database holds. */
export async function eventsIn(sql: pg.Pool): Promise<number> {
  const { rows } = await sql.query<{ count: string }>('select count(*) from board_events')
  return Number(rows[0]?.count)
}

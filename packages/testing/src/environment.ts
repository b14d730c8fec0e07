import type pg from 'pg'
import {
  endProcesses,
  type PostgresStore,
  type ServiceProcess,
  type Store,
  startPostgres,
  startRedis,
  startServiceProcess,
} from './processes.ts'
import { JWT_SECRET } from './secrets.ts'
import { openSql } from './template-database.ts'

export interface StoreOptions {
  /** Settings of PostgreSQL, by name. */
  postgres?: Record<string, string>
  /** Options of `redis-server`. */
  redis?: string[]
}

/** PostgreSQL and Redis, started for one test or benchmark. */
export interface Stores {
  postgres: PostgresStore
  redis: Store
  /** The URL of a database on this server. */
  url: (database: string) => string
  /** A shared connection pool for a database. */
  pool: (database: string) => pg.Pool
  /** Creates a database, as a copy of another one if a template is given. Returns its URL. */
  createDatabase: (name: string, template?: string) => Promise<string>
  /** The settings of an instance on a database. The service creates and migrates the database if it does not exist. */
  settings: (database?: string) => Record<string, string>
  /** Closes the pools and ends all processes that this test started. */
  [Symbol.asyncDispose]: () => Promise<void>
}

export async function startStores({
  postgres: settings = {},
  redis: options = [],
}: StoreOptions = {}): Promise<Stores> {
  const [postgres, redis] = await Promise.all([
    startPostgres({ settings: settingsOf(settings) }),
    startRedis(...options),
  ])
  const url = (database: string) => databaseAt(postgres.url, database)
  const pools = new Map<string, pg.Pool>()
  const pool = (database: string) => {
    const existing = pools.get(database) ?? openSql(url(database))
    pools.set(database, existing)
    return existing
  }
  return {
    postgres,
    redis,
    url,
    pool,
    createDatabase: async (name, template) => {
      // PostgreSQL cannot copy a database that has open connections.
      await pools.get(template ?? '')?.end()
      pools.delete(template ?? '')
      await pool('postgres').query(`create database ${name}${template ? ` template ${template}` : ''}`)
      return url(name)
    },
    settings: (database = 'lockstep') => instanceSettings(url(database), redis.url),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...pools.values()].map((each) => each.end()))
      await endProcesses()
    },
  }
}

/** Settings as PostgreSQL's command line takes them. */
export const settingsOf = (values: Record<string, string>) =>
  Object.entries(values).map(([name, value]) => `${name}=${value}`)

/** The URL of another database on the same server. */
export const databaseAt = (serverUrl: string, name: string) =>
  Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href

export const instanceSettings = (DATABASE_URL: string, REDIS_URL: string) => ({
  DATABASE_URL,
  REDIS_URL,
  JWT_SECRET,
  LOG_LEVEL: 'warn',
})

/** Starts instances of the service. The first one creates and migrates the database, then the others start together. */
export async function startInstances(count: number, settings: Record<string, string>): Promise<ServiceProcess[]> {
  const first = await startServiceProcess(settings)
  return [first, ...(await Promise.all(Array.from({ length: count - 1 }, () => startServiceProcess(settings))))]
}

import { mkdirSync } from 'node:fs'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { ensureDatabase, migrate } from '../../server/src/database/migrations/migrate.ts'

/** The PostgreSQL and the Redis that tests share. */
export const POSTGRES = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres:postgres@127.0.0.1:5432/postgres'
export const REDIS = redisOfWorker(process.env['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379')
/** The folder for the service's logs and responses, which are scanned for secrets. */
export const OUTPUT = new URL('../../../.test-output/', import.meta.url)
// Also for the suites of `npm run prove`, which do not run the setup below.
mkdirSync(OUTPUT, { recursive: true })

/**
 * Each worker of vitest has its own database of Redis, so that test files which run at the same time do not share counts. Channels
 * are common to all databases, but contain the id of a board, an instance or a user.
 */
function redisOfWorker(url: string): string {
  // A server has sixteen databases by default.
  const database = Number(process.env['VITEST_POOL_ID'] ?? 0) % 16
  return Object.assign(new URL(url), { pathname: `/${database}` }).href
}

declare module 'vitest' {
  interface ProvidedContext {
    template: string
  }
}

export const databaseUrl = (name: string) => Object.assign(new URL(POSTGRES), { pathname: `/${name}` }).href

export async function onServer(work: (client: pg.Client) => Promise<unknown>) {
  const client = new pg.Client({ connectionString: POSTGRES })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

/** Migrates one database for the whole run; each test file works on a copy of it. Vitest calls this once. */
export async function setup(project: TestProject) {
  const template = `lockstep_template_${process.pid}`
  await onServer((client) => client.query(`drop database if exists ${template}`))
  await ensureDatabase(databaseUrl(template))
  await migrate(databaseUrl(template))
  project.provide('template', template)
  return () => onServer((client) => client.query(`drop database if exists ${template} with (force)`))
}

/**
 * A connection pool for a test. A pool has ended before its connections are closed: if the database is dropped in
 * between, each connection emits an error, which would end the process without a listener.
 */
export function openSql(connectionString: string, max = 4): pg.Pool {
  const sql = new pg.Pool({ connectionString, max })
  sql.on('error', () => {})
  sql.on('connect', (client) => client.on('error', () => {}))
  return sql
}

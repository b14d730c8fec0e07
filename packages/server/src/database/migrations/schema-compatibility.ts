import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../../telemetry/log.ts'
import { connectionConfig } from '../connection.ts'
import { type Migration, type MigrationPhase, readMigrations } from './read-migrations.ts'

/** This version of the service cannot use the schema. The message says what to do. */
export class SchemaMismatch extends Error {}

/** A row of `schema_migrations`. */
export interface AppliedMigration {
  name: string
  phase: MigrationPhase
  needs: string | null
}

/** The applied migrations. None in a new database. */
export async function readAppliedMigrations(client: pg.Client): Promise<AppliedMigration[]> {
  const { rowCount } = await client.query(`select where to_regclass('schema_migrations') is not null`)
  if (rowCount === 0) return []
  return (await client.query<AppliedMigration>('select name, phase, needs from schema_migrations')).rows
}

/**
 * Throws if the database began with another baseline, or if a newer version removed something that this version needs. Additions
 * do no harm.
 */
export function requireCompatible(applied: AppliedMigration[], own: Migration[]) {
  const [baseline] = own
  if (baseline && applied.length > 0 && !applied.some(({ name }) => name === baseline.name))
    throw new SchemaMismatch(
      'This database was made by 0.1.0 or a development version, and cannot be upgraded to this version. ' +
        'Nothing in it was changed. Set DATABASE_URL to a new database.',
    )
  const names = new Set(own.map(({ name }) => name))
  const removal = applied.find(({ name, needs }) => needs !== null && !names.has(name) && !names.has(needs))
  if (!removal) return
  throw new SchemaMismatch(
    `This version is too old for the database: ${removal.name} removed something that versions without ${removal.needs} use. ` +
      'Start a newer version, or restore a backup that is older than this migration.',
  )
}

const isMissing = (applied: AppliedMigration[]) => {
  const names = new Set(applied.map(({ name }) => name))
  return ({ name, phase }: Migration) => phase !== 'contract' && !names.has(name)
}

const POLL_MS = 500
const MAX_WAIT_MS = 60_000

/** Waits until another process has migrated the schema to what this version needs. Throws after `maxWaitMs`. */
export async function requireSchema(
  url: string,
  log: Pick<Log, 'info'>,
  { maxWaitMs = MAX_WAIT_MS, folder }: { maxWaitMs?: number; folder?: URL } = {},
): Promise<void> {
  const own = await readMigrations(folder)
  const client = new pg.Client({ ...connectionConfig(url), application_name: 'lockstep start' })
  await client.connect()
  try {
    const deadline = performance.now() + maxWaitMs
    for (let isLogged = false; ; isLogged = true) {
      const applied = await readAppliedMigrations(client)
      requireCompatible(applied, own)
      const missing = own.find(isMissing(applied))
      if (!missing) return
      if (performance.now() > deadline)
        throw new SchemaMismatch(
          `The database is older than this version: ${missing.name} is missing. Run npm run migrate, or set MIGRATE_ON_START.`,
        )
      if (!isLogged) log.info({ missing: missing.name }, 'waiting for the schema to be migrated')
      await pause(POLL_MS)
    }
  } finally {
    await client.end()
  }
}

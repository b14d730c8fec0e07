import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { FOLDER, type Migration, readMigrations } from './read-migrations.ts'
import { type Log, runMigration } from './run-migration.ts'
import { type Applied, readLedger, requireCompatible, SchemaMismatch } from './schema-compatibility.ts'

const POLL_MS = 100
/** One of PostgreSQL's advisory locks, for whoever migrates. */
const TURN = 4_907_125_306_018

const silent: Log = { info: () => {}, warn: () => {} }

interface MigrateOptions {
  log?: Log
  /** Where the migrations are, for tests. */
  folder?: URL
  /** Whether no instance runs: then a version may be skipped that stands between. */
  is_stopped?: boolean
}

/**
 * Brings the schema up to date, one migration after the other, each complete or not at all. Of instances that start together
 * one does it and the others wait; whoever has nothing to do does not wait. Answers what was done.
 */
export async function migrate(
  url: string,
  { log = silent, folder = FOLDER, is_stopped = false }: MigrateOptions = {},
): Promise<string[]> {
  const own = await readMigrations(folder)
  const client = new pg.Client({ connectionString: url, application_name: 'lockstep migrate', keepAlive: true })
  // A connection that breaks fails the statement that is under way.
  client.on('error', () => {})
  await client.connect()
  try {
    const before = await readLedger(client)
    requireCompatible(before, own)
    if (pendingOf(own, before).length === 0) return []
    await acquireMigrationLock(client, log)
    const applied = await readLedger(client)
    const pending = pendingOf(own, applied)
    if (!is_stopped) requireNextPhase(pending, applied)
    await keepLedger(client)
    const work = { client, log, isServing: applied.length > 0 }
    for (const migration of pending) {
      await runMigration(work, migration)
      log.info({ name: migration.name }, 'migrated')
    }
    return pending.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

function pendingOf(own: Migration[], applied: Applied[]): Migration[] {
  const names = new Set(applied.map(({ name }) => name))
  return own.filter(({ name }) => !names.has(name))
}

/**
 * What one release brings a later one takes away from its predecessors. To do both at once would take it from instances
 * that run now.
 */
function requireNextPhase(pending: Migration[], applied: Applied[]) {
  const isNew = (name: string | null) => pending.some((other) => other.name === name)
  const leap = applied.length > 0 && pending.find(({ needs }) => isNew(needs))
  if (!leap) return
  throw new SchemaMismatch(
    `${leap.name} would take from running instances what only versions with ${leap.needs} can do without. ` +
      'Upgrade to such a version first, or stop every instance and run npm run migrate -- --stopped.',
  )
}

/** Asked for again and again: whoever waited inside PostgreSQL would hold a snapshot that an index in the making waits for. */
async function acquireMigrationLock(client: pg.Client, log: Log) {
  for (let isTold = false; ; isTold = true) {
    const { rows } = await client.query<{ is_ours: boolean }>('select pg_try_advisory_lock($1) as is_ours', [TURN])
    if (rows[0]?.is_ours) return
    if (!isTold) log.info({}, 'another instance migrates')
    await pause(POLL_MS)
  }
}

const keepLedger = async (client: pg.Client) => {
  await client.query(`do $$ begin
    if to_regclass('schema_migrations') is not null then return; end if;
    create table schema_migrations (
      name text primary key,
      phase text not null,
      needs text,
      applied_at timestamptz not null default clock_timestamp()
    );
    if to_regclass('kysely_migration') is not null then
      insert into schema_migrations (name, phase) select name, 'expand' from kysely_migration;
    end if;
  end $$`)
}
/** Creates the database that the address names, if the server has none of that name. For development. */
export async function ensureDatabase(url: string): Promise<boolean> {
  const server = new URL(url)
  const name = decodeURIComponent(server.pathname.slice(1))
  server.pathname = '/postgres'
  const client = new pg.Client({ connectionString: server.href })
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount !== 0) return false
    await client.query(`create database ${client.escapeIdentifier(name)}`)
    return true
  } catch (error) {
    // Somebody who started at the same moment was quicker.
    if (['42P04', '23505'].includes((error as { code?: string }).code ?? '')) return false
    throw error
  } finally {
    await client.end()
  }
}

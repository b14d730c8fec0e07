import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../../telemetry/log.ts'
import { connectionConfig } from '../connection.ts'
import { requireOwnSession } from '../pooler-check.ts'
import { FOLDER, type Migration, readMigrations } from './read-migrations.ts'
import { runMigration } from './run-migration.ts'
import {
  type AppliedMigration,
  readAppliedMigrations,
  requireCompatible,
  SchemaMismatch,
} from './schema-compatibility.ts'

const POLL_MS = 100
/** The key of the advisory lock that a migrating process holds. */
const MIGRATION_LOCK = 4_907_125_306_018

const silent: Log = { info: () => {}, warn: () => {} }

interface MigrateOptions {
  log?: Log
  /** Replaced by tests. */
  folder?: URL
  /** Whether no instance runs. Then an upgrade may skip versions. */
  isStopped?: boolean
}

/**
 * Brings the schema up to date. Each migration is applied completely or not at all. When several instances start together,
 * one migrates and the others wait; an instance without pending migrations does not wait. Returns the names of the applied
 * migrations.
 */
export async function migrate(
  url: string,
  { log = silent, folder = FOLDER, isStopped = false }: MigrateOptions = {},
): Promise<string[]> {
  const own = await readMigrations(folder)
  const client = new pg.Client({ ...connectionConfig(url), application_name: 'lockstep migrate', keepAlive: true })
  // A lost connection fails the running statement, which reports it.
  client.on('error', () => {})
  await client.connect()
  try {
    const before = await readAppliedMigrations(client)
    requireCompatible(before, own)
    if (pendingOf(own, before).length === 0) return []
    await requireOwnSession(url)
    await acquireMigrationLock(client, log)
    const applied = await readAppliedMigrations(client)
    const pending = pendingOf(own, applied)
    if (!isStopped) requireNoSkippedVersion(pending, applied)
    await createMigrationsTable(client)
    const context = { client, log, isServing: applied.length > 0 }
    for (const migration of pending) {
      await runMigration(context, migration)
      log.info({ name: migration.name }, 'migrated')
    }
    return pending.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

function pendingOf(own: Migration[], applied: AppliedMigration[]): Migration[] {
  const names = new Set(applied.map(({ name }) => name))
  return own.filter(({ name }) => !names.has(name))
}

/**
 * Expand and contract must come with different releases. Applied together, the removal would break running instances that do
 * not know the replacement yet.
 */
function requireNoSkippedVersion(pending: Migration[], applied: AppliedMigration[]) {
  const isPending = (name: string | null) => pending.some((other) => other.name === name)
  const removal = applied.length > 0 && pending.find(({ needs }) => isPending(needs))
  if (!removal) return
  throw new SchemaMismatch(
    `${removal.name} would remove something that running instances use, unless their version includes ${removal.needs}. ` +
      'Upgrade to such a version first, or stop every instance and run npm run migrate -- --stopped.',
  )
}

/** Polls for the lock: a connection that waits for it inside PostgreSQL holds a snapshot, which blocks concurrent index builds. */
async function acquireMigrationLock(client: pg.Client, log: Log) {
  for (let isLogged = false; ; isLogged = true) {
    const { rows } = await client.query<{ is_acquired: boolean }>('select pg_try_advisory_lock($1) as is_acquired', [
      MIGRATION_LOCK,
    ])
    if (rows[0]?.is_acquired) return
    if (!isLogged) log.info({}, 'waiting for another instance to migrate')
    await pause(POLL_MS)
  }
}

const createMigrationsTable = async (client: pg.Client) => {
  await client.query(`create table if not exists schema_migrations (
    name text primary key,
    phase text not null,
    needs text,
    applied_at timestamptz not null default clock_timestamp()
  )`)
}
/** Creates the database of the URL if it does not exist, for development. Returns whether it was created. */
export async function ensureDatabase(url: string): Promise<boolean> {
  const server = new URL(url)
  const name = decodeURIComponent(server.pathname.slice(1))
  server.pathname = '/postgres'
  const client = new pg.Client(connectionConfig(server.href))
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount !== 0) return false
    await client.query(`create database ${client.escapeIdentifier(name)}`)
    return true
  } catch (error) {
    // Another process created it at the same time.
    if (['42P04', '23505'].includes((error as { code?: string }).code ?? '')) return false
    throw error
  } finally {
    await client.end()
  }
}

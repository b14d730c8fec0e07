import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { operatorName } from '../../platform/operator-name.ts'
import type { Log } from '../../telemetry/log.ts'
import { concurrentIndexOf, type Migration, readBatches } from './read-migrations.ts'

/**
 * How long a migration waits for a lock, and how long its statement may take. Requests queue behind it and time out after
 * two seconds, so the migration backs off first, and retries.
 */
const LOCK_MS = 1_000
const STATEMENT_MS = 1_500
const ATTEMPTS = 30
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** Longer, because a batch locks only its rows. */
const BATCH_MS = 10_000
/** How long other transactions may hold the remaining rows. */
const MAX_STALLED_MS = 60_000
const POLL_MS = 100

interface MigrationContext {
  client: pg.Client
  log: Log
  /** Whether there may be requests. In a new database locks need no timeout. */
  isServing: boolean
}

/** Records a migration, also in the audit log, once that exists. */
async function recordMigration({ client }: MigrationContext, { name, phase, needs }: Migration) {
  await client.query('insert into schema_migrations (name, phase, needs) values ($1, $2, $3)', [name, phase, needs])
  const { rowCount } = await client.query(`select where to_regclass('admin_actions') is not null`)
  if (rowCount === 0) return
  const entry = [operatorName(), JSON.stringify({ migration: name })]
  await client.query(`insert into admin_actions (operator, action, details) values ($1, 'migrate', $2)`, entry)
}

/** Runs one migration, and records it. */
export async function runMigration(context: MigrationContext, migration: Migration) {
  if (migration.mode === 'in batches') await runBatches(context, migration)
  else if (migration.mode === 'no transaction') await runWithoutTransaction(context, migration)
  else await withRetries(context, migration.name, () => runInTransaction(context, migration))
}

const runInTransaction = (context: MigrationContext, migration: Migration) =>
  transaction(context, context.isServing ? STATEMENT_MS : 0, async () => {
    await context.client.query(migration.text)
    await recordMigration(context, migration)
  })

/** Has no timeout, because its locks block no requests. Drops an invalid index that an earlier attempt left behind. */
async function runWithoutTransaction(context: MigrationContext, migration: Migration) {
  const index = concurrentIndexOf(migration.text)
  if (index) {
    const { rowCount } = await context.client.query(
      'select from pg_index where indexrelid = to_regclass($1) and not indisvalid',
      [index],
    )
    if (rowCount !== 0) {
      context.log.warn({ name: migration.name, index }, 'dropping an unfinished index, to create it again')
      await context.client.query(`drop index concurrently ${context.client.escapeIdentifier(index)}`)
    }
  }
  await context.client.query(migration.text)
  await recordMigration(context, migration)
}

/**
 * Runs batches, each in its own transaction, until no rows remain. After an interruption the next attempt continues. Pauses
 * after each batch for as long as the batch took, so that requests have at least half of the time.
 */
async function runBatches(context: MigrationContext, migration: Migration) {
  const { client, log } = context
  const { name } = migration
  const parts = readBatches(migration.text)
  if (!parts) throw new Error(`${name} has no statement that finds the remaining rows`)
  let [changed, progressAt] = [0, performance.now()]
  for (;;) {
    const began = performance.now()
    const rows = await withRetries(context, name, () =>
      transaction(context, BATCH_MS, async () => (await client.query(parts.batch)).rowCount ?? 0),
    )
    changed += rows
    const ended = performance.now()
    if (rows > 0) {
      progressAt = ended
      log.info({ name, changed }, 'migrated a batch')
      await pause(Math.min(ended - began, BATCH_MS))
      continue
    }
    const { rowCount } = await client.query(parts.left)
    if (rowCount === 0) break
    if (ended - progressAt > MAX_STALLED_MS)
      throw new Error(`${name} makes no progress: other transactions hold the remaining rows`)
    await pause(POLL_MS)
  }
  await recordMigration(context, migration)
}

async function transaction<T>(
  { client, isServing }: MigrationContext,
  statementMs: number,
  work: () => Promise<T>,
): Promise<T> {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${isServing ? LOCK_MS : 0}`)
    await client.query(`set local statement_timeout = ${statementMs}`)
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    // A lost connection is rolled back by the server.
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** Worth a retry: lock timeout, deadlock, statement timeout. */
const transientCodes = ['55P03', '40P01', '57014']

async function withRetries<T>({ client, log }: MigrationContext, name: string, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (!transientCodes.includes(code)) throw error
      const oldest = await oldestTransactions(client)
      if (attempt === ATTEMPTS)
        throw new Error(`${name} got no lock in ${ATTEMPTS} attempts. The oldest transactions: ${oldest}`, {
          cause: error,
        })
      log.warn({ name, attempt, code, oldest }, 'migration timed out on a lock, will retry')
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS))
    }
  }
}

/** The transactions that probably hold the lock, for the operator. */
async function oldestTransactions(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ description: string }>(`
    select format('pid %s (%s), %s s', pid, coalesce(nullif(application_name, ''), 'unnamed'),
      round(extract(epoch from clock_timestamp() - xact_start))) as description
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 3`)
  return rows.map(({ description }) => description).join(', ') || 'none'
}

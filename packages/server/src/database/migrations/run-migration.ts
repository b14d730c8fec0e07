import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { indexMadeBy, type Migration, readBatches } from './read-migrations.ts'

/**
 * How long a migration waits for a lock, and a statement of it may take in all. Requests queue behind it meanwhile, and
 * give up after two seconds: so it gives up first, and tries again.
 */
const LOCK_MS = 1_000
const STATEMENT_MS = 1_500
const ATTEMPTS = 30
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** A batch locks only its rows. */
const BATCH_MS = 10_000
/** How long rows that others hold may keep the last batch from being complete. */
const LEFT_MS = 60_000
const POLL_MS = 100

export interface Log {
  info: (details: object, message: string) => void
  warn: (details: object, message: string) => void
}
interface Work {
  client: pg.Client
  log: Log
  /** Whether there may be requests: on a database that is being made nobody waits for a lock. */
  isServing: boolean
}

const note = ({ client }: Work, { name, phase, needs }: Migration) =>
  client.query('insert into schema_migrations (name, phase, needs) values ($1, $2, $3)', [name, phase, needs])

/** Makes one migration, and notes that it was made. */
export async function runMigration(work: Work, migration: Migration) {
  if (migration.mode === 'in batches') await runBatches(work, migration)
  else if (migration.mode === 'no transaction') await runOutside(work, migration)
  else await withRetries(work, migration.name, () => runInside(work, migration))
}

const runInside = (work: Work, migration: Migration) =>
  transaction(work, work.isServing ? STATEMENT_MS : 0, async () => {
    await work.client.query(migration.text)
    await note(work, migration)
  })

/** Its locks are weak and may be waited for, as long as it takes; what an earlier attempt left half made goes first. */
async function runOutside(work: Work, migration: Migration) {
  const index = indexMadeBy(migration.text)
  if (index) {
    const { rowCount } = await work.client.query(
      'select from pg_index where indexrelid = to_regclass($1) and not indisvalid',
      [index],
    )
    if (rowCount !== 0) {
      work.log.warn({ name: migration.name, index }, 'an index that was not finished is made again')
      await work.client.query(`drop index concurrently ${work.client.escapeIdentifier(index)}`)
    }
  }
  await work.client.query(migration.text)
  await note(work, migration)
}

/**
 * Batch after batch, each a transaction of its own, until nothing is left: what an interruption leaves, the next attempt
 * does. It rests as long as it worked, so that requests have half of the time at least.
 */
async function runBatches(work: Work, migration: Migration) {
  const { client, log } = work
  const { name } = migration
  const parts = readBatches(migration.text)
  if (!parts) throw new Error(`${name} has no statement that finds what is left`)
  let [changed, progressAt] = [0, performance.now()]
  for (;;) {
    const began = performance.now()
    const rows = await withRetries(work, name, () =>
      transaction(work, BATCH_MS, async () => (await client.query(parts.batch)).rowCount ?? 0),
    )
    changed += rows
    const ended = performance.now()
    if (rows > 0) {
      progressAt = ended
      log.info({ name, changed }, 'a batch was migrated')
      await pause(Math.min(ended - began, BATCH_MS))
      continue
    }
    const { rowCount } = await client.query(parts.left)
    if (rowCount === 0) break
    if (ended - progressAt > LEFT_MS)
      throw new Error(`${name} makes no progress: rows that are left are held by others`)
    await pause(POLL_MS)
  }
  await note(work, migration)
}

async function transaction<T>({ client, isServing }: Work, statementMs: number, act: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${isServing ? LOCK_MS : 0}`)
    await client.query(`set local statement_timeout = ${statementMs}`)
    const result = await act()
    await client.query('commit')
    return result
  } catch (error) {
    // A connection that broke has rolled back by itself.
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** What passes: somebody held the lock, or was in the way of a deadlock, or the machine was busy. */
const passing = ['55P03', '40P01', '57014']

async function withRetries<T>({ client, log }: Work, name: string, act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (!passing.includes(code)) throw error
      const oldest = await oldestTransactions(client)
      if (attempt === ATTEMPTS)
        throw new Error(`${name} did not get its locks in ${ATTEMPTS} attempts. The oldest transactions: ${oldest}`, {
          cause: error,
        })
      log.warn({ name, attempt, code, oldest }, 'a migration makes way, and tries again')
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS))
    }
  }
}

/** Who is probably in the way, for the operator. */
async function oldestTransactions(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ who: string }>(`
    select format('pid %s (%s), %s s', pid, coalesce(nullif(application_name, ''), 'unnamed'),
      round(extract(epoch from clock_timestamp() - xact_start))) as who
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 3`)
  return rows.map(({ who }) => who).join(', ') || 'none'
}

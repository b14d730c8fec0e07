import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Migration, type Phase, readMigrations } from './read-migrations.ts'

/** A schema that this version of the service cannot work with. Its sentence says what to do. */
export class SchemaMismatch extends Error {}

/** A migration that was made, as the database remembers it. */
export interface Applied {
  name: string
  phase: Phase
  needs: string | null
}

/** What was done so far. Versions before this ledger kept theirs in `kysely_migration`, where theirs stays for them. */
export async function readLedger(client: pg.Client): Promise<Applied[]> {
  const { rows } = await client.query<{ ledger: string | null; older: string | null }>(
    `select to_regclass('schema_migrations') as ledger, to_regclass('kysely_migration') as older`,
  )
  if (rows[0]?.ledger) return (await client.query<Applied>('select name, phase, needs from schema_migrations')).rows
  if (!rows[0]?.older) return []
  return (await client.query<Applied>(`select name, 'expand' as phase, null as needs from kysely_migration`)).rows
}

/** Refuses a schema from which a newer version took away what this one needs. One that was only added to is fine. */
export function requireCompatible(applied: Applied[], own: Migration[]) {
  const names = new Set(own.map(({ name }) => name))
  const stranger = applied.find(({ name, needs }) => needs !== null && !names.has(name) && !names.has(needs))
  if (!stranger) return
  throw new SchemaMismatch(
    `This version is too old for the database: ${stranger.name} took away what versions without ${stranger.needs} use. ` +
      'Start a newer version, or restore a backup from before.',
  )
}

const isMissing = (applied: Applied[]) => {
  const names = new Set(applied.map(({ name }) => name))
  return ({ name, phase }: Migration) => phase === 'expand' && !names.has(name)
}

const POLL_MS = 500
const PATIENCE_MS = 60_000

/** Waits until the schema has all that this version uses, because somebody else migrates; not for ever. */
export async function requireSchema(
  url: string,
  log: { info: (details: object, message: string) => void },
  { patienceMs = PATIENCE_MS, folder }: { patienceMs?: number; folder?: URL } = {},
): Promise<void> {
  const own = await readMigrations(folder)
  const client = new pg.Client({ connectionString: url, application_name: 'lockstep start' })
  await client.connect()
  try {
    const deadline = performance.now() + patienceMs
    for (let isTold = false; ; isTold = true) {
      const applied = await readLedger(client)
      requireCompatible(applied, own)
      const missing = own.find(isMissing(applied))
      if (!missing) return
      if (performance.now() > deadline)
        throw new SchemaMismatch(
          `The database is older than this version: ${missing.name} is missing. Run npm run migrate, or set MIGRATE_ON_START.`,
        )
      if (!isTold) log.info({ missing: missing.name }, 'waiting for the schema to be migrated')
      await pause(POLL_MS)
    }
  } finally {
    await client.end()
  }
}

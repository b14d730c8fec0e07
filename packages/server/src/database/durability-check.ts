import pg from 'pg'
import { connectionConfig } from './connection.ts'

/** Values of `synchronous_commit` that do not lose acknowledged writes. */
const SAFE = ['on', 'remote_apply', 'remote_write']

/** PostgreSQL could lose acknowledged writes. The message says what to set. */
export class NotDurable extends Error {}

/**
 * Throws if acknowledged writes can be lost by a setting of our own sessions. Settings of the whole server may be a deliberate
 * choice of its administrator, so they only cause a warning.
 */
export async function requireDurability(url: string, log: { warn: (message: string) => void }) {
  const client = new pg.Client(connectionConfig(url))
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name in ('synchronous_commit', 'fsync', 'full_page_writes')`,
    )
    const settings = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
    const { synchronous_commit = '' } = settings
    if (!SAFE.includes(synchronous_commit))
      throw new NotDurable(
        `synchronous_commit is ${synchronous_commit} for the user of DATABASE_URL: an acknowledged write could be lost. Set it to on. The service does not start in production with this setting.`,
      )
    for (const name of ['fsync', 'full_page_writes'])
      if (settings[name] === 'off')
        log.warn(`PostgreSQL runs with ${name} off: a crash of its machine can lose the database`)
  } finally {
    await client.end()
  }
}

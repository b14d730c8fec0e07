import pg from 'pg'

/** Ways of `synchronous_commit` by which an acknowledged write is where it should be: on disk, on a standby, or on both. */
const SAFE = ['on', 'remote_apply', 'remote_write']

/** A PostgreSQL that would lose what it acknowledged. Its sentence says what to set. */
export class NotDurable extends Error {}

/**
 * Refuses a PostgreSQL that is told to lose acknowledged writes. How commits are acknowledged is a setting of our own
 * sessions; what the whole server does with its disk may be somebody's deliberate choice, and is only said.
 */
export async function requireDurability(url: string, log: { warn: (message: string) => void }) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name in ('synchronous_commit', 'fsync', 'full_page_writes')`,
    )
    const settings = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
    const { synchronous_commit = '' } = settings
    if (!SAFE.includes(synchronous_commit))
      throw new NotDurable(
        `synchronous_commit is ${synchronous_commit} for the user of DATABASE_URL: a write that was acknowledged could be lost. Set it to on. The service does not start in production like this.`,
      )
    for (const name of ['fsync', 'full_page_writes'])
      if (settings[name] === 'off')
        log.warn(`PostgreSQL runs with ${name} off: when its machine stops, the database may be lost`)
  } finally {
    await client.end()
  }
}

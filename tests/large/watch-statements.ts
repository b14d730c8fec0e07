import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

const EVERY_MS = 10

/** Watches the statements of the service, in its own connection. Returns the time of the longest, as far as the samples show it. */
export function watchStatements(databaseUrl: string) {
  let isDone = false
  const watching = watch()
  return {
    longestMs: () => {
      isDone = true
      return watching
    },
  }

  async function watch(): Promise<number> {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    let longest = 0
    while (!isDone) {
      const { rows } = await client.query<{ ms: number }>(
        `select coalesce(max(extract(epoch from clock_timestamp() - query_start)), 0)::float8 * 1000 as ms from pg_stat_activity
         where state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      )
      longest = Math.max(longest, rows[0]?.ms ?? 0)
      await pause(EVERY_MS)
    }
    await client.end()
    return longest
  }
}

import { sql } from 'kysely'
import { type Db, statement } from '../database/database.ts'
import type { Log } from '../telemetry/log.ts'

const EVERY_MS = 60_000
/** How long a lease is valid: an instance that stopped is replaced after this time. */
const LEASE_SECONDS = 300

const acquireLease = statement(
  'acquire_job_lease',
  (args: { name: string; holder: string }) => sql<{ name: string }>`
    insert into job_leases (name, holder, held_until) values (${args.name}, ${args.holder}, now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)}))
    on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
    where job_leases.held_until < now() or job_leases.holder = excluded.holder
    returning name`,
)

/** Background jobs by name. Each returns how many rows it removed. */
export type Jobs<Name extends string> = Record<Name, () => Promise<number>>

/** Called after each run with the number of removed rows; undefined when the job failed. */
export type OnJobRun<Name extends string> = (name: Name, removed: number | undefined) => void

/** Runs background jobs every minute, each on the one instance that holds its lease. Returns how to stop. */
export function startJobs<Name extends string>(
  db: Db,
  holder: string,
  jobs: Jobs<Name>,
  log: Log,
  onRun: OnJobRun<Name> = () => {},
): () => void {
  const run = async (name: Name, job: () => Promise<number>) => {
    try {
      if ((await db.run(acquireLease, { name, holder })).length === 0) return
      const removed = await job()
      onRun(name, removed)
      if (removed > 0) log.info({ job: name, removed }, 'background job removed rows')
    } catch (err) {
      onRun(name, undefined)
      log.warn({ err, job: name }, 'background job failed')
    }
  }
  const names = Object.keys(jobs) as Name[]
  const timer = setInterval(() => {
    for (const name of names) void run(name, jobs[name])
  }, EVERY_MS)
  return () => clearInterval(timer)
}

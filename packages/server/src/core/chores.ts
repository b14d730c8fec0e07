import { sql } from 'kysely'
import { type Db, statement } from './database.ts'

/** How often a chore is looked at, and how long an instance that took it is trusted to be at it. */
const EVERY_MS = 60_000
const HELD_SECONDS = 300
/** How many rows a chore removes in one statement: few enough to lock nobody out. */
export const BATCH = 5_000

interface Log {
  info: (details: object, message: string) => void
  warn: (details: object, message: string) => void
}

const take = statement(
  'take_chore',
  (args: { name: string; holder: string }) => sql<{ name: string }>`
    insert into chores (name, holder, held_until) values (${args.name}, ${args.holder}, now() + make_interval(secs => ${sql.lit(HELD_SECONDS)}))
    on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
    where chores.held_until < now() or chores.holder = excluded.holder
    returning name`,
)
const deleteOldEvents = statement(
  'delete_old_events',
  (args: { days: number }) => sql<{ seq: number }>`
    delete from board_events where ctid in (
      select ctid from board_events where created_at < now() - make_interval(days => ${args.days}) limit ${sql.lit(BATCH)})
    returning seq`,
)

/** Removes events older than their retention, in batches that lock nobody out. Answers how many. */
export async function removeOldEvents(db: Db, days: number): Promise<number> {
  return inBatches(() => db.run(deleteOldEvents, { days }))
}

/** Removes batch after batch until one is not full. Answers how many there were. */
export async function inBatches(removeSome: () => Promise<unknown[]>, size = BATCH): Promise<number> {
  for (let removed = 0; ; ) {
    const { length } = await removeSome()
    removed += length
    if (length < size) return removed
  }
}

const bumpEpochs = statement(
  'bump_epochs',
  () => sql<{ count: number }>`
    with bumped as (
      update board_stream set epoch = greatest(epoch + 1, extract(epoch from now() - timestamptz '2026-01-01')::integer) returning 1
    )
    select count(*) from bumped`,
)
/**
 * After a restore numbers will be given a second time. A new epoch tells every client that its position means nothing any
 * more. It is made from the time, so that two restores of one backup never share an epoch.
 */
export async function startNewEpoch(db: Db): Promise<number> {
  return (await db.run(bumpEpochs, {}))[0]?.count ?? 0
}

/** Work that one instance does for all, by name. Answers how much there was to remove. */
export type Chores = Record<string, () => Promise<number>>

/** Does what one instance must do for all, again and again. Answers how to stop. */
export function keepHouse(db: Db, holder: string, chores: Chores, log: Log): () => void {
  const round = async (name: string, work: () => Promise<number>) => {
    try {
      if ((await db.run(take, { name, holder })).length === 0) return
      const removed = await work()
      if (removed > 0) log.info({ chore: name, removed }, 'a chore was done')
    } catch (err) {
      log.warn({ err, chore: name }, 'a chore was not done')
    }
  }
  const timer = setInterval(() => {
    for (const [name, work] of Object.entries(chores)) void round(name, work)
  }, EVERY_MS)
  return () => clearInterval(timer)
}

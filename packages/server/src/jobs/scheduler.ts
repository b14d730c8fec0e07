import { sql } from 'kysely'
import { type Database, type Db, statement } from '../database/database.ts'

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

const deleteOldAnswers = statement(
  'delete_old_answers',
  () => sql<{ user_id: string }>`
    delete from stored_answers where ctid = any (array(
      select ctid from stored_answers where created_at <= now() - interval '24 hours'
      order by created_at limit ${sql.lit(BATCH)} for update skip locked))
    returning user_id`,
)

/** Removes the stored answers of users who did not come back within a day. Who did has removed his own. Answers how many. */
export async function removeOldAnswers(db: Db): Promise<number> {
  return inBatches(() => db.run(deleteOldAnswers, {}))
}

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

const nextEpoch = statement(
  'next_epoch',
  () => sql<{ epoch: number }>`
    select greatest(max(epoch) + 1, extract(epoch from now() - timestamptz '2026-01-01')::integer) as epoch from board_stream`,
)
const bumpEpochs = statement(
  'bump_epochs',
  (args: { epoch: number; after: string }) => sql<{ board_id: string }>`
    with batch as (
      select board_id from board_stream where board_id > ${args.after} order by board_id limit ${sql.lit(BATCH)}
    ), bumped as (
      update board_stream stream set epoch = ${args.epoch} from batch where stream.board_id = batch.board_id
    )
    select board_id from batch order by board_id desc`,
)
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/**
 * After a restore numbers will be given a second time. A new epoch tells every client that its position means nothing any
 * more. It is made from the time, so that two restores of one backup never share an epoch. Boards that are yet to come
 * begin with it too: one of them may be made again under the id that it had before it was lost.
 */
export async function startNewEpoch(db: Database): Promise<number> {
  const [next] = await db.run(nextEpoch, {})
  const epoch = Number(next?.epoch)
  await db.pool.query(`alter table board_stream alter column epoch set default ${epoch}`)
  let after = BEFORE_ALL
  // In batches, each of which is done before a statement has to be.
  return inBatches(async () => {
    const bumped = await db.run(bumpEpochs, { epoch, after })
    after = bumped[0]?.board_id ?? after
    return bumped
  })
}

/** Work that one instance does for all, by name. Answers how much there was to remove. */
export type Chores<Name extends string> = Record<Name, () => Promise<number>>

/** What became of a round: how much was removed, or nothing when it failed. */
export type ToldOfChore<Name extends string> = (chore: Name, removed: number | undefined) => void

/** Does what one instance must do for all, again and again. Answers how to stop. */
export function keepHouse<Name extends string>(
  db: Db,
  holder: string,
  chores: Chores<Name>,
  log: Log,
  told: ToldOfChore<Name> = () => {},
): () => void {
  const round = async (name: Name, work: () => Promise<number>) => {
    try {
      if ((await db.run(take, { name, holder })).length === 0) return
      const removed = await work()
      told(name, removed)
      if (removed > 0) log.info({ chore: name, removed }, 'a chore was done')
    } catch (err) {
      told(name, undefined)
      log.warn({ err, chore: name }, 'a chore was not done')
    }
  }
  const names = Object.keys(chores) as Name[]
  const timer = setInterval(() => {
    for (const name of names) void round(name, chores[name])
  }, EVERY_MS)
  return () => clearInterval(timer)
}

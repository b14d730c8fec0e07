import { sql } from 'kysely'
import { type Db, type ResourceKey, statement } from '../database/database.ts'
import type { Growth } from './quotas.ts'

const BATCH = 50
/** How many batches one change deletes to make space, so that a change that is rejected in the end costs little. */
const MAX_BATCHES = 20
/** The oldest first. A column comes after the cards that left with it: as long as it is there, the rest can be restored with it. */
const oldestFirst = sql`removal.removed_at, removal.card_id is null, removal.id`

/** The size of the row `removal`: of a card with its contents, or of the fields of a column. */
const usageOfRemoval = sql`left join card_usage usage on usage.board_id = removal.board_id and usage.id = removal.card_id`
const bytesOfRemoval = sql`coalesce(usage.text_bytes, object_bytes(removal.title, removal.color))`

/** Deletes the rows `chosen` for good. Attachments are deleted with their cards, and a trigger queues the files. */
const purgeChosen = sql`purged_cards as (
      delete from cards card using chosen where card.board_id = chosen.board_id and card.id = chosen.card_id
    ), purged_columns as (
      delete from removals removal using chosen
      where removal.board_id = chosen.board_id and removal.id = chosen.id and chosen.card_id is null
    )
    select count(*) as removed, coalesce(-sum(chosen.text_bytes), 0)::int8 as text_bytes,
      coalesce(-sum(chosen.file_bytes), 0)::int8 as file_bytes, -count(chosen.card_id) as card_count from chosen`
type Purged = Required<Pick<Growth, 'text_bytes' | 'file_bytes' | 'card_count'>> & { removed: number }

const purgeOne = statement(
  'purge_removed',
  (args: ResourceKey) => sql<Purged>`
    with chosen as materialized (
      select removal.board_id, removal.id, removal.card_id, ${bytesOfRemoval} as text_bytes, usage.file_bytes
      from removals removal ${usageOfRemoval}
      where removal.board_id = ${args.board_id} and (removal.id = ${args.id} or removal.with_column_id = ${args.id})
    ), ${purgeChosen}`,
)
/** Deletes something that was archived or deleted for good, a column with its cards. Returns the (negative) growth of the board. */
export const purgeRemoved = async (db: Db, key: ResourceKey) => (await db.run(purgeOne, key))[0] as Purged

const purgeOldest = statement(
  'purge_expired_trash',
  (args: { board_id: string; days: number }) => sql<Purged>`
    with chosen as materialized (
      select removal.board_id, removal.id, removal.card_id, ${bytesOfRemoval} as text_bytes, usage.file_bytes
      from (
        select removal.* from removals removal where removal.board_id = ${args.board_id} and removed_as = 'deleted'
          and removed_at <= now() - make_interval(days => ${args.days})
        order by ${oldestFirst} limit ${sql.lit(BATCH)}
      ) removal ${usageOfRemoval}
    ), ${purgeChosen}`,
)
/** Deletes some of the trash of a board that is older than its retention. */
export const purgeExpired = async (db: Db, board_id: string, days: number) =>
  (await db.run(purgeOldest, { board_id, days }))[0] as Purged

const expiredBoards = statement(
  'list_boards_with_expired_trash',
  (args: { days: number }) => sql<{ board_id: string }>`
    select distinct board_id from (
      select board_id from removals where removed_as = 'deleted' and removed_at <= now() - make_interval(days => ${args.days})
      order by removed_at limit 1000) expired`,
)
/** Some boards whose trash is older than its retention. */
export const listBoardsWithExpiredTrash = async (db: Db, days: number): Promise<string[]> =>
  (await db.run(expiredBoards, { days })).map(({ board_id }) => board_id)

/** How much a change exceeds the quotas of its board. */
export type Excess = Required<Pick<Growth, 'text_bytes' | 'card_count' | 'file_bytes'>>

const purgeForSpace = statement(
  'purge_trash_for_space',
  (args: { board_id: string } & Excess) => sql<Purged>`
    with sized as materialized (
      select removal.board_id, removal.id, removal.card_id, ${bytesOfRemoval} as text_bytes, coalesce(usage.file_bytes, 0) as file_bytes,
        row_number() over (order by ${oldestFirst}) as nth
      from (
        select removal.* from removals removal where removal.board_id = ${args.board_id} and removed_as = 'deleted'
        order by ${oldestFirst} limit ${sql.lit(BATCH)}
      ) removal ${usageOfRemoval}
    ), summed as (
      select sized.*, sum(text_bytes) over before as text_before, count(card_id) over before as cards_before, sum(file_bytes) over before as files_before
      from sized window before as (order by nth rows between unbounded preceding and 1 preceding)
    ), chosen as materialized (
      select * from summed where coalesce(text_before, 0) < ${args.text_bytes} or cards_before < ${args.card_count}
        or coalesce(files_before, 0) < ${args.file_bytes}
    ), ${purgeChosen}`,
)
/** Deletes the oldest trash of a board for good until the excess fits. Returns the (negative) growth. Call it under the board lock. */
export async function purgeTrashForSpace(tx: Db, board_id: string, excess: Excess): Promise<Excess> {
  const freed = { text_bytes: 0, card_count: 0, file_bytes: 0 }
  const isExceeded = (name: keyof Excess) => excess[name] + freed[name] > 0
  const names = Object.keys(freed) as (keyof Excess)[]
  for (let batches = 0; names.some(isExceeded) && batches < MAX_BATCHES; batches++) {
    const left = Object.fromEntries(names.map((name) => [name, Math.max(0, excess[name] + freed[name])]))
    const [purged] = (await tx.run(purgeForSpace, { board_id, ...(left as Excess) })) as [Purged]
    if (purged.removed === 0) break
    for (const name of names) freed[name] += purged[name]
  }
  return freed
}

const fileBytes = statement(
  'sum_trash_files',
  (args: { board_id: string }) => sql<{ bytes: number }>`
    select coalesce(sum(file.size), 0)::int8 as bytes from removals removal
    join attachments file on file.board_id = removal.board_id and file.card_id = removal.card_id
    where removal.board_id = ${args.board_id} and removal.removed_as = 'deleted'`,
)
/** The size of the files in the trash of a board, which can be deleted to make space. */
export const trashFileBytes = async (db: Db, board_id: string): Promise<number> =>
  (await db.run(fileBytes, { board_id }))[0]?.bytes ?? 0

import type { Card } from '@lockstep/contract/cards'
import type { Removal } from '@lockstep/contract/removal'
import type { RemovedItem } from '@lockstep/contract/removals'
import { sql } from 'kysely'
import { cardJson } from '../cards/card-queries.ts'
import { type Db, type JsonRow, type ResourceKey, statement, wireTime } from '../database/database.ts'
import { isEarlier, type ListedRow, type Page, timeCursor } from '../database/keyset.ts'

/** Who removes something, when and how. */
export interface RemovalMark {
  as: Removal['as']
  at: string
  user_id: string
}

const detachCard = statement(
  'detach_card',
  (args: ResourceKey & RemovalMark) => sql<{ freed_bytes: number }>`
    with detached as (update cards set column_id = null where board_id = ${args.board_id} and id = ${args.id})
    insert into removals (board_id, id, card_id, removed_as, removed_at, removed_by, column_id)
    select card.board_id, card.id, card.id, ${args.as}, ${args.at}, ${args.user_id}, card.column_id
    from cards card where card.board_id = ${args.board_id} and card.id = ${args.id}
    returning (select usage.text_bytes from card_usage usage where usage.board_id = ${args.board_id} and usage.id = ${args.id}) as freed_bytes`,
)
/** Takes a card off its board and keeps it. Returns how much text left the board. */
export const detach = async (db: Db, key: ResourceKey, mark: RemovalMark): Promise<number> =>
  (await db.run(detachCard, { ...key, ...mark }))[0]?.freed_bytes ?? 0

const detachColumnCards = statement(
  'detach_column',
  (args: ResourceKey & RemovalMark) => sql<{ freed_bytes: number }>`
    with detached as (
      update cards set column_id = null where board_id = ${args.board_id} and column_id = ${args.id}
    ), kept as (
      insert into removals (board_id, id, card_id, removed_as, removed_at, removed_by, column_id, with_column_id)
      select card.board_id, card.id, card.id, ${args.as}, ${args.at}, ${args.user_id}, card.column_id, card.column_id
      from cards card where card.board_id = ${args.board_id} and card.column_id = ${args.id}
    )
    insert into removals (board_id, id, removed_as, removed_at, removed_by, title, color, is_done_column, rank)
    select "column".board_id, "column".id, ${args.as}, ${args.at}, ${args.user_id}, "column".title, "column".color,
      "column".is_done_column, "column".rank
    from columns "column" where "column".board_id = ${args.board_id} and "column".id = ${args.id}
    returning (select usage.text_bytes from column_usage usage where usage.board_id = ${args.board_id} and usage.id = ${args.id}) as freed_bytes`,
)
const deleteEmptyColumn = statement('delete_empty_column', (args: ResourceKey, query) =>
  query.deleteFrom('columns').where('board_id', '=', args.board_id).where('id', '=', args.id),
)
/** Takes a column and its cards off the board and keeps them. Returns how much text left the board. */
export async function detachColumn(db: Db, key: ResourceKey, mark: RemovalMark): Promise<number> {
  // The cards are detached first: deleting a column deletes its cards.
  const [[row]] = await Promise.all([db.run(detachColumnCards, { ...key, ...mark }), db.run(deleteEmptyColumn, key)])
  return row?.freed_bytes ?? 0
}

export interface StoredRemoval {
  kind: RemovedItem['kind']
  removed_as: Removal['as']
  /** Of a card. */
  column_id: string | null
  /** Of a column. */
  title: string
  color: string
  is_done_column: boolean
  rank: number
}
const readRemoval = statement(
  'read_removal',
  (args: ResourceKey) => sql<StoredRemoval>`
    select case when removal.card_id is null then 'column' else 'card' end as kind, removal.removed_as, removal.column_id,
      removal.title, removal.color, removal.is_done_column, coalesce(card.rank, removal.rank) as rank
    from removals removal left join cards card on card.board_id = removal.board_id and card.id = removal.card_id
    where removal.board_id = ${args.board_id} and removal.id = ${args.id}`,
)
/** Undefined when nothing with this id was removed from the board. */
export const findRemoval = async (db: Db, key: ResourceKey): Promise<StoredRemoval | undefined> =>
  (await db.run(readRemoval, key))[0]

/** The index that a rank would have in a list now, and whether something in the list has this rank. */
interface FormerPlace {
  position: number
  isTaken: boolean
}
const formerPlace = (rank: number) => sql`
  count(*) filter (where rank < ${rank}) as position, coalesce(bool_or(rank = ${rank}), false) as "isTaken"`
const cardPlace = statement(
  'find_former_card_place',
  (args: { board_id: string; column_id: string; rank: number }) => sql<FormerPlace>`
    select ${formerPlace(args.rank)} from cards
    where board_id = ${args.board_id} and column_id = ${args.column_id} and rank <= ${args.rank}`,
)
const columnPlace = statement(
  'find_former_column_place',
  (args: { board_id: string; rank: number }) => sql<FormerPlace>`
    select ${formerPlace(args.rank)} from columns where board_id = ${args.board_id} and rank <= ${args.rank}`,
)
/** Among the cards of a column. */
export const findCardPlace = async (db: Db, board_id: string, column_id: string, rank: number) =>
  (await db.run(cardPlace, { board_id, column_id, rank }))[0] as FormerPlace
/** Among the columns of a board. */
export const findColumnPlace = async (db: Db, board_id: string, rank: number) =>
  (await db.run(columnPlace, { board_id, rank }))[0] as FormerPlace

const forgetCard = statement('forget_removed_card', (args: ResourceKey, query) =>
  query.deleteFrom('removals').where('board_id', '=', args.board_id).where('id', '=', args.id),
)
/** For a card that is back on its board. */
export const forgetRemoval = async (db: Db, key: ResourceKey) => void (await db.run(forgetCard, key))

const columnExists = statement(
  'column_id_exists',
  (args: { id: string }) => sql<{ id: string }>`select id from columns where id = ${args.id}`,
)
/** Whether any board has a column with this id. */
export const isColumnIdTaken = async (db: Db, id: string) => (await db.run(columnExists, { id })).length > 0

const attachCards = statement(
  'attach_column_cards',
  (args: ResourceKey & { new_id: string }) => sql`
    with attached as (
      update cards card set column_id = ${args.new_id} from removals removal
      where removal.board_id = ${args.board_id} and removal.with_column_id = ${args.id}
        and card.board_id = removal.board_id and card.id = removal.card_id
    )
    delete from removals where board_id = ${args.board_id} and (id = ${args.id} or with_column_id = ${args.id})`,
)
/** Puts the cards that left with a column into the column that was created for it. */
export const attachColumnCards = async (db: Db, key: ResourceKey, new_id: string) =>
  void (await db.run(attachCards, { ...key, new_id }))

/** The row `removal` with its `until`; the time that deleted things are kept is a setting. */
const removedJson = (days: number) => sql<Removal>`(select row_to_json(mark) from (select
  removal.removed_as as "as", ${wireTime(sql`removal.removed_at`)} as at, removal.removed_by as by,
  case when removal.removed_as = 'deleted' then
    ${wireTime(sql`(removal.removed_at + make_interval(days => ${days}))`)} end as until) mark)`
const itemFields = (days: number) => sql`removal.id,
  case when removal.card_id is null then 'column' else 'card' end as kind, coalesce(card.title, removal.title) as title,
  card.number, removal.column_id,
  case when removal.card_id is null then (select count(*) from removals gone
    where gone.board_id = removal.board_id and gone.with_column_id = removal.id) end as card_count,
  ${removedJson(days)} as removed`

export interface RemovedFilters {
  as: Removal['as'] | null
  kind: RemovedItem['kind'] | null
  search: string | null
  column_id: string | null
}
interface ListArguments extends RemovedFilters, Page {
  board_id: string
  days: number
}
const list = statement(
  'list_removed',
  (args: ListArguments) => sql<ListedRow<RemovedItem>>`
    select ${timeCursor(sql`removal.removed_at`, sql`removal.id`)} as cursor,
      (select row_to_json(fields) from (select ${itemFields(args.days)}) fields)::text as json
    from removals removal left join cards card on card.board_id = removal.board_id and card.id = removal.card_id
    where removal.board_id = ${args.board_id}
      and ${isEarlier(sql`removal.removed_at`, sql`removal.id`, args)}
      and removal.removed_as = coalesce(${args.as}, removal.removed_as)
      and (${args.kind}::text is null or (${args.kind} = 'column') = (removal.card_id is null))
      and (${args.column_id}::uuid is null or removal.column_id = ${args.column_id})
      and (${args.search}::text is null
        or strpos(coalesce(card.search_key, search_key(removal.title)), (select search_key(${args.search}))) > 0)
      and (removal.with_column_id is null or ${args.search}::text is not null or ${args.column_id}::uuid is not null)
    order by removal.removed_at desc, removal.id desc limit ${args.limit}`,
)
/** A page of the archived and deleted things of a board, newest first. */
export const listRemovals = (db: Db, board_id: string, days: number, filters: RemovedFilters, page: Page) =>
  db.run(list, { board_id, days, ...filters, ...page })

/** A removed card with the column that it was in, as the row `card`. */
const removedCard = sql<Card>`(select ${cardJson} from (
  select own.board_id, own.id, removal.column_id, own.title, own.description, own.rank, own.created_at, own.updated_at, own.number,
    own.due_on, own.comment_count
  from cards own where own.board_id = removal.board_id and own.id = removal.card_id) card)`
const readDetailed = statement(
  'read_removed',
  (args: ResourceKey & { days: number }) => sql<JsonRow<RemovedItem>>`
    select (select row_to_json(fields) from (select ${itemFields(args.days)}, ${removedCard} as card) fields)::text as json
    from removals removal left join cards card on card.board_id = removal.board_id and card.id = removal.card_id
    where removal.board_id = ${args.board_id} and removal.id = ${args.id}`,
)
/** Undefined when nothing with this id was removed from the board. */
export const readRemoved = async (db: Db, key: ResourceKey, days: number) =>
  (await db.run(readDetailed, { ...key, days }))[0]?.json

const renameColumn = statement(
  'rename_removed_column',
  (args: ResourceKey & { new_id: string }) => sql`
    with renamed as (
      update removals set with_column_id = ${args.new_id} where board_id = ${args.board_id} and with_column_id = ${args.id}
    )
    update removals set id = ${args.new_id} where board_id = ${args.board_id} and id = ${args.id} and card_id is null`,
)
/** Gives a removed column another id, so that a new column can have its id. */
export const renameRemovedColumn = async (db: Db, key: ResourceKey, new_id: string) =>
  void (await db.run(renameColumn, { ...key, new_id }))

const renameCard = statement(
  'rename_removed_card',
  (args: ResourceKey & { new_id: string }) => sql`
    with copied as (
      insert into cards (board_id, id, title, description, rank, created_at, updated_at, number, due_on, comment_count)
      select board_id, ${args.new_id}, title, description, rank, created_at, updated_at, number, due_on, comment_count
      from cards where board_id = ${args.board_id} and id = ${args.id}
    ), marked as (
      update removals set id = ${args.new_id}, card_id = ${args.new_id} where board_id = ${args.board_id} and id = ${args.id}
    ), noted as (
      update inbox_items set card_id = ${args.new_id}, subject_id = ${args.new_id}
      where board_id = ${args.board_id} and card_id = ${args.id}
    ), assigned as (
      update card_assignees set card_id = ${args.new_id} where board_id = ${args.board_id} and card_id = ${args.id}
    ), labeled as (
      update card_labels set card_id = ${args.new_id} where board_id = ${args.board_id} and card_id = ${args.id}
    ), listed as (
      update checklists set card_id = ${args.new_id} where board_id = ${args.board_id} and card_id = ${args.id}
    ), commented as (
      update comments set card_id = ${args.new_id} where board_id = ${args.board_id} and card_id = ${args.id}
    ), filed as (
      update attachments set card_id = ${args.new_id} where board_id = ${args.board_id} and card_id = ${args.id}
    )
    delete from cards where board_id = ${args.board_id} and id = ${args.id}`,
)
/** Gives a removed card, and what refers to it, another id, so that a new card can have its id. */
export const renameRemovedCard = async (db: Db, key: ResourceKey, new_id: string) =>
  void (await db.run(renameCard, { ...key, new_id }))

const newColumnState = statement(
  'read_new_column_state',
  (args: ResourceKey) => sql<{ removed_as: Removal['as'] | null; is_of_card: boolean }>`
    select (select removed_as from removals where board_id = ${args.board_id} and id = ${args.id} and card_id is null) as removed_as,
      exists (select from cards where board_id = ${args.board_id} and id = ${args.id}) as is_of_card`,
)
/** Whether an id belongs to a column that was archived or deleted, or to a card of the board, on it or not. */
export const readNewColumnState = async (db: Db, key: ResourceKey) => (await db.run(newColumnState, key))[0]

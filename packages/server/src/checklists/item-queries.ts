import type { ChecklistItem } from '@lockstep/contract/checklists'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { rankedLists } from '../core/ordering/placement.ts'
import type { Growth } from '../core/quotas.ts'
import {
  insertStatement,
  patchStatement,
  type ResourceRow,
  rankSetter,
  readStatement,
} from '../core/resource-statements.ts'
import { type Db, type ResourceKey, statement } from '../database/database.ts'
import { userJson } from '../users/user-queries.ts'

/** A checklist item with its assignees, of the row `item` of the table `checklist_items`. */
export const itemJson = sql<ChecklistItem>`(select row_to_json(fields) from (select
  item.id, item.checklist_id, item.content, item.rank, item.is_done,
  (select coalesce(json_agg(${userJson} order by assignee.assigned_at, assignee.user_id), '[]')
    from item_assignees assignee join users person on person.id = assignee.user_id
    where assignee.board_id = item.board_id and assignee.item_id = item.id) as assignees) fields)`

export const findItemRank = rankedLists('item')
export const setItemRanks = rankSetter('item', itemJson)

type NewItem = ResourceKey & Omit<ChecklistItem, 'assignees' | 'is_done'>
const insert = insertStatement<NewItem, ChecklistItem>('item', itemJson)
export async function insertItem(db: Db, item: NewItem): Promise<JsonText<ChecklistItem>> {
  const [row] = await db.run(insert, item)
  return (row as ResourceRow<ChecklistItem>).json
}

const read = readStatement('item', itemJson)
/** Undefined when the board has no such item. */
export const readItem = async (db: Db, key: ResourceKey) => (await db.run(read, key))[0]?.json

const readCardByChecklist = statement('read_card_of_checklist', (args: ResourceKey, query) =>
  query.selectFrom('checklists').select('card_id').where('board_id', '=', args.board_id).where('id', '=', args.id),
)
/** The card of a checklist; null when the board has no such checklist. */
export const readCardOfChecklist = async (db: Db, key: ResourceKey): Promise<string | null> =>
  (await db.run(readCardByChecklist, key))[0]?.card_id ?? null

/** The checklist of the row `item` of the table `checklist_items`, as `checklist`. */
const joinChecklist = sql`join checklists checklist on checklist.board_id = item.board_id and checklist.id = item.checklist_id`
const readCard = statement(
  'read_card_of_item',
  (args: ResourceKey) => sql<{ card_id: string }>`
    select checklist.card_id from checklist_items item ${joinChecklist}
    join cards card on card.board_id = checklist.board_id and card.id = checklist.card_id and card.column_id is not null
    where item.board_id = ${args.board_id} and item.id = ${args.id}`,
)
/** The card of an item; null when the board has no such item, or when its card was archived or deleted. */
export const readCardOfItem = async (db: Db, key: ResourceKey): Promise<string | null> =>
  (await db.run(readCard, key))[0]?.card_id ?? null

type ItemOfCard = ResourceRow<ChecklistItem> & { card_id: string }
const readAll = statement(
  'read_items',
  (args: { board_id: string; ids: string[] }) => sql<ItemOfCard>`
    select item.id, checklist.card_id, ${itemJson}::text as json from checklist_items item ${joinChecklist}
    join cards card on card.board_id = checklist.board_id and card.id = checklist.card_id and card.column_id is not null
    where item.board_id = ${args.board_id} and item.id = any (${args.ids}::uuid[]) order by item.id`,
)
/** The given items of cards on the board, with their cards, in the order of their ids. */
export const readItems = (db: Db, board_id: string, ids: string[]): Promise<ItemOfCard[]> =>
  db.run(readAll, { board_id, ids })

/** The item after the change, and the growth of its text; undefined when nothing changes. */
export const updateItem = async (db: Db, key: ResourceKey, body: object) =>
  (await db.run(patch, { ...key, changes: JSON.stringify(body), stamp: null }))[0]
const patch = patchStatement('item', itemJson)

const remove = statement(
  'delete_item',
  (args: ResourceKey) => sql<{ text_bytes: number }>`
    with gone as materialized (select text_bytes from item_usage where board_id = ${args.board_id} and id = ${args.id})
    delete from checklist_items using gone where board_id = ${args.board_id} and id = ${args.id}
    returning -gone.text_bytes as text_bytes`,
)
/** Deletes an item. Returns the (negative) growth of the board. */
export const deleteItem = async (db: Db, key: ResourceKey): Promise<Growth | undefined> =>
  (await db.run(remove, key))[0]

interface ItemMove {
  from_id: string
  /** The target, and its card. */
  checklist_id: string | null
  card_id: string | null
}
const move = statement(
  'read_item_move',
  (args: ResourceKey & { checklist_id: string | null }) => sql<ItemMove>`
    select item.checklist_id as from_id, target.checklist_id, target.card_id
    from checklist_items item
    left join (
      select checklist.board_id, checklist.id as checklist_id, checklist.card_id from checklists checklist
      join cards card on card.board_id = checklist.board_id and card.id = checklist.card_id
      where card.column_id is not null
    ) target on target.board_id = item.board_id and target.checklist_id = coalesce(${args.checklist_id}, item.checklist_id)
    where item.board_id = ${args.board_id} and item.id = ${args.id}`,
)
/** The current and the target checklist of an item; the latter is null when the board has no such checklist. */
export async function readItemMove(db: Db, key: ResourceKey, checklist_id: string | null) {
  return (await db.run(move, { ...key, checklist_id }))[0]
}

const assign = statement(
  'assign_item',
  (args: ResourceKey & { user_ids: string[] }) => sql<{ user_id: string }>`
    insert into item_assignees (board_id, item_id, user_id, assigned_at)
    select ${args.board_id}, ${args.id}, added.user_id, clock_timestamp() + added.nth * interval '1 microsecond'
    from unnest(${args.user_ids}::uuid[]) with ordinality added (user_id, nth)
    on conflict do nothing returning user_id`,
)
/** Assigns users. Returns those who were not assigned yet. */
export const assignItem = async (db: Db, key: ResourceKey, user_ids: string[]): Promise<string[]> =>
  (await db.run(assign, { ...key, user_ids })).map(({ user_id }) => user_id)

const unassign = statement('unassign_item', (args: ResourceKey & { user_id: string }, query) =>
  query
    .deleteFrom('item_assignees')
    .where('board_id', '=', args.board_id)
    .where('item_id', '=', args.id)
    .where('user_id', '=', args.user_id)
    .returning('user_id'),
)
/** False when the user was not assigned. */
export const unassignItem = async (db: Db, key: ResourceKey, user_id: string) =>
  (await db.run(unassign, { ...key, user_id })).length === 1

const unassignEverywhere = statement('unassign_items', (args: { board_id: string; user_id: string }, query) =>
  query
    .deleteFrom('item_assignees')
    .where('board_id', '=', args.board_id)
    .where('user_id', '=', args.user_id)
    .returning('item_id'),
)
/** Removes a user from every item of a board. Returns the ids of these items. */
export async function unassignItemsOnBoard(db: Db, board_id: string, user_id: string): Promise<string[]> {
  return (await db.run(unassignEverywhere, { board_id, user_id })).map((row) => row.item_id)
}

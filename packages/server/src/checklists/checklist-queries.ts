import type { Checklist } from '@lockstep/contract/checklists'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { rankedLists } from '../core/ordering/placement.ts'
import type { Growth } from '../core/quotas.ts'
import { type Db, type JsonRow, type ResourceKey, statement } from '../database/database.ts'
import { itemJson } from './item-queries.ts'

/** A checklist with its items, of the row `checklist` of the table `checklists`. */
export const checklistJson = sql<Checklist>`(select row_to_json(fields) from (select
  checklist.id, checklist.card_id, checklist.title, checklist.rank,
  (select coalesce(json_agg(${itemJson} order by item.rank, item.id), '[]') from checklist_items item
    where item.board_id = checklist.board_id and item.checklist_id = checklist.id) as items) fields)`

interface ChecklistRow extends JsonRow<Checklist> {
  id: string
  card_id: string
}

export const findChecklistRank = rankedLists('checklists', 'card_id')

interface NewChecklist extends ResourceKey {
  card_id: string
  title: string
  rank: number
}
const insert = statement(
  'insert_checklist',
  (args: NewChecklist) => sql<ChecklistRow>`
    insert into checklists as checklist (board_id, id, card_id, title, rank)
    values (${args.board_id}, ${args.id}, ${args.card_id}, ${args.title}, ${args.rank})
    returning checklist.id, checklist.card_id, ${checklistJson}::text as json`,
)
export async function insertChecklist(db: Db, checklist: NewChecklist): Promise<JsonText<Checklist>> {
  const [row] = await db.run(insert, checklist)
  return (row as ChecklistRow).json
}

const read = statement(
  'read_checklist',
  (args: ResourceKey) => sql<ChecklistRow>`
    select checklist.id, checklist.card_id, ${checklistJson}::text as json from checklists checklist
    where checklist.board_id = ${args.board_id} and checklist.id = ${args.id}`,
)
/** Undefined when the board has no such checklist. */
export const readChecklist = async (db: Db, key: ResourceKey): Promise<ChecklistRow | undefined> =>
  (await db.run(read, key))[0]

const update = statement(
  'update_checklist',
  (args: ResourceKey & { title: string }) => sql<ChecklistRow & { text_bytes: number }>`
    with old as (select title from checklists where board_id = ${args.board_id} and id = ${args.id})
    update checklists checklist set title = ${args.title} from old
    where checklist.board_id = ${args.board_id} and checklist.id = ${args.id} and old.title is distinct from ${args.title}
    returning checklist.id, checklist.card_id, ${checklistJson}::text as json,
      object_bytes(checklist.title) - object_bytes(old.title) as text_bytes`,
)
/** The checklist after the change, and the growth of its text; undefined when nothing changed. */
export const renameChecklist = async (db: Db, key: ResourceKey, title: string) =>
  (await db.run(update, { ...key, title }))[0]

const remove = statement(
  'delete_checklist',
  (args: ResourceKey) => sql<{ text_bytes: number }>`
    with gone as materialized (
      select text_bytes from checklist_usage where board_id = ${args.board_id} and id = ${args.id}
    )
    delete from checklists using gone where board_id = ${args.board_id} and id = ${args.id}
    returning -gone.text_bytes as text_bytes`,
)
/** Deletes a checklist with its items. Returns the (negative) growth of the board. */
export const deleteChecklist = async (db: Db, key: ResourceKey): Promise<Growth | undefined> =>
  (await db.run(remove, key))[0]

const setRanks = statement(
  'set_checklist_ranks',
  (args: { board_id: string; ids: string[]; ranks: number[] }) => sql<ChecklistRow>`
    update checklists checklist set rank = ranked.rank
    from unnest(${args.ids}::uuid[], ${args.ranks}::int8[]) ranked (id, rank)
    where checklist.board_id = ${args.board_id} and checklist.id = ranked.id
    returning checklist.id, checklist.card_id, ${checklistJson}::text as json`,
)
/** Sets the ranks of checklists of one card, in one statement. Returns the checklists by id. */
export async function setChecklistRanks(db: Db, board_id: string, checklists: { id: string; rank: number }[]) {
  const [ids, ranks] = [checklists.map((checklist) => checklist.id), checklists.map((checklist) => checklist.rank)]
  const rows = await db.run(setRanks, { board_id, ids, ranks })
  return new Map(rows.map((row) => [row.id, row.json]))
}

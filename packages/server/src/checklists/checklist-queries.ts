import type { Checklist } from '@lockstep/contract/checklists'
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
import { itemJson } from './item-queries.ts'

/** A checklist with its items, of the row `checklist` of the table `checklists`. */
export const checklistJson = sql<Checklist>`(select row_to_json(fields) from (select
  checklist.id, checklist.card_id, checklist.title, checklist.rank,
  (select coalesce(json_agg(${itemJson} order by item.rank, item.id), '[]') from checklist_items item
    where item.board_id = checklist.board_id and item.checklist_id = checklist.id) as items) fields)`

export const findChecklistRank = rankedLists('checklist')
export const setChecklistRanks = rankSetter('checklist', checklistJson)

type NewChecklist = ResourceKey & Omit<Checklist, 'items'>
const insert = insertStatement<NewChecklist, Checklist>('checklist', checklistJson)
export async function insertChecklist(db: Db, checklist: NewChecklist): Promise<JsonText<Checklist>> {
  const [row] = await db.run(insert, checklist)
  return (row as ResourceRow<Checklist>).json
}

const read = readStatement('checklist', checklistJson)
/** Undefined when the board has no such checklist. */
export const readChecklist = async (db: Db, key: ResourceKey) => (await db.run(read, key))[0]?.json

const update = patchStatement('checklist', checklistJson)
/** The checklist after the change, and the growth of its text; undefined when nothing changed. */
export const updateChecklist = async (db: Db, key: ResourceKey, changes: object) =>
  (await db.run(update, { ...key, changes: JSON.stringify(changes), stamp: null }))[0]

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

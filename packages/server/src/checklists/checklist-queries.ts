import type { Checklist } from '@lockstep/contract/checklists'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { rankedLists } from '../core/ordering/placement.ts'
import type { Growth } from '../core/quotas.ts'
import { type Db, statement } from '../database/database.ts'
import { itemJson } from './item-queries.ts'

/** A checklist with its items, of the table `checklists` under the name `checklist`. */
export const checklistJson = sql<Checklist>`(select row_to_json(shown) from (select
  checklist.id, checklist.card_id, checklist.title, checklist.rank,
  (select coalesce(json_agg(${itemJson} order by item.rank, item.id), '[]') from checklist_items item
    where item.board_id = checklist.board_id and item.checklist_id = checklist.id) as items) shown)`

interface Shown {
  id: string
  card_id: string
  json: JsonText<Checklist>
}
type Key = { board_id: string; id: string }

export const findChecklistPlace = rankedLists('checklists', 'card_id')

interface NewChecklist extends Key {
  card_id: string
  title: string
  rank: number
}
const insert = statement(
  'insert_checklist',
  (args: NewChecklist) => sql<Shown>`
    insert into checklists as checklist (board_id, id, card_id, title, rank)
    values (${args.board_id}, ${args.id}, ${args.card_id}, ${args.title}, ${args.rank})
    returning checklist.id, checklist.card_id, ${checklistJson}::text as json`,
)
export async function insertChecklist(db: Db, checklist: NewChecklist): Promise<JsonText<Checklist>> {
  const [row] = await db.run(insert, checklist)
  return (row as Shown).json
}

const read = statement(
  'read_checklist',
  (args: Key) => sql<Shown>`
    select checklist.id, checklist.card_id, ${checklistJson}::text as json from checklists checklist
    where checklist.board_id = ${args.board_id} and checklist.id = ${args.id}`,
)
/** Undefined when the board has no such checklist. */
export const readChecklist = async (db: Db, key: Key): Promise<Shown | undefined> => (await db.run(read, key))[0]

const update = statement(
  'update_checklist',
  (args: Key & { title: string }) => sql<Shown & { text_bytes: number }>`
    with old as (select title from checklists where board_id = ${args.board_id} and id = ${args.id})
    update checklists checklist set title = ${args.title} from old
    where checklist.board_id = ${args.board_id} and checklist.id = ${args.id} and old.title is distinct from ${args.title}
    returning checklist.id, checklist.card_id, ${checklistJson}::text as json,
      object_bytes(checklist.title) - object_bytes(old.title) as text_bytes`,
)
/** The checklist after the change, and by how much its text has grown; undefined when nothing changed. */
export const renameChecklist = async (db: Db, key: Key, title: string) => (await db.run(update, { ...key, title }))[0]

const remove = statement(
  'delete_checklist',
  (args: Key) => sql<{ text_bytes: number }>`
    with gone as materialized (
      select text_bytes from checklist_usage where board_id = ${args.board_id} and id = ${args.id}
    )
    delete from checklists using gone where board_id = ${args.board_id} and id = ${args.id}
    returning -gone.text_bytes as text_bytes`,
)
/** Deletes a checklist with its items; returns what the board lost. */
export const deleteChecklist = async (db: Db, key: Key): Promise<Growth | undefined> => (await db.run(remove, key))[0]

const place = statement(
  'place_checklists',
  (args: { board_id: string; ids: string[]; ranks: number[] }) => sql<Shown>`
    update checklists checklist set rank = placed.rank
    from unnest(${args.ids}::uuid[], ${args.ranks}::int8[]) placed (id, rank)
    where checklist.board_id = ${args.board_id} and checklist.id = placed.id
    returning checklist.id, checklist.card_id, ${checklistJson}::text as json`,
)
/** Gives checklists of one card their ranks, in one statement; answers them by id. */
export async function placeChecklists(db: Db, board_id: string, placed: { id: string; rank: number }[]) {
  const rows = await db.run(place, { board_id, ids: placed.map((p) => p.id), ranks: placed.map((p) => p.rank) })
  return new Map(rows.map((row) => [row.id, row.json]))
}

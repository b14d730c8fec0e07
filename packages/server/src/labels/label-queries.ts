import type { Label, LabelUsage } from '@lockstep/contract/labels'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import type { Growth } from '../core/quotas.ts'
import {
  insertStatement,
  patchStatement,
  type ResourceRow,
  readStatement,
  textBytesOf,
} from '../core/resource-statements.ts'
import { type Db, type ResourceKey, statement } from '../database/database.ts'

/** A label, of the row `label` of the table `labels`. */
export const labelJson = sql<Label>`(select row_to_json(fields) from (select label.id, label.board_id, label.name, label.color) fields)`
/** All labels of the row `board` of the table `boards`, oldest first. */
export const labelsJson = sql<Label[]>`(
  select coalesce(json_agg(${labelJson} order by label.created_at, label.id), '[]') from labels label where label.board_id = board.id)`

/** The counted size of a label, on the board and on each card that has it. */
export const labelBytes = textBytesOf('label')

/** How often the size of a label counts: once for itself, and once for each card that has it. */
const occurrences = (args: ResourceKey) =>
  sql`(1 + (select count(*) from card_labels where board_id = ${args.board_id} and label_id = ${args.id}))`

const list = statement(
  'list_labels',
  (args: { board_id: string }) => sql<{ json: JsonText<Label[]> }>`
    select ${labelsJson}::text as json from boards board where board.id = ${args.board_id}`,
)
/** Undefined when the board does not exist. */
export const listLabels = async (db: Db, board_id: string) => (await db.run(list, { board_id }))[0]?.json

const count = statement(
  'count_labels',
  (args: { board_id: string }) => sql<{ json: JsonText<LabelUsage[]> }>`
    select coalesce(json_agg(row_to_json(used) order by used.card_count desc, used.name, used.label_id), '[]')::text as json from (
      select label.id as label_id, label.name, label.color, count(use.card_id) as card_count
      from labels label left join (
        select used.board_id, used.label_id, used.card_id from card_labels used
        join cards card on card.board_id = used.board_id and card.id = used.card_id
        where used.board_id = ${args.board_id} and card.column_id is not null
      ) use on use.board_id = label.board_id and use.label_id = label.id
      where label.board_id = ${args.board_id} group by label.board_id, label.id
    ) used`,
)
export async function countLabels(db: Db, board_id: string): Promise<JsonText<LabelUsage[]>> {
  const [row] = await db.run(count, { board_id })
  return (row as { json: JsonText<LabelUsage[]> }).json
}

const insert = insertStatement<Label, Label>('label', labelJson)
export async function insertLabel(db: Db, label: Label): Promise<JsonText<Label>> {
  const [row] = await db.run(insert, label)
  return (row as ResourceRow<Label>).json
}

const read = readStatement('label', labelJson)
/** Undefined when the board has no such label. */
export const readLabel = async (db: Db, key: ResourceKey) => (await db.run(read, key))[0]?.json

const update = patchStatement('label', labelJson, { occurrences })
/** The label after the change, and the growth of the board's text; undefined when nothing changed. */
export const updateLabel = async (db: Db, key: ResourceKey, changes: object) =>
  (await db.run(update, { ...key, changes: JSON.stringify(changes), stamp: null }))[0]

const remove = statement(
  'delete_label',
  (args: ResourceKey) => sql<{ text_bytes: number }>`
    delete from labels where board_id = ${args.board_id} and id = ${args.id}
    returning -object_bytes(name, color) * ${occurrences(args)} as text_bytes`,
)
/** Deletes a label, also from its cards. Returns the (negative) growth of the board. */
export const deleteLabel = async (db: Db, key: ResourceKey): Promise<Growth | undefined> =>
  (await db.run(remove, key))[0]

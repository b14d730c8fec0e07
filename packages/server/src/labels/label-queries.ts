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
import { isLater, type ListedRow, type Page, timeCursor } from '../database/keyset.ts'

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
  (args: { board_id: string } & Page) => sql<ListedRow<Label>>`
    select ${labelJson}::text as json, ${timeCursor(sql`label.created_at`, sql`label.id`)} as cursor from labels label
    where label.board_id = ${args.board_id} and ${isLater(sql`label.created_at`, sql`label.id`, args)}
    order by label.created_at, label.id limit ${args.limit}`,
)
/** A page of the labels of a board, oldest first. */
export const listLabels = (db: Db, board_id: string, page: Page) => db.run(list, { board_id, ...page })

/** A page is in the order of the labels, which does not change; the whole list has the most used label first. */
const count = statement(
  'count_labels',
  (args: { board_id: string } & Page) => sql<ListedRow<LabelUsage>>`
    select (select row_to_json(fields) from (select used.label_id, used.name, used.color, used.card_count) fields)::text as json,
      ${timeCursor(sql`used.created_at`, sql`used.label_id`)} as cursor
    from (
      select label.id as label_id, label.name, label.color, label.created_at, count(use.card_id) as card_count
      from (
        select * from labels where board_id = ${args.board_id} and ${isLater(sql`created_at`, sql`id`, args)}
        order by created_at, id limit ${args.limit}
      ) label left join (
        select used.board_id, used.label_id, used.card_id from card_labels used
        join cards card on card.board_id = used.board_id and card.id = used.card_id
        where used.board_id = ${args.board_id} and card.column_id is not null
      ) use on use.board_id = label.board_id and use.label_id = label.id
      group by label.board_id, label.id, label.name, label.color, label.created_at
    ) used
    order by case when ${args.limit}::int8 is null then used.card_count end desc,
      case when ${args.limit}::int8 is null then used.name end,
      case when ${args.limit}::int8 is not null then used.created_at end, used.label_id`,
)
export const countLabels = (db: Db, board_id: string, page: Page) => db.run(count, { board_id, ...page })

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

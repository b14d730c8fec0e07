import type { Column } from '@lockstep/contract/columns'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { cardJson } from '../cards/card-queries.ts'
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

/** The fields of a column without its cards, of the row `column` of the table `columns`. */
export const columnFields = sql`"column".id, "column".board_id, "column".title, "column".rank, "column".color, "column".is_done_column`
/** A column with its cards, which are its last field. */
export const columnJson = sql<Column>`(select row_to_json(fields) from (select ${columnFields},
  (select coalesce(json_agg(${cardJson} order by card.rank, card.id), '[]') from cards card
    where card.board_id = "column".board_id and card.column_id = "column".id) as cards) fields)`

export const findColumnRank = rankedLists('column')
export const setColumnRanks = rankSetter('column', columnJson)

const insert = insertStatement<Omit<Column, 'cards'>, Column>('column', columnJson)
export async function insertColumn(db: Db, column: Omit<Column, 'cards'>): Promise<JsonText<Column>> {
  const [row] = await db.run(insert, column)
  return (row as ResourceRow<Column>).json
}

const read = readStatement('column', columnJson)
/** Undefined when the board has no such column. */
export async function readColumn(db: Db, key: ResourceKey): Promise<JsonText<Column> | undefined> {
  return (await db.run(read, key))[0]?.json
}

const update = patchStatement('column', columnJson)
/** The column after the change, and the growth of its text; undefined when nothing changed. */
export const updateColumn = async (db: Db, key: ResourceKey, changes: object) =>
  (await db.run(update, { ...key, changes: JSON.stringify(changes), stamp: null }))[0]

const remove = statement(
  'delete_column',
  (args: ResourceKey) => sql<Required<Growth>>`
    with gone as materialized (
      select text_bytes, card_count, file_bytes from column_usage where board_id = ${args.board_id} and id = ${args.id}
    )
    delete from columns using gone where board_id = ${args.board_id} and id = ${args.id}
    returning -gone.text_bytes as text_bytes, -gone.card_count as card_count, -gone.file_bytes as file_bytes`,
)
/** Deletes a column with its cards. Returns the (negative) growth of the board. */
export const deleteColumn = async (db: Db, key: ResourceKey): Promise<Growth | undefined> =>
  (await db.run(remove, key))[0]

import type { Column } from '@lockstep/contract/columns'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { cardJson } from '../cards/card-queries.ts'
import { rankedLists } from '../core/ordering/placement.ts'
import type { Growth } from '../core/quotas.ts'
import { type Db, type JsonRow, type ResourceKey, statement } from '../database/database.ts'

/** A column with its cards, of the row `board_column` of the table `columns`. */
export const columnJson = sql<Column>`(select row_to_json(fields) from (select
  board_column.id, board_column.board_id, board_column.title, board_column.rank, board_column.color, board_column.is_done_column,
  (select coalesce(json_agg(${cardJson} order by card.rank, card.id), '[]') from cards card
    where card.board_id = board_column.board_id and card.column_id = board_column.id) as cards) fields)`

interface ColumnRow extends JsonRow<Column> {
  id: string
}

export const findColumnRank = rankedLists('columns', 'board_id')

const insert = statement(
  'insert_column',
  (args: Omit<Column, 'cards'>) => sql<ColumnRow>`
    insert into columns as board_column (board_id, id, title, color, is_done_column, rank)
    values (${args.board_id}, ${args.id}, ${args.title}, ${args.color}, ${args.is_done_column}, ${args.rank})
    returning board_column.id, ${columnJson}::text as json`,
)
export async function insertColumn(db: Db, column: Omit<Column, 'cards'>): Promise<JsonText<Column>> {
  const [row] = await db.run(insert, column)
  return (row as ColumnRow).json
}

const read = statement(
  'read_column',
  (args: ResourceKey) => sql<ColumnRow>`
    select board_column.id, ${columnJson}::text as json from columns board_column
    where board_column.board_id = ${args.board_id} and board_column.id = ${args.id}`,
)
/** Undefined when the board has no such column. */
export async function readColumn(db: Db, key: ResourceKey): Promise<JsonText<Column> | undefined> {
  return (await db.run(read, key))[0]?.json
}

const update = statement(
  'update_column',
  (args: ResourceKey & { changes: string }) => sql<ColumnRow & { text_bytes: number }>`
    with changed as (
      select board_column.title as old_title, board_column.color as old_color,
        (jsonb_populate_record(board_column, ${args.changes}::jsonb)).*
      from columns board_column
      where board_column.board_id = ${args.board_id} and board_column.id = ${args.id}
    )
    update columns board_column set title = changed.title, color = changed.color, is_done_column = changed.is_done_column
    from changed
    where board_column.board_id = changed.board_id and board_column.id = changed.id
      and (board_column.title, board_column.color, board_column.is_done_column)
        is distinct from (changed.title, changed.color, changed.is_done_column)
    returning board_column.id, ${columnJson}::text as json,
      object_bytes(board_column.title, board_column.color) - object_bytes(changed.old_title, changed.old_color) as text_bytes`,
)
/** The column after the change, and the growth of its text; undefined when nothing changed. */
export async function updateColumn(
  db: Db,
  key: ResourceKey,
  changes: Partial<Pick<Column, 'title' | 'color' | 'is_done_column'>>,
) {
  return (await db.run(update, { ...key, changes: JSON.stringify(changes) }))[0]
}

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

const setRanks = statement(
  'set_column_ranks',
  (args: { board_id: string; ids: string[]; ranks: number[] }) => sql<ColumnRow>`
    update columns board_column set rank = ranked.rank
    from unnest(${args.ids}::uuid[], ${args.ranks}::int8[]) ranked (id, rank)
    where board_column.board_id = ${args.board_id} and board_column.id = ranked.id
    returning board_column.id, ${columnJson}::text as json`,
)
/** Sets the ranks of columns, in one statement. Returns the columns by id. */
export async function setColumnRanks(db: Db, board_id: string, columns: { id: string; rank: number }[]) {
  const [ids, ranks] = [columns.map((column) => column.id), columns.map((column) => column.rank)]
  const rows = await db.run(setRanks, { board_id, ids, ranks })
  return new Map(rows.map((row) => [row.id, row.json]))
}

import type { Column } from '@lockstep/contract/columns'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { cardJson } from '../cards/card-queries.ts'
import { rankedLists } from '../core/ordering/placement.ts'
import type { Growth } from '../core/quotas.ts'
import { type Db, statement } from '../database/database.ts'

/** A column with its cards, of the table `columns` under the name `board_column`. */
export const columnJson = sql<Column>`(select row_to_json(shown) from (select
  board_column.id, board_column.board_id, board_column.title, board_column.rank, board_column.color, board_column.is_done_column,
  (select coalesce(json_agg(${cardJson} order by card.rank, card.id), '[]') from cards card
    where card.board_id = board_column.board_id and card.column_id = board_column.id) as cards) shown)`

interface Shown {
  id: string
  json: JsonText<Column>
}
type Key = { board_id: string; id: string }

export const findColumnPlace = rankedLists('columns', 'board_id')

const insert = statement(
  'insert_column',
  (args: Omit<Column, 'cards'>) => sql<Shown>`
    insert into columns as board_column (board_id, id, title, color, is_done_column, rank)
    values (${args.board_id}, ${args.id}, ${args.title}, ${args.color}, ${args.is_done_column}, ${args.rank})
    returning board_column.id, ${columnJson}::text as json`,
)
export async function insertColumn(db: Db, column: Omit<Column, 'cards'>): Promise<JsonText<Column>> {
  const [row] = await db.run(insert, column)
  return (row as Shown).json
}

const read = statement(
  'read_column',
  (args: Key) => sql<Shown>`
    select board_column.id, ${columnJson}::text as json from columns board_column
    where board_column.board_id = ${args.board_id} and board_column.id = ${args.id}`,
)
/** Undefined when the board has no such column. */
export async function readColumn(db: Db, key: Key): Promise<JsonText<Column> | undefined> {
  return (await db.run(read, key))[0]?.json
}

const update = statement(
  'update_column',
  (args: Key & { changes: string }) => sql<Shown & { text_bytes: number }>`
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
/** The column after the change, and by how much its text has grown; undefined when nothing changed. */
export async function updateColumn(
  db: Db,
  key: Key,
  changes: Partial<Pick<Column, 'title' | 'color' | 'is_done_column'>>,
) {
  return (await db.run(update, { ...key, changes: JSON.stringify(changes) }))[0]
}

const remove = statement(
  'delete_column',
  (args: Key) => sql<Required<Growth>>`
    with gone as materialized (
      select text_bytes, card_count, file_bytes from column_usage where board_id = ${args.board_id} and id = ${args.id}
    )
    delete from columns using gone where board_id = ${args.board_id} and id = ${args.id}
    returning -gone.text_bytes as text_bytes, -gone.card_count as card_count, -gone.file_bytes as file_bytes`,
)
/** Deletes a column with its cards; returns what its board lost. */
export const deleteColumn = async (db: Db, key: Key): Promise<Growth | undefined> => (await db.run(remove, key))[0]

const place = statement(
  'place_columns',
  (args: { board_id: string; ids: string[]; ranks: number[] }) => sql<Shown>`
    update columns board_column set rank = placed.rank
    from unnest(${args.ids}::uuid[], ${args.ranks}::int8[]) placed (id, rank)
    where board_column.board_id = ${args.board_id} and board_column.id = placed.id
    returning board_column.id, ${columnJson}::text as json`,
)
/** Gives columns their ranks, in one statement; answers them by id. */
export async function placeColumns(db: Db, board_id: string, placed: { id: string; rank: number }[]) {
  const rows = await db.run(place, { board_id, ids: placed.map((p) => p.id), ranks: placed.map((p) => p.rank) })
  return new Map(rows.map((row) => [row.id, row.json]))
}

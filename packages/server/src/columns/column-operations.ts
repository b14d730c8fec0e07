import type { Column, columnOperations } from '@lockstep/contract/columns'
import { DEFAULT_COLOR, type JsonText } from '@lockstep/contract/operation'
import type { PlacementResult } from '../core/ordering/placement.ts'
import { objectBytes } from '../core/quotas.ts'
import type { Db } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import {
  deleteColumn,
  findColumnPlace,
  insertColumn,
  placeColumns,
  readColumn,
  updateColumn,
} from './column-queries.ts'

export const columnHandlers: Handlers<typeof columnOperations> = {
  async createColumn({ db, board_id, newId, body, emit }) {
    const { rank, others } = await findColumnPlace(db, { board_id, parent_id: board_id, moved_id: null }, body)
    for (const other of await makeRoom(db, board_id, others)) emit('column.moved', other, { by: null })
    const { title, is_done_column } = body
    const color = body.color ?? DEFAULT_COLOR
    const column = await insertColumn(db, {
      id: newId,
      board_id,
      title,
      color,
      is_done_column: is_done_column ?? false,
      rank,
    })
    emit('column.created', column, { growth: { text_bytes: objectBytes(title, color) } })
    return column
  },

  async updateColumn({ db, board_id, params, body, emit }) {
    const key = { board_id, id: params.column_id }
    const column = await updateColumn(db, key, body)
    if (!column) return requireColumn(db, key)
    const { json, text_bytes } = column
    emit('column.updated', json, { growth: { text_bytes } })
    return json
  },

  async deleteColumn({ db, board_id, params, emit }) {
    const key = { board_id, id: params.column_id }
    const column = await requireColumn(db, key)
    emit('column.deleted', column, { growth: await deleteColumn(db, key) })
  },

  async moveColumn({ db, board_id, params, body, emit }) {
    const id = params.column_id
    const { rank, others } = await findColumnPlace(db, { board_id, parent_id: board_id, moved_id: id }, body)
    const placed = await placeColumns(db, board_id, [...others, { id, rank }])
    for (const other of others) emit('column.moved', placed.get(other.id) as JsonText<Column>, { by: null })
    const column = placed.get(id) as JsonText<Column>
    emit('column.moved', column)
    return column
  },
}

/** Moves the neighbours that are in the way; answers them in the order in which they are to be told. */
async function makeRoom(db: Db, board_id: string, others: PlacementResult['others']): Promise<JsonText<Column>[]> {
  if (others.length === 0) return []
  const placed = await placeColumns(db, board_id, others)
  return others.map(({ id }) => placed.get(id) as JsonText<Column>)
}

async function requireColumn(db: Db, key: { board_id: string; id: string }): Promise<JsonText<Column>> {
  const column = await readColumn(db, key)
  if (!column) throw new Problem('column_not_found')
  return column
}

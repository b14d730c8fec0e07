import { type Column, columnOperations } from '@lockstep/contract/columns'
import type { JsonText } from '@lockstep/contract/operation'
import type { PlacementResult } from '../core/ordering/placement.ts'
import { newFields, textBytesOf } from '../core/resource-statements.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import {
  deleteColumn,
  findColumnRank,
  insertColumn,
  readColumn,
  setColumnRanks,
  updateColumn,
} from './column-queries.ts'

const fieldsOf = newFields(columnOperations.createColumn)
const textBytes = textBytesOf('column')

export const columnHandlers: Handlers<typeof columnOperations> = {
  async createColumn({ db, board_id, newId, body, emit }) {
    const { rank, others } = await findColumnRank(db, { board_id, parent_id: board_id, moved_id: null }, body)
    for (const other of await moveNeighbours(db, board_id, others)) emit('column.moved', other, { by: null })
    const fields = fieldsOf(body)
    const column = await insertColumn(db, { id: newId, board_id, ...fields, rank })
    emit('column.created', column, { growth: { text_bytes: textBytes(fields) } })
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
    const { rank, others } = await findColumnRank(db, { board_id, parent_id: board_id, moved_id: id }, body)
    const moved = await setColumnRanks(db, { board_id, parent_id: board_id }, [...others, { id, rank }])
    for (const other of others) emit('column.moved', moved.get(other.id) as JsonText<Column>, { by: null })
    const column = moved.get(id) as JsonText<Column>
    emit('column.moved', column)
    return column
  },
}

/** Sets the new ranks of neighbours. Returns them in the order of their events. */
async function moveNeighbours(
  db: Db,
  board_id: string,
  others: PlacementResult['others'],
): Promise<JsonText<Column>[]> {
  if (others.length === 0) return []
  const moved = await setColumnRanks(db, { board_id, parent_id: board_id }, others)
  return others.map(({ id }) => moved.get(id) as JsonText<Column>)
}

async function requireColumn(db: Db, key: ResourceKey): Promise<JsonText<Column>> {
  const column = await readColumn(db, key)
  if (!column) throw new Problem('column_not_found')
  return column
}

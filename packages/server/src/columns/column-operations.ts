import { type Column, columnOperations } from '@lockstep/contract/columns'
import type { JsonText } from '@lockstep/contract/operation'
import { newFields, textBytesOf } from '../core/resource-statements.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import { detachColumn } from '../removals/removal-queries.ts'
import { releaseColumnId, removalOf, withRemoval } from '../removals/removal-steps.ts'
import {
  deleteColumn,
  findColumnRank,
  insertColumn,
  readColumn,
  setColumnRanks,
  updateColumn,
} from './column-queries.ts'
import { moveNeighbours } from './column-steps.ts'

const fieldsOf = newFields(columnOperations.createColumn)
const textBytes = textBytesOf('column')

export const columnHandlers = (trashDays: number): Handlers<typeof columnOperations> => ({
  async createColumn({ db, board_id, newId, body, emit }) {
    if (body.id) await releaseColumnId(db, { board_id, id: newId })
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

  async deleteColumn({ db, board_id, params, at, caller, emit }) {
    const key = { board_id, id: params.column_id }
    const column = await requireColumn(db, key)
    if (trashDays === 0) {
      emit('column.deleted', column, { growth: await deleteColumn(db, key) })
      return
    }
    const removed = withRemoval(column, removalOf('deleted', at, caller.id, trashDays))
    const freed_bytes = await detachColumn(db, key, { as: 'deleted', at, user_id: caller.id })
    emit('column.deleted', removed, { growth: { freed_bytes } })
  },

  async archiveColumn({ db, board_id, params, at, caller, emit }) {
    const key = { board_id, id: params.column_id }
    const column = withRemoval(await requireColumn(db, key), removalOf('archived', at, caller.id, trashDays))
    await detachColumn(db, key, { as: 'archived', at, user_id: caller.id })
    emit('column.deleted', column)
    return column
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
})

async function requireColumn(db: Db, key: ResourceKey): Promise<JsonText<Column>> {
  const column = await readColumn(db, key)
  if (!column) throw new Problem('column_not_found')
  return column
}

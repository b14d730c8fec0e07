import { type ChecklistItem, itemOperations } from '@lockstep/contract/checklists'
import type { JsonText } from '@lockstep/contract/operation'
import { requireMembers } from '../boards/member-queries.ts'
import { PERSON_BYTES } from '../core/quotas.ts'
import { newFields, textBytesOf } from '../core/resource-statements.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import {
  assignItem,
  deleteItem,
  findItemRank,
  insertItem,
  readItem,
  readItemMove,
  setItemRanks,
  unassignItem,
  updateItem,
} from './item-queries.ts'

const fieldsOf = newFields(itemOperations.createItem)
const textBytes = textBytesOf('item')

export const itemHandlers: Handlers<typeof itemOperations> = {
  async createItem({ db, board_id, params: { checklist_id }, newId, body, emit }) {
    const { rank } = await findItemRank(db, { board_id, parent_id: checklist_id, moved_id: null }, {})
    const fields = fieldsOf(body)
    const item = await insertItem(db, { board_id, id: newId, checklist_id, ...fields, rank })
    emit('checklist_item.created', item, { growth: { text_bytes: textBytes(fields) } })
    return item
  },

  async updateItem({ db, board_id, params, body, emit }) {
    const key = { board_id, id: params.item_id }
    const item = await updateItem(db, key, body)
    if (!item) return requireItem(db, key)
    const { json, text_bytes } = item
    emit('checklist_item.updated', json, { growth: { text_bytes } })
    return json
  },

  async deleteItem({ db, board_id, params, emit }) {
    const key = { board_id, id: params.item_id }
    const item = await requireItem(db, key)
    emit('checklist_item.deleted', item, { growth: await deleteItem(db, key) })
  },

  async moveItem({ db, board_id, params: { item_id: id }, body, emit }) {
    const move = await readItemMove(db, { board_id, id }, body.checklist_id ?? null)
    if (!move?.checklist_id) throw new Problem('checklist_not_found')
    const { from_id, checklist_id } = move
    const { rank, others } = await findItemRank(db, { board_id, parent_id: checklist_id, moved_id: id }, body)
    const moved = await setItemRanks(db, { board_id, parent_id: checklist_id }, [...others, { id, rank }])
    for (const other of others)
      emit('checklist_item.moved', moved.get(other.id) as JsonText<ChecklistItem>, { by: null })
    const item = moved.get(id) as JsonText<ChecklistItem>
    emit('checklist_item.moved', item, { from_id })
    return item
  },

  async assignItem({ db, board_id, params, body, emit }) {
    const key = { board_id, id: params.item_id }
    const user_ids = [...new Set(body.user_ids)]
    if (user_ids.length === 0) return requireItem(db, key)
    await requireMembers(db, board_id, user_ids)
    const growth = await assignItem(db, key, user_ids)
    const item = await requireItem(db, key)
    for (const [nth, subject_id] of user_ids.entries())
      emit('checklist_item.assigned', item, { subject_id, ...(nth === 0 && { growth }) })
    return item
  },

  async unassignItem({ db, board_id, params, emit }) {
    const key = { board_id, id: params.item_id }
    if (!(await unassignItem(db, key, params.user_id))) return
    const growth = { text_bytes: -PERSON_BYTES }
    emit('checklist_item.unassigned', await requireItem(db, key), { subject_id: params.user_id, growth })
  },
}

async function requireItem(db: Db, key: ResourceKey): Promise<JsonText<ChecklistItem>> {
  const item = await readItem(db, key)
  if (!item) throw new Problem('item_not_found')
  return item
}

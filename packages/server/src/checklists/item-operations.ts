import { type ChecklistItem, itemOperations } from '@lockstep/contract/checklists'
import type { JsonText } from '@lockstep/contract/operation'
import { requireMembers } from '../boards/member-queries.ts'
import { assignmentsOf, assignmentTo } from '../core/notifications.ts'
import { PERSON_BYTES } from '../core/quotas.ts'
import { newFields, textBytesOf } from '../core/resource-statements.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import { type Handlers, withPrefetch } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import {
  assignItem,
  deleteItem,
  findItemRank,
  insertItem,
  readCardOfChecklist,
  readCardOfItem,
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
    const [{ rank }, card_id] = await Promise.all([
      findItemRank(db, { board_id, parent_id: checklist_id, moved_id: null }, {}),
      readCardOfChecklist(db, { board_id, id: checklist_id }),
    ])
    const fields = fieldsOf(body)
    const item = await insertItem(db, { board_id, id: newId, checklist_id, ...fields, rank })
    emit('checklist_item.created', item, { card_id, growth: { text_bytes: textBytes(fields) } })
    return item
  },

  updateItem: withPrefetch(
    ({ db, board_id, params }) => readCardOfItem(db, { board_id, id: params.item_id }),
    async ({ db, board_id, params: { item_id: id }, body, emit }, card_id) => {
      if (card_id === null) throw new Problem('item_not_found')
      const changed = await updateItem(db, { board_id, id }, body)
      if (!changed) return requireItem(db, { board_id, id })
      const { json, text_bytes } = changed
      emit('checklist_item.updated', json, { card_id, growth: { text_bytes } })
      return json
    },
  ),

  async deleteItem({ db, board_id, params, emit }) {
    const key = { board_id, id: params.item_id }
    const [item, card_id] = await Promise.all([requireItem(db, key), readCardOfItem(db, key)])
    const withdraws = assignmentsOf([JSON.parse(item) as ChecklistItem], card_id)
    emit('checklist_item.deleted', item, { card_id, growth: await deleteItem(db, key), withdraws })
  },

  async moveItem({ db, board_id, params: { item_id: id }, body, emit }) {
    const move = await readItemMove(db, { board_id, id }, body.checklist_id ?? null)
    if (!move?.checklist_id) throw new Problem('checklist_not_found')
    const { from_id, checklist_id, card_id } = move
    const { rank, others } = await findItemRank(db, { board_id, parent_id: checklist_id, moved_id: id }, body)
    const moved = await setItemRanks(db, { board_id, parent_id: checklist_id }, [...others, { id, rank }])
    for (const other of others)
      emit('checklist_item.moved', moved.get(other.id) as JsonText<ChecklistItem>, { by: null, card_id: null })
    const item = moved.get(id) as JsonText<ChecklistItem>
    emit('checklist_item.moved', item, { card_id, from_id })
    return item
  },

  async assignItem({ db, board_id, params, body, emit }) {
    const key = { board_id, id: params.item_id }
    const user_ids = [...new Set(body.user_ids)]
    if (user_ids.length === 0) return requireItem(db, key)
    await requireMembers(db, board_id, user_ids)
    const added = await assignItem(db, key, user_ids)
    const growth = { text_bytes: PERSON_BYTES * added.length }
    const [item, card_id] = await Promise.all([requireItem(db, key), readCardOfItem(db, key)])
    for (const [nth, subject_id] of user_ids.entries()) {
      const notifies = added.includes(subject_id) ? [assignmentTo(subject_id, card_id)] : []
      emit('checklist_item.assigned', item, { card_id, subject_id, notifies, ...(nth === 0 && { growth }) })
    }
    return item
  },

  async unassignItem({ db, board_id, params, emit }) {
    const key = { board_id, id: params.item_id }
    if (!(await unassignItem(db, key, params.user_id))) return
    const growth = { text_bytes: -PERSON_BYTES }
    const [item, card_id] = await Promise.all([requireItem(db, key), readCardOfItem(db, key)])
    const withdraws = [assignmentTo(params.user_id, card_id)]
    emit('checklist_item.unassigned', item, { card_id, subject_id: params.user_id, growth, withdraws })
  },
}

async function requireItem(db: Db, key: ResourceKey): Promise<JsonText<ChecklistItem>> {
  const item = await readItem(db, key)
  if (!item) throw new Problem('item_not_found')
  return item
}

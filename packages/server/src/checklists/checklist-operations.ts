import { type Checklist, checklistOperations } from '@lockstep/contract/checklists'
import type { JsonText } from '@lockstep/contract/operation'
import { assignmentsOf } from '../core/notifications.ts'
import { newFields, textBytesOf } from '../core/resource-statements.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import {
  deleteChecklist,
  findChecklistRank,
  insertChecklist,
  readChecklist,
  setChecklistRanks,
  updateChecklist,
} from './checklist-queries.ts'

const fieldsOf = newFields(checklistOperations.createChecklist)
const textBytes = textBytesOf('checklist')

export const checklistHandlers: Handlers<typeof checklistOperations> = {
  async createChecklist({ db, board_id, params: { card_id }, newId, body, emit }) {
    const { rank } = await findChecklistRank(db, { board_id, parent_id: card_id, moved_id: null }, {})
    const fields = fieldsOf(body)
    const checklist = await insertChecklist(db, { board_id, id: newId, card_id, ...fields, rank })
    emit('checklist.created', checklist, { card_id, growth: { text_bytes: textBytes(fields) } })
    return checklist
  },

  async updateChecklist({ db, board_id, params, body, emit }) {
    const key = { board_id, id: params.checklist_id }
    const checklist = await updateChecklist(db, key, body)
    if (!checklist) return requireChecklist(db, key)
    const { json, text_bytes } = checklist
    emit('checklist.updated', json, { card_id: cardOf(json), growth: { text_bytes } })
    return json
  },

  async deleteChecklist({ db, board_id, params, emit }) {
    const key = { board_id, id: params.checklist_id }
    const checklist = await requireChecklist(db, key)
    const card_id = cardOf(checklist)
    const withdraws = assignmentsOf((JSON.parse(checklist) as Checklist).items, card_id)
    emit('checklist.deleted', checklist, { card_id, growth: await deleteChecklist(db, key), withdraws })
  },

  async moveChecklist({ db, board_id, params: { checklist_id: id }, body, emit }) {
    const card_id = cardOf(await requireChecklist(db, { board_id, id }))
    const { rank, others } = await findChecklistRank(db, { board_id, parent_id: card_id, moved_id: id }, body)
    const moved = await setChecklistRanks(db, { board_id, parent_id: card_id }, [...others, { id, rank }])
    for (const other of others)
      emit('checklist.moved', moved.get(other.id) as JsonText<Checklist>, { by: null, card_id: null })
    const checklist = moved.get(id) as JsonText<Checklist>
    emit('checklist.moved', checklist, { card_id })
    return checklist
  },
}

const cardOf = (checklist: JsonText<Checklist>) => (JSON.parse(checklist) as Checklist).card_id

async function requireChecklist(db: Db, key: ResourceKey): Promise<JsonText<Checklist>> {
  const checklist = await readChecklist(db, key)
  if (!checklist) throw new Problem('checklist_not_found')
  return checklist
}

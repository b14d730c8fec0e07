import type { Checklist, checklistOperations } from '@lockstep/contract/checklists'
import type { JsonText } from '@lockstep/contract/operation'
import { objectBytes } from '../core/quotas.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import {
  deleteChecklist,
  findChecklistRank,
  insertChecklist,
  readChecklist,
  renameChecklist,
  setChecklistRanks,
} from './checklist-queries.ts'

export const checklistHandlers: Handlers<typeof checklistOperations> = {
  async createChecklist({ db, board_id, params: { card_id }, newId, body: { title }, emit }) {
    const { rank } = await findChecklistRank(db, { board_id, parent_id: card_id, moved_id: null }, {})
    const checklist = await insertChecklist(db, { board_id, id: newId, card_id, title, rank })
    emit('checklist.created', checklist, { growth: { text_bytes: objectBytes(title) } })
    return checklist
  },

  async updateChecklist({ db, board_id, params, body: { title }, emit }) {
    const key = { board_id, id: params.checklist_id }
    const checklist = title === undefined ? undefined : await renameChecklist(db, key, title)
    if (!checklist) return (await requireChecklist(db, key)).json
    const { json, text_bytes } = checklist
    emit('checklist.updated', json, { growth: { text_bytes } })
    return json
  },

  async deleteChecklist({ db, board_id, params, emit }) {
    const key = { board_id, id: params.checklist_id }
    const { json } = await requireChecklist(db, key)
    emit('checklist.deleted', json, { growth: await deleteChecklist(db, key) })
  },

  async moveChecklist({ db, board_id, params: { checklist_id: id }, body, emit }) {
    const { card_id } = await requireChecklist(db, { board_id, id })
    const { rank, others } = await findChecklistRank(db, { board_id, parent_id: card_id, moved_id: id }, body)
    const moved = await setChecklistRanks(db, board_id, [...others, { id, rank }])
    for (const other of others) emit('checklist.moved', moved.get(other.id) as JsonText<Checklist>, { by: null })
    const checklist = moved.get(id) as JsonText<Checklist>
    emit('checklist.moved', checklist)
    return checklist
  },
}

async function requireChecklist(db: Db, key: ResourceKey) {
  const checklist = await readChecklist(db, key)
  if (!checklist) throw new Problem('checklist_not_found')
  return checklist
}

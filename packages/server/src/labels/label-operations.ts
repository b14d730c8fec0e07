import { type Label, labelOperations } from '@lockstep/contract/labels'
import type { JsonText } from '@lockstep/contract/operation'
import { newFields } from '../core/resource-statements.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { Problem } from '../platform/problem.ts'
import {
  countLabels,
  deleteLabel,
  insertLabel,
  labelBytes,
  listLabels,
  readLabel,
  updateLabel,
} from './label-queries.ts'

const fieldsOf = newFields(labelOperations.createLabel)

export const labelHandlers: Handlers<typeof labelOperations> = {
  listLabels: (context) =>
    readPage(labelOperations.listLabels, context, (page) => listLabels(context.db, context.board_id, page)),

  countLabels: (context) =>
    readPage(labelOperations.countLabels, context, (page) => countLabels(context.db, context.board_id, page)),

  async createLabel({ db, board_id, newId, body, emit }) {
    const fields = fieldsOf(body)
    const label = await insertLabel(db, { board_id, id: newId, ...fields })
    emit('label.created', label, { growth: { text_bytes: labelBytes(fields) } })
    return label
  },

  async updateLabel({ db, board_id, params, body, emit }) {
    const key = { board_id, id: params.label_id }
    const label = await updateLabel(db, key, body)
    if (!label) return requireLabel(db, key)
    const { json, text_bytes } = label
    emit('label.updated', json, { growth: { text_bytes } })
    return json
  },

  async deleteLabel({ db, board_id, params, emit }) {
    const key = { board_id, id: params.label_id }
    const label = await requireLabel(db, key)
    emit('label.deleted', label, { growth: await deleteLabel(db, key) })
  },
}

async function requireLabel(db: Db, key: ResourceKey): Promise<JsonText<Label>> {
  const label = await readLabel(db, key)
  if (!label) throw new Problem('label_not_found')
  return label
}

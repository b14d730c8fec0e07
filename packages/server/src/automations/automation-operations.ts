import { type AutomationRule, automationOperations, MAX_RULES } from '@lockstep/contract/automations'
import type { JsonText } from '@lockstep/contract/operation'
import { requireMembers } from '../boards/member-queries.ts'
import { newFields } from '../core/resource-statements.ts'
import type { Db, ResourceKey } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { Problem } from '../platform/problem.ts'
import {
  countReferences,
  deleteRule,
  insertRule,
  listRules,
  listRuns,
  readRule,
  updateRule,
} from './automation-queries.ts'

const fieldsOf = newFields(automationOperations.createRule)

export const automationHandlers: Handlers<typeof automationOperations> = {
  async createRule({ db, board_id, newId, body }) {
    const { rules } = await requireReferences(db, board_id, body)
    if (rules >= MAX_RULES) throw new Problem('too_many_rules')
    return insertRule(db, { id: newId, board_id, ...fieldsOf(body) })
  },

  listRules: (context) =>
    readPage(automationOperations.listRules, context, (page) => listRules(context.db, context.board_id, page)),

  async updateRule({ db, board_id, params, body }) {
    const key = { board_id, id: params.rule_id }
    await requireRule(db, key)
    await requireReferences(db, board_id, body)
    return (await updateRule(db, key, body)) ?? requireRule(db, key)
  },

  async deleteRule({ db, board_id, params }) {
    const key = { board_id, id: params.rule_id }
    await requireRule(db, key)
    await deleteRule(db, key)
  },

  listRuns: (context) =>
    readPage(automationOperations.listRuns, context, ({ id, ...page }) =>
      listRuns(context.db, context.board_id, { ...page, id: id ?? context.query.before ?? null }),
    ),
}

type RuleReferences = Partial<
  Record<'trigger_column_id' | 'trigger_label_id' | 'action_column_id' | 'action_user_id', string | null>
>
/** Rejects references to columns, labels or users that do not belong to the board (404, 403). Returns the number of rules. */
async function requireReferences(db: Db, board_id: string, given: RuleReferences) {
  const ids = (...some: (string | null | undefined)[]) => [...new Set(some.filter((id) => id != null))]
  const column_ids = ids(given.trigger_column_id, given.action_column_id)
  const label_ids = ids(given.trigger_label_id)
  const { columns, labels, rules } = await countReferences(db, board_id, column_ids, label_ids)
  if (columns !== column_ids.length) throw new Problem('column_not_found')
  if (labels !== label_ids.length) throw new Problem('label_not_found')
  await requireMembers(db, board_id, ids(given.action_user_id))
  return { rules }
}

async function requireRule(db: Db, key: ResourceKey): Promise<JsonText<AutomationRule>> {
  const rule = await readRule(db, key)
  if (!rule) throw new Problem('rule_not_found')
  return rule
}

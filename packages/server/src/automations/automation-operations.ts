import {
  type AutomationRule,
  type AutomationRun,
  type automationOperations,
  MAX_RULES,
} from '@lockstep/contract/automations'
import type { JsonText } from '@lockstep/contract/operation'
import { requireMembers } from '../boards/member-queries.ts'
import type { Db } from '../core/database.ts'
import { invalid } from '../core/input.ts'
import { Problem } from '../core/problem.ts'
import { type Handlers, pathOf } from '../core/serve.ts'
import {
  countReferences,
  deleteRule,
  insertRule,
  listRules,
  listRuns,
  readRule,
  replaceRule,
} from './automation-queries.ts'

export const automationHandlers: Handlers<typeof automationOperations> = {
  async createRule({ db, board_id, new_id, body }) {
    const rule: AutomationRule = {
      id: new_id,
      board_id,
      name: body.name,
      trigger_type: body.trigger_type,
      trigger_column_id: body.trigger_column_id ?? null,
      trigger_label_id: body.trigger_label_id ?? null,
      action_type: body.action_type,
      action_column_id: body.action_column_id ?? null,
      action_user_id: body.action_user_id ?? null,
      is_enabled: body.is_enabled ?? true,
    }
    const { rules } = await demandSound(db, rule)
    if (rules >= MAX_RULES) throw new Problem('too_many_rules')
    await insertRule(db, rule)
    return rule
  },

  listRules: ({ db, board_id }) => listRules(db, board_id),

  async updateRule({ db, board_id, params, body }) {
    const rule = { ...(await requireRule(db, { board_id, id: params.rule_id })), ...body } as AutomationRule
    await demandSound(db, rule)
    await replaceRule(db, rule)
    return rule
  },

  async deleteRule({ db, board_id, params }) {
    const key = { board_id, id: params.rule_id }
    await requireRule(db, key)
    await deleteRule(db, key)
  },

  async listRuns({ db, board_id, query, request, reply }) {
    const limit = query.limit ?? 50
    const runs = await listRuns(db, board_id, query.before ?? null, limit)
    const last = runs.at(-1)
    if (last && runs.length === limit) {
      reply.header('link', `<${pathOf(request)}?before=${last.id}&limit=${limit}>; rel="next"`)
    }
    return `[${runs.map((run) => run.json).join(',')}]` as JsonText<AutomationRun[]>
  },
}

/** What a rule needs must be there (422), and whatever it names must be of its board (404, 403). Tells how many rules there are. */
async function demandSound(db: Db, rule: AutomationRule) {
  const needs = { CARD_CREATED: undefined, CARD_MOVED: 'trigger_column_id', LABEL_ADDED: 'trigger_label_id' } as const
  const acts = { MOVE_TO_COLUMN: 'action_column_id', ASSIGN_MEMBER: 'action_user_id' } as const
  for (const field of [needs[rule.trigger_type], acts[rule.action_type]]) {
    if (field && rule[field] === null) throw invalid([{ field, message: `is required for this rule` }])
  }
  const given = (...ids: (string | null)[]) => [...new Set(ids.filter((id) => id !== null))]
  const column_ids = given(rule.trigger_column_id, rule.action_column_id)
  const label_ids = given(rule.trigger_label_id)
  const { columns, labels, rules } = await countReferences(db, rule.board_id, column_ids, label_ids)
  if (columns !== column_ids.length) throw new Problem('column_not_found')
  if (labels !== label_ids.length) throw new Problem('label_not_found')
  await requireMembers(db, rule.board_id, given(rule.action_user_id))
  return { rules }
}

async function requireRule(db: Db, key: { board_id: string; id: string }): Promise<AutomationRule> {
  const rule = await readRule(db, key)
  if (!rule) throw new Problem('rule_not_found')
  return rule
}

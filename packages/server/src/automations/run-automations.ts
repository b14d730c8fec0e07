import type { AutomationRule, AutomationRun } from '@lockstep/contract/automations'
import type { Card } from '@lockstep/contract/cards'
import { v7 as newUuid } from 'uuid'
import { readCard } from '../cards/card-queries.ts'
import { assignToCard, moveCardTo } from '../cards/card-steps.ts'
import type { Reaction, Told } from '../core/change.ts'
import { disableBrokenRules, matchRules, noteRun, type Trigger } from './automation-queries.ts'

const breaking = new Set(['column.deleted', 'label.deleted', 'board.member_removed'])

/**
 * The automation engine: answers what a user did on a board, inside his transaction and lock. Rules run in the order in
 * which they were made, each in a savepoint: one that fails leaves neither change nor event, and never fails the request.
 * What rules do sets off no further rules.
 */
export const automationEngine =
  (ran: (outcome: AutomationRun['outcome']) => void): Reaction =>
  async (change) => {
    const { tx, board_id, told, log } = change
    if (told.some(({ type }) => breaking.has(type))) await disableBrokenRules(tx, board_id)
    let answer: string | undefined
    for (const event of told) {
      const trigger = triggerOf(board_id, event)
      if (!trigger) continue
      const { id: card_id } = JSON.parse(event.data) as Card
      for (const rule of await matchRules(tx, trigger)) {
        const { result: outcome, error } = await change.attempt(() => act(change, rule, card_id))
        if (error) log.warn({ err: error, rule_id: rule.id }, 'a rule failed')
        const run = { board_id, id: newUuid(), rule_id: rule.id, rule_name: rule.name, card_id, at: change.at }
        await noteRun(tx, { ...run, cause_seq: event.seq, outcome: outcome ?? 'failed' })
        ran(outcome ?? 'failed')
        answer = await readCard(tx, { board_id, id: card_id })
      }
    }
    return answer
  }

/**
 * What happened, as rules see it. Neighbours that made room were moved by nobody, and count as nothing. No rule matches the
 * creation of a card: the specification has the trigger, and nothing that it could ask.
 */
function triggerOf(board_id: string, { type, user_id, from_id, subject_id, data }: Told): Trigger | undefined {
  if (user_id === null) return undefined
  if (type === 'card.labeled') return { board_id, type: 'LABEL_ADDED', column_id: null, label_id: subject_id }
  if (type !== 'card.moved') return undefined
  const { column_id } = JSON.parse(data) as Card
  return column_id === from_id ? undefined : { board_id, type: 'CARD_MOVED', column_id, label_id: null }
}

async function act(
  { tx, board_id, at, emit }: Parameters<Reaction>[0],
  rule: AutomationRule,
  card_id: string,
): Promise<AutomationRun['outcome']> {
  const step = { db: tx, board_id, card_id, at, by: { by: null } }
  const card = JSON.parse((await readCard(tx, { board_id, id: card_id })) ?? 'null') as Card
  if (rule.action_type === 'MOVE_TO_COLUMN') {
    const column_id = rule.action_column_id as string
    if (card.column_id === column_id) return 'already_there'
    await moveCardTo(step, emit, { from_id: card.column_id, column_id }, {})
    return 'moved'
  }
  const user_id = rule.action_user_id as string
  if (card.assignees.some(({ id }) => id === user_id)) return 'already_assigned'
  await assignToCard(step, emit, [user_id])
  return 'assigned'
}

import type { AutomationRule, AutomationRun } from '@lockstep/contract/automations'
import type { Card } from '@lockstep/contract/cards'
import { v7 as newUuid } from 'uuid'
import { readCardState } from '../cards/card-queries.ts'
import { assignToCard, moveCardTo } from '../cards/card-steps.ts'
import type { PendingEvent, Reaction } from '../core/change-board.ts'
import { objectBytes, PERSON_BYTES } from '../core/quotas.ts'
import { disableBrokenRules, insertRun, matchRules } from './automation-queries.ts'

/** Events that remove something a rule may refer to. */
const breakingEvents = new Set(['column.deleted', 'label.deleted', 'board.member_removed'])

/**
 * The automation engine: reacts to a user's change inside its transaction and lock. Rules run oldest first, each in a savepoint:
 * a rule that fails leaves neither change nor event, and does not fail the request. Actions of rules trigger no further
 * rules.
 */
export const automationEngine =
  (onRun: (outcome: AutomationRun['outcome']) => void): Reaction =>
  async (change) => {
    const { tx, board_id, pendingEvents, log } = change
    if (pendingEvents.some(({ type }) => breakingEvents.has(type))) await disableBrokenRules(tx, board_id)
    let body: string | undefined
    for (const event of pendingEvents) {
      const trigger = triggerOf(board_id, event)
      if (!trigger) continue
      const { card_id } = trigger
      let card = event.data
      for (const rule of await matchRules(tx, trigger)) {
        const { result, error } = await change.attempt(() => act(change, rule, { card_id, card }))
        if (error) log.warn({ err: error, rule_id: rule.id }, 'automation rule failed')
        const outcome = result?.outcome ?? 'failed'
        const run = { board_id, id: newUuid(), rule_id: rule.id, rule_name: rule.name, card_id, at: change.at }
        await insertRun(tx, { ...run, cause_seq: event.seq, outcome })
        change.countWritten(objectBytes(rule.name))
        onRun(outcome)
        if (result?.card) body = card = result.card
      }
    }
    return body
  }

/**
 * The trigger of an event, if there is one. Neighbours that were re-spaced have no user, and trigger nothing. Neither does the
 * creation of a card: the API has this trigger type, but no condition for it.
 */
function triggerOf(board_id: string, { type, user_id, from_id, subject_id, data, startsNoRule }: PendingEvent) {
  if (user_id === null || startsNoRule || (type !== 'card.labeled' && type !== 'card.moved')) return undefined
  const { id: card_id, column_id } = JSON.parse(data) as Card
  if (type === 'card.labeled')
    return { card_id, board_id, type: 'LABEL_ADDED', column_id: null, label_id: subject_id } as const
  if (column_id === from_id) return undefined
  return { card_id, board_id, type: 'CARD_MOVED', column_id, label_id: null } as const
}

/** The JSON of a moved card can shrink by the digits of its rank. No other action makes it smaller. */
const MAX_RANK_DIGITS = 20

/**
 * Runs the action of a rule. Returns the outcome, and the card if it changed. A card can be large and a hundred rules may match,
 * so the card is read only if there is an event, and after the quota is checked.
 */
async function act(
  { tx, board_id, at, emit, requireQuota }: Parameters<Reaction>[0],
  rule: AutomationRule,
  { card_id, card }: { card_id: string; card: string },
): Promise<{ outcome: AutomationRun['outcome']; card?: string }> {
  const step = { db: tx, board_id, card_id, at, by: { by: null } }
  const minBytes = Buffer.byteLength(card) - MAX_RANK_DIGITS
  const state = await readCardState(tx, { board_id, id: card_id }, rule.action_user_id)
  if (rule.action_type === 'MOVE_TO_COLUMN') {
    const column_id = rule.action_column_id as string
    if (state.column_id === column_id) return { outcome: 'already_there' }
    requireQuota({}, minBytes)
    return { outcome: 'moved', card: await moveCardTo(step, emit, { from_id: state.column_id, column_id }, {}) }
  }
  if (state.is_assigned) return { outcome: 'already_assigned' }
  requireQuota({ text_bytes: PERSON_BYTES }, minBytes)
  return { outcome: 'assigned', card: await assignToCard(step, emit, [rule.action_user_id as string]) }
}

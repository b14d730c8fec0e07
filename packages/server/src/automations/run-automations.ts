import type { AutomationRule, AutomationRun } from '@lockstep/contract/automations'
import type { Card } from '@lockstep/contract/cards'
import { v7 as newUuid } from 'uuid'
import { readStanding } from '../cards/card-queries.ts'
import { assignToCard, moveCardTo } from '../cards/card-steps.ts'
import type { PendingEvent, Reaction } from '../core/change-board.ts'
import { objectBytes, PERSON_BYTES } from '../core/quotas.ts'
import { disableBrokenRules, matchRules, noteRun } from './automation-queries.ts'

const breaking = new Set(['column.deleted', 'label.deleted', 'board.member_removed'])

/**
 * The automation engine: answers what a user did on a board, inside his transaction and lock. Rules run in the order in
 * which they were made, each in a savepoint: one that fails leaves neither change nor event, and never fails the request.
 * What rules do sets off no further rules.
 */
export const automationEngine =
  (ran: (outcome: AutomationRun['outcome']) => void): Reaction =>
  async (change) => {
    const { tx, board_id, pendingEvents: told, log } = change
    if (told.some(({ type }) => breaking.has(type))) await disableBrokenRules(tx, board_id)
    let answer: string | undefined
    for (const event of told) {
      const trigger = triggerOf(board_id, event)
      if (!trigger) continue
      const { card_id } = trigger
      let card = event.data
      for (const rule of await matchRules(tx, trigger)) {
        const { result, error } = await change.attempt(() => act(change, rule, { card_id, card }))
        if (error) log.warn({ err: error, rule_id: rule.id }, 'a rule failed')
        const outcome = result?.outcome ?? 'failed'
        const run = { board_id, id: newUuid(), rule_id: rule.id, rule_name: rule.name, card_id, at: change.at }
        await noteRun(tx, { ...run, cause_seq: event.seq, outcome })
        change.countWritten(objectBytes(rule.name))
        ran(outcome)
        if (result?.card) answer = card = result.card
      }
    }
    return answer
  }

/**
 * What happened, as rules see it. Neighbours that made room were moved by nobody, and count as nothing. No rule matches the
 * creation of a card: the specification has the trigger, and nothing that it could ask.
 */
function triggerOf(board_id: string, { type, user_id, from_id, subject_id, data }: PendingEvent) {
  if (user_id === null || (type !== 'card.labeled' && type !== 'card.moved')) return undefined
  const { id: card_id, column_id } = JSON.parse(data) as Card
  if (type === 'card.labeled')
    return { card_id, board_id, type: 'LABEL_ADDED', column_id: null, label_id: subject_id } as const
  if (column_id === from_id) return undefined
  return { card_id, board_id, type: 'CARD_MOVED', column_id, label_id: null } as const
}

/** A card that is moved can lose digits of its rank; nothing else that a rule does makes it smaller. */
const MAX_RANK_DIGITS = 20

/**
 * What a rule did, and the card after it if it changed. A card can be large, and a hundred rules may match: it is read only
 * for an event, and not for one that would exceed a quota.
 */
async function act(
  { tx, board_id, at, emit, requireQuota }: Parameters<Reaction>[0],
  rule: AutomationRule,
  { card_id, card }: { card_id: string; card: string },
): Promise<{ outcome: AutomationRun['outcome']; card?: string }> {
  const step = { db: tx, board_id, card_id, at, by: { by: null } }
  const minBytes = Buffer.byteLength(card) - MAX_RANK_DIGITS
  const standing = await readStanding(tx, { board_id, id: card_id }, rule.action_user_id)
  if (rule.action_type === 'MOVE_TO_COLUMN') {
    const column_id = rule.action_column_id as string
    if (standing.column_id === column_id) return { outcome: 'already_there' }
    requireQuota({}, minBytes)
    return { outcome: 'moved', card: await moveCardTo(step, emit, { from_id: standing.column_id, column_id }, {}) }
  }
  if (standing.is_assigned) return { outcome: 'already_assigned' }
  requireQuota({ text_bytes: PERSON_BYTES }, minBytes)
  return { outcome: 'assigned', card: await assignToCard(step, emit, [rule.action_user_id as string]) }
}

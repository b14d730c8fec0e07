import type { Card } from '@lockstep/contract/cards'
import type { JsonText } from '@lockstep/contract/operation'
import type { Emit, EventMetadata } from '../core/event-log.ts'
import { assignmentTo } from '../core/notifications.ts'
import type { PositionInput } from '../core/ordering/placement.ts'
import { PERSON_BYTES } from '../core/quotas.ts'
import type { Db } from '../database/database.ts'
import { assignCard, findCardRank, setCardRanks, touchCards } from './card-queries.ts'

/** The context of a change to a card that is part of a larger change. */
export interface CardStep {
  db: Db
  board_id: string
  card_id: string
  at: string
  /** `{ by: null }` when the service acts; otherwise the caller does. */
  by?: Pick<EventMetadata, 'by'>
}

/** Moves a card to a position in a column. Events of re-spaced neighbours come first. */
export async function moveCardTo(
  { db, board_id, card_id: id, at, by }: CardStep,
  emit: Emit<'card.moved'>,
  { from_id, column_id }: { from_id: string; column_id: string },
  position: PositionInput,
): Promise<JsonText<Card>> {
  const { rank, others } = await findCardRank(db, { board_id, parent_id: column_id, moved_id: id }, position)
  const moved = await setCardRanks(db, { board_id, parent_id: column_id, moved_id: id, at }, [...others, { id, rank }])
  for (const other of others)
    emit('card.moved', moved.get(other.id) as JsonText<Card>, { by: null, from_id: column_id, card_id: null })
  const card = moved.get(id) as JsonText<Card>
  emit('card.moved', card, { ...by, card_id: id, from_id })
  return card
}

/** Assigns members to a card, with one event for each. */
export async function assignToCard(
  { db, board_id, card_id: id, at, by }: CardStep,
  emit: Emit<'card.assigned'>,
  user_ids: string[],
): Promise<JsonText<Card>> {
  const added = await assignCard(db, { board_id, id }, user_ids)
  const [card] = await touchCards(db, board_id, [id], at)
  const { json } = card as { json: JsonText<Card> }
  emitAssignments(emit, json, { ...by, card_id: id }, { user_ids, added })
  return json
}

/** One event for each assigned user. Only those who were not assigned yet are counted and notified. */
export function emitAssignments(
  emit: Emit<'card.assigned'>,
  card: JsonText<Card>,
  metadata: Pick<EventMetadata, 'by'> & { card_id: string },
  { user_ids, added }: { user_ids: string[]; added: string[] },
) {
  const growth = { text_bytes: PERSON_BYTES * added.length }
  for (const [nth, subject_id] of user_ids.entries()) {
    const notifies = added.includes(subject_id) ? [assignmentTo(subject_id, metadata.card_id)] : []
    emit('card.assigned', card, { ...metadata, subject_id, notifies, ...(nth === 0 && { growth }) })
  }
}

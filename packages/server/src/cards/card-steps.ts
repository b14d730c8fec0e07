import type { Card } from '@lockstep/contract/cards'
import type { JsonText } from '@lockstep/contract/operation'
import type { Emit, EventMetadata } from '../core/event-log.ts'
import type { PositionInput } from '../core/ordering/placement.ts'
import type { Db } from '../database/database.ts'
import { assignCard, findCardPlace, placeCards, touchCards } from './card-queries.ts'

/** A change to a card as part of a larger one: the transaction, the moment, and who is told. */
export interface CardStep {
  db: Db
  board_id: string
  card_id: string
  at: string
  /** Who acts: the caller unless it is nobody. */
  by?: Pick<EventMetadata, 'by'>
}

/** Moves a card to a place in a column; the neighbours that make room are told of first. */
export async function moveCardTo(
  { db, board_id, card_id: id, at, by }: CardStep,
  emit: Emit<'card.moved'>,
  { from_id, column_id }: { from_id: string; column_id: string },
  place: PositionInput,
): Promise<JsonText<Card>> {
  const { rank, others } = await findCardPlace(db, { board_id, parent_id: column_id, moved_id: id }, place)
  const placed = await placeCards(db, { board_id, column_id, moved_id: id, at }, [...others, { id, rank }])
  for (const other of others)
    emit('card.moved', placed.get(other.id) as JsonText<Card>, { by: null, from_id: column_id })
  const card = placed.get(id) as JsonText<Card>
  emit('card.moved', card, { ...by, from_id })
  return card
}

/** Assigns members to a card and tells of each. */
export async function assignToCard(
  { db, board_id, card_id: id, at, by }: CardStep,
  emit: Emit<'card.assigned'>,
  user_ids: string[],
): Promise<JsonText<Card>> {
  const growth = await assignCard(db, { board_id, id }, user_ids)
  const [card] = await touchCards(db, board_id, [id], at)
  const { json } = card as { json: JsonText<Card> }
  for (const [nth, subject_id] of user_ids.entries())
    emit('card.assigned', json, { ...by, subject_id, ...(nth === 0 && { growth }) })
  return json
}

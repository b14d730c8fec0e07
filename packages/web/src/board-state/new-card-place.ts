import type { FullBoard } from '@lockstep/client'
import { findCard } from './board-model.ts'

/**
 * Where “New card” adds: after the focused card, otherwise at the end of the first column. On a phone always in the column in
 * sight, because the focused card may be in another one.
 */
export function newCardPlace(
  view: FullBoard,
  { card_id, isHeld }: { card_id: string | undefined; isHeld: boolean },
  columnInSight: string | undefined,
) {
  const focused = isHeld ? findCard(view, card_id) : undefined
  const inSight = view.columns.find(({ id }) => id === columnInSight)
  const column = inSight ?? focused?.column ?? view.columns[0]
  if (!column) return undefined
  const after = focused?.column === column ? focused.card : column.cards.at(-1)
  return { column, after_id: after?.id ?? null }
}

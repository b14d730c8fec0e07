import type { Card, Column, FullBoard } from '@lockstep/client'

/** A card with its column and index. */
export interface CardLocation {
  card: Card
  column: Column
  /** In the whole column, including cards that the filter hides. */
  index: number
}

export function findCard(board: FullBoard, card_id: string | undefined): CardLocation | undefined {
  for (const column of board.columns) {
    const index = column.cards.findIndex(({ id }) => id === card_id)
    const card = column.cards[index]
    if (card) return { card, column, index }
  }
  return undefined
}

/** Target of a move: after a card (`null` is the top). `position` is the fallback if that card is deleted by then. */
export interface CardPlacement {
  column_id: string
  after_id: string | null
  position: number
}

/**
 * Converts an index among the visible cards (without the moved one) to a placement in the whole column: right after the
 * visible card above; without one, right before the visible card below.
 */
export function placementAt(column: Column, shown: readonly Card[], index: number, movedId?: string): CardPlacement {
  const all = column.cards.filter(({ id }) => id !== movedId)
  const above = shown[index - 1]
  const below = shown[index]
  const at = above
    ? all.findIndex(({ id }) => id === above.id) + 1
    : below
      ? all.findIndex(({ id }) => id === below.id)
      : all.length
  return { column_id: column.id, after_id: all[at - 1]?.id ?? null, position: at }
}

export type Direction = 'up' | 'down' | 'left' | 'right' | 'first' | 'last'

/** One keyboard step over the visible cards; `undefined` at the edge. A step sideways keeps the index. */
export function stepPlacement(
  board: FullBoard,
  shownIn: (column: Column) => readonly Card[],
  card_id: string,
  direction: Direction,
): CardPlacement | undefined {
  const found = findCard(board, card_id)
  if (!found) return undefined
  const { column } = found
  const here = shownIn(column)
  const others = here.filter(({ id }) => id !== card_id)
  const at = here.findIndex(({ id }) => id === card_id)
  if (direction === 'left' || direction === 'right') {
    const next = board.columns[board.columns.indexOf(column) + (direction === 'left' ? -1 : 1)]
    if (!next) return undefined
    const there = shownIn(next)
    return placementAt(next, there, Math.min(at, there.length), card_id)
  }
  const to = { up: at - 1, down: at + 1, first: 0, last: others.length }[direction]
  return to < 0 || to > others.length || to === at ? undefined : placementAt(column, others, to, card_id)
}

/** The position among the visible cards, as it will be after the move, and their number. */
export function positionAt(
  column: Column,
  shown: readonly Card[],
  card_id: string,
  placement: CardPlacement,
): { position: number; total: number } {
  const above = new Set(column.cards.filter(({ id }) => id !== card_id).slice(0, placement.position))
  const others = shown.filter(({ id }) => id !== card_id)
  return { position: others.filter((card) => above.has(card)).length + 1, total: others.length + 1 }
}

/** `#12`. Undefined until the server has confirmed the card. */
export const numberOf = ({ number }: Pick<Card, 'number'>): string | undefined =>
  number > 0 ? `#${number}` : undefined

export const progressOf = (card: Card): { done: number; all: number } => {
  const items = card.checklists.flatMap((checklist) => checklist.items)
  return { done: items.filter((item) => item.is_done).length, all: items.length }
}

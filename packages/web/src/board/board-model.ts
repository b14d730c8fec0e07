import type { Card, Column, FullBoard } from '@lockstep/client'

/** Where a card stands. */
export interface Found {
  card: Card
  column: Column
  /** In the whole lane, whatever a filter hides. */
  index: number
}

export function findCard(board: FullBoard, card_id: string | undefined): Found | undefined {
  for (const column of board.columns) {
    const index = column.cards.findIndex(({ id }) => id === card_id)
    const card = column.cards[index]
    if (card) return { card, column, index }
  }
  return undefined
}

/** Where a card is to go: after a neighbour (null is the top), or at a position should the neighbour be gone by then. */
export interface Place {
  column_id: string
  after_id: string | null
  position: number
}

/**
 * The place that is meant by an index among the cards that are shown, none of which is the one to be placed. Behind the
 * neighbour above; without one, right before the neighbour below, wherever hidden cards are.
 */
export function placeAt(column: Column, shown: readonly Card[], index: number, moved_id?: string): Place {
  const all = column.cards.filter(({ id }) => id !== moved_id)
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

/** One step of a card over the cards that are shown; undefined at the edge. Sideways it keeps its height. */
export function stepPlace(
  board: FullBoard,
  shownIn: (column: Column) => readonly Card[],
  card_id: string,
  direction: Direction,
): Place | undefined {
  const found = findCard(board, card_id)
  if (!found) return undefined
  const { column } = found
  const here = shownIn(column)
  const others = here.filter(({ id }) => id !== card_id)
  const at = here.findIndex(({ id }) => id === card_id)
  if (direction === 'left' || direction === 'right') {
    const lane = board.columns[board.columns.indexOf(column) + (direction === 'left' ? -1 : 1)]
    if (!lane) return undefined
    const there = shownIn(lane)
    return placeAt(lane, there, Math.min(at, there.length), card_id)
  }
  const to = { up: at - 1, down: at + 1, first: 0, last: others.length }[direction]
  return to < 0 || to > others.length || to === at ? undefined : placeAt(column, others, to, card_id)
}

/** "position 2 of 4", as those who see a filtered lane will count once the card is at its place. */
export function positionAt(column: Column, shown: readonly Card[], card_id: string, { position }: Place): string {
  const above = new Set(column.cards.filter(({ id }) => id !== card_id).slice(0, position))
  const others = shown.filter(({ id }) => id !== card_id)
  return `position ${others.filter((card) => above.has(card)).length + 1} of ${others.length + 1}`
}

export const progressOf = (card: Card): { done: number; all: number } => {
  const items = card.checklists.flatMap((checklist) => checklist.items)
  return { done: items.filter((item) => item.is_done).length, all: items.length }
}

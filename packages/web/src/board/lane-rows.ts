import type { Card } from '@lockstep/client'
import type { Composing } from './board-tools.ts'

/** What stands in a lane, from top to bottom. */
export type Row =
  | { kind: 'card'; key: string; card: Card }
  | { kind: 'placeholder'; key: string }
  | { kind: 'composer'; key: string }

interface Situation {
  cards: readonly Card[]
  dragged_id: string | undefined
  /** The index among the cards that are not dragged. */
  over_index: number | undefined
  composing: Composing | undefined
}

export function rowsOf({ cards, dragged_id, over_index, composing }: Situation): Row[] {
  const rows: Row[] = cards.filter(({ id }) => id !== dragged_id).map((card) => ({ kind: 'card', key: card.id, card }))
  if (over_index !== undefined) rows.splice(over_index, 0, { kind: 'placeholder', key: 'placeholder' })
  if (composing) {
    const after = rows.findIndex(({ key }) => key === composing.after_id)
    // Behind a card that a filter hides, or that is gone by now: at the end.
    const at = composing.after_id === null ? 0 : after < 0 ? rows.length : after + 1
    rows.splice(at, 0, { kind: 'composer', key: 'composer' })
  }
  return rows
}

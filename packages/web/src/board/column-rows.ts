import type { Card } from '@lockstep/client'
import type { ComposerPosition } from '../board-state/board-tools.ts'

/** The rows of a column, from top to bottom. */
export type ColumnRow =
  | { kind: 'card'; key: string; card: Card }
  | { kind: 'placeholder'; key: string }
  | { kind: 'composer'; key: string }

interface ColumnRowsInput {
  cards: readonly Card[]
  draggedId: string | undefined
  /** The drop index, without the dragged card. */
  overIndex: number | undefined
  composing: ComposerPosition | undefined
}

export function rowsOf({ cards, draggedId, overIndex, composing }: ColumnRowsInput): ColumnRow[] {
  const rows: ColumnRow[] = cards
    .filter(({ id }) => id !== draggedId)
    .map((card) => ({ kind: 'card', key: card.id, card }))
  if (overIndex !== undefined) rows.splice(overIndex, 0, { kind: 'placeholder', key: 'placeholder' })
  if (composing) {
    const after = rows.findIndex(({ key }) => key === composing.after_id)
    // If the card is hidden by the filter or deleted: at the end.
    const at = composing.after_id === null ? 0 : after < 0 ? rows.length : after + 1
    rows.splice(at, 0, { kind: 'composer', key: 'composer' })
  }
  return rows
}

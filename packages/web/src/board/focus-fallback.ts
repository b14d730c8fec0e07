import type { Card, Column, FullBoard } from '@lockstep/client'
import { type FocusEvent, useEffect, useRef } from 'react'
import type { BoardTools } from '../board-state/board-tools.ts'

/** When the focused card is deleted or hidden, focuses its neighbour, or its column if it was the last card. */
export function useCardFocusFallback(tools: BoardTools, view: FullBoard, shownIn: (column: Column) => readonly Card[]) {
  const before = useRef({ view, shownIn })
  useEffect(() => {
    const was = before.current
    before.current = { view, shownIn }
    const { card_id, isHeld } = tools.focus.get()
    if (!card_id || !isHeld || document.activeElement !== document.body) return
    const holds = (cards: readonly Card[]) => cards.some(({ id }) => id === card_id)
    if (view.columns.some((column) => holds(shownIn(column)))) return
    const column = was.view.columns.find((each) => holds(was.shownIn(each)))
    if (!column) return
    const index = was.shownIn(column).findIndex(({ id }) => id === card_id)
    const now = view.columns.find(({ id }) => id === column.id)
    const cards = now ? shownIn(now) : []
    const next = cards[index] ?? cards.at(-1)
    if (next) tools.focusCard(next.id)
    else tools.focusColumn(column.id)
  })
}

/** When a column with the focus is deleted, focuses the column that takes its place. */
export function useColumnFocusFallback({ columns }: FullBoard) {
  const heldId = useRef<string>(undefined)
  const before = useRef(columns)
  useEffect(() => {
    const was = before.current
    before.current = columns
    const id = heldId.current
    if (!id || document.activeElement !== document.body || columns.some((column) => column.id === id)) return
    const at = was.findIndex((column) => column.id === id)
    const next = columns[at] ?? columns.at(-1)
    const selector = next ? `[data-column-id="${next.id}"] .column-head button` : '[data-new-column]'
    document.querySelector<HTMLElement>(selector)?.focus()
  })
  const columnIdOf = (target: EventTarget | null) =>
    target instanceof Element ? target.closest<HTMLElement>('[data-column-id]')?.dataset['columnId'] : undefined
  return {
    onFocus: ({ target }: FocusEvent) => {
      heldId.current = columnIdOf(target)
    },
    onBlur: ({ relatedTarget }: FocusEvent) => {
      if (relatedTarget) heldId.current = columnIdOf(relatedTarget)
    },
  }
}

import type { Card, Column, FullBoard } from '@lockstep/client'
import { type FocusEvent, useEffect, useRef } from 'react'
import type { BoardTools } from './board-tools.ts'

/** A card that is deleted or hidden with the focus on it hands the focus to its neighbour, the last one to its lane. */
export function useFocusKept(tools: BoardTools, view: FullBoard, shownIn: (column: Column) => readonly Card[]) {
  const before = useRef({ view, shownIn })
  useEffect(() => {
    const was = before.current
    before.current = { view, shownIn }
    const { card_id, is_held } = tools.focus.get()
    if (!card_id || !is_held || document.activeElement !== document.body) return
    const holds = (cards: readonly Card[]) => cards.some(({ id }) => id === card_id)
    if (view.columns.some((column) => holds(shownIn(column)))) return
    const column = was.view.columns.find((each) => holds(was.shownIn(each)))
    if (!column) return
    const index = was.shownIn(column).findIndex(({ id }) => id === card_id)
    const now = view.columns.find(({ id }) => id === column.id)
    const cards = now ? shownIn(now) : []
    const next = cards[index] ?? cards.at(-1)
    if (next) tools.focusCard(next.id)
    else tools.focusLane(column.id)
  })
}

/** A lane that is deleted with the focus on its menu or its button hands it to the lane that takes its place, whoever did it. */
export function useLaneFocusKept({ columns }: FullBoard) {
  const held_id = useRef<string>(undefined)
  const before = useRef(columns)
  useEffect(() => {
    const was = before.current
    before.current = columns
    const id = held_id.current
    if (!id || document.activeElement !== document.body || columns.some((column) => column.id === id)) return
    const at = was.findIndex((column) => column.id === id)
    const next = columns[at] ?? columns.at(-1)
    const place = next ? `[data-column-id="${next.id}"] .lane-head button` : '[data-new-lane]'
    document.querySelector<HTMLElement>(place)?.focus()
  })
  const laneOf = (target: EventTarget | null) =>
    target instanceof Element ? target.closest<HTMLElement>('[data-column-id]')?.dataset['columnId'] : undefined
  return {
    onFocus: ({ target }: FocusEvent) => {
      held_id.current = laneOf(target)
    },
    onBlur: ({ relatedTarget }: FocusEvent) => {
      if (relatedTarget) held_id.current = laneOf(relatedTarget)
    },
  }
}

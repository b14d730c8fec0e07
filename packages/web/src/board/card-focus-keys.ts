import type { KeyboardEvent } from 'react'
import type { Direction } from '../board-state/board-model.ts'
import type { BoardTools } from '../board-state/board-tools.ts'
import { hasLetterKeys } from '../preferences.ts'
import { hasCommand, isWriting } from '../ui/keys.tsx'

const arrows: Record<string, Direction> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'first',
  End: 'last',
}

/** Shortcuts of the focused card. */
export function handleCardKeys(event: KeyboardEvent, tools: BoardTools) {
  if (event.defaultPrevented || isWriting(event.target)) return
  const card_id = (event.target as HTMLElement).closest<HTMLElement>('[data-card-id]')?.dataset['cardId']
  const direction = arrows[event.key]
  if (card_id && direction && !event.altKey && !hasCommand(event)) {
    event.preventDefault()
    if (event.shiftKey) tools.step(card_id, direction)
    else moveFocus(tools, card_id, direction)
    return
  }
  if ((event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) && card_id)
    return handle(event, () => openMenu(card_id))
  if (event.key === 'Delete' && card_id)
    return handle(event, () => void tools.remove(card_id, event.shiftKey ? 'deleted' : 'archived'))
  if (hasCommand(event) && event.key === 'c' && card_id && !getSelection()?.toString())
    return handle(event, () => void tools.copyLink(card_id))
  if (hasCommand(event) || event.altKey || !hasLetterKeys()) return
  const act = card_id
    ? cardLetters(tools, card_id)[event.shiftKey ? `shift ${event.key.toLowerCase()}` : event.key]
    : undefined
  if (act) handle(event, act)
}

function handle(event: KeyboardEvent, act: () => void) {
  event.preventDefault()
  act()
}

export const cardLetters = (tools: BoardTools, card_id: string): Record<string, () => void> => {
  const column_id = tools.find(card_id)?.column.id ?? ''
  return {
    e: () => tools.rename(card_id),
    n: () => tools.compose(column_id, card_id),
    'shift n': () => tools.compose(column_id, null),
    m: () => tools.openPicker('move', card_id),
    l: () => tools.openPicker('labels', card_id),
    a: () => tools.openPicker('assignees', card_id),
    d: () => tools.openPicker('due', card_id),
    ' ': () => tools.toggleMe(card_id),
    '.': () => openMenu(card_id),
    '[': () => focusColumn(column_id, -1),
    ']': () => focusColumn(column_id, 1),
  }
}

/** Opens the card's menu. */
const openMenu = (card_id: string) =>
  document.querySelector<HTMLElement>(`[data-card-id="${CSS.escape(card_id)}"] .card-more`)?.click()

/** Moves the focus over the visible cards; sideways to the same index. */
function moveFocus(tools: BoardTools, card_id: string, direction: Direction) {
  const found = tools.find(card_id)
  if (!found) return
  const { columns } = tools.view
  const here = tools.shownIn(found.column)
  const at = here.indexOf(found.card)
  if (direction === 'left' || direction === 'right') {
    const step = direction === 'left' ? -1 : 1
    // Skip columns without a visible card.
    for (let i = columns.indexOf(found.column) + step; columns[i]; i += step) {
      const there = tools.shownIn(columns[i] as (typeof columns)[number])
      if (there.length > 0) return tools.focusCard((there[at] ?? there.at(-1))?.id)
    }
    return
  }
  const to = { up: at - 1, down: at + 1, first: 0, last: here.length - 1 }[direction]
  tools.focusCard(here[to]?.id)
}

/** Focuses the menu of the previous or next column, or of this one at the edge. */
function focusColumn(column_id: string, step: number) {
  const columns = [...document.querySelectorAll<HTMLElement>('.column')]
  const at = columns.findIndex((column) => column.dataset['columnId'] === column_id)
  const column = columns[Math.max(0, Math.min(at + step, columns.length - 1))]
  column?.querySelector<HTMLElement>('.column-head button')?.focus()
}

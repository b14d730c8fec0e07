import type { KeyboardEvent } from 'react'
import { hasLetterKeys } from '../settings/preferences.ts'
import { hasCommand, isWriting } from '../ui/keys.tsx'
import type { Direction } from './board-model.ts'
import type { BoardTools } from './board-tools.ts'

const arrows: Record<string, Direction> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'first',
  End: 'last',
}

/** The keys of a card that has the focus. They need no mode, and no pointer over it. */
export function steerBoard(event: KeyboardEvent, tools: BoardTools) {
  if (event.defaultPrevented || isWriting(event.target)) return
  const card_id = (event.target as HTMLElement).closest<HTMLElement>('[data-card-id]')?.dataset['cardId']
  const direction = arrows[event.key]
  if (card_id && direction && !event.altKey && !hasCommand(event)) {
    event.preventDefault()
    if (event.shiftKey) tools.step(card_id, direction)
    else walk(tools, card_id, direction)
    return
  }
  if ((event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) && card_id)
    return done(event, () => openMenu(card_id))
  if (event.key === 'Delete' && card_id) return done(event, () => tools.remove(card_id))
  if (hasCommand(event) && event.key === 'c' && card_id && !getSelection()?.toString())
    return done(event, () => void tools.copyLink(card_id))
  if (hasCommand(event) || event.altKey || !hasLetterKeys()) return
  const act = card_id
    ? cardLetters(tools, card_id)[event.shiftKey ? `shift ${event.key.toLowerCase()}` : event.key]
    : undefined
  if (act) done(event, act)
}

function done(event: KeyboardEvent, act: () => void) {
  event.preventDefault()
  act()
}

export const cardLetters = (tools: BoardTools, card_id: string): Record<string, () => void> => {
  const column_id = tools.find(card_id)?.column.id ?? ''
  return {
    e: () => tools.renaming.set(card_id),
    n: () => tools.compose(column_id, card_id),
    'shift n': () => tools.compose(column_id, null),
    m: () => tools.asking.set({ what: 'move', card_id }),
    l: () => tools.asking.set({ what: 'labels', card_id }),
    a: () => tools.asking.set({ what: 'assignees', card_id }),
    ' ': () => tools.toggleMe(card_id),
    '.': () => openMenu(card_id),
    '[': () => focusLane(column_id, -1),
    ']': () => focusLane(column_id, 1),
  }
}

/** The menu that the button with the dots opens. */
const openMenu = (card_id: string) =>
  document.querySelector<HTMLElement>(`[data-card-id="${CSS.escape(card_id)}"] .card-more`)?.click()

/** From card to card over what is shown; sideways to the same height. */
function walk(tools: BoardTools, card_id: string, direction: Direction) {
  const found = tools.find(card_id)
  if (!found) return
  const { columns } = tools.view
  const here = tools.shownIn(found.column)
  const at = here.indexOf(found.card)
  if (direction === 'left' || direction === 'right') {
    const step = direction === 'left' ? -1 : 1
    // Lanes without a card that is shown are passed over: there is nothing to stand on.
    for (let i = columns.indexOf(found.column) + step; columns[i]; i += step) {
      const there = tools.shownIn(columns[i] as (typeof columns)[number])
      if (there.length > 0) return tools.focusCard((there[at] ?? there.at(-1))?.id)
    }
    return
  }
  const to = { up: at - 1, down: at + 1, first: 0, last: here.length - 1 }[direction]
  tools.focusCard(here[to]?.id)
}

/** The menu of the lane beside, or of this one when there is none. */
function focusLane(column_id: string, step: number) {
  const lanes = [...document.querySelectorAll<HTMLElement>('.lane')]
  const at = lanes.findIndex((lane) => lane.dataset['columnId'] === column_id)
  const lane = lanes[Math.max(0, Math.min(at + step, lanes.length - 1))]
  lane?.querySelector<HTMLElement>('.lane-head button')?.focus()
}

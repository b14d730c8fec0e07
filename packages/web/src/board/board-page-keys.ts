import { useEffect } from 'react'
import type { BoardTools } from '../board-state/board-tools.ts'
import { hasFilter, setFilter, toggleFilter } from '../board-state/filter-address.ts'
import { undoAction } from '../board-state/undo-keys.ts'
import { hasLetterKeys } from '../preferences.ts'
import { hasCommand, isWriting } from '../ui/keys.tsx'
import { openLayers } from '../ui/layers.ts'

/** Shortcuts of the board page, outside fields, dialogs and menus. */
export function useBoardPageKeys(tools: BoardTools) {
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => handleBoardKeys(event, tools)
    addEventListener('keydown', handleKey)
    return () => removeEventListener('keydown', handleKey)
  }, [tools])
}

export function handleBoardKeys(event: KeyboardEvent, tools: BoardTools) {
  if (event.defaultPrevented || isWriting(event.target) || openLayers().length > 0) return
  const act = hasCommand(event)
    ? undoAction(tools, event)
    : (plain(event) ?? (hasLetterKeys() ? letters(tools, event) : undefined))
  if (!act) return
  event.preventDefault()
  act()
}

/** Escape clears the filter. */
const plain = ({ key }: KeyboardEvent) => (key === 'Escape' && hasFilter() ? () => setFilter('') : undefined)

function letters(tools: BoardTools, { key, altKey }: KeyboardEvent): (() => void) | undefined {
  return altKey ? undefined : boardLetters(tools)[key]
}

export const boardLetters = (tools: BoardTools): Record<string, () => void> => ({
  '/': () => document.querySelector<HTMLElement>('.filter-field')?.focus(),
  n: () => tools.composeAnywhere(),
  c: () => {
    if (tools.canChange()) document.querySelector<HTMLElement>('[data-new-column]')?.click()
  },
  f: () => toggleFilter('@me'),
})

import { useEffect } from 'react'
import { hasLetterKeys } from '../settings/preferences.ts'
import { hasCommand, isWriting } from '../ui/keys.tsx'
import type { BoardTools } from './board-tools.ts'
import { hasFilter, setFilter, toggleFilter } from './filter-address.ts'

/** The keys that act wherever the focus is on a board page, outside of fields and dialogs. */
export function useGlobalKeys(tools: BoardTools) {
  useEffect(() => {
    const steer = (event: KeyboardEvent) => steerBoardPage(event, tools)
    addEventListener('keydown', steer)
    return () => removeEventListener('keydown', steer)
  }, [tools])
}

export function steerBoardPage(event: KeyboardEvent, tools: BoardTools) {
  if (event.defaultPrevented || isWriting(event.target) || document.querySelector('dialog[open]')) return
  const act = hasCommand(event)
    ? commands(tools, event)
    : (plain(event) ?? (hasLetterKeys() ? letters(tools, event) : undefined))
  if (!act) return
  event.preventDefault()
  act()
}

/** Only with a filter there is something to leave. */
const plain = ({ key }: KeyboardEvent) => (key === 'Escape' && hasFilter() ? () => setFilter('') : undefined)

/** Undo and redo, with the command key held. */
export function commands(tools: BoardTools, { key, shiftKey }: KeyboardEvent): (() => void) | undefined {
  const letter = key.toLowerCase()
  if (letter === 'y' || (letter === 'z' && shiftKey)) return () => tools.redo()
  return letter === 'z' ? () => tools.undo() : undefined
}

function letters(tools: BoardTools, { key, altKey }: KeyboardEvent): (() => void) | undefined {
  return altKey ? undefined : boardLetters(tools)[key]
}

export const boardLetters = (tools: BoardTools): Record<string, () => void> => ({
  '/': () => document.querySelector<HTMLElement>('.filter-field')?.focus(),
  n: () => tools.composeAnywhere(),
  c: () => document.querySelector<HTMLElement>('[data-new-lane]')?.click(),
  f: () => toggleFilter('@me'),
})

import { useEffect, useRef } from 'react'
import type { BoardTools } from '../board/board-tools.ts'
import { commands as boardCommands } from '../board/global-keys.ts'
import { hasLetterKeys } from '../settings/preferences.ts'
import { hasCommand, isWriting } from '../ui/keys.tsx'
import { layers } from '../ui/layers.ts'

/** What can be done with the card that is open, by keys, menus and buttons alike. */
export interface CardActs {
  rename: () => void
  move: () => void
  labels: () => void
  assignees: () => void
  newChecklist: () => void
  upload: () => void
  step: (by: -1 | 1) => void
  remove: () => void
}

/** The keys of the dialog, outside of its fields and while nothing is open over it. */
export function useCardKeys(tools: BoardTools, acts: CardActs) {
  const latest = useRef(acts)
  useEffect(() => {
    latest.current = acts
  })
  useEffect(() => {
    const steer = (event: KeyboardEvent) => {
      const isInMenu = event.target instanceof Element && event.target.closest('[role=menu]') !== null
      if (event.defaultPrevented || isWriting(event.target) || isInMenu || layers.get().length > 1) return
      const act = hasCommand(event) ? commands(tools, latest.current, event) : letters(latest.current, event)
      if (!act) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', steer)
    return () => removeEventListener('keydown', steer)
  }, [tools])
}

function commands(tools: BoardTools, acts: CardActs, event: KeyboardEvent): (() => void) | undefined {
  const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : undefined
  return by ? () => acts.step(by) : boardCommands(tools, event)
}

function letters(acts: CardActs, { key, altKey, shiftKey }: KeyboardEvent): (() => void) | undefined {
  if (altKey || shiftKey || !hasLetterKeys()) return undefined
  return { e: acts.rename, m: acts.move, l: acts.labels, a: acts.assignees, k: acts.newChecklist, u: acts.upload }[key]
}

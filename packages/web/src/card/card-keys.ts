import { useEffect, useRef } from 'react'
import type { BoardTools } from '../board-state/board-tools.ts'
import { undoAction } from '../board-state/undo-keys.ts'
import { hasLetterKeys } from '../preferences.ts'
import { hasCommand, isWriting } from '../ui/keys.tsx'
import { openLayers } from '../ui/layers.ts'

/** The actions of the open card, for shortcuts, menus and buttons. */
export interface CardActions {
  rename: () => void
  move: () => void
  labels: () => void
  assignees: () => void
  due: () => void
  newChecklist: () => void
  upload: () => void
  comment: () => void
  step: (by: -1 | 1) => void
  remove: (as: 'archived' | 'deleted') => void
}

/** Shortcuts of the card dialog, outside fields and while no menu or other layer is open over it. */
export function useCardKeys(tools: BoardTools, actions: CardActions) {
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isWriting(event.target) || openLayers().length > 1) return
      const act = hasCommand(event) ? commands(tools, latest.current, event) : letters(latest.current, event)
      if (!act) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', handleKey)
    return () => removeEventListener('keydown', handleKey)
  }, [tools])
}

function commands(tools: BoardTools, actions: CardActions, event: KeyboardEvent): (() => void) | undefined {
  const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : undefined
  return by ? () => actions.step(by) : undoAction(tools, event)
}

/** Whether a text is being edited. A letter that misses its field is meant for it. */
const isEditing = () => document.querySelector('.cd-editor, .comment .comment-editor') !== null

function letters(actions: CardActions, { key, altKey, shiftKey }: KeyboardEvent): (() => void) | undefined {
  if (altKey || shiftKey || !hasLetterKeys() || isEditing()) return undefined
  return {
    e: actions.rename,
    m: actions.move,
    l: actions.labels,
    a: actions.assignees,
    d: actions.due,
    k: actions.newChecklist,
    u: actions.upload,
    c: actions.comment,
  }[key]
}

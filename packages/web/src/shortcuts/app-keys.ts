import { useEffect } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { filterQuery } from '../board-state/filter-address.ts'
import { currentBoard, isOverlayOpen, openPalette, openShortcuts } from '../board-state/overlay.ts'
import { hasLetterKeys } from '../preferences.ts'
import { closeStep } from '../ui/history-step.ts'
import { hasCommand, isWriting } from '../ui/keys.tsx'
import { openLayers } from '../ui/layers.ts'

/** Time limit for the second key after `G`. */
const SECOND_KEY_MS = 1_200
let gAt = Number.NEGATIVE_INFINITY

/** Shortcuts of every page. */
export function useAppKeys() {
  useEffect(() => {
    // In the capture phase: the second key of a sequence may be a shortcut of the focused element.
    addEventListener('keydown', handleKeySequence, true)
    addEventListener('keydown', handleAppKeys)
    return () => {
      removeEventListener('keydown', handleKeySequence, true)
      removeEventListener('keydown', handleAppKeys)
    }
  }, [])
}

/** Two-key sequences: `G`, then a letter for the destination. */
export function handleKeySequence(event: KeyboardEvent) {
  const { key, ctrlKey, metaKey, altKey, shiftKey, timeStamp } = event
  if (ctrlKey || metaKey || altKey || shiftKey || !hasLetterKeys() || isBusy(event)) return
  const isSecond = timeStamp - gAt < SECOND_KEY_MS
  gAt = key === 'g' ? timeStamp : Number.NEGATIVE_INFINITY
  const board = currentBoard.get()
  const onBoard = (panel: string) => board && `/app/b/${board.board_id}/${panel}${filterQuery()}`
  const path = { b: '/app/boards', i: '/app/inbox', a: onBoard('activity'), r: onBoard('removed') }[key]
  if (!isSecond || !path) return
  event.preventDefault()
  event.stopPropagation()
  navigate(path)
}

/** The palette opens from anywhere, the list of shortcuts only outside fields. */
export function handleAppKeys(event: KeyboardEvent) {
  if (event.defaultPrevented) return
  if (hasCommand(event) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
    event.preventDefault()
    if (isOverlayOpen()) closeStep()
    else openPalette()
  } else if (event.key === '?' && hasLetterKeys() && !isWriting(event.target) && !isOverlayOpen()) {
    event.preventDefault()
    openShortcuts()
  }
}

const isBusy = ({ target }: KeyboardEvent) => isWriting(target) || openLayers().length > 0

import { useEffect } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { filterQuery } from '../board/filter-address.ts'
import { closeOverlay, currentBoard, openPalette, openShortcuts, overlay } from '../palette/overlay.ts'
import { hasLetterKeys } from '../settings/preferences.ts'
import { hasCommand, isWriting } from '../ui/keys.tsx'

/** How long after a `G` the second key may come. */
const SECOND_KEY_MS = 1_200
let g_at = Number.NEGATIVE_INFINITY

/** The keys of every page. */
export function useAppKeys() {
  useEffect(() => {
    // Before all others: the second of two keys may have a meaning of its own where the focus is.
    addEventListener('keydown', steerSequence, true)
    addEventListener('keydown', steerApp)
    return () => {
      removeEventListener('keydown', steerSequence, true)
      removeEventListener('keydown', steerApp)
    }
  }, [])
}

/** `G`, then where to. */
export function steerSequence(event: KeyboardEvent) {
  const { key, ctrlKey, metaKey, altKey, shiftKey, timeStamp } = event
  if (ctrlKey || metaKey || altKey || shiftKey || !hasLetterKeys() || isBusy(event)) return
  const isSecond = timeStamp - g_at < SECOND_KEY_MS
  g_at = key === 'g' ? timeStamp : Number.NEGATIVE_INFINITY
  const board = currentBoard.get()
  const path = { b: '/app/boards', a: board && `/app/b/${board.board_id}/activity${filterQuery()}` }[key]
  if (!isSecond || !path) return
  event.preventDefault()
  event.stopPropagation()
  navigate(path)
}

/** The palette also from within fields; the sheet outside of them. */
export function steerApp(event: KeyboardEvent) {
  if (event.defaultPrevented) return
  if (hasCommand(event) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
    event.preventDefault()
    if (overlay.get()) closeOverlay()
    else openPalette()
  } else if (event.key === '?' && hasLetterKeys() && !isWriting(event.target) && !overlay.get()) {
    event.preventDefault()
    openShortcuts()
  }
}

const isBusy = ({ target }: KeyboardEvent) => isWriting(target) || document.querySelector('dialog[open]') !== null

import { type MouseEvent, useRef } from 'react'

/**
 * For something that opens under the pointer: handlers that ignore the second click of the double click whose first one opened it.
 * It would move the focus, and press a control.
 */
export function useSecondClickGuard() {
  const hasBeenClicked = useRef(false)
  const ignoreSecondClick = (event: MouseEvent) => {
    hasBeenClicked.current ||= event.detail <= 1
    if (hasBeenClicked.current) return
    event.stopPropagation()
    event.preventDefault()
  }
  return { onMouseDownCapture: ignoreSecondClick, onClickCapture: ignoreSecondClick }
}

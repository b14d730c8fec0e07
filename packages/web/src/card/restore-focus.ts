import { focusAfterRender } from '../ui/focus.ts'

/** Focuses the active element again after the next render, because moving an element in the DOM blurs it. */
export function restoreFocus() {
  const { activeElement } = document
  focusAfterRender(() =>
    activeElement instanceof HTMLElement && activeElement.isConnected ? activeElement : undefined,
  )
}

/** Whether the focus is in a popover or nowhere. After a press outside the popover the user has it elsewhere. */
export function isFocusInPopover(): boolean {
  const { activeElement } = document
  return !activeElement || activeElement === document.body || activeElement.closest('.popover') !== null
}

/** Whether the focused element was removed. In a dialog, the dialog itself then has the focus. */
function isFocusLost(): boolean {
  const { activeElement } = document
  return activeElement === null || activeElement === document.body || activeElement.matches('.layer')
}

/**
 * Focuses an element after the next render, unless the user has moved the focus meanwhile. In the first frame a dialog takes a
 * lost focus, so it must be the second one.
 */
export function focusAfterRender(find: () => HTMLElement | null | undefined) {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (isFocusLost()) find()?.focus()
    }),
  )
}

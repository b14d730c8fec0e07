/** Focuses the active element again after the next frame, because moving an element in the DOM blurs it. */
export function restoreFocus() {
  const { activeElement } = document
  requestAnimationFrame(() => {
    if (activeElement instanceof HTMLElement && activeElement.isConnected) activeElement.focus()
  })
}

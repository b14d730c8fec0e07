/** Lets the focus stay on what has it, although it is about to be put elsewhere in the page. */
export function keepFocus() {
  const { activeElement } = document
  requestAnimationFrame(() => {
    if (activeElement instanceof HTMLElement && activeElement.isConnected) activeElement.focus()
  })
}

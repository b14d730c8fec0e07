const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** `Ctrl K` as the machine at hand calls it. */
export function Keys({ keys }: { keys: string }) {
  return <kbd className="keys">{isMac ? keys.replace('Ctrl', '⌘') : keys}</kbd>
}

/** Whether the key that means "command" is held: Control, or ⌘ on a Mac. */
export const hasCommand = (event: { ctrlKey: boolean; metaKey: boolean }) => (isMac ? event.metaKey : event.ctrlKey)

/** Whether somebody is writing there: then letters are letters. */
export const isWriting = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox],[type=radio]), textarea, select'))

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** A shortcut with the platform's modifier: `Ctrl K`, or `⌘ K` on a Mac. */
export function Keys({ keys }: { keys: string }) {
  return <kbd className="keys">{isMac ? keys.replace('Ctrl', '⌘') : keys}</kbd>
}

/** Whether the command modifier is held: Ctrl, or ⌘ on a Mac. */
export const hasCommand = (event: { ctrlKey: boolean; metaKey: boolean }) => (isMac ? event.metaKey : event.ctrlKey)

/** Whether the target is a text field, where single-key shortcuts must not act. */
export const isWriting = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox],[type=radio]), textarea, [role=combobox]'))

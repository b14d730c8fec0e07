import { type FocusEvent, useEffect, useRef } from 'react'
import { createPortal, flushSync } from 'react-dom'
import { announce } from './announcer.tsx'
import { useTopLayer } from './layers.ts'
import { Store, useStore } from './store.ts'

export interface Action {
  label: string
  run: () => void
}
interface Toast {
  id: number
  text: string
  action?: Action
}
const SHOWN_MS = 6_000
const toast = new Store<Toast | undefined>(undefined)
let count = 0

/** Says something in the corner, with one thing to do about it. The next one takes its place. Returns what hides it. */
export function showToast(text: string, action?: Action): () => void {
  const shown: Toast = { id: ++count, text, ...(action && { action }) }
  toast.set(shown)
  announce(text)
  return () => toast.update((now) => (now === shown ? undefined : now))
}

/** Takes it away. If the focus was on it, it goes back to where it came from. */
function leave(before: HTMLElement | null, shown: Toast) {
  const hasFocus = document.activeElement?.closest('.toast') !== null
  flushSync(() => toast.update((now) => (now === shown ? undefined : now)))
  if (hasFocus && before?.isConnected) before.focus()
}

export function Toasts() {
  const shown = useStore(toast)
  const layer = useTopLayer()
  const before = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!shown) return
    const timer = setTimeout(() => leave(before.current, shown), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [shown])
  if (!shown) return null
  const { action } = shown
  return createPortal(
    <section
      className="toast"
      key={shown.id}
      aria-label="Message"
      onFocus={(event: FocusEvent) => {
        if (event.relatedTarget instanceof HTMLElement) before.current = event.relatedTarget
      }}
    >
      <span>{shown.text}</span>
      {action && (
        <button
          type="button"
          onClick={() => {
            leave(before.current, shown)
            action.run()
          }}
        >
          {action.label}
        </button>
      )}
    </section>,
    layer,
  )
}

import { type FocusEvent, useEffect, useRef } from 'react'
import { createPortal, flushSync } from 'react-dom'
import { announce } from './announcer.tsx'
import { useTopLayer } from './layers.ts'
import { Store, useStore } from './store.ts'

export interface ToastAction {
  label: string
  run: () => void
}
interface Toast {
  id: number
  text: string
  action?: ToastAction
}
const SHOWN_MS = 6_000
const toast = new Store<Toast | undefined>(undefined)
let count = 0

/** Shows a toast with an optional action. It replaces the previous one. Returns a function that hides it. */
export function showToast(text: string, action?: ToastAction): () => void {
  const shown: Toast = { id: ++count, text, ...(action && { action }) }
  toast.set(shown)
  announce(text)
  return () => toast.update((now) => (now === shown ? undefined : now))
}

/** Hides the toast. If it has the focus, the focus goes back to where it was before. */
function hideToast(before: HTMLElement | null, shown: Toast) {
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
    const timer = setTimeout(() => hideToast(before.current, shown), SHOWN_MS)
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
            hideToast(before.current, shown)
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

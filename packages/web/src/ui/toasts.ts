import { announce } from './announcer.tsx'
import { Store } from './store.ts'

export interface ToastAction {
  label: string
  run: () => void
}
export interface ShownToast {
  text: string
  action?: ToastAction | undefined
}
export const toast = new Store<ShownToast | undefined>(undefined)

/** Shows a toast with an optional action. It replaces the previous one. Returns a function that hides it. */
export function showToast(text: string, action?: ToastAction): () => void {
  const shown: ShownToast = { text, action }
  toast.set(shown)
  announce(text)
  return () => toast.update((now) => (now === shown ? undefined : now))
}

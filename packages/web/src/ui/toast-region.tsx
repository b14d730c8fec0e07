import { lazyComponent, whenIdle } from './lazy-component.tsx'
import { useStore } from './store.ts'
import { toast } from './toasts.ts'

const ToastView = lazyComponent(async () => (await import('./toast-view.tsx')).ToastView)
whenIdle(() => void ToastView.fetch())
let wasShown = false

export function Toasts() {
  const isShown = useStore(toast) !== undefined
  wasShown ||= isShown
  return wasShown && <ToastView />
}

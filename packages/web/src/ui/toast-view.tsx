import { Toast } from '@base-ui/react/toast'
import { useEffect } from 'react'
import { t } from './messages.ts'
import { useStore } from './store.ts'
import { toast } from './toasts.ts'

const SHOWN_MS = 6_000
const manager = Toast.createToastManager()

/** Shows the current toast. F6 moves the focus to it. Not a live region: `showToast` announces the text. */
export function ToastView() {
  const shown = useStore(toast)
  useEffect(() => {
    if (!shown) return
    const { text, action } = shown
    const hide = () => toast.update((now) => (now === shown ? undefined : now))
    const id = manager.add({
      title: text,
      timeout: SHOWN_MS,
      onClose: hide,
      ...(action && {
        actionProps: {
          children: action.label,
          onClick: () => {
            hide()
            action.run()
          },
        },
      }),
    })
    return () => manager.close(id)
  }, [shown])
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className="toasts" aria-label={t.messages} aria-live="off">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  const { toasts } = Toast.useToastManager()
  return toasts.map((each) => (
    <Toast.Root key={each.id} toast={each} className="toast">
      <Toast.Content className="toast-content">
        <Toast.Title render={<span dir="auto" />} />
        {each.actionProps && <Toast.Action />}
      </Toast.Content>
    </Toast.Root>
  ))
}

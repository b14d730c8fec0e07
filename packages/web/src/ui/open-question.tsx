import { AlertDialog } from '@base-ui/react/alert-dialog'
import { type Question, question } from './confirm.ts'
import { t } from './messages.ts'

/** The dialog of a question, while it is open. */
export function OpenQuestion({ title, text, action, resolve }: Question) {
  const answer = (isConfirmed: boolean) => {
    question.set(undefined)
    // After the dialog has returned the focus: what is deleted then may have it, and passes it on.
    setTimeout(() => resolve(isConfirmed))
  }
  return (
    <AlertDialog.Root open onOpenChange={() => answer(false)}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" forceRender />
        <AlertDialog.Viewport className="dialog-viewport">
          <AlertDialog.Popup className="layer dialog is-small">
            <div className="dialog-body confirmation">
              <AlertDialog.Title dir="auto">{title}</AlertDialog.Title>
              {text && <AlertDialog.Description>{text}</AlertDialog.Description>}
              <div className="dialog-foot">
                <AlertDialog.Close className="button">{t.cancel}</AlertDialog.Close>
                <button type="button" className="button is-danger" onClick={() => answer(true)}>
                  {action}
                </button>
              </div>
            </div>
          </AlertDialog.Popup>
        </AlertDialog.Viewport>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}

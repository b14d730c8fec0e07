import type { User } from '@lockstep/client'
import { logOut } from '../session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { LoginForm } from './login-form.tsx'
import { t } from './messages.ts'
import './account.css'

interface LoginDialogProps {
  user: User
  title?: string
  text?: string
  onDone?: () => void
  onClose?: () => void
}

/**
 * Asks for the password over a page, which keeps its state. By default it is about a session that has ended: queued changes
 * wait, and closing it logs out.
 */
export function LoginDialog({
  user,
  title = t.sessionEnded,
  text = t.logInAgain,
  onDone = () => {},
  onClose = () => void logOut(),
}: LoginDialogProps) {
  return (
    <Dialog title={title} size="small" isOnTop onClose={onClose}>
      <div className="dialog-body">
        <p>{text}</p>
        <LoginForm email={user.email} onDone={onDone} />
      </div>
    </Dialog>
  )
}

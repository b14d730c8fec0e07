import type { User } from '@lockstep/client'
import { logOut } from '../session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { LoginForm } from './login-form.tsx'
import { t } from './messages.ts'
import './account.css'

/** Shown when the session ends while a page is open. The page keeps its state, and queued changes wait. */
export function LoginDialog({ user }: { user: User }) {
  return (
    <Dialog title={t.sessionEnded} size="small" onClose={() => void logOut()}>
      <div className="dialog-body">
        <p>{t.logInAgain}</p>
        <LoginForm email={user.email} onDone={() => {}} />
      </div>
    </Dialog>
  )
}

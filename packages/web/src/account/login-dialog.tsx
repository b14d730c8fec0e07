import type { User } from '@lockstep/client'
import { logOut } from '../session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { LoginForm } from './login-form.tsx'
import './account.css'

/** Shown when the session ends while a page is open. The page keeps its state, and queued changes wait. */
export function LoginDialog({ user }: { user: User }) {
  return (
    <Dialog title="Your session has ended" size="small" onClose={() => void logOut()}>
      <div className="dialog-body">
        <p>Log in again to continue. Your changes are saved and will be sent after you log in.</p>
        <LoginForm email={user.email} onDone={() => {}} />
      </div>
    </Dialog>
  )
}

import type { User } from '@lockstep/client'
import { logOut } from '../session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { LoginForm } from './login-form.tsx'
import './account.css'

/** The session is over while a page is open. The page stays as it is, with what was typed; its changes wait. */
export function LoginDialog({ user }: { user: User }) {
  return (
    <Dialog title="Your session has ended" size="small" onClose={() => void logOut()}>
      <div className="dialog-body">
        <p>Log in again to go on. Nothing is lost: what you changed meanwhile is sent afterwards.</p>
        <LoginForm email={user.email} onDone={() => {}} />
      </div>
    </Dialog>
  )
}

import { Link, Redirect, useLocation, useSearch } from 'wouter'
import { session } from '../session.ts'
import { useStore } from '../ui/store.ts'
import { AccountFrame } from './account-frame.tsx'
import { LoginForm } from './login-form.tsx'
import { t } from './messages.ts'
import { nextOf } from './next.ts'

export function LoginPage() {
  const [, navigate] = useLocation()
  const search = useSearch()
  const { state } = useStore(session)
  if (state === 'in') return <Redirect to={nextOf(search)} replace />
  return (
    <AccountFrame title={t.logIn}>
      <LoginForm onDone={() => navigate(nextOf(search), { replace: true })} />
      <p className="account-other">
        {t.newHere} <Link href={`/register${search && `?${search}`}`}>{t.createAccount}</Link>
      </p>
    </AccountFrame>
  )
}

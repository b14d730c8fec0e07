import { Link, useLocation, useSearch } from 'wouter'
import { AccountFrame } from './account-frame.tsx'
import { t } from './messages.ts'
import { nextOf } from './next.ts'
import { RegisterForm } from './register-form.tsx'

export function RegisterPage() {
  const [, navigate] = useLocation()
  const search = useSearch()
  return (
    <AccountFrame title={t.createAccount}>
      <RegisterForm onDone={() => navigate(nextOf(search), { replace: true })} />
      <p className="account-other">
        {t.haveAccount} <Link href={`/login${search && `?${search}`}`}>{t.logIn}</Link>
      </p>
    </AccountFrame>
  )
}

import { Link, useLocation, useSearch } from 'wouter'
import { client, logIn } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { AccountFrame } from './account-frame.tsx'
import { FormAlert } from './form-alert.tsx'
import { t } from './messages.ts'
import { nextOf } from './next.ts'
import { useForm } from './use-form.ts'

const empty = { email: '', username: '', firstname: '', lastname: '', password: '' }
const fieldsByCode = { email_taken: 'email', username_taken: 'username', password_refused: 'password' } as const

const required = {
  email: t.enterEmail,
  username: t.chooseUsername,
  password: t.choosePassword,
}

export function RegisterPage() {
  const [, navigate] = useLocation()
  const search = useSearch()
  const send = async (values: typeof empty) => {
    const { firstname, lastname, ...fields } = values
    await client.register({ ...fields, firstname: firstname || null, lastname: lastname || null })
    await logIn(values.email, values.password)
    navigate(nextOf(search), { replace: true })
  }
  const { form, field, failure, isBusy } = useForm(empty, fieldsByCode, send, required)
  return (
    <AccountFrame title={t.createAccount}>
      <form className="account-form" {...form}>
        <FormAlert text={failure} />
        <Field label={t.email} type="email" autoComplete="username" autoFocus {...field('email')} />
        <Field label={t.username} autoComplete="nickname" hint={t.usernameHint} {...field('username')} />
        <Field
          label={t.password}
          type="password"
          autoComplete="new-password"
          hint={t.passwordHint}
          {...field('password')}
        />
        <div className="field-pair">
          <Field label={t.firstName} autoComplete="given-name" isOptional {...field('firstname')} />
          <Field label={t.lastName} autoComplete="family-name" isOptional {...field('lastname')} />
        </div>
        <button type="submit" className="button is-primary" aria-disabled={isBusy}>
          {isBusy ? t.creatingAccount : t.createAccount}
        </button>
      </form>
      <p className="account-other">
        {t.haveAccount} <Link href={`/login${search && `?${search}`}`}>{t.logIn}</Link>
      </p>
    </AccountFrame>
  )
}

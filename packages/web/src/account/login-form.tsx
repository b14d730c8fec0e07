import { useState } from 'react'
import { logIn } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { FormAlert } from './form-alert.tsx'
import { t } from './messages.ts'
import { ShowPassword } from './show-password.tsx'
import { useForm } from './use-form.ts'

const required = { email: t.enterEmail, password: t.enterPassword }

/** Email and password. The input stays after a failed login. */
export function LoginForm({ email = '', onDone }: { email?: string; onDone: () => void }) {
  const [isShown, setShown] = useState(false)
  const send = async (values: { email: string; password: string }) => {
    await logIn(values.email, values.password)
    onDone()
  }
  const { form, field, failure, isBusy } = useForm({ email, password: '' }, {}, send, required)
  return (
    <form className="account-form" {...form}>
      <FormAlert text={failure} />
      <Field
        label={t.email}
        type="email"
        autoComplete="username"
        autoFocus={!email}
        {...field('email')}
        name="username"
      />
      <Field
        label={t.password}
        type={isShown ? 'text' : 'password'}
        autoComplete="current-password"
        autoFocus={email !== ''}
        {...field('password')}
      />
      <ShowPassword isShown={isShown} onChange={setShown} />
      <button type="submit" className="button is-primary" aria-disabled={isBusy}>
        {isBusy ? t.loggingIn : t.logIn}
      </button>
    </form>
  )
}

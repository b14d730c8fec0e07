import { useState } from 'react'
import { logIn } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { FormAlert } from './form-alert.tsx'
import { useForm } from './use-form.ts'

const needed = { email: 'Enter your e-mail address.', password: 'Enter your password.' }

/** E-mail and password. What was typed stays when it was wrong. */
export function LoginForm({ email = '', onDone }: { email?: string; onDone: () => void }) {
  const [isShown, setShown] = useState(false)
  const send = async (values: { email: string; password: string }) => {
    await logIn(values.email, values.password)
    onDone()
  }
  const { form, field, failure, isBusy } = useForm({ email, password: '' }, {}, send, needed)
  return (
    <form className="account-form" {...form}>
      <FormAlert text={failure} />
      <Field
        label="E-mail"
        type="email"
        autoComplete="username"
        autoFocus={!email}
        {...field('email')}
        name="username"
      />
      <Field
        label="Password"
        type={isShown ? 'text' : 'password'}
        autoComplete="current-password"
        autoFocus={email !== ''}
        {...field('password')}
      />
      <label className="check">
        <input type="checkbox" checked={isShown} onChange={() => setShown(!isShown)} /> Show the password
      </label>
      <button type="submit" className="button is-primary" aria-disabled={isBusy}>
        {isBusy ? 'Logging in…' : 'Log in'}
      </button>
    </form>
  )
}

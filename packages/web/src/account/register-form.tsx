import { useState } from 'react'
import { client, logIn } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { FormAlert } from './form-alert.tsx'
import { t } from './messages.ts'
import { ShowPassword } from './show-password.tsx'
import { useForm } from './use-form.ts'

const empty = { email: '', username: '', firstname: '', lastname: '', password: '' }
const fieldsByCode = {
  email_taken: 'email',
  wrong_invited_email: 'email',
  username_taken: 'username',
  password_refused: 'password',
} as const

const required = {
  email: t.enterEmail,
  username: t.chooseUsername,
  password: t.choosePassword,
}

interface RegisterFormProps {
  email?: string | undefined
  /** The secret of an invitation link. */
  invitation?: string
  onDone: () => void | Promise<void>
}

/** Creates an account and logs in. */
export function RegisterForm({ email = '', invitation, onDone }: RegisterFormProps) {
  const send = async (values: typeof empty) => {
    const { firstname, lastname, ...fields } = values
    const names = { firstname: firstname || null, lastname: lastname || null }
    await client.register({ ...fields, ...names, ...(invitation && { invitation }) })
    await logIn(values.email, values.password)
    await onDone()
  }
  const [isShown, setShown] = useState(false)
  const { form, field, failure, isBusy } = useForm({ ...empty, email }, fieldsByCode, send, required)
  return (
    <form className="account-form" {...form}>
      <FormAlert text={failure} />
      <Field label={t.email} type="email" autoComplete="username" autoFocus={email === ''} {...field('email')} />
      <Field
        label={t.username}
        autoComplete="nickname"
        autoFocus={email !== ''}
        hint={t.usernameHint}
        {...field('username')}
      />
      <Field
        label={t.password}
        type={isShown ? 'text' : 'password'}
        autoComplete="new-password"
        hint={t.passwordHint}
        {...field('password')}
      />
      <ShowPassword isShown={isShown} onChange={setShown} />
      <div className="field-pair">
        <Field label={t.firstName} autoComplete="given-name" isOptional {...field('firstname')} />
        <Field label={t.lastName} autoComplete="family-name" isOptional {...field('lastname')} />
      </div>
      <button type="submit" className="button is-primary" aria-disabled={isBusy}>
        {isBusy ? t.creatingAccount : t.createAccount}
      </button>
    </form>
  )
}

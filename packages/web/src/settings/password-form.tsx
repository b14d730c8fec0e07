import { useState } from 'react'
import { FormAlert } from '../account/form-alert.tsx'
import { useForm } from '../account/use-form.ts'
import { changePassword } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

const empty = { current_password: '', new_password: '' }
const fieldsByCode = { wrong_password: 'current_password', password_refused: 'new_password' } as const

/** Changes the password. The hidden username field helps password managers. */
export function PasswordForm({ email, onTokensRevoked }: { email: string; onTokensRevoked: () => void }) {
  const [isShown, setShown] = useState(false)
  const [revokesTokens, setRevokesTokens] = useState(false)
  const { form, field, failure, isBusy, setValues } = useForm(empty, fieldsByCode, async (values) => {
    await changePassword({ ...values, revoke_tokens: revokesTokens })
    setValues(empty)
    showToast(t.passwordChanged)
    if (revokesTokens) onTokensRevoked()
  })
  const type = isShown ? 'text' : 'password'
  return (
    <form className="setting-form" {...form}>
      <FormAlert text={failure} />
      <input type="email" name="username" autoComplete="username" value={email} readOnly hidden />
      <Field label={t.currentPassword} type={type} autoComplete="current-password" {...field('current_password')} />
      <Field
        label={t.newPassword}
        type={type}
        autoComplete="new-password"
        hint={t.newPasswordHint}
        {...field('new_password')}
      />
      <label className="check">
        <input type="checkbox" checked={isShown} onChange={() => setShown(!isShown)} /> {t.showPasswords}
      </label>
      <label className="check">
        <input type="checkbox" checked={revokesTokens} onChange={() => setRevokesTokens(!revokesTokens)} />{' '}
        {t.revokeTokens}
      </label>
      <button type="submit" className="button is-primary" aria-disabled={isBusy}>
        {isBusy ? t.changingPassword : t.changePassword}
      </button>
    </form>
  )
}

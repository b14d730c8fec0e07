import { isLockstepError } from '@lockstep/client'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { client, startSession } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { showToast } from '../ui/toasts.ts'
import { AccountFrame } from './account-frame.tsx'
import { FormAlert } from './form-alert.tsx'
import { InvalidLink } from './invite-page.tsx'
import { useLinkToken } from './link-token.ts'
import { t } from './messages.ts'
import { ShowPassword } from './show-password.tsx'
import { useForm } from './use-form.ts'

const fieldsByCode = { password_refused: 'new_password' } as const
const required = { new_password: t.choosePassword }

/** The page of a reset link. */
export function ResetPage() {
  const token = useLinkToken()
  return token === undefined ? <InvalidLink /> : <ResetForm key={token} token={token} />
}

function ResetForm({ token }: { token: string }) {
  const [, navigate] = useLocation()
  const [isShown, setShown] = useState(false)
  const [isInvalid, setInvalid] = useState(false)
  const send = async ({ new_password }: { new_password: string }) => {
    try {
      await client.resetPasswordByLink({ token, new_password })
    } catch (error) {
      if (!isLockstepError(error, 'link_invalid')) throw error
      return setInvalid(true)
    }
    showToast(t.passwordChanged)
    // If this browser was logged in with the account, its session has ended too.
    await startSession()
    navigate('/login', { replace: true })
  }
  const { form, field, failure, isBusy } = useForm({ new_password: '' }, fieldsByCode, send, required)
  if (isInvalid) return <InvalidLink />
  return (
    <AccountFrame title={t.chooseNewPassword}>
      <form className="account-form" {...form}>
        <FormAlert text={failure} />
        <Field
          label={t.newPassword}
          type={isShown ? 'text' : 'password'}
          autoComplete="new-password"
          autoFocus
          hint={t.passwordHint}
          {...field('new_password')}
        />
        <ShowPassword isShown={isShown} onChange={setShown} />
        <button type="submit" className="button is-primary" aria-disabled={isBusy}>
          {isBusy ? t.savingPassword : t.savePassword}
        </button>
      </form>
    </AccountFrame>
  )
}

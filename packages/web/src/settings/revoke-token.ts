import { type AccessToken, isLockstepError } from '@lockstep/client'
import { confirmAction } from '../ui/confirm.ts'
import { errorMessage } from '../ui/failure.tsx'
import { showToast } from '../ui/toasts.ts'
import { t } from './token-messages.ts'

/** Asks, then revokes a token. Returns whether it is gone. */
export async function revokeToken({ name }: AccessToken, revoke: () => Promise<unknown>): Promise<boolean> {
  const question = { title: t.revokeTitle({ name }), text: t.revokeText, action: t.revoke }
  if (!(await confirmAction(question))) return false
  try {
    await revoke()
  } catch (error) {
    // It was revoked elsewhere, or by an attempt whose response was lost.
    if (!isLockstepError(error, 'token_not_found')) {
      showToast(errorMessage(error))
      return false
    }
  }
  showToast(t.revoked({ name }))
  return true
}

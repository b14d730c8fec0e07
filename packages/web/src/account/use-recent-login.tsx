import { isLockstepError } from '@lockstep/client'
import { useState } from 'react'
import { me } from '../session.ts'
import { LoginDialog } from './login-dialog.tsx'

/** For requests that need a recent login. If it is too old, asks for the password and sends the request again. */
export function useRecentLogin(title: string, text: string) {
  /** Called with the answer to the login dialog, while it is open. */
  const [answerLogin, setAnswerLogin] = useState<(isLoggedIn: boolean) => void>()
  const logInAgain = () => new Promise<boolean>((resolve) => setAnswerLogin(() => resolve))
  return {
    /** Returns `undefined` if the user closed the dialog. */
    withRecentLogin: async <T,>(send: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await send()
      } catch (error) {
        if (!isLockstepError(error, 'login_too_old')) throw error
        const isLoggedIn = await logInAgain()
        setAnswerLogin(undefined)
        return isLoggedIn ? send() : undefined
      }
    },
    loginDialog: answerLogin && (
      <LoginDialog
        user={me()}
        title={title}
        text={text}
        onDone={() => answerLogin(true)}
        onClose={() => answerLogin(false)}
      />
    ),
  }
}

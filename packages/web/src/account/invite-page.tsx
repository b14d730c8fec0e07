import { type InvitationPreview, isLockstepError } from '@lockstep/client'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { client, logOut, session } from '../session.ts'
import { errorMessage, Failure } from '../ui/failure.tsx'
import { nameOf } from '../ui/people.tsx'
import { useStore } from '../ui/store.ts'
import { AccountFrame } from './account-frame.tsx'
import { FormAlert } from './form-alert.tsx'
import { useLinkToken } from './link-token.ts'
import { LoginForm } from './login-form.tsx'
import { t } from './messages.ts'
import { RegisterForm } from './register-form.tsx'

/** The page of an invitation link: says who invites to what, and leads to the board. */
export function InvitePage() {
  const token = useLinkToken()
  return token === undefined ? <InvalidLink /> : <Invitation key={token} token={token} />
}

function Invitation({ token }: { token: string }) {
  const [preview, setPreview] = useState<InvitationPreview>()
  const [error, setError] = useState<unknown>()
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempt` repeats the request
  useEffect(() => {
    const abort = new AbortController()
    setError(undefined)
    client.readInvitation({ token }, { signal: abort.signal }).then(setPreview, (failure: unknown) => {
      if (!abort.signal.aborted) setError(failure)
    })
    return () => abort.abort()
  }, [token, attempt])
  if (isLockstepError(error, 'link_invalid')) return <InvalidLink />
  if (error !== undefined)
    return (
      <AccountFrame title={t.invitation}>
        <Failure error={error} onRetry={() => setAttempt(attempt + 1)} />
      </AccountFrame>
    )
  return preview ? (
    <Offer token={token} preview={preview} />
  ) : (
    <AccountFrame title={t.invitation}>{t.loading}</AccountFrame>
  )
}

/** For a new person a form for the account, otherwise a button. */
function Offer({ token, preview }: { token: string; preview: InvitationPreview }) {
  const { board_title: board, invited_by: name, role, email, is_claimed } = preview
  const [, navigate] = useLocation()
  const { state, user } = useStore(session)
  const [hasAccount, setHasAccount] = useState(is_claimed)
  const [isJoining, setJoining] = useState(false)
  const [problem, setProblem] = useState<string>()
  const join = async () => {
    if (isJoining) return
    setJoining(true)
    setProblem(undefined)
    try {
      // Registration has used an invitation to the service up.
      const { board_id } = board === null ? { board_id: null } : await client.acceptInvitation({ token })
      navigate(board_id === null ? '/boards' : `/b/${board_id}`, { replace: true })
    } catch (error) {
      setProblem(errorMessage(error))
      setJoining(false)
    }
  }
  const frame = (content: ReactNode) => (
    <AccountFrame title={board === null ? t.joinLockstep : t.joinBoard({ board })}>
      <p dir="auto">
        {board !== null && name !== null ? t.invitesYou({ name, board }) : t.operatorInvitesYou}
        {role === 'owner' && ` ${t.asOwner}`}
      </p>
      {content}
    </AccountFrame>
  )
  if (state === 'in' && user)
    return frame(
      <>
        <FormAlert text={problem} />
        <p>
          {t.loggedInAs({ name: nameOf(user) })}{' '}
          <button type="button" className="link-button" onClick={() => void logOut()}>
            {t.useAnotherAccount}
          </button>
        </p>
        {board === null ? (
          <Link className="button is-primary" href="/boards">
            {t.yourBoards}
          </Link>
        ) : (
          <button type="button" className="button is-primary" aria-disabled={isJoining} onClick={() => void join()}>
            {isJoining ? t.joining : t.join}
          </button>
        )}
      </>,
    )
  return frame(
    <>
      {hasAccount ? (
        <LoginForm email={email ?? ''} onDone={() => void join()} />
      ) : (
        <RegisterForm email={email ?? undefined} invitation={token} onDone={join} />
      )}
      {!is_claimed && (
        <p className="account-other">
          {hasAccount ? t.newHere : t.haveAccount}{' '}
          <button type="button" className="link-button" onClick={() => setHasAccount(!hasAccount)}>
            {hasAccount ? t.createAccount : t.logIn}
          </button>
        </p>
      )}
    </>,
  )
}

/** One text for a link that is wrong, used, revoked or expired: the server does not tell them apart. */
export function InvalidLink() {
  const { user } = useStore(session)
  return (
    <AccountFrame title={t.linkInvalid}>
      <p>{t.linkInvalidText}</p>
      <Link className="button is-primary" href="/boards">
        {user ? t.yourBoards : t.logIn}
      </Link>
    </AccountFrame>
  )
}

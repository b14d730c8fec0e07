import { type AccessToken, isLockstepError, type NewAccessToken } from '@lockstep/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { boardList, loadBoards } from '../board-state/board-list.ts'
import { client } from '../session.ts'
import { copyText } from '../ui/clipboard.ts'
import { Failure } from '../ui/failure.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { Icon } from '../ui/icon.tsx'
import { useStore } from '../ui/store.ts'
import { NewTokenForm } from './new-token-form.tsx'
import { revokeToken } from './revoke-token.ts'
import { t } from './token-messages.ts'
import { TokenRow } from './token-row.tsx'

/** The user's access tokens. A new token is shown once, and kept nowhere. */
export function AccessTokens() {
  const [tokens, setTokens] = useState<readonly AccessToken[]>()
  const { boards = [] } = useStore(boardList)
  const [failure, setFailure] = useState<unknown>()
  const [created, setCreated] = useState<NewAccessToken>()
  const [isCreating, setCreating] = useState(false)
  const newButton = useRef<HTMLButtonElement>(null)
  const load = useCallback(() => {
    setFailure(undefined)
    Promise.all([client.listTokens(), loadBoards()]).then(([found]) => setTokens(found), setFailure)
  }, [])
  useEffect(load, [load])
  if (isLockstepError(failure, 'not_found')) return <p className="setting-hint">{t.turnedOff}</p>
  if (failure) return <Failure error={failure} onRetry={load} />
  if (!tokens) return <p className="setting-hint">{t.loading}</p>

  const focusNew = () => focusAfterRender(() => newButton.current)
  const close = () => {
    setCreating(false)
    setCreated(undefined)
    focusNew()
  }
  const add = ({ token, ...shown }: NewAccessToken) => {
    setTokens([shown, ...tokens])
    setCreated({ ...shown, token })
    setCreating(false)
  }
  const revoke = async (token: AccessToken) => {
    if (!(await revokeToken(token, () => client.revokeToken({ token_id: token.id })))) return
    setTokens((now) => now?.filter(({ id }) => id !== token.id))
    setCreated((now) => (now?.id === token.id ? undefined : now))
    focusNew()
  }
  const nameOfBoard = (board_id: string | null) =>
    board_id === null ? t.allBoards : (boards.find(({ id }) => id === board_id)?.title ?? t.unknownBoard)
  return (
    <>
      <p className="setting-hint">{t.hint}</p>
      {created && <CreatedToken created={created} onClose={close} />}
      {isCreating && <NewTokenForm onCreated={add} onCancel={close} />}
      {!isCreating && !created && (
        <button ref={newButton} type="button" className="button" onClick={() => setCreating(true)}>
          <Icon name="plus" /> {t.newToken}
        </button>
      )}
      {tokens.length === 0 ? (
        <p className="setting-hint">{t.none}</p>
      ) : (
        <ul className="tokens" aria-label={t.accessTokens}>
          {tokens.map((token) => (
            <TokenRow
              key={token.id}
              token={token}
              about={nameOfBoard(token.board_id)}
              onRevoke={() => void revoke(token)}
            />
          ))}
        </ul>
      )}
    </>
  )
}

function CreatedToken({ created: { name, token }, onClose }: { created: NewAccessToken; onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <div className="token-created">
      <p role="status">{t.copyNow({ name })}</p>
      <input
        ref={field}
        className="input"
        readOnly
        autoComplete="off"
        spellCheck={false}
        aria-label={t.token}
        value={token}
        onFocus={(event) => event.target.select()}
      />
      <div className="token-actions">
        <button type="button" className="button is-primary" onClick={() => void copyText(token, t.copied)}>
          <Icon name="link" /> {t.copy}
        </button>
        <button type="button" className="button" onClick={onClose}>
          {t.done}
        </button>
      </div>
    </div>
  )
}

import type { Webhook } from '@lockstep/client'
import { useLayoutEffect, useRef, useState } from 'react'
import { useRecentLogin } from '../account/use-recent-login.tsx'
import { client } from '../session.ts'
import { announce } from '../ui/announcer.tsx'
import { copyText } from '../ui/clipboard.ts'
import { confirmAction } from '../ui/confirm.ts'
import { fullDate, shortDate } from '../ui/dates.ts'
import { Failure } from '../ui/failure.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { Icon } from '../ui/icon.tsx'
import { t } from './messages.ts'

interface SecretSectionProps {
  webhook: Webhook
  onReplace: (() => Promise<unknown>) | undefined
}

/** The secret of a webhook, on request. It is kept nowhere else, and hidden when the dialog closes. */
export function SecretSection({ webhook, onReplace }: SecretSectionProps) {
  const { board_id, id, name, old_secret_until } = webhook
  const [secret, setSecret] = useState<string>()
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const showButton = useRef<HTMLButtonElement>(null)
  const { withRecentLogin, loginDialog } = useRecentLogin(t.logInAgain, t.logInAgainText)
  const attempt = async (act: () => Promise<void>) => {
    if (isBusy) return
    setBusy(true)
    setFailure(undefined)
    try {
      await act()
    } catch (error) {
      setFailure(error)
    }
    setBusy(false)
  }
  const show = () =>
    attempt(async () => {
      const found = await withRecentLogin(() => client.getWebhookSecret({ board_id, webhook_id: id }))
      setSecret(found?.secret)
    })
  const hide = () => {
    setSecret(undefined)
    focusAfterRender(() => showButton.current)
  }
  const replace = async (run: () => Promise<unknown>) => {
    const question = { title: t.replaceTitle({ name }), text: t.replaceText, action: t.replaceSecret }
    if (!(await confirmAction(question))) return
    await attempt(async () => {
      await run()
      setSecret(undefined)
      announce(t.secretReplaced)
    })
  }
  const isOldValid = old_secret_until !== null && Date.parse(old_secret_until) > Date.now()
  return (
    <section className="webhook-section" aria-labelledby="webhook-secret">
      <h4 id="webhook-secret">{t.secret}</h4>
      <p className="webhooks-hint">
        {t.secretHint}{' '}
        {isOldValid && (
          <span title={fullDate(old_secret_until)}>{t.bothSign({ when: shortDate(old_secret_until) })}</span>
        )}
      </p>
      {secret !== undefined && <SecretField secret={secret} />}
      <div className="webhook-buttons">
        {secret === undefined ? (
          <button ref={showButton} type="button" className="button" aria-disabled={isBusy} onClick={() => void show()}>
            <Icon name="eye" /> {t.showSecret}
          </button>
        ) : (
          <>
            <button type="button" className="button is-primary" onClick={() => void copyText(secret, t.secretCopied)}>
              <Icon name="link" /> {t.copy}
            </button>
            <button type="button" className="button" onClick={hide}>
              {t.hideSecret}
            </button>
          </>
        )}
        {onReplace && (
          <button type="button" className="button" aria-disabled={isBusy} onClick={() => void replace(onReplace)}>
            {t.replaceSecret}
          </button>
        )}
      </div>
      {failure !== undefined && <Failure error={failure} />}
      {loginDialog}
    </section>
  )
}

function SecretField({ secret }: { secret: string }) {
  const field = useRef<HTMLInputElement>(null)
  // A layout effect, in the commit that removes the focused button. Otherwise the dialog takes the lost focus in the next frame.
  useLayoutEffect(() => field.current?.focus(), [])
  return (
    <input
      ref={field}
      className="input"
      readOnly
      autoComplete="off"
      spellCheck={false}
      dir="ltr"
      aria-label={t.secret}
      value={secret}
      onFocus={(event) => event.target.select()}
    />
  )
}

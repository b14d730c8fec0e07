import type { Webhook } from '@lockstep/client'
import { useRef, useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { confirmAction } from '../ui/confirm.ts'
import { Failure } from '../ui/failure.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { Icon } from '../ui/icon.tsx'
import { Deliveries } from './deliveries.tsx'
import { summaryOf } from './event-kinds.ts'
import { t } from './messages.ts'
import { TestResult, useTestEvent } from './test-event.tsx'
import type { WebhookActions, WebhookChanges } from './use-webhooks.ts'
import { WebhookForm } from './webhook-form.tsx'
import { SecretSection } from './webhook-secret.tsx'
import { Facts, StateChip, stateText } from './webhook-state.tsx'

interface WebhookDetailProps {
  webhook: Webhook
  actions: WebhookActions
  isReadOnly: boolean
  onDeleted: () => void
}

export function WebhookDetail({ webhook, actions, isReadOnly, onDeleted }: WebhookDetailProps) {
  const { id, name, url, kinds, is_enabled, state, behind } = webhook
  const [isEditing, setEditing] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const test = useTestEvent(webhook)
  const edit = useRef<HTMLButtonElement>(null)
  const attempt = async (act: () => Promise<unknown>, confirmation: string): Promise<boolean> => {
    if (isBusy) return false
    setBusy(true)
    setFailure(undefined)
    try {
      await act()
      announce(confirmation)
      return true
    } catch (error) {
      setFailure(error)
      return false
    } finally {
      setBusy(false)
    }
  }
  const resume = (after?: 'now') => attempt(() => actions.resume(id, after), t.resumed({ name }))
  const resumeFromNow = async () => {
    const question = { title: t.skipTitle({ count: behind }), text: t.skipText, action: t.skip }
    if (await confirmAction(question)) await resume('now')
  }
  const toggle = () =>
    attempt(
      () => actions.update(id, { is_enabled: !is_enabled }),
      is_enabled ? t.disabledNow({ name }) : t.enabledNow({ name }),
    )
  const remove = async () => {
    const question = { title: t.deleteTitle({ name }), text: t.deleteText, action: t.deleteAction }
    if (!(await confirmAction(question))) return
    if (await attempt(() => actions.remove(id), t.deleted({ name }))) onDeleted()
  }
  const closeForm = () => {
    setEditing(false)
    focusAfterRender(() => edit.current)
  }
  if (isEditing && !isReadOnly)
    return (
      <WebhookForm
        webhook={webhook}
        onSave={async (fields) => {
          const changed = changesOf(webhook, fields)
          return Object.keys(changed).length === 0 ? webhook : actions.update(id, changed)
        }}
        onSaved={closeForm}
        onCancel={closeForm}
      />
    )
  const isStopped = state === 'paused' || state === 'retrying'
  return (
    <>
      <div className="webhook-about">
        <h3 dir="auto">{name}</h3>
        <p>
          <code dir="ltr">{url}</code>
        </p>
        <p>
          <KindSummary kinds={kinds} />
        </p>
      </div>
      <section className={`webhook-status is-${state}`} aria-label={t.state}>
        <p>
          <StateChip state={state} /> <span>{stateText(webhook)}</span>
        </p>
        <p className="webhook-facts">
          <Facts webhook={webhook} />
        </p>
        {isStopped && !isReadOnly && (
          <p className="webhook-buttons">
            <button type="button" className="button is-primary" aria-disabled={isBusy} onClick={() => void resume()}>
              {state === 'paused' ? t.resume : t.retryNow}
            </button>
            {behind > 0 && (
              <button type="button" className="button" aria-disabled={isBusy} onClick={() => void resumeFromNow()}>
                {t.resumeFromNow}
              </button>
            )}
          </p>
        )}
      </section>
      {!isReadOnly && (
        <div className="webhook-buttons">
          <button type="button" className="button" aria-disabled={test.isBusy} onClick={() => void test.send()}>
            <Icon name="send" /> {test.isBusy ? t.sending : t.sendTest}
          </button>
          <button ref={edit} type="button" className="button" onClick={() => setEditing(true)}>
            <Icon name="edit" /> {t.edit}
          </button>
          <button type="button" className="button" aria-disabled={isBusy} onClick={() => void toggle()}>
            {is_enabled ? t.disable : t.enable}
          </button>
          <button
            type="button"
            className="button is-quiet webhook-delete"
            aria-disabled={isBusy}
            onClick={() => void remove()}
          >
            <Icon name="trash" /> {t.delete}
          </button>
        </div>
      )}
      <TestResult {...test} />
      {failure !== undefined && <Failure error={failure} />}
      <SecretSection webhook={webhook} onReplace={isReadOnly ? undefined : () => actions.replaceSecret(id)} />
      <Deliveries webhook={webhook} tests={test.count} />
    </>
  )
}

/** Only what differs: a URL that is sent resumes the webhook, also if it is the same. */
function changesOf(webhook: Webhook, { name, url, kinds, is_enabled }: Required<WebhookChanges>): WebhookChanges {
  const isOther = (one: readonly string[] | null, other: readonly string[] | null) =>
    one?.toSorted().join() !== other?.toSorted().join()
  return {
    ...(name !== webhook.name && { name }),
    ...(url !== webhook.url && { url }),
    ...(isOther(kinds, webhook.kinds) && { kinds }),
    ...(is_enabled !== webhook.is_enabled && { is_enabled }),
  }
}

function KindSummary({ kinds }: Pick<Webhook, 'kinds'>) {
  if (!kinds) return t.allEvents
  if (kinds.length === 0) return t.noEvents
  const { groups, others } = summaryOf(kinds)
  return (
    <span className="webhook-facts">
      {groups.map((label) => (
        <span key={label}>{label}</span>
      ))}
      {others.map((kind) => (
        <code key={kind}>{kind}</code>
      ))}
    </span>
  )
}

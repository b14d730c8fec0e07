import type { Webhook, WebhookDelivery } from '@lockstep/client'
import { useState } from 'react'
import { fullDate } from '../ui/dates.ts'
import { Failure } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { t } from './messages.ts'
import { preciseTime } from './precise-time.ts'
import { useDeliveries } from './use-deliveries.ts'

interface DeliveriesProps {
  webhook: Webhook
  /** How many test events were sent: they are deliveries, but do not change the webhook. */
  tests: number
}

/** What a webhook has sent, newest first. */
export function Deliveries({ webhook, tests }: DeliveriesProps) {
  const [isOnlyFailed, setOnlyFailed] = useState(false)
  const { log, failure, isLoadingMore, load, loadMore } = useDeliveries(webhook, isOnlyFailed, tests)
  return (
    <section className="webhook-section" aria-labelledby="webhook-deliveries">
      <header>
        <h4 id="webhook-deliveries">{t.deliveries}</h4>
        <label className="check">
          <input type="checkbox" checked={isOnlyFailed} onChange={(event) => setOnlyFailed(event.target.checked)} />{' '}
          {t.onlyFailed}
        </label>
      </header>
      {!log && failure === undefined && (
        <p className="quiet-wait" role="status">
          {t.loading}
        </p>
      )}
      {failure !== undefined && <Failure error={failure} onRetry={load} />}
      {log?.deliveries.length === 0 && <p className="webhooks-hint">{isOnlyFailed ? t.noFailed : t.noDeliveries}</p>}
      {log && log.deliveries.length > 0 && (
        <ol className="deliveries" aria-labelledby="webhook-deliveries">
          {log.deliveries.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} />
          ))}
        </ol>
      )}
      {log?.next && (
        <button type="button" className="button" aria-disabled={isLoadingMore} onClick={() => void loadMore()}>
          {t.showMore}
        </button>
      )}
    </section>
  )
}

const reasons: Record<NonNullable<WebhookDelivery['error']>, string> = {
  unreachable: t.unreachableShort,
  timeout: t.timeoutShort,
  connection_lost: t.connectionLostShort,
  tls: t.tlsShort,
  invalid_response: t.invalidResponseShort,
  secret_unreadable: t.secretUnreadableShort,
}

function DeliveryRow({ delivery }: { delivery: WebhookDelivery }) {
  const { attempted_at, type, position, attempt, is_accepted, status, error, duration_ms, response } = delivery
  const reason = status === null ? reasons[error ?? 'unreachable'] : String(status)
  return (
    <li className={is_accepted ? undefined : 'is-failed'}>
      <time dateTime={attempted_at} title={fullDate(attempted_at)}>
        {preciseTime(attempted_at)}
      </time>
      <div className="delivery-about">
        <code>{type}</code>
        <p className="webhook-facts">
          {position !== null && <span>{t.position({ position })}</span>}
          {attempt > 1 && <span>{t.attempt({ count: attempt })}</span>}
          {duration_ms !== null && <span>{t.duration({ ms: duration_ms })}</span>}
        </p>
        {response && (
          <details>
            <summary>{t.response}</summary>
            <pre dir="auto">{response}</pre>
          </details>
        )}
      </div>
      <span className="delivery-result">
        <Icon name={is_accepted ? 'check' : 'warn'} /> {is_accepted ? reason : t.failed({ reason })}
      </span>
    </li>
  )
}

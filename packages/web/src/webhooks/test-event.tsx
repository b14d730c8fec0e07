import type { Webhook, WebhookAttempt } from '@lockstep/client'
import { useState } from 'react'
import { client } from '../session.ts'
import { Failure } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { t } from './messages.ts'

/** Longer than the server waits for a receiver. */
const TIMEOUT_MS = 60_000

interface TestState {
  isBusy: boolean
  result?: WebhookAttempt
  failure?: unknown
  /** How many were sent. */
  count: number
}

/** Sends test events, one at a time. */
export function useTestEvent({ board_id, id }: Webhook) {
  const [test, setTest] = useState<TestState>({ isBusy: false, count: 0 })
  const { isBusy, count } = test
  const send = async () => {
    if (isBusy) return
    setTest({ isBusy: true, count })
    try {
      // Sent once: the receiver would get a retry as another test.
      const limits = { maxTries: 1, timeoutMs: TIMEOUT_MS, tryTimeoutMs: TIMEOUT_MS }
      const result = await client.testWebhook({ board_id, webhook_id: id }, limits)
      setTest({ isBusy: false, result, count: count + 1 })
    } catch (failure) {
      setTest({ isBusy: false, failure, count })
    }
  }
  return { ...test, send }
}

export function TestResult({ result, failure }: Pick<TestState, 'result' | 'failure'>) {
  const isAccepted = result?.status != null && result.status >= 200 && result.status < 300
  return (
    <>
      <p className={isAccepted ? 'webhook-result is-accepted' : 'webhook-result'} role="status">
        {result && (
          <>
            <Icon name={isAccepted ? 'check' : 'warn'} /> <span>{resultText(result, isAccepted)}</span>
          </>
        )}
      </p>
      {failure !== undefined && <Failure error={failure} />}
    </>
  )
}

const reasons: Record<NonNullable<WebhookAttempt['error']>, string> = {
  unreachable: t.unreachable,
  timeout: t.timeout,
  connection_lost: t.connectionLost,
  tls: t.tls,
  invalid_response: t.invalidResponse,
  secret_unreadable: t.secretUnreadable,
}
function resultText({ status, error, duration_ms }: WebhookAttempt, isAccepted: boolean): string {
  if (status === null) return t.testFailed({ reason: reasons[error ?? 'unreachable'] })
  return (isAccepted ? t.testAccepted : t.testRefused)({ status: String(status), ms: duration_ms ?? 0 })
}

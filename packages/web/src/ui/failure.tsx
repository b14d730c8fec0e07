import { isLockstepError } from '@lockstep/client'
import { t } from './messages.ts'
import { problemMessage } from './problems.ts'

/** A message for any error. */
export const errorMessage = (error: unknown): string => (isLockstepError(error) ? problemMessage(error) : t.unexpected)

/** An error with a retry button, and the request id for the administrator. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const request_id = isLockstepError(error) ? error.requestId : undefined
  return (
    <div className="failure" role="alert">
      <p>{errorMessage(error)}</p>
      {onRetry && (
        <button type="button" className="button" onClick={onRetry}>
          {t.retry}
        </button>
      )}
      {request_id && (
        <details>
          <summary>{t.details}</summary>
          <code>{request_id}</code>
        </details>
      )}
    </div>
  )
}

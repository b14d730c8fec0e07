import { isLockstepError } from '@lockstep/client'

/** A message for any error: the server's own text where there is one. */
export function errorMessage(error: unknown): string {
  if (isLockstepError(error, 'network_failed', 'timed_out'))
    return 'Can’t reach the server. Check your connection and retry.'
  return isLockstepError(error) ? error.detail : 'Something went wrong. Reload the page and try again.'
}

/** An error with a retry button, and the request id for the administrator. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const request_id = isLockstepError(error) ? error.requestId : undefined
  return (
    <div className="failure" role="alert">
      <p>{errorMessage(error)}</p>
      {onRetry && (
        <button type="button" className="button" onClick={onRetry}>
          Retry
        </button>
      )}
      {request_id && (
        <details>
          <summary>Details for your administrator</summary>
          <code>{request_id}</code>
        </details>
      )}
    </div>
  )
}

import { isLockstepError } from '@lockstep/client'

/** What went wrong, in the service's own words where it has any. */
export function sentenceOf(error: unknown): string {
  if (isLockstepError(error, 'network_failed', 'timed_out')) return 'The service cannot be reached.'
  return isLockstepError(error) ? error.detail : 'Something went wrong in this page.'
}

/** A failure, what to do about it, and what to tell the operator. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const request_id = isLockstepError(error) ? error.requestId : undefined
  return (
    <div className="failure" role="alert">
      <p>{sentenceOf(error)}</p>
      {onRetry && (
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      )}
      {request_id && (
        <details>
          <summary>For your operator</summary>
          <code>{request_id}</code>
        </details>
      )}
    </div>
  )
}

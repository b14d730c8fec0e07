import type { ProblemCode } from './types.gen.ts'

/** The service's codes, and those for an answer that never came, came too late, or was not the service's. */
export type ErrorCode = ProblemCode | 'network_failed' | 'timed_out' | 'unexpected_answer'

/** What is known of a failure. */
export interface Failure {
  code: ErrorCode
  detail: string
  /** The HTTP status; 0 when there was no answer. */
  status?: number
  /** With `invalid_input`: every field that is wrong. */
  errors?: { field: string; message: string }[]
  /** With `precondition_failed`: how the thing is now. */
  current?: unknown
  /** What to tell the operator: the log line of the request has the same id. */
  request_id?: string | undefined
  retry_after_seconds?: number | undefined
  cause?: unknown
}

/** Every way in which a call can fail, but for an `AbortSignal`, whose reason is thrown as it is. */
export class LockstepError extends Error implements Failure {
  override readonly name = 'LockstepError'
  readonly code: ErrorCode
  readonly detail: string
  readonly status: number
  readonly errors: { field: string; message: string }[]
  readonly current: unknown
  readonly request_id: string | undefined
  readonly retry_after_seconds: number | undefined

  constructor({ code, detail, status = 0, errors = [], current, request_id, retry_after_seconds, cause }: Failure) {
    super(detail, { cause })
    this.code = code
    this.detail = detail
    this.status = status
    this.errors = errors
    this.current = current
    this.request_id = request_id
    this.retry_after_seconds = retry_after_seconds
  }
}

/** Whether something thrown is a failed call, and one of the given codes if any are given. */
export function isLockstepError<C extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: C[]
): error is LockstepError & { code: C } {
  return error instanceof LockstepError && (codes.length === 0 || codes.some((code) => code === error.code))
}

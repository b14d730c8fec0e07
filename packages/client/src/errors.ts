import type { ProblemCode } from './types.gen.ts'

/**
 * The service's problem codes, and the client's own: no connection, no response in time, or a response that is not
 * the service's.
 */
export type ErrorCode = ProblemCode | 'network_failed' | 'timed_out' | 'unexpected_response'

/** What is known about a failed call. */
export interface ErrorDetails {
  code: ErrorCode
  detail: string
  /** The HTTP status; 0 without a response. */
  status?: number
  /** With `invalid_input`: every invalid field. */
  errors?: { field: string; message: string }[]
  /** With `precondition_failed`: the current resource. */
  current?: unknown
  /** Give this to the operator: the service's log line has the same id. */
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
  /** The operation that failed, for example `createCard`. */
  operation?: string | undefined
  cause?: unknown
}

/**
 * The error of every failed call, except that an aborted call rejects with its signal's reason. `message` is for developers: it
 * names the operation and the code. `detail` is for people.
 */
export class LockstepError extends Error implements ErrorDetails {
  override readonly name = 'LockstepError'
  declare readonly code: ErrorCode
  declare readonly detail: string
  declare readonly status: number
  declare readonly errors: { field: string; message: string }[]
  declare readonly current: unknown
  declare readonly requestId: string | undefined
  declare readonly retryAfterSeconds: number | undefined
  declare readonly operation: string | undefined

  /** `url` becomes part of the message if the response did not come from the service. */
  constructor({ cause, ...details }: ErrorDetails, url = '') {
    const { code, detail, status = 0, operation } = details
    const where = status === 0 || code === 'unexpected_response' ? `, ${url.replace(/\?.*/, '')}` : ''
    super(operation === undefined ? detail : `${operation}: ${detail} (${code}${where})`, { cause })
    Object.assign(this, { status: 0, errors: [] }, details)
  }
}

/** Whether an error is a LockstepError, and has one of the given codes if there are any. */
export function isLockstepError<C extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: C[]
): error is LockstepError & { code: C } {
  return error instanceof LockstepError && (codes.length === 0 || codes.some((code) => code === error.code))
}

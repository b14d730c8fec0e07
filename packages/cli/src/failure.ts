import { isLockstepError, type LockstepError } from '@lockstep/client'

/** Exit codes. */
export const EXIT = { ok: 0, failed: 1, wrongUsage: 2, notLoggedIn: 3, notFound: 4 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An expected failure of a command, with a message for the user. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly exitCode: ExitCode
  readonly code: string
  readonly requestId: string | undefined

  constructor(
    detail: string,
    exitCode: ExitCode = EXIT.failed,
    { code = 'failed', requestId }: { code?: string; requestId?: string | undefined } = {},
  ) {
    super(detail)
    this.exitCode = exitCode
    this.code = code
    this.requestId = requestId
  }
}

export const wrongUsage = (detail: string) => new Failure(detail, EXIT.wrongUsage, { code: 'wrong_usage' })

/**
 * Converts an error to a message and an exit code. Rethrows errors that come from neither the service, the system nor
 * the user, because they are bugs. `advice` says what to do if the credential was rejected.
 */
export function failureOf(error: unknown, url: string | undefined, advice = 'Log in with: lockstep login'): Failure {
  if (error instanceof Failure) return error
  if (!isLockstepError(error)) return systemFailure(error)
  const { code, requestId } = error
  const message = messageOf(error, url, advice)
  const detail = requestId === undefined ? message : `${message} (request ${requestId})`
  return new Failure(detail, exitCodeOf(error), { code, requestId })
}

function systemFailure(error: unknown): Failure {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  if (code === 'ABORT_ERR') return new Failure('Cancelled.', EXIT.failed, { code: 'cancelled' })
  if (syscall !== undefined) return new Failure(`${message}.`, EXIT.failed, { code: code ?? 'failed' })
  throw error
}

function messageOf(error: LockstepError, url = 'the service', advice: string): string {
  if (error.status === 0) return `${url}: ${error.detail.replace(/\.$/, '')}${causeOf(error)}.`
  const fields = error.errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
  // The detail is about the first field.
  if (error.errors.length > 1) return `${error.detail.replace(/\.$/, '')} (${fields}).`
  if (error.code === 'not_authenticated') return `${error.detail} ${advice}`
  return error.detail
}

/** The system's error code for a failed connection: ECONNREFUSED, ENOTFOUND, a certificate error. */
export function causeOf({ cause }: LockstepError): string {
  const { cause: inner } = (cause ?? {}) as { cause?: { code?: string; message?: string } }
  const reason = inner?.code ?? inner?.message
  return reason ? ` (${reason})` : ''
}

function exitCodeOf({ status }: LockstepError): ExitCode {
  if (status === 401) return EXIT.notLoggedIn
  return status === 404 ? EXIT.notFound : EXIT.failed
}

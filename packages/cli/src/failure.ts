import { isLockstepError, type LockstepError } from '@lockstep/client'

/** What a script can tell from the exit code. */
export const EXIT = { ok: 0, failed: 1, wrong_usage: 2, not_logged_in: 3, not_found: 4 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A command that cannot do what it was asked for, and the sentence that says why. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly exit_code: ExitCode
  readonly code: string
  readonly request_id: string | undefined

  constructor(
    detail: string,
    exit_code: ExitCode = EXIT.failed,
    { code = 'failed', request_id }: { code?: string; request_id?: string | undefined } = {},
  ) {
    super(detail)
    this.exit_code = exit_code
    this.code = code
    this.request_id = request_id
  }
}

export const wrongUsage = (detail: string) => new Failure(detail, EXIT.wrong_usage, { code: 'wrong_usage' })

/**
 * Whatever was thrown, as a sentence and an exit code. What neither the service, nor the system, nor the user did is a
 * defect, and is thrown on.
 */
export function failureOf(error: unknown, url: string | undefined): Failure {
  if (error instanceof Failure) return error
  if (!isLockstepError(error)) return failureOfSystem(error)
  const { code, request_id } = error
  const detail = request_id === undefined ? sentenceOf(error, url) : `${sentenceOf(error, url)} (request ${request_id})`
  return new Failure(detail, exitCodeOf(error), { code, request_id })
}

function failureOfSystem(error: unknown): Failure {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  if (code === 'ABORT_ERR') return new Failure('Nothing was done.', EXIT.failed, { code: 'cancelled' })
  if (syscall !== undefined) return new Failure(`${message}.`, EXIT.failed, { code: code ?? 'failed' })
  throw error
}

function sentenceOf(error: LockstepError, url = 'the service'): string {
  if (error.status === 0) return `${url}: ${error.detail.replace(/\.$/, '')}${causeOf(error)}.`
  const fields = error.errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
  if (fields) return `${error.detail.replace(/\.$/, '')} (${fields}).`
  if (error.code === 'not_authenticated') return `${error.detail} Log in with: lockstep login`
  return error.detail
}

/** Why no connection came about, in the system's own word: ECONNREFUSED, ENOTFOUND, a certificate. */
export function causeOf({ cause }: LockstepError): string {
  const { cause: inner } = (cause ?? {}) as { cause?: { code?: string; message?: string } }
  const word = inner?.code ?? inner?.message
  return word ? ` (${word})` : ''
}

function exitCodeOf({ status }: LockstepError): ExitCode {
  if (status === 401) return EXIT.not_logged_in
  return status === 404 ? EXIT.not_found : EXIT.failed
}

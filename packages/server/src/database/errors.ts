import type { ProblemCode } from '@lockstep/contract/problems'
import { resources } from '@lockstep/contract/resources'
import { isCertificateError } from '../platform/certificate-error.ts'
import { Problem } from '../platform/problem.ts'

/** SQLSTATE codes of PostgreSQL. */
const LOCK_TIMEOUT = '55P03'
const STATEMENT_TIMEOUT = '57014'
const DISK_FULL = '53100'

const codeOf = (error: unknown) => (error as { code?: string } | null | undefined)?.code ?? ''

export const isLockTimeout = (error: unknown) => codeOf(error) === LOCK_TIMEOUT
export const isStorageFull = (error: unknown) => codeOf(error) === DISK_FULL
const isStatementTimeout = (error: unknown) => codeOf(error) === STATEMENT_TIMEOUT

/**
 * SQLSTATE classes and system errors that mean the connection cannot be used: it is lost or refused, the server starts, stops
 * or has no resources left, or it is read-only (25006), such as a standby or a former primary.
 */
const connectionCodes = /^(08|53|57P|25P03|25006|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET|EADDRNOTAVAIL)/
/** Errors of pg and its pool that have no code. */
const connectionMessages =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/

/** Whether the connection is lost or unusable. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || isStorageFull(error)) return false
  if (connectionCodes.test(codeOf(error)) || connectionMessages.test(error.message) || isCertificateError(error))
    return true
  return error instanceof AggregateError && error.errors.some(isConnectionError)
}

/** An error code of PostgreSQL, except constraint violations, which concurrent clients can cause. */
const serverCode = /^(?!23)[0-9A-Z]{5}$/
export const isServerError = (error: unknown) => serverCode.test(codeOf(error))

/** Constraints that a client can violate. They decide, because a check before the write can be outdated. */
const constraintProblems: Record<string, ProblemCode> = {
  invitations_inviter_left: 'not_a_member',
  users_email_taken: 'email_taken',
  users_username_taken: 'username_taken',
  board_stream_id_taken: 'id_taken',
  access_tokens_member: 'not_a_member',
  ...Object.fromEntries(
    Object.values(resources).flatMap(({ table }) =>
      [`${table}_pkey`, `${table}_id_taken`].map((name) => [name, 'id_taken']),
    ),
  ),
}

/** The problem that a client gets for an error of PostgreSQL or the pool; undefined for a defect of the service. */
export function problemOfDatabase(error: unknown): Problem | undefined {
  if (!(error instanceof Error)) return undefined
  const { constraint = '' } = error as Error & { constraint?: string }
  const code = constraintProblems[constraint]
  if (code) return new Problem(code)
  if (isLockTimeout(error)) return new Problem('board_busy')
  if (isStatementTimeout(error)) return new Problem('query_timeout')
  if (isStorageFull(error)) return new Problem('storage_full')
  if (isConnectionError(error)) return new Problem('unavailable')
  return undefined
}

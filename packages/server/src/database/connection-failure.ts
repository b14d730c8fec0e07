import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { describeCertificateError, isCertificateError } from '../platform/certificate-error.ts'
import type { Log } from '../telemetry/log.ts'
import { connectionConfig, partsOf } from './connection.ts'
import { isConnectionError } from './errors.ts'

/** How long a start waits for PostgreSQL, which may be starting too. */
const MAX_WAIT_MS = 30_000
const RETRY_MS = 500
const CONNECT_MS = 5_000
const MISSING_DATABASE = '3D000'
/** What the driver says. */
const NO_TLS = 'The server does not support SSL connections'

interface WaitOptions {
  log: Log
  /** Shortened by tests. */
  maxWaitMs?: number
}

/**
 * Waits until PostgreSQL accepts connections. Returns false if the database does not exist. Errors that waiting cannot end,
 * such as a wrong password, are thrown at once.
 */
export async function waitForDatabase(url: string, { log, maxWaitMs = MAX_WAIT_MS }: WaitOptions): Promise<boolean> {
  const deadline = performance.now() + maxWaitMs
  for (let isLogged = false; ; isLogged = true) {
    const error = await connect(url)
    if (error === undefined) return true
    if (codeOf(error) === MISSING_DATABASE) return false
    if (!isUnreachable(error) || performance.now() > deadline) throw error
    const seconds = Math.round(maxWaitMs / 1_000)
    if (!isLogged) log.warn({}, `${describeDatabaseError(error, url)} Trying again for ${seconds} s.`)
    await pause(RETRY_MS)
  }
}

/** The error of one attempt, if it failed. */
async function connect(url: string): Promise<unknown> {
  const client = new pg.Client({ ...connectionConfig(url), connectionTimeoutMillis: CONNECT_MS })
  client.on('error', () => {})
  try {
    await client.connect()
    return undefined
  } catch (error) {
    return error ?? new Error('Connection terminated')
  } finally {
    await client.end().catch(() => {})
  }
}

/** A socket file that is missing (ENOENT) is a server that has not started yet. Waiting does not change a certificate. */
const isUnreachable = (error: unknown) =>
  !isCertificateError(error) &&
  (isConnectionError(error) || codeOf(error) === 'ENOENT' || (error as Error).message === 'timeout expired')

const codeOf = (error: unknown) => (error as { code?: string }).code ?? ''

/** The cause of a failed connection or statement, and what to do, in a sentence. It contains no password. */
export function describeDatabaseError(error: unknown, url: string): string {
  const { user, database, address } = partsOf(url)
  const { message } = error as Error
  switch (codeOf(error)) {
    case '28P01':
      return `PostgreSQL at ${address} rejects the password of the user "${user}", or has no such user. Correct DATABASE_URL.`
    case '28000':
      return `PostgreSQL at ${address} rejects the user "${user}" (${message}). Correct DATABASE_URL, or pg_hba.conf of PostgreSQL.`
    case MISSING_DATABASE:
      return `PostgreSQL at ${address} has no database "${database}". Create it, or correct DATABASE_URL.`
    case '42P01':
      return `The database "${database}" at ${address} is not migrated (${message}). Run npm run migrate, or correct DATABASE_URL.`
    case '42501':
      return `The user "${user}" of DATABASE_URL lacks a privilege in the database "${database}" (${message}).`
    default: {
      const certificate = describeCertificateError(error, {
        name: `PostgreSQL at ${address}`,
        setting: 'DATABASE_URL',
        authorities: 'sslrootcert in DATABASE_URL, or NODE_EXTRA_CA_CERTS,',
      })
      if (certificate !== undefined) return certificate
      if (message === NO_TLS)
        return `PostgreSQL at ${address} has no TLS, which the sslmode of DATABASE_URL requires. Turn it on there (ssl = on).`
      if (/password must be a (non-empty )?string/.test(message))
        return `PostgreSQL at ${address} requires a password for the user "${user}", and DATABASE_URL has none.`
      if (isUnreachable(error))
        return `PostgreSQL cannot be reached at ${address} (${reasonOf(error)}). Start it, or correct DATABASE_URL.`
      return `PostgreSQL at ${address} reports an error: ${message}.`
    }
  }
}

/** Whether an error comes from PostgreSQL or from the connection to it. */
export const isDatabaseError = (error: unknown) =>
  error instanceof pg.DatabaseError ||
  isUnreachable(error) ||
  isCertificateError(error) ||
  /^SASL|SSL connection/.test((error as Error).message)

/** The code of the system, of the first address if there are several. PostgreSQL's own codes are not meant for people. */
function reasonOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? (error.errors as Error[]) : []
  const code = codeOf(error) || codeOf(first ?? {})
  return /^E[A-Z_]+$/.test(code) ? code : (error as Error).message
}

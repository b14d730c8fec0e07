import { readFileSync } from 'node:fs'
import pg from 'pg'
import { isLoopback } from '../platform/networks.ts'

/**
 * The timeouts of a session, in milliseconds, sent when a connection is opened. A pooler may drop them: `pooler-check.ts`
 * compares them with what holds.
 */
export const SESSION_TIMEOUTS = {
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 5_000,
}

/**
 * Sent in the same way. Compiling a statement (JIT) can take seconds, and pays off only for long analytical ones. Generic plans
 * are made once per connection, not again for some executions, which takes longer than executing them.
 */
export const PLANNER_SETTINGS = { jit: 'off', plan_cache_mode: 'force_generic_plan' }

/** Values of `sslmode` with which the certificate of the server and its name are verified. libpq verifies less with the first two. */
const VERIFYING = ['require', 'verify-ca', 'verify-full']

/** Parameters of the URL that cannot be used. The message is what follows the name of the setting. */
export class BadConnectionUrl extends Error {}

/** The configuration of a connection to PostgreSQL: the address and TLS. Every client is created with it. */
export function connectionConfig(url: string): pg.ClientConfig {
  const target = new URL(url)
  // The driver prefers what is in the URL, and gives it another meaning.
  const take = (name: string) => {
    const value = target.searchParams.get(name) ?? undefined
    target.searchParams.delete(name)
    return value
  }
  take('uselibpqcompat')
  const ssl = tlsOptions(take)
  const options = take('options')
  return { connectionString: target.href, ...(ssl !== undefined && { ssl }), ...(options && { options }) }
}

/** Undefined without `sslmode`. */
function tlsOptions(take: (name: string) => string | undefined): pg.ClientConfig['ssl'] | undefined {
  if (take('ssl') !== undefined) throw new BadConnectionUrl('has the parameter ssl: write sslmode=verify-full instead.')
  const [sslmode, sslrootcert, sslcert, sslkey] = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'].map(take)
  const mode = sslmode ?? (sslrootcert === undefined ? undefined : 'verify-full')
  if (mode === undefined) return undefined
  if (mode === 'disable') return false
  if (mode === 'no-verify') return { rejectUnauthorized: false }
  if (!VERIFYING.includes(mode)) throw new BadConnectionUrl('has an unknown sslmode: write verify-full, or disable.')
  return {
    rejectUnauthorized: true,
    // `system` is libpq's name for the authorities that are trusted anyway.
    ...(sslrootcert !== undefined && sslrootcert !== 'system' && { ca: contentOf('sslrootcert', sslrootcert) }),
    ...(sslcert !== undefined && { cert: contentOf('sslcert', sslcert) }),
    ...(sslkey !== undefined && { key: contentOf('sslkey', sslkey) }),
  }
}

function contentOf(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new BadConnectionUrl(
      `names a file as ${parameter} that cannot be read (${(error as { code?: string }).code}).`,
    )
  }
}

/** The configuration of a session of the service. `options` of the URL come last, so that an operator can override a setting. */
export function sessionConfig(url: string): pg.ClientConfig {
  const { options = '', ...config } = connectionConfig(url)
  const own = Object.entries(PLANNER_SETTINGS).map(([name, value]) => `-c ${name}=${value}`)
  return { ...config, application_name: 'lockstep', ...SESSION_TIMEOUTS, options: [...own, options].join(' ').trim() }
}

/** The parts of the URL as the driver understands it, with its defaults. */
export function partsOf(url: string) {
  const client = new pg.Client(connectionConfig(url))
  const { user = '', database, host, port } = client
  const isSocket = host.startsWith('/')
  const ssl: unknown = client.ssl
  // Only what `tlsOptions` made: with other parameters and variables of the driver, Node may be told not to verify.
  const isVerified = ssl instanceof Object && 'rejectUnauthorized' in ssl && ssl.rejectUnauthorized === true
  return {
    user,
    database: database ?? user,
    address: isSocket ? host : `${host}:${port}`,
    /** Whether nobody on a network can read or change what is sent. */
    isPrivate: isSocket || isLoopback(host) || isVerified,
  }
}

/** The host and port, or the folder of the socket, that a URL names. */
export const addressOf = (url: string) => partsOf(url).address

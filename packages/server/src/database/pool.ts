import type { Socket } from 'node:net'
import pg from 'pg'
import { Problem } from '../platform/problem.ts'

/** int8 holds ranks and sequence numbers, all within the safe integers; other values come as PostgreSQL writes them. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
}

/**
 * The most that is read as the result of one statement, or of statements that were sent together: a quarter of what V8 can
 * hold as one string.
 */
const MAX_RESULT_BYTES = 134_217_728

/** The part of pg's connection that bytes arrive at. */
interface Incoming {
  attachListeners: (stream: Socket) => void
}

interface GuardedConfig extends pg.PoolConfig {
  maxResultBytes?: number | undefined
}

/** A client that knows whether it speaks to a standby: PostgreSQL says so unasked, at the start and when it changes. */
class GuardedClient extends pg.Client {
  isStandby = false
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.connection.on('parameterStatus', (told: { parameterName: string; parameterValue: string }) => {
      if (told.parameterName === 'in_hot_standby') this.isStandby = told.parameterValue === 'on'
    })
    this.guardResults((config as GuardedConfig | undefined)?.maxResultBytes ?? MAX_RESULT_BYTES)
  }

  /**
   * Closes the connection when a result is too large, or cannot be parsed. pg parses in the `data` listener of the socket,
   * where an exception would end the process. Closing fails the statements of this connection alone.
   */
  private guardResults(maxBytes: number) {
    const incoming = this.connection as unknown as Incoming
    const attachListeners = incoming.attachListeners.bind(this.connection)
    let received = 0
    this.connection.on('readyForQuery', () => {
      received = 0
    })
    incoming.attachListeners = (stream) => {
      attachListeners(stream)
      const parse = stream.listeners('data').at(-1) as (bytes: Buffer) => void
      stream.off('data', parse).on('data', (bytes: Buffer) => {
        received += bytes.length
        try {
          if (received > maxBytes) throw new Problem('result_too_large')
          parse(bytes)
        } catch (error) {
          stream.destroy(error as Error)
        }
      })
    }
  }
}

/** A standby would answer with boards of the past, and their numbers would seem to go back. The pool drops what this refuses. */
function requirePrimary(client: pg.ClientBase) {
  if (client instanceof GuardedClient && client.isStandby)
    throw Object.assign(new Error('The database is a standby'), { code: '25006' })
}

/** What can go wrong with PostgreSQL, as far as it is not the doing of a client. */
export type DatabaseErrorKind = 'connection_lost' | 'unreachable' | 'lock_timeout' | 'storage_full' | 'other'

/** Who is told how it goes. */
export interface DatabaseObserver {
  /** Called with the time that each statement or transaction waited for a connection. */
  onWait: (seconds: number) => void
  onError: (kind: DatabaseErrorKind) => void
}
export interface PoolOptions {
  url: string
  size: number
  onError: (error: Error) => void
  observer?: DatabaseObserver
  /** Replaced by tests that cannot read so much. */
  maxResultBytes?: number
}

/** Connections to the primary that stay open, with limits on all that can take long. */
export function openPool({ url, size, onError, observer, maxResultBytes }: PoolOptions): pg.Pool {
  const config: GuardedConfig = {
    connectionString: url,
    application_name: 'lockstep',
    max: size,
    types,
    // Connections stay: a closed one takes its prepared statements and plans with it.
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // The server's own limits come first; this one is for a server that does not even answer any more.
    query_timeout: 10_000,
    statement_timeout: 5_000,
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 5_000,
    Client: GuardedClient,
    onConnect: requirePrimary,
    maxResultBytes,
  }
  const pool = new pg.Pool(config)
  // Without a listener a PostgreSQL that goes away would end this process too.
  pool.on('error', (error) => {
    observer?.onError('connection_lost')
    onError(error)
  })
  // The same for a connection that is in use just now: its statements fail, and that is enough.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

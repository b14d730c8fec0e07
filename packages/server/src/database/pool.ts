import pg from 'pg'
import { Problem } from '../platform/problem.ts'
import { sessionConfig } from './connection.ts'

/**
 * int8 holds ranks and sequence numbers, all within the safe integers. A day stays text: as a `Date` it would depend on the time
 * zone. Other values are parsed by the driver.
 */
const parsers = new Map<number, (value: string) => unknown>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.DATE, String],
])
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => parsers.get(oid) ?? pg.types.getTypeParser(oid, format),
}

/** Maximum size of the result of one batch of statements: a quarter of the longest string of V8. */
const MAX_RESULT_BYTES = 134_217_728

interface GuardedConfig extends pg.PoolConfig {
  maxResultBytes?: number | undefined
}

/**
 * A client with two guards: it knows whether the server is a standby, which PostgreSQL reports on connecting and when it
 * changes, and it limits the size of results.
 */
class GuardedClient extends pg.Client {
  isStandby = false
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.connection.on('parameterStatus', (status: { parameterName: string; parameterValue: string }) => {
      if (status.parameterName === 'in_hot_standby') this.isStandby = status.parameterValue === 'on'
    })
    this.limitResults((config as GuardedConfig | undefined)?.maxResultBytes ?? MAX_RESULT_BYTES)
  }

  /** Closes the connection when a result is too large, before it fills the memory. Only the statements of this connection fail. */
  private limitResults(maxBytes: number) {
    let received = 0
    const limit = () => {
      const { stream } = this.connection
      // Before the driver's listener, which reports the end of the result.
      stream.prependListener('data', (bytes: Buffer) => {
        received += bytes.length
        if (received > maxBytes) stream.destroy(new Problem('result_too_large'))
      })
    }
    this.connection.on('connect', limit)
    // TLS replaces the stream.
    this.connection.on('sslconnect', limit)
    this.connection.on('readyForQuery', () => {
      received = 0
    })
  }
}

/** Rejects a connection to a standby, which would return outdated boards, with sequence numbers that go back. */
function requirePrimary(client: pg.ClientBase) {
  if (client instanceof GuardedClient && client.isStandby)
    throw Object.assign(new Error('The database is a standby'), { code: '25006' })
}

/** Errors of PostgreSQL that no client caused. */
export type DatabaseErrorKind = 'connection_lost' | 'unreachable' | 'lock_timeout' | 'storage_full' | 'other'

/** Callbacks for metrics. */
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
  /** Lowered by tests. */
  maxResultBytes?: number
}

/** Opens a pool of connections to the primary. Every wait has a timeout. */
export function openPool({ url, size, onError, observer, maxResultBytes }: PoolOptions): pg.Pool {
  const config: GuardedConfig = {
    ...sessionConfig(url),
    max: size,
    types,
    // Idle connections stay open, to keep their prepared statements and plans.
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // Longer than the timeouts of the session: for a server that no longer responds.
    query_timeout: 10_000,
    Client: GuardedClient,
    onConnect: requirePrimary,
    maxResultBytes,
  }
  const pool = new pg.Pool(config)
  // Without a listener, a lost connection would end the process.
  pool.on('error', (error) => {
    observer?.onError('connection_lost')
    onError(error)
  })
  // The same for a connection that is in use. Its statements fail, so the error is reported already.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

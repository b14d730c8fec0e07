import pg from 'pg'

/** int8 holds ranks and sequence numbers, all within the safe integers; other values come as PostgreSQL writes them. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
}

/** A client that knows whether it speaks to a standby: PostgreSQL says so unasked, at the start and when it changes. */
class AttentiveClient extends pg.Client {
  isStandby = false
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.connection.on('parameterStatus', (told: { parameterName: string; parameterValue: string }) => {
      if (told.parameterName === 'in_hot_standby') this.isStandby = told.parameterValue === 'on'
    })
  }
}

/** A standby would answer with boards of the past, and their numbers would seem to go back. The pool drops what this refuses. */
function demandPrimary(client: pg.ClientBase) {
  if (client instanceof AttentiveClient && client.isStandby)
    throw Object.assign(new Error('The database is a standby'), { code: '25006' })
}

/** What can go wrong with PostgreSQL, as far as it is not the doing of a client. */
export type DatabaseTrouble = 'connection_lost' | 'unreachable' | 'lock_timeout' | 'other'

/** Who is told how it goes. */
export interface DatabaseObserver {
  /** How long a connection was waited for. */
  waited: (seconds: number) => void
  failed: (trouble: DatabaseTrouble) => void
}
type Connected = Parameters<pg.Pool['connect']>[0]

/** A pool that tells how long a connection was waited for. Its own `query` asks here for one too. */
class TimedPool extends pg.Pool {
  waited: DatabaseObserver['waited'] = () => {}

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected) {
    const asked_at = performance.now()
    const tell = () => this.waited((performance.now() - asked_at) / 1_000)
    if (!callback) return super.connect().finally(tell)
    super.connect((error, client, done) => {
      tell()
      callback(error, client, done)
    })
  }
}

export interface PoolOptions {
  url: string
  size: number
  on_error: (error: Error) => void
  observer?: DatabaseObserver
}

/** Connections to the primary that stay open, with limits on all that can take long. */
export function openPool({ url, size, on_error, observer }: PoolOptions): pg.Pool {
  const pool = new TimedPool({
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
    Client: AttentiveClient,
    onConnect: demandPrimary,
  })
  // Without a listener a PostgreSQL that goes away would end this process too.
  pool.on('error', (error) => {
    observer?.failed('connection_lost')
    on_error(error)
  })
  // The same for a connection that is in use just now: its statements fail, and that is enough.
  pool.on('connect', (client) => client.on('error', () => {}))
  if (observer) pool.waited = observer.waited
  return pool
}

import type { JsonText } from '@lockstep/contract/operation'
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely'
import type pg from 'pg'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { isConnectionError, isLockTimeout, isServerError, isStorageFull, problemOfDatabase } from './errors.ts'
import { PipelinedConnection, type StatementCall } from './pipeline.ts'
import { type DatabaseObserver, openPool, type PoolOptions } from './pool.ts'
import type { DB as Tables } from './tables.gen.ts'

/** A query that is built once, when its module is loaded, and runs as a named prepared statement. */
export interface Statement<Args, Row> {
  readonly name: string
  readonly text: string
  readonly values: (args: Args) => unknown[]
  readonly row?: Row
}

/** Where statements run: the pool for reads, the one connection of a transaction for changes. */
export interface Db {
  run<Args, Row>(statement: Statement<Args, Row>, args: NoInfer<Args>): Promise<Row[]>
}

/** The key of an object that belongs to a board. */
export interface ResourceKey {
  board_id: string
  id: string
}
/** A row with a resource as JSON text, which is passed on without parsing. */
export interface JsonRow<T> {
  json: JsonText<T>
}

/** A placeholder for an argument while a query is built, so that it is built once and not for every call. */
class Parameter {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
const parameters = new Proxy({}, { get: (_, name: string) => new Parameter(name) })

const builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})
const names = new Set<string>()

/** Builds a statement. The fields of `args` are placeholders for the arguments of each call. */
export function statement<Args, Row>(
  name: string,
  build: (args: Args, query: Kysely<Tables>) => { compile(query: Kysely<Tables>): CompiledQuery<Row> },
): Statement<Args, Row> {
  if (names.has(name)) throw new Error(`Two statements are named ${name}`)
  names.add(name)
  const { sql: text, parameters: bound } = build(parameters as Args, builder).compile(builder)
  const values = (args: Args) =>
    bound.map((value) => (value instanceof Parameter ? (args as Record<string, unknown>)[value.name] : value))
  return { name, text, values }
}

/** A time as the API returns it: ISO 8601 in UTC, with milliseconds. */
export const wireTime = (time: RawBuilder<unknown>) =>
  sql<string>`to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const callOf = <Args, Row>({ name, text, values }: Statement<Args, Row>, args: Args): StatementCall => ({
  name,
  text,
  values: values(args),
})

/** How many statements may wait for a connection, and for how long. */
const MAX_WAITING = 5_000
const WAIT_MS = 5_000

/** The connection pool. Single statements run on any connection, a transaction keeps one. */
export class Database implements Db {
  readonly pool: pg.Pool
  private readonly observer: DatabaseObserver | undefined
  /** In front of the pool, whose own queue has no limit. */
  private readonly connections: Semaphore
  /** When a statement or a transaction last succeeded. */
  succeededAt = Number.NEGATIVE_INFINITY
  /** Whether the last transaction failed because the disk is full. */
  isFull = false

  constructor(options: PoolOptions) {
    const { size, observer } = options
    this.observer = observer
    this.pool = openPool(options)
    const reject = () => {
      observer?.onError('unreachable')
      return new Problem('unavailable')
    }
    const limit = { maxWaiting: MAX_WAITING, waitMs: WAIT_MS, reject }
    this.connections = new Semaphore(size, limit, observer?.onWait)
  }

  /** How many statements and transactions wait for a connection. */
  get waiting(): number {
    return this.connections.waiting
  }

  run<Args, Row>(statement: Statement<Args, Row>, args: NoInfer<Args>): Promise<Row[]> {
    return this.connected(async (connection) => (await connection.run(callOf(statement, args))).rows as Row[])
  }

  /**
   * One transaction on one connection. `open` and `close` are sent in one batch with BEGIN and COMMIT, so that neither costs a
   * round trip of its own. An error rolls everything back. `onCommit` is called when COMMIT is sent, before its result is known.
   */
  transaction<Opened, T>(
    open: (tx: Db) => Promise<Opened>,
    work: (tx: Db, opened: Opened) => Promise<{ result: T; close?: (tx: Db) => Promise<unknown> }>,
    { onCommit = () => {} }: { onCommit?: () => void } = {},
  ): Promise<T> {
    return this.connected(async (connection) => {
      const tx: Db = {
        run: async <Args, Row>(statement: Statement<Args, Row>, args: Args) =>
          (await connection.run(callOf(statement, args))).rows as Row[],
      }
      try {
        const [, opened] = await Promise.all([connection.run(BEGIN), open(tx)])
        const { result, close } = await work(tx, opened)
        const commit = Promise.all([close?.(tx), connection.run(COMMIT)])
        onCommit()
        const [, { tag }] = await commit
        if (tag !== 'COMMIT') throw new Error('The transaction was rolled back')
        this.isFull = false
        return result
      } catch (error) {
        await connection.rollBack()
        if (isStorageFull(error)) this.isFull = true
        throw error
      }
    })
  }

  private connected<T>(work: (connection: PipelinedConnection) => Promise<T>): Promise<T> {
    return this.connections.run(() => this.withConnection(work))
  }

  private async withConnection<T>(work: (connection: PipelinedConnection) => Promise<T>): Promise<T> {
    let client: pg.PoolClient | undefined
    let connection: PipelinedConnection | undefined
    try {
      client = await this.pool.connect()
      connection = new PipelinedConnection(client)
      const result = await work(connection)
      this.succeededAt = performance.now()
      return result
    } catch (error) {
      this.observe(error)
      throw error
    } finally {
      connection?.end()
      client?.release(connection?.broken)
    }
  }

  close() {
    return this.pool.end()
  }

  /** Counts errors of the database. Errors that a client caused, such as a name that is taken, do not count. */
  private observe(error: unknown) {
    if (!this.observer || error instanceof Problem) return
    if (isConnectionError(error)) this.observer.onError('unreachable')
    else if (isStorageFull(error)) this.observer.onError('storage_full')
    else if (isLockTimeout(error)) this.observer.onError('lock_timeout')
    else if (!problemOfDatabase(error) && isServerError(error)) this.observer.onError('other')
  }
}
const BEGIN = { name: 'begin', text: 'begin', values: [] }
const COMMIT = { name: 'commit', text: 'commit', values: [] }

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
import { type Call, Flights } from './pipeline.ts'
import { type DatabaseObserver, openPool, type PoolOptions } from './pool.ts'
import { Problem, problemOfDatabase } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import type { DB as Tables } from './tables.gen.ts'

/** A query that was built once, when its module was loaded, and runs as a named prepared statement ever after. */
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

/** The connection of a transaction. */
export interface Tx extends Db {
  /**
   * A write whose answer nobody needs. It is not waited for: it travels with the statements after it, and with COMMIT. If
   * it fails, the transaction fails with its error.
   */
  later<Args, Row>(statement: Statement<Args, Row>, args: NoInfer<Args>): void
}

/** Stands for an argument while a query is built, so that building happens once and not for every call. */
class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
const slots = new Proxy({}, { get: (_, name: string) => new Slot(name) })

const builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})
const names = new Set<string>()

/** Builds a statement. `args` holds what each call will bring; use its fields as values. */
export function statement<Args, Row>(
  name: string,
  build: (args: Args, query: Kysely<Tables>) => { compile(query: Kysely<Tables>): CompiledQuery<Row> },
): Statement<Args, Row> {
  if (names.has(name)) throw new Error(`Two statements are named ${name}`)
  names.add(name)
  const { sql: text, parameters } = build(slots as Args, builder).compile(builder)
  const values = (args: Args) =>
    parameters.map((value) => (value instanceof Slot ? (args as Record<string, unknown>)[value.name] : value))
  return { name, text, values }
}

/** A time as the wire shows it: ISO 8601 in UTC, with milliseconds. */
export const wireTime = (time: RawBuilder<unknown>) =>
  sql<string>`to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const callOf = <Args, Row>({ name, text, values }: Statement<Args, Row>, args: Args): Call => ({
  name,
  text,
  values: values(args),
})

/** How many may wait for a connection, and for how long. */
const MAX_WAITING = 5_000
const WAIT_MS = 5_000

/** The pool of connections, the reads that run on any of them, and the transactions that keep one. */
export class Database implements Db {
  readonly pool: pg.Pool
  private readonly observer: DatabaseObserver | undefined
  /** In front of the pool, whose own queue knows no keys. */
  private readonly connections: Semaphore
  private readonly is_fair: boolean
  /** When a statement or a transaction last succeeded. */
  answered_at = Number.NEGATIVE_INFINITY
  /** Whether the last transaction failed because the disk is full. */
  is_full = false

  constructor(options: PoolOptions & { is_fair?: boolean }) {
    const { size, observer, is_fair = false } = options
    this.observer = observer
    this.pool = openPool(options)
    this.is_fair = is_fair
    const refuse = () => {
      observer?.failed('unreachable')
      return new Problem('unavailable')
    }
    const limit = { waiting: MAX_WAITING, wait_ms: WAIT_MS, refuse }
    this.connections = new Semaphore(size, limit, observer?.waited)
  }

  /** How many statements and transactions wait for a connection. */
  get waiting(): number {
    return this.connections.waiting
  }

  /** For the service's own work. What clients ask for goes through `forKey`. */
  run<Args, Row>(statement: Statement<Args, Row>, args: NoInfer<Args>) {
    return this.runFor('', statement, args)
  }

  /** The same for a user, an address or a board: connections that are scarce go to the keys in turn. */
  forKey(key: string): Db {
    return { run: (statement, args) => this.runFor(key, statement, args) }
  }

  private runFor<Args, Row>(key: string, statement: Statement<Args, Row>, args: Args) {
    return this.connected(key, async (flights) => (await flights.run(callOf(statement, args))).rows as Row[])
  }

  /**
   * One transaction on one connection. `open` and `close` travel together with BEGIN and COMMIT, so that neither costs a
   * round trip of its own; whatever is thrown on the way rolls everything back. `committing` is told when all is sent and only
   * the disk is waited for.
   */
  transaction<Opened, T>(
    open: (tx: Db) => Promise<Opened>,
    work: (tx: Tx, opened: Opened) => Promise<{ result: T; close?: (tx: Db) => Promise<unknown> }>,
    { committing = () => {}, key = '' }: { committing?: () => void; key?: string } = {},
  ): Promise<T> {
    return this.connected(key, async (flights) => {
      const tx: Tx = {
        run: async <Args, Row>(statement: Statement<Args, Row>, args: Args) =>
          (await flights.run(callOf(statement, args))).rows as Row[],
        later: (statement, args) => flights.later(callOf(statement, args)),
      }
      try {
        const [, opened] = await Promise.all([flights.run(BEGIN), open(tx)])
        const { result, close } = await work(tx, opened)
        const commit = Promise.all([close?.(tx), flights.run(COMMIT)])
        committing()
        const [, { tag }] = await commit
        if (tag !== 'COMMIT') throw new Error('The transaction was rolled back')
        this.is_full = false
        return result
      } catch (error) {
        await flights.rollBack()
        if (problemOfDatabase(error)?.code === 'storage_full') this.is_full = true
        throw error
      }
    })
  }

  private connected<T>(key: string, work: (flights: Flights) => Promise<T>): Promise<T> {
    return this.connections.run(() => this.withConnection(work), { key: this.is_fair ? key : '' })
  }

  private async withConnection<T>(work: (flights: Flights) => Promise<T>): Promise<T> {
    let client: pg.PoolClient | undefined
    let flights: Flights | undefined
    try {
      client = await this.pool.connect()
      flights = new Flights(client)
      const result = await work(flights)
      this.answered_at = performance.now()
      return result
    } catch (error) {
      this.tell(error)
      throw error
    } finally {
      flights?.end()
      client?.release(flights?.broken)
    }
  }

  close() {
    return this.pool.end()
  }

  /** What a client brought about, such as a name that is taken, is no trouble. */
  private tell(error: unknown) {
    if (!this.observer || error instanceof Problem) return
    const code = problemOfDatabase(error)?.code
    if (code === 'unavailable') this.observer.failed('unreachable')
    else if (code === 'storage_full') this.observer.failed('storage_full')
    else if (code === 'board_busy') this.observer.failed('lock_timeout')
    else if (code === undefined && isRefusal.test((error as { code?: string }).code ?? ''))
      this.observer.failed('other')
  }
}
/** A code of PostgreSQL's own, but for constraints: those can be the doing of a client that was late. */
const isRefusal = /^(?!23)[0-9A-Z]{5}$/
const BEGIN = { name: 'begin', text: 'begin', values: [] }
const COMMIT = { name: 'commit', text: 'commit', values: [] }

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
import { type DatabaseObserver, openPool, type PoolOptions } from './pool.ts'
import { Problem, problemOfDatabase } from './problem.ts'
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

const run = async <Args, Row>(on: pg.Pool | pg.PoolClient, { name, text, values }: Statement<Args, Row>, args: Args) =>
  (await on.query({ name, text, values: values(args) })).rows as Row[]

/** The pool of connections, the reads that run on any of them, and the transactions that keep one. */
export class Database implements Db {
  readonly pool: pg.Pool
  private readonly observer: DatabaseObserver | undefined
  /** When a statement or a transaction last succeeded. */
  answered_at = Number.NEGATIVE_INFINITY

  constructor(options: PoolOptions) {
    this.observer = options.observer
    this.pool = openPool(options)
  }

  async run<Args, Row>(statement: Statement<Args, Row>, args: NoInfer<Args>) {
    try {
      const rows = await run(this.pool, statement, args)
      this.answered_at = performance.now()
      return rows
    } catch (error) {
      this.tell(error)
      throw error
    }
  }

  /**
   * One transaction on one connection. `open` and `close` are sent together with BEGIN and COMMIT, so that neither costs
   * a round trip of its own; whatever is thrown on the way rolls everything back.
   */
  async transaction<Opened, T>(
    open: (tx: Db) => Promise<Opened>,
    work: (tx: Tx, opened: Opened) => Promise<{ result: T; close?: (tx: Db) => Promise<unknown> }>,
  ): Promise<T> {
    const client = await this.pool.connect().catch((error: unknown) => {
      this.tell(error)
      throw error
    })
    let isOver = false
    const underway: Promise<unknown>[] = []
    const tx: Tx = {
      run: (statement, args) => {
        // Whatever was left running must not reach the connection once it belongs to somebody else.
        if (isOver) throw new Error('The transaction is over')
        return run(client, statement, args)
      },
      later: (statement, args) => {
        const write = tx.run(statement, args)
        write.catch(() => {})
        underway.push(write)
      },
    }
    let broken: Error | undefined
    try {
      const [, opened] = await Promise.all([client.query(begin), open(tx)])
      const { result, close } = await work(tx, opened)
      const closing = close?.(tx)
      const [committed] = await Promise.all([client.query(commit), ...underway, closing])
      if (committed.command !== 'COMMIT') throw new Error('The transaction was rolled back')
      this.answered_at = performance.now()
      return result
    } catch (caught) {
      // What came after a write that failed failed because of it.
      const failed = (await Promise.allSettled(underway)).find(({ status }) => status === 'rejected')
      const error: unknown = failed?.status === 'rejected' ? failed.reason : caught
      // A server that went away or takes no writes any more is not asked again: the next connection finds the one that does.
      if (problemOfDatabase(error)?.code === 'unavailable') broken = error as Error
      else {
        await client.query('rollback').catch((lost: Error) => {
          broken = lost
        })
      }
      this.tell(error)
      throw error
    } finally {
      isOver = true
      client.release(broken)
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
    else if (code === 'board_busy') this.observer.failed('lock_timeout')
    else if (code === undefined && isRefusal.test((error as { code?: string }).code ?? ''))
      this.observer.failed('other')
  }
}
/** A code of PostgreSQL's own, but for constraints: those can be the doing of a client that was late. */
const isRefusal = /^(?!23)[0-9A-Z]{5}$/
const begin = { name: 'begin', text: 'begin' }
const commit = { name: 'commit', text: 'commit' }

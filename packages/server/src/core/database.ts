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
import pg from 'pg'
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

/** int8 holds ranks and sequence numbers, all within the safe integers; other values come as PostgreSQL writes them. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
}

/** The pool of connections, the reads that run on any of them, and the transactions that keep one. */
export class Database implements Db {
  readonly pool: pg.Pool
  constructor(options: { url: string; size: number; on_error: (error: Error) => void }) {
    this.pool = new pg.Pool({
      connectionString: options.url,
      application_name: 'lockstep',
      max: options.size,
      types,
      pipeline: true,
      // Connections stay: a closed one takes its prepared statements and plans with it.
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      // The server's own limits come first; this one is for a server that does not even answer any more.
      query_timeout: 10_000,
      statement_timeout: 5_000,
      lock_timeout: 2_000,
      idle_in_transaction_session_timeout: 5_000,
    })
    // Without a listener a PostgreSQL that goes away would end this process too.
    this.pool.on('error', options.on_error)
    // The same for a connection that is in use just now: its statements fail, and that is enough.
    this.pool.on('connect', (client) => client.on('error', () => {}))
  }

  run<Args, Row>(statement: Statement<Args, Row>, args: NoInfer<Args>) {
    return run(this.pool, statement, args)
  }

  /**
   * One transaction on one connection. `open` and `close` are sent together with BEGIN and COMMIT, so that neither costs
   * a round trip of its own; whatever is thrown on the way rolls everything back.
   */
  async transaction<Opened, T>(
    open: (tx: Db) => Promise<Opened>,
    work: (tx: Db, opened: Opened) => Promise<{ result: T; close?: (tx: Db) => Promise<unknown> }>,
  ): Promise<T> {
    const client = await this.pool.connect()
    let isOver = false
    const tx: Db = {
      run: (statement, args) => {
        // Whatever was left running must not reach the connection once it belongs to somebody else.
        if (isOver) throw new Error('The transaction is over')
        return run(client, statement, args)
      },
    }
    let broken: Error | undefined
    try {
      const [, opened] = await Promise.all([client.query(begin), open(tx)])
      const { result, close } = await work(tx, opened)
      const [, committed] = await Promise.all([close?.(tx), client.query(commit)])
      if (committed.command !== 'COMMIT') throw new Error('The transaction was rolled back')
      return result
    } catch (error) {
      await client.query('rollback').catch((lost: Error) => {
        broken = lost
      })
      throw error
    } finally {
      isOver = true
      client.release(broken)
    }
  }

  close() {
    return this.pool.end()
  }
}
const begin = { name: 'begin', text: 'begin' }
const commit = { name: 'commit', text: 'commit' }

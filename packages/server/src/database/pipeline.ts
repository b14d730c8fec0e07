import type { Socket } from 'node:net'
import pg from 'pg'
import { serialize } from 'pg-protocol'
import { isConnectionError } from './errors.ts'

/** A statement with its values. It is named, so that PostgreSQL parses and plans it once per connection. */
export interface StatementCall {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}
export type Row = Record<string, unknown>
export interface StatementResult {
  rows: Row[]
  /** The command tag, such as `COMMIT`. */
  tag: string
}

/** How the columns of a statement become a row. */
type Reader = { name: string; parse: (text: string) => unknown }[]
/** The prepared statements of each connection. */
const preparedOn = new WeakMap<object, Map<string, Reader>>()

/** The part of pg's connection that is not in its types. */
interface Wire {
  stream: Pick<Socket, 'writable' | 'write' | 'cork' | 'uncork'>
}
/** Longer batches are written without copying their messages: a copy of many megabytes blocks the event loop. */
const MAX_COPIED_BYTES = 65_536

/**
 * Several statements in one packet with one Sync; pg would send a packet and a Sync for each. Both sides handle half as
 * many messages. When a statement fails, PostgreSQL skips those after it.
 *
 * This extends the driver: it uses `Submittable`, `connection.stream` and `utils.prepareValue` of pg, which are not part of
 * its documented API. On an upgrade of pg, check these three and run `pipeline.test.ts`.
 */
class StatementBatch implements pg.Submittable {
  /** pg puts its own timer around this one. */
  callback: (error?: Error) => void
  private readonly calls: readonly StatementCall[]
  private readonly values: unknown[][]
  private readonly parserOf: (type: number) => (text: string) => unknown
  private readonly outcomes: StatementResult[] = []
  private readonly fresh = new Set<string>()
  private prepared = new Map<string, Reader>()
  private rows: Row[] = []

  constructor(
    client: pg.ClientBase,
    calls: readonly StatementCall[],
    onComplete: (outcomes: StatementResult[], error?: Error) => void,
  ) {
    this.calls = calls
    // In the constructor, because it can throw: a batch is written completely or not at all.
    this.values = calls.map(({ values }) => values.map(prepareValue))
    this.parserOf = (type) => client.getTypeParser(type, 'text')
    this.callback = (error) => onComplete(this.outcomes, error)
  }

  submit(connection: pg.Connection) {
    this.prepared = preparedOn.get(connection) ?? new Map()
    preparedOn.set(connection, this.prepared)
    const messages: Buffer[] = []
    for (const [i, { name, text }] of this.calls.entries()) {
      if (!this.prepared.has(name)) {
        // Close first: after a failed batch the server may already have a statement of this name.
        messages.push(
          serialize.close({ type: 'S', name }),
          serialize.parse({ name, text, types: [] }),
          serialize.describe({ type: 'S', name }),
        )
        this.prepared.set(name, [])
        this.fresh.add(name)
      }
      messages.push(serialize.bind({ statement: name, values: this.values[i] as unknown[] }), serialize.execute())
    }
    messages.push(serialize.sync())
    const { stream } = connection as unknown as Wire
    // A connection that is closing reports an error by itself.
    if (!stream.writable) return
    // In one write: a dozen small writes cost more than the copy.
    if (messages.reduce((sum, { length }) => sum + length, 0) <= MAX_COPIED_BYTES)
      return void stream.write(Buffer.concat(messages))
    stream.cork()
    for (const message of messages) stream.write(message)
    stream.uncork()
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }) {
    const reader = fields.map(({ name, dataTypeID }) => ({ name, parse: this.parserOf(dataTypeID) }))
    this.prepared.set(this.current?.name ?? '', reader)
  }
  handleDataRow({ fields }: { fields: (string | null)[] }) {
    const reader = this.prepared.get(this.current?.name ?? '') ?? []
    const row: Row = {}
    for (const [i, { name, parse }] of reader.entries()) {
      const text = fields[i] as string | null
      row[name] = text === null ? null : parse(text)
    }
    this.rows.push(row)
  }
  handleCommandComplete({ text }: { text: string }) {
    this.outcomes.push({ rows: this.rows, tag: text })
    this.rows = []
  }
  handleError(error: Error) {
    // Prepare again: the failed statement, in case its plan was the reason, and later ones that may not have been prepared.
    this.prepared.delete(this.current?.name ?? '')
    for (const { name } of this.calls.slice(this.outcomes.length)) if (this.fresh.has(name)) this.prepared.delete(name)
    this.callback(error)
  }
  handleReadyForQuery() {
    this.callback()
  }

  /** The statement whose result comes next. */
  private get current() {
    return this.calls[this.outcomes.length]
  }
}
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils

interface PendingStatement {
  call: StatementCall
  onComplete: (outcome: StatementResult) => void
  onError: (error: unknown) => void
}

/** Batches the statements of one connection: those of one tick are sent together, later ones when the results are back. */
export class PipelinedConnection {
  private readonly client: pg.ClientBase
  private waiting: PendingStatement[] = []
  private isInFlight = false
  private isOver = false
  /** Why the connection can no longer be used: it is lost, or the server is read-only. */
  broken: Error | undefined

  constructor(client: pg.ClientBase) {
    this.client = client
  }

  run(call: StatementCall): Promise<StatementResult> {
    if (this.isOver) return Promise.reject(new Error(OVER))
    return new Promise((onComplete, onError) => {
      if (this.waiting.push({ call, onComplete, onError }) === 1 && !this.isInFlight) queueMicrotask(() => this.flush())
    })
  }

  /** Rolls back, and drops queued statements. A connection on which that fails is broken. */
  async rollBack() {
    this.rejectQueued()
    if (this.broken) return
    await this.run(ROLLBACK).catch((error: Error) => {
      this.broken = error
    })
  }

  /** Rejects statements that are still queued, because the connection goes back to the pool. */
  end() {
    this.isOver = true
    this.rejectQueued()
  }

  private rejectQueued() {
    for (const { onError } of this.waiting.splice(0)) onError(new Error(OVER))
  }

  private flush() {
    if (this.isOver || this.isInFlight || this.waiting.length === 0) return
    const batch = this.waiting.splice(0)
    this.isInFlight = true
    const complete = (outcomes: StatementResult[], error?: Error) => {
      this.isInFlight = false
      if (isConnectionError(error)) this.broken = error
      for (const [i, pending] of batch.entries()) {
        const outcome = outcomes[i]
        if (outcome) pending.onComplete(outcome)
        else pending.onError(error)
      }
      this.flush()
    }
    try {
      const calls = batch.map(({ call }) => call)
      this.client.query(new StatementBatch(this.client, calls, complete))
    } catch (error) {
      complete([], error as Error)
    }
  }
}
const OVER = 'The transaction is over'
const ROLLBACK: StatementCall = { name: 'rollback', text: 'rollback', values: [] }

import pg from 'pg'
import { serialize } from 'pg-protocol'
import { problemOfDatabase } from '../platform/problem.ts'

/** A statement with its values. It is named, so that PostgreSQL parses and plans it once on each connection. */
export interface Call {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}
export type Row = Record<string, unknown>
export interface Outcome {
  rows: Row[]
  /** What PostgreSQL says that it did, such as `COMMIT`. */
  tag: string
}

/** How the columns of a statement become a row. Without columns there are no rows. */
type Reader = { name: string; parse: (text: string) => unknown }[]
/** What each connection has prepared. */
const preparedOn = new WeakMap<object, Map<string, Reader>>()

/** The part of pg's connection that bytes are written to. */
interface Wire {
  stream: { writable: boolean; write: (bytes: Buffer) => void }
}

/**
 * Several statements in one packet with one Sync, for which pg itself would need a packet and a Sync each: PostgreSQL and
 * we handle half the messages. When one of them fails, PostgreSQL skips those behind it.
 */
class Flight implements pg.Submittable {
  /** pg puts its own timer around this one. */
  callback: (error?: Error) => void
  private readonly calls: readonly Call[]
  private readonly values: unknown[][]
  private readonly parserOf: (type: number) => (text: string) => unknown
  private readonly outcomes: Outcome[] = []
  private readonly fresh = new Set<string>()
  private prepared = new Map<string, Reader>()
  private rows: Row[] = []

  constructor(client: pg.ClientBase, calls: readonly Call[], landed: (outcomes: Outcome[], error?: Error) => void) {
    this.calls = calls
    // Here, because it can throw: nothing may be written by halves.
    this.values = calls.map(({ values }) => values.map(prepareValue))
    this.parserOf = (type) => client.getTypeParser(type, 'text')
    this.callback = (error) => landed(this.outcomes, error)
  }

  submit(connection: pg.Connection) {
    this.prepared = preparedOn.get(connection) ?? new Map()
    preparedOn.set(connection, this.prepared)
    const messages: Buffer[] = []
    for (const [i, { name, text }] of this.calls.entries()) {
      if (!this.prepared.has(name)) {
        // It may be there nevertheless, after a flight that failed.
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
    // In one piece: to write a dozen of them costs more than to copy them.
    const { stream } = connection as unknown as Wire
    // A connection that is closing tells by itself that nothing will come of it.
    if (stream.writable) stream.write(Buffer.concat(messages))
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
    // What failed is prepared anew, in case that was the reason, and so is what was perhaps never reached.
    this.prepared.delete(this.current?.name ?? '')
    for (const { name } of this.calls.slice(this.outcomes.length)) if (this.fresh.has(name)) this.prepared.delete(name)
    this.callback(error)
  }
  handleReadyForQuery() {
    this.callback()
  }

  /** Whose answer comes next. */
  private get current() {
    return this.calls[this.outcomes.length]
  }
}
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils

interface Passenger {
  call: Call
  landed?: (outcome: Outcome) => void
  failed?: (error: unknown) => void
}

/** The statements on one connection. Those of one tick travel together; what is called meanwhile leaves when they are back. */
export class Flights {
  private readonly client: pg.ClientBase
  private waiting: Passenger[] = []
  private isAwaited = false
  private isUnderway = false
  private isOver = false
  /** What went wrong with a statement for which nobody waited. */
  private untold: Error | undefined
  /** Why the connection is of no use any more: the server went away, or takes no writes. The next one finds the one that does. */
  broken: Error | undefined

  constructor(client: pg.ClientBase) {
    this.client = client
  }

  run(call: Call): Promise<Outcome> {
    if (this.untold) return Promise.reject(this.untold)
    return new Promise((landed, failed) => {
      this.board({ call, landed, failed })
      if (!this.isAwaited && !this.isUnderway) queueMicrotask(() => this.depart())
      this.isAwaited = true
    })
  }

  /** Travels with the next one that is waited for. If it fails, so does that one, or whatever comes after it. */
  later(call: Call) {
    this.board({ call })
  }

  /** Takes back what was done, with all that has not left yet. A connection on which even that fails is broken. */
  async rollBack() {
    this.forget()
    this.untold = undefined
    if (this.broken) return
    await this.run(ROLLBACK).catch((error: Error) => {
      this.broken = error
    })
  }

  /** Whatever was left running must not reach the connection once it belongs to somebody else. */
  end() {
    this.isOver = true
    this.forget()
  }

  private forget() {
    for (const { failed } of this.waiting.splice(0)) failed?.(new Error(OVER))
  }

  private board(passenger: Passenger) {
    if (this.isOver) throw new Error(OVER)
    this.waiting.push(passenger)
  }

  private depart() {
    if (this.isOver) return
    const passengers = this.waiting.splice(0)
    this.isAwaited = false
    this.isUnderway = true
    const landed = (outcomes: Outcome[], error?: Error) => {
      this.isUnderway = false
      if (problemOfDatabase(error)?.code === 'unavailable') this.broken = error
      for (const [i, passenger] of passengers.entries()) {
        const outcome = outcomes[i]
        if (outcome) passenger.landed?.(outcome)
        else passenger.failed?.(error)
      }
      if (!passengers.some(({ failed }, i) => failed && !outcomes[i])) this.untold = error
      if (this.isAwaited) this.depart()
    }
    try {
      const calls = passengers.map(({ call }) => call)
      this.client.query(new Flight(this.client, calls, landed))
    } catch (error) {
      landed([], error as Error)
    }
  }
}
const OVER = 'The transaction is over'
const ROLLBACK: Call = { name: 'rollback', text: 'rollback', values: [] }

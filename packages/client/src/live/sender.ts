import { failureOf, positionOf } from './api.ts'
import type { BoardCore, Pending } from './core.ts'
import type { Environment } from './environment.ts'
import { sendGuarded } from './guard.ts'
import type { Line } from './line.ts'

const MAX_BACKOFF_MS = 30_000
/** Statuses that say nothing about the change itself: it is sent again. */
const PASSING = [408, 421, 425, 429]
/** Changes whose path begins with the board. */
const OF_BOARD = /^(create(Column|Card|Label)|\w+(Board|Member))$/

/** Sends the pending changes of a board, one after the other, each until it is answered. */
export class Sender {
  private readonly core: BoardCore
  private readonly board_id: string
  private readonly line: Line
  private readonly env: Environment
  private readonly changed: () => void
  private failures = 0
  private isWaiting = false

  constructor(core: BoardCore, board_id: string, line: Line, env: Environment, changed: () => void) {
    this.core = core
    this.board_id = board_id
    this.line = line
    this.env = env
    this.changed = changed
  }

  /** Sends what is next, unless something is on its way or has to wait. */
  send() {
    const operation = this.isWaiting || !this.core.base || this.line.phase === 'closed' ? undefined : this.core.next()
    if (!operation) return
    const { key } = operation
    this.core.sent(key)
    this.changed()
    void this.request(operation).then(
      (answer) => {
        this.failures = 0
        if ('current' in answer) this.core.conflict(key, answer.current)
        else this.core.accept(key, positionOf(answer.position) ?? this.core.head)
        this.line.catchUp()
        this.goOn()
      },
      (error: unknown) => this.failed(key, error),
    )
  }

  /** The network is back: what waits need not. */
  hurry() {
    if (this.isWaiting) this.line.later('send', 0, () => this.goOn())
  }

  private request(operation: Pending) {
    const { key: idempotency_key, change, guard, attempts, is_shared } = operation
    if (guard)
      return sendGuarded(
        (name, input, if_match) =>
          this.line.request(name, input, if_match === undefined ? {} : { idempotency_key, if_match }),
        operation,
        is_shared || attempts > 1,
      )
    const input = { ...(OF_BOARD.test(change.name) && { board_id: this.board_id }), ...change.input }
    return this.line.request(change.name, input, { idempotency_key })
  }

  private failed(key: string, error: unknown) {
    const failure = failureOf(error)
    const status = failure?.status ?? 0
    if (failure && status >= 400 && status < 500 && status !== 401 && !PASSING.includes(status)) {
      this.failures = 0
      this.core.reject(key, failure)
      return this.goOn()
    }
    // Whether it happened is not known: the same again, with the same key.
    this.core.lost(key)
    if (this.line.phase === 'closed' || (status === 401 && this.line.isEnd(error))) return
    const backoff = this.env.random() * Math.min(MAX_BACKOFF_MS, 500 * 2 ** this.failures++)
    this.isWaiting = true
    this.line.later('send', Math.max(backoff, (failure?.retry_after_seconds ?? 0) * 1_000), () => this.goOn())
    this.changed()
  }

  private goOn() {
    this.isWaiting = false
    if (this.line.phase === 'closed') return
    this.changed()
    this.send()
  }
}

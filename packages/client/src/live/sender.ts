import { failureOf, type LiveFailure, positionOf } from './api.ts'
import { sendConditionally } from './conditional-update.ts'
import type { BoardConnection } from './connection.ts'
import type { BoardCore, Pending } from './core.ts'
import type { Environment } from './environment.ts'
import { changeModel } from './model.ts'

const MAX_BACKOFF_MS = 30_000
/** Statuses that say nothing about the change itself: retry. */
const RETRYABLE = [408, 421, 425, 429]
/** A change that may be sent again only later than this is rejected, because all later changes would wait for it. */
const MAX_RETRY_AFTER_SECONDS = 120

/** Sends the pending changes of a board, one at a time, with retries. */
export class Sender {
  readonly #core: BoardCore
  readonly #boardId: string
  readonly #connection: BoardConnection
  readonly #env: Environment
  readonly #onChange: () => void
  #failures = 0
  #isPaused = false

  constructor(core: BoardCore, boardId: string, connection: BoardConnection, env: Environment, onChange: () => void) {
    this.#core = core
    this.#boardId = boardId
    this.#connection = connection
    this.#env = env
    this.#onChange = onChange
  }

  /** Sends the next change, unless one is in flight or the sender is backing off. */
  send() {
    const operation =
      this.#isPaused || !this.#core.base || this.#connection.phase === 'closed' ? undefined : this.#core.next()
    if (!operation) return
    const { key } = operation
    this.#core.markSent(key)
    this.#onChange()
    void this.#request(operation).then(
      (response) => {
        this.#failures = 0
        if ('current' in response) this.#core.conflict(key, response.current)
        else this.#core.accept(key, positionOf(response.position) ?? this.#core.head)
        this.#connection.catchUp()
        this.#resume()
      },
      (error: unknown) => this.#onFailure(key, error),
    )
  }

  /** Ends the backoff, because the network is back. */
  retryNow() {
    if (this.#isPaused) this.#connection.schedule('send', 0, () => this.#resume())
  }

  #request(operation: Pending) {
    const { key: idempotencyKey, change, expected: guard, attempts, isShared } = operation
    if (guard)
      return sendConditionally(
        (name, input, ifMatch) =>
          this.#connection.request(name, input, ifMatch === undefined ? {} : { idempotencyKey, ifMatch }),
        operation,
        isShared || attempts > 1,
      )
    const input = { ...(changeModel(change.name).hasBoardId && { board_id: this.#boardId }), ...change.input }
    return this.#connection.request(change.name, input, { idempotencyKey })
  }

  #onFailure(key: string, error: unknown) {
    const failure = failureOf(error)
    const status = failure?.status ?? 0
    if (failure && status >= 400 && status < 500 && status !== 401 && !isRetryable(failure)) {
      this.#failures = 0
      this.#core.reject(key, failure)
      return this.#resume()
    }
    // Unknown whether it was applied: retry with the same key.
    this.#core.requeue(key)
    if (this.#connection.phase === 'closed' || (status === 401 && this.#connection.endIfFatal(error))) return
    const backoff = this.#env.random() * Math.min(MAX_BACKOFF_MS, 500 * 2 ** this.#failures++)
    this.#isPaused = true
    const waitMs = Math.max(backoff, (failure?.retryAfterSeconds ?? 0) * 1_000)
    this.#connection.schedule('send', waitMs, () => this.#resume())
    this.#onChange()
  }

  #resume() {
    this.#isPaused = false
    if (this.#connection.phase === 'closed') return
    this.#onChange()
    this.send()
  }
}

const isRetryable = ({ status, retryAfterSeconds = 0 }: LiveFailure) =>
  RETRYABLE.includes(status) && retryAfterSeconds <= MAX_RETRY_AFTER_SECONDS

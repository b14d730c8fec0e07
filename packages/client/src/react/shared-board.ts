import type { Api } from '../live/api.ts'
import {
  type BoardListener,
  type Change,
  type FailedChange,
  LiveBoard,
  type LiveOptions,
  type QueueStorage,
  type Snapshot,
  type Status,
  type SubmittedChange,
} from '../live/index.ts'
import { callListener } from '../live/live-board.ts'
import { StoredQueue } from '../live/storage.ts'
import type { FullBoard, OnlineUser } from '../live/types.ts'

/**
 * How a board is opened: a storage for the queue of unconfirmed changes, the user they belong to, and the board of an
 * earlier visit.
 */
export interface BoardOptions extends Pick<LiveOptions, 'loadStored' | 'login'> {
  storage: QueueStorage
  userId: string
}

/** The immutable state of a live board that components render. */
export interface BoardState {
  /** The board to show. Unchanged parts are the same objects. Undefined only before the first load. */
  view: FullBoard | undefined
  status: Status
  /** The user's unconfirmed changes. */
  pending: readonly { key: string; change: Change }[]
  /** Changes that failed, with the text they contained, until they are dismissed. */
  failedChanges: readonly FailedChange[]
  presence: readonly OnlineUser[]
  canUndo: boolean
  canRedo: boolean
  /** Changes the board: an optimistic update, sent as soon as there is a connection. */
  change: LiveBoard['change']
  /** Undoes the user's last change. */
  undo: () => SubmittedChange[]
  /** Redoes the change that was undone last. */
  redo: () => SubmittedChange[]
  /** Drops an unconfirmed change. */
  discard: (key: string) => void
  /** Removes a failed change from the list. */
  dismiss: (key: string) => void
  /**
   * Connects and sends immediately instead of waiting for the backoff. Reopens a board that was closed because the
   * session ended, with everything pending, once its user has logged in again.
   */
  retry: () => void
  /** The server's board, without the user's unconfirmed changes. */
  snapshot: () => Snapshot | undefined
}

/**
 * Minimum time between two renders that other users cause. A single change is rendered at once; of many, each render
 * shows all that have arrived.
 */
const RENDER_INTERVAL_MS = 50

const boards = new WeakMap<Api, Map<string | undefined, SharedBoard>>()

/** The live board of this client and id, shared by the whole page. */
export function sharedBoard(api: Api, boardId: string | undefined): SharedBoard {
  const apiBoards = boards.get(api) ?? new Map<string | undefined, SharedBoard>()
  boards.set(api, apiBoards)
  const shared = apiBoards.get(boardId) ?? new SharedBoard(api, boardId)
  apiBoards.set(boardId, shared)
  return shared
}

/** A live board that is open as long as it has listeners. Without an id it never opens. */
export class SharedBoard {
  state: BoardState
  /** Options for opening it, if a component passes any. */
  options: BoardOptions | undefined
  readonly #api: Api
  readonly #boardId: string | undefined
  readonly #closed: BoardState
  readonly #listeners = new Set<() => void>()
  readonly #eventListeners = new Set<BoardListener>()
  /** Increases on every open and close, so that earlier asynchronous work can be ignored. */
  #generation = 0
  #isOpen = false
  #board: LiveBoard | undefined
  #renderedAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Events to deliver to the listeners after the state contains them. */
  #undelivered: Parameters<BoardListener>[] = []

  constructor(api: Api, boardId: string | undefined) {
    this.#api = api
    this.#boardId = boardId
    this.#closed = {
      view: undefined,
      status: connecting(),
      pending: [],
      failedChanges: [],
      presence: [],
      canUndo: false,
      canRedo: false,
      change: (name, input, how) => this.#opened().change(name, input, how),
      undo: () => this.#opened().undo(),
      redo: () => this.#opened().redo(),
      discard: (key) => this.#opened().discard(key),
      dismiss: (key) => this.#opened().dismiss(key),
      retry: () => this.#opened().retry(),
      snapshot: () => this.#board?.snapshot(),
    }
    this.state = this.#closed
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#addListener(this.#listeners, listener)

  readonly onEvent = (listener: BoardListener): (() => void) => this.#addListener(this.#eventListeners, listener)

  #addListener<T>(listeners: Set<T>, listener: T): () => void {
    listeners.add(listener)
    this.#openOrClose()
    return () => {
      listeners.delete(listener)
      this.#openOrClose()
    }
  }

  /** Runs after all components of a commit have (un)subscribed: StrictMode makes each do both twice. */
  #openOrClose() {
    queueMicrotask(() => {
      const boardId = this.#boardId
      const isWanted = this.#listeners.size + this.#eventListeners.size > 0
      if (boardId === undefined || isWanted === this.#isOpen) return
      this.#isOpen = isWanted
      const generation = ++this.#generation
      if (isWanted) void this.#open(boardId, generation)
      else this.#close()
    })
  }

  async #open(boardId: string, generation: number) {
    const api = this.#api
    const { options } = this
    this.state = { ...this.state, status: connecting() }
    const queue = options && new StoredQueue(options.storage, options.userId, boardId)
    const queued = await queue?.load()
    if (generation !== this.#generation) return
    const board = new LiveBoard(api, boardId, options ?? {}, queue, queued)
    this.#board = board
    board.subscribe(() => this.#renderSoon(board))
    // The board notifies of its new view first: either it was rendered just now, or a render is scheduled.
    board.onEvent((event, origin) => {
      this.#undelivered.push([event, origin])
      if (this.#timer === undefined) this.#deliver()
    })
    this.#render()
  }

  /**
   * Renders now, or when the interval since the last render is over. The user's own changes and their failures are
   * rendered at once.
   */
  #renderSoon({ pending, failedChanges }: LiveBoard) {
    const shown = this.state
    const wait = this.#renderedAt + RENDER_INTERVAL_MS - performance.now()
    const isOwn =
      pending.length !== shown.pending.length ||
      pending.at(-1)?.key !== shown.pending.at(-1)?.key ||
      failedChanges !== shown.failedChanges
    if (isOwn || wait <= 0) this.#render()
    else this.#timer ??= setTimeout(() => this.#render(), wait)
  }

  /** Shows the board's current state, then delivers the events it contains. */
  #render() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#board) return
    this.#renderedAt = performance.now()
    this.state = stateOf(this.#board, this.state)
    for (const listener of [...this.#listeners]) listener()
    this.#deliver()
  }

  #deliver() {
    for (const args of this.#undelivered.splice(0))
      for (const listener of [...this.#eventListeners]) callListener(() => listener(...args))
  }

  #close() {
    const board = this.#board
    this.#board = undefined
    this.#undelivered = []
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.state = this.#closed
    void board?.close()
  }

  #opened(): LiveBoard {
    if (!this.#board) throw new Error('The board is not open: no component that uses it is mounted')
    return this.#board
  }
}

const connecting = (): Status => ({ phase: 'connecting', pending: 0, reason: undefined, since: Date.now() })

function stateOf(board: LiveBoard, { pending, ...before }: BoardState): BoardState {
  const { view, status, failedChanges, presence, canUndo, canRedo } = board
  // The live board mutates its own list.
  const now = board.pending.map(({ key, change }) => ({ key, change }))
  const isSame = now.length === pending.length && now.every(({ key }, i) => key === pending[i]?.key)
  return {
    ...before,
    view,
    status,
    failedChanges,
    presence,
    canUndo,
    canRedo,
    pending: isSame ? pending : now,
  }
}

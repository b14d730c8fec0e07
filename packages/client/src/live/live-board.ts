import type { Api } from './api.ts'
import { BoardConnection, type CloseReason, type Phase } from './connection.ts'
import { BoardCore, type ChangeMode, type FailedChange, type Pending, type QueuedChange } from './core.ts'
import { type Environment, realEnvironment } from './environment.ts'
import { changeModel, subjectOf } from './model.ts'
import { Sender } from './sender.ts'
import { type QueueStorage, StoredQueue } from './storage.ts'
import { EventStream } from './stream.ts'
import type {
  BoardEvent,
  Change,
  ChangeName,
  ChangeOptions,
  ExpectedFields,
  FullBoard,
  Input,
  OnlineUser,
  StoredBoard,
} from './types.ts'

export interface LiveOptions {
  /** Stores unconfirmed changes across reloads. */
  storage?: QueueStorage
  /** Finds the last stored `snapshot`. It is shown when the service cannot be reached or returns an older board. */
  loadStored?: (() => Promise<StoredBoard | undefined>) | undefined
  /** The user, if known. Saves a request when there is a storage. */
  userId?: string
  /**
   * Names the login under which a change is made. It is stored with the change. Undefined: no user is logged in, and the
   * change is discarded.
   */
  login?: (() => string | undefined) | undefined
  /** Aborts the first load. */
  signal?: AbortSignal
  /** Replaces clock, network and randomness in tests. */
  environment?: Partial<Environment>
}
export interface Status {
  phase: Phase
  /** Number of unconfirmed changes of the user. */
  pending: number
  /** Why it is closed. */
  reason: CloseReason | undefined
  /**
   * When the board last became live or stopped being live, in milliseconds by the environment's clock, so that a page
   * can ignore short interruptions.
   */
  since: number
}
/** The server's board at an exact position: `<epoch>.<seq>`. */
export interface Snapshot {
  board: FullBoard
  position: string
}
/** Some events were skipped because the whole board was reloaded. Read the view instead. */
export interface Resync {
  type: 'resync'
}
const RESYNC: Resync = { type: 'resync' }
/** `isOwn`: caused by a change of this live board. False for other users, rules, and other tabs of the user. */
export interface EventOrigin {
  isOwn: boolean
}
/** Receives every event of a board. */
export type BoardListener = (event: BoardEvent | Resync, about: EventOrigin) => void
/** `unknown`: the board was closed before the server responded. */
export type ChangeOutcome =
  | { outcome: 'confirmed' | 'discarded' | 'unknown' }
  | { outcome: FailedChange['reason']; failure: FailedChange }
export interface SubmittedChange {
  key: string
  /** The id of the created or changed resource. */
  id: string
  change: Change
  /** Undoes exactly this change, even after later ones. Does nothing if it failed or was already undone. */
  undo: () => SubmittedChange[]
  /** Settles when the server has decided. Never rejects: failures are also in `failedChanges`. */
  done: Promise<ChangeOutcome>
}

/** Opens a live board. Resolves when the board is loaded; rejects if the user cannot read it. */
export async function openBoard(api: Api, boardId: string, options: LiveOptions = {}): Promise<LiveBoard> {
  const { storage, signal } = options
  let queued: QueuedChange[] = []
  let queue: StoredQueue | undefined
  let { userId } = options
  if (storage) {
    if (!userId) {
      const { data } = await api.request('getMe', {}, { signal: signal ?? new AbortController().signal, maxTries: 4 })
      userId = (data as { id: string }).id
    }
    queue = new StoredQueue(storage, userId, boardId)
    queued = await queue.load()
  }
  const board = new LiveBoard(api, boardId, userId ? { ...options, userId } : options, queue, queued)
  try {
    await board.ready
  } catch (error) {
    await board.close()
    throw error
  }
  return board
}

/** A live board: the server's board with the user's pending changes applied (optimistic updates). */
export class LiveBoard {
  /** Settles with the first load. */
  readonly ready: Promise<void>
  readonly #api: Api
  readonly #boardId: string
  readonly #core: BoardCore
  #connection: BoardConnection
  #sender: Sender
  readonly #env: Environment
  readonly #queue: StoredQueue | undefined
  readonly #loadStored: LiveOptions['loadStored']
  readonly #login: LiveOptions['login']
  readonly #stopWatchingQueue: (() => void) | undefined
  readonly #listeners = new Set<() => void>()
  readonly #eventListeners = new Set<BoardListener>()
  /** Events to deliver to the listeners after the view contains them. */
  #undelivered: Parameters<BoardListener>[] = []
  readonly #streams = new Set<EventStream<BoardEvent | Resync>>()
  readonly #unsettled = new Map<string, (settled: ChangeOutcome) => void>()
  #reason: CloseReason | undefined
  /** Closed permanently, not only until the user has access again. */
  #isClosed = false
  #lastStatus: Status
  #lastNotified: unknown[] = []
  #readiness: { resolve: () => void; reject: (error: unknown) => void } | undefined

  constructor(api: Api, boardId: string, options: LiveOptions, queue?: StoredQueue, queued: QueuedChange[] = []) {
    this.#api = api
    this.#boardId = boardId
    this.#env = { ...realEnvironment, ...options.environment }
    this.#queue = queue
    this.#loadStored = options.loadStored
    this.#login = options.login
    this.#core = new BoardCore(queued)
    this.#core.userId = options.userId
    this.#core.onEvent = (applied, isOwn) => {
      const event = applied ?? RESYNC
      for (const stream of this.#streams) stream.push(event)
      if (this.#eventListeners.size > 0) this.#undelivered.push([event, { isOwn }])
    }
    this.#stopWatchingQueue = queue && this.#env.onWake(() => void this.#mergeStored(queue))
    this.#connection = this.#newConnection()
    this.#sender = this.#newSender()
    this.#lastStatus = { phase: 'connecting', pending: queued.length, reason: undefined, since: this.#env.now() }
    this.ready = new Promise((resolve, reject) => {
      this.#readiness = { resolve, reject }
    })
    this.ready.catch(() => {})
    const { signal } = options
    const resolveUnknown = () => this.#readiness?.reject(signal?.reason)
    if (signal?.aborted) resolveUnknown()
    else signal?.addEventListener('abort', resolveUnknown, { once: true })
    this.#connection.start()
  }

  /** The board to show. Unchanged parts keep their object identity. Undefined only before the first load. */
  get view(): FullBoard | undefined {
    return this.#core.view
  }
  get status(): Status {
    return this.#lastStatus
  }
  /** The users connected to the board. */
  get presence(): readonly OnlineUser[] {
    return this.#connection.presence
  }
  /** Changes that failed, with the text they contained, until they are dismissed. */
  get failedChanges(): readonly FailedChange[] {
    return this.#core.failedChanges
  }
  /** The user's unconfirmed changes, in sending order. */
  get pending(): readonly Pick<Pending, 'key' | 'change' | 'attempts' | 'state'>[] {
    return this.#core.pending
  }
  get canUndo(): boolean {
    return this.#core.canUndo
  }
  get canRedo(): boolean {
    return this.#core.canRedo
  }
  /** The position of the server's board: `<epoch>.<seq>`. */
  get position(): string {
    const { epoch, seq } = this.#core.position
    return `${epoch}.${seq}`
  }

  /** The server's board without the user's pending changes. Store it to start offline. */
  snapshot(): Snapshot | undefined {
    const { base } = this.#core
    return base && { board: base, position: this.position }
  }

  /** Changes the board: an optimistic update, sent as soon as there is a connection. */
  change<N extends ChangeName>(name: N, input: Input<N>, options: ChangeOptions<N> = {}): SubmittedChange {
    return this.#enqueue({ name, input } as unknown as Change, 'new', options.unlessChanged)
  }

  /**
   * Undoes the user's last change, if there is one. Text that someone else has changed since is not overwritten: that
   * ends as a `conflict`.
   */
  undo(): SubmittedChange[] {
    return this.#undo()
  }

  /** Redoes the change that was undone last. Does nothing if there is none or the user has made a new change since. */
  redo(): SubmittedChange[] {
    const step = this.#core.redo()
    return step ? [this.#enqueue(step.change, 'redo', step.expected)] : []
  }

  /** Drops an unconfirmed change, for example one that the server keeps failing on. */
  discard(key: string) {
    this.#unsettled.get(key)?.({ outcome: 'discarded' })
    this.#unsettled.delete(key)
    this.#core.discard(key)
    this.#onChange()
  }

  /**
   * Connects and sends immediately instead of waiting for the backoff. Reopens a board that was closed because the
   * session ended or access was lost, with everything pending, for the same user only.
   */
  retry() {
    if (this.#connection.phase === 'closed') return void this.#reopen()
    this.#connection.retry()
    this.#sender.retryNow()
  }

  /** Removes a failed change from the list. */
  dismiss(key: string) {
    this.#core.dismiss(key)
    this.#notify()
  }

  /**
   * Calls `listener` whenever the view, status, presence or failed changes change. Returns the unsubscribe function.
   * Can be called without `this`.
   */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The events from now on, once and in order. A reader that falls too far behind gets a `resync`. */
  events(): EventStream<BoardEvent | Resync> {
    const stream: EventStream<BoardEvent | Resync> = new EventStream<BoardEvent | Resync>(RESYNC, () =>
      this.#streams.delete(stream),
    )
    this.#streams.add(stream)
    if (this.#connection.phase === 'closed') stream.end()
    return stream
  }

  /**
   * Calls `listener` for every event from now on, once and in order, after `view` contains it, and says whether this
   * live board caused it. (Ambiguous only if another tab of the user makes the same change at the same moment.)
   * Returns the unsubscribe function. Can be called without `this`.
   */
  readonly onEvent = (listener: BoardListener): (() => void) => {
    this.#eventListeners.add(listener)
    return () => void this.#eventListeners.delete(listener)
  }

  /** Closes the board. Unsent changes stay in the storage, if there is one. */
  async close() {
    this.#end('closed')
  }

  async [Symbol.asyncDispose]() {
    await this.close()
  }

  #newConnection() {
    const loadStored = this.#loadStored
    const ended = (reason: CloseReason, error?: unknown) => this.#end(reason, error)
    return new BoardConnection(this.#core, this.#boardId, this.#api, this.#env, {
      onChange: () => this.#onChange(),
      onEnd: ended,
      loadStored,
    })
  }
  #newSender() {
    return new Sender(this.#core, this.#boardId, this.#connection, this.#env, () => this.#notify())
  }

  /** Merges the stored queue when the page becomes active again: other tabs may have added or sent changes. */
  async #mergeStored(queue: StoredQueue) {
    const before = queue.keys
    const queued = await queue.load()
    if (this.#isClosed) return
    const own = new Set(this.#core.pending.map(({ key }) => key))
    const stored = new Set(queued.map(({ key }) => key))
    this.#core.addQueued(queued)
    // Changes that another tab added, and changes that another tab removed.
    this.#core.markShared([...stored].filter((key) => !own.has(key)).concat(before.filter((key) => !stored.has(key))))
    this.#onChange()
  }

  async #reopen() {
    if (this.#isClosed) return
    const core = this.#core
    try {
      const { data } = await this.#api.request('getMe', {}, { signal: new AbortController().signal, maxTries: 1 })
      const { id } = data as { id: string }
      core.userId ??= id
      // Another user must not send these changes. A concurrent call may also have reopened the board.
      if (core.userId !== id || this.#isClosed || this.#connection.phase !== 'closed') return
    } catch {
      // Still no session or no network: stay closed.
      return
    }
    this.#reason = undefined
    this.#connection = this.#newConnection()
    this.#sender = this.#newSender()
    this.#connection.start()
    this.#onChange()
  }

  #undo(key?: string): SubmittedChange[] {
    return this.#core.undo(key).map((change) => this.#enqueue(change, 'undo', this.#core.expectedForUndo(change)))
  }

  #enqueue(change: Change, mode: ChangeMode, expected?: ExpectedFields): SubmittedChange {
    const env = this.#env
    const key = env.newId()
    const fields = change.input as Record<string, unknown>
    const isNew = changeModel(change.name).verb === 'create'
    const id = ((isNew ? fields['id'] : subjectOf(change).id) ?? (isNew ? env.newId() : '')) as string
    const made = isNew ? ({ ...change, input: { ...fields, id } } as Change) : change
    const login = this.#login?.()
    const done = new Promise<ChangeOutcome>((resolve) => this.#unsettled.set(key, resolve))
    this.#core.change(key, made, new Date(env.now()).toISOString(), mode, expected, login)
    if (this.#login && !login) this.discard(key)
    else this.#onChange()
    if (this.#isClosed) this.#giveUp()
    return { key, id, change: made, undo: () => this.#undo(key), done }
  }

  #onChange() {
    if (this.#core.base) this.#readiness?.resolve()
    this.#notify()
    this.#sender.send()
  }

  /** Notifies the listeners if anything has changed. */
  #notify() {
    const core = this.#core
    const connection = this.#connection
    const view = core.view
    this.#queue?.save(core.pending)
    this.#resolveSettled()
    const { phase, pending, reason } = this.#lastStatus
    const isNew = phase !== connection.phase || pending !== core.pending.length || reason !== this.#reason
    const since = (phase === 'live') === (connection.phase === 'live') ? this.#lastStatus.since : this.#env.now()
    if (isNew) this.#lastStatus = { phase: connection.phase, pending: core.pending.length, reason: this.#reason, since }
    if (phase !== 'live' && connection.phase === 'live') this.#sender.retryNow()
    const now = [view, this.#lastStatus, connection.presence, core.failedChanges]
    const hasNews = now.some((part, i) => part !== this.#lastNotified[i])
    this.#lastNotified = now
    if (hasNews) for (const listener of [...this.#listeners]) callListener(listener)
    for (const args of this.#undelivered.splice(0))
      for (const listener of [...this.#eventListeners]) callListener(() => listener(...args))
  }

  /** Resolves `done` of the changes that the server has decided. */
  #resolveSettled() {
    for (const [key, resolve] of this.#unsettled) {
      const pending = this.#core.pending.find((operation) => operation.key === key)
      if (pending && pending.state !== 'accepted') continue
      this.#unsettled.delete(key)
      const failure = this.#core.failedChanges.find((each) => each.key === key)
      resolve(failure ? { outcome: failure.reason, failure } : { outcome: 'confirmed' })
    }
  }

  #end(reason: CloseReason, error?: unknown) {
    // A board that is closed until access returns can still be closed permanently.
    if (this.#connection.phase === 'closed' && reason !== 'closed') return
    this.#reason ??= reason
    this.#isClosed ||= reason === 'closed' || reason === 'deleted'
    this.#connection.stop()
    this.#readiness?.reject(error ?? new Error(`The board is ${reason}`))
    this.#notify()
    this.#giveUp()
    for (const stream of [...this.#streams]) stream.end()
    if (!this.#isClosed) return
    this.#stopWatchingQueue?.()
    this.#listeners.clear()
    this.#eventListeners.clear()
  }

  /** Resolves the remaining changes with an unknown outcome. */
  #giveUp() {
    for (const resolve of this.#unsettled.values()) resolve({ outcome: 'unknown' })
    this.#unsettled.clear()
  }
}

/** Calls a listener. Its error is reported as uncaught and does not break the board. */
export function callListener(listener: () => void) {
  try {
    listener()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

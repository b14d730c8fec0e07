import type { Api } from './api.ts'
import { BoardCore, type Kept, type Mode, type Notice, type Pending } from './core.ts'
import { type Environment, realEnvironment } from './environment.ts'
import { type EndReason, Line, type Phase } from './line.ts'
import { subjectOf } from './predict.ts'
import { Sender } from './sender.ts'
import { KeptQueue, type QueueStorage } from './storage.ts'
import { Stream } from './stream.ts'
import type {
  BoardEvent,
  Change,
  ChangeName,
  ChangeOptions,
  FullBoard,
  Guard,
  Input,
  OnlineUser,
  StoredBoard,
} from './types.ts'

export interface LiveOptions {
  /** Keeps changes that the board does not show yet over a reload. */
  storage?: QueueStorage
  /** Finds the last `snapshot` that was stored: shown when the service cannot be reached, or answers with an older board. */
  loadStored?: (() => Promise<StoredBoard | undefined>) | undefined
  /** Who the user is, if it is known: spares a request when there is a storage. */
  user_id?: string
  /** Gives up waiting for the first load. */
  signal?: AbortSignal
  /** The clock, the network and chance, for tests. */
  environment?: Partial<Environment>
}
export interface Status {
  phase: Phase
  /** How many changes of the user are not confirmed yet. */
  pending: number
  /** Why it is closed. */
  reason: EndReason | undefined
  /** When it went live, or ceased to be, by the environment's clock in milliseconds: a page need not tell of a moment. */
  since: number
}
/** A board as the server has or had it, exactly, and which state of it that is: `<epoch>.<seq>`. */
export interface Snapshot {
  board: FullBoard
  position: string
}
/** Some events are not to be had, because the board was loaded as a whole: look at the view. */
export interface Resync {
  type: 'resync'
}
/** `is_own`: a change of this very live board made the event. False for what others did, rules, and other tabs of the user. */
export interface AboutEvent {
  is_own: boolean
}
/** Told of every event of a board. */
export type BoardListener = (event: BoardEvent | Resync, about: AboutEvent) => void
/** `unknown`: the board was closed before the server decided. */
export type Settled = { outcome: 'confirmed' | 'discarded' | 'unknown' } | { outcome: Notice['reason']; notice: Notice }
export interface Made {
  key: string
  /** The id of what is being created, or the one that the change is about. */
  id: string
  /** What is changed. */
  change: Change
  /** Undoes this change, whatever the user has changed since. Does nothing if it failed or was undone before. */
  undo: () => Made[]
  /** Settles when the server has decided. It never rejects: a change that fails is in `notices` too. */
  done: Promise<Settled>
}

/** Opens a board and keeps it right. Ready when the board is loaded; fails when there is none for this user. */
export async function openBoard(api: Api, board_id: string, options: LiveOptions = {}): Promise<LiveBoard> {
  const { storage, signal } = options
  let kept: Kept[] = []
  let queue: KeptQueue | undefined
  let { user_id } = options
  if (storage) {
    if (!user_id) {
      const { data } = await api.request('getMe', {}, { signal: signal ?? new AbortController().signal, max_tries: 4 })
      user_id = (data as { id: string }).id
    }
    queue = new KeptQueue(storage, user_id, board_id)
    kept = await queue.load()
  }
  const board = new LiveBoard(api, board_id, { ...options, ...(user_id && { user_id }) }, queue, kept)
  try {
    await board.ready
  } catch (error) {
    await board.close()
    throw error
  }
  return board
}

/** A board that is always the server's board with the user's own changes laid over it. */
export class LiveBoard {
  /** Settles with the first load. */
  readonly ready: Promise<void>
  private readonly api: Api
  private readonly board_id: string
  private readonly core: BoardCore
  private line: Line
  private sender: Sender
  private readonly env: Environment
  private readonly queue: KeptQueue | undefined
  private readonly loadStored: LiveOptions['loadStored']
  private readonly stopAdopting: (() => void) | undefined
  private readonly listeners = new Set<() => void>()
  private readonly event_listeners = new Set<BoardListener>()
  /** Events that the listeners are to be told of, when what they made of the board can be seen. */
  private untold: Parameters<BoardListener>[] = []
  private readonly streams = new Set<Stream<BoardEvent | Resync>>()
  private readonly waiting = new Map<string, (settled: Settled) => void>()
  private reason: EndReason | undefined
  /** Closed for good, not only until the user may see the board again. */
  private isOver = false
  private shown: Status
  private seen: unknown[] = []
  private settleReady: { resolve: () => void; reject: (error: unknown) => void } | undefined

  constructor(api: Api, board_id: string, options: LiveOptions, queue?: KeptQueue, kept: Kept[] = []) {
    this.api = api
    this.board_id = board_id
    this.env = { ...realEnvironment, ...options.environment }
    this.queue = queue
    this.loadStored = options.loadStored
    this.core = new BoardCore(kept)
    this.core.user_id = options.user_id
    this.core.told = (taken, is_own) => {
      const event = taken ?? { type: 'resync' }
      for (const stream of this.streams) stream.push(event)
      if (this.event_listeners.size > 0) this.untold.push([event, { is_own }])
    }
    this.stopAdopting = queue && this.env.onWake(() => void this.adopt(queue))
    this.line = this.newLine()
    this.sender = this.newSender()
    this.shown = { phase: 'connecting', pending: kept.length, reason: undefined, since: this.env.now() }
    this.ready = new Promise((resolve, reject) => {
      this.settleReady = { resolve, reject }
    })
    this.ready.catch(() => {})
    const { signal } = options
    const giveUp = () => this.settleReady?.reject(signal?.reason)
    if (signal?.aborted) giveUp()
    else signal?.addEventListener('abort', giveUp, { once: true })
    this.line.start()
  }

  /** What to show. Equal parts are the same objects as before. Undefined only before the first load. */
  get view(): FullBoard | undefined {
    return this.core.view
  }
  get status(): Status {
    return this.shown
  }
  /** Who is connected to the board. */
  get presence(): readonly OnlineUser[] {
    return this.line.presence
  }
  /** Changes that did not come about, with what was typed, until they are dismissed. */
  get notices(): readonly Notice[] {
    return this.core.notices
  }
  /** The user's changes that are not confirmed yet, in the order in which they are sent. */
  get pending(): readonly Pick<Pending, 'key' | 'change' | 'attempts' | 'state'>[] {
    return this.core.pending
  }
  get can_undo(): boolean {
    return this.core.can_undo
  }
  get can_redo(): boolean {
    return this.core.can_redo
  }
  /** The position of the server's board under the view: `<epoch>.<seq>`. */
  get position(): string {
    const { epoch, seq } = this.core.at
    return `${epoch}.${seq}`
  }

  /** The server's board under the view, without the user's own changes: what a page keeps to come up without a network. */
  snapshot(): Snapshot | undefined {
    const { base } = this.core
    return base && { board: base, position: this.position }
  }

  /** Changes the board: shown at once, sent as soon as there is a line. */
  change<N extends ChangeName>(name: N, input: Input<N>, options: ChangeOptions<N> = {}): Made {
    return this.enqueue({ name, input } as unknown as Change, 'new', options.unless_changed)
  }

  /**
   * Takes the user's last change back, by changes of its own. Nothing when there is none. A text that somebody else has
   * written over it since is not overwritten: that ends as a `conflict`.
   */
  undo(): Made[] {
    return this.takeBack()
  }

  /** Makes the change again that was taken back last. Nothing when there is none, or the user has changed anything since. */
  redo(): Made[] {
    const step = this.core.redo()
    return step ? [this.enqueue(step.change, 'redo', step.guard)] : []
  }

  /** Gives up a change that is not confirmed, for example one that the server fails to answer again and again. */
  discard(key: string) {
    this.waiting.get(key)?.({ outcome: 'discarded' })
    this.waiting.delete(key)
    this.core.discard(key)
    this.changed()
  }

  /**
   * Tries at once to connect and to send, instead of when it is time again. A board that was closed because the session
   * had ended, or because the user was not let in, goes on with all that is pending once he may: for the same user only.
   */
  retry() {
    if (this.line.phase === 'closed') return void this.reopen()
    this.line.retry()
    this.sender.hurry()
  }

  /** The user has seen a notice. */
  dismiss(key: string) {
    this.core.dismiss(key)
    this.flush()
  }

  /** Called whenever the view, the status, the presence or the notices are new. The answer ends it. Needs no `this`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  /** The events of the board from now on, in order, each once. A reader who cannot keep up finds a `resync`. */
  events(): Stream<BoardEvent | Resync> {
    const stream: Stream<BoardEvent | Resync> = new Stream<BoardEvent | Resync>(
      () => ({ type: 'resync' }),
      () => this.streams.delete(stream),
    )
    this.streams.add(stream)
    if (this.line.phase === 'closed') stream.end()
    return stream
  }

  /**
   * Called for every event from now on, in order, each once, when `view` shows it, with whether this live board made it.
   * That is a guess only where another tab of the user does the same to the same thing at the same moment. The answer
   * ends it. Needs no `this`.
   */
  readonly onEvent = (listener: BoardListener): (() => void) => {
    this.event_listeners.add(listener)
    return () => void this.event_listeners.delete(listener)
  }

  /** Ends it. What is not sent stays in the storage, if there is one. */
  async close() {
    this.end('closed')
  }

  async [Symbol.asyncDispose]() {
    await this.close()
  }

  private newLine() {
    const { loadStored } = this
    const ended = (reason: EndReason, error?: unknown) => this.end(reason, error)
    return new Line(this.core, this.board_id, this.api, this.env, { changed: () => this.changed(), ended, loadStored })
  }
  private newSender() {
    return new Sender(this.core, this.board_id, this.line, this.env, () => this.flush())
  }

  /** A page that was away, in the background or in the back/forward cache, goes on with what others have left in the queue. */
  private async adopt(queue: KeptQueue) {
    const before = queue.keys
    const kept = await queue.load()
    if (this.isOver) return
    const own = new Set(this.core.pending.map(({ key }) => key))
    const stored = new Set(kept.map(({ key }) => key))
    this.core.adopt(kept)
    // What came from another page, and what another page has removed.
    this.core.share([...stored].filter((key) => !own.has(key)).concat(before.filter((key) => !stored.has(key))))
    this.changed()
  }

  private async reopen() {
    if (this.isOver) return
    const { core } = this
    try {
      const { data } = await this.api.request('getMe', {}, { signal: new AbortController().signal, max_tries: 1 })
      const { id } = data as { id: string }
      core.user_id ??= id
      // What waits is not for somebody else to send. And another call may have been quicker.
      if (core.user_id !== id || this.isOver || this.line.phase !== 'closed') return
    } catch {
      // Still without a session, or without a network: as it was.
      return
    }
    this.reason = undefined
    this.line = this.newLine()
    this.sender = this.newSender()
    this.line.start()
    this.changed()
  }

  private takeBack(key?: string): Made[] {
    return this.core.undo(key).map((change) => this.enqueue(change, 'undo', this.core.written(change)))
  }

  private enqueue(change: Change, mode: Mode, guard?: Guard): Made {
    const { env } = this
    const key = env.newId()
    const fields = change.input as Record<string, unknown>
    const isNew = change.name.startsWith('create')
    const id = ((isNew ? fields['id'] : subjectOf(change).id) ?? (isNew ? env.newId() : '')) as string
    const made = isNew ? ({ ...change, input: { ...fields, id } } as Change) : change
    const done = new Promise<Settled>((resolve) => this.waiting.set(key, resolve))
    this.core.change(key, made, new Date(env.now()).toISOString(), mode, guard)
    this.changed()
    if (this.isOver) this.giveUp()
    return { key, id, change: made, undo: () => this.takeBack(key), done }
  }

  private changed() {
    if (this.core.base) this.settleReady?.resolve()
    this.flush()
    this.sender.send()
  }

  /** Tells whoever asked to be told, if there is something to tell. */
  private flush() {
    const { core, line } = this
    const view = core.view
    this.queue?.save(core.pending)
    this.settle()
    const { phase, pending, reason } = this.shown
    const isNew = phase !== line.phase || pending !== core.pending.length || reason !== this.reason
    const since = (phase === 'live') === (line.phase === 'live') ? this.shown.since : this.env.now()
    if (isNew) this.shown = { phase: line.phase, pending: core.pending.length, reason: this.reason, since }
    if (phase !== 'live' && line.phase === 'live') this.sender.hurry()
    const now = [view, this.shown, line.presence, core.notices]
    const hasNews = now.some((part, i) => part !== this.seen[i])
    this.seen = now
    if (hasNews) for (const listener of [...this.listeners]) tell(listener)
    for (const told of this.untold.splice(0))
      for (const listener of [...this.event_listeners]) tell(() => listener(...told))
  }

  /** Tells the changes that are decided. */
  private settle() {
    for (const [key, resolve] of this.waiting) {
      const pending = this.core.pending.find((operation) => operation.key === key)
      if (pending && pending.state !== 'accepted') continue
      this.waiting.delete(key)
      const notice = this.core.notices.find((each) => each.key === key)
      resolve(notice ? { outcome: notice.reason, notice } : { outcome: 'confirmed' })
    }
  }

  private end(reason: EndReason, error?: unknown) {
    // What was closed until the user may see it again can still be closed for good.
    if (this.line.phase === 'closed' && reason !== 'closed') return
    this.reason ??= reason
    this.isOver ||= reason === 'closed' || reason === 'deleted'
    this.line.stop()
    this.settleReady?.reject(error ?? new Error(`The board is ${reason}`))
    this.flush()
    this.giveUp()
    for (const stream of [...this.streams]) stream.end()
    if (!this.isOver) return
    this.stopAdopting?.()
    this.listeners.clear()
    this.event_listeners.clear()
  }

  /** Nobody knows what becomes of the changes that somebody waits for. */
  private giveUp() {
    for (const resolve of this.waiting.values()) resolve({ outcome: 'unknown' })
    this.waiting.clear()
  }
}

/** A listener that fails is the page's trouble: the board goes on, and the error is reported as any other. */
export function tell(listener: () => void) {
  try {
    listener()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

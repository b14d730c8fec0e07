import { type Api, failureOf, type LiveRequestOptions, type LiveResponse, positionOf } from './api.ts'
import { type BoardCore, isBefore, type Position } from './core.ts'
import type { Environment, SocketLike } from './environment.ts'
import { applyPresence, type Message, type PresenceMessage, parseMessage } from './message.ts'
import type { BoardEvent, FullBoard, OnlineUser, StoredBoard } from './types.ts'

/** `live`: connected by WebSocket. `polling`: WebSockets are blocked. `offline`: the service cannot be reached. */
export type Phase = 'connecting' | 'live' | 'polling' | 'offline' | 'closed'
export type CloseReason = 'closed' | 'deleted' | 'forbidden' | 'unauthorized'

const HEALTH_CHECK_MS = 5_000
/**
 * The server pings every 30 seconds. With the health check interval, a dead connection is detected within 45 seconds.
 */
const SILENCE_MS = 40_000
/** A timer this late means that the machine was asleep, unless messages have arrived since. */
const SLEEP_MS = 5_000
const HELLO_TIMEOUT_MS = 10_000
/** Missing events usually arrive out of order shortly after. */
const GAP_GRACE_MS = 250
const POLL_MS = 4_000
const MAX_BACKOFF_MS = 15_000
/** After this many WebSockets in a row without a hello, something blocks them. */
const MAX_FAILED_HANDSHAKES = 3
const SOCKET_RETRY_MS = 40_000
const STABLE_MS = 10_000

interface ConnectionHandlers {
  /** The board of an earlier visit. */
  loadStored?: (() => Promise<StoredBoard | undefined>) | undefined
  /** The visible state may have changed. */
  onChange(): void
  onEnd(reason: CloseReason, error?: unknown): void
}

/**
 * Connection state machine that keeps the core up to date: events by WebSocket, gaps filled over HTTP, polling where
 * WebSockets are blocked.
 */
export class BoardConnection {
  phase: Phase = 'connecting'
  presence: OnlineUser[] = []
  readonly #core: BoardCore
  readonly #boardId: string
  readonly #api: Api
  readonly #env: Environment
  readonly #handlers: ConnectionHandlers
  readonly #abort = new AbortController()
  readonly #timers = new Map<string, () => void>()
  readonly #stopWaking: () => void
  #socket: SocketLike | undefined
  /** Increases with every attempt, so that callbacks of earlier ones can be ignored. */
  #generation = 0
  #epoch = 0
  #attempts = 0
  #failedHandshakes = 0
  #isReady = false
  #isFetching = false
  #fetchFailures = 0
  #lastMessageAt = 0
  #presenceChanges: PresenceMessage[] | undefined

  constructor(core: BoardCore, boardId: string, api: Api, env: Environment, handlers: ConnectionHandlers) {
    this.#core = core
    this.#boardId = boardId
    this.#api = api
    this.#env = env
    this.#handlers = handlers
    this.#stopWaking = env.onWake((isOnline) => this.#wake(isOnline))
  }

  start() {
    this.#checkHealth(this.#env.now())
    void this.#connect()
  }

  stop() {
    this.#generation++
    this.phase = 'closed'
    this.#stopWaking()
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    this.#abort.abort()
    this.#closeSocket(1000)
  }

  request(name: string, input: Record<string, unknown>, more: Partial<LiveRequestOptions> = {}): Promise<LiveResponse> {
    return this.#api.request(name, input, { signal: this.#abort.signal, maxTries: 1, strict: false, ...more })
  }

  /** Sets the timer of this name, replacing an earlier one. `stop` cancels all timers. */
  schedule(name: string, ms: number, work: () => void) {
    this.#timers.get(name)?.()
    if (this.phase === 'closed') return
    const cancel = this.#env.after(ms, () => {
      this.#timers.delete(name)
      work()
    })
    this.#timers.set(name, cancel)
  }

  /** Fetches missing events unless they arrive within the delay. */
  catchUp(delayMs = GAP_GRACE_MS) {
    if (!this.#core.base || this.#core.missing === 'nothing' || this.#timers.has('gap')) return
    this.schedule('gap', delayMs, () => {
      if (this.#core.missing !== 'nothing') void this.#fetchMissing()
    })
  }

  /** Ends the connection if access was lost or the board deleted; returns whether it did. */
  endIfFatal(error: unknown): boolean {
    const reasons: Record<number, CloseReason> = { 401: 'unauthorized', 403: 'forbidden', 404: 'deleted' }
    const reason = reasons[failureOf(error)?.status ?? 0]
    if (reason) this.#handlers.onEnd(reason, error)
    return reason !== undefined
  }

  async #connect() {
    const generation = ++this.#generation
    this.#isReady = false
    try {
      const ticket = this.request('createTicket', {})
      const [{ data }] = await Promise.all([ticket, this.#core.missing === 'board' ? this.#load() : undefined])
      if (generation === this.#generation) this.#openSocket((data as { ticket: string }).ticket, generation)
    } catch (error) {
      this.#onFailure(generation, error)
    }
  }

  /** A request of this attempt to connect has failed. */
  #onFailure(generation: number, error: unknown) {
    if (generation === this.#generation && !this.endIfFatal(error))
      this.#scheduleReconnect('offline', failureOf(error)?.retryAfterSeconds)
  }

  #openSocket(ticket: string, generation: number) {
    const { epoch, seq } = this.#core.position
    const query = `token=${encodeURIComponent(ticket)}&since=${epoch}.${seq}`
    let socket: SocketLike
    try {
      socket = this.#env.openSocket(`${this.#api.baseUrl}/ws/boards/${this.#boardId}?${query}`)
    } catch {
      // WebSockets are not available, or not to this address.
      return this.#onDisconnect(1006)
    }
    this.#socket = socket
    this.#lastMessageAt = this.#env.now()
    this.schedule('hello', HELLO_TIMEOUT_MS, () => this.#onDisconnect(1006))
    socket.onmessage = ({ data }) => {
      const message = generation === this.#generation ? parseMessage(data) : undefined
      if (message) this.#onMessage(message)
    }
    // After a rejected handshake, Node.js 22 emits no close event.
    socket.onerror = () => {
      if (generation === this.#generation && !this.#isReady) this.#onDisconnect(1006)
    }
    socket.onclose = ({ code }) => {
      if (generation === this.#generation) this.#onDisconnect(code)
    }
  }

  #onMessage(message: Message) {
    const core = this.#core
    this.#lastMessageAt = this.#env.now()
    switch (message.type) {
      case 'hello':
        this.#onHello(message)
        break
      case 'ping':
        // Reply immediately: timers are throttled in background tabs.
        this.#socket?.send('{"type":"pong"}')
        core.observePosition({ epoch: this.#epoch, seq: message.seq })
        break
      case 'resync':
        this.#epoch = message.epoch
        core.observePosition({ epoch: message.epoch, seq: message.seq })
        void this.#fetchMissing(false, true)
        break
      case 'user_joined':
      case 'user_left':
        // The first user to join is the user of this connection.
        core.userId ??= message.user_id
        this.#presenceChanges?.push(message)
        this.presence = applyPresence(this.presence, message)
        break
      default:
        if ('version' in message) core.receive(message, this.#epoch)
    }
    this.catchUp()
    this.#handlers.onChange()
    if (core.isDeleted) this.#handlers.onEnd('deleted')
  }

  #onHello({ epoch, seq }: Position) {
    this.#epoch = epoch
    this.#core.observePosition({ epoch, seq })
    this.#isReady = true
    this.#failedHandshakes = 0
    this.phase = 'live'
    for (const timer of ['hello', 'poll']) this.#cancelTimer(timer)
    this.schedule('stable', STABLE_MS, () => {
      this.#attempts = 0
    })
    void this.#loadPresence()
  }

  /** Loads the presence list, and applies the joins and leaves that arrived in the meantime. */
  async #loadPresence() {
    const generation = this.#generation
    const changes: PresenceMessage[] = []
    this.#presenceChanges = changes
    try {
      const { data } = await this.request('getPresence', { board_id: this.#boardId }, { maxTries: 4 })
      if (generation !== this.#generation) return
      this.presence = changes.reduce(applyPresence, (data as { online_users: OnlineUser[] }).online_users)
      this.#handlers.onChange()
    } catch {
      // Not essential: joins and leaves still arrive as messages.
    }
  }

  /** The WebSocket closed, or is considered dead. */
  #onDisconnect(code: number) {
    this.#generation++
    this.#closeSocket(4000)
    for (const timer of ['hello', 'stable']) this.#cancelTimer(timer)
    if (this.#core.isDeleted) return this.#handlers.onEnd('deleted')
    this.#failedHandshakes = this.#isReady ? 0 : this.#failedHandshakes + 1
    this.#isReady = false
    if (this.phase === 'live') this.phase = 'connecting'
    // Rejected (policy violation): the status of an HTTP request says why.
    if (code === 1008) {
      const generation = this.#generation
      void this.#load().then(
        () => generation === this.#generation && this.#scheduleReconnect('connecting'),
        (error) => this.#onFailure(generation, error),
      )
      return
    }
    const jitter = this.#env.random()
    this.#scheduleReconnect('connecting', code === 1013 ? 5 + jitter * 25 : code === 1012 ? jitter * 3 : undefined)
  }

  /** Reconnects after a random delay (jitter), because many clients lose their connection at the same moment. */
  #scheduleReconnect(phase: Phase, seconds?: number) {
    const isBlocked = this.#failedHandshakes >= MAX_FAILED_HANDSHAKES
    this.phase = phase === 'connecting' && isBlocked ? 'polling' : phase
    // Presence is only known while connected by WebSocket.
    if (this.phase !== 'connecting') this.presence = []
    const jitter = this.#env.random()
    const delay = isBlocked
      ? SOCKET_RETRY_MS * (0.5 + jitter)
      : jitter * Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** this.#attempts++)
    this.schedule(
      'connect',
      seconds === undefined ? delay : seconds * 1_000 * (1 + jitter / 2),
      () => void this.#connect(),
    )
    if (isBlocked && !this.#timers.has('poll')) this.#poll()
    this.#handlers.onChange()
  }

  #poll() {
    this.schedule('poll', POLL_MS * (0.75 + this.#env.random() / 2), () => {
      void this.#fetchMissing(true).then(() => this.#isReady || this.#poll())
    })
  }

  /** Loads the whole board. */
  async #load() {
    const stored = this.#core.base ? undefined : this.#handlers.loadStored?.()
    // Handled below if it is needed.
    stored?.catch(() => {})
    const { data, position } = await this.request('getBoard', { board_id: this.#boardId }).catch(async (error) => {
      const { status = 0 } = failureOf(error) ?? {}
      if (status === 0 || status === 429 || status >= 500) await this.#loadStored(stored)
      throw error
    })
    const at = positionOf(position)
    if (!at) throw new Error('The response has no Board-Position')
    await this.#loadStored(stored, at)
    if (this.phase === 'closed') return
    this.#core.load(data as FullBoard, at)
    this.catchUp()
    this.#handlers.onChange()
  }

  /** Shows the stored board if it is newer than the one that the service returned. */
  async #loadStored(stored: Promise<StoredBoard | undefined> | undefined, loaded?: Position) {
    try {
      const { position, read } = (await stored) ?? {}
      const at = positionOf(position)
      if (!at || !read || (loaded && !isBefore(loaded, at))) return
      const board = await read()
      if (this.phase === 'closed') return
      this.#core.load(board, at)
      this.#handlers.onChange()
    } catch {
      // Unreadable: treat it as missing.
    }
  }

  /** Fetches the events after the base, or the whole board if they are no longer available. */
  async #fetchMissing(isPoll = false, isResync = false) {
    if (this.#isFetching) return
    this.#isFetching = true
    const core = this.#core
    const { epoch, seq } = core.position
    /** From `Retry-After`. */
    let waitMs = 0
    try {
      if (isResync || core.missing === 'board') await this.#load()
      else await this.#loadEvents(epoch, seq)
      this.#fetchFailures = 0
      if (isPoll && !this.#isReady) this.phase = 'polling'
    } catch (error) {
      if (this.phase === 'closed' || this.endIfFatal(error)) return
      this.#fetchFailures++
      waitMs = (failureOf(error)?.retryAfterSeconds ?? 0) * 1_000
      if (isPoll && !this.#isReady) this.phase = 'offline'
    }
    this.#isFetching = false
    if (this.phase === 'closed') return
    const delay = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** this.#fetchFailures) * (0.5 + this.#env.random())
    // A message has scheduled the next request without the delay.
    this.#cancelTimer('gap')
    this.catchUp(core.position.seq > seq ? 0 : waitMs + delay)
    this.#handlers.onChange()
  }

  async #loadEvents(epoch: number, seq: number) {
    try {
      const input = { board_id: this.#boardId, after: `${epoch}.${seq}`, limit: 500 }
      const { data, position } = await this.request('listEvents', input)
      for (const event of data as BoardEvent[]) this.#core.receive(event, epoch)
      const head = positionOf(position)
      if (head) this.#core.observePosition(head)
    } catch (error) {
      if (failureOf(error)?.status !== 410) throw error
      await this.#load()
    }
  }

  /** Detects dead connections and a machine that was asleep. */
  #checkHealth(expected: number) {
    const now = this.#env.now()
    // In background tabs timers fire once a minute, but messages still arrive.
    const hasSlept = now - expected > SLEEP_MS && this.#lastMessageAt < expected
    if (this.#socket && this.#isReady && (hasSlept || now - this.#lastMessageAt > SILENCE_MS)) this.#wake(true)
    this.schedule('health', HEALTH_CHECK_MS, () => this.#checkHealth(now + HEALTH_CHECK_MS))
  }

  /** The network is back or the page is visible again: reconnect if the connection may be dead. */
  #wake(isOnline: boolean) {
    if (this.phase === 'closed') return
    if (this.#isReady && this.#socket) {
      const isQuiet = this.#env.now() - this.#lastMessageAt > SILENCE_MS - HEALTH_CHECK_MS
      if (!isOnline && !isQuiet) return
      this.#generation++
      this.#closeSocket(4000)
      this.phase = 'connecting'
    } else if (!this.#timers.has('connect')) return
    this.#cancelTimer('connect')
    this.#attempts = 0
    void this.#connect()
    this.#handlers.onChange()
  }

  /** Reconnects immediately unless the connection works. */
  retry() {
    if (!this.#isReady) this.#wake(true)
  }

  #closeSocket(code: number) {
    const socket = this.#socket
    this.#socket = undefined
    if (!socket) return
    socket.onmessage = null
    socket.onclose = null
    socket.close(code)
  }

  #cancelTimer(name: string) {
    this.#timers.get(name)?.()
    this.#timers.delete(name)
  }
}

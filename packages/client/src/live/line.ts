import { type Api, type ApiAnswer, failureOf, positionOf, type RequestOptions } from './api.ts'
import { type BoardCore, isBefore, type Position } from './core.ts'
import type { Environment, SocketLike } from './environment.ts'
import { type Message, parse, type UserMessage, withUser } from './message.ts'
import type { BoardEvent, FullBoard, OnlineUser, StoredBoard } from './types.ts'

/** `live` by socket, `polling` where no socket can be had, `offline` when nothing answers. */
export type Phase = 'connecting' | 'live' | 'polling' | 'offline' | 'closed'
export type EndReason = 'closed' | 'deleted' | 'forbidden' | 'unauthorized'

const TICK_MS = 5_000
/** The server pings every 30 seconds. With the tick a dead line is noticed within 45. */
const SILENCE_MS = 40_000
/** A timer that comes so late has slept with its machine, unless the line was heard of meanwhile. */
const SLEEP_MS = 5_000
const GREETING_MS = 10_000
/** What is missing is mostly on its way. */
const PATIENCE_MS = 250
const POLL_MS = 4_000
const MAX_BACKOFF_MS = 15_000
/** So many sockets in a row that never said hello: something on the way does not let them through. */
const MAX_REFUSALS = 3
const RETRY_SOCKET_MS = 40_000
const STEADY_MS = 10_000

interface Owner {
  /** The board of an earlier visit. */
  loadStored?: (() => Promise<StoredBoard | undefined>) | undefined
  /** Something that is shown may have changed. */
  changed(): void
  ended(reason: EndReason, error?: unknown): void
}

/** Keeps the core up to date: by socket, by asking for what is missing, by asking now and then where sockets are barred. */
export class Line {
  phase: Phase = 'connecting'
  presence: OnlineUser[] = []
  private readonly core: BoardCore
  private readonly board_id: string
  private readonly api: Api
  private readonly env: Environment
  private readonly owner: Owner
  private readonly abort = new AbortController()
  private readonly timers = new Map<string, () => void>()
  private readonly stopWaking: () => void
  private socket: SocketLike | undefined
  /** Grows with every attempt: what an older one left running is ignored. */
  private life = 0
  private epoch = 0
  private tries = 0
  private refusals = 0
  private isGreeted = false
  private isFilling = false
  private fill_failures = 0
  private last_frame = 0
  private heard: UserMessage[] | undefined

  constructor(core: BoardCore, board_id: string, api: Api, env: Environment, owner: Owner) {
    this.core = core
    this.board_id = board_id
    this.api = api
    this.env = env
    this.owner = owner
    this.stopWaking = env.onWake((is_online) => this.wake(is_online))
  }

  start() {
    this.tick(this.env.now())
    void this.connect()
  }

  stop() {
    this.life++
    this.phase = 'closed'
    this.stopWaking()
    for (const cancel of this.timers.values()) cancel()
    this.timers.clear()
    this.abort.abort()
    this.hangUp(1000)
  }

  request(name: string, input: Record<string, unknown>, more: Partial<RequestOptions> = {}): Promise<ApiAnswer> {
    return this.api.request(name, input, { signal: this.abort.signal, max_tries: 1, ...more })
  }

  /** One timer for each purpose; none outlives the line. */
  later(what: string, ms: number, work: () => void) {
    this.timers.get(what)?.()
    if (this.phase === 'closed') return
    const cancel = this.env.after(ms, () => {
      this.timers.delete(what)
      work()
    })
    this.timers.set(what, cancel)
  }

  /** Asks for what is missing, if it does not come by itself. */
  catchUp(delay_ms = PATIENCE_MS) {
    if (!this.core.base || this.core.missing === 'nothing' || this.timers.has('fill')) return
    this.later('fill', delay_ms, () => {
      if (this.core.missing !== 'nothing') void this.fill()
    })
  }

  /** Whether a failure is the end of the line; then it is ended. */
  isEnd(error: unknown): boolean {
    const reasons: Record<number, EndReason> = { 401: 'unauthorized', 403: 'forbidden', 404: 'deleted' }
    const reason = reasons[failureOf(error)?.status ?? 0]
    if (reason) this.owner.ended(reason, error)
    return reason !== undefined
  }

  private async connect() {
    const life = ++this.life
    this.isGreeted = false
    try {
      const ticket = this.request('createTicket', {})
      const [{ data }] = await Promise.all([ticket, this.core.missing === 'board' ? this.load() : undefined])
      if (life === this.life) this.open((data as { ticket: string }).ticket, life)
    } catch (error) {
      if (life === this.life && !this.isEnd(error)) this.comeBack('offline', failureOf(error)?.retry_after_seconds)
    }
  }

  private open(ticket: string, life: number) {
    const { epoch, seq } = this.core.at
    const query = `token=${encodeURIComponent(ticket)}&since=${epoch}.${seq}`
    let socket: SocketLike
    try {
      socket = this.env.openSocket(`${this.api.base_url}/ws/boards/${this.board_id}?${query}`)
    } catch {
      // No sockets here at all, or not to this address.
      return this.lose(1006)
    }
    this.socket = socket
    this.last_frame = this.env.now()
    this.later('greeting', GREETING_MS, () => this.lose(1006))
    socket.onmessage = ({ data }) => {
      const message = life === this.life ? parse(data) : undefined
      if (message) this.receive(message)
    }
    // The close that follows says it all.
    socket.onerror = () => {}
    socket.onclose = ({ code }) => {
      if (life === this.life) this.lose(code)
    }
  }

  private receive(message: Message) {
    const { core } = this
    this.last_frame = this.env.now()
    switch (message.type) {
      case 'hello':
        this.greet(message)
        break
      case 'ping':
        // At once and not by a timer: pages in the background have slow ones.
        this.socket?.send('{"type":"pong"}')
        core.hear({ epoch: this.epoch, seq: message.seq })
        break
      case 'resync':
        this.epoch = message.epoch
        core.hear({ epoch: message.epoch, seq: message.seq })
        this.loadOrLose()
        break
      case 'user_joined':
      case 'user_left':
        // The first to join is oneself.
        core.user_id ??= message.user_id
        this.heard?.push(message)
        this.presence = withUser(this.presence, message)
        break
      default:
        if ('version' in message) core.take(message, this.epoch)
    }
    this.catchUp()
    this.owner.changed()
    if (core.is_deleted) this.owner.ended('deleted')
  }

  private greet({ epoch, seq }: Position) {
    this.epoch = epoch
    this.core.hear({ epoch, seq })
    this.isGreeted = true
    this.refusals = 0
    this.phase = 'live'
    for (const timer of ['greeting', 'poll']) this.callOff(timer)
    this.later('steady', STEADY_MS, () => {
      this.tries = 0
    })
    void this.meet()
  }

  /** Who is here. Who comes or goes while the list is on its way is not lost. */
  private async meet() {
    const heard: typeof this.heard = []
    this.heard = heard
    try {
      const { data } = await this.request('getPresence', { board_id: this.board_id })
      this.presence = heard.reduce(withUser, (data as { online_users: OnlineUser[] }).online_users)
      if (this.phase !== 'closed') this.owner.changed()
    } catch {
      // Nice to have: those who come and go are told of all the same.
    }
  }

  /** The socket is gone, or as good as gone. */
  private lose(code: number) {
    this.life++
    this.hangUp(4000)
    for (const timer of ['greeting', 'steady']) this.callOff(timer)
    if (this.core.is_deleted) return this.owner.ended('deleted')
    this.refusals = this.isGreeted ? 0 : this.refusals + 1
    this.isGreeted = false
    if (this.phase === 'live') this.phase = 'connecting'
    // Refused: the service says by other means why, if it was not a matter of the moment.
    if (code === 1008) {
      const life = this.life
      void this.load().then(
        () => life === this.life && this.comeBack('connecting'),
        (error) => life === this.life && !this.isEnd(error) && this.comeBack('offline'),
      )
      return
    }
    const chance = this.env.random()
    this.comeBack('connecting', code === 1013 ? 5 + chance * 25 : code === 1012 ? chance * 3 : undefined)
  }

  /** Tries again later, at a random time: a thousand others have lost their line at this moment too. */
  private comeBack(phase: Phase, seconds?: number) {
    const isBarred = this.refusals >= MAX_REFUSALS
    this.phase = phase === 'connecting' && isBarred ? 'polling' : phase
    // Without a socket nobody says who comes and goes.
    if (this.phase !== 'connecting') this.presence = []
    const chance = this.env.random()
    const delay = isBarred
      ? RETRY_SOCKET_MS * (0.5 + chance)
      : chance * Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** this.tries++)
    this.later('connect', seconds === undefined ? delay : seconds * 1_000 * (1 + chance / 2), () => void this.connect())
    if (isBarred && !this.timers.has('poll')) this.poll()
    this.owner.changed()
  }

  private poll() {
    this.later('poll', POLL_MS * (0.75 + this.env.random() / 2), () => {
      void this.fill(true).then(() => this.isGreeted || this.poll())
    })
  }

  /** Loads the whole board. */
  private async load() {
    const stored = this.core.base ? undefined : this.owner.loadStored?.()
    // Waited for below, or not at all.
    stored?.catch(() => {})
    const { data, position } = await this.request('getBoard', { board_id: this.board_id }).catch(async (error) => {
      const { status = 0 } = failureOf(error) ?? {}
      if (status === 0 || status === 429 || status >= 500) await this.restore(stored)
      throw error
    })
    const at = positionOf(position)
    if (!at) throw new Error('The answer names no position')
    await this.restore(stored, at)
    if (this.phase === 'closed') return
    this.core.load(data as FullBoard, at)
    this.catchUp()
    this.owner.changed()
  }

  /** Starts with the board of an earlier visit, if it is newer than what the service answered. */
  private async restore(stored: Promise<StoredBoard | undefined> | undefined, answered?: Position) {
    try {
      const { position, read } = (await stored) ?? {}
      const at = positionOf(position)
      if (!at || !read || (answered && !isBefore(answered, at))) return
      const board = await read()
      if (this.phase === 'closed') return
      this.core.load(board, at)
      this.owner.changed()
    } catch {
      // It cannot be read: then there is none.
    }
  }

  private loadOrLose() {
    const { life } = this
    // A line that was given up meanwhile is not to be lost again: it would come back.
    void this.load().catch(() => life === this.life && this.lose(1006))
  }

  /** Reads the events behind the base, or the board when they are not to be had. */
  private async fill(isPoll = false) {
    if (this.isFilling) return
    this.isFilling = true
    const { core } = this
    const { epoch, seq } = core.at
    try {
      if (core.missing === 'board') await this.load()
      else await this.loadEvents(epoch, seq)
      this.fill_failures = 0
      if (isPoll && !this.isGreeted) this.phase = 'polling'
    } catch (error) {
      if (this.phase === 'closed' || this.isEnd(error)) return
      this.fill_failures++
      if (isPoll && !this.isGreeted) this.phase = 'offline'
    } finally {
      this.isFilling = false
    }
    if (this.phase === 'closed') return
    const patience = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** this.fill_failures) * (0.5 + this.env.random())
    this.catchUp(core.at.seq > seq ? 0 : patience)
    this.owner.changed()
  }

  private async loadEvents(epoch: number, seq: number) {
    try {
      const input = { board_id: this.board_id, after: `${epoch}.${seq}`, limit: 500 }
      const { data, position } = await this.request('listEvents', input)
      for (const event of data as BoardEvent[]) this.core.take(event, epoch)
      const head = positionOf(position)
      if (head) this.core.hear(head)
    } catch (error) {
      if (failureOf(error)?.status !== 410) throw error
      await this.load()
    }
  }

  /** Looks at the line again and again; notices when the machine has slept. */
  private tick(expected: number) {
    const now = this.env.now()
    // In the background timers come once a minute, but messages come all the same.
    const hasSlept = now - expected > SLEEP_MS && this.last_frame < expected
    if (this.socket && this.isGreeted && (hasSlept || now - this.last_frame > SILENCE_MS)) this.wake(true)
    this.later('tick', TICK_MS, () => this.tick(now + TICK_MS))
  }

  /** The network is back, or the page is looked at again: a line that may be dead is not waited for. */
  private wake(is_online: boolean) {
    if (this.phase === 'closed') return
    if (this.isGreeted && this.socket) {
      const isQuiet = this.env.now() - this.last_frame > SILENCE_MS - TICK_MS
      if (!is_online && !isQuiet) return
      this.life++
      this.hangUp(4000)
      this.phase = 'connecting'
    } else if (!this.timers.has('connect')) return
    this.callOff('connect')
    this.tries = 0
    void this.connect()
    this.owner.changed()
  }

  /** The user does not want to wait for the next try. A line that is well is left alone. */
  retry() {
    if (!this.isGreeted) this.wake(true)
  }

  private hangUp(code: number) {
    const { socket } = this
    this.socket = undefined
    if (!socket) return
    socket.onmessage = null
    socket.onclose = null
    socket.close(code)
  }

  private callOff(what: string) {
    this.timers.get(what)?.()
    this.timers.delete(what)
  }
}

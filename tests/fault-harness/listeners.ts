import type { Account } from '@lockstep/testing/accounts'
import type { Random } from '@lockstep/testing/random'
import { WebSocket } from 'ws'
import type { FaultEnvironment, HarnessBoard, Instance } from './environment.ts'
import { type Connection, type History, type ListenerKind, now } from './history.ts'

/** A slow reader pauses most of the time. */
const SLOW_PAUSE_MS = 1_500
const SLOW_READ_MS = 100

/** A client that watches a board, and reconnects to any instance when its connection ends. */
export class Listener {
  readonly kind: ListenerKind
  readonly board: HarnessBoard
  readonly user: Account
  /** The number of its last event; undefined before the first connection, and without numbers. */
  position: number | undefined
  connection: Connection | undefined
  private readonly id: number
  private readonly environment: FaultEnvironment
  private readonly history: History
  private readonly random: Random
  private readonly bodies: Map<string, string>
  private readonly timers = new Set<NodeJS.Timeout>()
  private socket: WebSocket | undefined
  private isOver = false

  constructor(
    id: number,
    kind: ListenerKind,
    board: HarnessBoard,
    user: Account,
    about: { environment: FaultEnvironment; history: History; random: Random; bodies: Map<string, string> },
  ) {
    this.id = id
    this.kind = kind
    this.board = board
    this.user = user
    this.environment = about.environment
    this.history = about.history
    this.random = about.random
    this.bodies = about.bodies
  }

  /** Connects to a random instance, or to the given one. */
  connect(index?: number) {
    const open = this.environment.instances.filter((i) => i.isInRotation && (index === undefined || i.index === index))
    if (open.length === 0) return this.reconnectAfter(100)
    const { index: instance, process } = this.random.pick(open) as Instance
    const numbers = this.kind === 'plain' ? '' : this.position === undefined ? '&seq=1' : `&since=1.${this.position}`
    const url = `${process.baseUrl.replace('http', 'ws')}/ws/boards/${this.board.id}?token=${this.user.token}${numbers}`
    const socket = new WebSocket(url, { handshakeTimeout: 2_000, perMessageDeflate: false })
    this.socket = socket
    const connection: Connection = {
      id: this.history.connections.length,
      listener: this.id,
      kind: this.kind,
      board_id: this.board.id,
      user_id: this.user.id,
      instance,
      since: this.position,
      opened: undefined,
      helloSeq: undefined,
      resyncSeq: undefined,
      receipts: [],
      presence: [],
      closed: undefined,
      code: undefined,
      endedByHarness: undefined,
    }
    this.connection = connection
    socket.on('error', () => {})
    socket.on('open', () => {
      connection.id = this.history.connections.push(connection) - 1
      if (this.kind === 'slow') this.readSlowly(socket)
    })
    socket.on('message', (data: Buffer) => this.onMessage(connection, data.toString()))
    socket.on('close', (code) => {
      connection.closed = now()
      connection.code = code
      this.reconnectAfter(code === 1008 ? 300 : 20 + this.random.below(200))
    })
  }

  /** Closes the connection without a close frame, like a network failure. */
  reset() {
    if (this.socket?.readyState !== WebSocket.OPEN || !this.connection) return
    this.connection.endedByHarness = 'reset'
    this.socket.terminate()
  }

  close() {
    this.isOver = true
    for (const timer of this.timers) clearTimeout(timer)
    if (this.connection) this.connection.endedByHarness ??= 'over'
    this.socket?.terminate()
  }

  private reconnectAfter(ms: number) {
    if (!this.isOver) this.schedule(ms, () => this.connect())
  }

  private schedule(ms: number, work: () => void) {
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      work()
    }, ms)
    this.timers.add(timer)
  }

  private readSlowly(socket: WebSocket) {
    if (socket.readyState !== WebSocket.OPEN || this.isOver) return
    socket.pause()
    this.schedule(SLOW_PAUSE_MS, () => {
      socket.resume()
      this.schedule(SLOW_READ_MS, () => this.readSlowly(socket))
    })
  }

  private onMessage(connection: Connection, text: string) {
    const at = now()
    connection.opened ??= at
    const [, number, type = ''] = /^\{(?:"seq":(\d+),)?"type":"([^"]+)"/.exec(text) ?? []
    if (type.includes('.')) {
      const seq = number === undefined ? undefined : Number(number)
      const body = seq === undefined ? text : `{${text.slice(text.indexOf(',') + 1)}`
      // Keeps one copy of each text, however many clients receive it.
      const known = this.bodies.get(body) ?? body
      this.bodies.set(known, known)
      connection.receipts.push({ at, type, seq, body: known })
      if (seq !== undefined) this.position = seq
    } else if (type.startsWith('user_')) {
      connection.presence.push({ at, type, user_id: (JSON.parse(text) as { user_id: string }).user_id })
    } else if (type === 'ping') {
      this.socket?.send('{"type":"pong"}')
    } else if (type === 'hello') {
      connection.helloSeq = Number((JSON.parse(text) as { seq: number }).seq)
      this.position ??= connection.helloSeq
    } else if (type === 'resync') {
      connection.resyncSeq = Number((JSON.parse(text) as { seq: number }).seq)
      this.position = connection.resyncSeq
    }
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { Broken, show } from './demand.ts'
import type { Service } from './service.ts'

export interface Message {
  type: string
  data: Record<string, unknown> & { id: string }
  [field: string]: unknown
}
interface Opening {
  /** Left out: no token in the address at all. */
  token?: string | undefined
  /** Whether pings are answered. */
  pongs?: boolean
  /** Another address than the service's own: a second instance, or a prefix. */
  at?: string
}

const PATIENCE_MS = 5_000

/** A WebSocket client that records every message and its time. */
export class Listener {
  readonly received: { message: Message; atMs: number }[] = []
  /** How it ended; `code` 1006 also when it never opened. */
  readonly closed: Promise<{ code: number; atMs: number }>
  private readonly ws: WebSocket
  private hasClosed = false

  constructor(service: Service, board_id: string, { token, pongs = true, at = service.baseUrl }: Opening) {
    const query = token === undefined ? '' : `?token=${encodeURIComponent(token)}`
    this.ws = new WebSocket(`${at.replace(/^http/, 'ws')}/ws/boards/${board_id}${query}`)
    this.ws.on('error', () => {})
    this.closed = new Promise((resolve) => {
      this.ws.once('close', (code) => {
        this.hasClosed = true
        resolve({ code, atMs: performance.now() })
      })
    })
    this.ws.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message
      service.overhear(`the message ${message.type}`, message)
      this.received.push({ message, atMs: performance.now() })
      if (pongs && message.type === 'ping') this.say({ type: 'pong' })
    })
  }

  /** Opens a socket and waits for the presence message that shows that it has joined. */
  static async follow(service: Service, board_id: string, opening: Opening): Promise<Listener> {
    const listener = new Listener(service, board_id, opening)
    await listener.next(({ type }) => type === 'user_joined', 'user_joined')
    return listener
  }

  get messages(): Message[] {
    return this.received.map(({ message }) => message)
  }
  /** The events of the board, in order of arrival. */
  get events(): Message[] {
    return this.messages.filter((message) => 'version' in message)
  }

  /** The first message that fits, now or later. */
  async next(isIt: (message: Message) => boolean, what: string, patienceMs = PATIENCE_MS): Promise<Message> {
    const deadline = performance.now() + patienceMs
    for (;;) {
      const found = this.messages.find(isIt)
      if (found) return found
      if (this.hasClosed) throw new Broken(`The socket was closed with ${(await this.closed).code} before ${what} came`)
      if (performance.now() > deadline) {
        const types = this.messages.map(({ type }) => type)
        throw new Broken(`No ${what} came within ${patienceMs / 1_000} s; what came: ${show(types)}`)
      }
      await pause(10)
    }
  }

  event = (type: string, isIt: (message: Message) => boolean = () => true) =>
    this.next((message) => message.type === type && isIt(message), `event ${type}`)

  /** How the socket is closed, if it is within the time. */
  async end(patienceMs = PATIENCE_MS): Promise<{ code: number; atMs: number }> {
    const late = new AbortController()
    const ended = await Promise.race([
      this.closed,
      pause(patienceMs, undefined, { signal: late.signal }).catch(() => undefined),
    ])
    late.abort()
    if (!ended) throw new Broken(`The socket was not closed within ${patienceMs / 1_000} s`)
    return ended
  }

  get isOpen(): boolean {
    return this.ws.readyState === WebSocket.OPEN
  }

  say(message: unknown) {
    this.ws.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** Closes with a close frame, like a closed tab. */
  async close() {
    this.ws.close(1000)
    await this.closed
  }

  /** Gone without a close frame. */
  [Symbol.dispose]() {
    this.ws.terminate()
  }
}

import { type ClientOptions, WebSocket } from 'ws'

export type Message = { type: string; seq?: number; username?: string; [field: string]: unknown }
export interface ReceivedMessage {
  message: Message
  text: string
  /** Time of arrival, by `performance.now()`. */
  at: number
}
export interface SocketClose {
  code: number
  reason: string
  at: number
}
/** A client that opens a socket: anything with an address and a token. */
export interface SocketOwner {
  baseUrl: string
  token: string | undefined
}
export interface SocketOptions {
  /** Requests sequence numbers. */
  seq?: boolean
  /** `<epoch>.<seq>`: the last position the client has seen. */
  since?: string
  /** Prefix of the path. */
  prefix?: string
  headers?: Record<string, string>
  /** Whether pings are answered automatically. */
  pongs?: boolean
  token?: string
  ws?: ClientOptions
}
type Matcher = string | ((message: Message) => boolean)

const TIMEOUT_MS = 10_000

/** Opens a socket to a board, as a client would. */
export const openSocket = (owner: SocketOwner, board_id: string, options: SocketOptions = {}) =>
  new TestSocket(owner, board_id, options)

/** A WebSocket client that records every message and when it arrived. */
export class TestSocket {
  readonly ws: WebSocket
  readonly received: ReceivedMessage[] = []
  /** Resolves when the handshake is complete; rejects if it failed. */
  readonly opened: Promise<void>
  /** Resolves when the connection is closed. Never rejects. */
  readonly closed: Promise<SocketClose>
  closing: SocketClose | undefined
  private read = 0
  private readonly waiting = new Set<() => void>()

  constructor({ baseUrl, token }: SocketOwner, board_id: string, options: SocketOptions) {
    const { seq, since, prefix = '', headers, pongs = true, ws } = options
    const query = new URLSearchParams()
    const sentToken = options.token ?? token
    if (sentToken !== undefined) query.set('token', sentToken)
    if (seq) query.set('seq', '1')
    if (since !== undefined) query.set('since', since)
    const address = `${baseUrl.replace('http', 'ws')}${prefix}/ws/boards/${board_id}?${query.toString()}`
    this.ws = new WebSocket(address, { ...ws, ...(headers && { headers }) })
    this.ws.on('error', () => {})
    this.opened = new Promise((resolve, reject) => {
      this.ws.once('open', resolve)
      this.ws.once('unexpected-response', (_request, response) => reject(new Error(`HTTP ${response.statusCode}`)))
      this.ws.once('error', reject)
    })
    this.opened.catch(() => {})
    this.closed = new Promise((resolve) => {
      this.ws.once('close', (code, reason) => {
        this.closing = { code, reason: reason.toString(), at: performance.now() }
        resolve(this.closing)
        this.wake()
      })
    })
    this.ws.on('message', (data: Buffer) => {
      const text = data.toString()
      const message = JSON.parse(text) as Message
      this.received.push({ message, text, at: performance.now() })
      if (pongs && message.type === 'ping') this.send({ type: 'pong' })
      this.wake()
    })
  }

  get messages(): Message[] {
    return this.received.map(({ message }) => message)
  }

  /** The events of the board, without pings and presence. */
  get events(): Message[] {
    return this.messages.filter((message) => 'version' in message)
  }

  get seqs(): (number | undefined)[] {
    return this.events.map(({ seq }) => seq)
  }

  /** Waits for the next message that fits, after the one returned before. Messages in between are skipped. */
  async next(matcher: Matcher = () => true, timeoutMs = TIMEOUT_MS): Promise<ReceivedMessage> {
    const fits = typeof matcher === 'string' ? ({ type }: Message) => type === matcher : matcher
    const deadline = performance.now() + timeoutMs
    for (;;) {
      for (; this.read < this.received.length; this.read++) {
        const received = this.received[this.read] as ReceivedMessage
        if (!fits(received.message)) continue
        this.read++
        return received
      }
      if (this.closing)
        throw new Error(`Closed with ${this.closing.code} while waiting for ${String(matcher)}; ${this.summary()}`)
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`Timed out waiting for ${String(matcher)}; ${this.summary()}`)
      await this.nextChange(left)
    }
  }

  /** Waits until the event with a number has arrived. */
  async upTo(seq: number, timeoutMs = TIMEOUT_MS): Promise<void> {
    // Hello and pings have numbers too.
    const fits = (message: Message) => message.seq === seq && 'version' in message
    if (!this.messages.some(fits)) await this.next(fits, timeoutMs)
  }

  send(message: unknown) {
    this.ws.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message))
  }

  /** Waits until the server has handled all messages that were sent so far. */
  async roundTrip() {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    this.ws.once('pong', resolve).ping()
    await Promise.race([promise, this.closed])
    if (this.closing) throw new Error(`Closed with ${this.closing.code}`)
  }

  /** Stops reading: what the server sends stays in its buffers and those of the operating system. */
  pause() {
    this.ws.pause()
  }

  resume() {
    this.ws.resume()
  }

  /** Closes with a closing handshake, like a browser tab. */
  async close(code = 1000): Promise<SocketClose> {
    this.ws.close(code)
    return this.closed
  }

  /** Drops the connection without a closing handshake. */
  terminate() {
    this.ws.terminate()
  }

  [Symbol.dispose]() {
    this.ws.terminate()
  }

  private nextChange(ms: number) {
    return new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.waiting.add(done)
    })
  }

  private wake() {
    for (const done of [...this.waiting]) done()
  }

  private summary() {
    return `so far: ${this.messages
      .slice(-10)
      .map(({ type, seq }) => (seq === undefined ? type : `${type} ${seq}`))
      .join(', ')}`
  }
}

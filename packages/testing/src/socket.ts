import { type ClientOptions, WebSocket } from 'ws'

export type Message = { type: string; seq?: number; username?: string; [field: string]: unknown }
export interface Arrival {
  message: Message
  text: string
  /** Arrival time of `performance.now()`. */
  at: number
}
export interface Closing {
  code: number
  reason: string
  at: number
}
/** The address and token to open a socket with. */
export interface Opener {
  base_url: string
  token: string | undefined
}
export interface Opening {
  /** Requests sequence numbers. */
  seq?: boolean
  /** The last position of the client: `<epoch>.<seq>`. */
  since?: string
  /** Prefix of the path. */
  prefix?: string
  headers?: Record<string, string>
  /** Whether pings are answered automatically. */
  pongs?: boolean
  token?: string
  options?: ClientOptions
}
type Matcher = string | ((message: Message) => boolean)

const PATIENCE_MS = 10_000

/** Opens the socket of a board, as a client would. */
export const openSocket = (opener: Opener, board_id: string, opening: Opening = {}) =>
  new TestSocket(opener, board_id, opening)

/** A WebSocket client that records every message and its time. */
export class TestSocket {
  readonly ws: WebSocket
  readonly arrivals: Arrival[] = []
  /** Settles when the handshake succeeded or failed. */
  readonly opened: Promise<void>
  /** How the socket was closed. Never rejects. */
  readonly closed: Promise<Closing>
  closing: Closing | undefined
  private read = 0
  private readonly waiting = new Set<() => void>()

  constructor({ base_url, token }: Opener, board_id: string, opening: Opening) {
    const { seq, since, prefix = '', headers, pongs = true, options } = opening
    const query = new URLSearchParams()
    const shown = opening.token ?? token
    if (shown !== undefined) query.set('token', shown)
    if (seq) query.set('seq', '1')
    if (since !== undefined) query.set('since', since)
    const address = `${base_url.replace('http', 'ws')}${prefix}/ws/boards/${board_id}?${query.toString()}`
    this.ws = new WebSocket(address, { ...options, ...(headers && { headers }) })
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
      this.arrivals.push({ message, text, at: performance.now() })
      if (pongs && message.type === 'ping') this.send({ type: 'pong' })
      this.wake()
    })
  }

  get messages(): Message[] {
    return this.arrivals.map(({ message }) => message)
  }

  /** The events of the board, without pings and presence. */
  get events(): Message[] {
    return this.messages.filter((message) => 'version' in message)
  }

  get seqs(): (number | undefined)[] {
    return this.events.map(({ seq }) => seq)
  }

  /** The next matching message after the last one returned. Messages in between are skipped. */
  async next(matcher: Matcher = () => true, patienceMs = PATIENCE_MS): Promise<Arrival> {
    const fits = typeof matcher === 'string' ? ({ type }: Message) => type === matcher : matcher
    const deadline = performance.now() + patienceMs
    for (;;) {
      for (; this.read < this.arrivals.length; this.read++) {
        const arrival = this.arrivals[this.read] as Arrival
        if (!fits(arrival.message)) continue
        this.read++
        return arrival
      }
      if (this.closing) throw new Error(`Closed with ${this.closing.code} before it came; ${this.summary()}`)
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`Timed out waiting for ${String(matcher)}; ${this.summary()}`)
      await this.news(left)
    }
  }

  /** Waits until the event with this number has arrived. */
  async upTo(seq: number, patienceMs = PATIENCE_MS): Promise<void> {
    // `hello` and `ping` have numbers too.
    const isIt = (message: Message) => message.seq === seq && 'version' in message
    if (!this.messages.some(isIt)) await this.next(isIt, patienceMs)
  }

  send(message: unknown) {
    this.ws.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message))
  }

  /** Stops reading: sent data stays in the buffers of the server and the system. */
  pause() {
    this.ws.pause()
  }

  resume() {
    this.ws.resume()
  }

  /** Closes with a close frame, like a closed tab. */
  async close(code = 1000): Promise<Closing> {
    this.ws.close(code)
    return this.closed
  }

  /** Closes the connection without a close frame. */
  terminate() {
    this.ws.terminate()
  }

  [Symbol.dispose]() {
    this.ws.terminate()
  }

  private news(ms: number) {
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

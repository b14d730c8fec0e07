import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'

const PASSWORD = 'hush-hush correct horse'
const BOARDS = 6
/** Maximum cards per board: large boards are not tested here. */
const CARDS = 100

interface Board {
  id: string
  column_id: string
  acknowledged: Set<string>
}
export interface Load {
  writers: number
  readers: number
  sockets: number
  /** Pause between two requests of a client. */
  pauseMs: number
}
export interface Outcome {
  requests: number
  failed: string[]
  longestMs: number
  opened: number
  reconnects: number
  /** Number of closed sockets by close code. */
  closes: Record<string, number>
  events: number
  lost: string[]
}

/** Clients that write, read and subscribe through a proxy, and record all responses and events. */
export class Clients {
  private readonly baseUrl: string
  private readonly load: Load
  private token = ''
  private boards: Board[] = []
  private readonly subscribers: Subscriber[] = []
  private isOver = false
  private work: Promise<void>[] = []
  private readonly outcome: Outcome
  constructor(baseUrl: string, load: Load) {
    this.baseUrl = baseUrl
    this.load = load
    const counts = { requests: 0, longestMs: 0, opened: 0, reconnects: 0, events: 0 }
    this.outcome = { ...counts, failed: [], closes: {}, lost: [] }
  }

  async start() {
    const email = `${randomUUID()}@example.com`
    const account = { email, username: email.slice(0, 13), password: PASSWORD }
    await this.send('POST', '/auth/register', 201, JSON.stringify(account))
    const form = new URLSearchParams({ username: email, password: PASSWORD })
    this.token = (await this.send('POST', '/auth/login', 200, form))?.['access_token'] ?? ''
    for (let i = 0; i < BOARDS; i++) {
      const board = await this.send('POST', '/boards', 201, JSON.stringify({ title: `Board ${i}` }))
      const id = board?.['id'] ?? ''
      const column = await this.send('POST', `/boards/${id}/columns`, 201, JSON.stringify({ title: 'To do' }))
      this.boards.push({ id, column_id: column?.['id'] ?? '', acknowledged: new Set() })
    }
    const boardOf = (i: number) => this.boards[i % BOARDS] as Board
    for (let i = 0; i < this.load.sockets; i++) this.subscribers.push(new Subscriber(this, boardOf(i), this.outcome))
    await Promise.all(this.subscribers.map((subscriber) => subscriber.hasSubscribed()))
    const repeat = async (act: () => Promise<unknown>) => {
      while (!this.isOver) {
        await act()
        await pause(this.load.pauseMs)
      }
    }
    this.work = [
      ...Array.from({ length: this.load.writers }, (_, i) => repeat(() => this.write(boardOf(i)))),
      ...Array.from({ length: this.load.readers }, (_, i) =>
        repeat(() => this.send('GET', `/boards/${boardOf(i).id}`, 200)),
      ),
    ]
  }

  get requests() {
    return this.outcome.requests
  }
  get failures() {
    return this.outcome.failed
  }
  get connection() {
    return { baseUrl: this.baseUrl, token: this.token }
  }

  /** Stops the load, and compares responses and events with the database. */
  async stop(readBoard: (board_id: string) => Promise<{ log: number[]; cards: Set<string> }>): Promise<Outcome> {
    this.isOver = true
    await Promise.all(this.work)
    for (const board of this.boards) {
      const { log, cards } = await readBoard(board.id)
      const lost = [...board.acknowledged].filter((id) => !cards.has(id))
      this.outcome.lost.push(...lost.map((id) => `card ${id} was acknowledged, but is missing`))
      const subscribers = this.subscribers.filter((subscriber) => subscriber.board === board)
      const missing = await Promise.all(subscribers.map((subscriber) => subscriber.missing(log)))
      this.outcome.lost.push(...missing.flat())
    }
    for (const subscriber of this.subscribers) subscriber.stop()
    return this.outcome
  }

  private async write({ id: board_id, column_id, acknowledged }: Board) {
    const [oldest] = acknowledged
    if (oldest !== undefined && acknowledged.size >= CARDS) {
      acknowledged.delete(oldest)
      await this.send('DELETE', `/cards/${oldest}`, 204)
      return
    }
    const id = randomUUID()
    const path = `/boards/${board_id}/columns/${column_id}/cards`
    if (await this.send('POST', path, 201, JSON.stringify({ id, title: 'Written' }))) acknowledged.add(id)
  }

  /** Sends a request once, without retries. Any other status than expected is a failure. */
  private async send(method: string, path: string, expected: number, body?: string | URLSearchParams) {
    const began = performance.now()
    this.outcome.requests++
    try {
      const response = await fetch(this.baseUrl + path, {
        method,
        headers: {
          ...(this.token !== '' && { authorization: `Bearer ${this.token}` }),
          ...(typeof body === 'string' && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      })
      const text = await response.text()
      this.outcome.longestMs = Math.max(this.outcome.longestMs, performance.now() - began)
      if (response.status === expected) return (text === '' ? {} : JSON.parse(text)) as Record<string, string>
      this.outcome.failed.push(`${method} ${path}: ${response.status} ${text.slice(0, 100)}`)
    } catch (error) {
      const { message, cause } = error as Error
      this.outcome.failed.push(`${method} ${path}: ${message} ${cause instanceof Error ? cause.message : ''}`)
    }
    return undefined
  }
}

/** Subscribes to a board, and resumes after each disconnect. */
class Subscriber {
  readonly board: Board
  private readonly clients: Clients
  private readonly outcome: Outcome
  private socket: WebSocket | undefined
  private readonly seqs: number[] = []
  private first: number | undefined
  private epoch: unknown
  private isOver = false

  constructor(clients: Clients, board: Board, outcome: Outcome) {
    this.clients = clients
    this.board = board
    this.outcome = outcome
    void this.run()
  }

  private async run() {
    while (!this.isOver) {
      const code = await this.connect()
      if (this.isOver) return
      this.outcome.closes[code] = (this.outcome.closes[code] ?? 0) + 1
      this.outcome.reconnects++
      // Reconnect with jitter.
      await pause(50 + Math.random() * 200)
    }
  }

  /** Opens a connection. Resolves with the close code. */
  private connect() {
    const { baseUrl, token } = this.clients.connection
    const query = new URLSearchParams({ token, seq: '1' })
    if (this.first !== undefined) query.set('since', `${String(this.epoch)}.${this.seqs.at(-1) ?? this.first}`)
    const socket = new WebSocket(`${baseUrl.replace('http', 'ws')}/ws/boards/${this.board.id}?${query.toString()}`)
    this.socket = socket
    socket.on('open', () => this.outcome.opened++)
    socket.on('unexpected-response', (_, { statusCode }) => this.outcome.failed.push(`socket: HTTP ${statusCode}`))
    socket.on('error', (error) => this.isOver || this.outcome.failed.push(`socket: ${error.message}`))
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; version?: string; seq: number; epoch?: number }
      if (message.version !== undefined) this.seqs.push(message.seq)
      else if (message.type === 'ping') socket.send('{"type":"pong"}')
      else if (message.type === 'resync') this.outcome.lost.push('a client got a resync')
      else if (message.type === 'hello') {
        this.epoch = message.epoch
        this.first ??= message.seq
      }
    })
    return new Promise<number>((resolve) => socket.once('close', resolve))
  }

  hasSubscribed = async () => {
    while (this.first === undefined) await pause(10)
  }

  /** Compares the received events with the log: each event after the start exactly once, in order. */
  async missing(log: number[]): Promise<string[]> {
    const expected = log.filter((seq) => seq > (this.first ?? 0))
    const deadline = Date.now() + 15_000
    while (this.seqs.length < expected.length && Date.now() < deadline) await pause(20)
    const { seqs } = this
    this.outcome.events += seqs.length
    const at = expected.findIndex((seq, i) => seqs[i] !== seq)
    if (at === -1 && seqs.length === expected.length) return []
    return [`event ${at + 1} is ${seqs[at]}, not ${expected[at]}; ${seqs.length} of ${expected.length} received`]
  }

  stop() {
    this.isOver = true
    this.socket?.terminate()
  }
}

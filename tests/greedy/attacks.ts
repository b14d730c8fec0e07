import { randomBytes, randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { type Account, FORM, fileForm, loginForm, longText, MULTIPART, type Owner } from './prepare.ts'

export interface AttackCommand {
  name: AttackName
  baseUrl: string
  localAddress: string
  account: Account
  /** Accounts whose limits this start of the attack may use up. */
  crowd: Account[]
  /** The bystander first. */
  victims: Account[]
  ms: number
}

/** Counts by outcome: a status, a close code, a connection error, or what a connection has reached. */
export type Outcomes = Record<string, number>

const JSON_TYPE = { 'content-type': 'application/json' }
const GZIP = { 'accept-encoding': 'gzip' }

/** A running attack. At its end it closes everything it opened. */
class Attack {
  readonly outcomes: Outcomes = {}
  readonly command: AttackCommand
  private readonly agent: Agent
  private readonly sockets = new Set<{ destroy: () => void }>()
  private readonly stop = new AbortController()

  constructor(command: AttackCommand) {
    this.command = command
    this.agent = new Agent({ keepAlive: true, localAddress: command.localAddress })
  }

  get isOver() {
    return this.stop.signal.aborted
  }

  end() {
    this.stop.abort()
    this.agent.destroy()
    this.closeSockets()
  }

  closeSockets() {
    for (const socket of this.sockets) socket.destroy()
    this.sockets.clear()
  }

  count(outcome: string | number) {
    if (!this.isOver) this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1
  }

  async pause(ms: number) {
    await pause(Math.max(0, ms), undefined, { signal: this.stop.signal }).catch(() => {})
  }

  /** Repeats an action until the end, with some concurrency and at most once every `everyMs`. */
  async repeat(atOnce: number, act: (nth: number) => Promise<unknown>, everyMs = 0) {
    let nth = 0
    const worker = async () => {
      while (!this.isOver) {
        const next = performance.now() + everyMs
        await act(nth++)
        await this.pause(next - performance.now())
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }

  /** Does something many times, at a rate. */
  async each(times: number, everyMs: number, act: (nth: number) => void) {
    for (let nth = 0; nth < times && !this.isOver; nth++) {
      act(nth)
      await this.pause(everyMs)
    }
  }

  /** Sends one request and discards its response. Resolves when it is over, whatever the result. */
  send(method: string, path: string, headers: Record<string, string> = {}, body?: Buffer) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const authorization = `Bearer ${this.command.account.token}`
    const length = body && { 'content-length': String(body.length) }
    const all = { authorization, ...length, ...headers }
    const sent = request(this.command.baseUrl + path, { method, agent: this.agent, headers: all })
    sent.on('error', (error: NodeJS.ErrnoException) => this.count(error.code ?? error.message))
    sent.once('response', (response) => {
      this.count(response.statusCode ?? 0)
      response.on('error', () => {}).resume()
    })
    sent.once('close', resolve)
    sent.end(body)
    return promise
  }

  json(method: string, path: string, content: unknown) {
    return this.send(method, path, JSON_TYPE, Buffer.from(JSON.stringify(content)))
  }

  /** Opens a connection, and writes what may be less or more than a request. Reads nothing until it is resumed. */
  open(text: string): Socket {
    const { baseUrl, localAddress } = this.command
    const socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1', localAddress })
    this.sockets.add(socket)
    socket.once('connect', () => this.count('connected'))
    socket.on('error', (error: NodeJS.ErrnoException) => this.count(error.code ?? error.message))
    socket.pause()
    socket.write(text)
    return socket
  }

  openSocket(board: string, query: string): WebSocket {
    const { baseUrl, localAddress, account } = this.command
    const address = `${baseUrl.replace('http', 'ws')}/ws/boards/${board}?token=${account.token}${query}`
    const socket = new WebSocket(address, { localAddress })
    this.sockets.add({ destroy: () => socket.terminate() })
    socket.on('error', () => {})
    socket.once('close', (code) => this.count(`closed ${code}`))
    return socket
  }

  head(line: string, headers: Record<string, string> = {}) {
    const all = Object.entries({ host: 'x', authorization: `Bearer ${this.command.account.token}`, ...headers })
    return `${[`${line} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`
  }

  board(nth = 0) {
    const { boards } = this.command.account
    return boards[nth % boards.length] as Account['boards'][number]
  }

  rename(nth: number, title: number) {
    return this.json('PATCH', `/columns/${this.board(nth).column}`, { title: `Renamed ${title}` })
  }

  /** A page of the log of 1 MB, from one of 20 positions, so that readers do not share pages. */
  logPage = (nth: number) => `/boards/${this.board().id}/events?limit=500&after=${nth % 20}`

  upload(bytes: number) {
    const form = fileForm(randomBytes(bytes))
    const path = `/cards/${this.board().cards[0]}/attachments`
    return this.repeat(6, () => this.send('POST', path, MULTIPART, form))
  }
}

/** `owner` is whose account attacks, undefined for one of the crowd. Without the outcome `reaches` the attack had no effect. */
const define = (
  title: string,
  owner: Owner | undefined,
  reaches: string,
  run: (attack: Attack) => Promise<unknown>,
) => ({ title, owner, reaches, run })

/** Each is lawful: it needs no special right and no broken HTTP. But it does not wait for as long as a 429 tells it to. */
export const attacks = {
  history: define('12 readers of history pages of 1 MB', 'history', '200', (attack) =>
    attack.repeat(12, (nth) => attack.send('GET', attack.logPage(nth))),
  ),
  lists: define('lists of 490 boards of 64 KiB, 12 at once', 'lists', '200', (attack) =>
    attack.repeat(12, () => attack.send('GET', '/boards')),
  ),
  searches: define('12 searches at once in a board of 8 MB', 'boards', '200', (attack) =>
    attack.repeat(12, () => attack.send('GET', `/boards/${attack.board().id}/cards?search=qzx`)),
  ),
  boards: define('20 boards of 8 MB, changed and loaded, 12 at once', 'boards', '200', (attack) =>
    attack.repeat(12, async (nth) => {
      const { id, cards } = attack.board(nth)
      await attack.json('PATCH', `/cards/${cards[0]}`, { title: `Changed ${nth}` })
      await attack.send('GET', `/boards/${id}`, GZIP)
    }),
  ),
  renames: define('renames of 20 columns of 8 MB', 'boards', '200', (attack) =>
    attack.repeat(1, async (nth) => {
      await Promise.all(attack.command.account.boards.map((_, i) => attack.rename(i, nth)))
      await attack.pause(300)
    }),
  ),
  'unread-boards': define('120 loads of boards of 8 MB that nobody reads', 'boards', 'connected', (attack) =>
    attack.each(120, 20, (nth) => attack.open(attack.head(`GET /boards/${attack.board(nth).id}`))),
  ),
  'unread-history': define('400 history pages that nobody reads', 'history', 'connected', (attack) =>
    attack.each(400, 10, (nth) => attack.open(attack.head(`GET ${attack.logPage(nth)}`))),
  ),
  uploads: define('uploads of 10 MB, six at once', 'files', '201', (attack) => attack.upload(10_000_000)),
  'rejected-uploads': define('uploads of 12 MB, six at once', 'files', '400', (attack) => attack.upload(12_000_000)),
  'slow-downloads': define('300 downloads of 10 MB at 1 KB/s', 'files', 'connected', (attack) => {
    const sockets: Socket[] = []
    const open = () => sockets.push(attack.open(attack.head(`GET ${attack.command.account.file}`)))
    const read = async () => {
      for (const socket of sockets) socket.read(1_000)
    }
    return Promise.all([attack.each(300, 5, open), attack.repeat(1, read, 1_000)])
  }),
  downloads: define('downloads of 10 MB, 12 at once', 'files', '200', (attack) =>
    attack.repeat(12, () => attack.send('GET', attack.command.account.file)),
  ),
  logins: define('300 right logins at once from one address', undefined, '200', (attack) => {
    const forms = attack.command.crowd.map(({ email }) => loginForm(email))
    return attack.repeat(300, (nth) => attack.send('POST', '/auth/login', FORM, forms[nth % forms.length]))
  }),
  flood: define('100 small requests at once', undefined, '200', (attack) =>
    attack.repeat(100, () => attack.send('GET', '/auth/me')),
  ),
  pipelined: define('six times 800 pipelined requests a second', undefined, 'connected', (attack) => {
    const requests = attack.head('GET /auth/me').repeat(800)
    const open = async () => {
      attack.closeSockets()
      for (let i = 0; i < 6; i++) attack.open(requests).resume()
    }
    return attack.repeat(1, open, 1_000)
  }),
  bodies: define('100 bodies of 0.8 MB without their last byte', 'files', 'connected', (attack) => {
    // The largest that are accepted.
    const { id, column } = attack.board()
    const headers = { ...JSON_TYPE, 'content-length': '800000' }
    const head = attack.head(`POST /boards/${id}/columns/${column}/cards`, headers)
    const body = '{"title":"Card","description":"'.padEnd(799_999, 'x')
    return attack.each(100, 20, () => attack.open(head + body).resume())
  }),
  'unread-sockets': define('200 sockets that do not read, and events of 1 MB', 'sockets', 'open', (attack) => {
    const open = (nth: number) => {
      const socket = attack.openSocket(attack.board(nth).id, '&seq=1')
      socket.once('open', () => {
        attack.count('open')
        socket.pause()
      })
    }
    return Promise.all([attack.each(200, 2, open), attack.repeat(10, (nth) => attack.rename(nth, nth), 200)])
  }),
  'resuming-sockets': define('sockets that resume in a log of 31 MB, 40 a second', 'history', 'resumed', (attack) => {
    const { id, start } = attack.board()
    const [epoch, seq] = start.split('.')
    return attack.repeat(16, async (nth) => {
      const socket = attack.openSocket(id, `&seq=1&since=${epoch}.${Number(seq) + (nth % 20)}`)
      socket.once('message', () => attack.count('resumed'))
      await attack.pause(400)
      socket.terminate()
    })
  }),
  additions: define('boards of 64 KiB to which the bystander is added', 'files', '201', (attack) => {
    const description = longText()
    const [bystander, ...others] = attack.command.victims
    return attack.repeat(6, async (nth) => {
      const id = randomUUID()
      await attack.json('POST', '/boards', { id, title: 'Free offer', description })
      for (const user of [bystander, others[nth % others.length]])
        await attack.json('POST', `/boards/${id}/invite`, { user_id: user?.id })
    })
  }),
}
export type AttackName = keyof typeof attacks

/** One or two accounts that attack at the same time. */
export interface Scenario {
  name: string
  title: string
  attacks: AttackName[]
  /** The attackers have the address of the bystander. They stay below the limits of an address. */
  isOneAddress?: true
}

export const CONTROL: Scenario = { name: 'control', title: 'no attack', attacks: [] }
/** The additions come last, because the bystander stays a member of the boards. */
export const scenarios: Scenario[] = [
  { name: 'two-accounts', title: 'history pages and lists of boards, by two accounts', attacks: ['history', 'lists'] },
  {
    name: 'same-address',
    title: 'history pages and small requests, from the address of the bystander',
    attacks: ['history', 'flood'],
    isOneAddress: true,
  },
  ...Object.entries(attacks).map(([name, { title }]) => ({ name, title, attacks: [name as AttackName] })),
]

/** Runs an attack for a time, and returns the outcomes. */
export async function runAttack(command: AttackCommand): Promise<Outcomes> {
  const attack = new Attack(command)
  const running = attacks[command.name].run(attack)
  await pause(command.ms)
  attack.end()
  await running
  return attack.outcomes
}

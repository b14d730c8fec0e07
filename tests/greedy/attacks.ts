import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** The target of an attack: an account and its prepared data. */
export interface Target {
  /** The instances of the attacked service. */
  urls: string[]
  /** Source address of the attacker's connections. */
  localAddress: string
  token: string
  email: string
  password: string
  board: string
  column: string
  card: string
  /** The start of the board's log: `<epoch>.<seq>`. */
  since: string
}

/** The size of an attack. `many` is a number of connections, concurrent requests or bytes, depending on the attack. */
export interface Amount {
  many: number
  everyMs?: number
  /** On a slow machine the attack lasts until there are this many responses. */
  atLeast?: number
}

/** Counts by outcome: a status, a close code, or a connection error. */
export type Outcomes = Record<string, number>

const MEBIBYTE = 2 ** 20
/** The quotas allow fewer than 50 events of the largest size. */
const POSITIONS = 40
const LONGEST_MS = 60_000
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const JSON_TYPE = { 'content-type': 'application/json' }
const BOUNDARY = 'between-parts'
const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
const partHead = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="file.bin"\r\nContent-Type: application/x-test\r\n\r\n`

/** A running attack. At its end it closes everything it opened. */
class Attack {
  readonly outcomes: Outcomes = {}
  readonly target: Target
  readonly amount: Amount
  private readonly agent: Agent
  private readonly sockets = new Set<{ destroy: () => void }>()
  private readonly stop = new AbortController()

  constructor(target: Target, amount: Amount) {
    this.target = target
    this.amount = amount
    this.agent = new Agent({ keepAlive: true, localAddress: target.localAddress })
  }

  get isOver() {
    return this.stop.signal.aborted
  }

  count(outcome: string | number) {
    if (!this.isOver) this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1
  }

  /** Waits for a time, and until there are enough responses. */
  async last(ms: number) {
    const deadline = performance.now() + LONGEST_MS
    await pause(ms)
    const responses = () => Object.values(this.outcomes).reduce((sum, count) => sum + count, 0)
    while (responses() < (this.amount.atLeast ?? 0) && performance.now() < deadline) await pause(50)
  }

  end() {
    this.stop.abort()
    this.agent.destroy()
    for (const socket of this.sockets) socket.destroy()
  }

  /** Repeats an action until the end, with some concurrency and at most once every `everyMs`. */
  async repeat(atOnce: number, act: () => Promise<unknown>, everyMs = 0) {
    const worker = async () => {
      while (!this.isOver) {
        const next = performance.now() + everyMs
        await act()
        await this.pause(next - performance.now())
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }

  async pause(ms: number) {
    await pause(Math.max(0, ms), undefined, { signal: this.stop.signal }).catch(() => {})
  }

  /** Sends one request and discards its response. Resolves when it is over, whatever the result. */
  send(method: string, path: string, headers: Record<string, string> = {}, body?: Buffer, hasToken = true) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const sent = request((this.target.urls[0] ?? '') + path, {
      method,
      agent: this.agent,
      headers: {
        ...(hasToken && { authorization: `Bearer ${this.target.token}` }),
        ...(body && { 'content-length': String(body.length) }),
        ...headers,
      },
    })
    let status = 0
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (status === 0) this.count(error.code ?? error.message)
    })
    sent.once('response', (response) => {
      status = response.statusCode ?? 0
      this.count(status)
      response.on('error', () => {})
      response.resume()
    })
    sent.once('close', resolve)
    sent.end(body)
    return promise
  }

  /** Opens a TCP connection and writes the head of a request. Its response is counted, unless nothing is read. */
  open(head: string, { isRead = true } = {}): Socket {
    const socket = connect({
      port: Number(new URL(this.target.urls[0] ?? '').port),
      host: '127.0.0.1',
      localAddress: this.target.localAddress,
    })
    this.sockets.add(socket)
    socket.on('error', (error: NodeJS.ErrnoException) => this.count(error.code ?? error.message))
    if (isRead) socket.once('data', (data) => this.count(data.toString('latin1', 9, 12)))
    else socket.pause()
    socket.write(head)
    return socket
  }

  openSocket(query: string, url = this.target.urls[0] ?? ''): WebSocket {
    const { token, board, localAddress } = this.target
    const address = `${url.replace('http', 'ws')}/ws/boards/${board}?token=${token}${query}`
    const socket = new WebSocket(address, { localAddress })
    this.sockets.add({ destroy: () => socket.terminate() })
    socket.on('error', () => {})
    socket.once('close', (code) => this.count(`closed ${code}`))
    return socket
  }

  head(line: string, headers: Record<string, string>, hasToken = true) {
    const all = { host: 'x', ...(hasToken && { authorization: `Bearer ${this.target.token}` }), ...headers }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
    return `${[line, ...lines].join('\r\n')}\r\n\r\n`
  }

  /** Opens connections that send their bodies one byte at a time. */
  async dribble(head: string, begin: string) {
    const { many, everyMs = 2_000 } = this.amount
    const open: Socket[] = []
    for (let i = 0; i < many && !this.isOver; i++) {
      open.push(this.open(head + begin))
      if (i % 50 === 49) await this.pause(20)
    }
    while (!this.isOver) {
      await this.pause(everyMs)
      for (const socket of open) if (!socket.destroyed) socket.write('x')
    }
  }
}

const renames = async (attack: Attack) => {
  let nth = 0
  const { column } = attack.target
  const rename = () =>
    attack.send('PATCH', `/columns/${column}`, JSON_TYPE, Buffer.from(JSON.stringify({ title: `Renamed ${++nth}` })))
  await attack.repeat(attack.amount.many, rename, attack.amount.everyMs)
}

/** All attacks. Each uses valid HTTP requests without special rights. */
const attacks = {
  /**
   * Long pages of the log: the longest exceeds the maximum string length, the others need less time but as much memory. Each is
   * requested alone first, because it must be read within the statement timeout.
   */
  history: async (attack: Attack) => {
    const limits = [349, 200, 100]
    let nth = 0
    const read = () => {
      const limit = limits[nth++ % limits.length]
      return attack.send('GET', `/boards/${attack.target.board}/events?limit=${limit}`)
    }
    for (const _ of limits) await read()
    return attack.repeat(attack.amount.many, read)
  },

  /** Sockets that resume from different positions of the log, so that they share no page, read for a moment, and reconnect. */
  resume: (attack: Attack) => {
    const [epoch, seq] = attack.target.since.split('.')
    let nth = 0
    const resume = async () => {
      const socket = attack.openSocket(`&seq=1&since=${epoch}.${Number(seq) + (nth++ % POSITIONS)}`)
      socket.once('message', () => attack.count('resumed'))
      await attack.pause(attack.amount.everyMs ?? 500)
      socket.terminate()
    }
    return attack.repeat(attack.amount.many, resume)
  },

  /** Clients that request a large board without compression and read nothing. */
  unreadBoards: async (attack: Attack) => {
    const head = attack.head(`GET /boards/${attack.target.board} HTTP/1.1`, { 'accept-encoding': 'identity' })
    for (let i = 0; i < attack.amount.many && !attack.isOver; i++) {
      attack.open(head, { isRead: false })
      await attack.pause(attack.amount.everyMs ?? 50)
    }
    while (!attack.isOver) await attack.pause(1_000)
  },

  /** Lists of half a million invalid items. */
  wrongLists: (attack: Attack) => {
    const body = Buffer.from(`{"user_ids":[${'0,'.repeat(524_000)}0]}`)
    const send = () => attack.send('PUT', `/cards/${attack.target.card}/assignees`, JSON_TYPE, body)
    return attack.repeat(attack.amount.many, send, attack.amount.everyMs)
  },

  slowUploads: (attack: Attack) => {
    const head = attack.head(`POST /cards/${attack.target.card}/attachments HTTP/1.1`, {
      ...MULTIPART,
      'content-length': String(MEBIBYTE),
    })
    return attack.dribble(head, partHead)
  },

  slowBodies: (attack: Attack) => {
    const head = attack.head('POST /boards HTTP/1.1', { ...JSON_TYPE, 'content-length': '1000' })
    return attack.dribble(head, '{"title":"')
  },

  slowLogins: (attack: Attack) => {
    const head = attack.head('POST /auth/login HTTP/1.1', { ...FORM, 'content-length': '1000' }, false)
    return attack.dribble(head, 'username=')
  },

  boardLists: (attack: Attack) => attack.repeat(attack.amount.many, () => attack.send('GET', '/boards')),

  searches: (attack: Attack) =>
    attack.repeat(attack.amount.many, () => attack.send('GET', `/boards/${attack.target.board}/cards?search=qz`)),

  uploads: (attack: Attack) => {
    const body = Buffer.concat([
      Buffer.from(partHead),
      randomBytes(attack.amount.many),
      Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
    ])
    const send = () => attack.send('POST', `/cards/${attack.target.card}/attachments`, MULTIPART, body)
    return attack.repeat(2, send, attack.amount.everyMs)
  },

  renames,

  /** Renames that are watched at every instance. */
  watchedRenames: async (attack: Attack) => {
    for (const url of attack.target.urls) attack.openSocket('&seq=1', url)
    await renames(attack)
  },

  rightLogins: (attack: Attack) => {
    const { email, password } = attack.target
    const body = Buffer.from(new URLSearchParams({ username: email, password }).toString())
    const send = () => attack.send('POST', '/auth/login', FORM, body, false)
    return attack.repeat(attack.amount.many, send, attack.amount.everyMs)
  },

  sockets: async (attack: Attack) => {
    for (let i = 0; i < attack.amount.many && !attack.isOver; i++) {
      attack.openSocket('', attack.target.urls.at(-1)).once('open', () => attack.count('open'))
      await attack.pause(attack.amount.everyMs ?? 8)
    }
    while (!attack.isOver) await attack.pause(1_000)
  },

  largeForms: (attack: Attack) => {
    const fields = Array.from({ length: 100_000 }, (_, i) => `a${i}=`).join('&')
    const body = Buffer.from(`username=${fields}`.slice(0, MEBIBYTE))
    return attack.repeat(attack.amount.many, () => attack.send('POST', '/auth/login', FORM, body, false))
  },

  longEmails: (attack: Attack) => {
    const email = `${'a'.repeat(MEBIBYTE - 200)}@example.com`
    const body = Buffer.from(JSON.stringify({ email, username: 'somebody', password: 'a-long-enough-pass-phrase' }))
    return attack.repeat(attack.amount.many, () => attack.send('POST', '/auth/register', JSON_TYPE, body, false))
  },
}
export type AttackName = keyof typeof attacks

/** Runs an attack for a time, and returns the outcomes. */
export async function runAttack(name: AttackName, target: Target, amount: Amount, ms: number): Promise<Outcomes> {
  const attack = new Attack(target, amount)
  const under = attacks[name](attack)
  await attack.last(ms)
  attack.end()
  await under
  return attack.outcomes
}

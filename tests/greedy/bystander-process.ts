import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { HttpClient, type HttpResponse } from '@lockstep/testing/load/http-client'
import { now } from '@lockstep/testing/load/socket-clients'
import { handleCommands } from '@lockstep/testing/load/worker'
import { WebSocket } from 'ws'
import type { Sample } from './judge.ts'
import { Pacer } from './pacer.ts'

/** In its own process: one bystander for each service, at the same pace, so that their times can be compared. */
export type BystanderCommand =
  | { do: 'prepare'; services: BystanderService[] }
  | { do: 'begin' }
  | { do: 'finish' }
  | { do: 'leave' }

/** The instances of a service. The bystander sends requests to the first, and opens sockets at the last. */
export interface BystanderService {
  urls: string[]
}

const PATIENCE_MS = 10_000
/** Accounts that log in alternately, each from its own address, to stay below the login limit. */
const ACCOUNTS = 12
const CARDS = 20
const PASSWORD = 'a-long-enough-pass-phrase-of-nobody'

let bystanders: Bystander[] = []

class Bystander {
  private readonly url: string
  private readonly listenUrl: string
  private readonly nth: number
  private readonly emails: string[] = []
  private client: HttpClient
  private token = ''
  private board = ''
  private card = ''
  private socket: WebSocket | undefined
  private isLeaving = false
  private readonly pacer = new Pacer()
  private writes = 0
  private logins = 0
  /** Written titles whose event has not arrived yet, and when each write was due. */
  private readonly awaited = new Map<string, number>()

  constructor({ urls }: BystanderService, nth: number) {
    this.url = urls[0] as string
    this.listenUrl = urls.at(-1) as string
    this.nth = nth
    this.client = this.clientAt(this.addressOf(0))
  }

  async prepare() {
    for (let i = 0; i < ACCOUNTS; i++) {
      const name = `bystander-${randomUUID().slice(0, 13)}`
      const email = `${name}@example.com`
      using client = this.clientAt(this.addressOf(i))
      await json(client, 'POST', '/auth/register', { email, username: name, password: PASSWORD })
      this.emails.push(email)
    }
    this.token = await this.logIn(0)
    this.client.close()
    this.client = this.clientAt(this.addressOf(0), this.token)
    const board = await json(this.client, 'POST', '/boards', { title: 'Plan' })
    this.board = `/boards/${board.id}`
    const column = await json(this.client, 'POST', `${this.board}/columns`, { title: 'To do' })
    for (let i = 0; i < CARDS; i++) {
      const card = await json(this.client, 'POST', `${this.board}/columns/${column.id}/cards`, { title: `Card ${i}` })
      this.card = `/cards/${card.id}`
    }
    await this.listen()
  }

  begin() {
    const { pacer } = this
    pacer.begin()
    pacer.every(50, 'read', async () => expectOk(await this.client.request('GET', this.board)))
    pacer.every(100, 'write', (due) => this.write(due))
    pacer.every(500, 'login', async () => void (await this.logIn(++this.logins % ACCOUNTS)))
    pacer.every(500, 'connect', () => this.connect())
  }

  async finish(): Promise<Sample[]> {
    await this.pacer.end()
    for (const deadline = now() + PATIENCE_MS; this.awaited.size > 0 && now() < deadline; ) await pause(5)
    for (const due of this.awaited.values()) this.pacer.add('event', due, 'did not arrive')
    this.awaited.clear()
    return this.pacer.take()
  }

  leave() {
    this.isLeaving = true
    this.client.close()
    this.socket?.terminate()
  }

  private async write(due: number) {
    const title = `w-${++this.writes}`
    this.awaited.set(title, due)
    try {
      expectOk(await this.client.json('PATCH', this.card, { title }))
    } catch (error) {
      this.awaited.delete(title)
      throw error
    }
  }

  private async logIn(nth: number): Promise<string> {
    using client = this.clientAt(this.addressOf(nth))
    const form = new URLSearchParams({ username: this.emails[nth] ?? '', password: PASSWORD }).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const reply = await client.request('POST', '/auth/login', type, [Buffer.from(form)])
    expectOk(reply)
    return (JSON.parse(reply.bytes.toString()) as { access_token: string }).access_token
  }

  private async connect() {
    const socket = this.openSocket()
    try {
      await firstMessage(socket)
    } finally {
      socket.terminate()
    }
  }

  private openSocket() {
    const address = `${this.listenUrl.replace('http', 'ws')}/ws${this.board}?seq=1&token=${this.token}`
    const socket = new WebSocket(address, { localAddress: this.addressOf(0), handshakeTimeout: PATIENCE_MS })
    socket.on('error', () => {})
    return socket
  }

  /** Keeps a socket open. A close is a failure, after which another one is opened. */
  private async listen() {
    const socket = this.openSocket()
    this.socket = socket
    socket.on('message', (data: Buffer) => this.onMessage(socket, data.toString()))
    socket.once('close', (code) => {
      if (this.isLeaving) return
      this.pacer.add('event', now(), `the socket was closed with ${code}`)
      setTimeout(() => void this.listen().catch(() => {}), 500)
    })
    await firstMessage(socket)
  }

  private onMessage(socket: WebSocket, text: string) {
    if (text.includes('"type":"ping"')) socket.send('{"type":"pong"}')
    const title = /"title":"(w-\d+)"/.exec(text)?.[1] ?? ''
    const due = this.awaited.get(title)
    if (due === undefined) return
    this.awaited.delete(title)
    this.pacer.add('event', due)
  }

  private addressOf(nth: number) {
    return `127.0.${10 + this.nth}.${1 + nth}`
  }

  private clientAt(localAddress: string, token = '') {
    return new HttpClient(this.url, token, { localAddress, timeoutMs: PATIENCE_MS })
  }
}

async function firstMessage(socket: WebSocket) {
  const closed = once(socket, 'close').then(([code]) => {
    throw new Error(`closed with ${String(code)}`)
  })
  await Promise.race([once(socket, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) }), closed])
}

async function json(client: HttpClient, method: string, path: string, content: unknown): Promise<{ id: string }> {
  const { status, bytes } = await client.json(method, path, content)
  if (status !== 201) throw new Error(`${method} ${path} was answered ${status}: ${bytes.toString()}`)
  return JSON.parse(bytes.toString()) as { id: string }
}

/** Throws an error with the status and the problem code. */
function expectOk({ status, bytes }: HttpResponse) {
  if (status !== 200) throw new Error(`${status} ${/"code":"(\w+)"/.exec(bytes.toString())?.[1] ?? ''}`.trim())
}

handleCommands<BystanderCommand>(async (order) => {
  if (order.do === 'prepare') {
    bystanders = order.services.map((service, nth) => new Bystander(service, nth))
    await Promise.all(bystanders.map((bystander) => bystander.prepare()))
  }
  if (order.do === 'begin') for (const bystander of bystanders) bystander.begin()
  if (order.do === 'finish') return Promise.all(bystanders.map((bystander) => bystander.finish()))
  if (order.do === 'leave') for (const bystander of bystanders) bystander.leave()
  return undefined
})

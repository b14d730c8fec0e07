import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '@lockstep/testing/random'
import { Webhook } from 'standardwebhooks'
import type { Received } from './judge.ts'

/**
 * How a receiver behaves. `slow` answers after most of a second, `late` after the sender's timeout. Those that `reject` or `cut`
 * do so with a third of the requests, in half of the cases after they processed them.
 */
export type Mode = 'well' | 'down' | 'slow' | 'late' | 'reject' | 'cut'

/** Above the ports of other processes of a test, which could take the one of a receiver that is down. */
const FIRST_PORT = 31_001
const PORTS = 1_700
const SHARE = 1 / 3
const SLOW_MS = 700

/** HTTP servers that receive webhooks and misbehave. */
export class Receivers {
  readonly requests: Received[] = []
  /** How long a late answer takes. */
  readonly lateMs: number
  private readonly random: Random
  private readonly verifiers = new Map<string, Webhook>()
  private readonly receivers: Receiver[] = []

  constructor(random: Random, lateMs: number) {
    this.random = random
    this.lateMs = lateMs
  }

  async start(count: number) {
    for (let i = 0; i < count; i++) {
      const receiver = new Receiver((request, response) => this.receive(receiver, request, response))
      await receiver.start()
      this.receivers.push(receiver)
    }
  }

  urlOf(nth: number): string {
    return `http://127.0.0.1:${this.at(nth).port}/hook`
  }

  /** From now on, requests for this webhook must be signed with the secret. */
  expect(webhook_id: string, secret: string) {
    this.verifiers.set(webhook_id, new Webhook(secret))
  }

  async setMode(nth: number, mode: Mode) {
    const receiver = this.at(nth)
    const wasDown = receiver.mode === 'down'
    receiver.mode = mode
    if (mode === 'down' && !wasDown) await receiver.stop()
    if (mode !== 'down' && wasDown) await receiver.start()
  }

  async close() {
    await Promise.all(this.receivers.map((receiver) => receiver.stop()))
  }

  private at(nth: number): Receiver {
    return this.receivers[nth % this.receivers.length] as Receiver
  }

  private async receive(receiver: Receiver, request: IncomingMessage, response: ServerResponse) {
    const startedAt = Date.now()
    const isBad = this.random.next() < SHARE
    const isBefore = this.random.next() < 0.5
    if (receiver.mode === 'cut' && isBad && isBefore) {
      request.socket.destroy()
      return
    }
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      // The sender was killed.
      return
    }
    const text = Buffer.concat(chunks).toString()
    const isRejected = receiver.mode === 'reject' && isBad
    const received = this.record(request, text, startedAt, !(isRejected && isBefore))
    response.once('close', () => {
      received.endedAt = Date.now()
      received.isAnswered =
        response.writableFinished && response.statusCode < 300 && received.endedAt - startedAt < this.lateMs
    })
    if (receiver.mode === 'slow') await pause(SLOW_MS * (0.5 + this.random.next() / 2))
    if (receiver.mode === 'late' && isBad) await pause(this.lateMs)
    if (receiver.mode === 'cut' && isBad) request.socket.destroy()
    else response.writeHead(isRejected ? 500 : 204).end()
  }

  private record(request: IncomingMessage, text: string, startedAt: number, isProcessed: boolean): Received {
    const header = (name: string) => String(request.headers[name])
    const webhook_id = header('lockstep-webhook')
    const { seq } = JSON.parse(text) as { seq: number }
    const isSigned = this.isSigned(webhook_id, text, request.headers as Record<string, string>)
    const id = header('webhook-id')
    const times = { startedAt, endedAt: Number.POSITIVE_INFINITY }
    const received = { webhook_id, id, seq, text, isSigned, ...times, isProcessed, isAnswered: false }
    this.requests.push(received)
    return received
  }

  private isSigned(webhook_id: string, text: string, headers: Record<string, string>): boolean {
    try {
      this.verifiers.get(webhook_id)?.verify(text, headers)
      return this.verifiers.has(webhook_id)
    } catch {
      return false
    }
  }
}

class Receiver {
  mode: Mode = 'well'
  port = 0
  private server: Server | undefined
  private readonly sockets = new Set<Socket>()
  private readonly receive: (request: IncomingMessage, response: ServerResponse) => Promise<void>

  constructor(receive: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
    this.receive = receive
  }

  /** Listens, again on the same port after a stop. */
  async start() {
    const server = createServer((request, response) => void this.receive(request, response))
    server.on('connection', (socket) => {
      this.sockets.add(socket)
      socket.once('close', () => this.sockets.delete(socket))
    })
    const listen = (port: number) => {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
      return promise
    }
    const newPort = () => FIRST_PORT + Math.floor(Math.random() * PORTS)
    for (let port = this.port || newPort(); !(await listen(port)); port = this.port || newPort()) await pause(50)
    this.port = (server.address() as AddressInfo).port
    this.server = server
  }

  /** Requests that are being answered are cut. */
  stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.server) this.server.close(() => resolve())
    else resolve()
    this.server = undefined
    for (const socket of this.sockets) socket.destroy()
    return promise
  }
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Settings of a service that sends webhooks to receivers on this machine. */
export const WEBHOOK_SETTINGS = {
  ENCRYPTION_KEY: Buffer.from('an encryption key of 32 bytes ok').toString('base64'),
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  WEBHOOK_HTTP: 'on',
  WEBHOOK_WORKERS: '20',
}

export interface ReceivedRequest {
  path: string
  headers: Record<string, string>
  text: string
  /** The parsed text. */
  message: { type: string; board_id: string; epoch: number; seq?: number; data: Record<string, unknown> } & Record<
    string,
    unknown
  >
  at: number
}
/** Decides what happens with a request: a status with headers, or the response is handled by the function itself. */
export type Respond = (
  request: ReceivedRequest,
  response: ServerResponse,
) =>
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | undefined
  | Promise<number | undefined>

/** A real HTTP server that receives webhooks. */
export class WebhookReceiver {
  readonly requests: ReceivedRequest[] = []
  respond: Respond = () => 204
  private readonly server = createServer((request, response) => void this.receive(request, response))

  static async start(port = 0): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    await receiver.listen(port)
    return receiver
  }

  listen(port: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.server.once('error', reject)
    this.server.listen(port, '127.0.0.1', resolve)
    return promise
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }
  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }
  /** The sequence numbers of the events that were accepted, in order. */
  get seqs(): (number | undefined)[] {
    return this.requests.map(({ message }) => message.seq)
  }
  get types(): string[] {
    return this.requests.map(({ message }) => message.type)
  }

  close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.server.close(() => resolve())
    this.server.closeAllConnections()
    return promise
  }

  private async receive(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const received = { path: request.url ?? '', headers, text, message: JSON.parse(text), at: Date.now() }
    this.requests.push(received)
    const answer = await this.respond(received, response)
    if (answer === undefined) return
    const { status, headers: more = {}, body = '' } = typeof answer === 'number' ? { status: answer } : answer
    response.writeHead(status, more).end(body)
  }
}

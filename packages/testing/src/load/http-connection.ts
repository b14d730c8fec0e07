import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { percentile } from './socket-clients.ts'

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  ms: number
}

/** Somebody who speaks plain HTTP on connections that stay open: nothing is unpacked or checked that would take time. */
export class Asker {
  private readonly agent: Agent
  private readonly base_url: string
  private readonly token: string
  private readonly timeoutMs: number

  /** With `localAddress` its connections come from that address; without an answer for `timeoutMs` a request fails. */
  constructor(
    base_url: string,
    token: string,
    { localAddress, timeoutMs = 0 }: { localAddress?: string; timeoutMs?: number } = {},
  ) {
    this.agent = new Agent({ keepAlive: true, ...(localAddress && { localAddress }) })
    this.base_url = base_url
    this.token = token
    this.timeoutMs = timeoutMs
  }

  /** Sends a request, with the pieces of its body one after the other. */
  ask(method: string, path: string, headers: Record<string, string> = {}, body: Buffer[] = []): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const size = body.reduce((sum, piece) => sum + piece.length, 0)
    const begun = performance.now()
    const sent = request(this.base_url + path, {
      method,
      agent: this.agent,
      timeout: this.timeoutMs,
      headers: {
        ...(this.token && { authorization: `Bearer ${this.token}` }),
        ...(size > 0 && { 'content-length': String(size) }),
        ...headers,
      },
    })
    sent.on('error', reject)
    sent.once('timeout', () => sent.destroy(new Error(`no answer for ${this.timeoutMs} ms`)))
    sent.once('response', (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', reject)
      response.once('end', () => {
        const ms = performance.now() - begun
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(pieces), ms })
      })
    })
    for (const piece of body) sent.write(piece)
    sent.end()
    return promise
  }

  json(method: string, path: string, content: unknown) {
    return this.ask(method, path, { 'content-type': 'application/json' }, [Buffer.from(JSON.stringify(content))])
  }

  close() {
    this.agent.destroy()
  }
  [Symbol.dispose]() {
    this.close()
  }
}

/** The beginning, the middle and the end of some times. The beginning is what they are when nobody else is in the way. */
export function quantiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  return { p10: percentile(sorted, 10), p50: percentile(sorted, 50), p99: percentile(sorted, 99) }
}
export type Times = ReturnType<typeof quantiles>

/** Does all of them, so many at a time. */
export async function inParallel<T>(items: readonly T[], at_once: number, work: (item: T) => Promise<void>) {
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: at_once }, worker))
}

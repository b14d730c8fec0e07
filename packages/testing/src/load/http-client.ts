import { Agent, type IncomingHttpHeaders, request as sendRequest } from 'node:http'
import { percentile } from '../statistics.ts'

export interface HttpResponse {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  ms: number
}

/** A minimal HTTP client with keep-alive. To use little CPU time, it neither decompresses nor validates responses. */
export class HttpClient {
  private readonly agent: Agent
  private readonly baseUrl: string
  private readonly token: string
  private readonly timeoutMs: number

  /** `localAddress` is the source address. A request fails without a response for `timeoutMs`. */
  constructor(
    baseUrl: string,
    token: string,
    { localAddress, timeoutMs = 0 }: { localAddress?: string; timeoutMs?: number } = {},
  ) {
    this.agent = new Agent({ keepAlive: true, ...(localAddress && { localAddress }) })
    this.baseUrl = baseUrl
    this.token = token
    this.timeoutMs = timeoutMs
  }

  /** Sends a request. Its body is given in chunks. */
  request(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body: Buffer[] = [],
  ): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
    const size = body.reduce((sum, chunk) => sum + chunk.length, 0)
    const startedAt = performance.now()
    const sent = sendRequest(this.baseUrl + path, {
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
    sent.once('timeout', () => sent.destroy(new Error(`no response for ${this.timeoutMs} ms`)))
    sent.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.once('end', () => {
        const ms = performance.now() - startedAt
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks), ms })
      })
    })
    for (const chunk of body) sent.write(chunk)
    sent.end()
    return promise
  }

  json(method: string, path: string, content: unknown) {
    return this.request(method, path, { 'content-type': 'application/json' }, [Buffer.from(JSON.stringify(content))])
  }

  close() {
    this.agent.destroy()
  }
  [Symbol.dispose]() {
    this.close()
  }
}

/** Percentiles of response times. The 10th is the time without interference by other processes. */
export const percentilesOf = (values: readonly number[]) => ({
  p10: percentile(values, 10),
  p50: percentile(values, 50),
  p99: percentile(values, 99),
})
export type Percentiles = ReturnType<typeof percentilesOf>

/** Processes all items, at most `concurrency` at a time. */
export async function inParallel<T>(items: readonly T[], concurrency: number, work: (item: T) => Promise<void>) {
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

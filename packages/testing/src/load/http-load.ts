import { assertValid } from './measure.ts'
import { Worker } from './worker.ts'

/** Placeholder in a path or body. Each request sends its own number instead. */
export const UNIQUE_NUMBER = '########'

export interface LoadRequest {
  method: string
  path: string
  token?: string
  body?: string
  /** Additional header lines, each with its CRLF. */
  headers?: string
}
export type LoadCommand =
  | { do: 'prepare'; list: string; requests: LoadRequest[] }
  | { do: 'run'; window: { port: number; connections: number; ms: number; list: string; from: number } }

export interface LoadResult {
  /** Requests sent. Each of them has its response. */
  sent: number
  /** Responses per second, of those that arrived within the window. */
  rate: number
  /** Number of responses by status. */
  statuses: Record<string, number>
}

/** HTTP load generator in its own process. It cycles through a list of requests, and continues there in the next window. */
export class Load {
  private readonly worker = new Worker<LoadCommand>(new URL('http-load-process.ts', import.meta.url))
  private readonly nextIndexes = new Map<string, number>()

  get pid(): number {
    return this.worker.pid
  }

  prepare = (list: string, requests: LoadRequest[]) => this.worker.ask({ do: 'prepare', list, requests })

  /** Sends requests for a period of time. Throws unless every response has the expected status. */
  async run(
    list: string,
    baseUrl: string,
    { connections, ms }: { connections: number; ms: number },
    expectedStatus: number,
  ): Promise<LoadResult> {
    const from = this.nextIndexes.get(list) ?? 0
    const window = { port: Number(new URL(baseUrl).port), connections, ms, list, from }
    const result = (await this.worker.ask({ do: 'run', window })) as LoadResult
    this.nextIndexes.set(list, from + result.sent)
    assertValid(
      result.statuses[expectedStatus] === result.sent && result.sent > 0,
      `${list}: statuses ${JSON.stringify(result.statuses)} instead of ${expectedStatus} for every request`,
    )
    return result
  }

  [Symbol.dispose]() {
    void this.worker.end()
  }
}

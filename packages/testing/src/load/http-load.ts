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
  /** The status of an accepted request. */
  status: number
  /** The number of the board that the request changes. The event numbers of such requests are returned. */
  board?: number
}

/**
 * Closed loop, for `ms`: each connection sends its next request when it has its response. Open loop, with `phases`: requests
 * are sent at a rate, whether or not earlier ones were answered; more connections are opened when all of them are waiting.
 */
export type Schedule = { connections: number } & ({ ms: number } | { phases: Phase[] })
export interface Phase {
  /** Requests per second. */
  rate: number
  ms: number
  /** Excludes the phase from the response times of the whole run. */
  isExcluded?: boolean
}
export type LoadCommand =
  | { do: 'prepare'; list: string; requests: LoadRequest[] }
  | { do: 'run'; list: string; port: number; schedule: Schedule }

export interface LoadCounts {
  /** Requests sent. */
  sent: number
  /** Accepted with the expected status within `IN_TIME_MS`, or later. */
  inTime: number
  late: number
  /** Rejected with a complete 503. */
  rejected: number
}
export interface LoadResult extends LoadCounts {
  /** Responses per second, of those that arrived within the run. */
  rate: number
  /** For each second: the counts, and the 99th percentile of the time of accepted requests in milliseconds. */
  seconds: (LoadCounts & { p99: number })[]
  /** Other responses by status, and requests without a response. */
  wrong: Record<string, number>
  /** Requests that were due while all connections were waiting. */
  unsent: number
  acceptedMs: Spread
  rejectedMs: Spread
  /** The boards and event numbers of acknowledged writes. */
  acknowledged: [board: number, seq: number][]
}
export interface Spread {
  p50: number
  p99: number
  max: number
}

/** HTTP load generator in its own process. It cycles through a list of requests, and continues there in the next run. */
export class LoadWorker {
  private readonly worker = new Worker<LoadCommand>(new URL('http-load-process.ts', import.meta.url))

  get pid(): number {
    return this.worker.pid
  }

  prepare = (list: string, requests: LoadRequest[]) => this.worker.run({ do: 'prepare', list, requests })

  run = (list: string, baseUrl: string, schedule: Schedule) =>
    this.worker.run({ do: 'run', list, port: Number(new URL(baseUrl).port), schedule }) as Promise<LoadResult>

  /** Throws unless every request was accepted. */
  async runValid(list: string, baseUrl: string, schedule: Schedule): Promise<LoadResult> {
    const result = await this.run(list, baseUrl, schedule)
    const { sent, inTime, late, rejected, wrong } = result
    assertValid(
      inTime + late === sent && sent > 0,
      `${list}: of ${sent} requests ${rejected} were rejected, and others returned ${JSON.stringify(wrong)}`,
    )
    return result
  }

  end = () => this.worker.end();

  [Symbol.dispose]() {
    void this.end()
  }
}

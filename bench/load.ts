import { Worker } from '../tests/prove/worker.ts'
import { demand } from './measure.ts'

/** Stands in a body or a path for a number that no other request of the run has. */
export const MARK = '########'

export interface Sending {
  method: string
  path: string
  token?: string
  body?: string
  type?: string
  /** Further lines of the head, each with its end. */
  headers?: string
}
export type Order =
  | { do: 'prepare'; list: string; requests: Sending[] }
  | { do: 'run'; window: { port: number; connections: number; ms: number; list: string; from: number } }

/** What came of a window of load. All that was sent was answered; the rate counts what was answered within the window. */
export interface Outcome {
  sent: number
  rate: number
  statuses: Record<string, number>
  p50: number
  p99: number
}

/** Sends requests from a process of its own. Each list of requests is gone through in order, from window to window. */
export class Load {
  private readonly worker = new Worker<Order>(new URL('load-process.ts', import.meta.url))
  private readonly reached = new Map<string, number>()

  get pid(): number {
    return this.worker.pid
  }

  prepare = (list: string, requests: Sending[]) => this.worker.ask({ do: 'prepare', list, requests })

  /** Sends for a while on so many connections, and demands that every answer has this status, or one of these. */
  async run(
    list: string,
    base_url: string,
    { connections, ms }: { connections: number; ms: number },
    ...expected: number[]
  ) {
    const from = this.reached.get(list) ?? 0
    const window = { port: Number(new URL(base_url).port), connections, ms, list, from }
    const outcome = (await this.worker.ask({ do: 'run', window })) as Outcome
    this.reached.set(list, from + outcome.sent)
    const right = expected.reduce((sum, status) => sum + (outcome.statuses[status] ?? 0), 0)
    demand(
      right === outcome.sent && outcome.sent > 0,
      `${list} answered ${JSON.stringify(outcome.statuses)}, and not ${expected.join(' or ')} each time`,
    )
    return outcome
  }

  [Symbol.dispose]() {
    void this.worker.end()
  }
}

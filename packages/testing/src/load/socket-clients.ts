import { eventually } from '../processes.ts'
import type { Arrivals, Counts, SocketCommand } from './socket-client-process.ts'
import { Worker } from './worker.ts'

/** The clock that all processes of a machine share, in milliseconds. */
export const now = () => Number(process.hrtime.bigint() / 1_000n) / 1_000

/** WebSocket clients in their own processes, so that they share no thread with the service or with the measurement. */
export class LoadClients {
  private readonly workers: Worker<SocketCommand>[]

  constructor(processes = 1) {
    this.workers = Array.from(
      { length: processes },
      () => new Worker(new URL('socket-client-process.ts', import.meta.url)),
    )
  }

  /** Opens connections at a rate. Resolves when all handshakes were sent. */
  async open(baseUrl: string, paths: string[], rate: number) {
    const port = Number(new URL(baseUrl).port)
    const count = this.workers.length
    await Promise.all(
      this.workers.map((worker, nth) => {
        const own = paths.filter((_, i) => i % count === nth)
        return worker.run({ do: 'open', opening: { port, paths: own, rate: rate / count } })
      }),
    )
  }

  async count(): Promise<Counts> {
    const all = (await this.runAll({ do: 'count' })) as Counts[]
    return all.reduce((a, b) => {
      const closes = { ...a.closes }
      for (const [code, count] of Object.entries(b.closes)) closes[code] = (closes[code] ?? 0) + count
      const sum = Object.fromEntries(
        Object.entries(a).map(([key, value]) => [key, Number(value) + Number(b[key as keyof Counts])]),
      )
      return { ...sum, closes, closedAt: [...a.closedAt, ...b.closedAt] } as Counts
    })
  }

  /** Waits until the counts meet a condition. */
  async until(what: string, isMet: (counts: Counts) => boolean, timeoutMs = 60_000): Promise<Counts> {
    let counts = await this.count()
    const check = async () => {
      counts = await this.count()
      return isMet(counts) && counts
    }
    return eventually(what, check, timeoutMs).catch((error: Error) => {
      throw new Error(`${error.message}; ${JSON.stringify({ ...counts, closedAt: [] })}`)
    })
  }

  async arrivals(sent: Map<number, number>): Promise<Arrivals> {
    const all = (await this.runAll({ do: 'arrivals', sent })) as Arrivals[]
    const each = new Map<number, Arrivals['each'][number]>()
    for (const one of all.flatMap((a) => a.each)) {
      const known = each.get(one.seq) ?? { ...one, count: 0 }
      const [first, last] = [Math.min(one.first, known.first), Math.max(one.last, known.last)]
      each.set(one.seq, { seq: one.seq, count: one.count + known.count, first, last })
    }
    const latencies = new Float32Array(all.reduce((sum, a) => sum + a.latencies.length, 0))
    let at = 0
    for (const part of all) {
      latencies.set(part.latencies, at)
      at += part.latencies.length
    }
    return { latencies: latencies.sort(), each: [...each.values()] }
  }

  forget = () => this.runAll({ do: 'forget' })
  comeBackTo = (baseUrl: string) => this.runAll({ do: 'come back', port: Number(new URL(baseUrl).port) })
  close = () => this.runAll({ do: 'close' })

  async end() {
    await Promise.all(this.workers.map((worker) => worker.end()))
  }

  private runAll(order: SocketCommand) {
    return Promise.all(this.workers.map((worker) => worker.run(order)))
  }
}

import type { Arrivals, Counts, Order } from './socket-client-process.ts'
import { Worker } from './worker.ts'

/** The clock that all processes of a machine share, in milliseconds. */
export const now = () => Number(process.hrtime.bigint() / 1_000n) / 1_000

/** Viewers in processes of their own, so that they share no thread with the service or with who measures. */
export class LoadClients {
  private readonly workers: Worker<Order>[]

  constructor(processes = 1) {
    this.workers = Array.from(
      { length: processes },
      () => new Worker(new URL('socket-client-process.ts', import.meta.url)),
    )
  }

  /** Opens connections at a rate; resolves when all have been asked for. */
  async open(base_url: string, paths: string[], rate: number) {
    const port = Number(new URL(base_url).port)
    const count = this.workers.length
    await Promise.all(
      this.workers.map((worker, nth) => {
        const own = paths.filter((_, i) => i % count === nth)
        return worker.ask({ do: 'open', opening: { port, paths: own, rate: rate / count } })
      }),
    )
  }

  async count(): Promise<Counts> {
    const all = (await this.askAll({ do: 'count' })) as Counts[]
    return all.reduce((a, b) => {
      const closes = { ...a.closes }
      for (const [code, count] of Object.entries(b.closes)) closes[code] = (closes[code] ?? 0) + count
      const sum = Object.fromEntries(
        Object.entries(a).map(([key, value]) => [key, Number(value) + Number(b[key as keyof Counts])]),
      )
      return { ...sum, closes, closed_at: [...a.closed_at, ...b.closed_at] } as Counts
    })
  }

  /** Waits until the counts are as they should be. */
  async until(what: string, isSo: (counts: Counts) => boolean, patience_ms = 60_000): Promise<Counts> {
    const deadline = Date.now() + patience_ms
    let counts = await this.count()
    while (!isSo(counts)) {
      if (Date.now() > deadline)
        throw new Error(`Waited in vain: ${what}; ${JSON.stringify({ ...counts, closed_at: [] })}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
      counts = await this.count()
    }
    return counts
  }

  async arrivals(sent: Map<number, number>): Promise<Arrivals> {
    const all = (await this.askAll({ do: 'arrivals', sent })) as Arrivals[]
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

  forget = () => this.askAll({ do: 'forget' })
  comeBackTo = (base_url: string) => this.askAll({ do: 'come back', port: Number(new URL(base_url).port) })
  close = () => this.askAll({ do: 'close' })

  async end() {
    await Promise.all(this.workers.map((worker) => worker.end()))
  }

  private askAll(order: Order) {
    return Promise.all(this.workers.map((worker) => worker.ask(order)))
  }
}

/** A percentile of sorted numbers. */
export const percentile = (sorted: ArrayLike<number>, p: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? Number.NaN

/** Lets a few in at a time. Who waits longer than `wait_ms` is sent away with what `refuse` makes. */
export class Gate {
  private readonly at_once: number
  private readonly limit: { wait_ms: number; refuse: () => Error } | undefined
  private readonly waiting: (() => void)[] = []
  private running = 0

  constructor(at_once: number, limit?: { wait_ms: number; refuse: () => Error }) {
    this.at_once = at_once
    this.limit = limit
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.at_once) await this.wait()
    else this.running++
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      if (next) next()
      else this.running--
    }
  }

  private wait(): Promise<void> {
    const { limit } = this
    return new Promise((resolve, reject) => {
      const go = () => {
        clearTimeout(timer)
        resolve()
      }
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(go), 1)
        reject(limit?.refuse() as Error)
      }
      const timer = limit && setTimeout(giveUp, limit.wait_ms)
      this.waiting.push(go)
    })
  }
}

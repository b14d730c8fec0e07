interface Limit {
  /** How many may wait. */
  waiting: number
  wait_ms: number
  refuse: () => Error
}

/**
 * Lets a few in at a time. Who waits longer than `wait_ms`, or finds the line full, is sent away with what `refuse` makes.
 */
export class Gate {
  private readonly at_once: number
  private readonly limit: Limit | undefined
  private readonly waited: ((seconds: number) => void) | undefined
  private readonly waiting: (() => void)[] = []
  private running = 0

  /** `waited` is told how long each had to wait, also who was sent away. */
  constructor(at_once: number, limit?: Limit, waited?: (seconds: number) => void) {
    this.at_once = at_once
    this.limit = limit
    this.waited = waited
  }

  get length(): number {
    return this.waiting.length
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    const came_at = performance.now()
    try {
      if (this.running >= this.at_once) await this.wait()
      else this.running++
    } finally {
      this.waited?.((performance.now() - came_at) / 1_000)
    }
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
    if (limit && this.waiting.length >= limit.waiting) return Promise.reject(limit.refuse())
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

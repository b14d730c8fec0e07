/** Above this number the oldest counts are dropped, so that an attack from many addresses does not fill the memory. */
const MAX_COUNTS = 100_000

export interface LocalCount {
  count: number
  msLeft: number
}

/** Fixed-window counters in the memory of the process. The window of a key starts with its first count. */
export class LocalCounts {
  private readonly windowMs: number
  /** In the order in which their windows start and end. */
  private readonly counts = new Map<string, { count: number; endsAt: number }>()

  constructor(seconds: number) {
    this.windowMs = seconds * 1_000
  }

  read(key: string): LocalCount {
    const now = performance.now()
    this.dropEnded(now)
    const { count = 0, endsAt = now } = this.counts.get(key) ?? {}
    return { count, msLeft: endsAt - now }
  }

  add(key: string): LocalCount {
    const now = performance.now()
    this.dropEnded(now)
    const entry = this.counts.get(key) ?? { count: 0, endsAt: now + this.windowMs }
    entry.count++
    this.counts.set(key, entry)
    // The sum and the difference of fractions can exceed the window by a rounding error.
    return { count: entry.count, msLeft: Math.min(this.windowMs, entry.endsAt - now) }
  }

  delete(key: string) {
    this.counts.delete(key)
  }

  private dropEnded(now: number) {
    for (const [key, { endsAt }] of this.counts) {
      if (endsAt > now && this.counts.size <= MAX_COUNTS) return
      this.counts.delete(key)
    }
  }
}

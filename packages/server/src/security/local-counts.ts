/** Beyond this many the oldest counts are dropped: the counts of an attack from many addresses must not fill the memory. */
const MAX_COUNTS = 100_000

export interface LocalCount {
  count: number
  msLeft: number
}

/** Counts that are kept in the process. Each begins with the first that it counts, and ends after a fixed time. */
export class LocalCounts {
  private readonly duration_ms: number
  /** In the order in which they began, which is the order in which they end. */
  private readonly counts = new Map<string, { count: number; endsAt: number }>()

  constructor(seconds: number) {
    this.duration_ms = seconds * 1_000
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
    const entry = this.counts.get(key) ?? { count: 0, endsAt: now + this.duration_ms }
    entry.count++
    this.counts.set(key, entry)
    return { count: entry.count, msLeft: entry.endsAt - now }
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

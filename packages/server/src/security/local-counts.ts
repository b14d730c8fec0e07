/** Beyond this many the oldest counts are dropped: the counts of an attack from many addresses must not fill the memory. */
const MAX_COUNTS = 100_000

export interface LocalCount {
  count: number
  ms_left: number
}

/** Counts that are kept in the process. Each begins with the first that it counts, and ends after a fixed time. */
export class LocalCounts {
  private readonly duration_ms: number
  /** In the order in which they began, which is the order in which they end. */
  private readonly counts = new Map<string, { count: number; ends_at: number }>()

  constructor(seconds: number) {
    this.duration_ms = seconds * 1_000
  }

  read(key: string): LocalCount {
    const now = performance.now()
    this.dropEnded(now)
    const { count = 0, ends_at = now } = this.counts.get(key) ?? {}
    return { count, ms_left: ends_at - now }
  }

  add(key: string): LocalCount {
    const now = performance.now()
    this.dropEnded(now)
    const entry = this.counts.get(key) ?? { count: 0, ends_at: now + this.duration_ms }
    entry.count++
    this.counts.set(key, entry)
    return { count: entry.count, ms_left: entry.ends_at - now }
  }

  delete(key: string) {
    this.counts.delete(key)
  }

  private dropEnded(now: number) {
    for (const [key, { ends_at }] of this.counts) {
      if (ends_at > now && this.counts.size <= MAX_COUNTS) return
      this.counts.delete(key)
    }
  }
}

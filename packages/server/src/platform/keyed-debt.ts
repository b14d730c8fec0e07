import { LRUCache } from 'lru-cache'

const MAX_KEYS = 10_000

/**
 * A rate limit for each key. What a key uses becomes a debt, in milliseconds, that shrinks as time passes. The caller decides
 * how large a debt may be before the key has to wait, or is rejected.
 */
export class KeyedDebt {
  private readonly perSecond: number
  /** When the debt of a key is paid off, by `performance.now`. */
  private readonly paidAt = new LRUCache<string, number>({ max: MAX_KEYS })

  constructor(perSecond: number) {
    this.perSecond = perSecond
  }

  of(key: string): number {
    return Math.max(0, (this.paidAt.get(key) ?? 0) - performance.now())
  }

  /** Returns the new debt. */
  add(key: string, amount: number): number {
    const debt = this.of(key) + (amount / this.perSecond) * 1_000
    this.paidAt.set(key, performance.now() + debt)
    return debt
  }
}

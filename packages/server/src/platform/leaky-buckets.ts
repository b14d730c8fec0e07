import { LRUCache } from 'lru-cache'
import { type Clock, systemClock } from './clock.ts'

const MAX_KEYS = 10_000

/**
 * A leaky bucket for each key: what a key uses fills its bucket, which drains at a constant rate. A level is the time until the
 * bucket is empty, in milliseconds. The caller decides at which level the key has to wait, or is rejected.
 */
export class LeakyBuckets {
  private readonly perSecond: number
  private readonly clock: Clock
  /** When the bucket of a key is empty, by the clock. */
  private readonly emptyAt = new LRUCache<string, number>({ max: MAX_KEYS })

  constructor(perSecond: number, clock: Clock = systemClock) {
    this.perSecond = perSecond
    this.clock = clock
  }

  levelOf(key: string): number {
    return Math.max(0, (this.emptyAt.get(key) ?? 0) - this.clock.now())
  }

  /** Returns the new level. */
  add(key: string, amount: number): number {
    const level = this.levelOf(key) + (amount / this.perSecond) * 1_000
    this.emptyAt.set(key, this.clock.now() + level)
    return level
  }
}

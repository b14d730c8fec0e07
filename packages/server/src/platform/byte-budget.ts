import { type Clock, systemClock, waitFor } from './clock.ts'
import { LeakyBuckets } from './leaky-buckets.ts'
import { Problem } from './problem.ts'

/** Smaller pieces are not charged: the limit of requests bounds them. */
const SMALL_BYTES = 65_536
/** A byte of an event costs as much as four of a response: it is read, logged, and sent to the sockets. */
export const EVENT_COST = 4

/** How many bytes each user may read and write, because building and sending them blocks the event loop. */
export class ByteBudget {
  private readonly buckets: LeakyBuckets
  private readonly burstMs: number
  private readonly clock: Clock

  constructor(bytesPerSecond: number, burstBytes: number, clock: Clock = systemClock) {
    this.clock = clock
    this.buckets = new LeakyBuckets(bytesPerSecond, clock)
    this.burstMs = (burstBytes / bytesPerSecond) * 1_000
  }

  /** Rejects with 429 while the budget is used up. */
  require(user_id: string) {
    const ms = this.excessMs(user_id)
    if (ms > 0) throw new Problem('too_many_requests', { retryAfterSeconds: Math.ceil(ms / 1_000) })
  }

  /** For streams, which cannot be rejected anymore. They hold nothing while they wait. */
  async wait(user_id: string) {
    const ms = this.excessMs(user_id)
    if (ms > 0) await waitFor(this.clock, ms)
  }

  /** Charges a piece before it is built, or rejects with 429. */
  take(user_id: string, bytes: number) {
    this.require(user_id)
    this.charge(user_id, bytes)
  }

  /** Charges a piece, unless it is small. */
  charge(user_id: string, bytes: number) {
    if (bytes >= SMALL_BYTES) this.buckets.add(user_id, bytes)
  }

  /** Charges these bytes of a file, and waits until the budget allows them. */
  async pace(user_id: string, bytes: number) {
    const ms = this.buckets.add(user_id, bytes) - this.burstMs
    if (ms > 0) await waitFor(this.clock, ms)
  }

  private excessMs(user_id: string): number {
    return this.buckets.levelOf(user_id) - this.burstMs
  }
}

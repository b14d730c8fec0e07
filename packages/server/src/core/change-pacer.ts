import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { LeakyBuckets } from '../platform/leaky-buckets.ts'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { type ReleasableSlot, waitWithout } from '../platform/slot.ts'

/** The cost of a change. It is added up while the change runs, so that a rejected change counts too. */
export interface ChangeCost {
  /** Bytes of large objects that it read, wrote and returns. */
  bytes: number
  /** Text bytes of its board. */
  boardBytes: number
}

/** Smaller changes are not charged: the limit of requests per user bounds them, by default to 6 MiB a second. */
const LARGE_CHANGE_BYTES = 65_536
const BYTES_PER_SECOND = 524_288
/** Not delayed, so that a user can rename or move a column of a megabyte three times in a row. */
const FREE_BYTES = 4_194_304
const FREE_MS = (FREE_BYTES / BYTES_PER_SECOND) * 1_000
/** Once a user has changed a board with more text, their changes run one at a time. */
const LARGE_BOARD_BYTES = 1_048_576
const MAX_USERS = 10_000

const MAX_WAIT_MS = 5_000
const limit = { maxWaiting: 500, waitMs: MAX_WAIT_MS, reject: () => new Problem('overloaded') }

/**
 * Paces users who make large changes: their changes run one at a time, and the next one waits for a time that grows with the
 * cost of the last. Building, logging and sending an event blocks the event loop for about 30 ms per megabyte and takes
 * several times its size in memory, so a single user could slow down the service or exhaust its memory.
 */
export class ChangePacer {
  private readonly charges = new LeakyBuckets(BYTES_PER_SECOND)
  /** Of users who make large changes. */
  private readonly mutexes = new LRUCache<string, Semaphore>({ max: MAX_USERS })

  /** `boardBytes` is the known size of the board before the change, or 0. */
  run<T>(
    user_id: string,
    { boardBytes, slot }: { boardBytes: number; slot: ReleasableSlot | undefined },
    change: (cost: ChangeCost) => Promise<T>,
  ): Promise<T> {
    const cost: ChangeCost = { bytes: 0, boardBytes }
    const mutex = this.mutexOf(user_id, cost)
    if (!mutex) return this.charged(user_id, cost, change)
    const latest = performance.now() + MAX_WAIT_MS
    const paced = async () => {
      await this.waitForBucket(user_id, latest, slot)
      return this.charged(user_id, cost, change)
    }
    return mutex.run(paced, { slot })
  }

  private async charged<T>(user_id: string, cost: ChangeCost, change: (cost: ChangeCost) => Promise<T>): Promise<T> {
    try {
      return await change(cost)
    } finally {
      // After a large change, the user's next changes run one at a time.
      this.mutexOf(user_id, cost)
      if (cost.bytes > LARGE_CHANGE_BYTES) this.charges.add(user_id, cost.bytes)
    }
  }

  /** Undefined for users who make no large changes. */
  private mutexOf(user_id: string, { bytes, boardBytes }: ChangeCost): Semaphore | undefined {
    const known = this.mutexes.get(user_id)
    if (known || (bytes <= LARGE_CHANGE_BYTES && boardBytes <= LARGE_BOARD_BYTES)) return known
    const mutex = new Semaphore(1, limit)
    this.mutexes.set(user_id, mutex)
    return mutex
  }

  /** Waiting for the mutex counts, so that a change is rejected or begins before `latest`. */
  private async waitForBucket(user_id: string, latest: number, slot: ReleasableSlot | undefined) {
    const ms = this.charges.levelOf(user_id) - FREE_MS
    if (ms <= 0) return
    if (performance.now() + ms > latest) throw new Problem('overloaded', { retryAfterSeconds: Math.ceil(ms / 1_000) })
    await waitWithout(slot, () => pause(ms))
  }
}

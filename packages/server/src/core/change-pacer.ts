import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { type ReleasableSlot, waitWithout } from '../platform/slot.ts'

/** What a change costs. It is filled in while the change runs, so that one that is rejected counts too. */
export interface ChangeCost {
  /** What it read, wrote and returns of objects that can be large. */
  bytes: number
  /** How much text its board has. */
  boardBytes: number
}

/** A cheaper change is not charged. */
const LARGE_CHANGE_BYTES = 262_144
const BYTES_PER_SECOND = 2 * 1_048_576
/** A debt below this is not waited for, so that a user with a column of a megabyte notices nothing. */
const FREE_MS = 1_000
/** Changes of a user who has changed a board with more text run one at a time. */
const LARGE_BOARD_BYTES = 1_048_576
const MAX_USERS = 10_000

const MAX_WAIT_MS = 5_000
const limit = { maxWaiting: 500, waitMs: MAX_WAIT_MS, reject: () => new Problem('overloaded') }

interface Account {
  /** When the large changes of the user are paid off, by `performance.now`. */
  paidAt: number
  mutex: Semaphore
}

/**
 * Paces the changes of a user who makes large ones: they run one at a time, and the next waits for a time that grows with
 * the cost of the last. Building, logging and sending an event blocks the event loop for about 20 ms per megabyte and
 * takes several times its size in memory, so one user could slow down everybody, or fill the memory from several boards.
 */
export class ChangePacer {
  private readonly accounts = new LRUCache<string, Account>({ max: MAX_USERS })

  /** `board_bytes` is what is known of the board before the change, if anything. */
  run<T>(
    user_id: string,
    { boardBytes, slot }: { boardBytes: number; slot: ReleasableSlot | undefined },
    change: (cost: ChangeCost) => Promise<T>,
  ): Promise<T> {
    const cost: ChangeCost = { bytes: 0, boardBytes }
    const account = this.accountOf(user_id, cost)
    if (!account) return this.charged(user_id, cost, change)
    const paced = async () => {
      await payOff(account, slot)
      return this.charged(user_id, cost, change)
    }
    return account.mutex.run(paced, { slot })
  }

  private async charged<T>(user_id: string, cost: ChangeCost, change: (cost: ChangeCost) => Promise<T>): Promise<T> {
    try {
      return await change(cost)
    } finally {
      const account = this.accountOf(user_id, cost)
      if (account && cost.bytes > LARGE_CHANGE_BYTES)
        account.paidAt = Math.max(performance.now(), account.paidAt) + (cost.bytes / BYTES_PER_SECOND) * 1_000
    }
  }

  /** Of a user who makes large changes; undefined for all others. */
  private accountOf(user_id: string, { bytes, boardBytes }: ChangeCost): Account | undefined {
    const known = this.accounts.get(user_id)
    if (known || (bytes <= LARGE_CHANGE_BYTES && boardBytes <= LARGE_BOARD_BYTES)) return known
    const account = { paidAt: 0, mutex: new Semaphore(1, limit) }
    this.accounts.set(user_id, account)
    return account
  }
}

async function payOff({ paidAt }: Account, slot: ReleasableSlot | undefined) {
  const ms = paidAt - FREE_MS - performance.now()
  if (ms > MAX_WAIT_MS) throw new Problem('overloaded', { retry_after_seconds: Math.ceil(ms / 1_000) })
  if (ms > 0) await waitWithout(slot, () => pause(ms))
}

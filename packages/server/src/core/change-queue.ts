import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import type { ReleasableSlot } from '../platform/slot.ts'

const MAX_WAITING = 500

/**
 * Changes run one at a time per user and per board, before they take a database connection. Users who wait for a board take
 * turns. The turn of the user comes first: while it waits for a board, only that user's other changes wait.
 */
export class ChangeQueue {
  private readonly turns = new Map<string, Semaphore>()
  private readonly limit: { maxWaiting: number; waitMs: number; reject: () => Error }
  private readonly onWait: ((seconds: number) => void) | undefined

  constructor(waitMs: number, onWait?: (seconds: number) => void) {
    this.limit = { maxWaiting: MAX_WAITING, waitMs, reject: () => new Problem('board_busy') }
    this.onWait = onWait
  }

  get waiting(): number {
    let sum = 0
    for (const { waiting } of this.turns.values()) sum += waiting
    return sum
  }

  /** `release` ends both turns early. Changes of the service itself have no user. */
  async run<T>(
    board_id: string,
    user_id: string | undefined,
    task: (release: () => void) => Promise<T>,
    slot?: ReleasableSlot,
  ): Promise<T> {
    const ends: (() => void)[] = []
    const release = () => {
      for (const end of ends.splice(0)) end()
    }
    try {
      if (user_id !== undefined) ends.push(await this.turn(user_id, undefined, slot))
      ends.push(await this.turn(board_id, user_id, slot))
      return await task(release)
    } finally {
      release()
    }
  }

  /** Waits for a turn of `name`, fairly by `key`. Returns the function that ends it. */
  private async turn(name: string, key: string | undefined, slot?: ReleasableSlot): Promise<() => void> {
    const turns = this.turns.get(name) ?? new Semaphore(1, this.limit, this.onWait)
    this.turns.set(name, turns)
    const end = await turns.acquire(key, slot)
    return () => {
      end()
      if (turns.isIdle) this.turns.delete(name)
    }
  }
}

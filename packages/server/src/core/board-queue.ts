import { KeyedQueue } from '../platform/keyed-queue.ts'
import { Problem } from '../platform/problem.ts'

const MAX_WAITING_PER_BOARD = 500

/**
 * Queues the changes of each board in this process, before they take a database connection. A busy board then holds at most
 * two connections (one commits, the next waits for the board lock) and not the whole pool.
 */
export const boardQueue = (waitMs: number, onWait?: (seconds: number) => void) =>
  new KeyedQueue({
    maxWaiting: MAX_WAITING_PER_BOARD,
    waitMs,
    reject: () => new Problem('board_busy'),
    ...(onWait && { onWait }),
  })

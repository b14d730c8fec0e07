import { KeyCounts } from './key-counts.ts'
import type { ReleasableSlot } from './slot.ts'

interface QueueLimit {
  /** How many tasks may wait. */
  maxWaiting: number
  waitMs: number
  /** The error for a task that waited too long, or found the queue full. */
  reject: () => Error
  /** How many tasks of one key may run at once. */
  share?: number
}
interface Waiter {
  start: () => void
}

/**
 * A counting semaphore with a bounded queue that is fair to keys (users, addresses): the next task is one of the key that holds
 * least, and no key holds more than its share.
 */
export class Semaphore {
  private readonly capacity: number
  private readonly limit: QueueLimit | undefined
  private readonly onWait: ((seconds: number) => void) | undefined
  /** One FIFO queue for each key. */
  private readonly queues = new Map<string, Waiter[]>()
  private readonly held = new KeyCounts()
  private running = 0
  /** How many tasks wait. */
  waiting = 0

  /** `onWait` is called with the time that each task waited, also when it was rejected. */
  constructor(capacity: number, limit?: QueueLimit, onWait?: (seconds: number) => void) {
    this.capacity = capacity
    this.limit = limit
    this.onWait = onWait
  }

  get isIdle() {
    return this.running === 0 && this.waiting === 0
  }

  async run<T>(
    work: () => Promise<T>,
    { key, slot }: { key?: string | undefined; slot?: ReleasableSlot | undefined } = {},
  ): Promise<T> {
    const release = await this.acquire(key, slot)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Returns the release function, which works once. `slot` is released while the task waits. */
  async acquire(key = '', slot?: ReleasableSlot): Promise<() => void> {
    if (this.waiting === 0 && this.hasRoom(key)) {
      this.onWait?.(0)
      return this.take(key)
    }
    const wait = () => this.enqueue(key)
    return slot ? slot.releaseWhile(wait) : wait()
  }

  /** Takes a permit without waiting, beyond the capacity if need be. */
  take(key = ''): () => void {
    this.running++
    this.held.add(key)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.running--
      this.held.add(key, -1)
      this.startNext()
    }
  }

  private hasRoom(key: string) {
    return this.running < this.capacity && this.held.of(key) < (this.limit?.share ?? this.capacity)
  }

  private enqueue(key: string): Promise<() => void> {
    const { limit } = this
    const queuedAt = performance.now()
    const queue = this.queues.get(key) ?? []
    if (limit && this.waiting >= limit.maxWaiting) return Promise.reject(limit.reject())
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        queue.splice(queue.indexOf(waiter), 1)
        if (queue.length === 0) this.queues.delete(key)
        this.waiting--
        this.onWait?.((performance.now() - queuedAt) / 1_000)
      }
      const waiter: Waiter = {
        start: () => {
          leave()
          resolve(this.take(key))
        },
      }
      const timer =
        limit &&
        setTimeout(() => {
          leave()
          reject(limit.reject())
        }, limit.waitMs)
      queue.push(waiter)
      this.queues.set(key, queue)
      this.waiting++
      this.startNext()
    })
  }

  private startNext() {
    while (this.running < this.capacity) {
      let next: [string, Waiter[]] | undefined
      for (const entry of this.queues)
        if (this.hasRoom(entry[0]) && (!next || this.held.of(entry[0]) < this.held.of(next[0]))) next = entry
      if (!next) return
      const [key, queue] = next
      // Moves the key behind the others that hold as much.
      this.queues.delete(key)
      this.queues.set(key, queue)
      queue[0]?.start()
    }
  }
}

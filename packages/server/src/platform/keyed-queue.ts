import { type ReleasableSlot, waitWithout } from './slot.ts'

interface KeyedQueueOptions {
  /** How many tasks of one key may wait. */
  maxWaiting: number
  waitMs: number
  /** The error for a task that waited too long, or found the queue full. */
  reject: () => Error
  /** Called with the time that each task waited, also when it was rejected. */
  onWait?: (seconds: number) => void
}
interface Waiter {
  start: () => void
}

/**
 * A FIFO queue for each key: tasks of the same key run one after the other, tasks of different keys run in parallel. A task
 * may release its key before it ends, when all that is left is to wait.
 */
export class KeyedQueue {
  private readonly options: KeyedQueueOptions
  private readonly queues = new Map<string, Waiter[]>()
  /** How many tasks wait, of all keys together. */
  waiting = 0

  constructor(options: KeyedQueueOptions) {
    this.options = options
  }

  /** `slot` is released while the task waits. */
  async run<T>(key: string, task: (release: () => void) => Promise<T>, slot?: ReleasableSlot): Promise<T> {
    const queue = this.queues.get(key)
    if (queue) {
      if (queue.length >= this.options.maxWaiting) throw this.options.reject()
      await waitWithout(slot, () => this.waitIn(queue))
    } else {
      this.queues.set(key, [])
      this.options.onWait?.(0)
    }
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      const next = this.queues.get(key)?.shift()
      if (next) next.start()
      else this.queues.delete(key)
    }
    try {
      return await task(release)
    } finally {
      release()
    }
  }

  private async waitIn(queue: Waiter[]) {
    const queuedAt = performance.now()
    this.waiting++
    try {
      await this.enqueue(queue)
    } finally {
      this.waiting--
      this.options.onWait?.((performance.now() - queuedAt) / 1_000)
    }
  }

  private enqueue(queue: Waiter[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiter), 1)
        reject(this.options.reject())
      }, this.options.waitMs)
      const waiter = {
        start: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      queue.push(waiter)
    })
  }
}

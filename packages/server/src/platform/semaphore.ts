import { setTimeout as pause } from 'node:timers/promises'
import { FairQueue } from './fair-queue.ts'
import { type ReleasableSlot, waitWithout } from './slot.ts'

/** Rate limit of large results, for all tasks of a semaphore together: parsing and sending them blocks the event loop. */
const PACED_BYTES_PER_SECOND = 4 * 1_048_576
const SMALL_BYTES = 65_536
const MAX_PAUSE_MS = 2_000

interface QueueLimit {
  /** How many tasks may wait. */
  maxWaiting: number
  waitMs: number
  reject: () => Error
}
interface TaskOptions {
  /** A user, an address or a board. Waiting tasks are started fairly by key. Tasks without a key share one. */
  key?: string | undefined
  /** How much of the semaphore the task takes. */
  weight?: number
  /** The concurrency slot of the request. It is released while the task waits. */
  slot?: ReleasableSlot | undefined
}
interface QueuedTask {
  weight: number
  start: () => void
  reject: () => void
}

/**
 * A counting semaphore with a bounded queue that is fair to keys. Tasks that wait longer than `waitMs` are rejected with the
 * error of `reject`; when too many wait, so is the last task of the longest queue.
 */
export class Semaphore {
  private readonly capacity: number
  private readonly limit: QueueLimit | undefined
  private readonly onWait: ((seconds: number) => void) | undefined
  private readonly queue = new FairQueue<QueuedTask>()
  private running = 0

  /** `onWait` is called with the time that each task waited, also when it was rejected. */
  constructor(capacity: number, limit?: QueueLimit, onWait?: (seconds: number) => void) {
    this.capacity = capacity
    this.limit = limit
    this.onWait = onWait
  }

  /** How many tasks wait. */
  get waiting(): number {
    return this.queue.size
  }

  async run<T>(work: () => Promise<T>, { key = '', weight = 1, slot }: TaskOptions = {}): Promise<T> {
    if (this.queue.size === 0 && this.hasRoom(weight)) {
      this.onWait?.(0)
      this.start(key, weight)
    } else {
      await waitWithout(slot, () => this.wait(key, weight))
    }
    try {
      return await work()
    } finally {
      this.stop(key, weight)
    }
  }

  /**
   * Like `run`, but a task keeps its permit after it has returned, for a time that grows with the size of its result. So a
   * client that keeps requesting large results leaves most of the event loop to others.
   */
  runPaced<T>(work: () => Promise<T>, bytesOf: (result: T) => number, task: TaskOptions = {}): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const paced = async () => {
      const result = await work()
      resolve(result)
      const bytes = bytesOf(result)
      const pauseMs = (bytes / PACED_BYTES_PER_SECOND) * this.capacity * 1_000
      if (bytes > SMALL_BYTES) await pause(Math.min(pauseMs, MAX_PAUSE_MS), undefined, { ref: false })
    }
    this.run(paced, task).catch(reject)
    return promise
  }

  private async wait(key: string, weight: number): Promise<void> {
    const queuedAt = performance.now()
    try {
      await this.enqueue(key, weight)
    } finally {
      this.onWait?.((performance.now() - queuedAt) / 1_000)
    }
  }

  private async enqueue(key: string, weight: number): Promise<void> {
    const { limit, queue } = this
    if (limit && queue.size >= limit.maxWaiting) {
      const other = queue.excess(key)
      if (!other) throw limit.reject()
      other.reject()
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      clearTimeout(timer)
      queue.remove(key, task)
    }
    const task: QueuedTask = {
      weight,
      start: () => {
        leave()
        this.start(key, weight)
        resolve()
      },
      reject: () => {
        leave()
        reject(limit?.reject())
      },
    }
    const timer = limit && setTimeout(task.reject, limit.waitMs)
    queue.push(key, task)
    return promise
  }

  /** A task heavier than the whole semaphore runs alone. */
  private hasRoom(weight: number) {
    return this.running + weight <= this.capacity || this.running === 0
  }

  private start(key: string, weight: number) {
    this.running += weight
    this.queue.start(key, weight)
  }

  private stop(key: string, weight: number) {
    this.running -= weight
    this.queue.stop(key, weight)
    for (let next = this.queue.peek(); next && this.hasRoom(next.weight); next = this.queue.peek()) next.start()
  }
}

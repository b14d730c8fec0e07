import { setTimeout as pause } from 'node:timers/promises'
import type { Place } from '../http/edge/admission-controller.ts'
import { FairQueue } from './fair-queue.ts'

/** Large results are paced to this rate, all tasks of a semaphore together: parsing and sending them stops the event loop. */
const PACED_BYTES_PER_SECOND = 8 * 1_048_576
const SMALL_BYTES = 65_536
const MAX_REST_MS = 2_000

interface Limit {
  /** How many may wait. */
  waiting: number
  wait_ms: number
  refuse: () => Error
}
interface Task {
  /** Whose turn it counts as: a user, an address or a board. Tasks without a key share one. */
  key?: string | undefined
  /** How much of the semaphore the task takes. */
  weight?: number
  /** The request's place among those that are worked on. It is given up while the task waits. */
  place?: Place | undefined
}
interface Waiter {
  weight: number
  start: () => void
  giveUp: () => void
}

/**
 * Runs a limited number of tasks at once; waiting tasks start in turn by key. Tasks that wait longer than `wait_ms` are
 * rejected with what `refuse` makes; when too many wait, so is the last task of the longest queue.
 */
export class Semaphore {
  private readonly capacity: number
  private readonly limit: Limit | undefined
  private readonly waited: ((seconds: number) => void) | undefined
  private readonly queue = new FairQueue<Waiter>()
  private running = 0

  /** `waited` is called with the time each task waited, also when it was rejected. */
  constructor(capacity: number, limit?: Limit, waited?: (seconds: number) => void) {
    this.capacity = capacity
    this.limit = limit
    this.waited = waited
  }

  /** How many wait. */
  get waiting(): number {
    return this.queue.size
  }

  async run<T>(work: () => Promise<T>, { key = '', weight = 1, place }: Task = {}): Promise<T> {
    if (this.queue.size === 0 && this.hasRoom(weight)) {
      this.waited?.(0)
      this.start(key, weight)
    } else {
      await (place ? place.aside(() => this.wait(key, weight)) : this.wait(key, weight))
    }
    try {
      return await work()
    } finally {
      this.stop(key, weight)
    }
  }

  /**
   * Like `run`, but a task with a large result keeps its turn for a time that grows with the size, after it has returned. So
   * one client that asks for large results over and over leaves most of the event loop to others.
   */
  runPaced<T>(work: () => Promise<T>, bytesOf: (result: T) => number, task: Task = {}): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const paced = async () => {
      const result = await work()
      resolve(result)
      const bytes = bytesOf(result)
      const rest_ms = (bytes / PACED_BYTES_PER_SECOND) * this.capacity * 1_000
      if (bytes > SMALL_BYTES) await pause(Math.min(rest_ms, MAX_REST_MS), undefined, { ref: false })
    }
    this.run(paced, task).catch(reject)
    return promise
  }

  private async wait(key: string, weight: number): Promise<void> {
    const came_at = performance.now()
    try {
      await this.enqueue(key, weight)
    } finally {
      this.waited?.((performance.now() - came_at) / 1_000)
    }
  }

  private async enqueue(key: string, weight: number): Promise<void> {
    const { limit, queue } = this
    if (limit && queue.size >= limit.waiting) {
      const other = queue.excess(key)
      if (!other) throw limit.refuse()
      other.giveUp()
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      clearTimeout(timer)
      queue.remove(key, waiter)
    }
    const waiter: Waiter = {
      weight,
      start: () => {
        leave()
        this.start(key, weight)
        resolve()
      },
      giveUp: () => {
        leave()
        reject(limit?.refuse())
      },
    }
    const timer = limit && setTimeout(waiter.giveUp, limit.wait_ms)
    queue.push(key, waiter)
    return promise
  }

  /** A task that is larger than the semaphore runs alone. */
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

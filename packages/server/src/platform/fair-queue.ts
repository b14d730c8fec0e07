import { KeyCounts } from './key-counts.ts'

/**
 * A fair queue: one FIFO queue for each key, such as a user or an address. The next item is the first of the key with the
 * fewest items in progress, so that a key with a long queue does not delay others.
 */
export class FairQueue<T> {
  private readonly queues = new Map<string, T[]>()
  private readonly inProgress = new KeyCounts()
  /** How many items wait. */
  size = 0

  push(key: string, item: T) {
    const queue = this.queues.get(key)
    if (queue) queue.push(item)
    else this.queues.set(key, [item])
    this.size++
  }

  remove(key: string, item: T) {
    const queue = this.queues.get(key)
    const nth = queue?.indexOf(item) ?? -1
    if (!queue || nth === -1) return
    queue.splice(nth, 1)
    if (queue.length === 0) this.queues.delete(key)
    this.size--
  }

  start(key: string, weight = 1) {
    this.inProgress.add(key, weight)
    // Moves the key behind the others: of keys with equally many in progress, the longest-waiting one is next.
    const queue = this.queues.get(key)
    if (!queue) return
    this.queues.delete(key)
    this.queues.set(key, queue)
  }

  stop(key: string, weight = 1) {
    this.inProgress.add(key, -weight)
  }

  /** The next item. It stays in the queue. */
  peek(): T | undefined {
    if (this.size === 0) return undefined
    let fewest = Number.POSITIVE_INFINITY
    let next: T | undefined
    for (const [key, [first]] of this.queues) {
      const count = this.inProgress.of(key)
      if (count >= fewest) continue
      fewest = count
      next = first
    }
    return next
  }

  /** The last item of the longest queue, if that is longer than the queue of `key` would be with one more. */
  excess(key: string): T | undefined {
    const own = this.queues.get(key)?.length ?? 0
    let longest: T[] = []
    for (const queue of this.queues.values()) if (queue.length > longest.length) longest = queue
    return longest.length > own + 1 ? longest.at(-1) : undefined
  }

  /** The first item of each key. */
  heads(): T[] {
    return Array.from(this.queues.values(), ([first]) => first as T)
  }
}

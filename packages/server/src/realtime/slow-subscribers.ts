import type { Subscriber, UnreadBuffer } from './hub-environment.ts'

const SLOW_MS = 15_000
/** Limit for all slow subscribers together. Memory that several of them share counts once. */
const MAX_UNREAD_BYTES = 64 * 1_048_576

/** A subscriber whose buffer is full. */
export interface StalledSubscriber {
  subscriber: Subscriber
  since: number
  unread: UnreadBuffer
  isFarBehind: () => boolean
  evict: () => void
}

/** Bounds the time and the memory of subscribers that do not read what they are sent. */
export class SlowSubscribers {
  private readonly stalled = new Set<StalledSubscriber>()
  /** Unread buffers, with the number of subscribers that hold each. */
  private readonly holders = new Map<UnreadBuffer, number>()
  private unreadBytes = 0

  get subscribers(): Subscriber[] {
    return Array.from(this.stalled, ({ subscriber }) => subscriber)
  }

  /** Above the memory limit, this evicts the slow subscribers of the users that hold the most. */
  add(stalled: StalledSubscriber) {
    const { unread } = stalled
    this.stalled.add(stalled)
    const holders = this.holders.get(unread) ?? 0
    this.holders.set(unread, holders + 1)
    if (holders > 0) return
    this.unreadBytes += unread.length
    if (this.isOverLimit()) this.evictLargest()
  }

  delete(stalled: StalledSubscriber) {
    if (!this.stalled.delete(stalled)) return
    const { unread } = stalled
    const holders = (this.holders.get(unread) ?? 0) - 1
    if (holders > 0) return void this.holders.set(unread, holders)
    this.holders.delete(unread)
    this.unreadBytes -= unread.length
  }

  evictSlow(now: number) {
    for (const stalled of this.stalled) {
      if (now - stalled.since >= SLOW_MS || stalled.isFarBehind()) stalled.evict()
    }
  }

  /** A single event may exceed the limit: it is delivered when nothing else is held. */
  private isOverLimit() {
    return this.unreadBytes > MAX_UNREAD_BYTES && this.holders.size > 1
  }

  private evictLargest() {
    const byUser = Map.groupBy(this.stalled, ({ subscriber }) => subscriber.user_id)
    const users = Array.from(byUser.values(), (stalled) => ({ stalled, bytes: bytesOf(stalled) }))
    users.sort((a, b) => b.bytes - a.bytes)
    for (const { stalled } of users) {
      if (!this.isOverLimit()) return
      for (const each of stalled) if (this.stalled.has(each)) each.evict()
    }
  }
}

function bytesOf(stalled: StalledSubscriber[]): number {
  const buffers = new Set(stalled.map(({ unread }) => unread))
  return [...buffers].reduce((sum, { length }) => sum + length, 0)
}

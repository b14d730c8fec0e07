import type { Subscriber } from './hub-environment.ts'

const SLOW_MS = 15_000

/** A subscriber whose buffer is full. */
export interface StalledSubscriber {
  subscriber: Subscriber
  since: number
  isFarBehind: () => boolean
  evict: () => void
}

/** Bounds the time and the bytes of subscribers that do not read what they are sent. */
export class SlowSubscribers extends Set<StalledSubscriber> {
  get subscribers(): Subscriber[] {
    return Array.from(this, ({ subscriber }) => subscriber)
  }

  evictSlow(now: number) {
    for (const stalled of this) if (now - stalled.since >= SLOW_MS || stalled.isFarBehind()) stalled.evict()
  }
}

import type { Clock } from '../platform/clock.ts'

/** An event as the log stores it and as sockets receive it. */
export interface LiveEvent {
  seq: number
  type: string
  /** The removed user of a `board.member_removed`. */
  subject_id: string | null
  body: string
  /** Commit time by `performance.now`; only set for commits of this instance. */
  committedAt?: number
}

/** Position of a board: its epoch and the number of its last event. */
export interface Head {
  epoch: number
  seq: number
}

/** Why the hub disconnects a subscriber. The socket maps each reason to a close code. */
export type EvictionReason = 'removed' | 'deleted' | 'slow' | 'restored'

/** A connected client, as the hub sees it. */
export interface Subscriber {
  readonly user_id: string
  /** The board's position when access was checked. Removals up to it are history: the user is a member again. */
  readonly authorizedAtSeq: number
  /** Whether the client asked for sequence numbers. Only such clients can handle a resync. */
  readonly wantsSeq: boolean
  /** Sends events in order. Returns whether its buffer is full; `Hub.onDrained` is called once it has drained. */
  write: (events: readonly LiveEvent[]) => boolean
  /** Tells the client that events it needs are gone, and the position from which it will receive events. */
  sendResync: (head: Head) => void
  evict: (reason: EvictionReason) => void
}

/** An event on its way to the subscribers, and where this instance got it: its own commit, the bus, or the log. */
export interface Delivery {
  event: LiveEvent
  source: 'here' | 'bus' | 'log'
}

/** Everything the hub needs from outside: clock, timers, randomness, log and bus. Injected, so that a simulation can replace it. */
export interface HubEnvironment extends Pick<Clock, 'now' | 'after'> {
  /** Runs the work after other pending work of the event loop. */
  soon: (work: () => void) => void
  random: () => number
  /**
   * Reads a page of events after a number, in order; undefined when the log cannot be read now. Waiting reads are queued
   * fairly by `key`. `subscribers` returns how many the page will be sent to.
   */
  readEvents: (
    board_id: string,
    after: number,
    done: (events: LiveEvent[] | undefined) => void,
    reader: { key: string; isShared: boolean; subscribers: () => number },
  ) => void
  readHeads: (board_ids: string[], done: (heads: Map<string, Head> | undefined) => void) => void
  /** Calls `onSubscribed` when messages for this board arrive from now on, and again after a reconnect. */
  subscribe: (board_id: string, onSubscribed: () => void) => void
  unsubscribe: (board_id: string) => void
  /** Called when the log has lost events it had, with the number of affected boards. */
  onLostCommits?: (boards: number) => void
  /** Called once per event when every subscriber that can receive it was sent it, however many there are. */
  onDelivered?: (delivery: Delivery) => void
}

/** Counters of the hub. Plain numbers, because they are updated for every subscriber. */
export interface HubCounts {
  delivered: number
  fills: number
  filled: number
  pages: number
  resyncs: number
  resumed: { nothing_missed: number; ring: number; log: number }
}

import { yieldingForEach } from '../platform/yielding-for-each.ts'
import type {
  Delivery,
  EvictionReason,
  Head,
  HubCounts,
  HubEnvironment,
  LiveEvent,
  Subscriber,
} from './hub-environment.ts'
import type { SlowSubscribers, StalledSubscriber } from './slow-subscribers.ts'

/** How long to wait for a reordered message before the gap is read from the log. */
const REORDER_WAIT_MS = 25
const RETRY_MS = 500
/** How long a channel without subscribers is kept. */
const IDLE_MS = 30_000
const RING_EVENTS = 256
const RING_BYTES = 1_048_576
/** A stalled subscriber that falls this far behind is evicted early. */
const SLOW_BYTES = 4 * 1_048_576

/** Cursor of a subscriber: the number of the next event to send. */
interface Subscription {
  subscriber: Subscriber
  nextSeq: number
  /** Set while the subscriber's buffer is full. */
  stalled: StalledSubscriber | undefined
  isReading: boolean
}

/** What a channel shares with the other channels of the hub. */
interface ChannelContext {
  environment: HubEnvironment
  counts: HubCounts
  slow: SlowSubscribers
  /** Called when the channel has had no subscribers for a while. */
  onIdle: () => void
}

/**
 * The events of one board on this instance. Messages of the bus pass a reorder buffer; gaps are filled from the log. Each
 * subscription is caught up from its cursor, from the ring of recent events or page by page from the log: live delivery,
 * resuming and slow readers are the same case.
 */
export class BoardChannel {
  readonly board_id: string
  epoch: number
  /** Every event up to this number has been applied, without a gap. */
  lastSeq: number
  /** The highest number known to exist in the log. */
  private targetSeq: number
  /** The highest number received as a message. */
  private receivedSeq: number
  private readonly reorderBuffer = new Map<number, LiveEvent>()
  private ring: LiveEvent[] = []
  private ringBytes = 0
  /** Bytes of all events applied so far. */
  private totalBytes = 0
  private readonly subscriptions = new Map<Subscriber, Subscription>()
  /** Pending reads of pages, by the number they start after, with the subscriptions that wait for them. */
  private readonly pendingPages = new Map<number, Subscription[]>()
  /** The last array cut from the ring, shared by all subscriptions with the same cursor. */
  private batch: readonly LiveEvent[] = []
  /** Applied events that are not yet reported as delivered. */
  private undelivered: Delivery[] = []
  private isFilling = false
  private isDelivering = false
  private isWaitingForReorder = false
  private cancelIdleTimer: (() => void) | undefined
  private readonly environment: HubEnvironment
  private readonly counts: HubCounts
  private readonly slow: SlowSubscribers
  private readonly onIdle: () => void

  constructor(board_id: string, { epoch, seq }: Head, { environment, counts, slow, onIdle }: ChannelContext) {
    this.board_id = board_id
    this.epoch = epoch
    this.lastSeq = seq
    this.targetSeq = seq
    this.receivedSeq = seq
    this.environment = environment
    this.counts = counts
    this.slow = slow
    this.onIdle = onIdle
  }

  join(epoch: number, subscriber: Subscriber, since: Head | undefined) {
    this.cancelIdleTimer?.()
    this.cancelIdleTimer = undefined
    const { authorizedAtSeq } = subscriber
    if (this.epoch !== epoch) this.restart({ epoch, seq: authorizedAtSeq })
    const isValid = since === undefined || (since.epoch === epoch && since.seq <= authorizedAtSeq)
    if (!isValid) {
      this.counts.resyncs++
      subscriber.sendResync({ epoch, seq: authorizedAtSeq })
    }
    // Starts at the access check: a removal after it is delivered as an event, even if it happened before this call.
    const nextSeq = (isValid ? (since?.seq ?? authorizedAtSeq) : authorizedAtSeq) + 1
    const subscription: Subscription = { subscriber, nextSeq, stalled: undefined, isReading: false }
    this.subscriptions.set(subscriber, subscription)
    this.fillGap(authorizedAtSeq)
    this.catchUp(subscription)
    if (since === undefined || !isValid) return
    this.counts.resumed[nextSeq > authorizedAtSeq ? 'nothing_missed' : subscription.isReading ? 'log' : 'ring']++
  }

  leave(subscriber: Subscriber) {
    const subscription = this.subscriptions.get(subscriber)
    if (!subscription) return
    this.subscriptions.delete(subscriber)
    this.clearStalled(subscription)
    if (this.subscriptions.size > 0) return
    // Keeps the ring and the bus subscription for clients that reconnect soon.
    this.cancelIdleTimer = this.environment.after(IDLE_MS, this.onIdle)
  }

  onMessage(epoch: number, event: LiveEvent) {
    if (epoch !== this.epoch || event.seq <= this.lastSeq) return
    this.receivedSeq = Math.max(this.receivedSeq, event.seq)
    // The buffer is bounded, because the log may be unreachable for long. Events that do not fit are read from it later.
    if (this.reorderBuffer.size < RING_EVENTS || event.seq === this.lastSeq + 1)
      this.reorderBuffer.set(event.seq, event)
    this.applyBuffered()
  }

  onAnnouncement(epoch: number, seq: number) {
    if (epoch === this.epoch) this.fillGap(seq)
  }

  onDrained(subscriber: Subscriber) {
    const subscription = this.subscriptions.get(subscriber)
    if (!subscription?.stalled) return
    this.clearStalled(subscription)
    this.catchUp(subscription)
  }

  /** Reads the head of the log. It only reveals that there are more events; it never moves the position. */
  checkHead() {
    this.environment.readHeads([this.board_id], (heads) => {
      const head = heads?.get(this.board_id)
      if (head?.epoch === this.epoch) this.fillGap(head.seq)
    })
  }

  /** Starts over at a head that went back in time: after a restore, or a failover that lost commits. All cursors are void. */
  restart({ epoch, seq }: Head) {
    this.epoch = epoch
    this.lastSeq = seq
    this.targetSeq = seq
    this.receivedSeq = seq
    this.ring = []
    this.ringBytes = 0
    this.batch = []
    this.undelivered = []
    this.reorderBuffer.clear()
    for (const subscription of [...this.subscriptions.values()]) {
      if (!subscription.subscriber.wantsSeq) this.evict(subscription, 'restored')
      else this.sendResync(subscription)
    }
  }

  /** Reads missing events up to `targetSeq` from the log, one page at a time. */
  fillGap(targetSeq: number) {
    this.targetSeq = Math.max(this.targetSeq, targetSeq)
    if (this.isFilling || this.lastSeq >= this.targetSeq) return
    this.isFilling = true
    this.counts.fills++
    const { epoch, board_id } = this
    const done = (events: LiveEvent[] | undefined) => {
      this.isFilling = false
      if (this.epoch !== epoch) return
      const before = this.lastSeq
      for (const event of events ?? []) this.applyEvent(event, 'log')
      this.applyBuffered()
      if (this.lastSeq > before) this.fillGap(this.targetSeq)
    }
    const subscribers = () => this.subscriptions.size
    this.environment.readEvents(board_id, this.lastSeq, done, { key: board_id, isShared: true, subscribers })
  }

  /** Applies what the reorder buffer holds without a gap. If a gap remains, waits a moment, then reads it from the log. */
  private applyBuffered() {
    const next = () => this.reorderBuffer.get(this.lastSeq + 1)
    for (let event = next(); event; event = next()) {
      this.applyEvent(event, event.committedAt === undefined ? 'bus' : 'here')
    }
    if (this.receivedSeq <= this.lastSeq || this.isWaitingForReorder) return
    this.isWaitingForReorder = true
    this.environment.after(REORDER_WAIT_MS, () => {
      this.isWaitingForReorder = false
      if (this.receivedSeq > this.lastSeq) this.fillGap(this.receivedSeq)
    })
  }

  /** Only the next event moves the position. `board.deleted` is the exception: the events before it are deleted with the board. */
  private applyEvent(event: LiveEvent, source: Delivery['source']) {
    this.reorderBuffer.delete(event.seq)
    if (event.seq !== this.lastSeq + 1 && !(event.type === 'board.deleted' && event.seq > this.lastSeq)) return
    this.lastSeq = event.seq
    if (source === 'log') this.counts.filled++
    if (this.environment.onDelivered) this.undelivered.push({ event, source })
    this.targetSeq = Math.max(this.targetSeq, event.seq)
    this.totalBytes += event.body.length
    this.ringBytes += event.body.length
    this.ring.push(event)
    // An event larger than the ring is not kept: subscriptions share a page from the log instead.
    while (this.ring.length > RING_EVENTS || this.ringBytes > RING_BYTES) {
      this.ringBytes -= this.ring.shift()?.body.length ?? 0
    }
    this.deliverToAll()
  }

  /** Catches up all subscriptions in slices, so that many subscribers do not block the event loop. */
  private deliverToAll() {
    if (this.isDelivering) return
    this.isDelivering = true
    const { lastSeq, environment } = this
    const onDone = () => {
      this.isDelivering = false
      this.reportDelivered(lastSeq)
      if (this.lastSeq > lastSeq) this.deliverToAll()
    }
    const catchUp = (subscription: Subscription) => this.catchUp(subscription)
    environment.soon(() => yieldingForEach(this.subscriptions.values(), catchUp, onDone, environment))
  }

  /** Every subscription was offered the events up to `lastSeq`. Those that are behind read them from the log later. */
  private reportDelivered(lastSeq: number) {
    const done = this.undelivered.filter(({ event }) => event.seq <= lastSeq)
    if (done.length === 0) return
    this.undelivered = this.undelivered.slice(done.length)
    if (this.subscriptions.size > 0) for (const delivery of done) this.environment.onDelivered?.(delivery)
  }

  /** Sends a subscription all events it has not seen, as far as its buffer allows. */
  private catchUp(subscription: Subscription) {
    while (subscription.nextSeq <= this.lastSeq && this.canReceive(subscription)) {
      const events = this.fromRing(subscription.nextSeq)
      if (!events) return this.readPage(subscription)
      this.deliver(subscription, events)
    }
  }

  private canReceive(subscription: Subscription) {
    return !subscription.stalled && !subscription.isReading && this.isCurrent(subscription)
  }

  private isCurrent(subscription: Subscription) {
    return this.subscriptions.get(subscription.subscriber) === subscription
  }

  /** The events from `nextSeq` on, if the ring still has them. Subscriptions with the same cursor share one array. */
  private fromRing(nextSeq: number): readonly LiveEvent[] | undefined {
    if (this.batch[0]?.seq === nextSeq && this.batch.at(-1)?.seq === this.lastSeq) return this.batch
    const start = this.ring.findIndex((event) => event.seq >= nextSeq)
    const first = this.ring[start]
    if (!first || (first.seq !== nextSeq && first.type !== 'board.deleted')) return undefined
    this.batch = this.ring.slice(start)
    return this.batch
  }

  private deliver(subscription: Subscription, events: readonly LiveEvent[]) {
    const { subscriber } = subscription
    const cut = events.findIndex((event) => isLastFor(subscriber, event))
    const sent = cut === -1 ? events : events.slice(0, cut + 1)
    const newest = sent.at(-1) as LiveEvent
    const isFull = subscriber.write(sent)
    subscription.nextSeq = newest.seq + 1
    this.counts.delivered += sent.length
    if (cut !== -1) return this.evict(subscription, newest.type === 'board.deleted' ? 'deleted' : 'removed')
    if (isFull) this.markStalled(subscription)
  }

  /** Reads events that the ring no longer has. Subscriptions with the same cursor share one read. */
  private readPage(subscription: Subscription) {
    subscription.isReading = true
    const after = subscription.nextSeq - 1
    const waiting = this.pendingPages.get(after)
    if (waiting) return void waiting.push(subscription)
    const readers = [subscription]
    this.pendingPages.set(after, readers)
    this.counts.pages++
    const { epoch } = this
    const done = (events: LiveEvent[] | undefined) => {
      this.pendingPages.delete(after)
      for (const reader of readers) {
        reader.isReading = false
        if (!this.isCurrent(reader) || this.epoch !== epoch || reader.nextSeq !== after + 1) continue
        if (events) this.deliverPage(reader, events)
        else this.environment.after(RETRY_MS, () => this.catchUp(reader))
      }
    }
    // Queued by user, because one user can resume on many boards.
    const key = subscription.subscriber.user_id
    this.environment.readEvents(this.board_id, after, done, { key, isShared: false, subscribers: () => readers.length })
  }

  private deliverPage(subscription: Subscription, events: LiveEvent[]) {
    const [first] = events
    if (first && (first.seq === subscription.nextSeq || first.type === 'board.deleted')) {
      this.deliver(subscription, events)
      this.catchUp(subscription)
    } else if (subscription.subscriber.wantsSeq) {
      this.sendResync(subscription)
    } else {
      this.evict(subscription, 'slow')
    }
  }

  /** The events the client needs are gone: it must reload the board, and continues from the current position. */
  private sendResync(subscription: Subscription) {
    subscription.nextSeq = this.lastSeq + 1
    this.counts.resyncs++
    subscription.subscriber.sendResync({ epoch: this.epoch, seq: this.lastSeq })
  }

  private evict(subscription: Subscription, reason: EvictionReason) {
    this.leave(subscription.subscriber)
    subscription.subscriber.evict(reason)
  }

  private markStalled(subscription: Subscription) {
    const { totalBytes, lastSeq } = this
    const stalled = {
      subscriber: subscription.subscriber,
      since: this.environment.now(),
      // A single large event is not the subscriber's fault.
      isFarBehind: () => this.totalBytes - totalBytes > SLOW_BYTES && this.lastSeq > lastSeq + 1,
      evict: () => this.evict(subscription, 'slow'),
    }
    subscription.stalled = stalled
    this.slow.add(stalled)
  }

  private clearStalled(subscription: Subscription) {
    if (subscription.stalled) this.slow.delete(subscription.stalled)
    subscription.stalled = undefined
  }
}

/** A subscriber receives nothing after its own removal or the board's deletion. */
const isLastFor = (subscriber: Subscriber, { type, seq, subject_id }: LiveEvent) =>
  type === 'board.deleted' ||
  (type === 'board.member_removed' && subject_id === subscriber.user_id && seq > subscriber.authorizedAtSeq)

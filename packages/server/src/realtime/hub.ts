import { BoardChannel } from './board-channel.ts'
import type { Head, HubCounts, HubEnvironment, LiveEvent, Subscriber } from './hub-environment.ts'
import { SlowSubscribers } from './slow-subscribers.ts'

const RECONCILE_MS = 2_000
const DEGRADED_RECONCILE_MS = 500

/**
 * Delivers every event of a board to every subscriber on this instance: in order, without gaps, exactly once. The bus is fast
 * but may lose, repeat or reorder messages; the log is authoritative, so the hub reads it to fill gaps and reconciles with it
 * at intervals. There is one channel for each board that has subscribers.
 */
export class Hub {
  readonly counts: HubCounts = {
    delivered: 0,
    fills: 0,
    filled: 0,
    pages: 0,
    resyncs: 0,
    resumed: { nothing_missed: 0, ring: 0, log: 0 },
  }
  private readonly channels = new Map<string, BoardChannel>()
  private readonly slow = new SlowSubscribers()
  private readonly environment: HubEnvironment
  private isDegraded = false
  private stopReconcile: () => void

  constructor(environment: HubEnvironment) {
    this.environment = environment
    this.stopReconcile = () => {}
    this.scheduleReconcile()
  }

  /** Adds a subscriber whose access was just checked. `since` is the last position it has seen. */
  join(board_id: string, epoch: number, subscriber: Subscriber, since?: Head) {
    const channel = this.channels.get(board_id) ?? this.open(board_id, { epoch, seq: subscriber.authorizedAtSeq })
    channel.join(epoch, subscriber, since)
  }

  leave(board_id: string, subscriber: Subscriber) {
    this.channels.get(board_id)?.leave(subscriber)
  }

  /** A committed event, from this instance or from the bus. */
  onMessage(board_id: string, epoch: number, event: LiveEvent) {
    this.channels.get(board_id)?.onMessage(epoch, event)
  }

  /** The number of an event that was too large for the bus: it is read from the log at once. */
  onAnnouncement(board_id: string, epoch: number, seq: number) {
    this.channels.get(board_id)?.onAnnouncement(epoch, seq)
  }

  /** A subscriber's full buffer has drained. */
  onDrained(board_id: string, subscriber: Subscriber) {
    this.channels.get(board_id)?.onDrained(subscriber)
  }

  /** While the bus may be losing messages, the hub reconciles with the log more often. */
  setDegraded(isDegraded: boolean) {
    if (this.isDegraded === isDegraded) return
    this.isDegraded = isDegraded
    this.stopReconcile()
    this.reconcile()
    this.scheduleReconcile()
  }

  /** Evicts subscribers that have stopped reading. To be called every second. */
  evictSlow() {
    this.slow.evictSlow(this.environment.now())
  }

  /** Compares all channels with the heads in the log, to find events that the bus lost. */
  reconcile() {
    const before = new Map([...this.channels.values()].map((channel) => [channel, channel.lastSeq]))
    if (before.size === 0) return
    this.environment.readHeads([...this.channels.keys()], (heads) => {
      let lost = 0
      for (const [channel, lastSeq] of before) {
        const head = heads?.get(channel.board_id)
        if (!head || this.channels.get(channel.board_id) !== channel) continue
        if (head.epoch === channel.epoch && head.seq < lastSeq) lost++
        if (head.epoch !== channel.epoch || head.seq < lastSeq) channel.restart(head)
        else channel.fillGap(head.seq)
      }
      if (lost > 0) this.environment.onLostCommits?.(lost)
    })
  }

  /** Number of open channels, and the subscribers whose buffers are full. */
  state(): { boards: number; slow: Subscriber[] } {
    return { boards: this.channels.size, slow: this.slow.subscribers }
  }

  /** The number of the last event that this instance has for a board. */
  positionOf(board_id: string): number {
    return this.channels.get(board_id)?.lastSeq ?? 0
  }

  close() {
    this.stopReconcile()
  }

  private scheduleReconcile() {
    const interval = this.isDegraded ? DEGRADED_RECONCILE_MS : RECONCILE_MS
    this.stopReconcile = this.environment.after(interval * (0.9 + 0.2 * this.environment.random()), () => {
      this.reconcile()
      this.scheduleReconcile()
    })
  }

  private open(board_id: string, head: Head): BoardChannel {
    const { environment, counts, slow } = this
    const onIdle = () => {
      this.channels.delete(board_id)
      environment.unsubscribe(board_id)
    }
    const channel = new BoardChannel(board_id, head, { environment, counts, slow, onIdle })
    this.channels.set(board_id, channel)
    // Events committed before the subscription took effect are found by reading the head afterwards.
    environment.subscribe(board_id, () => channel.checkHead())
    return channel
  }
}

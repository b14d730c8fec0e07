import { HEARTBEAT_SECONDS, PONG_SECONDS } from '@lockstep/contract/realtime'

/** A connection to a board that can be scheduled for heartbeats. */
export interface Heartbeatable {
  readonly board_id: string
  readonly expiresAtSeconds: number
}
export interface HeartbeatHandlers<C extends Heartbeatable> {
  /** All connections of the boards whose turn it is: refresh their presence, check their access. */
  onBoardDue: (connections: C[]) => void
  /** Connections whose ping is due. */
  onPingDue: (connections: C[]) => void
  /** Connections whose pong is due. */
  onPongDue: (connections: C[]) => void
  onTokenExpired: (connection: C) => void
}

/**
 * A timing wheel for the heartbeats of all connections, instead of a timer for each. It advances every second. All
 * connections of a board share a slot, so that its presence is refreshed once. Pings have slots of their own, by the second of
 * the connect: every connection gets its first ping one interval after it connected.
 */
export class HeartbeatWheel<C extends Heartbeatable> {
  private readonly boardSlots = Array.from({ length: HEARTBEAT_SECONDS }, () => new Set<C>())
  private readonly pingSlots = this.boardSlots.map(() => new Set<C>())
  private readonly pingSlotOf = new Map<C, Set<C>>()
  private readonly expiries = new Map<number, Set<C>>()
  private readonly handlers: HeartbeatHandlers<C>
  private ticks = 0

  constructor(handlers: HeartbeatHandlers<C>) {
    this.handlers = handlers
  }

  add(connection: C) {
    this.boardSlotOf(connection).add(connection)
    // The slot of the last tick, whose turn comes again after a whole interval.
    this.pingSlotOf.set(connection, this.pingSlotAt(-1).add(connection))
    const { expiresAtSeconds: second } = connection
    this.expiries.set(second, (this.expiries.get(second) ?? new Set()).add(connection))
  }

  remove(connection: C) {
    this.boardSlotOf(connection).delete(connection)
    this.pingSlotOf.get(connection)?.delete(connection)
    this.pingSlotOf.delete(connection)
    const { expiresAtSeconds: second } = connection
    const expiring = this.expiries.get(second)
    expiring?.delete(connection)
    if (expiring?.size === 0) this.expiries.delete(second)
  }

  /** To be called every second. */
  tick(nowSeconds: number) {
    this.handlers.onBoardDue([...(this.boardSlots[this.ticks % this.boardSlots.length] as Set<C>)])
    this.handlers.onPingDue([...this.pingSlotAt(0)])
    this.handlers.onPongDue([...this.pingSlotAt(-PONG_SECONDS)])
    this.ticks++
    this.expire(nowSeconds)
  }

  private expire(nowSeconds: number) {
    // Includes earlier seconds, because ticks are skipped when the event loop is blocked.
    for (const [second, connections] of this.expiries) {
      if (second > nowSeconds) continue
      for (const connection of [...connections]) this.handlers.onTokenExpired(connection)
    }
  }

  /** The connections that are pinged at the next tick, or were pinged some ticks before it. */
  private pingSlotAt(offset: number): Set<C> {
    const count = this.pingSlots.length
    return this.pingSlots[(((this.ticks + offset) % count) + count) % count] as Set<C>
  }

  private boardSlotOf({ board_id }: C): Set<C> {
    return this.boardSlots[Number.parseInt(board_id.slice(-6), 16) % this.boardSlots.length] as Set<C>
  }
}

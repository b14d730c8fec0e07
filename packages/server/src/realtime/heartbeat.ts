import { HEARTBEAT_SECONDS, PONG_SECONDS } from '@lockstep/contract/realtime'

/** A connection to a board that can be scheduled for heartbeats. */
export interface Heartbeatable {
  readonly board_id: string
  readonly expiresAtSeconds: number
}
export interface HeartbeatHandlers<C extends Heartbeatable> {
  /** Connections whose heartbeat is due: ping them, refresh their presence, check their access. */
  onHeartbeat: (connections: C[]) => void
  /** Connections whose pong is due. */
  onPongDue: (connections: C[]) => void
  onTokenExpired: (connection: C) => void
}

/**
 * A timing wheel for the heartbeats of all connections, instead of a timer for each. It advances every second. All
 * connections of a board share a slot, so that its presence is refreshed once.
 */
export class HeartbeatWheel<C extends Heartbeatable> {
  private readonly slots: Set<C>[]
  private readonly expiries = new Map<number, Set<C>>()
  private readonly handlers: HeartbeatHandlers<C>
  private readonly pongTicks: number
  private ticks = 0

  constructor(handlers: HeartbeatHandlers<C>, seconds = { heartbeat: HEARTBEAT_SECONDS, pong: PONG_SECONDS }) {
    this.handlers = handlers
    this.slots = Array.from({ length: seconds.heartbeat }, () => new Set<C>())
    this.pongTicks = seconds.pong
  }

  add(connection: C) {
    this.slotOf(connection).add(connection)
    const { expiresAtSeconds: second } = connection
    this.expiries.set(second, (this.expiries.get(second) ?? new Set()).add(connection))
  }

  remove(connection: C) {
    this.slotOf(connection).delete(connection)
    const { expiresAtSeconds: second } = connection
    const expiring = this.expiries.get(second)
    expiring?.delete(connection)
    if (expiring?.size === 0) this.expiries.delete(second)
  }

  /** To be called every second. */
  tick(nowSeconds: number) {
    const count = this.slots.length
    this.handlers.onHeartbeat([...(this.slots[this.ticks % count] as Set<C>)])
    this.handlers.onPongDue([...(this.slots[(((this.ticks - this.pongTicks) % count) + count) % count] as Set<C>)])
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

  private slotOf({ board_id }: C): Set<C> {
    return this.slots[Number.parseInt(board_id.slice(-6), 16) % this.slots.length] as Set<C>
  }
}

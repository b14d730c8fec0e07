import { HEARTBEAT_SECONDS, PONG_SECONDS } from '@lockstep/contract/realtime'

/** What the wheel turns: a connection with a board. */
export interface Heartbeatable {
  readonly board_id: string
  readonly expiresAtSeconds: number
}
export interface HeartbeatHandlers<C extends Heartbeatable> {
  /** The connections whose turn it is, with their boards: ping them, count them as present, look whether they still may. */
  beat: (connections: C[]) => void
  /** The connections that were pinged ten seconds ago. */
  due: (connections: C[]) => void
  expired: (connection: C) => void
}

/**
 * One wheel for all connections, turned every second: no timer for each. All connections of a board have the same turn,
 * so that a board is refreshed once.
 */
export class HeartbeatWheel<C extends Heartbeatable> {
  private readonly slots: Set<C>[]
  private readonly expiries = new Map<number, Set<C>>()
  private readonly rounds: HeartbeatHandlers<C>
  private readonly pongTicks: number
  private tick = 0

  constructor(rounds: HeartbeatHandlers<C>, seconds = { heartbeat: HEARTBEAT_SECONDS, pong: PONG_SECONDS }) {
    this.rounds = rounds
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
  turn(now_seconds: number) {
    const count = this.slots.length
    this.rounds.beat([...(this.slots[this.tick % count] as Set<C>)])
    this.rounds.due([...(this.slots[(((this.tick - this.pongTicks) % count) + count) % count] as Set<C>)])
    this.tick++
    this.expire(now_seconds)
  }

  private expire(now_seconds: number) {
    // Whatever came due since the last look, also when the process was held up for a while.
    for (const [second, connections] of this.expiries) {
      if (second > now_seconds) continue
      for (const connection of [...connections]) this.rounds.expired(connection)
    }
  }

  private slotOf({ board_id }: C): Set<C> {
    return this.slots[Number.parseInt(board_id.slice(-6), 16) % this.slots.length] as Set<C>
  }
}

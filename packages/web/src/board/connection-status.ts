import type { Status } from '@lockstep/client/live'

/** The connection status shown to the user. Short interruptions are not shown. */
export type ConnectionStatus =
  | { kind: 'live' | 'polling' | 'connecting' | 'reconnecting' | 'saving' }
  | { kind: 'offline'; waiting: number }
  | { kind: 'back'; sent: number; received: number }

/** A shorter interruption is not shown. */
const SILENT_MS = 1_000
/** After this time the status changes from "reconnecting" to "offline". */
const OFFLINE_MS = 5_000
/** Changes that wait for longer although the connection works, as after a 429, are shown. */
const SLOW_SAVE_MS = 5_000
const BACK_MS = 4_000
/** Missed changes arrive right after the reconnect. Later changes are new ones and are not counted. */
const CATCH_UP_MS = 1_000

/** Derives the status from the connection phase, and counts the changes of an interruption. The caller passes the time. */
export class ConnectionMonitor {
  private awaySince: number | undefined
  private wasLive = false
  /** Whether the user saw that the connection was lost. */
  private wasShown = false
  private waiting = 0
  /** At the last update. */
  private pending = Number.POSITIVE_INFINITY
  /** When a change was last confirmed, or none was waiting. */
  private savedAt = 0
  private received = 0
  private back: { at: number; sent: number } | undefined

  /** Called for every change by another user. */
  onRemoteChange(now: number) {
    if (this.back && now - this.back.at > CATCH_UP_MS) return
    this.received++
  }

  update(
    { phase, pending, reason }: Pick<Status, 'phase' | 'pending' | 'reason'>,
    isDeviceOnline: boolean,
    now: number,
  ): ConnectionStatus {
    // The login dialog says it.
    if (reason === 'unauthorized') return { kind: 'live' }
    const isAway = !isDeviceOnline || (phase !== 'live' && phase !== 'polling')
    if (isAway || this.pending === 0 || pending < this.pending) this.savedAt = now
    this.pending = pending
    if (isAway) return this.updateAway(isDeviceOnline, pending, now)
    const isSlow = now - this.savedAt >= SLOW_SAVE_MS
    // Connected again, but not all queued changes are confirmed.
    if (this.awaySince !== undefined && pending > 0)
      return { kind: this.wasShown ? 'reconnecting' : isSlow ? 'saving' : 'live' }
    this.wasLive = true
    if (this.wasShown) this.back = { at: now, sent: this.waiting }
    this.awaySince = undefined
    this.wasShown = false
    this.waiting = 0
    if (this.back && now - this.back.at < BACK_MS)
      return { kind: 'back', sent: this.back.sent, received: this.received }
    this.back = undefined
    return { kind: isSlow ? 'saving' : phase === 'polling' ? 'polling' : 'live' }
  }

  private updateAway(isDeviceOnline: boolean, pending: number, now: number): ConnectionStatus {
    if (this.awaySince === undefined) {
      this.awaySince = now
      this.received = 0
    }
    this.back = undefined
    this.waiting = Math.max(this.waiting, pending)
    const awayMs = now - this.awaySince
    if (isDeviceOnline && awayMs < SILENT_MS) return { kind: 'live' }
    if (isDeviceOnline && awayMs < OFFLINE_MS) return { kind: this.wasLive ? 'reconnecting' : 'connecting' }
    this.wasShown = true
    return { kind: 'offline', waiting: pending }
  }
}

import type { Status } from '@lockstep/client/live'

/** What a user is told of his line. A short drop is nobody's business. */
export type Told =
  | { kind: 'live' | 'polling' | 'connecting' | 'reconnecting' }
  | { kind: 'offline'; waiting: number }
  | { kind: 'back'; sent: number; received: number }

const QUIET_MS = 1_000
const PATIENT_MS = 5_000
const BACK_MS = 4_000
/** What was missed comes at once after the return; later changes are new ones. */
const CATCH_UP_MS = 1_000

/** Remembers what happened while the line was away. Pure: it is told the time. */
export class ConnectionStory {
  private away_since: number | undefined
  /** Whether there was a line before. */
  private wasLive = false
  private wasTold = false
  private waiting = 0
  private received = 0
  private back: { at: number; sent: number } | undefined

  /** Somebody else's change has come. */
  hear(now: number) {
    if (this.back && now - this.back.at > CATCH_UP_MS) return
    this.received++
  }

  tell({ phase, pending }: Pick<Status, 'phase' | 'pending'>, is_device_online: boolean, now: number): Told {
    const isAway = !is_device_online || (phase !== 'live' && phase !== 'polling')
    if (isAway) return this.tellAway(is_device_online, pending, now)
    // Back, but not everything that waited is with the server yet.
    if (this.away_since !== undefined && pending > 0) return { kind: this.wasTold ? 'reconnecting' : 'live' }
    this.wasLive = true
    if (this.wasTold) this.back = { at: now, sent: this.waiting }
    this.away_since = undefined
    this.wasTold = false
    this.waiting = 0
    if (this.back && now - this.back.at < BACK_MS)
      return { kind: 'back', sent: this.back.sent, received: this.received }
    this.back = undefined
    return { kind: phase === 'polling' ? 'polling' : 'live' }
  }

  private tellAway(is_device_online: boolean, pending: number, now: number): Told {
    if (this.away_since === undefined) {
      this.away_since = now
      this.received = 0
    }
    this.back = undefined
    this.waiting = Math.max(this.waiting, pending)
    const away_ms = now - this.away_since
    if (is_device_online && away_ms < QUIET_MS) return { kind: 'live' }
    if (is_device_online && away_ms < PATIENT_MS) return { kind: this.wasLive ? 'reconnecting' : 'connecting' }
    this.wasTold = true
    return { kind: 'offline', waiting: pending }
  }
}

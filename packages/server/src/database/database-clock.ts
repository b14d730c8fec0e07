import { sql } from 'kysely'
import { type Db, statement } from './database.ts'

const EVERY_SECONDS = 5
/** A smaller difference has no effect: tokens and tickets are dated in seconds. */
const MAX_SKEW_SECONDS = 2

interface Log {
  info: (details: object, message: string) => void
  warn: (details: object, message: string) => void
}

const readClock = statement(
  'read_clock',
  () => sql<{ ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::int8 as ms`,
)

/**
 * The database's clock, which dates and ends tokens, and how far the clock of this machine is off. Between two readings the
 * time is counted by the monotonic clock. Until the first reading it is the clock of this machine.
 */
export class DatabaseClock {
  private readonly db: Db
  private readonly log: Log
  private readonly timer: NodeJS.Timeout
  /** The database's time when `performance.now()` was zero. */
  private origin_ms = performance.timeOrigin
  private isReading = false
  private isOff = false
  /** How far the database's clock is ahead of ours; negative when it is behind. */
  skewSeconds = 0

  constructor(db: Db, log: Log, everySeconds = EVERY_SECONDS) {
    this.db = db
    this.log = log
    this.timer = setInterval(() => void this.read(), everySeconds * 1_000)
  }

  now_seconds(): number {
    return Math.floor((this.origin_ms + performance.now()) / 1_000)
  }

  /** Failures are reported elsewhere. */
  async read() {
    if (this.isReading) return
    this.isReading = true
    const asked_at = performance.now()
    const [row] = await this.db.run(readClock, {}).catch(() => [])
    this.isReading = false
    if (!row) return
    const answeredAt = performance.now()
    const uncertainMs = (answeredAt - asked_at) / 2
    this.origin_ms = row.ms - (asked_at + uncertainMs)
    this.skewSeconds = (row.ms + uncertainMs - Date.now()) / 1_000
    this.logChange(uncertainMs / 1_000)
  }

  close() {
    clearInterval(this.timer)
  }

  private logChange(uncertainSeconds: number) {
    const skewSeconds = Math.round(this.skewSeconds * 10) / 10
    const isOff = Math.abs(this.skewSeconds) - uncertainSeconds > MAX_SKEW_SECONDS
    if (isOff && !this.isOff)
      this.log.warn({ skewSeconds }, 'The clocks of this machine and of the database differ: set them by NTP')
    if (!isOff && this.isOff) this.log.info({ skewSeconds }, 'The clocks of this machine and of the database agree')
    this.isOff = isOff
  }
}

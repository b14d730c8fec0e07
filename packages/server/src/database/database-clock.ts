import { sql } from 'kysely'
import type { Log } from '../telemetry/log.ts'
import { type Db, statement } from './database.ts'

const EVERY_SECONDS = 5
/** A smaller difference has no effect: tokens and tickets are dated in seconds. */
const MAX_SKEW_SECONDS = 2

const readClock = statement(
  'read_clock',
  () => sql<{ ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::int8 as ms`,
)

/**
 * The database's clock, by which tokens are issued and expire, and the skew of this machine's clock. Between two readings the
 * monotonic clock counts the time. Before the first reading, the time is that of this machine.
 */
export class DatabaseClock {
  private readonly db: Db
  private readonly log: Log
  private readonly timer: NodeJS.Timeout
  /** The database's time when `performance.now()` was zero. */
  private originMs = performance.timeOrigin
  private isReading = false
  private isOff = false
  /** How far the database's clock is ahead of ours; negative when it is behind. */
  skewSeconds = 0

  constructor(db: Db, log: Log, everySeconds = EVERY_SECONDS) {
    this.db = db
    this.log = log
    this.timer = setInterval(() => void this.read(), everySeconds * 1_000)
  }

  nowSeconds(): number {
    return Math.floor((this.originMs + performance.now()) / 1_000)
  }

  /** Errors are ignored here: the database reports them. */
  async read() {
    if (this.isReading) return
    this.isReading = true
    const sentAt = performance.now()
    const [row] = await this.db.run(readClock, {}).catch(() => [])
    this.isReading = false
    if (!row) return
    const uncertainMs = (performance.now() - sentAt) / 2
    this.originMs = row.ms - (sentAt + uncertainMs)
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
      this.log.warn({ skewSeconds }, 'the clocks of this machine and the database differ: synchronize them with NTP')
    if (!isOff && this.isOff) this.log.info({ skewSeconds }, 'the clocks of this machine and the database agree again')
    this.isOff = isOff
  }
}

import { sql } from 'kysely'
import { inBatches } from '../database/batches.ts'
import { type Db, statement } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'

/** Added to the texts of an object, for its ids and field names. `object_bytes` in SQL is the same function. */
const OBJECT_BYTES = 200

/**
 * The size that is counted for a member or an assignee: at least half of the longest profile as JSON; `person_bytes` in SQL.
 * A constant, because a profile changes without a change of the board.
 */
export const PERSON_BYTES = 640

/** The counted size of an object: its texts as JSON, in which a control character takes six bytes, plus `OBJECT_BYTES`. */
export function objectBytes(...texts: (string | null)[]): number {
  let bytes = OBJECT_BYTES
  for (const text of texts) if (text !== null) bytes += Buffer.byteLength(JSON.stringify(text))
  return bytes
}

/** How much a change adds to the counters of its board; negative for a removal. */
export interface Growth {
  text_bytes?: number
  card_count?: number
  file_bytes?: number
  /** How many card numbers the change uses. */
  card_numbers?: number
  /** Text that leaves the board and is kept: its size still counts. */
  freed_bytes?: number
}
/** The counters that a change updates. */
export type CounterGrowth = Required<Omit<Growth, 'freed_bytes'>>
/** The counters of a board. The first three are null until the board is counted. */
export interface Usage {
  text_bytes: number | null
  card_count: number | null
  file_bytes: number | null
  /** The level of the log's leaky bucket at the time `log_at`, in milliseconds. */
  log_bytes: number
  log_at: number
  /** The number of the newest card. */
  last_card_number: number
}
export const NO_USAGE: Usage = {
  text_bytes: 0,
  card_count: 0,
  file_bytes: 0,
  log_bytes: 0,
  log_at: 0,
  last_card_number: 0,
}
/** The columns of `Usage` in `board_stream`. */
export const usageColumns = sql`text_bytes, card_count, file_bytes, log_bytes, log_at, last_card_number`

/** The counters after a purge of the trash. */
export const addGrowth = (usage: Usage, { text_bytes = 0, card_count = 0, file_bytes = 0 }: Growth): Usage => ({
  ...usage,
  text_bytes: (usage.text_bytes ?? 0) + text_bytes,
  card_count: (usage.card_count ?? 0) + card_count,
  file_bytes: (usage.file_bytes ?? 0) + file_bytes,
})

/** The counters with a fixed maximum, and their problems. */
const totals = {
  text_bytes: 'board_text_limit',
  card_count: 'board_card_limit',
  file_bytes: 'board_file_limit',
} as const

const MINUTE_MS = 60_000
/**
 * Maximum level of the bucket, so that no change waits longer than a minute. Only the removal of members may exceed it: a
 * member cannot prevent their own removal by keeping the bucket full.
 */
const MAX_LEVEL_MINUTES = 2
/** How much a deletion may log without freeing anything. */
const SMALL_REMOVAL_BYTES = 65_536

export interface QuotaSettings {
  isOn: boolean
  boardTextBytes: number
  cardsPerBoard: number
  boardFileBytes: number
  ownedBoards: number
  logBytesPerMinute: number
}

/** Quotas: the size of a board, the rate at which its log grows, and the number of boards that a user may create. */
export class Quotas {
  readonly isOn: boolean
  readonly limits: Record<keyof typeof totals, number>
  readonly logBytesPerMinute: number
  readonly ownedBoards: number

  constructor(settings: QuotaSettings) {
    this.isOn = settings.isOn
    this.limits = {
      text_bytes: settings.boardTextBytes,
      card_count: settings.cardsPerBoard,
      file_bytes: settings.boardFileBytes,
    }
    this.logBytesPerMinute = settings.logBytesPerMinute
    this.ownedBoards = settings.ownedBoards
  }

  /** By how much growth exceeds the limits. */
  excessOf(usage: Usage, growth: CounterGrowth) {
    const excess = { text_bytes: 0, card_count: 0, file_bytes: 0 }
    if (!this.isOn) return excess
    for (const name of Object.keys(totals) as (keyof typeof totals)[])
      if (growth[name] > 0) excess[name] = Math.max(0, (usage[name] ?? 0) + growth[name] - this.limits[name])
    return excess
  }

  /** Rejects growth beyond a limit. A change without growth is never rejected, even if the board is over its limit. */
  requireQuota(usage: Usage, growth: CounterGrowth) {
    if (!this.isOn) return
    for (const name of Object.keys(totals) as (keyof typeof totals)[])
      if (growth[name] > 0 && (usage[name] ?? 0) + growth[name] > this.limits[name]) throw new Problem(totals[name])
  }

  /** How many bytes of files the board can still take. */
  async remainingFileBytes(db: Db, board_id: string): Promise<number> {
    if (!this.isOn) return Number.POSITIVE_INFINITY
    const usage = await readUsage(db, board_id)
    return this.limits.file_bytes - (usage?.file_bytes ?? 0)
  }

  /** The level of the leaky bucket: bytes written, minus what has drained at the allowed rate. */
  logLevel({ log_bytes, log_at }: Usage, now: number): number {
    // Absolute, so that a clock that was set back, as after a failover, does not keep the bucket full.
    const drained = (Math.abs(now - log_at) / MINUTE_MS) * this.logBytesPerMinute
    return Math.max(0, Math.round(log_bytes - drained))
  }

  logLevelAfter(usage: Usage, now: number, written: number, removesMember = false): number {
    const level = this.logLevel(usage, now)
    const maxLevel = removesMember ? Number.MAX_SAFE_INTEGER : MAX_LEVEL_MINUTES * this.logBytesPerMinute
    return Math.max(level, Math.min(level + written, maxLevel))
  }

  /** Rejects a change while the bucket is full. The change itself may overflow it: a large column can be renamed. */
  requireLogQuota(usage: Usage, now: number, full = this.logBytesPerMinute) {
    const excess = this.logLevel(usage, now) - full
    if (!this.isOn || excess < 0) return
    const retryAfterSeconds = Math.min(60, Math.floor((excess / this.logBytesPerMinute) * 60) + 1)
    throw new Problem('board_log_limit', { retryAfterSeconds })
  }

  /** Rejects a change that alone writes more than the quota of a minute: one request can log a large card a hundred times. */
  requireLogSize(bytes: number) {
    if (this.isOn && bytes > this.logBytesPerMinute) throw new Problem('change_too_large')
  }

  /**
   * Checks a deletion like any other change, unless it logs little or at most twice what it frees. (The JSON of small objects is
   * larger than their counted size, but never twice as large.) Removing a label from a large card, for example, logs the whole
   * card and frees little.
   */
  requireRemovalQuota(usage: Usage, now: number, removal: { freed: number; bytes: number; removesMember: boolean }) {
    const { freed, bytes, removesMember } = removal
    if (bytes <= 2 * freed + SMALL_REMOVAL_BYTES) return
    // Other changes cannot fill the bucket to this level.
    if (removesMember) return this.requireLogQuota(usage, now, MAX_LEVEL_MINUTES * this.logBytesPerMinute + 1)
    this.requireLogQuota(usage, now)
    this.requireLogSize(bytes)
  }

  /**
   * Rejects a new board when its creator has too many. Counts under a lock of the user's row, so that two concurrent requests
   * cannot both pass. Only the creator counts: users could otherwise use up the quota of others by making them owners.
   */
  async requireOwnedBoardQuota(tx: Db, user_id: string) {
    if (!this.isOn) return
    const [, [created]] = await Promise.all([tx.run(lockUser, { user_id }), tx.run(countCreated, { user_id })])
    if ((created?.boards ?? 0) >= this.ownedBoards) throw new Problem('owned_board_limit')
  }
}

const lockUser = statement(
  'lock_creator',
  (args: { user_id: string }) => sql`select from users where id = ${args.user_id} for no key update`,
)
/** In a statement after the lock, so that it sees what was committed while the lock was awaited. */
const countCreated = statement(
  'count_created_boards',
  (args: { user_id: string }) => sql<{ boards: number }>`
    select count(*) as boards from boards where created_by = ${args.user_id}`,
)

const count = statement(
  'count_board_usage',
  (args: { board_id: string }) => sql<Usage>`
    update board_stream stream set text_bytes = usage.text_bytes, card_count = usage.card_count, file_bytes = usage.file_bytes
    from board_usage usage where stream.board_id = ${args.board_id} and usage.board_id = stream.board_id
    returning stream.text_bytes, stream.card_count, stream.file_bytes, stream.log_bytes, stream.log_at, stream.last_card_number`,
)
/** Counts a board that was never counted. Call it under the board lock. */
export const countBoard = async (tx: Db, board_id: string): Promise<Usage> =>
  (await tx.run(count, { board_id }))[0] ?? NO_USAGE

const read = statement(
  'read_board_usage',
  (args: { board_id: string }) => sql<Usage & { now: number }>`
    select coalesce(stream.text_bytes, counted.text_bytes) as text_bytes, coalesce(stream.card_count, counted.card_count) as card_count,
      coalesce(stream.file_bytes, counted.file_bytes) as file_bytes, stream.log_bytes, stream.log_at, stream.last_card_number,
      floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now
    from board_stream stream
    left join board_usage counted on stream.text_bytes is null and counted.board_id = stream.board_id
    where stream.board_id = ${args.board_id}`,
)
/** The counters of a board, read without its lock, and the database's clock. Counts a board that was never counted. */
export const readUsage = async (db: Db, board_id: string) => (await db.run(read, { board_id }))[0]

const CLEARED_PER_BATCH = 500
const clear = statement(
  'clear_board_usage',
  () => sql<{ board_id: string }>`
    update board_stream set text_bytes = null, card_count = null, file_bytes = null where board_id in (
      select board_id from board_stream where text_bytes is not null limit ${sql.lit(CLEARED_PER_BATCH)})
    returning board_id`,
)
/** Marks every board as not counted, so that it is counted again at its next change. Returns the number of boards. */
export const clearUsage = (db: Db): Promise<number> => inBatches(() => db.run(clear, {}), CLEARED_PER_BATCH)

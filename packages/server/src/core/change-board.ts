import type { EventKind } from '@lockstep/contract'
import { sql } from 'kysely'
import { type Database, type Db, statement } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import type { ReleasableSlot } from '../platform/slot.ts'
import type { Log } from '../telemetry/log.ts'
import {
  type AccessCheck,
  type AccessRequest,
  type BoardGrant,
  checkAccess,
  createBoardStream,
  lockAndCheckAccess,
  lockBoardAsSystem,
} from './authorize.ts'
import type { ChangeQueue } from './change-queue.ts'
import {
  type BoardStream,
  type ChangeCost,
  type CommittedChange,
  collectEvents,
  type Emit,
  growthOf,
  type NewEvent,
  numberEvents,
  removesMember,
} from './event-log.ts'
import {
  idempotencyConflicts,
  type RequestIdentity,
  replayResponse,
  storeResponse,
  type WriteResponse,
} from './idempotency.ts'
import { writeNotifications } from './notifications.ts'
import { addGrowth, countBoard, type Growth, NO_USAGE, type Quotas } from './quotas.ts'
import { purgeTrashForSpace } from './trash.ts'

/** An event of the change so far, with the sequence number it will have, as a reaction sees it. */
export interface PendingEvent {
  seq: number
  type: EventKind
  user_id: string | null
  subject_id: string | null
  from_id: string | null
  data: string
  startsNoRule: boolean
}

/**
 * Runs once after the handler, inside the transaction and the board lock; automation rules are one. `attempt` runs work in
 * a savepoint: if it fails, neither its writes nor its events remain. What the reaction returns replaces the response body.
 */
export type Reaction = (change: {
  tx: Db
  board_id: string
  at: string
  pendingEvents: readonly PendingEvent[]
  emit: Emit<EventKind>
  attempt: <T>(work: () => Promise<T>) => Promise<{ result?: T; error?: unknown }>
  /** Rejects an event of at least this many bytes if it would exceed a quota. `attempt` checks this too, but after the work. */
  requireQuota: (growth: Growth, bytes: number) => void
  /** Counts bytes that were stored beside the events against the log quota. */
  countWritten: (bytes: number) => void
  log: Pick<Log, 'warn'>
}) => Promise<string | undefined>

/**
 * Adds a check that runs when everything else has succeeded, quotas included. If it finds a problem, nothing of the change remains.
 * For rate limits that count changes, not attempts.
 */
export type BeforeCommit = (check: () => Promise<Problem | undefined>) => void

/** What changes depend on. */
export interface CoreServices {
  database: Database
  boardQueue: ChangeQueue
  quotas: Quotas
  /** Publishes the events to the sockets. Never awaited: the log is the source of truth, and a missed message is read from it. */
  announce: (committed: CommittedChange) => void
  reaction: Reaction
  log: Pick<Log, 'warn'>
}

export interface BoardChange {
  accessRequest: AccessRequest
  board_id: string
  /** Whether this change creates the board. */
  isNew: boolean
  /** Whether the change removes something: then it may log as much as it frees. */
  isRemoval: boolean
  /** The request's Idempotency-Key with its fingerprint; null without a key. */
  identity: RequestIdentity | null
  /** The concurrency slot of the request, released while the change is queued. */
  slot?: ReleasableSlot | undefined
  /** Where the change counts what it costs. */
  cost: ChangeCost
  /** Called when it is the turn of this change. It may reject it. */
  onTurn?: () => void
  /** Called when COMMIT is sent: until then it is certain that nothing was committed. */
  onCommit?: (() => void) | undefined
  /**
   * Reads what the handler decides by, in the same round trip as the lock. It runs before the access check is known, so it only reads.
   */
  prefetch?: (tx: Db) => Promise<unknown>
  handle: (change: {
    tx: Db
    grant: BoardGrant
    emit: Emit<EventKind>
    /** Counts what the change does without an event. */
    grow: (growth: Growth) => void
    beforeCommit: BeforeCommit
    prefetched: unknown
  }) => Promise<{ status: number; body: string | null }>
}

/**
 * The unit of work, and the only way to change a board. It waits in the board's queue, begins a transaction, locks the
 * board, authorizes the caller in a later statement, runs the handler, appends the events under the board's next sequence
 * numbers, stores the response for retries, commits, and announces the events. If any step fails, nothing remains.
 */
export async function changeBoard(core: CoreServices, change: BoardChange): Promise<WriteResponse> {
  const { accessRequest, board_id, identity } = change
  const { user_id } = accessRequest.credential
  const transact = (release: () => void) => {
    change.onTurn?.()
    return core.database.transaction(
      (tx) => lockAndPrefetch(tx, change),
      (tx, opened) => runChange(core, change, tx, opened),
      {
        onCommit: () => {
          change.onCommit?.()
          // The next change of the board can begin: it waits for the board lock while this one commits.
          release()
        },
      },
    )
  }
  try {
    const { response, committed } = await core.boardQueue.run(
      board_id,
      user_id,
      async (release) => transact(release),
      change.slot,
    )
    if (committed && committed.events.length > 0) core.announce(committed)
    return response
  } catch (error) {
    const { constraint = '' } = error as { constraint?: string }
    if (!identity || !idempotencyConflicts.includes(constraint)) throw error
    // A concurrent retry of the same request has committed: its response is the response.
    const { storedResponse, caller } = await checkAccess(core.database, accessRequest)
    // The user has used the key on another board, which this access token does not see.
    if (!storedResponse && caller.token?.board_id) throw new Problem('idempotency_key_reused')
    if (!storedResponse) throw error
    return replayResponse(storedResponse, identity)
  }
}

interface Opened {
  access: AccessCheck
  prefetched: () => Promise<unknown>
}

/** The first round trip of the transaction. */
async function lockAndPrefetch(tx: Db, change: BoardChange): Promise<Opened> {
  const { isNew, board_id, accessRequest, prefetch } = change
  const access = isNew ? checkAccess(tx, accessRequest) : lockAndCheckAccess(tx, board_id, accessRequest)
  const prefetched = prefetch?.(tx)
  // An error of the prefetch matters only if the caller is authorized.
  prefetched?.catch(() => {})
  return { access: await access, prefetched: async () => prefetched }
}

interface ChangeResult {
  response: WriteResponse
  committed?: CommittedChange
}

async function runChange(
  core: CoreServices,
  change: BoardChange,
  tx: Db,
  { access, prefetched }: Opened,
): Promise<{ result: ChangeResult; close?: (tx: Db) => Promise<unknown> }> {
  const { board_id, isNew, isRemoval, identity, cost, handle } = change
  const { quotas, log } = core
  if (access.storedResponse) return { result: { response: replayResponse(access.storedResponse, identity) } }
  const grant = isNew ? await createBoardStream(tx, board_id, access.caller) : access.authorize()
  const { at, epoch, last_seq } = grant
  let usage = quotas.isOn && !isCounted(grant) ? await countBoard(tx, board_id) : (grant.usage ?? NO_USAGE)
  const now = Date.parse(at)
  if (!isRemoval) quotas.requireLogQuota(usage, now)

  const events: NewEvent[] = []
  const growths: Growth[] = []
  const grow = (growth: Growth) => void growths.push(growth)
  const checks: Parameters<BeforeCommit>[0][] = []
  const beforeCommit: BeforeCommit = (check) => void checks.push(check)
  const emit = collectEvents(events, grant.caller.id, cost)
  const sumOf = (more: Growth = {}) => growthOf([...events, ...[...growths, more].map((growth) => ({ growth }))])
  const requireQuota = (growth: Growth = {}, bytes = 0) => {
    const sum = sumOf(growth)
    quotas.requireQuota(usage, sum)
    const logged = events.reduce((total, event) => total + event.bytes, bytes)
    if (!isRemoval) return quotas.requireLogSize(logged)
    const removal = { freed: sum.freed_bytes - sum.text_bytes, bytes: logged, removesMember: removesMember(events) }
    quotas.requireRemovalQuota(usage, now, removal)
  }
  let written = 0
  const countWritten = (bytes: number) => {
    written += bytes
  }
  const attempt = async <T>(work: () => Promise<T>) => {
    const before = events.length
    await tx.run(savepoint, {})
    try {
      const result = await work()
      requireQuota()
      return { result }
    } catch (error) {
      events.length = before
      await tx.run(rollBackToSavepoint, {})
      return { error }
    }
  }

  const { status, body: first } = await handle({ tx, grant, emit, grow, beforeCommit, prefetched: await prefetched() })
  const excess = quotas.excessOf(usage, sumOf())
  const purged = Object.values(excess).some((each) => each > 0) && (await purgeTrashForSpace(tx, board_id, excess))
  if (purged) usage = addGrowth(usage, purged)
  requireQuota()
  const pendingEvents = events.map((event, i) => ({ ...event, seq: last_seq + i + 1 }))
  const replaced = await core.reaction({
    tx,
    board_id,
    at,
    pendingEvents,
    emit,
    attempt,
    requireQuota,
    countWritten,
    log,
  })
  for (const check of checks) {
    const problem = await check()
    if (problem) throw problem
  }
  const body = first === null ? null : (replaced ?? first)
  cost.bytes += body?.length ?? 0
  if (identity && body !== null) countWritten(Buffer.byteLength(body))
  const position = `${epoch}.${last_seq + events.length}`
  const { committed, append } = numberEvents(quotas, board_id, grant, events, {
    written,
    growths: purged ? [...growths, purged] : growths,
  })
  const row = identity && { user_id: grant.caller.id, board_id, status, body, position, ...identity }
  const close = (end: Db) =>
    Promise.all([
      append(end),
      writeNotifications(end, { board_id, caller_id: grant.caller.id, at }, events),
      row && storeResponse(end, row),
    ])
  const response: WriteResponse = { status, body, position, isReplay: false, large_body_bytes: null }
  return { result: { response, committed }, close }
}

/** Whether the board's counters are known. */
const isCounted = ({ usage = NO_USAGE }: BoardGrant) => usage.text_bytes !== null

const savepoint = statement('savepoint', () => sql`savepoint attempt`)
const rollBackToSavepoint = statement('roll_back_to_savepoint', () => sql`rollback to savepoint attempt`)

/** What a change by the service itself depends on. */
export type SystemServices = Pick<CoreServices, 'database' | 'boardQueue' | 'quotas' | 'announce'>

/**
 * A change without a caller, by the service itself: the same queue, lock, log and announcement. Its events have no user and
 * cause no reaction. It is counted, but no quota rejects it. Does nothing when the board does not exist.
 */
export async function changeBoardAsSystem(
  core: SystemServices,
  board_id: string,
  work: (change: { tx: Db; at: string; emit: Emit<EventKind>; grow: (growth: Growth) => void }) => Promise<void>,
) {
  const transact = (release: () => void) =>
    core.database.transaction<BoardStream | undefined, CommittedChange | undefined>(
      (tx) => lockBoardAsSystem(tx, board_id),
      async (tx, stream) => {
        if (!stream) return { result: undefined }
        const events: NewEvent[] = []
        const growths: Growth[] = []
        const grow = (growth: Growth) => void growths.push(growth)
        await work({ tx, at: stream.at, emit: collectEvents(events, null), grow })
        const { committed, append } = numberEvents(core.quotas, board_id, stream, events, { growths })
        return { result: committed, close: append }
      },
      { onCommit: release },
    )
  const committed = await core.boardQueue.run(board_id, undefined, transact)
  if (committed && committed.events.length > 0) core.announce(committed)
}

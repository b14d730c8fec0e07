import type { EventData, EventKind } from '@lockstep/contract'
import type { JsonText } from '@lockstep/contract/operation'
import { EVENT_VERSION } from '@lockstep/contract/realtime'
import { sql } from 'kysely'
import {
  type Approach,
  approachBoard,
  approachLocked,
  type Entry,
  foundBoard,
  lockUnasked,
  type StoredAnswer,
  type Threshold,
} from './authorize.ts'
import type { Place } from '../http/edge/admission-controller.ts'
import type { ChangeCost } from './change-pacer.ts'
import { type Database, type Db, statement, type Tx } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import { countBoard, type Growth, NO_USAGE, type Quotas } from './quotas.ts'
import type { Turns } from './board-queue.ts'
import type { Uploads } from '../http/files/upload.ts'

/** A committed event: its number, whom it is about, and the exact text that every client is sent. */
export interface LoggedEvent {
  seq: number
  type: EventKind
  subject_id: string | null
  body: string
}
export interface Committed {
  board_id: string
  epoch: number
  events: LoggedEvent[]
}

/**
 * What the log keeps beside the text: who acted if not the caller, which user or label, from which column. An event that
 * `is_consequence` has `user_id` null in its text, because a client that skips its own events could not know of it; the log
 * still keeps who caused it.
 */
export interface Aside {
  by?: null
  is_consequence?: true
  subject_id?: string
  from_id?: string
  /** What the change that the event is about adds to the board's counters. */
  growth?: Growth | undefined
}
/** Adds an event to the change. It is written, and sent, only if the change is committed. */
export type Emit<K extends EventKind> = <E extends K>(
  kind: E,
  data: EventData<E> | JsonText<EventData<E>>,
  aside?: Aside,
) => void

export interface Answer {
  status: number
  /** JSON text, or null for an answer without a body. */
  body: string | null
  /** The board's position after the change: `<epoch>.<seq>`. */
  position: string | null
  is_replay: boolean
  /** Of the body of a replay that is not read yet. */
  large_body_bytes: number | null
}

/** An event of the change so far, as a reaction sees it. */
export interface Told {
  seq: number
  type: EventKind
  user_id: string | null
  subject_id: string | null
  from_id: string | null
  data: string
}

/**
 * What answers a change inside its transaction and lock, once, after the handler. `attempt` runs something in a savepoint:
 * what fails there leaves neither change nor event. What it answers replaces the answer of the request.
 */
export type Reaction = (change: {
  tx: Db
  board_id: string
  at: string
  told: readonly Told[]
  emit: Emit<EventKind>
  attempt: <T>(work: () => Promise<T>) => Promise<{ result?: T; error?: unknown }>
  /** Rejects an event of at least so many bytes if it would exceed a quota. `attempt` checks this too, but after the work. */
  demandRoom: (growth: Growth, bytes: number) => void
  /** Counts bytes that were written beside the events, against the same limit. */
  wrote: (bytes: number) => void
  log: { warn: (details: object, message: string) => void }
}) => Promise<string | undefined>

/** The part of the service that changes rest on. */
export interface Core {
  database: Database
  turns: Turns
  quotas: Quotas
  /** Tells the sockets. Never awaited: the log is the truth, and whoever misses the bell reads it there. */
  announce: (committed: Committed) => void
  reaction: Reaction
  uploads: Uploads
  log: { warn: (details: object, message: string) => void }
}

export interface Change {
  approach: Approach
  board_id: string
  /** Whether the board is to be created by this change. */
  is_new: boolean
  /** Whether the change removes something: then it may log as much as it frees. */
  is_removal: boolean
  /** The request's Idempotency-Key and what tells it from another request; null without a key. */
  request: { key: string; fingerprint: string } | null
  /** Of the request, among those that are worked for. */
  place?: Place | undefined
  /** Where the change counts what it costs. */
  cost: ChangeCost
  /** Called when COMMIT is sent: until then it is certain that nothing was committed. */
  committing?: (() => void) | undefined
  /** Reads what `work` decides by. It travels with the lock, before anybody knows whether the caller may, and only reads. */
  ask?: (tx: Db) => Promise<unknown>
  work: (change: {
    tx: Tx
    entry: Entry
    emit: Emit<EventKind>
    asked: unknown
  }) => Promise<{ status: number; body: string | null }>
}

/**
 * The unit of work, and the only way to change a board: wait for the board's turn, begin, lock the board, check who asks
 * in a later statement, let `work` write and emit, append the events under the board's next numbers, keep the answer for
 * a retry, commit, and only then announce. What fails on the way leaves no change, no event and no answer.
 */
export async function changeBoard(core: Core, change: Change): Promise<Answer> {
  const { approach, board_id, is_new, is_removal, request, place, cost, ask, work } = change
  const { quotas } = core
  const commit = (passOn: () => void) =>
    core.database.transaction<[Threshold, () => Promise<unknown>], { answer: Answer; committed?: Committed }>(
      async (tx) => {
        const threshold = is_new ? approachBoard(tx, approach) : approachLocked(tx, board_id, approach)
        const asked = ask?.(tx)
        // Whether it could be read matters only to somebody who may.
        asked?.catch(() => {})
        return [await threshold, async () => asked]
      },
      async (tx, [threshold, asked]) => {
        if (threshold.answer) return { result: { answer: answerAgain(threshold.answer, request) } }
        const entry = is_new ? await foundBoard(tx, board_id, threshold.caller) : threshold.enter()
        const { at, epoch, last_seq } = entry
        const usage = quotas.isOn && !isCounted(entry) ? await countBoard(tx, board_id) : (entry.usage ?? NO_USAGE)
        cost.board_bytes = usage.text_bytes ?? 0
        const now = Date.parse(at)
        if (!is_removal) quotas.demandLogRoom(usage, now)
        const events: NewEvent[] = []
        const emit = emitter(events, entry.caller.id, cost)
        const demandRoom = (growth: Growth = {}, bytes = 0) => {
          const sum = growthOf([...events, { growth }])
          quotas.demandRoom(usage, sum)
          const logged = events.reduce((total, event) => total + event.bytes, bytes)
          if (!is_removal) return quotas.demandLogSize(logged)
          const removal = { freed: -sum.text_bytes, bytes: logged, removesMember: removesMember(events) }
          quotas.demandRemovalRoom(usage, now, removal)
        }
        let written = 0
        const wrote = (bytes: number) => {
          written += bytes
        }
        const attempt = async <T>(act: () => Promise<T>) => {
          const before = events.length
          await tx.run(savepoint, {})
          try {
            const result = await act()
            demandRoom()
            return { result }
          } catch (error) {
            events.length = before
            await tx.run(rollBack, {})
            return { error }
          }
        }
        const { status, body: first } = await work({ tx, entry, emit, asked: await asked() })
        demandRoom()
        const told = events.map((event, i) => ({ ...event, seq: last_seq + i + 1 }))
        const last = await core.reaction({ tx, board_id, at, told, emit, attempt, demandRoom, wrote, log: core.log })
        const body = first === null ? null : (last ?? first)
        cost.bytes += body?.length ?? 0
        if (request && body !== null) wrote(Buffer.byteLength(body))
        const position = `${epoch}.${last_seq + events.length}`
        const { committed, append } = toLog(quotas, board_id, entry, events, written)
        const close = async (end: Db) => {
          const keep = { user_id: entry.caller.id, board_id, status, body, position }
          await Promise.all([
            append(end),
            request && end.run(dropOldAnswers, keep),
            request && end.run(keepAnswer, { ...keep, ...request }),
          ])
        }
        const answer: Answer = { status, body, position, is_replay: false, large_body_bytes: null }
        return { result: { answer, committed }, close }
      },
      {
        committing: () => {
          change.committing?.()
          passOn()
        },
        key: approach.credential.user_id,
      },
    )
  try {
    const { answer, committed } = await core.turns.take(board_id, commit, place)
    if (committed && committed.events.length > 0) core.announce(committed)
    return answer
  } catch (error) {
    const { constraint = '' } = error as { constraint?: string }
    if (!request || !lostRaces.includes(constraint)) throw error
    // The same request may have been quicker elsewhere: then its answer stands.
    const { answer } = await approachBoard(core.database.forKey(approach.credential.user_id), approach)
    if (!answer) throw error
    return answerAgain(answer, request)
  }
}

/** The part of it that a change by the service itself needs. */
export type UnaskedCore = Pick<Core, 'database' | 'turns' | 'quotas' | 'announce'>

/**
 * A change that nobody asked for over HTTP: the same turn, lock, log and announcement, for the service itself. Its events
 * name nobody who did it, and set off no reaction. It counts, and no quota stops it. Does nothing when the board is gone.
 */
export async function changeUnasked(
  core: UnaskedCore,
  board_id: string,
  work: (change: { tx: Db; at: string; emit: Emit<EventKind> }) => Promise<void>,
) {
  const commit = (passOn: () => void) =>
    core.database.transaction<Stream | undefined, Committed | undefined>(
      (tx) => lockUnasked(tx, board_id),
      async (tx, stream) => {
        if (!stream) return { result: undefined }
        const events: NewEvent[] = []
        await work({ tx, at: stream.at, emit: emitter(events, null) })
        const { committed, append } = toLog(core.quotas, board_id, stream, events)
        return { result: committed, close: append }
      },
      { committing: passOn, key: board_id },
    )
  const committed = await core.turns.take(board_id, commit)
  if (committed && committed.events.length > 0) core.announce(committed)
}

type Stream = Pick<Entry, 'epoch' | 'last_seq' | 'at' | 'usage'>

/** Whether the counters of the board that is held are known. */
const isCounted = ({ usage = NO_USAGE }: Entry) => usage.text_bytes !== null

function growthOf(events: readonly Pick<NewEvent, 'growth'>[]): Required<Growth> {
  const sum = { text_bytes: 0, card_count: 0, file_bytes: 0 }
  for (const { growth } of events) {
    sum.text_bytes += growth?.text_bytes ?? 0
    sum.card_count += growth?.card_count ?? 0
    sum.file_bytes += growth?.file_bytes ?? 0
  }
  return sum
}

const removesMember = (events: readonly NewEvent[]) => events.some(({ type }) => type === 'board.member_removed')

/** Collects events, by whoever did it unless they say otherwise. */
const emitter =
  (events: NewEvent[], actor_id: string | null, cost?: ChangeCost): Emit<EventKind> =>
  (type, content, { by = actor_id, is_consequence = false, subject_id = null, from_id = null, growth } = {}) => {
    const data = toJson(content)
    const user_id = is_consequence ? null : by
    const bytes = Buffer.byteLength(data)
    if (cost) cost.bytes += bytes
    events.push({ type, user_id, actor_id: by, subject_id, from_id, data, bytes, growth })
  }

/** The events under the board's next numbers: as they are told, and how they are written, with the board's new counters. */
function toLog(quotas: Quotas, board_id: string, stream: Stream, events: NewEvent[], written = 0) {
  const { epoch, last_seq, at, usage = NO_USAGE } = stream
  const bodies = events.map((event) => message(event, at))
  const logged = events.map(({ type, subject_id }, i) => ({
    seq: last_seq + i + 1,
    type,
    subject_id,
    body: bodies[i] as string,
  }))
  const committed: Committed = { board_id, epoch, events: logged }
  const append = async (tx: Db) => {
    if (events.length === 0 && written === 0) return
    const log_at = Date.parse(at)
    // What a body has beside its data is ASCII.
    const bytes = events.reduce(
      (sum, { data, bytes }, i) => sum + bytes + (bodies[i] as string).length - data.length,
      written,
    )
    const log_bytes = quotas.logLevelAfter(usage, log_at, bytes, removesMember(events))
    const counters = { ...growthOf(events), log_bytes, log_at }
    const [first] = events
    const to = { board_id, last_seq, at, ...counters }
    if (first && events.length === 1) await tx.run(appendEvent, { ...to, ...inLog(first), body: bodies[0] as string })
    else await tx.run(appendEvents, { ...to, bodies, ...inColumns(events) })
  }
  return { committed, append }
}

/** What a request runs into that is sent twice at once: on two boards, or for a board that is yet to be. */
const lostRaces = ['stored_answers_key_taken', 'board_stream_id_taken']

/** The answer of an earlier request with the same key, if this is the same request. */
export function answerAgain({ fingerprint, ...stored }: StoredAnswer, request: Change['request']): Answer {
  if (request?.fingerprint !== fingerprint) throw new Problem('idempotency_key_reused')
  return { ...stored, is_replay: true }
}

interface NewEvent {
  type: EventKind
  /** Who acted, as the text says it, and as the log keeps it. */
  user_id: string | null
  actor_id: string | null
  subject_id: string | null
  from_id: string | null
  data: string
  /** Of `data`. */
  bytes: number
  growth: Growth | undefined
}

export const toJson = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The message as it is stored and sent. Its time is the database's, taken under the board's lock. */
const message = ({ type, data, user_id }: NewEvent, at: string) =>
  `{"type":"${type}","data":${data},"user_id":${JSON.stringify(user_id)},"timestamp":"${at}","version":"${EVENT_VERSION}"}`

const inLog = ({ type, actor_id, subject_id, from_id }: NewEvent) => ({ type, user_id: actor_id, subject_id, from_id })
const inColumns = (events: NewEvent[]) => ({
  count: events.length,
  types: events.map((e) => e.type),
  user_ids: events.map((e) => e.actor_id),
  subject_ids: events.map((e) => e.subject_id),
  from_ids: events.map((e) => e.from_id),
})

const savepoint = statement('savepoint', () => sql`savepoint attempt`)
const rollBack = statement('roll_back', () => sql`rollback to savepoint attempt`)

interface Appended extends Required<Growth> {
  board_id: string
  last_seq: number
  at: string
  log_bytes: number
  log_at: number
}
const counted = (args: Appended, count: unknown) => sql`
  with counted as (
    update board_stream set last_seq = last_seq + ${count}, text_bytes = text_bytes + ${args.text_bytes},
      card_count = card_count + ${args.card_count}, file_bytes = file_bytes + ${args.file_bytes},
      log_bytes = ${args.log_bytes}, log_at = ${args.log_at}
    where board_id = ${args.board_id})`
/** Most changes have one event. Without arrays it costs less on both sides, and a large body is not escaped. */
const appendEvent = statement(
  'append_event',
  (args: Appended & ReturnType<typeof inLog> & { body: string }) => sql`
    ${counted(args, sql.lit(1))}
    insert into board_events (board_id, seq, created_at, type, user_id, subject_id, from_id, body)
    values (${args.board_id}, ${args.last_seq}::int8 + 1, ${args.at}, ${args.type}, ${args.user_id}, ${args.subject_id}, ${args.from_id}, ${args.body})`,
)
const appendEvents = statement(
  'append_events',
  (args: Appended & ReturnType<typeof inColumns> & { bodies: string[] }) => sql`
    ${counted(args, args.count)}
    insert into board_events (board_id, seq, created_at, type, user_id, subject_id, from_id, body)
    select ${args.board_id}, ${args.last_seq} + event.nth, ${args.at}, event.type, event.user_id, event.subject_id, event.from_id, event.body
    from unnest(${args.types}::text[], ${args.user_ids}::uuid[], ${args.subject_ids}::uuid[], ${args.from_ids}::uuid[], ${args.bodies}::text[])
      with ordinality as event (type, user_id, subject_id, from_id, body, nth)`,
)

/** A user's answers leave with his next write after a day. */
const dropOldAnswers = statement(
  'drop_old_answers',
  (args: { user_id: string }) => sql`
    delete from stored_answers where ctid in (
      select ctid from stored_answers where user_id = ${args.user_id} and created_at <= now() - interval '24 hours'
      for update skip locked)`,
)
interface Keep {
  user_id: string
  key: string
  board_id: string
  fingerprint: string
  status: number
  body: string | null
  position: string
}
const keepAnswer = statement('keep_answer', (args: Keep, query) =>
  query.insertInto('stored_answers').values({
    user_id: args.user_id,
    key: args.key,
    board_id: args.board_id,
    fingerprint: args.fingerprint,
    status: args.status,
    body: args.body,
    position: args.position,
  }),
)

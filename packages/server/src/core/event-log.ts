import type { EventData, EventKind } from '@lockstep/contract'
import type { JsonText } from '@lockstep/contract/operation'
import { EVENT_VERSION } from '@lockstep/contract/realtime'
import { sql } from 'kysely'
import { type Db, statement } from '../database/database.ts'
import { toJson } from '../platform/json.ts'
import type { EventNotifications } from './notifications.ts'
import { type CounterGrowth, type Growth, NO_USAGE, type Quotas, type Usage } from './quotas.ts'

/** A committed event: its number, the user or label it is about, and the exact text that every client receives. */
export interface LoggedEvent {
  seq: number
  type: EventKind
  subject_id: string | null
  body: string
}
export interface CommittedChange {
  board_id: string
  epoch: number
  events: LoggedEvent[]
}

/** What the log stores beside the text of an event, and what the event adds to the board's counters. */
export interface EventMetadata extends EventNotifications {
  /** Null when the service itself acted; the caller otherwise. */
  by?: null
  /**
   * The event is a side effect of the caller's change. Its text has `user_id: null`, so that a client that skips its own
   * events applies it; the log stores the caller.
   */
  isConsequence?: true
  subject_id?: string
  from_id?: string
  growth?: Growth | undefined
  /** The read of the card has shown that no automation rule starts, so that they need not be read again. */
  startsNoRule?: boolean
}
/** The kinds of events that belong to the history of a card. */
type CardEventKind = Extract<
  EventKind,
  `${'card' | 'checklist' | 'checklist_item' | 'attachment' | 'comment'}.${string}`
>
/** Names the card to whose history the event belongs; null for a neighbour that was only re-spaced. */
export interface CardEventMetadata extends EventMetadata {
  card_id: string | null
}
/** Adds an event to the change. It is written and sent only if the change commits. */
export type Emit<K extends EventKind> = <E extends K>(
  kind: E,
  data: EventData<E> | JsonText<EventData<E>>,
  ...metadata: E extends CardEventKind ? [CardEventMetadata] : [EventMetadata?]
) => void

/** An event of a change that is not committed yet. */
export interface NewEvent extends EventNotifications {
  type: EventKind
  /** The user who acted, as the text says it, and as the log stores it. */
  user_id: string | null
  actor_id: string | null
  subject_id: string | null
  from_id: string | null
  card_id: string | null
  data: string
  /** Size of `data`. */
  bytes: number
  growth: Growth | undefined
  startsNoRule: boolean
}

/** The state of a board's log under its lock. */
export interface BoardStream {
  epoch: number
  last_seq: number
  at: string
  usage?: Usage
}

/** What a change costs: the bytes of large objects that it read, wrote and returns. Added up while it runs, so that a rejected one counts. */
export interface ChangeCost {
  bytes: number
}

/** Makes the `emit` of a change: it collects events, by the given user unless their metadata says otherwise. */
export const collectEvents =
  (events: NewEvent[], actor_id: string | null, cost?: ChangeCost): Emit<EventKind> =>
  (type, content, ...[metadata]) => {
    const given: Partial<CardEventMetadata> = metadata ?? {}
    const {
      by = actor_id,
      isConsequence = false,
      subject_id = null,
      from_id = null,
      card_id = null,
      growth,
      startsNoRule = false,
      notifies,
      withdraws,
    } = given
    const data = toJson(content)
    const user_id = isConsequence ? null : by
    const bytes = Buffer.byteLength(data)
    if (cost) cost.bytes += bytes
    events.push({
      type,
      user_id,
      actor_id: by,
      subject_id,
      from_id,
      card_id,
      data,
      bytes,
      growth,
      startsNoRule,
      ...(notifies && { notifies }),
      ...(withdraws && { withdraws }),
    })
  }

/** What all events together add to the board's counters. */
export function growthOf(events: readonly { growth: Growth | undefined }[]): Required<Growth> {
  const sum = { text_bytes: 0, card_count: 0, file_bytes: 0, card_numbers: 0, freed_bytes: 0 }
  for (const { growth } of events) {
    sum.text_bytes += growth?.text_bytes ?? 0
    sum.card_count += growth?.card_count ?? 0
    sum.file_bytes += growth?.file_bytes ?? 0
    sum.card_numbers += growth?.card_numbers ?? 0
    sum.freed_bytes += growth?.freed_bytes ?? 0
  }
  return sum
}

export const removesMember = (events: readonly NewEvent[]) => events.some(({ type }) => type === 'board.member_removed')

/**
 * Gives the events the board's next sequence numbers. Returns them as they are announced after the commit, and the write
 * that appends them and updates the board's counters. `written` counts bytes that the change stored beside its events, and
 * `growths` what it changed without an event.
 */
export function numberEvents(
  quotas: Quotas,
  board_id: string,
  stream: BoardStream,
  events: NewEvent[],
  { written = 0, growths = [] }: { written?: number; growths?: readonly Growth[] } = {},
) {
  const { epoch, last_seq, at, usage = NO_USAGE } = stream
  const bodies = events.map((event) => messageOf(event, at))
  const logged = events.map(({ type, subject_id }, i) => ({
    seq: last_seq + i + 1,
    type,
    subject_id,
    body: bodies[i] as string,
  }))
  const committed: CommittedChange = { board_id, epoch, events: logged }
  const append = async (tx: Db) => {
    if (events.length === 0 && written === 0 && growths.length === 0) return
    const log_at = Date.parse(at)
    // A body without its data is ASCII.
    const bytes = events.reduce(
      (sum, { data, bytes }, i) => sum + bytes + (bodies[i] as string).length - data.length,
      written,
    )
    const log_bytes = quotas.logLevelAfter(usage, log_at, bytes, removesMember(events))
    const { freed_bytes: _, ...growth } = growthOf([...events, ...growths.map((each) => ({ growth: each }))])
    const counters = { ...growth, log_bytes, log_at }
    const [first] = events
    const to = { board_id, last_seq, at, ...counters }
    if (first && events.length === 1) await tx.run(appendEvent, { ...to, ...rowOf(first), body: bodies[0] as string })
    else await tx.run(appendEvents, { ...to, bodies, ...columnsOf(events) })
  }
  return { committed, append }
}

/** The message as it is stored and sent. Its time is the database's, taken under the board lock. */
const messageOf = ({ type, data, user_id }: NewEvent, at: string) =>
  `{"type":"${type}","data":${data},"user_id":${JSON.stringify(user_id)},"timestamp":"${at}","version":"${EVENT_VERSION}"}`

const rowOf = ({ type, actor_id, subject_id, from_id, card_id }: NewEvent) => ({
  type,
  user_id: actor_id,
  subject_id,
  from_id,
  card_id,
})
const columnsOf = (events: NewEvent[]) => ({
  count: events.length,
  types: events.map((e) => e.type),
  user_ids: events.map((e) => e.actor_id),
  subject_ids: events.map((e) => e.subject_id),
  from_ids: events.map((e) => e.from_id),
  card_ids: events.map((e) => e.card_id),
})

interface AppendArguments extends CounterGrowth {
  board_id: string
  last_seq: number
  at: string
  log_bytes: number
  log_at: number
}
const updateStream = (args: AppendArguments, count: unknown) => sql`
  with counted as (
    update board_stream set last_seq = last_seq + ${count}, text_bytes = text_bytes + ${args.text_bytes},
      card_count = card_count + ${args.card_count}, file_bytes = file_bytes + ${args.file_bytes},
      log_bytes = ${args.log_bytes}, log_at = ${args.log_at}, last_card_number = last_card_number + ${args.card_numbers}
    where board_id = ${args.board_id})`
/** Most changes have one event. Without arrays it costs less on both sides, and a large body is not escaped. */
const appendEvent = statement(
  'append_event',
  (args: AppendArguments & ReturnType<typeof rowOf> & { body: string }) => sql`
    ${updateStream(args, sql.lit(1))}
    insert into board_events (board_id, seq, created_at, type, user_id, subject_id, from_id, card_id, body)
    values (${args.board_id}, ${args.last_seq}::int8 + 1, ${args.at}, ${args.type}, ${args.user_id}, ${args.subject_id}, ${args.from_id}, ${args.card_id}, ${args.body})`,
)
const appendEvents = statement(
  'append_events',
  (args: AppendArguments & ReturnType<typeof columnsOf> & { bodies: string[] }) => sql`
    ${updateStream(args, args.count)}
    insert into board_events (board_id, seq, created_at, type, user_id, subject_id, from_id, card_id, body)
    select ${args.board_id}, ${args.last_seq} + event.nth, ${args.at}, event.type, event.user_id, event.subject_id, event.from_id, event.card_id, event.body
    from unnest(${args.types}::text[], ${args.user_ids}::uuid[], ${args.subject_ids}::uuid[], ${args.from_ids}::uuid[], ${args.card_ids}::uuid[],
        ${args.bodies}::text[])
      with ordinality as event (type, user_id, subject_id, from_id, card_id, body, nth)`,
)

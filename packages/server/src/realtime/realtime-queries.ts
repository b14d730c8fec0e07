import type { JsonText } from '@lockstep/contract/operation'
import type { LoggedEvent } from '@lockstep/contract/realtime'
import { type RawBuilder, sql } from 'kysely'
import { type Db, statement } from '../database/database.ts'
import { type ListedRow, numberCursor, type Page } from '../database/keyset.ts'
import type { Head, LiveEvent } from './hub-environment.ts'

const PAGE_EVENTS = 200
const PAGE_BYTES = 1_048_576

/**
 * The events after `after`: at most `limit`, ending with the event that reaches one mebibyte. `octet_length` only reads the
 * header of a stored text; `length` would decompress every body.
 */
const eventsAfter = (board_id: RawBuilder<unknown>, after: unknown, limit: RawBuilder<unknown>) => sql`(
  select seq, type, user_id, subject_id, body from (
    select seq, type, user_id, subject_id, body, sum(octet_length(body)) over (order by seq) - octet_length(body) as bytes_before
    from (
      select seq, type, user_id, subject_id, body from board_events where board_id = ${board_id} and seq > ${after}
      order by seq limit ${limit}
    ) next
  ) counted
  where bytes_before < ${sql.lit(PAGE_BYTES)})`

/** An event as the log is read over HTTP, of the row `event` of the table `board_events`. */
const loggedJson = sql<LoggedEvent>`'{"seq":' || event.seq || ',"actor_id":' || coalesce('"' || event.user_id || '"', 'null') || ',' || substr(event.body, 2)`

const page = statement(
  'read_event_page',
  (args: { board_id: string; after: number }) => sql<LiveEvent>`
    select event.seq, event.type, event.subject_id, event.body from ${eventsAfter(sql`${args.board_id}`, args.after, sql.lit(PAGE_EVENTS))} event order by event.seq`,
)
/** Reads a page of events after a number, in order, bounded in number and size. */
export const readEventPage = (db: Db, board_id: string, after: number): Promise<LiveEvent[]> =>
  db.run(page, { board_id, after })

const heads = statement(
  'read_heads',
  (args: { board_ids: string[] }) => sql<Head & { board_id: string }>`
    select board_id, epoch, last_seq as seq from board_stream where board_id = any (${args.board_ids}::uuid[])`,
)
export async function readHeads(db: Db, board_ids: string[]): Promise<Map<string, Head>> {
  const rows = await db.run(heads, { board_ids })
  return new Map(rows.map(({ board_id, epoch, seq }) => [board_id, { epoch, seq }]))
}

interface History {
  epoch: number
  last_seq: number
  /** The first number after `after` that is still stored. */
  first_seq: number | null
  seqs: number[] | null
  json: JsonText<LoggedEvent[]>
}
const history = statement(
  'read_history',
  (args: { board_id: string; after: number; limit: number }) => sql<History>`
    select stream.epoch, stream.last_seq, min(event.seq) as first_seq, array_agg(event.seq order by event.seq) as seqs,
      coalesce('[' || string_agg(${loggedJson}, ',' order by event.seq) || ']', '[]') as json
    from board_stream stream
    left join lateral ${eventsAfter(sql`stream.board_id`, args.after, sql`${args.limit}`)} event on true
    where stream.board_id = ${args.board_id}
    group by stream.epoch, stream.last_seq`,
)
/** Reads a page of a board's log, bounded in number and size, and the board's position in the same snapshot. */
export const readHistory = async (db: Db, board_id: string, after: number, limit: number) =>
  (await db.run(history, { board_id, after, limit }))[0]

interface CardHistoryPage extends Page {
  board_id: string
  card_id: string
}
const cardHistory = statement(
  'read_card_history',
  (args: CardHistoryPage) => sql<ListedRow<LoggedEvent>>`
    select ${numberCursor(sql`event.seq`)} as cursor, event.total, ${loggedJson} as json from (
      select found.*, count(*) over () as total,
        coalesce(sum(octet_length(found.body)) over (order by found.seq desc rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from (
        select seq, user_id, body from board_events
        where board_id = ${args.board_id} and card_id = ${args.card_id} and seq < coalesce(${args.key}::int8, ${sql.lit(Number.MAX_SAFE_INTEGER)})
        order by seq desc limit ${args.limit}
      ) found
    ) event
    where event.bytes_before < ${sql.lit(PAGE_BYTES)} order by event.seq desc`,
)
/** A page of the history of a card, newest first, bounded in number and size. */
export const readCardHistory = (db: Db, page: CardHistoryPage) => db.run(cardHistory, page)

const exists = statement('board_exists', (args: { id: string }, query) =>
  query.selectFrom('boards').select('id').where('id', '=', args.id),
)
export const hasBoard = async (db: Db, id: string) => (await db.run(exists, { id })).length === 1

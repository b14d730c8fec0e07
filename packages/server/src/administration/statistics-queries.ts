import type { Statistics } from '@lockstep/contract/administration'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { type Db, type JsonRow, statement, wireTime } from '../database/database.ts'

const today = sql`(now() at time zone 'utc')::date`

const startDay = statement(
  'start_day_of_statistics',
  () => sql`
    insert into daily_totals (day, users, boards, cards, events)
    select ${today}, created.* from (
      select (select count(*) from users), count(*), coalesce(sum(last_card_number), 0), coalesce(sum(last_seq), 0) from board_stream) created
    where not exists (select from daily_totals where day = ${today})
    on conflict do nothing`,
)
/** Stores what was created before today, once a day. Returns that it removed no rows, as a background job must. */
export async function startDayOfStatistics(db: Db): Promise<number> {
  await db.run(startDay, {})
  return 0
}

/**
 * Nothing that grows with the log is counted: the numbers of a board's events have no gaps, so their count is the sum of the last ones
 * minus those that were deleted. A board counts its cards; NULL: not yet.
 */
const statistics = statement(
  'read_statistics',
  () => sql<JsonRow<Statistics>>`
    with people as materialized (
      select count(*) as created, count(*) filter (where is_active) as active,
        count(*) filter (where not is_active and erased_at is null) as inactive,
        count(*) filter (where is_superuser and is_active) as superusers, count(erased_at) as erased
      from users
    ), streams as materialized (
      select count(*) as created, coalesce(sum(stream.last_card_number), 0) as cards_created, coalesce(sum(stream.last_seq), 0) as events_created,
        count(board.id) as boards,
        coalesce(sum(coalesce(stream.card_count, (select count(*) from cards where board_id = stream.board_id))) filter (where board.id is not null), 0) as cards
      from board_stream stream left join boards board on board.id = stream.board_id
    ), marks as (
      select * from daily_totals
      union all select 'infinity', people.created, streams.created, cards_created, events_created from people, streams
    ), days as (
      select day, lead(users) over past - users as users, lead(boards) over past - boards as boards,
        lead(cards) over past - cards as cards, lead(events) over past - events as events
      from (select ${today} - n as day from generate_series(-1, 6) n) begun
      cross join lateral (select users, boards, cards, events from marks where marks.day >= begun.day order by marks.day limit 1) mark
      window past as (order by day)
    )
    select json_build_object(
      'users', (select json_build_object('active', active, 'inactive', inactive, 'superusers', superusers, 'erased', erased) from people),
      'boards', (select boards from streams),
      'cards', (select cards from streams),
      'events', json_build_object('count', (select events_created from streams) - (select count from deleted_events),
        'oldest_at', (select ${wireTime(sql`created_at`)} from board_events order by created_at limit 1)),
      'attachments', (select json_build_object('count', count(*), 'bytes', coalesce(sum(size), 0)) from attachments),
      'database_bytes', pg_database_size(current_database()),
      'days', (select json_agg(json_build_object('date', to_char(day, 'YYYY-MM-DD'), 'users', users, 'boards', boards, 'cards', cards, 'events', events)
        order by day desc) from days where day <= ${today})
    )::text as json`,
)
export async function readStatistics(db: Db): Promise<JsonText<Statistics>> {
  return ((await db.run(statistics, {}))[0] as JsonRow<Statistics>).json
}

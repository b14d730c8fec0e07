import type { InboxItem, InboxSummary } from '@lockstep/contract/inbox'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { BATCH_ROWS, inBatches } from '../database/batches.ts'
import { type Db, statement, wireTime } from '../database/database.ts'
import { isEarlier, type ListedRow, type Page, timeCursor } from '../database/keyset.ts'
import { userJson } from '../users/user-queries.ts'

const EXCERPT_LENGTH = 160
/** Counting stops here. */
const MAX_UNREAD = 100
const RETENTION_DAYS = 90

/** A mention in the text of a comment; the name is the first group. */
const MENTION = '@\\[([^\\]\\n]*)\\]\\(user:[0-9a-f-]{36}\\)'

/**
 * The items of a user that can be shown. Membership is checked again, and texts are read here, so that nothing stale is shown. What
 * was archived or deleted is left out.
 */
const visibleItems = (user_id: string) => sql`inbox_items item
    join board_members membership on membership.board_id = item.board_id and membership.user_id = item.user_id
    join board_stream stream on stream.board_id = item.board_id and stream.archived_at is null
    join boards board on board.id = item.board_id
    left join cards card on card.board_id = item.board_id and card.id = item.card_id
    where item.user_id = ${user_id} and (item.card_id is null or card.column_id is not null)`

/** What started the rule that did the last thing of an item: the user's change of its card in the same transaction. */
const triggerJson = sql`(select json_build_object(
    'type', case cause.type when 'card.moved' then 'CARD_MOVED' else 'LABEL_ADDED' end,
    'actor', ${userJson},
    'column', (select json_build_object('id', board_column.id, 'title', board_column.title) from columns board_column
      where cause.type = 'card.moved' and board_column.board_id = cause.board_id
        and board_column.id = (cause.body::json -> 'data' ->> 'column_id')::uuid),
    'label', (select json_build_object('id', label.id, 'name', label.name) from labels label
      where cause.type = 'card.labeled' and label.board_id = cause.board_id and label.id = cause.subject_id))
  from board_events cause join users person on person.id = cause.user_id
  where item.actor_id is null and cause.board_id = item.board_id and cause.card_id = item.card_id
    and cause.created_at = item.changed_at and cause.type in ('card.moved', 'card.labeled')
  order by cause.seq desc limit 1)`

/** An item, of the rows of `visibleItems`. */
const itemJson = sql<InboxItem>`(select row_to_json(fields) from (select item.id, item.reason, item.count,
  (select ${userJson} from users person where person.id = item.actor_id) as actor,
  ${triggerJson} as trigger, json_build_object('id', board.id, 'title', board.title) as board,
  case when card.id is not null then json_build_object('id', card.id, 'number', card.number, 'title', card.title) end as card,
  (select json_build_object('id', comment.id,
      'excerpt', left(regexp_replace(left(comment.body, ${sql.lit(EXCERPT_LENGTH * 8)}), ${sql.lit(MENTION)}, '@\\1', 'g'), ${sql.lit(EXCERPT_LENGTH)}))
    from comments comment where comment.board_id = item.board_id and comment.id = item.comment_id) as comment,
  ${wireTime(sql`item.changed_at`)} as changed_at, ${wireTime(sql`item.read_at`)} as read_at) fields)`

interface ListArguments extends Page {
  user_id: string
  is_unread: boolean
}
const list = statement(
  'list_inbox',
  (args: ListArguments) => sql<ListedRow<InboxItem>>`
    select ${itemJson}::text as json, ${timeCursor(sql`item.changed_at`, sql`item.id`)} as cursor
    from ${visibleItems(args.user_id)}
      and (item.read_at is null or not ${args.is_unread}::boolean)
      and ${isEarlier(sql`item.changed_at`, sql`item.id`, args)}
    order by item.changed_at desc, item.id desc limit ${args.limit}`,
)
/** A page of the items of a user, newest first. */
export const listInbox = (db: Db, user_id: string, is_unread: boolean, page: Page) =>
  db.run(list, { user_id, is_unread, ...page })

const summarize = statement(
  'summarize_inbox',
  (args: { user_id: string }) => sql<InboxSummary>`
    select count(*) as unread, ${wireTime(sql`max(changed_at)`)} as newest_at from (
      select item.changed_at from ${visibleItems(args.user_id)} and item.read_at is null
      order by item.changed_at desc limit ${sql.lit(MAX_UNREAD)}) unread`,
)
export async function summarizeInbox(db: Db, user_id: string): Promise<InboxSummary> {
  const [summary] = await db.run(summarize, { user_id })
  return summary as InboxSummary
}

const read = statement(
  'read_inbox_item',
  (args: { user_id: string; id: string }) => sql<{ json: JsonText<InboxItem> }>`
    select ${itemJson}::text as json from ${visibleItems(args.user_id)} and item.id = ${args.id}`,
)
/** Undefined when the user has no such item. */
export const readInboxItem = async (db: Db, user_id: string, id: string) =>
  (await db.run(read, { user_id, id }))[0]?.json

const mark = statement(
  'mark_inbox_item',
  (args: { user_id: string; id: string; is_read: boolean; seen: string | null }) => sql`
    update inbox_items set read_at = case when ${args.is_read}::boolean then clock_timestamp() end
    where user_id = ${args.user_id} and id = ${args.id} and (read_at is null) = ${args.is_read}::boolean
      and changed_at <= coalesce(${args.seen}::timestamptz, 'infinity')`,
)
/** Marks an item that has not changed since it was seen. */
export const markInboxItem = async (
  db: Db,
  user_id: string,
  item: { id: string; is_read: boolean; seen: string | null },
) => void (await db.run(mark, { user_id, ...item }))

/** Skips items that are being changed: they may stay unread, and waiting for them could deadlock with a deletion. */
const markAll = statement(
  'mark_inbox',
  (args: { user_id: string; until: string }) => sql<{ id: string }>`
    update inbox_items item set read_at = clock_timestamp() from (
      select user_id, id from inbox_items where user_id = ${args.user_id} and read_at is null and changed_at <= ${args.until}
      limit ${sql.lit(BATCH_ROWS)} for update skip locked) seen
    where item.user_id = seen.user_id and item.id = seen.id returning item.id`,
)
/** Marks everything that has not changed since a time. */
export const markInbox = (db: Db, user_id: string, until: string): Promise<number> =>
  inBatches(() => db.run(markAll, { user_id, until }))

const removeRead = statement(
  'delete_read_inbox_items',
  () => sql<{ id: string }>`
    delete from inbox_items where ctid in (
      select ctid from inbox_items where read_at <= now() - make_interval(days => ${sql.lit(RETENTION_DAYS)})
      limit ${sql.lit(BATCH_ROWS)} for update skip locked)
    returning id`,
)
/** Deletes items that were read long ago. Returns how many. */
export const deleteReadItems = (db: Db): Promise<number> => inBatches(() => db.run(removeRead, {}))

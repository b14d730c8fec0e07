import { type Comment, type CommentEvent, MAX_MENTIONS } from '@lockstep/contract/comments'
import type { JsonText } from '@lockstep/contract/operation'
import type { User } from '@lockstep/contract/users'
import { type RawBuilder, sql } from 'kysely'
import { PERSON_BYTES } from '../core/quotas.ts'
import { insertStatement, readStatement } from '../core/resource-statements.ts'
import { type Db, type JsonRow, type ResourceKey, statement, wireTime } from '../database/database.ts'
import { isEarlier, type ListedRow, type Page, timeCursor } from '../database/keyset.ts'
import { userJson } from '../users/user-queries.ts'

/** Of the users whom a comment mentions, those who count. */
const countedMentions = (of: string) => sql`${sql.id(of, 'mention_ids')}[1:${sql.lit(MAX_MENTIONS)}]`

const authorJson = (author_id: RawBuilder<unknown>) =>
  sql<User>`(select ${userJson} from users person where person.id = ${author_id})`
const mentionsJson = (user_ids: RawBuilder<unknown>, board_id: RawBuilder<unknown>) => sql<User[]>`(
  select coalesce(json_agg(${userJson} order by mentioned.nth), '[]')
  from unnest(${user_ids}) with ordinality mentioned (user_id, nth)
  join board_members membership on membership.board_id = ${board_id} and membership.user_id = mentioned.user_id
  join users person on person.id = mentioned.user_id)`

/** A comment with its author and the members whom it mentions, of the row `comment` of the table `comments`. */
export const commentJson = sql<Comment>`(select row_to_json(fields) from (select
  comment.id, comment.card_id,
  ${authorJson(sql`comment.author_id`)} as author,
  comment.body,
  ${mentionsJson(countedMentions('comment'), sql`comment.board_id`)} as mentions,
  ${wireTime(sql`comment.created_at`)} as created_at, ${wireTime(sql`comment.edited_at`)} as edited_at) fields)`

interface NewComment extends ResourceKey {
  card_id: string
  author_id: string
  body: string
  mention_ids: string[]
  at: string
}
const countOf = statement(
  'count_comments_of_card',
  (args: { board_id: string; card_id: string }) => sql<{ comment_count: number }>`
    select comment_count from cards where board_id = ${args.board_id} and id = ${args.card_id} and column_id is not null`,
)
/** The number of comments of a card; undefined when the board has no such card. */
export const readCommentCount = async (db: Db, board_id: string, card_id: string) =>
  (await db.run(countOf, { board_id, card_id }))[0]?.comment_count

const insert = insertStatement<NewComment, Comment>('comment', commentJson, ['author_id', 'mention_ids'])
/** Inserts a comment and counts it on its card. */
export async function insertComment(db: Db, comment: NewComment): Promise<JsonText<Comment>> {
  const { board_id, card_id } = comment
  const [, [row]] = await Promise.all([db.run(count, { board_id, card_id }), db.run(insert, comment)])
  return (row as JsonRow<Comment>).json
}

const read = readStatement('comment', commentJson)
/** Undefined when the board has no such comment. */
export const readComment = async (db: Db, key: ResourceKey) => (await db.run(read, key))[0]?.json

/** A comment, with what an event needs besides. */
interface ChangedComment extends JsonRow<Comment> {
  card_id: string
  comment_count: number
  /** The growth of the text of the board. */
  text_bytes: number
  /** Who was mentioned before the change. */
  old_mention_ids: string[]
}
const update = statement(
  'update_comment',
  (args: ResourceKey & { body: string; mention_ids: string[]; at: string }) => sql<ChangedComment>`
    update comments comment set body = ${args.body}, mention_ids = ${args.mention_ids}, edited_at = ${args.at}
    from comments old join cards card on card.board_id = old.board_id and card.id = old.card_id
    where comment.board_id = ${args.board_id} and comment.id = ${args.id} and comment.body <> ${args.body}
      and old.board_id = comment.board_id and old.id = comment.id
    returning ${commentJson}::text as json, comment.card_id, card.comment_count,
      object_bytes(comment.body) - object_bytes(old.body) as text_bytes, old.mention_ids as old_mention_ids`,
)
/** The comment after the change; undefined when nothing changed. */
export const updateComment = async (
  db: Db,
  key: ResourceKey,
  change: { body: string; mention_ids: string[]; at: string },
): Promise<ChangedComment | undefined> => (await db.run(update, { ...key, ...change }))[0]

const remove = statement(
  'delete_comment',
  (args: ResourceKey) => sql<ChangedComment>`
    with counted as (
      update cards card set comment_count = card.comment_count - 1 from comments gone
      where gone.board_id = ${args.board_id} and gone.id = ${args.id} and card.board_id = gone.board_id and card.id = gone.card_id
      returning card.comment_count
    )
    delete from comments comment using counted where comment.board_id = ${args.board_id} and comment.id = ${args.id}
    returning ${commentJson}::text as json, comment.card_id, counted.comment_count, -object_bytes(comment.body) as text_bytes,
      comment.mention_ids as old_mention_ids`,
)
/** Deletes a comment and counts it off its card. Undefined when the board has no such comment. */
export const deleteComment = async (db: Db, key: ResourceKey): Promise<ChangedComment | undefined> =>
  (await db.run(remove, key))[0]

const count = statement(
  'count_comment',
  (args: { board_id: string; card_id: string }) => sql`
    update cards set comment_count = comment_count + 1 where board_id = ${args.board_id} and id = ${args.card_id}`,
)

/** The data of an event: the comment, and the number of comments of its card. */
export const withCount = (comment: JsonText<Comment>, comment_count: number) =>
  `${comment.slice(0, -1)},"comment_count":${comment_count}}` as JsonText<CommentEvent>

/** A page ends with the comment that reaches this size, counting its text and the profiles of those it mentions. */
const PAGE_BYTES = 1_048_576

interface CommentPage extends Page {
  board_id: string
  card_id: string
}
const list = statement(
  'list_comments',
  (args: CommentPage) => sql<ListedRow<Comment>>`
    select ${commentJson}::text as json, comment.total, ${timeCursor(sql`comment.created_at`, sql`comment.id`)} as cursor
    from (
      select found.*, count(*) over () as total, coalesce(sum(octet_length(found.body) + ${sql.lit(PERSON_BYTES)} * cardinality(${countedMentions('found')}))
        over (order by found.created_at desc, found.id desc rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from (
        select * from comments listed where listed.board_id = ${args.board_id} and listed.card_id = ${args.card_id}
          and ${isEarlier(sql`listed.created_at`, sql`listed.id`, args)}
        order by listed.created_at desc, listed.id desc limit ${args.limit}
      ) found
    ) comment
    where comment.bytes_before < ${sql.lit(PAGE_BYTES)} order by comment.created_at desc, comment.id desc`,
)
/** A page of the comments of a card, newest first. */
export const listComments = (db: Db, card: { board_id: string; card_id: string }, page: Page) =>
  db.run(list, { ...card, ...page })

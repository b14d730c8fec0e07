import { type RawBuilder, sql } from 'kysely'
import { NIL as NIL_UUID } from 'uuid'
import { BATCH_ROWS } from '../database/batches.ts'
import { type Db, statement } from '../database/database.ts'
import { deleteTokens } from '../tokens/token-queries.ts'

const anonymize = statement(
  'anonymize_user',
  (args: { id: string; name: string }) => sql`
    update users set email = ${args.name}::text || '@erased.invalid', email_key = ${args.name}::text || '@erased.invalid',
      username = ${args.name}, username_key = ${args.name}, firstname = null, lastname = null, hashed_password = '',
      is_active = false, is_verified = false, is_superuser = false,
      tokens_valid_from = clock_timestamp(), surviving_token_hash = null, erased_at = clock_timestamp()
    where id = ${args.id}`,
)
const deleteResponses = statement('delete_responses_of_user', (args: { id: string }, query) =>
  query.deleteFrom('stored_responses').where('user_id', '=', args.id),
)
const deleteInvitations = statement(
  'delete_invitations_of_address',
  (args: { id: string }) => sql`
    delete from invitations where email_key = (select email_key from users where id = ${args.id})`,
)
/** Replaces the names of a user by a meaningless one, and deletes their stored responses, invitations and access tokens. The row stays. */
export async function anonymizeUser(db: Db, id: string, name: string) {
  // The first statement still finds the address.
  await Promise.all([
    db.run(deleteInvitations, { id }),
    db.run(anonymize, { id, name }),
    db.run(deleteResponses, { id }),
    deleteTokens(db, id),
  ])
}

const boards = statement('list_memberships', (args: { id: string }, query) =>
  query.selectFrom('board_members').select('board_id').where('user_id', '=', args.id).orderBy('board_id'),
)
export const listMemberships = async (db: Db, id: string) => (await db.run(boards, { id })).map((row) => row.board_id)

const newOwner = statement(
  'find_new_owner',
  (args: { board_id: string; user_id: string }) => sql<{ user_id: string }>`
    select user_id from board_members where board_id = ${args.board_id} and user_id <> ${args.user_id}
    order by joined_at, user_id limit 1`,
)
/** The other member who has been on the board the longest; undefined when there is none. */
export const findNewOwner = async (db: Db, key: { board_id: string; user_id: string }) =>
  (await db.run(newOwner, key))[0]?.user_id

const commented = statement(
  'find_boards_with_comments_of_user',
  (args: { user_id: string }) => sql<{ board_id: string }>`
    select board_id from comments where author_id = ${args.user_id}
    union select board_id from comments where mention_ids @> array[${args.user_id}::uuid] and mention_ids <> '{}'`,
)
/** The boards with comments that a user wrote, or that mention them. */
export const findCommentedBoards = async (db: Db, user_id: string): Promise<string[]> =>
  (await db.run(commented, { user_id })).map((row) => row.board_id)

/** Bytes of events that one statement compares. Some events are thousands of times larger than most. */
const BATCH_BYTES = 16 * 1_048_576

interface LogCursor {
  at: string
  board_id: string
  seq: number
}
const former = statement(
  'find_former_boards',
  (args: LogCursor & { user_id: string }) => sql<LogCursor & { board_ids: string[] }>`
    with page as materialized (
      select created_at, board_id, seq, type, subject_id, body,
        sum(octet_length(body)) over (order by created_at, board_id, seq rows unbounded preceding) - octet_length(body) as bytes_before
      from board_events
      where (type like 'comment.%' or type = 'board.member_removed') and (created_at, board_id, seq) > (${args.at}, ${args.board_id}, ${args.seq})
      order by created_at, board_id, seq limit ${sql.lit(BATCH_ROWS)}
    ), read as (select * from page where bytes_before < ${sql.lit(BATCH_BYTES)})
    select created_at::text as at, board_id, seq, array(select distinct board_id from read
      where type = 'board.member_removed' and subject_id = ${args.user_id} or type like 'comment.%' and body ilike '%' || ${args.user_id}::text || '%') as board_ids
    from read order by created_at desc, board_id desc, seq desc limit 1`,
)
/**
 * The boards whose log may still name a former member. Most events that name the user are older than the event of their removal, so
 * they expire before it; a comment that they wrote or that mentions them can be changed or deleted later. Reads only
 * events of these kinds, a bounded number per statement.
 */
export async function findFormerBoards(db: Db, user_id: string): Promise<string[]> {
  const found = new Set<string>()
  let cursor: LogCursor | undefined = { at: '-infinity', board_id: NIL_UUID, seq: 0 }
  while (cursor) {
    const [read]: (LogCursor & { board_ids: string[] })[] = await db.run(former, { ...cursor, user_id })
    for (const board_id of read?.board_ids ?? []) found.add(board_id)
    cursor = read
  }
  return [...found]
}

/** Replaces the readable name in mentions of a user. The name contains no brackets. */
const withoutName = (text: RawBuilder<unknown>, user_id: string) =>
  sql`regexp_replace(${text}, '@\\[[^][]+\\]\\(user:' || ${user_id}::text || '\\)', '@[erased user](user:' || ${user_id}::text || ')', 'gi')`

const renameMentioned = statement(
  'rename_in_comments',
  (args: { board_id: string; user_id: string }) => sql`
    with old as materialized (
      select id, body from comments
      where board_id = ${args.board_id} and mention_ids @> array[${args.user_id}::uuid] and mention_ids <> '{}'
    ), renamed as (
      update comments comment set body = ${withoutName(sql`old.body`, args.user_id)} from old
      where comment.board_id = ${args.board_id} and comment.id = old.id
      returning object_bytes(comment.body) - object_bytes(old.body) as growth
    )
    update board_stream set text_bytes = text_bytes + (select coalesce(sum(growth), 0) from renamed)
    where board_id = ${args.board_id}`,
)
/** Replaces the user's name in the comments of a board that mention them. Call it under the board lock: it counts their text. */
export const renameInComments = async (tx: Db, key: { board_id: string; user_id: string }) =>
  void (await tx.run(renameMentioned, key))

/** Matches the public user in the JSON of events: an object without nested objects that starts with the id and the address. */
const userPattern = (id: string) => sql`'\\{"id":"' || ${id}::text || '","email":(?:[^{}"]|"(?:[^"\\\\]|\\\\.)*")*\\}'`

interface RenameBatch {
  board_id: string
  user_id: string
  replacement: string
  after: number
}
const rename = statement(
  'rename_in_events',
  (args: RenameBatch) => sql<{ seq: number | null; renamed: number }>`
    with page as materialized (
      select seq, sum(octet_length(body)) over (order by seq rows unbounded preceding) - octet_length(body) as bytes_before
      from board_events where board_id = ${args.board_id} and seq > ${args.after} order by seq limit ${sql.lit(BATCH_ROWS)}
    ), read as (select seq from page where bytes_before < ${sql.lit(BATCH_BYTES)}),
    renamed as (
      update board_events event
      set body = regexp_replace(${withoutName(sql`body`, args.user_id)}, ${userPattern(args.user_id)}, ${args.replacement}, 'g')
      from read where event.board_id = ${args.board_id} and event.seq = read.seq and body ilike '%' || ${args.user_id}::text || '%'
      returning event.seq
    )
    select max(seq) as seq, (select count(*) from renamed) as renamed from read`,
)
const wait = statement(
  'wait_for_changes',
  (args: { board_id: string }) => sql`select from board_stream where board_id = ${args.board_id} for share`,
)
/**
 * Replaces the user's former profile in the whole log of a board. Returns the number of changed events. A change that read the former
 * profile may still be under way, so this waits for its end first.
 */
export async function renameInEvents(db: Db, board_id: string, user_id: string, replacement: string): Promise<number> {
  await db.run(wait, { board_id })
  let total = 0
  let after: number | null = 0
  while (after !== null) {
    const [read]: { seq: number | null; renamed: number }[] = await db.run(rename, {
      board_id,
      user_id,
      replacement,
      after,
    })
    total += read?.renamed ?? 0
    after = read?.seq ?? null
  }
  return total
}

const deleteNaming = statement(
  'delete_responses_naming_user',
  (args: { board_id: string; user_id: string }) => sql`
    delete from stored_responses where board_id = ${args.board_id} and body ilike '%' || ${args.user_id}::text || '%'`,
)
const restart = statement(
  'restart_epoch',
  (args: { board_id: string }) => sql`
    update board_stream set epoch = greatest(epoch + 1, extract(epoch from now() - timestamptz '2026-01-01')::integer)
    where board_id = ${args.board_id}`,
)
/** Deletes stored responses that name the user, and starts a new epoch: instances and clients then drop their cached board. */
export async function invalidateCopies(db: Db, key: { board_id: string; user_id: string }) {
  await db.run(deleteNaming, key)
  await db.run(restart, key)
}

import { sql } from 'kysely'
import { BATCH_ROWS } from '../database/batches.ts'
import { type Db, statement } from '../database/database.ts'

const bury = statement(
  'bury_user',
  (args: { id: string; name: string }) => sql`
    update users set email = ${args.name}::text || '@erased.invalid', email_key = ${args.name}::text || '@erased.invalid',
      username = ${args.name}, username_key = ${args.name}, firstname = null, lastname = null, hashed_password = '',
      is_active = false, is_verified = false, is_superuser = false,
      tokens_valid_from = clock_timestamp(), surviving_token_hash = null, erased_at = clock_timestamp()
    where id = ${args.id}`,
)
const dropAnswers = statement('drop_answers_of_user', (args: { id: string }, query) =>
  query.deleteFrom('stored_responses').where('user_id', '=', args.id),
)
/** Leaves of a user a row under a name that says nothing. */
export async function buryUser(db: Db, id: string, name: string) {
  await Promise.all([db.run(bury, { id, name }), db.run(dropAnswers, { id })])
}

const boards = statement('list_boards_to_leave', (args: { id: string }, query) =>
  query.selectFrom('board_members').select('board_id').where('user_id', '=', args.id).orderBy('board_id'),
)
export const listBoardsToLeave = async (db: Db, id: string) => (await db.run(boards, { id })).map((row) => row.board_id)

const heir = statement(
  'find_heir',
  (args: { board_id: string; user_id: string }) => sql<{ user_id: string }>`
    select user_id from board_members where board_id = ${args.board_id} and user_id <> ${args.user_id}
    order by joined_at, user_id limit 1`,
)
/** Who has been on a board the longest beside somebody; undefined when nobody is. */
export const findHeir = async (db: Db, key: { board_id: string; user_id: string }) =>
  (await db.run(heir, key))[0]?.user_id

const left = statement(
  'find_boards_left',
  (args: { user_id: string; daysAgo: number }) => sql<{ board_id: string }>`
    select distinct board_id from board_events
    where created_at >= now() - make_interval(days => ${args.daysAgo})
      and created_at < now() - make_interval(days => ${args.daysAgo}::int - 1)
      and type = 'board.member_removed' and subject_id = ${args.user_id}`,
)
/**
 * The boards whose log may still name somebody who left them: what was said of him there is older than the event of his
 * leaving, and goes with it. Day by day, so that no statement reads a long log at once.
 */
export async function findBoardsLeft(db: Db, user_id: string, days: number): Promise<string[]> {
  const found = new Set<string>()
  for (let daysAgo = 0; daysAgo <= days + 1; daysAgo++)
    for (const { board_id } of await db.run(left, { user_id, daysAgo })) found.add(board_id)
  return [...found]
}

/**
 * The public user as it stands in events and answers: an object without objects in it that begins with the id and the
 * address. What replaces it is the same object as it looks now.
 */
const shownUser = (id: string) => sql`'\\{"id":"' || ${id}::text || '","email":(?:[^{}"]|"(?:[^"\\\\]|\\\\.)*")*\\}'`

interface Stretch {
  board_id: string
  user_id: string
  shown: string
  after: number
}
const rename = statement(
  'rename_in_events',
  (args: Stretch) => sql<{ seq: number }>`
    update board_events set body = regexp_replace(body, ${shownUser(args.user_id)}, ${args.shown}, 'g')
    where board_id = ${args.board_id} and seq > ${args.after} and seq <= ${args.after}::int8 + ${sql.lit(BATCH_ROWS)}
      and body like '%' || ${args.user_id}::text || '%'
    returning seq`,
)
const head = statement('read_last_seq', (args: { board_id: string }, query) =>
  query.selectFrom('board_stream').select('last_seq').where('board_id', '=', args.board_id),
)
/** Puts what a user is called now in the place of what he was called, in the whole log of a board. Answers how often. */
export async function renameInEvents(db: Db, board_id: string, user_id: string, shown: string): Promise<number> {
  const last_seq = (await db.run(head, { board_id }))[0]?.last_seq ?? 0
  let renamed = 0
  for (let after = 0; after < last_seq; after += BATCH_ROWS)
    renamed += (await db.run(rename, { board_id, user_id, shown, after })).length
  return renamed
}

const dropNaming = statement(
  'drop_answers_that_name',
  (args: { board_id: string; user_id: string }) => sql`
    delete from stored_responses where board_id = ${args.board_id} and body like '%' || ${args.user_id}::text || '%'`,
)
const restart = statement(
  'restart_epoch',
  (args: { board_id: string }) => sql`
    update board_stream set epoch = greatest(epoch + 1, extract(epoch from now() - timestamptz '2026-01-01')::integer)
    where board_id = ${args.board_id}`,
)
/** What instances and clients keep in memory of a board they throw away with its epoch. */
export async function forgetBoard(db: Db, key: { board_id: string; user_id: string }) {
  await db.run(dropNaming, key)
  await db.run(restart, key)
}

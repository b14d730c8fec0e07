import type { BoardMember } from '@lockstep/contract/boards'
import type { JsonText, Role } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { type Db, statement } from '../database/database.ts'
import { isLater, type ListedRow, type Page, timeCursor } from '../database/keyset.ts'
import { Problem } from '../platform/problem.ts'
import { userJson } from '../users/user-queries.ts'

/** A board member, of the row `membership` of `board_members` and the row `person` of `users`. */
const memberJson = sql<BoardMember>`(select row_to_json(fields) from (select
  membership.board_id, membership.user_id, membership.role, ${userJson} as "user") fields)`
/** All members of the row `board` of the table `boards`, in the order in which they joined. */
export const membersJson = sql<BoardMember[]>`(
  select coalesce(json_agg(${memberJson} order by membership.joined_at, membership.user_id), '[]')
  from board_members membership join users person on person.id = membership.user_id where membership.board_id = board.id)`

export interface MemberKey {
  board_id: string
  user_id: string
}

const list = statement(
  'list_members',
  (args: { board_id: string } & Page) => sql<ListedRow<BoardMember>>`
    select ${memberJson}::text as json, ${timeCursor(sql`membership.joined_at`, sql`membership.user_id`)} as cursor
    from board_members membership join users person on person.id = membership.user_id
    where membership.board_id = ${args.board_id} and ${isLater(sql`membership.joined_at`, sql`membership.user_id`, args)}
    order by membership.joined_at, membership.user_id limit ${args.limit}`,
)
/** A page of the members of a board, in the order in which they joined. */
export const listMembers = (db: Db, board_id: string, page: Page) => db.run(list, { board_id, ...page })

export interface Membership {
  role: Role
  /** How many owners the board has. */
  owners: number
  json: JsonText<BoardMember>
}
const read = statement(
  'read_member',
  (args: MemberKey) => sql<Membership>`
    select membership.role, ${memberJson}::text as json,
      (select count(*) from board_members other where other.board_id = membership.board_id and other.role = 'owner') as owners
    from board_members membership join users person on person.id = membership.user_id
    where membership.board_id = ${args.board_id} and membership.user_id = ${args.user_id}`,
)
/** Undefined when the user is not a member of the board. */
export const readMember = async (db: Db, key: MemberKey): Promise<Membership | undefined> =>
  (await db.run(read, key))[0]

const add = statement('add_member', (args: MemberKey & { role: Role }, query) =>
  query
    .insertInto('board_members')
    .values({ board_id: args.board_id, user_id: args.user_id, role: args.role })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id'),
)
/** False when the user was a member already. */
export const addMember = async (db: Db, key: MemberKey, role: Role) =>
  (await db.run(add, { ...key, role })).length === 1

const changeRole = statement('set_member_role', (args: MemberKey & { role: Role }, query) =>
  query
    .updateTable('board_members')
    .set({ role: args.role })
    .where('board_id', '=', args.board_id)
    .where('user_id', '=', args.user_id),
)
export const setRole = async (db: Db, key: MemberKey, role: Role) => void (await db.run(changeRole, { ...key, role }))

const remove = statement('delete_member', (args: MemberKey, query) =>
  query.deleteFrom('board_members').where('board_id', '=', args.board_id).where('user_id', '=', args.user_id),
)
export const deleteMember = async (db: Db, key: MemberKey) => void (await db.run(remove, key))

const deleteStored = statement('delete_responses_of_member', (args: MemberKey, query) =>
  query.deleteFrom('stored_responses').where('board_id', '=', args.board_id).where('user_id', '=', args.user_id),
)
/** Deletes the responses that are stored for a user's retries on a board. */
export const deleteStoredResponses = async (db: Db, key: MemberKey) => void (await db.run(deleteStored, key))

const find = statement(
  'find_members',
  (args: { board_id: string; user_ids: string[] }) => sql<{ exists: boolean; is_member: boolean }>`
    select person.id is not null as exists, membership.user_id is not null as is_member
    from unnest(${args.user_ids}::uuid[]) wanted (id)
    left join users person on person.id = wanted.id
    left join board_members membership on membership.board_id = ${args.board_id} and membership.user_id = wanted.id`,
)
/** Rejects a list with an unknown user (404) or with a user who is not a member of the board (403). */
export async function requireMembers(db: Db, board_id: string, user_ids: string[]) {
  const found = await db.run(find, { board_id, user_ids })
  if (found.some((user) => !user.exists)) throw new Problem('user_not_found')
  if (found.some((user) => !user.is_member)) throw new Problem('user_not_a_member')
}

import type { JsonText, Role, Scope } from '@lockstep/contract/operation'
import type { AccessToken, BoardToken } from '@lockstep/contract/tokens'
import { sql } from 'kysely'
import { BATCH_ROWS, inBatches } from '../database/batches.ts'
import { type Db, type JsonRow, statement, wireTime } from '../database/database.ts'
import { isEarlier, type ListedRow, type Page, timeCursor } from '../database/keyset.ts'
import { userJson } from '../users/user-queries.ts'

/** How long an expired token is listed. */
const EXPIRED_DAYS = 30

/** The fields of an access token, of the row `token`. The hash is never among them. */
export const tokenFields = sql`token.id, token.name, token.scope, token.board_id, token.hint,
  ${wireTime(sql`token.created_at`)} as created_at, ${wireTime(sql`token.expires_at`)} as expires_at,
  ${wireTime(sql`token.last_used_at`)} as last_used_at`
const tokenJson = sql<AccessToken>`(select row_to_json(fields) from (select ${tokenFields}) fields)`
const boardTokenJson = sql<BoardToken>`(select row_to_json(fields) from (select ${tokenFields}, ${userJson} as "user") fields)`
const tokenCursor = timeCursor(sql`token.created_at`, sql`token.id`)
const newestFirst = sql`order by token.created_at desc, token.id desc`

const list = statement(
  'list_access_tokens',
  (args: { user_id: string } & Page) => sql<ListedRow<AccessToken>>`
    select ${tokenJson}::text as json, ${tokenCursor} as cursor from access_tokens token
    where token.user_id = ${args.user_id} and ${isEarlier(sql`token.created_at`, sql`token.id`, args)}
    ${newestFirst} limit ${args.limit}`,
)
/** A page of the tokens of a user, newest first. */
export const listTokens = (db: Db, user_id: string, page: Page) => db.run(list, { user_id, ...page })

const listOfBoard = statement(
  'list_board_tokens',
  (args: { board_id: string } & Page) => sql<ListedRow<BoardToken>>`
    select ${boardTokenJson}::text as json, ${tokenCursor} as cursor
    from access_tokens token join users person on person.id = token.user_id
    where token.board_id = ${args.board_id} and ${isEarlier(sql`token.created_at`, sql`token.id`, args)}
    ${newestFirst} limit ${args.limit}`,
)
/** A page of the tokens that are limited to a board, of all its members, newest first. */
export const listBoardTokens = (db: Db, board_id: string, page: Page) => db.run(listOfBoard, { board_id, ...page })

const count = statement(
  'count_valid_tokens',
  (args: { user_id: string }) => sql<{ count: number }>`
    select count(*) from access_tokens
    where user_id = ${args.user_id} and (expires_at is null or expires_at > clock_timestamp())`,
)
/** How many tokens of a user are valid. */
export const countTokens = async (db: Db, user_id: string): Promise<number> =>
  (await db.run(count, { user_id }))[0]?.count ?? 0

interface Creator {
  is_active: boolean
  tokens_valid_from: number | null
  surviving_token_hash: string | null
}
const lock = statement(
  'lock_token_creator',
  (args: { user_id: string }) => sql<Creator>`
    select is_active, surviving_token_hash, floor(extract(epoch from tokens_valid_from))::int8 as tokens_valid_from
    from users where id = ${args.user_id} for no key update`,
)
/** Locks the user, so that tokens are created one at a time, and never while the user's sessions are being revoked. */
export const lockCreator = async (tx: Db, user_id: string): Promise<Creator | undefined> =>
  (await tx.run(lock, { user_id }))[0]

interface Limits {
  tokens: number
  board_tokens: number
  has_board: boolean
  role: Role | null
}
const limits = statement(
  'read_token_limits',
  (args: { user_id: string; board_id: string | null }) => sql<Limits>`
    select (select count(*) from access_tokens where user_id = ${args.user_id}) as tokens,
      (select count(*) from access_tokens where board_id = ${args.board_id}) as board_tokens,
      exists (select from boards where id = ${args.board_id}::uuid) as has_board,
      (select role from board_members where board_id = ${args.board_id} and user_id = ${args.user_id}) as role`,
)
/** How many tokens a user and a board have, and the user's role on the board of a new one. */
export const readLimits = async (tx: Db, user_id: string, board_id: string | null): Promise<Limits> =>
  (await tx.run(limits, { user_id, board_id }))[0] as Limits

interface NewToken {
  id: string
  user_id: string
  board_id: string | null
  name: string
  scope: Scope
  hash: Buffer
  hint: string
  /** 0: never. */
  days: number
}
const insert = statement(
  'insert_access_token',
  (args: NewToken) => sql<JsonRow<AccessToken>>`
    insert into access_tokens as token (id, user_id, board_id, name, scope, hash, hint, expires_at)
    values (${args.id}, ${args.user_id}, ${args.board_id}, ${args.name}, ${args.scope}, ${args.hash}, ${args.hint},
      case when ${args.days}::int > 0 then clock_timestamp() + make_interval(days => ${args.days}) end)
    returning ${tokenJson}::text as json`,
)
export const insertToken = async (tx: Db, token: NewToken): Promise<JsonText<AccessToken>> =>
  ((await tx.run(insert, token))[0] as JsonRow<AccessToken>).json

/** A deleted token, for the audit log. */
export interface DeletedToken {
  id: string
  user_id: string
  board_id: string | null
  scope: string
}
const deleted = sql<DeletedToken>`returning token.id, token.user_id, token.board_id, token.scope`

const deleteOwn = statement(
  'delete_access_token',
  (args: { id: string; user_id: string }) => sql<DeletedToken>`
    delete from access_tokens token where token.id = ${args.id} and token.user_id = ${args.user_id} ${deleted}`,
)
/** Undefined when the user has no such token. */
export const deleteToken = async (tx: Db, token: { id: string; user_id: string }) => (await tx.run(deleteOwn, token))[0]

const deleteOfBoard = statement(
  'delete_board_token',
  (args: { id: string; board_id: string; owner_id: string }) => sql<DeletedToken>`
    delete from access_tokens token where token.id = ${args.id} and token.board_id = ${args.board_id}
      and exists (select from board_members membership where membership.board_id = token.board_id
        and membership.user_id = ${args.owner_id} and membership.role = 'owner') ${deleted}`,
)
/** Undefined when the board has no such token, or the user is not an owner anymore. */
export const deleteBoardToken = async (tx: Db, token: { id: string; board_id: string; owner_id: string }) =>
  (await tx.run(deleteOfBoard, token))[0]

const deleteOfUser = statement(
  'delete_access_tokens',
  (args: { user_id: string }) => sql<DeletedToken>`
    delete from access_tokens token where token.user_id = ${args.user_id} ${deleted}`,
)
/** Deletes all tokens of a user. Returns how many. */
export const deleteTokens = async (tx: Db, user_id: string): Promise<number> =>
  (await tx.run(deleteOfUser, { user_id })).length

const deleteExpired = statement(
  'delete_expired_tokens',
  () => sql<{ id: string }>`
    delete from access_tokens where ctid = any (array(
      select ctid from access_tokens where expires_at < now() - make_interval(days => ${sql.lit(EXPIRED_DAYS)})
      limit ${sql.lit(BATCH_ROWS)} for update skip locked))
    returning id`,
)
/** Deletes tokens that expired 30 days ago. Returns how many. */
export const deleteExpiredTokens = (db: Db): Promise<number> => inBatches(() => db.run(deleteExpired, {}))

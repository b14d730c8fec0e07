import type { Invitation, InvitationPreview } from '@lockstep/contract/invitations'
import type { Role } from '@lockstep/contract/operation'
import type { User } from '@lockstep/contract/users'
import { sql } from 'kysely'
import { isPending, isUsable } from '../core/invitation-access.ts'
import { type Db, type JsonRow, statement, wireTime } from '../database/database.ts'
import { idCursor, isGreater, isLess, type ListedRow, type Page } from '../database/keyset.ts'
import { keyOf, type NewUser, userJson } from '../users/user-queries.ts'

const LIFETIME_DAYS = 7

/** The columns of an invitation, of the row `invitation`. */
export const invitationColumns = sql`invitation.id, invitation.board_id, invitation.role, invitation.email,
  invitation.invited_by, ${wireTime(sql`invitation.created_at`)} as created_at,
  ${wireTime(sql`invitation.expires_at`)} as expires_at, invitation.claimed_by is not null as is_claimed`
const invitationJson = sql<Invitation>`(select row_to_json(fields) from (select ${invitationColumns}) fields)`

const lockInviter = statement(
  'lock_inviter',
  (args: { user_id: string }) => sql`select from users where id = ${args.user_id} for no key update`,
)
const lockBoardRow = statement(
  'lock_board_row',
  (args: { board_id: string }) => sql`select from boards where id = ${args.board_id} for no key update`,
)
/** Serializes new invitations of a board and of an inviter, so that concurrent requests cannot exceed their limits. */
export const lockForInvitation = async (tx: Db, key: { board_id: string; user_id: string }) =>
  void (await Promise.all([tx.run(lockInviter, key), tx.run(lockBoardRow, key)]))

const count = statement(
  'count_invitations',
  (args: { board_id: string | null; user_id: string }) => sql<{ on_board: number; of_inviter: number }>`
    select count(*) filter (where board_id = ${args.board_id}) as on_board,
      count(*) filter (where invited_by = ${args.user_id}) as of_inviter
    from invitations invitation
    where (board_id = ${args.board_id} or invited_by = ${args.user_id}) and ${isPending}`,
)
/** The numbers of pending invitations. */
export const countInvitations = async (tx: Db, key: { board_id: string | null; user_id: string }) =>
  (await tx.run(count, key))[0] ?? { on_board: 0, of_inviter: 0 }

interface NewInvitationRow {
  id: string
  token_hash: string
  board_id: string | null
  role: Role | null
  invited_by: string | null
  email: string | null
}
const insert = statement(
  'insert_invitation',
  (args: NewInvitationRow & { email_key: string | null }) => sql<Invitation>`
    insert into invitations as invitation (id, token_hash, board_id, role, invited_by, email, email_key, expires_at)
    values (${args.id}, ${args.token_hash}, ${args.board_id}, ${args.role}, ${args.invited_by}, ${args.email},
      ${args.email_key}, clock_timestamp() + make_interval(days => ${sql.lit(LIFETIME_DAYS)}))
    returning ${invitationColumns}`,
)
export async function insertInvitation(tx: Db, row: NewInvitationRow): Promise<Invitation> {
  const email_key = row.email === null ? null : keyOf(row.email)
  return (await tx.run(insert, { ...row, email_key }))[0] as Invitation
}

const list = statement(
  'list_invitations',
  (args: { board_id: string } & Page) => sql<ListedRow<Invitation>>`
    select ${idCursor(sql`invitation.id`)} as cursor, ${invitationJson}::text as json from invitations invitation
    where invitation.board_id = ${args.board_id} and ${isLess(sql`invitation.id`, args)} and ${isPending}
    order by invitation.id desc limit ${args.limit}`,
)
/** A page of the pending invitations to a board, newest first. */
export const listInvitations = (db: Db, board_id: string, page: Page) => db.run(list, { board_id, ...page })

const find = statement(
  'find_invitations',
  (args: Page) => sql<ListedRow<Invitation>>`
    select ${idCursor(sql`invitation.id`)} as cursor, ${invitationJson}::text as json from invitations invitation
    where ${isGreater(sql`invitation.id`, args)} and ${isPending} order by invitation.id limit ${args.limit}`,
)
/** A page of all pending invitations, oldest first. */
export const findInvitations = (db: Db, page: Page) => db.run(find, page)

const remove = statement(
  'delete_invitation',
  (args: { id: string; board_id: string | null }) => sql<{ id: string }>`
    delete from invitations invitation where invitation.id = ${args.id} and ${isPending}
      and (${args.board_id}::uuid is null or invitation.board_id = ${args.board_id})
    returning invitation.id`,
)
/** Deletes a pending invitation, of any board if `board_id` is null. False when there is none. */
export const deleteInvitation = async (db: Db, key: { id: string; board_id: string | null }) =>
  (await db.run(remove, key)).length === 1

const preview = statement(
  'preview_invitation',
  (args: { token_hash: string }) => sql<InvitationPreview & { email_key: string | null }>`
    select board.title as board_title, invitation.role, invitation.email, invitation.email_key,
      case when board.id is not null then
        coalesce(nullif(trim(concat(inviter.firstname, ' ', inviter.lastname)), ''), inviter.username) end as invited_by,
      ${wireTime(sql`invitation.expires_at`)} as expires_at, invitation.claimed_by is not null as is_claimed
    from invitations invitation left join boards board on board.id = invitation.board_id
    left join users inviter on inviter.id = invitation.invited_by
    where invitation.token_hash = ${args.token_hash} and ${isUsable}`,
)
/** What an invited person sees. Undefined when the invitation cannot be used. */
export const previewInvitation = async (db: Db, token_hash: string) => (await db.run(preview, { token_hash }))[0]

interface OfferedInvitation {
  board_id: string | null
  /** Whether the account has the invited e-mail address, if there is one. */
  has_email: boolean
  /** The user's role, if they are a member already. */
  member_role: Role | null
}
const offered = statement(
  'read_invitation_for_user',
  (args: { token_hash: string; user_id: string }) => sql<OfferedInvitation>`
    select invitation.board_id, membership.role as member_role,
      coalesce(invitation.email_key = person.email_key, true) as has_email
    from invitations invitation join users person on person.id = ${args.user_id}
    left join board_members membership on membership.board_id = invitation.board_id and membership.user_id = person.id
    where invitation.token_hash = ${args.token_hash} and (
      (${isUsable} and coalesce(invitation.claimed_by = person.id, true))
      or (invitation.claimed_by = person.id and membership.user_id is not null))`,
)
/** An invitation as it is for a user. Also one that this user has accepted, so that accepting can be repeated. */
export const readInvitationFor = async (db: Db, key: { token_hash: string; user_id: string }) =>
  (await db.run(offered, key))[0]

interface InvitedUser extends NewUser {
  email_key: string
  username_key: string
  token_hash: string
}
/**
 * One statement, so that of two registrations with one invitation the second waits for the first and then finds it claimed. An
 * invitation to the service is thereby accepted; one to a board is kept for the new account.
 */
const insertInvited = statement(
  'insert_invited_user',
  (args: InvitedUser) => sql<JsonRow<User>>`
    with claimed as (
      update invitations invitation set claimed_by = ${args.id},
        accepted_at = case when invitation.board_id is null then clock_timestamp() end
      where invitation.token_hash = ${args.token_hash} and ${isUsable} and invitation.claimed_by is null
        and coalesce(invitation.email_key = ${args.email_key}, true)
      returning invitation.id)
    insert into users as person (id, email, email_key, username, username_key, hashed_password, firstname, lastname, is_superuser)
    select ${args.id}, ${args.email}, ${args.email_key}, ${args.username}, ${args.username_key}, ${args.hashed_password},
      ${args.firstname}, ${args.lastname}, false from claimed
    returning ${userJson}::text as json`,
)
/** Creates an account with an invitation. Undefined when the invitation cannot be used any more. */
export async function insertInvitedUser(db: Db, user: NewUser, token_hash: string) {
  const keys = { email_key: keyOf(user.email), username_key: keyOf(user.username) }
  return (await db.run(insertInvited, { ...user, ...keys, token_hash }))[0]?.json
}

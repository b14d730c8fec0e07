import type { Role } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { statement } from '../database/database.ts'

/** Whether the row `invitation` was neither accepted nor has expired. */
export const isPending = sql<boolean>`(invitation.accepted_at is null and invitation.expires_at > clock_timestamp())`

/** Whether the row `invitation` can be used: it is pending, and its creator may still invite. */
export const isUsable = sql<boolean>`(${isPending} and case
  when invitation.board_id is not null then exists (
    select from board_members inviting join users inviter on inviter.id = inviting.user_id
    where inviting.board_id = invitation.board_id and inviting.user_id = invitation.invited_by
      and inviting.role = 'owner' and inviter.is_active)
  when invitation.invited_by is not null then exists (
    select from users inviter where inviter.id = invitation.invited_by and inviter.is_superuser and inviter.is_active)
  else true end)`

/** Whether the account `user_id` may use the row `invitation`. */
export const isForUser = (user_id: string) => sql<boolean>`(
  (invitation.claimed_by is null or invitation.claimed_by = ${user_id})
  and (invitation.email_key is null or invitation.email_key = (select email_key from users where id = ${user_id})))`

interface InvitationUse {
  token_hash: string
  board_id: string
  user_id: string
}
/** Uses an invitation to a board up. Call it under the board lock, in a transaction that then authorizes the user. */
export const useInvitation = statement(
  'use_invitation',
  (args: InvitationUse) => sql<{ role: Role }>`
    update invitations invitation set claimed_by = ${args.user_id}, accepted_at = clock_timestamp()
    where invitation.token_hash = ${args.token_hash} and invitation.board_id = ${args.board_id}
      and ${isUsable} and ${isForUser(args.user_id)}
    returning invitation.role`,
)

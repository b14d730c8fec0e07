import type { Invitation } from '@lockstep/contract/invitations'
import type { Role } from '@lockstep/contract/operation'
import { v7 as newUuid } from 'uuid'
import { type Actor, administerService } from '../administration/admin-steps.ts'
import type { Database, Db } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import { hashOfToken, newLinkToken } from '../security/links.ts'
import { countInvitations, deleteInvitation, insertInvitation, lockForInvitation } from './invitation-queries.ts'

const MAX_PER_BOARD = 50
const MAX_PER_INVITER = 200

interface NewInvitation {
  invitation: Invitation
  token: string
}
interface BoardInvitation {
  board_id: string
  role: Role
  email: string | null
  user_id: string
}

/** Invites to a board. The foreign key to the inviter's membership rejects an inviter who is leaving at this moment. */
export function inviteToBoard(
  database: Database,
  { board_id, role, email, user_id }: BoardInvitation,
): Promise<NewInvitation> {
  return database.transaction(
    (tx) => lockForInvitation(tx, { board_id, user_id }),
    async (tx) => {
      await requireRoom(tx, board_id, user_id)
      return { result: await insertNew(tx, { board_id, role, email, invited_by: user_id }) }
    },
  )
}

/** Invites to the service. */
export function inviteToService(database: Database, actor: Actor, email: string | null): Promise<NewInvitation> {
  const invited_by = 'actor_id' in actor ? actor.actor_id : null
  return administerService(database, actor, 'create-invitation', async (tx) => {
    if (invited_by !== null) await requireRoom(tx, null, invited_by)
    const result = await insertNew(tx, { board_id: null, role: null, email, invited_by })
    return { result, details: { invitation_id: result.invitation.id } }
  })
}

export function revokeAsOperator(database: Database, actor: Actor, id: string): Promise<void> {
  return administerService(database, actor, 'revoke-invitation', async (tx) => {
    if (!(await deleteInvitation(tx, { id, board_id: null }))) throw new Problem('invitation_not_found')
    return { result: undefined, details: { invitation_id: id } }
  })
}

async function requireRoom(tx: Db, board_id: string | null, user_id: string) {
  const { on_board, of_inviter } = await countInvitations(tx, { board_id, user_id })
  if (on_board >= MAX_PER_BOARD || of_inviter >= MAX_PER_INVITER) throw new Problem('too_many_invitations')
}

type InvitationFields = Omit<Parameters<typeof insertInvitation>[1], 'id' | 'token_hash'>
async function insertNew(tx: Db, fields: InvitationFields): Promise<NewInvitation> {
  const token = newLinkToken()
  const invitation = await insertInvitation(tx, { ...fields, id: newUuid(), token_hash: hashOfToken(token) })
  return { invitation, token }
}

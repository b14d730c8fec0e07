import { type Board, memberOperations } from '@lockstep/contract/boards'
import type { JsonText } from '@lockstep/contract/operation'
import type { Db } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { Problem } from '../platform/problem.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import { readUser } from '../users/user-queries.ts'
import { readBoard } from './board-queries.ts'
import { listMembers, type MemberKey, type Membership, readMember, setRole } from './member-queries.ts'
import { addNewMember, recordChange, removeMember } from './member-steps.ts'

export const memberHandlers = (limits: RateLimits): Handlers<typeof memberOperations> => ({
  async inviteMember(context) {
    const { db, caller, board_id, emit, beforeCommit } = context
    const { user_id } = context.body
    if (!(await readUser(db, user_id))) throw new Problem('user_not_found')
    await addNewMember(db, { board_id, user_id }, 'member', emit)
    await recordChange(context, limits, 'add-member', { board_id, user_id })
    beforeCommit(() => limits.newMember(caller.id, user_id))
    return { user_id, role: 'member' }
  },

  listMembers: (context) =>
    readPage(memberOperations.listMembers, context, (page) => listMembers(context.db, context.board_id, page)),

  async updateMember(context) {
    const { db, board_id, emit } = context
    const { user_id } = context.params
    const { role } = context.body
    const member = await requireMember(db, { board_id, user_id })
    if (role === undefined || role === member.role) return member.json
    if (isLastOwner(member)) throw new Problem('last_owner')
    await setRole(db, { board_id, user_id }, role)
    await recordChange(context, limits, 'change-role', { board_id, user_id }, { role })
    emit('board.updated', (await readBoard(db, board_id)) as JsonText<Board>)
    return (await requireMember(db, { board_id, user_id })).json
  },

  async removeMember(context) {
    const { db, board_id, at, emit } = context
    const { user_id } = context.params
    const member = await requireMember(db, { board_id, user_id })
    if (isLastOwner(member)) throw new Problem('last_owner')
    await removeMember(db, { board_id, user_id }, member.json, at, emit)
    await recordChange(context, limits, 'remove-member', { board_id, user_id })
  },
})

const isLastOwner = ({ role, owners }: Membership) => role === 'owner' && owners === 1

async function requireMember(db: Db, key: MemberKey): Promise<Membership> {
  const member = await readMember(db, key)
  if (!member) throw new Problem('member_not_found')
  return member
}

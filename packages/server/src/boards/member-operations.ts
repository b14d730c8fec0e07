import type { Board, memberOperations } from '@lockstep/contract/boards'
import type { JsonText } from '@lockstep/contract/operation'
import { PERSON_BYTES } from '../core/quotas.ts'
import type { Db } from '../database/database.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import { readUser } from '../users/user-queries.ts'
import { readBoard } from './board-queries.ts'
import { addMember, listMembers, type MemberKey, type Membership, readMember, setRole } from './member-queries.ts'
import { removeMember } from './member-steps.ts'

export const memberHandlers: Handlers<typeof memberOperations> = {
  async inviteMember({ db, board_id, body, emit }) {
    const { user_id } = body
    if (!(await readUser(db, user_id))) throw new Problem('user_not_found')
    if (!(await addMember(db, { board_id, user_id }, 'member'))) throw new Problem('already_a_member')
    const { json } = await requireMember(db, { board_id, user_id })
    emit('board.member_added', json, { subject_id: user_id, growth: { text_bytes: PERSON_BYTES } })
    return { user_id, role: 'member' }
  },

  async listMembers({ db, board_id }) {
    const members = await listMembers(db, board_id)
    if (!members) throw new Problem('board_not_found')
    return members
  },

  async updateMember({ db, board_id, params: { user_id }, body: { role }, emit }) {
    const member = await requireMember(db, { board_id, user_id })
    if (role === undefined || role === member.role) return member.json
    if (isLastOwner(member)) throw new Problem('last_owner')
    await setRole(db, { board_id, user_id }, role)
    emit('board.updated', (await readBoard(db, board_id)) as JsonText<Board>)
    return (await requireMember(db, { board_id, user_id })).json
  },

  async removeMember({ db, board_id, params: { user_id }, at, emit }) {
    const member = await requireMember(db, { board_id, user_id })
    if (isLastOwner(member)) throw new Problem('last_owner')
    await removeMember(db, { board_id, user_id }, member.json, at, emit)
  },
}

const isLastOwner = ({ role, owners }: Membership) => role === 'owner' && owners === 1

async function requireMember(db: Db, key: MemberKey): Promise<Membership> {
  const member = await readMember(db, key)
  if (!member) throw new Problem('member_not_found')
  return member
}

import type { BoardMember } from '@lockstep/client'
import { useTools } from '../board-state/board-tools.ts'
import { Avatar, nameOf } from '../ui/people.tsx'
import type { PendingMemberChange } from './use-member-changes.ts'

interface MemberRowProps {
  member: BoardMember
  isOnline: boolean
  pending: PendingMemberChange | undefined
  problem: string | undefined
  onRole: (role: BoardMember['role']) => void
  onRemove: () => void
}

/** Id of the row, which takes the focus when its member is searched for. */
export const rowId = (user_id: string) => `member-${user_id}`

export function MemberRow({ member, isOnline, pending, problem, onRole, onRemove }: MemberRowProps) {
  const tools = useTools()
  const { user, user_id } = member
  const isMe = user_id === tools.me.id
  const role = pending?.what === 'role' ? pending.role : member.role
  return (
    <li id={rowId(user_id)} className="member" tabIndex={-1}>
      <span className={isOnline ? 'member-face is-online' : 'member-face'}>
        <Avatar person={user} />
      </span>
      <span className="member-name">
        <strong>{nameOf(user)}</strong>
        {isMe && ' (you)'}
        <small>
          @{user.username}
          {isOnline && ' · online'}
        </small>
      </span>
      <span className="member-acts">
        {pending && <small role="status">{pending.what === 'removal' ? 'Removing…' : 'Saving…'}</small>}
        {tools.isOwner ? (
          <select
            className="input"
            aria-label={`Role of ${nameOf(user)}`}
            value={role}
            disabled={pending !== undefined}
            onChange={(event) => onRole(event.target.value as BoardMember['role'])}
          >
            <option value="owner">Owner</option>
            <option value="member">Member</option>
          </select>
        ) : (
          <span className="chip">{member.role === 'owner' ? 'Owner' : 'Member'}</span>
        )}
        {(tools.isOwner || isMe) && (
          <button type="button" className="button is-quiet" disabled={pending !== undefined} onClick={onRemove}>
            {isMe ? (tools.isOwner ? 'Leave' : 'Leave board') : 'Remove'}
            {tools.isOwner && <span className="visually-hidden">{isMe ? ' board' : ` ${nameOf(user)}`}</span>}
          </button>
        )}
      </span>
      {problem && (
        <p className="member-problem" role="alert">
          {problem}
        </p>
      )}
    </li>
  )
}

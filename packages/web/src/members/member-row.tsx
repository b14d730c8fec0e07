import type { BoardMember } from '@lockstep/client'
import { useTools } from '../board/board-tools.ts'
import { Avatar, nameOf } from '../ui/people.tsx'
import type { Asked } from './use-member-changes.ts'

interface MemberRowProps {
  member: BoardMember
  is_online: boolean
  asked: Asked | undefined
  problem: string | undefined
  onRole: (role: BoardMember['role']) => void
  onRemove: () => void
}

/** The row can take the focus, so that somebody who is looked for is found. */
export const rowId = (user_id: string) => `member-${user_id}`

export function MemberRow({ member, is_online, asked, problem, onRole, onRemove }: MemberRowProps) {
  const tools = useTools()
  const { user, user_id } = member
  const isMe = user_id === tools.me.id
  const role = asked?.what === 'role' ? asked.role : member.role
  return (
    <li id={rowId(user_id)} className="member" tabIndex={-1}>
      <span className={is_online ? 'member-face is-online' : 'member-face'}>
        <Avatar person={user} />
      </span>
      <span className="member-name">
        <strong>{nameOf(user)}</strong>
        {isMe && ' (you)'}
        <small>
          @{user.username}
          {is_online && ' · online'}
        </small>
      </span>
      <span className="member-acts">
        {asked && <small role="status">{asked.what === 'removal' ? 'Removing…' : 'Saving…'}</small>}
        {tools.is_owner ? (
          <select
            className="input"
            aria-label={`Role of ${nameOf(user)}`}
            value={role}
            disabled={asked !== undefined}
            onChange={(event) => onRole(event.target.value as BoardMember['role'])}
          >
            <option value="owner">Owner</option>
            <option value="member">Member</option>
          </select>
        ) : (
          <span className="chip">{member.role === 'owner' ? 'Owner' : 'Member'}</span>
        )}
        {(tools.is_owner || isMe) && (
          <button type="button" className="button is-quiet" disabled={asked !== undefined} onClick={onRemove}>
            {isMe ? (tools.is_owner ? 'Leave' : 'Leave the board') : 'Remove'}
            {tools.is_owner && <span className="unseen">{isMe ? ' the board' : ` ${nameOf(user)}`}</span>}
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

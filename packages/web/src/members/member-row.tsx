import type { BoardMember } from '@lockstep/client'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { Avatar, nameOf } from '../ui/people.tsx'
import { Select } from '../ui/select.tsx'
import { t } from './messages.ts'
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
  const { isOwner, isReadOnly } = useShownBoard()
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
        {isMe && ` ${t.me}`}
        <small>
          @{user.username}
          {isOnline && ` · ${t.online}`}
        </small>
      </span>
      <span className="member-acts">
        {pending && <small role="status">{pending.what === 'removal' ? t.removing : t.saving}</small>}
        {isOwner && !isReadOnly ? (
          <Select
            label={t.roleOf({ name: nameOf(user) })}
            value={role}
            options={[
              { value: 'owner', label: t.owner },
              { value: 'member', label: t.member },
            ]}
            isReadOnly={pending !== undefined}
            onChange={onRole}
          />
        ) : (
          <span className="chip">{member.role === 'owner' ? t.owner : t.member}</span>
        )}
        {(isOwner || isMe) && (
          <button type="button" className="button is-quiet" disabled={pending !== undefined} onClick={onRemove}>
            {isMe ? (isOwner ? t.leave : t.leaveBoard) : t.remove}
            {isOwner && <span className="visually-hidden">{` ${isMe ? t.leaveWhat : nameOf(user)}`}</span>}
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

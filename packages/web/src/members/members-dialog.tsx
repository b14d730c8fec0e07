import type { User } from '@lockstep/client'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import type { PanelProps } from '../board-state/panel-props.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { usePresence } from '../board-state/use-presence.ts'
import { hasLetterKeys } from '../preferences.ts'
import { announce } from '../ui/announcer.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { hasCommand, isWriting, Keys } from '../ui/keys.tsx'
import { Avatar, nameOf } from '../ui/people.tsx'
import { BoardTokens } from './board-tokens.tsx'
import { CopyField } from './copy-field.tsx'
import { InvitationLinks } from './invitation-links.tsx'
import { MemberRow, rowId } from './member-row.tsx'
import { t } from './messages.ts'
import { useMemberChanges } from './use-member-changes.ts'
import { UserCombobox } from './user-combobox.tsx'
import './members.css'

/** The members and their roles. Owners invite, change and remove members; every member can leave. */
export function MembersDialog({ view }: PanelProps) {
  const tools = useTools()
  const { isOwner, isReadOnly, status } = useShownBoard()
  const changes = useMemberChanges(view)
  const field = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    // On touch screens, focus the list: focusing the field would open the on-screen keyboard over it.
    if (matchMedia('(pointer: coarse)').matches) list.current?.focus()
  }, [])
  // On an archived board, members can only be removed or leave.
  const mayAdd = isOwner && !isReadOnly
  const online = new Set(usePresence().map(({ user_id }) => user_id))
  const invited = [...changes.pending.values()].flatMap((each) => (each.what === 'invitation' ? [each.user] : []))
  return (
    <Dialog title={t.membersOf({ board: view.title })} onClose={() => tools.close()}>
      <div className="dialog-body members">
        {mayAdd && <Invite view={view} field={field} onInvite={changes.invite} />}
        {status.phase === 'offline' && (
          <p className="members-note" role="status">
            {t.offline}
          </p>
        )}
        <ul ref={list} aria-label={t.members} tabIndex={-1}>
          {view.members.map((member) => (
            <MemberRow
              key={member.user_id}
              member={member}
              isOnline={online.has(member.user_id)}
              pending={changes.pending.get(member.user_id)}
              problem={changes.problems.get(member.user_id)}
              onRole={(role) => void changes.setRole(member, role)}
              onRemove={() => void (member.user_id === tools.me.id ? changes.leave() : changes.remove(member))}
            />
          ))}
          {invited.map((user) => (
            <li key={user.id} className="member is-invited">
              <Avatar person={user} />
              <span className="member-name">
                <strong>{nameOf(user)}</strong>
                <small>@{user.username}</small>
              </span>
              <small role="status">{t.inviting}</small>
            </li>
          ))}
        </ul>
        {changes.removed && !isReadOnly && <Removed user={changes.removed} onInvite={changes.invite} />}
        {mayAdd && <InvitationLinks view={view} />}
        {isOwner && <BoardTokens board_id={view.id} />}
        <CopyField note={t.boardLinkNote} label={t.boardLink} value={`${location.origin}/app/b/${view.id}`} />
      </div>
    </Dialog>
  )
}

interface InviteProps extends Pick<PanelProps, 'view'> {
  field: RefObject<HTMLInputElement | null>
  onInvite: ReturnType<typeof useMemberChanges>['invite']
}

function Invite({ view, field, onInvite }: InviteProps) {
  const [message, setMessage] = useState('')
  const isMember = ({ id }: User) => view.members.some(({ user_id }) => user_id === id)
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'i' || event.altKey || hasCommand(event)) return
      if (isWriting(event.target) || !hasLetterKeys()) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', handleKey)
    return () => removeEventListener('keydown', handleKey)
  }, [field])

  const showMember = (user: User) => {
    setMessage(t.isAlreadyMember({ name: nameOf(user) }))
    announce(t.isAlreadyMember({ name: nameOf(user) }))
    document.getElementById(rowId(user.id))?.focus()
  }
  const invite = async (user: User) => {
    setMessage('')
    if (isMember(user)) return showMember(user)
    const notice = await onInvite(user)
    if (notice?.problem?.code === 'already_a_member') showMember(user)
    else if (notice) setMessage(t.inviteFailed({ name: nameOf(user), detail: notice.problem?.detail ?? '' }))
  }
  return (
    <div className="members-invite">
      <UserCombobox
        label={t.invitePeople}
        field={field}
        noteOf={(user) => (isMember(user) ? t.alreadyMember : undefined)}
        onPick={(user) => void invite(user)}
      />
      <Keys keys="I" />
      {message && (
        <p className="members-said" role="alert">
          {message}
        </p>
      )}
    </div>
  )
}

/** Shown inside the dialog instead of a toast, next to the list it is about. */
function Removed({ user, onInvite }: { user: User; onInvite: InviteProps['onInvite'] }) {
  return (
    <p className="members-removed">
      {t.removedNote({ name: nameOf(user) })}{' '}
      <button type="button" className="link-button" onClick={() => void onInvite(user)}>
        {t.inviteAgain}
      </button>
    </p>
  )
}

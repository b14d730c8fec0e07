import type { User } from '@lockstep/client'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useTools } from '../board/board-tools.ts'
import type { PanelProps } from '../board/panel.ts'
import { hasLetterKeys } from '../settings/preferences.ts'
import { announce } from '../ui/announcer.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { hasCommand, isWriting, Keys } from '../ui/keys.tsx'
import { Avatar, nameOf } from '../ui/people.tsx'
import { MemberRow, rowId } from './member-row.tsx'
import { useMemberChanges } from './use-member-changes.ts'
import { UserCombobox } from './user-combobox.tsx'
import './members.css'

/** Who is on the board, and in what role. Owners invite, change and remove; everybody may leave. */
export function MembersDialog({ view }: PanelProps) {
  const tools = useTools()
  const changes = useMemberChanges(view)
  const field = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    // Where there is a keyboard the field has the focus; a phone would cover the list with one.
    if (matchMedia('(pointer: coarse)').matches) list.current?.focus()
  }, [])
  const online = new Set(tools.presence.map(({ user_id }) => user_id))
  const invited = [...changes.asked.values()].flatMap((each) => (each.what === 'invitation' ? [each.user] : []))
  return (
    <Dialog title={`Members of “${view.title}”`} onClose={() => tools.close()}>
      <div className="dialog-body members">
        {tools.is_owner && <Invite view={view} field={field} onInvite={changes.invite} />}
        {tools.status.phase === 'offline' && (
          <p className="members-note" role="status">
            Offline. What you change here is kept, and sent when the connection returns.
          </p>
        )}
        <ul ref={list} aria-label="Members" tabIndex={-1}>
          {view.members.map((member) => (
            <MemberRow
              key={member.user_id}
              member={member}
              is_online={online.has(member.user_id)}
              asked={changes.asked.get(member.user_id)}
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
              <small role="status">Inviting…</small>
            </li>
          ))}
        </ul>
        {changes.removed && <Removed user={changes.removed} onInvite={changes.invite} />}
        <CopyAddress board_id={view.id} />
      </div>
    </Dialog>
  )
}

interface InviteProps extends Pick<PanelProps, 'view'> {
  field: RefObject<HTMLInputElement | null>
  onInvite: ReturnType<typeof useMemberChanges>['invite']
}

function Invite({ view, field, onInvite }: InviteProps) {
  const [said, setSaid] = useState('')
  const isMember = ({ id }: User) => view.members.some(({ user_id }) => user_id === id)
  useEffect(() => {
    const steer = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'i' || event.altKey || hasCommand(event)) return
      if (isWriting(event.target) || !hasLetterKeys()) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', steer)
    return () => removeEventListener('keydown', steer)
  }, [field])

  const showMember = (user: User) => {
    setSaid(`${nameOf(user)} is already a member.`)
    announce(`${nameOf(user)} is already a member.`)
    document.getElementById(rowId(user.id))?.focus()
  }
  const invite = async (user: User) => {
    setSaid('')
    if (isMember(user)) return showMember(user)
    const notice = await onInvite(user)
    if (notice?.problem?.code === 'already_a_member') showMember(user)
    else if (notice) setSaid(`${nameOf(user)} could not be invited. ${notice.problem?.detail ?? ''}`)
  }
  return (
    <div className="members-invite">
      <UserCombobox
        label="Invite somebody"
        field={field}
        noteOf={(user) => (isMember(user) ? 'Already a member' : undefined)}
        onPick={(user) => void invite(user)}
      />
      <Keys keys="I" />
      {said && (
        <p className="members-said" role="alert">
          {said}
        </p>
      )}
    </div>
  )
}

/** Said here and not in the corner: what is beside a dialog cannot be reached. */
function Removed({ user, onInvite }: { user: User; onInvite: InviteProps['onInvite'] }) {
  return (
    <p className="members-removed">
      {nameOf(user)} is no longer a member.{' '}
      <button type="button" className="link-button" onClick={() => void onInvite(user)}>
        Invite again
      </button>
    </p>
  )
}

const COPIED_MS = 2_000

function CopyAddress({ board_id }: { board_id: string }) {
  const address = `${location.origin}/app/b/${board_id}`
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(address)
      announce('The address is copied.')
      setCopied(true)
      setTimeout(() => setCopied(false), COPIED_MS)
    } catch {
      // Without a secure address there is no clipboard; the field can be copied from by hand.
      announce('The browser does not let this page copy. Select the address instead.')
    }
  }
  return (
    <div className="members-address">
      <label>
        <span>Whoever is a member can open it</span>
        <input
          className="input"
          readOnly
          aria-label="Address of the board"
          value={address}
          onFocus={(event) => event.target.select()}
        />
      </label>
      <button type="button" className="button" onClick={() => void copy()}>
        <Icon name={isCopied ? 'check' : 'link'} /> {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}

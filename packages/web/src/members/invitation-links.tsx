import type { BoardMember, FullBoard, Invitation } from '@lockstep/client'
import { useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { shortDate } from '../ui/dates.ts'
import { Icon } from '../ui/icon.tsx'
import { nameOf } from '../ui/people.tsx'
import { Select } from '../ui/select.tsx'
import { CopyField, writeToClipboard } from './copy-field.tsx'
import { t } from './messages.ts'
import { useInvitations } from './use-invitations.ts'

/** For owners: links for people without an account, and those that were not used yet. */
export function InvitationLinks({ view }: { view: FullBoard }) {
  const [role, setRole] = useState<BoardMember['role']>('member')
  const { pending, link, isBusy, problem, create, revoke } = useInvitations(view)
  const createAndCopy = async () => {
    const href = await create(role)
    if (href !== undefined) announce((await writeToClipboard(href)) ? t.invitationCopied : t.invitationCreated)
  }
  return (
    <section className="invitations" aria-label={t.invitationLinks}>
      <p>{t.invitationNote}</p>
      <div className="invitations-new">
        <Select
          label={t.invitedRole}
          value={role}
          options={[
            { value: 'member', label: t.member },
            { value: 'owner', label: t.owner },
          ]}
          onChange={setRole}
        />
        <button type="button" className="button" aria-disabled={isBusy} onClick={() => void createAndCopy()}>
          <Icon name="link" /> {isBusy ? t.creatingInvitation : t.copyInvitation}
        </button>
      </div>
      {problem && (
        <p className="members-said" role="alert">
          {problem}
        </p>
      )}
      {link && <CopyField note={t.invitationLinkNote} label={t.invitationLink} value={link.href} />}
      {pending.length > 0 && (
        <ul aria-label={t.pendingInvitations}>
          {pending.map((invitation) => (
            <InvitationRow key={invitation.id} view={view} invitation={invitation} onRevoke={revoke} />
          ))}
        </ul>
      )}
    </section>
  )
}

interface InvitationRowProps {
  view: FullBoard
  invitation: Invitation
  onRevoke: (id: string) => Promise<void>
}

function InvitationRow({ view, invitation, onRevoke }: InvitationRowProps) {
  const [isRevoking, setRevoking] = useState(false)
  const { id, role, email, invited_by, created_at, expires_at, is_claimed } = invitation
  const inviter = view.members.find(({ user_id }) => user_id === invited_by)
  const name = email ?? (role === 'owner' ? t.linkForOwner : t.linkForMember)
  const details = t.invitationDetails({
    name: inviter ? nameOf(inviter.user) : t.formerMember,
    expiry: shortDate(expires_at),
  })
  return (
    <li className="member">
      <span className="member-name">
        <strong dir="auto">{name}</strong>
        <small dir="auto">
          {details}
          {is_claimed && ` ${t.accountCreated}`}
        </small>
      </span>
      <span className="member-acts">
        <button
          type="button"
          className="button is-quiet"
          disabled={isRevoking}
          onClick={() => {
            setRevoking(true)
            void onRevoke(id).finally(() => setRevoking(false))
          }}
        >
          {t.revoke}
          <span className="visually-hidden">{` ${t.revokeWhat({ name, created: shortDate(created_at) })}`}</span>
        </button>
      </span>
    </li>
  )
}

import type { FullBoard } from '@lockstep/client'
import { toggleFilter } from '../board-state/filter-address.ts'
import { usePresence } from '../board-state/use-presence.ts'
import { Avatar, nameOf } from '../ui/people.tsx'
import { Popover } from '../ui/popover.tsx'
import { useStore } from '../ui/store.ts'
import { t } from './messages.ts'
import { shownPerson } from './shown-person.ts'

/** Name and role of a member, and a filter for their cards. */
export function PersonPopover({ view }: { view: FullBoard }) {
  const presence = usePresence()
  const person = useStore(shownPerson)
  const member = view.members.find(({ user_id }) => user_id === person?.user_id)
  if (!person || !member) return null
  const { user, role } = member
  const close = () => shownPerson.set(undefined)
  const isOnline = presence.some(({ user_id }) => user_id === user.id)
  return (
    <Popover label={nameOf(user)} anchor={person.anchor} onClose={close}>
      <div className="person">
        <Avatar person={user} />
        <div>
          <b dir="auto">{nameOf(user)}</b>
          <p>
            {user.username} · {role === 'owner' ? t.owner : t.member}
            {isOnline && ` · ${t.online}`}
          </p>
        </div>
      </div>
      <button
        type="button"
        className="menu-item"
        onClick={() => {
          close()
          toggleFilter(`@${user.username}`)
        }}
      >
        {t.filterByPerson}
      </button>
    </Popover>
  )
}

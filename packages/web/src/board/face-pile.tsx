import type { FullBoard } from '@lockstep/client'
import { Fragment } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { usePresence } from '../board-state/use-presence.ts'
import { Avatar, initialsOf, nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'

/** More faces than this are a number. */
const MOST = 5

interface FacePileProps {
  view: FullBoard
  onOpen: () => void
}

/** All members, those who have the board open first and with a dot. Opens the list of members. */
export function FacePile({ view, onOpen }: FacePileProps) {
  const tools = useTools()
  const present = new Set(usePresence().map(({ user_id }) => user_id))
  const people = view.members
    .map(({ user }) => user)
    .toSorted((one, other) => Number(present.has(other.id)) - Number(present.has(one.id)))
  const shown = people.slice(0, people.length > MOST ? MOST - 1 : MOST)
  const others = people.filter(({ id }) => present.has(id) && id !== tools.me.id)
  const names = others.map(nameOf).join(', ')
  const rest = people.length - shown.length
  // Starts with the visible text, so that speech input finds it (WCAG 2.5.3).
  const visible = [...shown.map(initialsOf), ...(rest > 0 ? [`+${rest}`] : [])].join(' ')
  return (
    <button
      type="button"
      className="avatars face-pile"
      aria-label={others.length > 0 ? t.membersOnline({ visible, names }) : t.membersAlone({ visible })}
      onClick={onOpen}
    >
      {shown.map((person, i) => (
        // The space separates the initials in the accessible text.
        <Fragment key={person.id}>
          {/* Above the next face, so that its dot is not covered. */}
          <span className={present.has(person.id) ? 'face is-online' : 'face'} style={{ zIndex: shown.length - i }}>
            <Avatar person={person} {...(present.has(person.id) && { note: t.online })} />
          </span>{' '}
        </Fragment>
      ))}
      {rest > 0 && (
        <span className="avatar is-rest" aria-hidden="true">
          +{rest}
        </span>
      )}
    </button>
  )
}

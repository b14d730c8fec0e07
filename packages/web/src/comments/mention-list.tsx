import type { User } from '@lockstep/client'
import { fuzzy } from '../palette/fuzzy.ts'
import { Avatar, nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'

/** More would not be seen: typing finds the others. */
const MAX_SHOWN = 20

/** The members whose name or username matches, best first. */
export const matchingMembers = (members: readonly User[], query: string): User[] =>
  members
    .flatMap((user) => {
      const match = fuzzy(query, `${nameOf(user)} ${user.username}`)
      return match ? [{ user, score: match.score }] : []
    })
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MAX_SHOWN)
    .map(({ user }) => user)

interface MentionListProps {
  id: string
  found: readonly User[]
  /** The index of the highlighted row. */
  active: number
  isBelow: boolean
  onPick: (user: User) => void
}

/** The members to choose from. The field keeps the focus and handles the keys. */
export function MentionList({ id, found, active, isBelow, onPick }: MentionListProps) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label={t.members}
      className={isBelow ? 'menu mention-list is-below' : 'menu mention-list'}
      onPointerDown={(event) => event.preventDefault()}
    >
      {found.map((user, i) => (
        // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the field has the focus
        <div
          key={user.id}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === active}
          data-highlighted={i === active ? '' : undefined}
          className="menu-item"
          ref={(row) => {
            if (i === active) row?.scrollIntoView({ block: 'nearest' })
          }}
          onClick={() => onPick(user)}
        >
          <span aria-hidden="true">
            <Avatar person={user} />
          </span>
          <span dir="auto">
            {nameOf(user)} <small>@{user.username}</small>
          </span>
        </div>
      ))}
    </div>
  )
}

import type { User } from '@lockstep/client'
import { useShownBoard } from '../board-state/shown-board.ts'
import { announce } from '../ui/announcer.tsx'
import { Avatar, nameOf } from '../ui/people.tsx'
import { PickList } from '../ui/pick-list.tsx'
import { t } from './messages.ts'
import './pickers.css'

interface AssigneePickerProps {
  assignees: readonly User[]
  assign: (user_id: string) => void
  unassign: (user_id: string) => void
  onDone: () => void
}

/** The members of the board, with the assignees checked. */
export function AssigneePicker({ assignees, assign, unassign, onDone }: AssigneePickerProps) {
  const { view } = useShownBoard()
  const people = view.members.map(({ user }) => user)
  const chosen = new Set(assignees.map(({ id }) => id))
  const toggle = (user_id: string) => {
    const user = people.find(({ id }) => id === user_id)
    if (!user) return
    const isOn = chosen.has(user_id)
    announce((isOn ? t.unassignedUser : t.assignedUser)({ name: nameOf(user) }))
    if (isOn) unassign(user_id)
    else assign(user_id)
  }
  return (
    <PickList
      label={t.findMember}
      choices={people.map((user) => ({
        id: user.id,
        text: [...new Set([nameOf(user), user.username])].join(' '),
        content: <PersonName user={user} />,
      }))}
      chosen={chosen}
      onToggle={toggle}
      onDone={onDone}
    />
  )
}

/** A person with their avatar, whose name would only repeat the text. */
export const PersonName = ({ user }: { user: User }) => (
  <>
    <span aria-hidden="true">
      <Avatar person={user} />
    </span>
    <span dir="auto">{nameOf(user)}</span>
  </>
)

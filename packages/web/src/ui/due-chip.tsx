import type { Day } from '@lockstep/client/days'
import { dayNames } from './days.ts'
import { dueStatus, dueText } from './due.ts'
import { Icon } from './icon.tsx'
import { t } from './messages.ts'
import { useStore } from './store.ts'
import { today } from './today.ts'

/** The due date of a card, relative to today. */
export function DueChip({ due_on, isDone }: { due_on: Day; isDone: boolean }) {
  const now = useStore(today)
  const status = dueStatus(due_on, isDone, now)
  const day = dayNames.full(due_on)
  const name = status === 'overdue' ? t.overdueOn({ day }) : t.dueOn({ day })
  return (
    <span className={`due is-${status}`} title={name}>
      <Icon name={status === 'overdue' ? 'warn' : 'calendar'} size={14} />
      <span aria-hidden="true">{dueText(due_on, status, now)}</span>
      <span className="visually-hidden">{name}</span>
    </span>
  )
}

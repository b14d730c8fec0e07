import { type Day, daysBetween } from '@lockstep/client/days'
import { dayNames, shortDayName } from './days.ts'
import { t } from './messages.ts'

/** `soon` is tomorrow and the five days after it. A card in a done column is `done`, whatever its day. */
export type DueStatus = 'done' | 'overdue' | 'today' | 'soon' | 'later'

/** Today and this number of days are a week. */
export const WEEK_AHEAD = 6

export function dueStatus(due_on: Day, isDone: boolean, today: Day): DueStatus {
  const days = daysBetween(today, due_on)
  if (isDone) return 'done'
  if (days <= 0) return days < 0 ? 'overdue' : 'today'
  return days <= WEEK_AHEAD ? 'soon' : 'later'
}

/** `Overdue · 3 Nov`, `Today`, `Tomorrow`, `Fri` or `20 Nov`. */
export function dueText(due_on: Day, status: DueStatus, today: Day, names = dayNames): string {
  const day = shortDayName(due_on, today, names)
  if (status === 'overdue') return t.overdueSince({ day })
  if (status === 'today') return t.today
  if (status === 'soon') return daysBetween(today, due_on) === 1 ? t.tomorrow : names.weekday(due_on)
  return day
}

import { addDays, type Day, daysBetween, startOfMonth, weekdayOf } from '@lockstep/client/days'

/** Always six, so that the calendar does not change its height from month to month. */
const WEEKS = 6

/** The first day of the week in a language, from 0, Sunday. Monday if the browser does not know it, as Firefox. */
export function firstWeekday(locale: string): number {
  const { getWeekInfo } = Intl.Locale.prototype as { getWeekInfo?: () => { firstDay: number } }
  return (getWeekInfo?.call(new Intl.Locale(locale)).firstDay ?? 1) % 7
}

export const isSameMonth = (one: Day, other: Day): boolean => one.slice(0, 7) === other.slice(0, 7)
const startOfWeek = (day: Day, first: number): Day => addDays(day, -((weekdayOf(day) - first + 7) % 7))

/** The weeks of a calendar page: they contain the month of the day, and days of its neighbours. */
export function weeksOf(day: Day, first: number): Day[][] {
  const start = startOfWeek(startOfMonth(day), first)
  return Array.from({ length: WEEKS }, (_, week) => Array.from({ length: 7 }, (_, i) => addDays(start, week * 7 + i)))
}

/** The same day of another month, or its last day if that month is shorter. */
export function addMonths(day: Day, count: number): Day {
  const start = startOfMonth(day, count)
  const length = daysBetween(start, startOfMonth(day, count + 1))
  return addDays(start, Math.min(Number(day.slice(8)), length) - 1)
}

/** The day to which a key moves the focus. */
export function dayAfterKey(key: string, day: Day, first: number): Day | undefined {
  switch (key) {
    case 'ArrowLeft':
      return addDays(day, -1)
    case 'ArrowRight':
      return addDays(day, 1)
    case 'ArrowUp':
      return addDays(day, -7)
    case 'ArrowDown':
      return addDays(day, 7)
    case 'PageUp':
      return addMonths(day, -1)
    case 'PageDown':
      return addMonths(day, 1)
    case 'Home':
      return startOfWeek(day, first)
    case 'End':
      return addDays(startOfWeek(day, first), 6)
    default:
      return undefined
  }
}

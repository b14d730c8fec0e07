import { t } from './messages.ts'

/** Dates are written as the browser's language does. */
const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(globalThis.navigator?.language, options)
const clock = format({ timeStyle: 'short' })
const day = format({ weekday: 'long', day: 'numeric', month: 'long' })
const shortDay = format({ day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' })
const dayOfYear = format({ day: 'numeric', month: 'long', year: 'numeric' })
const full = format({ dateStyle: 'full', timeStyle: 'medium' })

/** `14:02`. */
export const clockTime = (at: string): string => clock.format(new Date(at))

/** `14:02` today, `12 Nov, 14:02` on another day. */
export function shortDate(at: string, now = new Date()): string {
  const date = new Date(at)
  const isToday = date.toDateString() === now.toDateString()
  return (isToday ? clock : shortDay).format(date)
}

/** The full date and time, for tooltips. */
export const fullDate = (at: string): string => full.format(new Date(at))

/** `Today`, `Yesterday`, `Thursday 12 November`, or with the year if it is not the current one. */
export function dayName(at: string, now = new Date()): string {
  const date = new Date(at)
  const midnight = (of: Date) => new Date(of.getFullYear(), of.getMonth(), of.getDate()).getTime()
  const days = Math.round((midnight(now) - midnight(date)) / 86_400_000)
  if (days === 0) return t.today
  if (days === 1) return t.yesterday
  return date.getFullYear() === now.getFullYear() ? day.format(date) : dayOfYear.format(date)
}

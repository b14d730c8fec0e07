/**
 * A calendar day without time and zone, such as `2026-11-20`. It is stored and computed as midnight UTC, so neither the time zone
 * of the viewer nor a change of the clock moves it to another day.
 */
export type Day = string

const DAY_MS = 86_400_000
const timeOf = (day: Day): number => Date.parse(day)
const dayAt = (time: number): Day => new Date(time).toISOString().slice(0, 10)

/** The day of a date in the time zone of the viewer. */
export const localDay = (date: Date): Day => dayAt(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()))

/** When the next day begins in the time zone of the viewer. */
export const nextMidnight = (now: Date): Date => new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1)

/** The day with this year, month (1 to 12) and day, if it exists and the server accepts it. */
export function makeDay(year: number, month: number, day: number): Day | undefined {
  const date = new Date(Date.UTC(year, month - 1, day))
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return exists && year >= 1970 && year <= 2999 ? dayAt(date.getTime()) : undefined
}

/** The first day of the month, or of one that is `count` months later. */
export const startOfMonth = (day: Day, count = 0): Day =>
  dayAt(Date.UTC(yearOf(day), Number(day.slice(5, 7)) - 1 + count))
export const yearOf = (day: Day): number => Number(day.slice(0, 4))
export const addDays = (day: Day, count: number): Day => dayAt(timeOf(day) + count * DAY_MS)
export const daysBetween = (from: Day, to: Day): number => (timeOf(to) - timeOf(from)) / DAY_MS
/** From 0, Sunday, to 6. */
export const weekdayOf = (day: Day): number => new Date(timeOf(day)).getUTCDay()

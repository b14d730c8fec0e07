import { type Day, yearOf } from '@lockstep/client/days'

/** The names of days, as the browser's language writes them. A formatter is created when it is needed first, because that is slow. */
export function dayFormats(locale: string | undefined) {
  const format = (options: Intl.DateTimeFormatOptions) => {
    let formatter: Intl.DateTimeFormat | undefined
    return (day: Day): string => {
      formatter ??= new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC', calendar: 'gregory' })
      return formatter.format(Date.parse(day))
    }
  }
  return {
    /** `Fri`. */
    weekday: format({ weekday: 'short' }),
    /** `Friday`. */
    longWeekday: format({ weekday: 'long' }),
    /** `20 Nov`. */
    short: format({ day: 'numeric', month: 'short' }),
    /** `20 Nov 2026`. */
    shortWithYear: format({ day: 'numeric', month: 'short', year: 'numeric' }),
    /** `Friday, 20 November 2026`. */
    full: format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
    /** `November 2026`. */
    month: format({ month: 'long', year: 'numeric' }),
    /** `20`. */
    number: format({ day: 'numeric' }),
  }
}
export const dayNames = dayFormats(globalThis.navigator?.language)

/** `20 Nov`, with the year if it is not the one of `today`. */
export const shortDayName = (day: Day, today: Day, { short, shortWithYear } = dayNames): string =>
  yearOf(day) === yearOf(today) ? short(day) : shortWithYear(day)

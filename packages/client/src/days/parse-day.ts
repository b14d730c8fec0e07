import { addDays, type Day, makeDay, startOfMonth, weekdayOf, yearOf } from './day.ts'

/** How a language writes dates. */
export interface DateWords {
  today: string
  tomorrow: string
  /** Long and short names, from Sunday. */
  weekdays: string[][]
  /** Long and short names, from January. */
  months: string[][]
  /** Whether `11/20` is written with the month first. */
  isMonthFirst: boolean
}

/** A Sunday. */
const SUNDAY = Date.UTC(2023, 0, 1)
const DAY_MS = 86_400_000

const fold = (text: string): string => text.toLowerCase().replaceAll('’', "'")

/** The words of a language, from the browser's data. */
export function dateWords(locale: string | undefined): DateWords {
  const names = (part: 'weekday' | 'month', times: number[], options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC', calendar: 'gregory' })
    return times.map((time) => {
      const name = format.formatToParts(time).find(({ type }) => type === part)?.value ?? ''
      return fold(name).replace(/\.$/, '')
    })
  }
  const pairs = (long: string[], short: string[]) => long.map((name, i) => [name, short[i] ?? name])
  const days = Array.from({ length: 7 }, (_, i) => SUNDAY + i * DAY_MS)
  const months = Array.from({ length: 12 }, (_, i) => Date.UTC(2023, i, 1))
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const parts = new Intl.DateTimeFormat(locale, { dateStyle: 'short', calendar: 'gregory' })
    .formatToParts(SUNDAY)
    .map(({ type }) => type)
  return {
    today: fold(relative.format(0, 'day')),
    tomorrow: fold(relative.format(1, 'day')),
    weekdays: pairs(names('weekday', days, { weekday: 'long' }), names('weekday', days, { weekday: 'short' })),
    // With a day, because some languages inflect the month beside it.
    months: pairs(
      names('month', months, { day: 'numeric', month: 'long' }),
      names('month', months, { day: 'numeric', month: 'short' }),
    ),
    isMonthFirst: parts.indexOf('month') < parts.indexOf('day'),
  }
}

const english = dateWords('en')

/** The index of the only name that the text is, or starts. */
function indexOfName(text: string, names: string[][], minLength: number): number | undefined {
  const exact = names.findIndex((each) => each.includes(text))
  if (exact >= 0) return exact
  const found = names.flatMap((each, i) => (each.some((name) => name.startsWith(text)) ? [i] : []))
  return text.length >= minLength && found.length === 1 ? found[0] : undefined
}

const [MONDAY, FRIDAY] = [1, 5]
/** The next such weekday after a day. */
const weekdayAfter = (day: Day, weekday: number): Day => addDays(day, ((weekday - weekdayOf(day) + 6) % 7) + 1)
/** Monday is the first day of a week. */
const nextWeek = (today: Day): Day => weekdayAfter(today, MONDAY)

const endOfWeek = (today: Day): Day => weekdayAfter(addDays(today, -1), FRIDAY)
const endOfMonth = (today: Day): Day => addDays(startOfMonth(today, 1), -1)

/** English phrases for a day. */
const phrases = new Map<string, (today: Day) => Day>([
  ['next week', nextWeek],
  ['eow', endOfWeek],
  ['end of week', endOfWeek],
  ['eom', endOfMonth],
  ['end of month', endOfMonth],
])

/**
 * Understands a day that a user has typed: `today`, `tomorrow`, `fri`, `next fri`, `next week`, `+3d`, `in 2 weeks`,
 * `end of week` (or `eow`), `end of month` (or `eom`), `20.11`, `11/20` (in the order of the language), `20 nov` and
 * `2026-11-20`. Names of days and months may be English or of the browser's language. A weekday is the next one after today,
 * with `next` that of the week that begins on the next Monday; the end of a week is its Friday. A day without a year is the next
 * one from today on. `null` is the word `none`; `undefined` is any other text.
 */
export function parseDay(typed: string, today: Day, words: DateWords): Day | null | undefined {
  const text = fold(typed.trim()).replaceAll(/\s+/g, ' ')
  if (text === 'none') return null
  const both = [words, english]
  if (both.some((each) => each.today === text)) return today
  if (both.some((each) => each.tomorrow === text)) return addDays(today, 1)

  const phrase = phrases.get(text.replace(/^(?:the )?end of (?:the |this )?/, 'end of '))
  if (phrase) return phrase(today)

  const [, count, unit] = /^(?:in |\+)?(\d{1,3}|an?(?= )) ?(d|days?|w|weeks?)$/.exec(text) ?? []
  if (count) return addDays(today, (count.startsWith('a') ? 1 : Number(count)) * (unit?.startsWith('w') ? 7 : 1))

  const isNext = text.startsWith('next ')
  const name = isNext ? text.slice('next '.length) : text
  const weekday = firstOf(both, (each) => indexOfName(name, each.weekdays, 2))
  if (weekday !== undefined) return weekdayAfter(isNext ? addDays(nextWeek(today), -1) : today, weekday)

  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text)
  if (iso) return makeDay(Number(iso[1]), Number(iso[2]), Number(iso[3]))

  const dotted = /^(\d{1,2})\. ?(\d{1,2})(?:\.? ?(\d{4})|\.)?$/.exec(text)
  if (dotted) return inYear(today, dotted[3], dotted[2], dotted[1])

  const slashed = /^(\d{1,2})\/(\d{1,2})(?:\/(\d{4}))?$/.exec(text)
  if (slashed) {
    const [, first, second, year] = slashed
    return words.isMonthFirst ? inYear(today, year, first, second) : inYear(today, year, second, first)
  }

  // `de` stands between day and month in Spanish and Portuguese.
  const named =
    /^(?<day>\d{1,2})\.? (?:de )?(?<month>\p{L}+)\.?(?:,? (?<year>\d{4}))?$/u.exec(text) ??
    /^(?<month>\p{L}+)\.? (?<day>\d{1,2})(?:,? (?<year>\d{4}))?$/u.exec(text)
  const { day, month = '', year } = named?.groups ?? {}
  const monthIndex = day && firstOf(both, (each) => indexOfName(month, each.months, 3))
  return typeof monthIndex === 'number' ? inYear(today, year, monthIndex + 1, day) : undefined
}

function firstOf<T, R>(list: readonly T[], find: (each: T) => R | undefined): R | undefined {
  for (const each of list) {
    const found = find(each)
    if (found !== undefined) return found
  }
  return undefined
}

type Digits = string | number | undefined

/** The day in a year; without one, in the current year or, if it is over, in the next one. */
function inYear(today: Day, year: Digits, month: Digits, day: Digits): Day | undefined {
  if (year) return makeDay(Number(year), Number(month), Number(day))
  const now = yearOf(today)
  const days = [now, now + 1].map((each) => makeDay(each, Number(month), Number(day)))
  return days.find((each) => each !== undefined && each >= today)
}

const time = String.raw`(?:at )?\d{1,2}(?:(?:[:.]\d{2})? ?[ap]\.?m\.?|:\d{2})`
const [timeBefore, timeAfter] = [new RegExp(`^${time}[ ,]+`, 'i'), new RegExp(`[ ,]+${time}$`, 'i')]

/** The text without a time of day, such as `tomorrow` of `tomorrow 5pm`; undefined if it has none. A due date is a day. */
export function withoutTime(typed: string): string | undefined {
  const text = typed.trim()
  const rest = text.replace(timeAfter, '').replace(timeBefore, '')
  return rest === text ? undefined : rest
}

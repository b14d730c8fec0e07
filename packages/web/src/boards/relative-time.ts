const DAY_MS = 86_400_000
const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['week', 7 * DAY_MS],
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
/** Written as the browser's language does. */
const format = new Intl.RelativeTimeFormat(globalThis.navigator?.language)

/** `5 minutes ago`, `1 day ago`; undefined for less than a minute, and for a time ahead of this clock. */
export function relativeTime(at: string, now: number): string | undefined {
  const age = now - Date.parse(at)
  const [unit, size] = units.find(([, ms]) => age >= ms) ?? []
  return unit && size ? format.format(-Math.floor(age / size), unit) : undefined
}

const MAX_SECONDS = 999_999_999

/** The seconds of a `Retry-After` header: a number, or a date in one of the three forms of HTTP (RFC 9110); null if it is neither. */
export function secondsOfRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_SECONDS)
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return null
  // The form of asctime has no time zone, and means GMT too.
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(date) ? null : Math.min(Math.max(0, Math.ceil((date - now) / 1_000)), MAX_SECONDS)
}

/** The calendar day that is so many days after today, in the local time zone. */
export function dayAfter(days: number, now = new Date()): string {
  // Noon exists on every day, also when the clocks change.
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 12)
  const pad = (part: number) => String(part).padStart(2, '0')
  return `${day.getFullYear()}-${pad(day.getMonth() + 1)}-${pad(day.getDate())}`
}

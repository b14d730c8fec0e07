const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(navigator.language, options)
const clock = format({ timeStyle: 'medium' })
const dayAndClock = format({ day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit', second: '2-digit' })

/** With seconds: `14:02:33` today, `12 Nov, 14:02:33` on another day. */
export function preciseTime(at: string): string {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  return (isToday ? clock : dayAndClock).format(date)
}

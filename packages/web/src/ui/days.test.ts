import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { dayFormats } from './days.ts'
import { dueStatus, dueText } from './due.ts'

/** What a process in a time zone computes. Node reads the zone when it starts. */
function inZone(zone: string, now: string) {
  const script = `
    import { addDays, daysBetween, localDay, nextMidnight } from '@lockstep/client/days'
    import { dayFormats } from ${JSON.stringify(fileURLToPath(new URL('days.ts', import.meta.url)))}
    const now = new Date(${JSON.stringify(now)})
    const today = localDay(now)
    const steps = Array.from({ length: 400 }, (_, i) => addDays(today, i))
    console.log(JSON.stringify({
      today,
      hoursLeft: (nextMidnight(now) - now) / 3_600_000,
      tomorrow: localDay(nextMidnight(now)),
      isRegular: steps.every((day, i) => daysBetween(today, day) === i) && new Set(steps).size === steps.length,
      shown: dayFormats('en-GB').shortWithYear('2026-11-20'),
    }))`
  const args = ['--no-warnings', '--input-type=module-typescript', '-e', script]
  return JSON.parse(
    execFileSync(process.execPath, args, { env: { ...process.env, TZ: zone }, encoding: 'utf8' }),
  ) as unknown
}

describe('time zones', () => {
  test.each([
    // Noon UTC is a different day at the two ends of the world.
    ['Pacific/Pago_Pago', '2026-11-18T10:30:00Z', '2026-11-17', '2026-11-18', 0.5],
    ['Pacific/Kiritimati', '2026-11-18T10:30:00Z', '2026-11-19', '2026-11-20', 23.5],
    ['UTC', '2026-11-18T10:30:00Z', '2026-11-18', '2026-11-19', 13.5],
    // The clock goes back an hour on this day, and forward on the next one.
    ['Europe/Berlin', '2026-10-24T22:30:00Z', '2026-10-25', '2026-10-26', 24.5],
    ['Europe/Berlin', '2026-03-28T23:30:00Z', '2026-03-29', '2026-03-30', 22.5],
    // Here the clock goes from 24:00 to 01:00, so the next day has no midnight.
    ['Africa/Cairo', '2026-04-23T20:00:00Z', '2026-04-23', '2026-04-24', 2],
  ])('[WEB-157] in %s at %s it is %s, and the next day begins in time', (zone, now, today, tomorrow, hoursLeft) => {
    expect(inZone(zone, now)).toEqual({
      today,
      hoursLeft,
      tomorrow,
      isRegular: true,
      shown: '20 Nov 2026',
    })
  })
})

describe('the text of a due date', () => {
  const today = '2026-11-18'
  const british = dayFormats('en-GB')
  const textOf = (due_on: string, isDone = false, names = british) => {
    const status = dueStatus(due_on, isDone, today)
    return [status, dueText(due_on, status, today, names)]
  }

  test.each([
    ['2025-12-31', 'overdue', 'Overdue · 31 Dec 2025'],
    ['2026-11-17', 'overdue', 'Overdue · 17 Nov'],
    ['2026-11-18', 'today', 'Today'],
    ['2026-11-19', 'soon', 'Tomorrow'],
    ['2026-11-20', 'soon', 'Fri'],
    ['2026-11-24', 'soon', 'Tue'],
    ['2026-11-25', 'later', '25 Nov'],
    ['2027-01-05', 'later', '5 Jan 2027'],
  ])('[WEB-154] %s is %s: %s', (due_on, status, text) => {
    expect(textOf(due_on)).toEqual([status, text])
  })

  test('[WEB-154] in a done column nothing is overdue', () => {
    expect(['2026-11-17', today, '2026-11-19', '2025-11-19'].map((due_on) => textOf(due_on, true))).toEqual([
      ['done', '17 Nov'],
      ['done', '18 Nov'],
      ['done', '19 Nov'],
      ['done', '19 Nov 2025'],
    ])
  })

  test('[WEB-154] days are written in the language of the browser', () => {
    const german = dayFormats('de')
    expect(textOf('2026-11-20', false, german)[1]).toBe('Fr')
    expect(textOf('2027-01-05', false, german)[1]).toBe('5. Jan. 2027')
    expect(textOf('2026-11-25', false, dayFormats('en-US'))[1]).toBe('Nov 25')
  })
})

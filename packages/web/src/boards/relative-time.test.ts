import { expect, test } from 'vitest'
import { relativeTime } from './relative-time.ts'

const NOW = Date.parse('2026-11-16T12:00:00.000Z')
const format = new Intl.RelativeTimeFormat(navigator.language)

test.each([
  ['2026-11-16T11:59:00.000Z', -1, 'minute'],
  ['2026-11-16T11:00:01.000Z', -59, 'minute'],
  ['2026-11-16T10:59:00.000Z', -1, 'hour'],
  ['2026-11-14T12:00:00.000Z', -2, 'day'],
  ['2026-11-08T12:00:00.000Z', -1, 'week'],
  ['2026-08-16T12:00:00.000Z', -3, 'month'],
  ['2024-11-16T12:00:00.000Z', -2, 'year'],
] as const)('%s is %i %s ago, in the largest unit that fits', (at, count, unit) => {
  expect(relativeTime(at, NOW)).toBe(format.format(count, unit))
})

test('less than a minute is now, and so is a time ahead of this clock', () => {
  expect(relativeTime('2026-11-16T11:59:01.000Z', NOW)).toBeUndefined()
  expect(relativeTime('2026-11-16T12:05:00.000Z', NOW)).toBeUndefined()
})

import { describe, expect, test } from 'vitest'
import { addMonths, dayAfterKey, firstWeekday, weeksOf } from './month.ts'

describe('[WEB-155] the calendar', () => {
  test('[WEB-155] a page has six whole weeks that contain the month', () => {
    const weeks = weeksOf('2026-11-18', 1)
    expect(weeks.map((week) => week.length)).toEqual([7, 7, 7, 7, 7, 7])
    expect([weeks[0]?.[0], weeks[5]?.[6]]).toEqual(['2026-10-26', '2026-12-06'])
    // A month that starts with the first day of the week starts on the first row.
    expect(weeksOf('2026-11-18', 0)[0]?.[0]).toBe('2026-11-01')
  })

  test('[WEB-155] a month later is the same day, or the last one of a shorter month', () => {
    expect(addMonths('2026-11-18', 1)).toBe('2026-12-18')
    expect(addMonths('2026-12-31', 2)).toBe('2027-02-28')
    expect(addMonths('2028-03-31', -1)).toBe('2028-02-29')
    expect(addMonths('2026-01-15', -1)).toBe('2025-12-15')
  })

  test.each([
    ['ArrowLeft', '2026-11-17'],
    ['ArrowRight', '2026-11-19'],
    ['ArrowUp', '2026-11-11'],
    ['ArrowDown', '2026-11-25'],
    ['PageUp', '2026-10-18'],
    ['PageDown', '2026-12-18'],
    ['Home', '2026-11-16'],
    ['End', '2026-11-22'],
    ['a', undefined],
  ])('[WEB-155] %s moves from Wednesday 18 November to %s', (key, day) => {
    expect(dayAfterKey(key, '2026-11-18', 1)).toBe(day)
  })

  test('[WEB-155] the week starts as in the language', () => {
    expect(['en-US', 'en-GB', 'de', 'ar-EG', 'pt-BR'].map(firstWeekday)).toEqual([0, 1, 1, 6, 0])
    expect(dayAfterKey('Home', '2026-11-18', 0)).toBe('2026-11-15')
  })
})

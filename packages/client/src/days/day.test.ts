import { describe, expect, test } from 'vitest'
import { addDays, daysBetween, makeDay, weekdayOf } from './day.ts'

describe('days', () => {
  test('[WEB-157] a day is added to a day, over months, years and leap days', () => {
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01')
    expect(addDays('2028-02-28', 1)).toBe('2028-02-29')
    expect(addDays('2026-03-01', -1)).toBe('2026-02-28')
    expect(daysBetween('2026-03-28', '2026-11-02')).toBe(219)
    expect(daysBetween('2026-11-02', '2026-03-28')).toBe(-219)
    expect(weekdayOf('2026-11-20')).toBe(5)
  })

  test('[WEB-157] only days that exist, and that the server accepts, are made', () => {
    expect(makeDay(2028, 2, 29)).toBe('2028-02-29')
    for (const [year, month, day] of [
      [2026, 2, 29],
      [2026, 4, 31],
      [2026, 13, 1],
      [2026, 0, 1],
      [2026, 1, 0],
      [1969, 12, 31],
      [3000, 1, 1],
    ] as const)
      expect(makeDay(year, month, day), `${year}-${month}-${day}`).toBeUndefined()
  })
})

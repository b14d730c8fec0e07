import { expect, test } from 'vitest'
import { LocalCounts } from './local-counts.ts'

test('[LIMIT-13] what is left of a window is never more than the window', () => {
  const counts = new LocalCounts(60)
  const left = Array.from({ length: 10_000 }, (_, key) => counts.add(String(key)).msLeft)
  expect(Math.max(...left)).toBeLessThanOrEqual(60_000)
})

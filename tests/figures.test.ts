import { expect, test } from 'vitest'
import { atLeast, atMost, collectFigures, equals, info, isTrue } from './prove/report.ts'

test('a figure that misses its bound is a violation', () => {
  const { figures, violations, add } = collectFigures(() => {})
  add(equals('lost', 0, 0), isTrue('running', true), atLeast('pings', 2, 2), info('size', 5))
  expect(violations).toEqual([])
  add(equals('lost', 1, 0), isTrue('running', false), atLeast('pings', 1, 2), atMost('size', Number.NaN, 5, 'MiB'))
  expect(violations).toEqual([
    'lost: 1 instead of 0',
    'running: no instead of yes',
    'pings: 1 instead of ≥ 2',
    'size: NaN MiB instead of ≤ 5 MiB',
  ])
  expect(figures).toHaveLength(8)
})

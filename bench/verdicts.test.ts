import { expect, test } from 'vitest'
import { ratioOf } from './cost.ts'
import { figure, judge as judgeGoal } from './figure.ts'
import { VERSUS } from './size.ts'
import { judge } from './versus.ts'

test('[BENCH-3] a goal is met or missed if the interval of the rounds is on one side of it, and noisy otherwise', () => {
  const resultOf = (...values: number[]) => judgeGoal({ most: 2, values })
  expect(resultOf(1.9, 1.95, 1.98, 1.9, 2)).toBe('met')
  expect(resultOf(2.1, 2.2, 2.15, 2.1, 2.3)).toBe('missed')
  expect(resultOf(1.5, 2.4, 1.6, 2.5, 1.9)).toBe('noisy')
  expect(resultOf(1, 1, 1, 1)).toBe('noisy')
})

test('[BENCH-1] a row has medians, the ratio to the bare engine, and the worst result of its goals', () => {
  const [node, postgres, bare] = [Array(5).fill(3), [1, 2, 2, 2, 9], Array(5).fill(2)] as number[][]
  const measured = { node: node as number[], postgres: postgres as number[], bare: bare as number[] }
  const goals = [
    { what: 'ratio', most: 1.15, values: Array<number>(5).fill(1) },
    { what: 'Node ms', most: 2, values: Array<number>(5).fill(3) },
  ]
  expect(figure('a', measured, 'the disk', goals)).toEqual({
    operation: 'a',
    node_ms: 3,
    postgres_ms: 2,
    bare_ms: 2,
    ratio: 1,
    goal: 'ratio ≤ 1.15, Node ms ≤ 2',
    result: 'missed',
    limit: 'the disk',
  })
  expect(figure('a', { node: [1] }, '')).toMatchObject({ postgres_ms: null, ratio: null, goal: null, result: null })
})

/** Rounds in which the second version costs `ratio` times as much, each with another disturbance. */
const roundsOf = (ratio: number, noise: number, count = 15) =>
  Array.from({ length: count }, (_, i) => {
    const disturbed = 1 + noise * Math.sin(i * 2.4)
    return {
      before: { node: 100, postgres: 50, count: 100 },
      after: { node: 100 * ratio * disturbed, postgres: 50 * ratio * disturbed, count: 100 },
    }
  })
const verdictOf = (...rounds: Parameters<typeof roundsOf>) =>
  [...new Set(judge('create card', roundsOf(...rounds), VERSUS).map(({ verdict }) => verdict))].join()

test('[BENCH-6] the interval of equal versions includes 1, and a few disturbed rounds do not move it', () => {
  const same = ratioOf([0.99, 1.02, 1, 0.98, 1.01, 1.005, 0.995, 1.01, 0.99, 1, 1.02, 0.985, 1, 0.99, 1.01])
  expect(same.low).toBeLessThan(1)
  expect(same.high).toBeGreaterThan(1)
  expect(same.high / same.low).toBeLessThan(1.03)
  const { ratio, low, high } = ratioOf([...Array.from({ length: 20 }, (_, i) => 1.1 + 0.01 * Math.cos(i)), 9, 0.1])
  expect(ratio).toBeCloseTo(1.1, 2)
  expect(low).toBeGreaterThan(1.08)
  expect(high).toBeLessThan(1.12)
})

test('[BENCH-6] up to 3 % more is met, above is missed, and a wide interval or too few rounds is noisy', () => {
  expect(verdictOf(1, 0.01)).toBe('met')
  expect(verdictOf(1.029, 0.001)).toBe('met')
  expect(verdictOf(1.035, 0.001)).toBe('missed')
  expect(verdictOf(1.1, 0.01)).toBe('missed')
  expect(verdictOf(1, 0.2)).toBe('noisy')
  // A twentieth of the cost, give or take a third of that, is not in doubt.
  expect(verdictOf(0.05, 0.3)).toBe('met')
  expect(verdictOf(1, 0.001, 14)).toBe('noisy')
  expect(VERSUS).toMatchObject({ leastRounds: 15, mostRounds: 45 })
})

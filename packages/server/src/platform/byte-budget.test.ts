import { TestClock } from '@lockstep/testing/test-clock'
import { expect, test } from 'vitest'
import { ByteBudget } from './byte-budget.ts'

const MEBIBYTE = 1_048_576

test('[LOAD-14] a budget rejects after the burst until the rate allows more, does not count small pieces, and is of one user', () => {
  const clock = new TestClock()
  const budget = new ByteBudget(MEBIBYTE, 2 * MEBIBYTE, clock)
  for (let i = 0; i < 100; i++) budget.charge('ada', 65_535)
  budget.charge('ada', 2 * MEBIBYTE)
  budget.require('ada')
  budget.charge('ada', 2.5 * MEBIBYTE)
  expect(() => budget.require('ada')).toThrow(
    expect.objectContaining({ code: 'too_many_requests', retryAfterSeconds: 3 }),
  )
  budget.require('bob')
  clock.advance(2_499)
  expect(() => budget.require('ada')).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }))
  clock.advance(1)
  budget.require('ada')
})

test('[LOAD-14] pieces of files wait one after the other, also those that are asked for at once', async () => {
  const clock = new TestClock()
  const budget = new ByteBudget(MEBIBYTE, MEBIBYTE, clock)
  const done: number[] = []
  const all = [1, 2, 3].map((nth) => budget.pace('ada', MEBIBYTE).then(() => done.push(nth)))
  await new Promise((resolve) => setImmediate(resolve))
  expect([done, clock.waits]).toEqual([[1], [1_000, 2_000]])
  clock.advance(1_000)
  await new Promise((resolve) => setImmediate(resolve))
  expect(done).toEqual([1, 2])
  clock.advance(1_000)
  await Promise.all(all)
})

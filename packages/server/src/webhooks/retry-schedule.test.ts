import { expect, test } from 'vitest'
import { type Failure, nextStep } from './retry-schedule.ts'

const DAY = 86_400
const options = { giveUpSeconds: 5 * DAY, random: 0.5 }
const failure: Failure = { status: 500, retryAfter: null, failedAttempts: 1, failingSeconds: 0 }
const wait = (changes: Partial<Failure>, random = 0.5) => nextStep({ ...failure, ...changes }, { ...options, random })

test('[HOOK-11] the waits grow from 5 seconds to an hour, and vary by a fifth', () => {
  const waits = Array.from({ length: 8 }, (_, nth) => wait({ failedAttempts: nth + 1 }).waitSeconds)
  expect(waits).toEqual([5, 30, 120, 600, 1_800, 3_600, 3_600, 3_600])
  expect(wait({}, 0).waitSeconds).toBeCloseTo(4)
  expect(wait({}, 1).waitSeconds).toBeCloseTo(6)
  expect(wait({ failedAttempts: 1_000 }, 1).waitSeconds).toBeCloseTo(4_320)
})

test('[HOOK-11] a day without success takes some 28 attempts', () => {
  for (const random of [0, 0.5, 1]) {
    let attempts = 0
    for (let now = 0; now < DAY; attempts++)
      now += wait({ failedAttempts: attempts + 1, failingSeconds: now }, random).waitSeconds
    expect(attempts).toBeGreaterThanOrEqual(24)
    expect(attempts).toBeLessThanOrEqual(35)
  }
})

test('[HOOK-11] after the time to give up it pauses, with the attempt that follows', () => {
  expect(wait({ failingSeconds: 5 * DAY - 1 }).pausedReason).toBe(null)
  expect(wait({ failingSeconds: 5 * DAY })).toEqual({ waitSeconds: 0, pausedReason: 'failing' })
})

test('[HOOK-10] 410 pauses, and Retry-After only lengthens the wait, up to 12 hours', () => {
  expect(wait({ status: 410 })).toEqual({ waitSeconds: 0, pausedReason: 'gone' })
  expect(wait({ retryAfter: 1 }).waitSeconds).toBe(5)
  expect(wait({ retryAfter: 600 }).waitSeconds).toBe(600)
  expect(wait({ retryAfter: 10 * DAY }).waitSeconds).toBe(DAY / 2)
})

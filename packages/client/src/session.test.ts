import { afterEach, expect, test, vi } from 'vitest'
import { OpenSession } from './session.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const DAY_S = 86_400
const tokenFor = (seconds: number) => `x.${btoa(JSON.stringify({ iat: 0, exp: seconds }))}.x`

test.each([
  ['a moment early', 10, 1],
  ['much too early, because none may be longer than 24 days', 100 * DAY_S, 0],
])('[SDK-7] a session is renewed by itself also when its timer comes %s', async (_, lifetime_s, early_ms) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let now = 0
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  const refresh = vi.fn(async () => {})
  const session = new OpenSession({ token: tokenFor(lifetime_s) }, refresh)
  // By the clock the timers come early; all of them together come when four fifths of the time are over.
  for (let n = 0; n < 6 && refresh.mock.calls.length === 0; n++) {
    const before = Math.min(lifetime_s * 800, now + 2 ** 31 - 1)
    now = n === 0 ? before - early_ms : before
    await vi.advanceTimersToNextTimerAsync()
  }
  expect(refresh).toHaveBeenCalledTimes(1)
  expect(now).toBe(lifetime_s * 800)
  session.close()
})

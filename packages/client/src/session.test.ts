import { afterEach, expect, test, vi } from 'vitest'
import { ClientSession } from './session.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const DAY_S = 86_400
const tokenFor = (seconds: number) => `x.${btoa(JSON.stringify({ iat: 0, exp: seconds }))}.x`

test.each([
  ['slightly early', 10, 1],
  ['much too early, because timers are limited to 24 days', 100 * DAY_S, 0],
])('[SDK-7] a session is renewed automatically even if its timer fires %s', async (_, lifetimeS, earlyMs) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let now = 0
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  const refresh = vi.fn(async () => {})
  const session = new ClientSession({ token: tokenFor(lifetimeS) }, refresh)
  // The timers fire early by this clock; the renewal is due when 80 % of the lifetime is over.
  for (let n = 0; n < 6 && refresh.mock.calls.length === 0; n++) {
    const before = Math.min(lifetimeS * 800, now + 2 ** 31 - 1)
    now = n === 0 ? before - earlyMs : before
    await vi.advanceTimersToNextTimerAsync()
  }
  expect(refresh).toHaveBeenCalledTimes(1)
  expect(now).toBe(lifetimeS * 800)
  session.close()
})

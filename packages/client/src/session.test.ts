import { afterEach, expect, test, vi } from 'vitest'
import { createClient } from './client.ts'
import { ClientSession } from './session.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const DAY_S = 86_400
const ACCESS_TOKEN = `lsp_${'a'.repeat(36)}`
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

test('[SDK-7] a token that is about to expire is renewed before a call, also without its timer', async () => {
  let now = 0
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  const renewed = { access_token: tokenFor(200), token_type: 'bearer' as const, sessions_ended_at: null }
  const session: ClientSession = new ClientSession({ token: tokenFor(100) }, async () => session.acceptToken(renewed))
  // Like a page that slept.
  session.close()
  now = 79_000
  expect(await session.freshToken()).toBe(tokenFor(100))
  now = 96_000
  expect(await session.freshToken()).toBe(renewed.access_token)
})

test('[SDK-17] an access token is sent as it is and never renewed, and its rejection ends the session', async () => {
  const sent: [url: string, authorization: string | null][] = []
  const ended = vi.fn()
  const client = createClient({
    baseUrl: 'http://service',
    token: ACCESS_TOKEN,
    onSessionEnd: ended,
    fetch: async (url, init) => {
      const headers = new Headers(init?.headers as Record<string, string>)
      sent.push([url as string, headers.get('authorization')])
      const body = { code: 'not_authenticated', detail: 'Not authenticated.' }
      return sent.length < 3 ? Response.json({ ticket: 'x', expires_in: 30 }) : Response.json(body, { status: 401 })
    },
  })
  expect([client.session.token, client.session.expiresAt]).toEqual([ACCESS_TOKEN, undefined])
  await client.getMe()
  await client.session.renew()
  await client.createTicket()
  await expect(client.getMe()).rejects.toMatchObject({ code: 'not_authenticated' })
  expect(sent).toEqual(
    ['/auth/me', '/auth/ticket', '/auth/me'].map((path) => [`http://service${path}`, `Bearer ${ACCESS_TOKEN}`]),
  )
  expect(ended).toHaveBeenCalledTimes(1)
  expect(client.session.token).toBeUndefined()
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openBrowser } from '@lockstep/testing/browser'
import type { ApiResponse } from '@lockstep/testing/client'
import { PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const APP = 'https://app.example'
const EVIL = 'https://evil.example'

/** One service as in development, one as in production, one that allows pages of all sites. */
let service: TestService
let production: TestService
let open: TestService
let user: TestUser
let own: string
beforeAll(async () => {
  const operated = { ENVIRONMENT: 'production', AUTH_COOKIE: 'true', TOKEN_LIFETIME_SECONDS: '120', RATE_LIMITS: 'off' }
  ;[service, production, open] = await Promise.all([
    startService(),
    startService({ ...operated, CORS_ORIGINS: `${APP}, https://two.example` }),
    startService({ CORS_ORIGINS: '*' }),
  ])
  user = await service.user()
  own = service.baseUrl
})
afterAll(() => Promise.all([service, production, open].map((it) => it.stop())))

const logIn = (at: TestService, { email }: TestUser, headers = {}, fields = {}) =>
  at.anybody.send('login', { body: { username: email, password: PASSWORD, ...fields }, headers })
const asking = { cookie: 'true' as const }

/** The parts of the cookie that a response sets; undefined when it sets none. */
function cookieOf({ headers }: ApiResponse) {
  const [cookie, ...more] = headers.getSetCookie()
  expect(more).toEqual([])
  if (cookie === undefined) return undefined
  const [pair = '', ...attributes] = cookie.split('; ')
  const [name, value = ''] = pair.split('=')
  return { name, value, attributes: attributes.sort() }
}
const tokenOf = ({ body }: ApiResponse) => (body as { access_token: string }).access_token

/** The headers of a browser with the user's cookie. */
const browser = (of = user, headers = {}) => ({ cookie: `svc_auth=${of.api.token}`, ...headers })

describe('the cookie', () => {
  test('[AUTH-13] is not set by default', async () => {
    expect(cookieOf(await logIn(service, user))).toBeUndefined()
    expect(cookieOf(await logIn(service, user, {}, { cookie: 'false' }))).toBeUndefined()
  })

  test('[AUTH-13] is set with cookie=true, and the body still contains the token', async () => {
    const response = await logIn(service, user, {}, asking)
    expect(cookieOf(response)).toEqual({
      name: 'svc_auth',
      value: tokenOf(response),
      attributes: ['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax'],
    })
  })

  test('[AUTH-13] is set at every login when configured, for the token’s lifetime, Secure in production', async () => {
    const response = await logIn(production, await production.user())
    expect(cookieOf(response)).toEqual({
      name: 'svc_auth',
      value: tokenOf(response),
      attributes: ['HttpOnly', 'Max-Age=120', 'Path=/', 'SameSite=Lax', 'Secure'],
    })
  })

  test('[AUTH-13] a failed login sets no cookie', async () => {
    expect(cookieOf(await logIn(service, { ...user, email: 'nobody@example.com' }, {}, asking))).toBeUndefined()
  })

  test('[AUTH-10] authenticates reads and writes', async () => {
    expect(await service.anybody.call('getMe', { headers: browser() })).toMatchObject({ id: user.id })
    await service.anybody.call('createBoard', { body: { title: 'Plan' }, headers: browser() })
  })

  test('[AUTH-10] a bearer token has priority over it, in any case of its scheme', async () => {
    const other = await service.user()
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = browser(user, { authorization: `${scheme} ${other.api.token}` })
      expect(await service.anybody.call('getMe', { headers })).toMatchObject({ id: other.id })
    }
    const headers = { authorization: `Bearer ${other.api.token}`, cookie: 'svc_auth=broken' }
    expect(await service.anybody.call('getMe', { headers })).toMatchObject({ id: other.id })
  })

  test.each(['Bearer broken', 'Bearer', 'bearer', 'Bearer\t', 'Bearer,broken', 'BEARER Basic YTpi'])(
    '[AUTH-10] the header %j is 401 even with a valid cookie',
    async (authorization) => {
      const { status } = await service.anybody.send('getMe', { headers: browser(user, { authorization }) })
      expect(status).toBe(401)
    },
  )

  test.each(['Basic YTpi', 'basic YTpi', 'Digest username="a"', 'Negotiate YII=', 'BearerToken broken', 'broken', ''])(
    '[AUTH-10] [AUTH-15] the header %j counts as none: a valid cookie decides, as without the header',
    async (authorization) => {
      const { anybody } = service
      expect(await anybody.call('getMe', { headers: browser(user, { authorization }) })).toMatchObject({ id: user.id })
      const write = (headers: Record<string, string>) =>
        anybody.send('createBoard', { body: { title: 'Plan' }, headers: browser(user, { authorization, ...headers }) })
      expect((await write({})).status).toBe(201)
      expect((await write({ origin: 'https://evil.example' })).body).toMatchObject({ code: 'foreign_origin' })
      expect((await anybody.send('getMe', { headers: { authorization } })).status).toBe(401)
      expect((await anybody.send('getMe', { headers: { authorization, cookie: 'svc_auth=broken' } })).status).toBe(401)
    },
  )

  test('[AUTH-26] two of them are 401, in any order or header, unless there is a bearer token', async () => {
    const other = await service.user()
    const [mine, theirs] = [user, other].map(({ api }) => `svc_auth=${api.token}`)
    for (const cookie of [`${mine}; ${theirs}`, `${theirs};${mine}`, `${mine}; ${mine}`, `svc_auth=; a=b; ${mine}`]) {
      expect(await service.anybody.fail('getMe', { headers: { cookie } })).toMatchObject({ status: 401 })
      expect(await service.anybody.fail('refresh', { headers: { cookie } })).toMatchObject({ status: 401 })
      const authorization = `Bearer ${other.api.token}`
      expect(await service.anybody.call('getMe', { headers: { cookie, authorization } })).toMatchObject({
        id: other.id,
      })
    }
    const cookie = `a=svc_auth; xsvc_auth=1; ${mine}; svc_authx=2`
    expect(await service.anybody.call('getMe', { headers: { cookie } })).toMatchObject({ id: user.id })
  })

  test('[AUTH-14] logout clears it with the attributes with which it was set', async () => {
    const response = await service.anybody.send('logout', { headers: browser() })
    expect([response.status, response.body]).toEqual([200, { detail: expect.any(String) }])
    const { name, value, attributes = [] } = cookieOf(response) ?? {}
    expect([name, value]).toEqual(['svc_auth', ''])
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'Path=/', 'SameSite=Lax']))
    const expiry = attributes.find((it) => it.startsWith('Expires='))?.slice(8) ?? ''
    expect(attributes.includes('Max-Age=0') || Date.parse(expiry) <= 0).toBe(true)
  })

  test('[AUTH-14] logout leaves a bearer token valid, and requires authentication', async () => {
    await user.api.call('logout', {})
    expect(await user.api.call('getMe', {})).toMatchObject({ id: user.id })
    expect((await service.anybody.fail('logout', {})).status).toBe(401)
  })

  test('[AUTH-25] logout everywhere clears it and revokes every session, and a new login works at once', async () => {
    const leaving = await service.user()
    const other = tokenOf(await logIn(service, leaving))
    const ticket = (await leaving.api.call('createTicket', {})).ticket
    const response = await service.anybody.send('logoutEverywhere', { headers: browser(leaving) })
    expect([response.status, response.body]).toEqual([200, { detail: expect.any(String) }])
    expect(cookieOf(response)).toMatchObject({ name: 'svc_auth', value: '' })
    for (const token of [leaving.api.token, other, ticket]) {
      const headers = { authorization: `Bearer ${token}` }
      for (const name of ['getMe', 'refresh', 'logoutEverywhere'] as const)
        expect((await service.anybody.send(name, { headers })).status).toBe(401)
    }
    const renewed = tokenOf(await logIn(service, leaving))
    await service.anybody.call('getMe', { headers: { authorization: `Bearer ${renewed}` } })
    // Other users stay logged in.
    await user.api.call('getMe', {})
    expect((await service.anybody.fail('logoutEverywhere', {})).status).toBe(401)
  })

  test('[AUTH-20] is renewed by a refresh that was sent with it, and by no other', async () => {
    const renewed = await service.anybody.send('refresh', { headers: browser() })
    expect(cookieOf(renewed)).toEqual({
      name: 'svc_auth',
      value: tokenOf(renewed),
      attributes: ['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax'],
    })
    expect(cookieOf(await user.api.send('refresh', {}))).toBeUndefined()
  })
})

describe('requests that another site makes a browser send', () => {
  const foreign: Record<string, string>[] = [
    { origin: EVIL },
    { origin: 'null' },
    { origin: 'http://127.0.0.1' },
    { origin: 'http://127.0.0.1.evil.example' },
    { origin: APP },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: EVIL, 'sec-fetch-site': 'same-origin' },
  ]
  const refusal = { status: 403, code: 'foreign_origin' }

  test.each(foreign)('[AUTH-15] a write with the cookie is 403 with %j', async (said) => {
    const headers = browser(user, said)
    const body = { title: 'Not wanted' }
    expect(await service.anybody.fail('createBoard', { body, headers })).toMatchObject(refusal)
    expect(await service.anybody.fail('updateMe', { body: { firstname: 'Mallory' }, headers })).toMatchObject(refusal)
    expect(await service.anybody.fail('logout', { headers })).toMatchObject(refusal)
    expect(await service.anybody.fail('refresh', { headers })).toMatchObject(refusal)
    expect(await service.anybody.fail('logoutEverywhere', { headers })).toMatchObject(refusal)
    expect(await user.api.call('getMe', {})).toMatchObject({ firstname: null })
    expect((await user.api.call('listBoards', {})).filter(({ title }) => title === body.title)).toEqual([])
  })

  test.each(foreign)('[AUTH-15] a login that sets the cookie is 403 with %j', async (said) => {
    const response = await logIn(service, user, said, asking)
    expect([response.status, cookieOf(response)]).toEqual([403, undefined])
    expect((await logIn(service, user, said)).status).toBe(200)
  })

  test('[AUTH-15] a login that sets the cookie by default is 403 too', async () => {
    const operated = await production.user()
    expect((await logIn(production, operated, { origin: EVIL })).status).toBe(403)
    expect((await logIn(production, operated, { origin: APP })).status).toBe(200)
  })

  test.each(foreign)('[AUTH-15] reads and bearer tokens are not affected by %j', async (said) => {
    await service.anybody.call('getMe', { headers: browser(user, said) })
    await user.api.call('updateMe', { body: {}, headers: said })
    await user.api.call('updateMe', { body: {}, headers: browser(user, said) })
  })

  test('[AUTH-15] pages of the own site may write and log in', async () => {
    const friendly = [
      {},
      { origin: own },
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      { origin: own, 'sec-fetch-site': 'same-origin' },
    ]
    for (const said of friendly) {
      await service.anybody.call('updateMe', { body: {}, headers: browser(user, said) })
      expect((await logIn(service, user, said, asking)).status).toBe(200)
    }
  })

  test('[AUTH-15] a configured site may write, and a similar one may not', async () => {
    const operated = await production.user()
    const write = async (origin: string) => {
      const headers = browser(operated, { origin, 'sec-fetch-site': 'cross-site' })
      return (await production.anybody.send('updateMe', { body: {}, headers })).status
    }
    expect([await write(APP), await write('https://two.example')]).toEqual([200, 200])
    for (const origin of ['http://app.example', `${APP}:8443`, `${APP}.evil.example`, 'https://sub.app.example', EVIL])
      expect([origin, await write(origin)]).toEqual([origin, 403])
  })

  test('[AUTH-15] where every site may call the API, every site may use the cookie', async () => {
    const anyone = await open.user()
    for (const said of [{ origin: EVIL }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
      await open.anybody.call('updateMe', { body: {}, headers: browser(anyone, said) })
      expect((await logIn(open, anyone, said, asking)).status).toBe(200)
    }
  })

  test('[AUTH-15] the own site is the Host header, also behind a proxy, and X-Forwarded-Host is ignored', async () => {
    const proxied = await startService({ TRUST_PROXY: '1' })
    const visitor = await proxied.user()
    const write = async (said: Record<string, string>) =>
      (await proxied.anybody.send('updateMe', { body: {}, headers: browser(visitor, said) })).status
    const { host } = new URL(proxied.baseUrl)
    const forged = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-host': 'evil.example', origin: EVIL }
    expect(await write(forged)).toBe(403)
    expect((await logIn(proxied, visitor, forged, asking)).status).toBe(403)
    expect(await write({ ...forged, origin: `https://${host}` })).toBe(200)
    // A page that was loaded without TLS may have been changed.
    const https = { 'x-forwarded-proto': 'https' }
    expect(await write({ ...https, origin: `https://${host}` })).toBe(200)
    expect(await write({ ...https, origin: `http://${host}` })).toBe(403)
    expect(await write({ 'x-forwarded-proto': 'http', origin: `http://${host}` })).toBe(200)
    await proxied.stop()
    // Without a trusted proxy the header is ignored.
    const headers = browser(user, { ...https, origin: own })
    await service.anybody.call('updateMe', { body: {}, headers })
  })
})

describe('pages of other sites', () => {
  const preflight = (at: TestService, origin: string) =>
    at.anybody.request('OPTIONS', '/auth/me', {
      headers: {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    })
  const words = (response: ApiResponse, header: string) =>
    (response.headers.get(header) ?? '').toLowerCase().split(/, */).sort()
  const allowedBy = ({ headers }: ApiResponse) => [
    headers.get('access-control-allow-origin'),
    headers.get('access-control-allow-credentials'),
  ]

  test.each([APP, 'https://two.example'])('[REQ-18] may call from %s, which is configured', async (origin) => {
    const asked = await preflight(production, origin)
    expect(asked.status).toBeLessThan(300)
    expect(allowedBy(asked)).toEqual([origin, 'true'])
    expect(words(asked, 'access-control-allow-methods')).toEqual(
      expect.arrayContaining(['get', 'post', 'put', 'patch', 'delete']),
    )
    expect(words(asked, 'access-control-allow-headers')).toEqual(['authorization', 'content-type', 'idempotency-key'])
    // Errors must be readable for the page as well.
    for (const path of ['/health', '/auth/me', '/nowhere'])
      expect(allowedBy(await production.anybody.request('GET', path, { headers: { origin } }))).toEqual([
        origin,
        'true',
      ])
  })

  test('[REQ-18] can read the headers they need', async () => {
    for (const at of [production, open]) {
      const response = await at.anybody.send('getHealth', { headers: { origin: APP } })
      const exposed = words(response, 'access-control-expose-headers')
      expect(exposed).toEqual([
        ...['board-position', 'deprecation', 'etag', 'idempotent-replayed', 'link', 'location', 'preference-applied'],
        ...['ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id'],
      ])
    }
  })

  test.each([EVIL, 'null', 'http://app.example', `${APP}.evil.example`])(
    '[REQ-18] may not call from %s, which is not configured',
    async (origin) => {
      for (const at of [production, service]) {
        const response = await at.anybody.send('getHealth', { headers: { origin } })
        expect(allowedBy(response)[0]).toBeNull()
        expect(allowedBy(await preflight(at, origin))[0]).toBeNull()
      }
    },
  )

  test('[REQ-18] may call from any origin under the wildcard, with the cookie too', async () => {
    for (const origin of [EVIL, 'null', 'http://localhost:3000']) {
      expect(allowedBy(await preflight(open, origin))).toEqual([origin, 'true'])
      for (const path of ['/health', '/auth/me', '/nowhere'])
        expect(allowedBy(await open.anybody.request('GET', path, { headers: { origin } }))).toEqual([origin, 'true'])
    }
    expect(allowedBy(await open.anybody.send('getHealth', {}))).toEqual([null, 'true'])
  })

  test('[REQ-18] under the wildcard, a page of another origin in a browser logs in with the cookie and writes with it', async () => {
    const visitor = await open.user()
    const site = createServer((_request, response) => response.end('<!doctype html>')).listen(0, '127.0.0.1')
    await once(site, 'listening')
    const browser = await openBrowser()
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
    const seen = await page.evaluate(
      async ({ at, email, password }) => {
        const credentials = 'include'
        const form = new URLSearchParams({ username: email, password, cookie: 'true' })
        const login = await fetch(`${at}/auth/login`, { method: 'POST', credentials, body: form })
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify({ firstname: 'Ada' })
        const write = await fetch(`${at}/auth/me`, { method: 'PATCH', credentials, headers, body })
        const { firstname } = (await (await fetch(`${at}/auth/me`, { credentials })).json()) as { firstname: string }
        const logout = await fetch(`${at}/auth/logout`, { method: 'POST', credentials })
        const after = await fetch(`${at}/auth/me`, { credentials })
        return { firstname, statuses: [login, write, logout, after].map(({ status }) => status) }
      },
      { at: open.baseUrl, email: visitor.email, password: PASSWORD },
    )
    expect(seen).toEqual({ firstname: 'Ada', statuses: [200, 200, 200, 401] })
    await browser.close()
    site.close()
  })
})

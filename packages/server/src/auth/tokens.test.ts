import { createHmac } from 'node:crypto'
import { Client } from '@lockstep/testing/client'
import { MARK, PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Tokens } from '../security/tokens.ts'

const SECRET = `${MARK}-signing-secret-that-these-tests-know-0123456789`
const DAY = 86_400
const tokens = new Tokens({ secret: SECRET, algorithm: 'HS256', lifetimeSeconds: 3600 })

let service: TestService
beforeAll(async () => {
  service = await startService({ JWT_SECRET: SECRET })
})
afterAll(() => service.stop())

type Json = Record<string, unknown>
interface Claims extends Json {
  sub: string
  aud: string[]
  iat: number
  exp: number
}
const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')
const decoded = (token: string, part: 0 | 1) =>
  JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString()) as unknown
const claimsOf = (token = '') => decoded(token, 1) as Claims
const now = () => Math.floor(Date.now() / 1000)

/** A token like those of the service, with the given changes. */
function forge(payload: Json, { header = {}, secret = SECRET, hash = 'sha256' } = {}) {
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT', ...header })}.${encoded(payload)}`
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}
const me = (token: string) => new Client(service.baseUrl, token).send('getMe', {})
const withCookie = (token: string) =>
  service.anybody.request('GET', '/auth/me', { headers: { cookie: `svc_auth=${encodeURIComponent(token)}` } })
const statusOf = async (token: string) => (await me(token)).status

describe('a token', () => {
  test('[AUTH-9] is signed with HS256 and has four claims', async () => {
    const { id, api } = await service.user()
    const token = api.token ?? ''
    const { iat } = claimsOf(token)
    expect(decoded(token, 0)).toMatchObject({ alg: 'HS256' })
    expect(claimsOf(token)).toEqual({ sub: id, aud: [expect.any(String)], iat, exp: iat + 3600 })
    expect(Math.abs(iat - now())).toBeLessThan(60)
    expect(forge(claimsOf(token), { header: decoded(token, 0) as Json })).toBe(token)
  })

  test('[AUTH-9] has the same audience for all users', async () => {
    const [one, two] = await Promise.all([service.user(), service.user()])
    expect(claimsOf(one.api.token).aud).toEqual(claimsOf(two.api.token).aud)
  })

  test('[AUTH-9] [AUTH-11] has the configured algorithm and lifetime, and no other algorithm is accepted', async () => {
    const other = await startService({ JWT_SECRET: SECRET, JWT_ALGORITHM: 'HS512', TOKEN_LIFETIME_SECONDS: '90' })
    try {
      const { api } = await other.user()
      const token = api.token ?? ''
      const claims = claimsOf(token)
      expect(decoded(token, 0)).toMatchObject({ alg: 'HS512' })
      expect(claims.exp - claims.iat).toBe(90)
      expect(forge(claims, { header: decoded(token, 0) as Json, hash: 'sha512' })).toBe(token)
      expect((await api.send('getMe', {})).status).toBe(200)
      api.token = forge(claims)
      expect((await api.send('getMe', {})).status).toBe(401)
    } finally {
      await other.stop()
    }
  })

  test('[AUTH-9] expires in its second, also if it was accepted a moment ago', async () => {
    const { api } = await service.user()
    const token = forge({ ...claimsOf(api.token), exp: now() + 2 })
    expect(await statusOf(token)).toBe(200)
    await expect.poll(() => now() >= claimsOf(token).exp).toBe(true)
    expect(await statusOf(token)).toBe(401)
    expect((await withCookie(token)).status).toBe(401)
  })
})

describe('a token that is not ours', () => {
  let user: TestUser
  let real: string
  let claims: Claims
  let parts: [string, string, string]
  beforeAll(async () => {
    user = await service.user()
    real = user.api.token ?? ''
    claims = claimsOf(real)
    parts = real.split('.') as [string, string, string]
  })

  test('[AUTH-11] the forged tokens of these tests are accepted when nothing is wrong with them', async () => {
    expect(await statusOf(forge(claims))).toBe(200)
    expect((await withCookie(forge(claims))).status).toBe(200)
    expect(await statusOf(forge({ ...claims, exp: now() + 60, auth_time: claims.iat, extra: 'claim' }))).toBe(200)
  })

  const headers: Json[] = [
    ...['none', 'None', 'NONE', 'nOnE', '', 'HS384', 'HS512', 'hs256', 'RS256', 'ES256', 'EdDSA'].map((alg) => ({
      alg,
    })),
    { alg: null },
    { alg: ['HS256'] },
    { kid: '../../dev/null' },
    { jku: 'https://evil.example/keys' },
    { x5u: 'https://evil.example/cert' },
    { jwk: { kty: 'oct', k: 'AAAA' } },
    { x5c: ['AAAA'] },
    { crit: ['exp'] },
    { b64: false, crit: ['b64'] },
    { zip: 'DEF' },
  ]
  test.each(headers)('[AUTH-11] [V35] is rejected with the header %j', async (header) => {
    expect(await statusOf(forge(claims, { header }))).toBe(401)
    expect(await statusOf(`${encoded({ typ: 'JWT', alg: 'HS256', ...header })}.${parts[1]}.`)).toBe(401)
  })

  test('[AUTH-11] is rejected with another HMAC of the same secret, or the same HMAC of another secret', async () => {
    expect(await statusOf(forge(claims, { header: { alg: 'HS384' }, hash: 'sha384' }))).toBe(401)
    expect(await statusOf(forge(claims, { header: { alg: 'HS512' }, hash: 'sha512' }))).toBe(401)
    expect(await statusOf(forge(claims, { secret: `${SECRET}.` }))).toBe(401)
    expect(await statusOf(forge(claims, { secret: '' }))).toBe(401)
  })

  const changes: Record<string, (c: Claims) => Json> = {
    'no sub': () => ({ sub: undefined }),
    'no aud': () => ({ aud: undefined }),
    'no iat': () => ({ iat: undefined }),
    'no exp': () => ({ exp: undefined }),
    'sub null': () => ({ sub: null }),
    'an empty sub': () => ({ sub: '' }),
    'a sub that is no UUID': () => ({ sub: 'admin' }),
    'the sub of nobody': () => ({ sub: crypto.randomUUID() }),
    'a NUL in sub': (c) => ({ sub: `${c.sub}\0` }),
    'a list as sub': (c) => ({ sub: [c.sub] }),
    'an object as sub': (c) => ({ sub: { id: c.sub } }),
    'a number as sub': () => ({ sub: 1 }),
    'aud null': () => ({ aud: null }),
    'a string as aud': (c) => ({ aud: c.aud[0] }),
    'an empty aud': () => ({ aud: '' }),
    'no entry in aud': () => ({ aud: [] }),
    'another aud': () => ({ aud: ['another'] }),
    'two entries in aud': (c) => ({ aud: [...c.aud, 'another'] }),
    'a nested aud': (c) => ({ aud: [c.aud] }),
    'an object as aud': (c) => ({ aud: { 0: c.aud[0], length: 1 } }),
    'exp null': () => ({ exp: null }),
    'a string as exp': (c) => ({ exp: String(c.exp) }),
    'a fraction as exp': (c) => ({ exp: c.exp + 0.5 }),
    'exp now': () => ({ exp: now() }),
    'exp a second ago': () => ({ exp: now() - 1 }),
    'exp zero': () => ({ exp: 0 }),
    'exp below zero': () => ({ exp: -1 }),
    'exp beyond all times': () => ({ exp: 1e300 }),
    'iat null': () => ({ iat: null }),
    'a string as iat': (c) => ({ iat: String(c.iat) }),
    'a fraction as iat': (c) => ({ iat: c.iat + 0.5 }),
    'a string as auth_time': (c) => ({ auth_time: String(c.iat) }),
    'nbf in the future': (c) => ({ nbf: c.exp }),
  }
  test.each(Object.entries(changes))('[AUTH-11] [V13] [V35] is rejected with %s', async (_, change) => {
    expect(await statusOf(forge({ ...claims, ...change(claims) }))).toBe(401)
  })

  test('[AUTH-11] is rejected when it was altered after it was signed', async () => {
    const [header, payload, signature] = parts
    const otherUser = encoded({ ...claims, sub: (await service.user()).id })
    // Two bits of the last character are not part of the signature: the token decodes to the same bytes, but is altered.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet[alphabet.indexOf(signature.slice(-1)) ^ 1]
    const altered = [
      [header, otherUser, signature],
      [encoded({ typ: 'JWT', alg: 'HS256', x: 1 }), payload, signature],
      [header, payload, ''],
      [header, payload],
      [header, payload, signature.slice(0, -1)],
      [header, payload, signature.slice(0, -1) + last],
      [header, payload, `${signature}A`],
      [header, payload, `${signature}=`],
      [header, payload, `${signature} `],
      [header, payload, `${signature}\n`],
      [header, payload, `${signature}\0`],
      [header, payload, ` ${signature}`],
      [header, payload, signature, ''],
      [header, payload, signature, signature],
      ['', header, payload, signature],
      [header, '', signature],
      ['', payload, signature],
      ['', '', ''],
    ].map((some) => some.join('.'))
    const accepted = []
    for (const token of altered) {
      // A cookie can contain any character; a header only visible ones.
      const responses = [await withCookie(token), ...(/^[\x21-\x7e]+$/.test(token) ? [await me(token)] : [])]
      if (responses.some(({ status }) => status !== 401)) accepted.push(token)
    }
    expect(accepted).toEqual([])
  })

  test('[AUTH-11] a string that is not a token is rejected', async () => {
    const values = ['', 'Bearer', 'Bearer ', 'Bearer é', `Basic ${parts[1]}`, `Token ${real}`, real, `Bearer ${real} x`]
    const responses = [
      ...[...values, `Bearer ${real},${real}`, `Bearer "${real}"`, `Bearer ${'a'.repeat(8192)}`].map((authorization) =>
        service.anybody.request('GET', '/auth/me', { headers: { authorization } }),
      ),
      ...['', '\0', '😀', '"', '..', '{}', real.repeat(10)].map(withCookie),
      service.anybody.request('GET', '/auth/me', { headers: { cookie: 'svc_auth=%zz' } }),
    ]
    expect(new Set((await Promise.all(responses)).map(({ status }) => status))).toEqual(new Set([401]))
  })

  test('[AUTH-11] a token of 64 KiB is rejected before it is parsed', async () => {
    expect(await statusOf('a'.repeat(65_536))).toBe(431)
  })

  test('[AUTH-11] a request without a credential, or with one only in the URL, is rejected', async () => {
    expect((await service.anybody.send('getMe', {})).status).toBe(401)
    for (const name of ['token', 'access_token', 'svc_auth']) {
      expect((await service.anybody.request('GET', `/auth/me?${name}=${real}`)).status).toBe(401)
    }
  })
})

describe('a user who no longer exists or is inactive', () => {
  test.each([
    ['deactivated', 'update users set is_active = false where id = $1'],
    ['deleted', 'delete from users where id = $1'],
  ])('[AUTH-12] the token of a %s user is rejected on the next request', async (_, change) => {
    const { id, api } = await service.user()
    await api.call('getMe', {})
    await service.sql.query(change, [id])
    for (const name of ['getMe', 'refresh', 'logout', 'listBoards'] as const)
      expect(await api.fail(name, {})).toMatchObject({ status: 401, code: 'not_authenticated' })
  })
})

describe('refreshing', () => {
  test('[AUTH-20] returns a token with full lifetime and the time of the login', async () => {
    const { id, api } = await service.user()
    const claims = claimsOf(api.token)
    const logged_in_at = claims.iat - 1800
    api.token = forge({ ...claims, iat: logged_in_at, exp: claims.iat + 1800 })
    for (let round = 0; round < 2; round++) {
      const { access_token, token_type } = await api.call('refresh', {})
      const { iat, exp, ...others } = claimsOf(access_token)
      expect(token_type).toBe('bearer')
      expect(iat).toBeGreaterThanOrEqual(claims.iat)
      expect(exp).toBe(iat + 3600)
      expect(others).toEqual({ sub: id, aud: claims.aud, auth_time: logged_in_at })
      api.token = access_token
      await api.call('getMe', {})
    }
  })

  test('[AUTH-20] is 401 when the login was more than 30 days ago', async () => {
    const { api } = await service.user()
    const claims = claimsOf(api.token)
    api.token = forge({ ...claims, auth_time: now() - 30 * DAY + 60 })
    await api.call('refresh', {})
    for (const old of [{ auth_time: now() - 30 * DAY - 2 }, { iat: now() - 30 * DAY - 2 }]) {
      api.token = forge({ ...claims, ...old })
      expect(await api.fail('refresh', {})).toMatchObject({ status: 401, code: 'session_too_old' })
      await api.call('getMe', {})
    }
  })

  test('[AUTH-22] [AUTH-20] responses with a token are not cacheable', async () => {
    const { api, email } = await service.user()
    const login = await service.anybody.send('login', { body: { username: email, password: PASSWORD } })
    const refresh = await api.send('refresh', {})
    expect([login, refresh].map(({ headers }) => headers.get('cache-control'))).toEqual(['no-store', 'no-store'])
  })
})

describe('a change of the password', () => {
  const NEW = `${MARK} battery staple`
  let user: TestUser
  /** Another session of the same user, started ten seconds earlier. */
  let elsewhere: Client
  beforeEach(async () => {
    user = await service.user()
    const { iat, ...claims } = claimsOf(user.api.token)
    elsewhere = new Client(service.baseUrl, forge({ ...claims, iat: iat - 10 }))
  })
  const change = (api: Client, current_password: string, new_password: string) =>
    api.send('changePassword', { body: { current_password, new_password } })

  test('[AUTH-19] other tokens are rejected on the next request, but not the one that made the change', async () => {
    await elsewhere.call('getMe', {})
    user.api.token = forge({ ...claimsOf(user.api.token), iat: now() - 20 })
    await change(user.api, PASSWORD, NEW)
    expect((await elsewhere.fail('getMe', {})).status).toBe(401)
    expect((await elsewhere.fail('refresh', {})).status).toBe(401)
    await user.api.call('getMe', {})
    user.api.token = (await user.api.call('refresh', {})).access_token
    await user.api.call('getMe', {})
  })

  test('[AUTH-19] tokens issued in the second of the change are rejected, those of the next second are not', async () => {
    const before = now()
    await change(user.api, PASSWORD, NEW)
    const { rows } = await service.sql.query(
      'select extract(epoch from tokens_valid_from)::float as second from users where id = $1',
      [user.id],
    )
    const { second } = rows[0] as { second: number }
    expect([second % 1, second > before]).toEqual([0, true])
    const claims = claimsOf(user.api.token)
    expect(await statusOf(forge({ ...claims, iat: second, n: 1 }))).toBe(200)
    expect(await statusOf(forge({ ...claims, iat: second - 1, n: 1 }))).toBe(401)
  })

  test('[AUTH-19] of two changes in one second, the second revokes a login after the first', async () => {
    const logIn = async (password: string) =>
      (await service.anybody.call('login', { body: { username: user.email, password } })).access_token
    await change(user.api, PASSWORD, NEW)
    const between = await logIn(NEW)
    // As if the clock had not moved.
    await service.sql.query(
      `update users set tokens_valid_from = clock_timestamp() + interval '1 hour' where id = $1`,
      [user.id],
    )
    const first = await logIn(NEW)
    await change(user.api, NEW, PASSWORD)
    const second = await logIn(PASSWORD)
    expect(await Promise.all([between, first, second].map(statusOf))).toEqual([401, 401, 200])
    await user.api.call('getMe', {})
  })

  test('[AUTH-19] a concurrent refresh and a concurrent login wait for the change, and then respect it', async () => {
    const { token_hash = '' } = (await tokens.verify(user.api.token ?? '')) ?? {}
    const changing = await service.sql.connect()
    try {
      await changing.query('begin')
      // The clock was read an hour ago, and the commit happens now.
      await changing.query(
        `update users set hashed_password = 'another', surviving_token_hash = $2, tokens_valid_from = now() - interval '1 hour' where id = $1`,
        [user.id, token_hash],
      )
      elsewhere.token = forge({ ...claimsOf(user.api.token), iat: now() - 7200 })
      const responses = [
        elsewhere.send('refresh', {}),
        user.api.send('refresh', {}),
        service.anybody.send('login', { body: { username: user.email, password: PASSWORD } }),
      ]
      await expect
        .poll(async () => {
          const waiting = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
          return (await service.sql.query(waiting)).rows[0].n
        })
        .toBe(3)
      await changing.query('commit')
      expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([401, 200, 401])
    } finally {
      changing.release()
    }
  })

  test('[AUTH-19] the next change revokes the token that survived the previous one', async () => {
    const survivor = new Client(service.baseUrl, forge({ ...claimsOf(user.api.token), iat: now() - 20 }))
    await change(survivor, PASSWORD, NEW)
    await survivor.call('getMe', {})
    // The earlier token may have been issued in an earlier second.
    user.api.token = (await user.api.call('login', { body: { username: user.email, password: NEW } })).access_token
    await change(user.api, NEW, PASSWORD)
    expect((await survivor.fail('getMe', {})).status).toBe(401)
    await user.api.call('getMe', {})
  })

  test('[AUTH-19] a change revokes no tokens of other users', async () => {
    const bystander = await service.user()
    bystander.api.token = forge({ ...claimsOf(bystander.api.token), iat: now() - 20 })
    await change(user.api, PASSWORD, NEW)
    await bystander.api.call('getMe', {})
  })
})

describe('a second secret', () => {
  const OTHER = `${MARK}-another-signing-secret-0123456789-abcdef`
  let both: TestService
  beforeAll(async () => {
    both = await startService({ JWT_SECRET: OTHER, JWT_SECRET_PREVIOUS: SECRET }, { beside: service })
  })
  afterAll(() => both.stop())
  const isSignedWith = (token: string, secret: string) =>
    forge(claimsOf(token), { header: decoded(token, 0) as Json, secret }) === token

  test('[CONF-4] is accepted for requests, refreshes, tickets and sockets, and signs nothing', async () => {
    const { id: board_id, owner } = await service.board()
    const old = new Client(both.baseUrl, owner.api.token)
    expect(isSignedWith(old.token ?? '', SECRET)).toBe(true)
    expect((await old.send('getMe', {})).status).toBe(200)
    const { access_token } = await old.call('refresh', {})
    expect(isSignedWith(access_token, OTHER)).toBe(true)
    const { ticket } = await owner.api.call('createTicket', {})
    const { ticket: renewed } = await old.call('createTicket', {})
    expect([isSignedWith(ticket, SECRET), isSignedWith(renewed, OTHER)]).toEqual([true, true])
    for (const token of [old.token, access_token, ticket, renewed].filter((text) => text !== undefined)) {
      const socket = openSocket(old, board_id, { token })
      await socket.next('user_joined')
      socket.terminate()
    }
    // A service with only one secret rejects tokens signed with the other.
    expect(await statusOf(access_token)).toBe(401)
  })

  test('[CONF-4] [AUTH-11] follows the same rules', async () => {
    const { api } = await service.user()
    const claims = claimsOf(api.token)
    const statusAt = async (token: string) => (await new Client(both.baseUrl, token).send('getMe', {})).status
    expect(await statusAt(forge(claims))).toBe(200)
    const forged = [
      forge(claims, { header: { alg: 'none' } }),
      forge(claims, { header: { alg: 'HS512' }, hash: 'sha512' }),
      forge({ ...claims, exp: now() - 1 }),
      forge({ ...claims, aud: ['another'] }),
      forge(claims, { secret: '' }),
      forge(claims, { secret: `${SECRET}${OTHER}` }),
    ]
    for (const token of forged) expect(await statusAt(token)).toBe(401)
  })
})

import { randomBytes } from 'node:crypto'
import { type Failure, form } from '@lockstep/testing/client'
import { MARK, PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HASH_COST } from './passwords.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

/** The fields of a new user. */
const newcomer = () => {
  const username = `new-${randomBytes(5).toString('hex')}`
  return { email: `${username}@example.com`, username, password: PASSWORD }
}
const register = (fields: Record<string, unknown> = {}) =>
  service.anybody.request('POST', '/auth/register', { json: { ...newcomer(), ...fields } })
const logIn = (fields: Record<string, string>) =>
  service.anybody.request('POST', '/auth/login', { raw: form({ username: '', password: PASSWORD, ...fields }) })
/** 254 characters. */
const longest = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.museum`
const wrongFields = (body: unknown) => (body as Failure).errors?.map(({ field }) => field)
const storedUser = async (id: string) => (await service.sql.query('select * from users where id = $1', [id])).rows[0]

describe('registering', () => {
  test('[AUTH-1] [USER-2] returns the public user: active, not verified, not a superuser', async () => {
    const { password: _, ...fields } = newcomer()
    const user = await service.anybody.call('register', { body: { ...fields, password: PASSWORD, firstname: 'Ada' } })
    expect(user).toEqual({
      ...fields,
      id: expect.any(String),
      firstname: 'Ada',
      lastname: null,
      is_active: true,
      is_verified: false,
      is_superuser: false,
    })
  })

  test('[AUTH-1] [V19] other fields of the body are ignored and not stored', async () => {
    const claims = { id: crypto.randomUUID(), is_active: false, is_verified: true, is_superuser: true }
    const { status, body } = await register({ ...claims, hashed_password: 'mine', tokens_valid_from: '2100-01-01' })
    const { id, ...flags } = body as Record<string, unknown>
    expect(status).toBe(201)
    expect(id).not.toBe(claims.id)
    expect(flags).toMatchObject({ is_active: true, is_verified: false, is_superuser: false })
    expect(await storedUser(id as string)).toMatchObject({
      is_active: true,
      is_verified: false,
      is_superuser: false,
      tokens_valid_from: null,
      hashed_password: expect.stringMatching(/^\$argon2id\$/),
    })
  })

  test.each([
    '',
    'plain',
    '@x.example',
    'a@',
    'a@localhost',
    'a b@x.example',
    'a@x..example',
    '.a@x.example',
    'a.@x.example',
    'a..b@x.example',
    'a@-x.example',
    'a@x.example.',
    'a@@x.example',
    'a@x.example\n',
    'a\u0000@x.example',
    `${'a'.repeat(65)}@x.example`,
    `${longest}s`,
    5,
    null,
    ['a@x.example'],
  ])('[AUTH-2] %j is not an e-mail address', async (email) => {
    const { status, body } = await register({ email })
    expect(status).toBe(422)
    expect(wrongFields(body)).toEqual(['email'])
  })

  test.each(['a+tag@x.example', "o'hara@x.example", 'a@deep.below.x.example', 'jürgen@bücher.example', longest])(
    '[AUTH-2] %s is an e-mail address',
    async (email) => {
      expect((await register({ email })).body).toMatchObject({ email })
    },
  )

  test.each(['', ' ', '   ', '\u200b', '\u200b\u200b\u200b', 'x'.repeat(51), 'a\u0000bc', null, 12345, undefined])(
    '[AUTH-2] %j is not a username',
    async (username) => {
      const { status, body } = await register({ username })
      expect(status).toBe(422)
      expect(wrongFields(body)).toEqual(['username'])
    },
  )

  const deceptive: [what: string, name: string][] = [
    ['a zero width space', 'alice\u200b'],
    ['a zero width joiner', 'al\u200dice'],
    ['a soft hyphen', 'al\u00adice'],
    ['a change of direction', '\u202ealice'],
    ['a line break', 'alice\r\nbob'],
    ['a line separator', 'alice\u2028bob'],
    ['an escape', 'alice\u001b[2J'],
    ['a variation selector', 'alice\ufe0f'],
    ['a grapheme joiner', 'al\u034fice'],
    ['an invisible letter', 'alice\u3164'],
    ['an empty Braille cell', 'alice\u2800'],
    ['a tag', 'alice\u{e0061}'],
    ['a space at its end', 'alice '],
    ['a space at its beginning', ' alice'],
    ['a no-break space at its end', 'alice\u00a0'],
    ['an ideographic space at its end', 'alice\u3000'],
    ['a Cyrillic а', '\u0430lice'],
    ['a Greek ο', 'b\u03bfb'],
    ['a micro sign', '\u00b5ser'],
    ['a Cherokee Ꭺ', '\u13aalice'],
    ['an Armenian օ', 'b\u0585b'],
    ['Kana and Hangul', 'さくら은하'],
    ['Cyrillic and Han', 'Иван漢字'],
  ]
  test('[AUTH-28] a long username of two scripts is rejected without backtracking', async () => {
    const began = performance.now()
    expect((await register({ username: `${'1'.repeat(48)}aя` })).status).toBe(422)
    // With backtracking it would take years.
    expect(performance.now() - began).toBeLessThan(20_000)
  })

  test.each(deceptive)('[AUTH-28] a new username must not have %s', async (_, username) => {
    const { status, body } = await register({ username })
    expect([status, wrongFields(body)]).toEqual([422, ['username']])
    const { api } = await service.user()
    expect(await api.fail('updateMe', { body: { username } })).toMatchObject({ status: 422, code: 'invalid_input' })
  })

  test.each([
    ...[
      'Anna-Lena Ødegård',
      'O’Brien_42',
      'Ἀριστοτέλης',
      'Иван Петров',
      'أحمد علي',
      'דוד כהן',
      'अनिल कुमार',
      'สมชาย ใจดี',
    ],
    ...[
      '山田 Taro さん',
      'ハロー Kitty 漢字',
      '김철수 Kim 金',
      '陳大文 ㄅㄆㄇ',
      'გიორგი',
      'Հայկ 1',
      'ᏣᎳᎩ',
      'ⴰⵎⴰⵣⵉⵖ',
      '4711 ✓',
      '🦊 fox',
    ],
  ])('[AUTH-28] %s is a username', async (username) => {
    expect((await register({ username })).body).toMatchObject({ username })
  })

  test('[AUTH-28] a user with such a name from earlier can log in and change everything else', async () => {
    const { id, email, api } = await service.user()
    const username = '\u0430lice\u200b '
    await service.sql.query('update users set username = $2, username_key = $2 where id = $1', [id, username])
    expect((await logIn({ username: email })).status).toBe(200)
    expect(await api.call('updateMe', { body: { firstname: 'Ada' } })).toMatchObject({ username, firstname: 'Ada' })
  })

  test.each(['u', '7', '我', '🦊', 'u1', 'x'.repeat(50), '🦊'.repeat(50), 'spaced out'])(
    '[AUTH-2] %j is a username',
    async (username) => {
      expect((await register({ username })).body).toMatchObject({ username })
    },
  )

  const sameNames = [
    ['another case', 'Anna.Bell', 'aNNA.bELL'],
    ['a ligature', 'finch', '\ufb01nch'],
    ['full width', 'Grete', '\uff27rete'],
    ['a combining accent', 'Ren\u00e9', 'Rene\u0301'],
    ['a final sigma', 'ΟΔΟΣ', 'οδοσ'],
  ] as const
  test.each(sameNames)('[AUTH-3] a username that differs only by %s is taken', async (_, first, second) => {
    expect((await register({ username: first })).status).toBe(201)
    const again = await register({ username: second })
    expect([again.status, again.body]).toEqual([409, expect.objectContaining({ code: 'username_taken' })])
  })
  test.each(sameNames)('[AUTH-3] an e-mail address that differs only by %s is taken', async (_, first, second) => {
    expect((await register({ email: `${first}@mail.example` })).status).toBe(201)
    const again = await register({ email: `${second}@Mail.EXAMPLE` })
    expect([again.status, again.body]).toEqual([409, expect.objectContaining({ code: 'email_taken' })])
  })

  test('[AUTH-3] the address is returned as typed, and accepted in any case at login', async () => {
    const email = 'MiXed.Case@Example.COM'
    expect((await register({ email })).body).toMatchObject({ email })
    expect((await logIn({ username: 'mixed.case@example.com' })).status).toBe(200)
    expect((await logIn({ username: 'MIXED.CASE@EXAMPLE.COM' })).status).toBe(200)
  })

  test('[AUTH-3] of five concurrent registrations with one address or one name, one succeeds', async () => {
    const { email, username } = newcomer()
    for (const shared of [{ email }, { username }]) {
      const responses = await Promise.all([1, 2, 3, 4, 5].map(() => register(shared)))
      expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409, 409, 409, 409])
    }
  })

  test('[AUTH-6] [V19] a closed service rejects registrations', async () => {
    const closed = await startService({ REGISTRATION: 'closed' })
    try {
      const { status, code } = await closed.anybody.fail('register', { body: newcomer() })
      expect([status, code]).toEqual([403, 'registration_closed'])
      expect((await closed.sql.query('select from users')).rowCount).toBe(0)
    } finally {
      await closed.stop()
    }
  })
})

describe('logging in', () => {
  test('[AUTH-7] a form with the e-mail address returns a bearer token that works', async () => {
    const { email, id, api } = await service.user()
    const { status, body } = await logIn({ username: email })
    expect([status, body]).toEqual([
      200,
      { access_token: expect.any(String), token_type: 'bearer', sessions_ended_at: null },
    ])
    api.token = (body as { access_token: string }).access_token
    expect(await api.call('getMe', {})).toMatchObject({ id })
  })

  test('[AUTH-31] login and refresh say when sessions of the user were last ended', async () => {
    const { email, api } = await service.user()
    const timeOf = (token = '') => {
      const { iat } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { iat: number }
      return new Date(iat * 1_000).toISOString()
    }
    const endings: [end: () => Promise<unknown>, password: string][] = [
      [() => api.call('logoutEverywhere', {}), PASSWORD],
      [
        () => api.call('changePassword', { body: { current_password: PASSWORD, new_password: 'another one' } }),
        'another one',
      ],
    ]
    for (const [end, password] of endings) {
      const before = timeOf(api.token)
      await end()
      const { access_token, sessions_ended_at } = await service.anybody.call('login', {
        body: { username: email, password },
      })
      const endedAt = sessions_ended_at ?? ''
      expect([before < endedAt, timeOf(access_token) < endedAt]).toEqual([true, false])
      api.token = access_token
      expect(await api.call('refresh', {})).toMatchObject({ sessions_ended_at })
    }
  })

  test('[AUTH-7] additional fields of the form are ignored', async () => {
    const { email } = await service.user()
    const oauth = { grant_type: 'password', scope: '', client_id: 'docs', client_secret: '' }
    expect((await logIn({ username: email, ...oauth })).status).toBe(200)
  })

  test('[AUTH-7] the username is not accepted instead of the e-mail address', async () => {
    const { username } = await service.user()
    expect((await logIn({ username })).status).toBe(401)
  })

  test('[AUTH-7] anything other than a form with both fields, once each, is 422', async () => {
    const { email } = await service.user()
    const fields = { username: email, password: PASSWORD }
    const { content } = form(fields)
    const rejected = [
      { json: fields },
      { raw: { type: 'text/plain', content } },
      { raw: { content } },
      {},
      { raw: form({ username: email }) },
      { raw: form({ password: PASSWORD }) },
      { raw: { ...form({}), content: `${content}&username=${email}` } },
    ]
    for (const sending of rejected) {
      expect((await service.anybody.request('POST', '/auth/login', sending)).status).toBe(422)
    }
  })

  test.each(['username', 'password'])('[AUTH-7] [REQ-6] a NUL character in %s is 422', async (field) => {
    const { email } = await service.user()
    const { status, body } = await logIn({ username: email, [field]: `${MARK}\0` })
    expect([status, wrongFields(body)]).toEqual([422, [field]])
  })
})

describe('a failed login', () => {
  const WRONG = `${MARK} wrong horse`
  /** The three kinds of failed logins at a service. */
  async function failuresAt({ anybody, sql, user }: TestService) {
    const [active, inactive] = await Promise.all([user(), user()])
    await sql.query('update users set is_active = false where id = $1', [inactive.id])
    const send = (username: string, password: string) => anybody.send('login', { body: { username, password } })
    return {
      unknown: () => send('nobody@example.com', PASSWORD),
      wrong: () => send(active.email, WRONG),
      inactive: () => send(inactive.email, PASSWORD),
    }
  }

  test('[AUTH-8] [V22] has the same response for an unknown address, a wrong password and an inactive user', async () => {
    const failures = await failuresAt(service)
    const responses = await Promise.all(Object.values(failures).map((fail) => fail()))
    const shown = responses.map(({ status, text, headers }) => [status, text, [...headers.keys()]])
    expect(shown[0]?.[0]).toBe(401)
    expect(shown[1]).toEqual(shown[0])
    expect(shown[2]).toEqual(shown[0])
  })

  test('[AUTH-8] [V22] takes the same time for each', async () => {
    // Passwords cost as much as in production: with the cheap ones of other tests, hashing would not be noticed.
    const real = await startService({}, { hashCost: HASH_COST })
    onTestFinished(() => real.stop())
    const failures = await failuresAt(real)
    const times = { unknown: [] as number[], wrong: [] as number[], inactive: [] as number[] }
    // Measured alternately, so that other load of the machine affects all three alike.
    for (let round = 0; round < 21; round++) {
      for (const kind of ['unknown', 'wrong', 'inactive'] as const) {
        const start = performance.now()
        await failures[kind]()
        times[kind].push(performance.now() - start)
      }
    }
    // The fastest of each: other load only makes responses slower.
    const fastest = Object.values(times).map((all) => Math.min(...all))
    // A response without Argon2 would come several times sooner.
    expect(Math.min(...fastest)).toBeGreaterThan(Math.max(...fastest) / 2)
  })
})

describe('the own account', () => {
  test('[AUTH-16] the caller reads their public user', async () => {
    const { api, id, email, username } = await service.user()
    const flags = { firstname: null, lastname: null, is_active: true, is_verified: false, is_superuser: false }
    expect(await api.call('getMe', {})).toEqual({ id, email, username, ...flags })
  })

  test('[AUTH-17] names and username change, and fields that are not sent stay', async () => {
    const { api, id, email } = await service.user()
    const username = newcomer().username
    await api.call('updateMe', { body: { firstname: 'Ada', lastname: 'Byron' } })
    expect(await api.call('updateMe', { body: { username, lastname: null } })).toMatchObject({
      firstname: 'Ada',
      lastname: null,
      username,
    })
    expect(await api.call('getMe', {})).toMatchObject({ id, email, firstname: 'Ada', lastname: null, username })
    expect(await api.call('updateMe', { body: {} })).toMatchObject({ firstname: 'Ada', username })
  })

  test('[AUTH-17] nothing else changes', async () => {
    const { api, id, email } = await service.user()
    const before = await storedUser(id)
    const others = {
      email: 'else@example.com',
      password: `${MARK} else`,
      hashed_password: 'else',
      id: crypto.randomUUID(),
    }
    const flags = { is_active: false, is_verified: true, is_superuser: true }
    const { status } = await api.request('PATCH', '/auth/me', { json: { ...others, ...flags } })
    expect(status).toBe(200)
    expect(await storedUser(id)).toEqual(before)
    expect((await logIn({ username: email })).status).toBe(200)
  })

  test('[AUTH-17] [AUTH-3] a username that is taken, in any case, is 409', async () => {
    const [one, two] = await Promise.all([service.user(), service.user()])
    const { status, code } = await one.api.fail('updateMe', { body: { username: two.username.toUpperCase() } })
    expect([status, code]).toEqual([409, 'username_taken'])
    const own = one.username.toUpperCase()
    expect(await one.api.call('updateMe', { body: { username: own } })).toMatchObject({ username: own })
  })

  test('[AUTH-30] names have no control characters and at most 255 bytes', async () => {
    const { api } = await service.user()
    const fine = ['x'.repeat(255), '山'.repeat(85), '"'.repeat(127), 'Ada "the Countess" O’Neill\u{1F600}', '']
    for (const name of fine)
      expect(await api.call('updateMe', { body: { firstname: name, lastname: name } })).toMatchObject({
        firstname: name,
      })
    const rejected = ['Ada\n', '\u0001', '\u007f', '\u0085', 'x'.repeat(256), '山'.repeat(86), '"'.repeat(128)]
    for (const name of rejected)
      for (const body of [{ firstname: name }, { lastname: name }])
        expect(await api.fail('updateMe', { body }), JSON.stringify(name)).toMatchObject({ status: 422 })
    const account = {
      email: `${crypto.randomUUID()}@example.com`,
      username: `user-${crypto.randomUUID()}`.slice(0, 30),
    }
    const json = { ...account, password: PASSWORD, firstname: 'Ada\u001b' }
    expect(await service.anybody.fail('register', { body: json })).toMatchObject({ status: 422, code: 'invalid_input' })
  })

  test('[AUTH-2] an e-mail address has at most 254 bytes', async () => {
    const domain = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(40)}.example.com`
    const register = (local: string) =>
      service.anybody.send('register', {
        body: { email: `${local}@${domain}`, username: `user-${crypto.randomUUID()}`.slice(0, 30), password: PASSWORD },
      })
    expect((await register('é'.repeat(39))).status).toBe(201)
    expect((await register('é'.repeat(40))).status).toBe(422)
  })

  test.each([{ username: null }, { username: '' }, { username: 'x'.repeat(51) }, { firstname: 5 }])(
    '[AUTH-17] [AUTH-2] %j is 422',
    async (json) => {
      const { api } = await service.user()
      expect((await api.request('PATCH', '/auth/me', { json })).status).toBe(422)
    },
  )
})

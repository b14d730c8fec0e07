import type { ApiResponse, Client, Failure } from '@lockstep/testing/client'
import { MARK, PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { verify } from '@node-rs/argon2'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Problem } from '../platform/problem.ts'
import { HASH_COST, type PasswordRules, Passwords } from './passwords.ts'

let service: TestService
let production: TestService
beforeAll(async () => {
  const operated = { ENVIRONMENT: 'production', RATE_LIMITS: 'off' }
  ;[service, production] = await Promise.all([startService({}, { hashCost: HASH_COST }), startService(operated)])
})
afterAll(() => Promise.all([service.stop(), production.stop()]))

const registerWith = (at: TestService, password: unknown) => {
  const username = `user-${crypto.randomUUID()}`
  return at.anybody.request('POST', '/auth/register', {
    json: { email: `${username}@example.com`, username, password },
  })
}
/** A password with this many characters, each of two UTF-16 units. */
const ofLength = (length: number) => MARK + '🐎'.repeat(length - MARK.length)
const detailOf = ({ body }: ApiResponse) => (body as Failure).detail

describe('rules', () => {
  test('[AUTH-4] a password has at least 1 character in development and 8 in production', async () => {
    const empty = await registerWith(service, '')
    expect([empty.status, detailOf(empty)]).toEqual([422, 'The password must have at least 1 character.'])
    expect((await registerWith(service, '🐎')).status).toBe(201)
    // Too short for the whole mark of test secrets, so it contains a part of it.
    const rejected = await registerWith(production, MARK.slice(0, 7))
    expect([rejected.status, detailOf(rejected)]).toEqual([422, 'The password must have at least 8 characters.'])
    expect((await registerWith(production, MARK.slice(0, 8))).status).toBe(201)
  })

  test('[AUTH-29] in production a common password is rejected, in any case of its letters; in development it is accepted', async () => {
    for (const password of ['password', '12345678', 'PassWord', 'TRUSTNO1', 'qwertyuiop', 'baseball1']) {
      const rejected = await registerWith(production, password)
      expect([password, rejected.status, rejected.body]).toEqual([
        password,
        422,
        expect.objectContaining({ code: 'password_refused', detail: expect.stringContaining('common') }),
      ])
    }
    expect((await registerWith(service, 'password')).status).toBe(201)
    const lax = await startService({ ENVIRONMENT: 'production', REFUSE_COMMON_PASSWORDS: 'off', RATE_LIMITS: 'off' })
    expect((await registerWith(lax, 'password')).status).toBe(201)
    await lax.stop()
  })

  test('[AUTH-29] in production the user’s own username and e-mail address are rejected too, at registration and at a change', async () => {
    const username = `own-name-${crypto.randomUUID().slice(0, 8)}`
    const email = `Local.${username}@example.com`
    const { email: own, api } = await production.user(`${username}-2`)
    for (const password of [username, username.toUpperCase(), email, email.toLowerCase(), `local.${username}`]) {
      const rejected = await production.anybody.send('register', { body: { email, username, password } })
      expect([password, rejected.status, detailOf(rejected)]).toEqual([
        password,
        422,
        'The password must differ from the username and the e-mail address.',
      ])
    }
    const change = (new_password: string) =>
      api.send('changePassword', { body: { current_password: PASSWORD, new_password } })
    for (const password of [own, `${username}-2`, 'password1']) expect((await change(password)).status).toBe(422)
    expect((await change(`${username}-3`)).status).toBe(200)
    const body = { email: `${username}-4@example.com`, username: `${username}-4`, password: `${username}-4` }
    await service.anybody.call('register', { body })
  })

  test('[AUTH-4] a password has at most 128 characters by default', async () => {
    for (const length of [129, 1024]) {
      const rejected = await registerWith(service, ofLength(length))
      expect([rejected.status, detailOf(rejected)]).toEqual([422, 'The password must have at most 128 characters.'])
    }
    expect((await registerWith(service, ofLength(128))).status).toBe(201)
  })

  test.each([`${MARK}\u0000`, `${MARK}\ud800`, 12345678, null, undefined, [PASSWORD]])(
    '[AUTH-4] %j is not a password',
    async (password) => {
      expect((await registerWith(service, password)).status).toBe(422)
    },
  )

  test('[AUTH-4] length and required characters are configurable, and an error names the rule', async () => {
    const strict = await startService({
      PASSWORD_MIN_LENGTH: '20',
      PASSWORD_MAX_LENGTH: '64',
      PASSWORD_REQUIRES: 'upper,digit',
    })
    try {
      const responses: Record<string, ApiResponse> = {}
      for (const password of [ofLength(19), ofLength(65), `${ofLength(20)}A`, `${ofLength(20)}1`, `${ofLength(20)}A1`])
        responses[password] = await registerWith(strict, password)
      expect(Object.values(responses).map(({ status }) => status)).toEqual([422, 422, 422, 422, 201])
      expect(Object.values(responses).slice(0, 4).map(detailOf)).toEqual([
        'The password must have at least 20 characters.',
        'The password must have at most 64 characters.',
        'The password must contain a digit.',
        'The password must contain an upper-case letter.',
      ])
    } finally {
      await strict.stop()
    }
  })

  test.each([
    ['lower', 'HUSH-HUSH 1', 'hush-hush 1'],
    ['upper', 'hush-hush 1', 'hush-hush É'],
    ['digit', 'hush-hush', 'hush-hush ٣'],
    ['symbol', 'hushHush1', 'hush-hush'],
  ] as const)('[AUTH-4] a password without %s is rejected when it is required', (kind, without, having) => {
    const passwords = new Passwords({ ...usual, requires: [kind] })
    expect(() => passwords.requireStrong(without)).toThrow(Problem)
    expect(() => passwords.requireStrong(having)).not.toThrow()
  })

  test('[AUTH-4] [AUTH-18] a change of password follows the rules too', async () => {
    const { api } = await production.user()
    const change = (new_password: string) =>
      api.send('changePassword', { body: { current_password: PASSWORD, new_password } })
    const rejected = await change(MARK.slice(0, 7))
    expect([rejected.status, detailOf(rejected)]).toEqual([422, 'The password must have at least 8 characters.'])
    expect((await change(ofLength(129))).status).toBe(422)
    expect((await change(`${MARK} another`)).status).toBe(200)
  })
})

describe('hashes', () => {
  const storedHash = async (id: string): Promise<string> =>
    (await service.sql.query('select hashed_password from users where id = $1', [id])).rows[0].hashed_password

  test('[AUTH-5] a password is stored only as its own Argon2id hash', async () => {
    const [one, two] = await Promise.all([service.user(), service.user()])
    const hashes = await Promise.all([storedHash(one.id), storedHash(two.id)])
    expect(hashes[0]).toMatch(/^\$argon2id\$v=19\$m=\d{5,},t=\d+,p=\d+\$/)
    expect(hashes[0]).not.toBe(hashes[1])
    expect(await verify(hashes[0], PASSWORD)).toBe(true)
    const { rows } = await service.sql.query('select users::text as row from users')
    expect(rows.map(({ row }) => row).join()).not.toContain(MARK)
  })

  test('[AUTH-5] so is a changed password', async () => {
    const { api, id } = await service.user()
    const new_password = `${MARK} another`
    await api.call('changePassword', { body: { current_password: PASSWORD, new_password } })
    expect(await storedHash(id)).toMatch(/^\$argon2id\$/)
    expect(await verify(await storedHash(id), new_password)).toBe(true)
  })

  test('[AUTH-8] no password is correct for an unknown user', async () => {
    const passwords = new Passwords(usual)
    for (const password of [PASSWORD, '', 'an unknown user has no password'])
      expect(await passwords.isCorrect(undefined, password)).toBe(false)
    expect(await passwords.isCorrect(await passwords.hash(PASSWORD), PASSWORD)).toBe(true)
  })

  test('[REQ-17] [V17] no response contains a hash or a password', async () => {
    const { api, id, email } = await service.user()
    const responses = await Promise.all([
      api.send('getMe', {}),
      api.send('updateMe', { body: { firstname: 'Ada' } }),
      api.send('getUser', { params: { user_id: id } }),
      api.send('findUsers', { query: { search: email } }),
      api.send('createBoard', { body: { title: 'Plan' } }),
      api.send('changePassword', { body: { current_password: `${MARK} wrong`, new_password: PASSWORD } }),
      service.anybody.send('login', { body: { username: email, password: `${MARK} wrong` } }),
      registerWith(service, PASSWORD),
      registerWith(service, ofLength(129)),
      registerWith(service, [PASSWORD]),
    ])
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 201, 400, 401, 201, 422, 422])
    const said = responses.map(({ text, headers }) => text + JSON.stringify([...headers])).join()
    expect(said).not.toMatch(/argon2|hashed_password/i)
    expect(said).not.toContain(MARK)
  })
})

describe('changing the password', () => {
  const NEW = `${MARK} battery staple`
  let user: TestUser
  beforeEach(async () => {
    user = await service.user()
  })
  const change = (api: Client, current_password: string, new_password: string) =>
    api.send('changePassword', { body: { current_password, new_password } })
  const logIn = (password: string) => service.anybody.send('login', { body: { username: user.email, password } })

  test('[AUTH-18] the new password works from then on, the old one does not', async () => {
    const { status, body } = await change(user.api, PASSWORD, NEW)
    expect([status, body]).toEqual([200, { detail: expect.any(String) }])
    expect((await logIn(PASSWORD)).status).toBe(401)
    expect((await logIn(NEW)).status).toBe(200)
  })

  test('[AUTH-18] without the current password it is 400, and nothing changes', async () => {
    const { status, body } = await change(user.api, `${MARK} guess`, NEW)
    expect([status, body]).toEqual([400, expect.objectContaining({ code: 'wrong_password' })])
    await user.api.call('getMe', {})
    expect((await logIn(PASSWORD)).status).toBe(200)
    for (const json of [{ new_password: NEW }, { current_password: PASSWORD }, { current_password: null }])
      expect((await user.api.request('POST', '/auth/change-password', { json })).status).toBe(422)
  })

  test('[AUTH-18] of two concurrent changes one succeeds, and its password is valid', async () => {
    const wanted = [`${MARK} first`, `${MARK} second`]
    const statuses = (await Promise.all(wanted.map((it) => change(user.api, PASSWORD, it)))).map((it) => it.status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 400])
    const logins = await Promise.all(wanted.map(logIn))
    expect(logins.map(({ status }) => status)).toEqual(statuses.map((status) => (status === 200 ? 200 : 401)))
  })
})

const usual: PasswordRules = { minLength: 8, maxLength: 128, requires: [] }

describe('the queue', () => {
  /** Time stands still until the test advances it; hashing continues. */
  const stopTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('[AUTH-21] two passwords are hashed at a time, and after 10 seconds of waiting a password is rejected with 503', async () => {
    stopTime()
    const passwords = new Passwords(usual)
    const results = Promise.allSettled([1, 2, 3, 4, 5].map(() => passwords.hash(PASSWORD)))
    vi.advanceTimersByTime(10_000)
    const [one, two, ...waited] = await results
    expect([one?.status, two?.status]).toEqual(['fulfilled', 'fulfilled'])
    for (const result of waited) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'passwords_busy', status: 503 } })
      expect((result as { reason: Problem }).reason.retryAfterSeconds).toBeGreaterThan(0)
    }
  })

  test('[AUTH-21] a password that has waited less than 10 seconds is hashed, and a rejected one takes no permit', async () => {
    stopTime()
    const passwords = new Passwords(usual)
    const early = [1, 2, 3].map(() => passwords.hash(PASSWORD))
    vi.advanceTimersByTime(5_000)
    const late = [1, 2].map(() => passwords.hash(PASSWORD))
    vi.advanceTimersByTime(5_000)
    const results = await Promise.allSettled([...early, ...late])
    const [done, rejected] = ['fulfilled', 'rejected']
    expect(results.map(({ status }) => status)).toEqual([done, done, rejected, done, done])
    // No permit was lost: two are hashed at a time again.
    const after = Promise.allSettled([1, 2, 3].map(() => passwords.hash(PASSWORD)))
    vi.advanceTimersByTime(10_000)
    expect((await after).map(({ status }) => status)).toEqual([done, done, rejected])
  })

  test('[AUTH-21] a check that fails releases its permit', async () => {
    const passwords = new Passwords(usual)
    const broken = [1, 2, 3, 4].map(() => passwords.isCorrect('no hash at all', PASSWORD))
    expect((await Promise.allSettled(broken)).every(({ status }) => status === 'rejected')).toBe(true)
    expect(await passwords.hash(PASSWORD)).toMatch(/^\$argon2id\$/)
  })

  test('[AUTH-21] a login that waits too long is 503 with Retry-After', async () => {
    const { email } = await service.user()
    const logIn = () => service.anybody.send('login', { body: { username: email, password: PASSWORD } })
    stopTime()
    const logins = Array.from({ length: 20 }, logIn)
    // When the first password is verified, the others have left the database and wait in the queue.
    await Promise.race(logins)
    vi.advanceTimersByTime(10_000)
    const busy = (await Promise.all(logins)).filter(({ body }) => (body as Failure).code === 'passwords_busy')
    expect(busy.length).toBeGreaterThan(0)
    for (const { status, headers } of busy) {
      expect(status).toBe(503)
      expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    }
  })

  test.each(['login', 'register'] as const)(
    '[LOAD-11] passwords of one address do not wait for twenty of another: %s',
    async (operation) => {
      const proxied = await startService({ TRUST_PROXY: '1' }, { hashCost: HASH_COST })
      const { email } = await proxied.user()
      const ended: string[] = []
      const send = async (address: string) => {
        const username = `user-${crypto.randomUUID()}`
        const newUser = { email: `${username}@example.com`, username, password: PASSWORD }
        const body = operation === 'login' ? { username: email, password: PASSWORD } : newUser
        await proxied.anybody.call(operation, { body: body as never, headers: { 'x-forwarded-for': address } })
        ended.push(address)
      }
      const many = Array.from({ length: 20 }, () => send('192.0.2.1'))
      await Promise.race(many)
      await send('192.0.2.2')
      expect(ended.length).toBeLessThan(10)
      await Promise.all(many)
      await proxied.stop()
    },
  )

  test('[AUTH-21] other requests are handled while twenty users log in', async () => {
    const { email, api } = await service.user()
    let underWay = 0
    const logIn = async () => {
      underWay++
      await service.anybody.call('login', { body: { username: email, password: PASSWORD } })
      underWay--
    }
    const logins = Array.from({ length: 20 }, logIn)
    await Promise.race(logins)
    await api.call('getMe', {})
    await service.anybody.call('getHealth', {})
    expect(underWay).toBeGreaterThan(0)
    await Promise.all(logins)
  })
})

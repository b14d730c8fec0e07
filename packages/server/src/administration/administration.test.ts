import { readFile } from 'node:fs/promises'
import { Client } from '@lockstep/testing/client'
import { MARK, PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Database } from '../database/database.ts'
import { deleteExpiredEvents } from '../jobs/retention.ts'
import { startDayOfStatistics } from './statistics-queries.ts'

let service: TestService
let root: TestUser
beforeAll(async () => {
  service = await startService({
    ADMIN_API: 'on',
    RATE_LIMITS: 'on',
    MAX_FAILED_LOGINS: '2',
    PASSWORD_MIN_LENGTH: '8',
    JWT_SECRET: SECRET,
  })
  root = await superuser()
})
afterAll(() => service.stop())

const SECRET = `${MARK}-administration-${crypto.randomUUID()}`
const NEW = `${MARK} a new horse`
async function superuser(): Promise<TestUser> {
  const user = await service.user()
  await service.sql.query('update users set is_superuser = true where id = $1', [user.id])
  return user
}
const of = ({ id }: { id: string }) => ({ user_id: id })
const entriesAbout = async ({ id }: { id: string }) =>
  (
    await service.sql.query(
      'select action, actor_id, operator, details from admin_actions where target_id = $1 order by id',
      [id],
    )
  ).rows
const logIn = (email: string, password: string) =>
  service.anybody.send('login', { body: { username: email, password } })

describe('access', () => {
  test('[ADMIN-2] without ADMIN_API=on, paths under /admin do not exist, even for superusers', async () => {
    const off = await startService({ JWT_SECRET: SECRET }, { beside: service })
    try {
      for (const [method, path] of [
        ['GET', '/admin/users'],
        ['GET', '/admin/statistics'],
        ['GET', '/api/admin/audit'],
        ['DELETE', `/admin/users/${root.id}`],
      ] as const) {
        const headers = { authorization: `Bearer ${root.api.token}` }
        const known = await off.anybody.request(method, path, { headers })
        const unknown = await off.anybody.request(method, '/no/such/path', { headers })
        expect([known.status, known.body]).toEqual([404, unknown.body])
        expect(await off.anybody.request(method, path)).toMatchObject({ status: 404 })
      }
    } finally {
      await off.stop()
    }
  })

  test('[ADMIN-1] a superuser whose rights are revoked is rejected from the next request on', async () => {
    const other = await superuser()
    expect(await other.api.call('getAccount', { params: of(root) })).toMatchObject({ id: root.id })
    await root.api.call('updateAccount', { params: of(other), body: { is_superuser: false } })
    expect(await other.api.fail('getAccount', { params: of(root) })).toMatchObject({
      status: 403,
      code: 'superuser_only',
    })
    // Checked before the lookup, so that existing users cannot be discovered here.
    const nobody = { user_id: crypto.randomUUID() }
    expect(await other.api.fail('getAccount', { params: nobody })).toMatchObject({ code: 'superuser_only' })
  })

  test('[ADMIN-1] [AUTH-24] superuser rights give no access to boards', async () => {
    const board = await service.board()
    expect(await root.api.fail('getBoard', { params: { board_id: board.id } })).toMatchObject({ code: 'not_a_member' })
  })
})

describe('accounts', () => {
  test('[ADMIN-3] are listed in pages, including inactive ones, and found by a part of a name or address', async () => {
    const mark = crypto.randomUUID().slice(0, 8)
    const made: TestUser[] = []
    for (const name of ['one', 'two', 'thr']) made.push(await service.user(`${mark}-${name}`))
    await root.api.call('updateAccount', { params: of(made[1] as TestUser), body: { is_active: false } })
    const found: string[] = []
    let path: string | undefined = `/admin/users?search=${mark.toUpperCase()}&limit=2`
    for (let pages = 0; path !== undefined; pages++) {
      const { body, headers } = await root.api.request('GET', path)
      found.push(...(body as { id: string }[]).map(({ id }) => id))
      path = /<(.+)>/.exec(headers.get('link') ?? '')?.[1]
      expect(pages).toBeLessThan(2)
    }
    expect(found).toEqual(made.map(({ id }) => id).sort())
    const [first] = await root.api.call('findAccounts', { query: { search: `${mark}-two@ex` } })
    expect(first).toMatchObject({ id: made[1]?.id, is_active: false, erased_at: null, created_at: expect.any(String) })
    expect(await root.api.call('findAccounts', { query: { search: '%_%' } })).toEqual([])
    expect((await root.api.call('findAccounts', {})).length).toBeGreaterThan(3)
  })

  test('[ADMIN-3] an unknown account is 404', async () => {
    const params = { user_id: crypto.randomUUID() }
    for (const name of ['getAccount', 'exportAccount', 'eraseAccount'] as const)
      expect(await root.api.fail(name, { params })).toMatchObject({ status: 404, code: 'user_not_found' })
  })

  test('[ADMIN-4] [ADMIN-12] [AUTH-31] a deactivated user is rejected, their socket closes, each change is recorded, and a reactivation does not restore the session', async () => {
    const { id, member } = await service.board()
    const socket = openSocket(member.api, id)
    await socket.next('user_joined')
    const change = (body: { is_active?: boolean; is_superuser?: boolean }) =>
      root.api.call('updateAccount', { params: of(member), body })
    expect(await change({ is_active: false })).toMatchObject({ id: member.id, is_active: false })
    expect((await socket.closed).code).toBe(1008)
    expect((await member.api.send('getMe', {})).status).toBe(401)
    expect(await change({ is_active: false })).toMatchObject({ is_active: false })
    expect(await change({})).toMatchObject({ is_active: false })
    expect(await change({ is_active: true, is_superuser: true })).toMatchObject({ is_active: true, is_superuser: true })
    expect((await member.api.send('getMe', {})).status).toBe(401)
    const entry = { action: 'change-account', actor_id: root.id, operator: null }
    expect(await entriesAbout(member)).toEqual([
      { ...entry, details: { is_active: false } },
      { ...entry, details: { is_active: true, is_superuser: true } },
    ])
    const again = await service.anybody.call('login', { body: { username: member.email, password: PASSWORD } })
    expect(again.sessions_ended_at).not.toBeNull()
  })
})

describe('the own account', () => {
  test('[ADMIN-5] a superuser cannot deactivate their own account, and the rejection is not recorded', async () => {
    const rejected = [
      await root.api.fail('updateAccount', { params: of(root), body: { is_active: false } }),
      await root.api.fail('updateAccount', { params: of(root), body: { is_superuser: false } }),
      await root.api.fail('resetPassword', { params: of(root), body: { new_password: NEW } }),
      await root.api.fail('eraseAccount', { params: of(root) }),
    ]
    for (const problem of rejected) expect(problem).toMatchObject({ status: 409, code: 'own_account' })
    expect(await entriesAbout(root)).toEqual([])
    expect((await root.api.call('exportAccount', { params: of(root) })).profile.id).toBe(root.id)
  })

  test('[ADMIN-5] of two superusers who deactivate each other at once, one remains', async () => {
    for (let i = 0; i < 5; i++) {
      const [a, b] = [await superuser(), await superuser()]
      const body = { is_superuser: false }
      const responses = await Promise.all([
        a.api.send('updateAccount', { params: of(b), body }),
        b.api.send('updateAccount', { params: of(a), body }),
      ])
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 403]))
    }
  })
})

describe('a password that is reset', () => {
  test('[ADMIN-6] [AUTH-4] a reset revokes every token, closes sockets, and lifts the limit on failed logins', async () => {
    const { id, member } = await service.board()
    const socket = openSocket(member.api, id)
    await socket.next('user_joined')
    for (let i = 0; i < 2; i++) expect((await logIn(member.email, `${MARK} wrong`)).status).toBe(401)
    expect((await logIn(member.email, PASSWORD)).status).toBe(429)

    const weak = await root.api.fail('resetPassword', { params: of(member), body: { new_password: 'short' } })
    expect(weak).toMatchObject({ status: 422, code: 'password_refused' })
    // Including a token that was issued in the second of the reset.
    member.api.token = (await member.api.call('refresh', {})).access_token
    await root.api.call('resetPassword', { params: of(member), body: { new_password: NEW } })
    expect((await socket.closed).code).toBe(1008)
    expect((await member.api.send('getMe', {})).status).toBe(401)
    expect((await logIn(member.email, PASSWORD)).status).toBe(401)
    const { body } = await logIn(member.email, NEW)
    const { access_token } = body as { access_token: string }
    const fresh = new Client(service.baseUrl, access_token)
    expect((await fresh.send('getMe', {})).status).toBe(200)
    fresh.token = (await fresh.call('refresh', {})).access_token
    expect((await fresh.send('getMe', {})).status).toBe(200)
    expect(await entriesAbout(member)).toEqual([
      { action: 'reset-password', actor_id: root.id, operator: null, details: {} },
    ])
  })
})

describe('a new account', () => {
  test('[ADMIN-17] is created by a superuser while registration is closed, and recorded without a name', async () => {
    const closed = await startService(
      { ADMIN_API: 'on', REGISTRATION: 'closed', PASSWORD_MIN_LENGTH: '8', JWT_SECRET: SECRET },
      { beside: service },
    )
    try {
      const api = new Client(closed.baseUrl, root.api.token)
      const username = `made-${crypto.randomUUID()}`
      const body = { email: `${username}@example.com`, username, password: NEW, firstname: 'Ada' }
      expect(await closed.anybody.fail('register', { body })).toMatchObject({ code: 'registration_closed' })
      const weak = await api.fail('createAccount', { body: { ...body, password: 'short' } })
      expect(weak).toMatchObject({ status: 422, code: 'password_refused' })
      const account = await api.call('createAccount', { body })
      expect(account).toMatchObject({ username, firstname: 'Ada', is_verified: false, is_superuser: false })
      expect(await api.fail('createAccount', { body })).toMatchObject({ status: 409 })
      expect((await logIn(body.email, NEW)).status).toBe(200)
      expect(await entriesAbout(account)).toEqual([
        { action: 'create-user', actor_id: root.id, operator: null, details: {} },
      ])
    } finally {
      await closed.stop()
    }
  })
})

describe('a reset link', () => {
  const linkFor = async (user: TestUser) => {
    const { link } = await root.api.call('createResetLink', { params: of(user) })
    expect(link).toMatch(/^\/app\/reset#[\w-]{43}$/)
    return link.split('#')[1] as string
  }
  const use = (token: string, new_password = NEW) =>
    service.anybody.send('resetPasswordByLink', { body: { token, new_password } })
  const INVALID = { status: 404, body: { code: 'link_invalid' } }

  test('[ADMIN-18] sets a new password once, revokes all tokens and closes sockets', async () => {
    const { id, member } = await service.board()
    const socket = openSocket(member.api, id)
    await socket.next('user_joined')
    const accessToken = await member.api.call('createToken', { body: { name: 'bot', scope: 'read' } })
    const token = await linkFor(member)
    expect(await use(token, 'short')).toMatchObject({ status: 422, body: { code: 'password_refused' } })
    expect((await member.api.send('getMe', {})).status).toBe(200)
    expect(await use(token)).toMatchObject({ status: 200 })
    expect((await socket.closed).code).toBe(1008)
    expect((await member.api.send('getMe', {})).status).toBe(401)
    expect((await new Client(service.baseUrl, accessToken.token).send('getMe', {})).status).toBe(401)
    expect((await logIn(member.email, NEW)).status).toBe(200)
    expect(await use(token)).toMatchObject(INVALID)
    expect(await entriesAbout(member)).toMatchObject([
      { action: 'create-token' },
      { action: 'create-reset-link', actor_id: root.id, operator: null, details: {} },
      { action: 'reset-password-by-link', actor_id: member.id, operator: null, details: { revoked_tokens: 1 } },
    ])
  })

  test('[ADMIN-18] of two uses at the same moment, one succeeds', async () => {
    const user = await service.user()
    const token = await linkFor(user)
    const responses = await Promise.all([use(token, `${NEW} one`), use(token, `${NEW} two`)])
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 404])
  })

  test('[ADMIN-18] ends when it expires, when the password changes, with a newer link, and with the rights of its superuser', async () => {
    const user = await service.user()
    const expired = await linkFor(user)
    await service.sql.query('update password_reset_links set expires_at = now() where user_id = $1', [user.id])
    expect(await use(expired)).toMatchObject(INVALID)
    const replaced = await linkFor(user)
    const current = await linkFor(user)
    expect(await use(replaced)).toMatchObject(INVALID)
    await user.api.call('changePassword', { body: { current_password: PASSWORD, new_password: `${NEW} changed` } })
    expect(await use(current)).toMatchObject(INVALID)
    const other = await service.user()
    await service.sql.query('update users set is_superuser = true where id = $1', [other.id])
    const { link } = await other.api.call('createResetLink', { params: of(user) })
    await service.sql.query('update users set is_superuser = false where id = $1', [other.id])
    expect(await use(link.split('#')[1] ?? '')).toMatchObject(INVALID)
    const ofInactive = await linkFor(user)
    await root.api.call('updateAccount', { params: of(user), body: { is_active: false } })
    expect(await use(ofInactive)).toMatchObject(INVALID)
  })

  test('[ADMIN-18] is stored as a hash, returned once without being cached, and not available for the own account', async () => {
    const user = await service.user()
    const { headers, body } = await root.api.send('createResetLink', { params: of(user) })
    expect(headers.get('cache-control')).toBe('no-store')
    const { link } = body as { link: string }
    const { rows } = await service.sql.query('select t::text as text from password_reset_links t where user_id = $1', [
      user.id,
    ])
    expect(rows[0].text).not.toContain(link.split('#')[1])
    expect(await root.api.fail('createResetLink', { params: of(root) })).toMatchObject({ code: 'own_account' })
  })
})

describe('statistics', () => {
  test('[ADMIN-7] count users, boards, cards, events and files, in total and for the last seven days', async () => {
    const before = await root.api.call('getStatistics', {})
    const { id: board_id, owner, columns } = await service.board()
    const params = { board_id, column_id: columns[0].id }
    const card = await owner.api.call('createCard', { params, body: { title: 'Card' } })
    const file = new Blob(['12345'])
    await owner.api.call('createAttachment', { params: { card_id: card.id }, body: { file } })
    const after = await root.api.call('getStatistics', {})
    expect(after).toMatchObject({
      users: { ...before.users, active: before.users.active + 2 },
      boards: before.boards + 1,
      cards: before.cards + 1,
      events: { count: before.events.count + 5 },
      attachments: { count: before.attachments.count + 1, bytes: before.attachments.bytes + 5 },
    })
    expect(after.database_bytes).toBeGreaterThan(1_000_000)
    expect(after.days).toHaveLength(7)
    const sum = (all: typeof after, name: 'users' | 'boards' | 'cards' | 'events') =>
      all.days.reduce((total, day) => total + day[name], 0)
    const news = (['users', 'boards', 'cards', 'events'] as const).map((name) => sum(after, name) - sum(before, name))
    expect(news).toEqual([2, 1, 1, 5])
  })

  test('[ADMIN-7] count what is created on each day from what there was when it began, also what is deleted since', async () => {
    const { sql } = service
    const { days: before } = await root.api.call('getStatistics', {})
    const { id: board_id, owner, columns } = await service.board()
    const body = { title: 'Card' }
    const card = await owner.api.call('createCard', { params: { board_id, column_id: columns[0].id }, body })
    await owner.api.call('deleteCard', { params: { card_id: card.id } })
    await owner.api.call('deleteBoard', { params: { board_id } })
    const { days } = await root.api.call('getStatistics', {})
    const [today, yesterday] = days as [(typeof days)[number], (typeof days)[number]]
    expect([today.users, today.boards, today.cards, today.events]).toEqual([
      (before[0]?.users ?? 0) + 2,
      (before[0]?.boards ?? 0) + 1,
      (before[0]?.cards ?? 0) + 1,
      (before[0]?.events ?? 0) + 6,
    ])
    expect(today.date).toBe(new Date().toISOString().slice(0, 10))
    // As if the service had been started yesterday.
    await sql.query('update daily_totals set day = day - 1')
    expect((await root.api.call('getStatistics', {})).days[1]).toEqual({ ...today, date: yesterday.date })
    const database = new Database({ url: service.databaseUrl, size: 1, onError: () => {} })
    await startDayOfStatistics(database)
    await service.user()
    // Only the first run of a day counts.
    await startDayOfStatistics(database)
    await database.close()
    const { days: after } = await root.api.call('getStatistics', {})
    expect(after.slice(0, 2)).toEqual([
      { date: today.date, users: 1, boards: 0, cards: 0, events: 0 },
      { ...today, date: yesterday.date },
    ])
  })
})

describe('the number of events', () => {
  const counted = async () => (await root.api.call('getStatistics', {})).events.count
  const stored = async () =>
    (await service.sql.query<{ count: number }>('select count(*)::int as count from board_events')).rows[0]?.count

  test('[ADMIN-7] is what the log has, after events expired and boards were deleted', async () => {
    const { id: board_id, owner } = await service.board()
    expect(await counted()).toBe(await stored())
    await owner.api.call('deleteBoard', { params: { board_id } })
    expect(await counted()).toBe(await stored())
    const other = await service.board()
    await service.sql.query(
      `update board_events set created_at = now() - interval '10 years' where board_id = $1 and seq < 3`,
      [other.id],
    )
    const database = new Database({ url: service.databaseUrl, size: 1, onError: () => {} })
    expect(await deleteExpiredEvents(database, 90)).toBeGreaterThan(0)
    await database.close()
    expect(await counted()).toBe(await stored())
  })
})

describe('the audit log', () => {
  test('[ADMIN-12] is read in pages, newest first, and contains actor, action and target without names', async () => {
    const people = [await service.user(), await service.user(), await service.user()]
    for (const person of people) await root.api.call('exportAccount', { params: of(person) })
    const { body, headers } = await root.api.send('listAdminActions', { query: { limit: 2 } })
    const entries = body as { id: number; target_id: string; action: string; actor_id: string }[]
    expect(entries.map(({ target_id }) => target_id)).toEqual([people[2]?.id, people[1]?.id])
    expect(entries[0]).toMatchObject({ action: 'export', actor_id: root.id, operator: null, details: {} })
    const [, next = ''] = /<(.+)>; rel="next"/.exec(headers.get('link') ?? '') ?? []
    const older = (await root.api.request('GET', next)).body as { target_id: string }[]
    expect(older[0]?.target_id).toBe(people[0]?.id)
    const newest = await root.api.call('listAdminActions', {
      query: { limit: 1, cursor: `${Number.MAX_SAFE_INTEGER}_${root.id}` },
    })
    expect(newest).toMatchObject([{ target_id: people[2]?.id }])
    const { rows } = await service.sql.query('select t::text as text from admin_actions t')
    for (const { text } of rows) expect(text).not.toMatch(/@|user-/)
  })

  test('[ADMIN-12] is append-only', async () => {
    for (const change of [
      `update admin_actions set action = 'x'`,
      'delete from admin_actions',
      'truncate admin_actions',
    ])
      await expect(service.sql.query(change)).rejects.toThrow('admin_actions is append-only')
  })

  test('[ADMIN-12] an action that cannot be recorded is not done', async () => {
    const person = await service.user()
    await service.sql.query(
      `alter table admin_actions add constraint full_disk check (action <> 'change-account') not valid`,
    )
    try {
      // Without the test client, which fails on a 500.
      const response = await fetch(`${service.baseUrl}/admin/users/${person.id}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${root.api.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ is_active: false }),
      })
      expect(response.status).toBe(500)
      expect((await person.api.send('getMe', {})).status).toBe(200)
    } finally {
      await service.sql.query('alter table admin_actions drop constraint full_disk')
    }
  })
})

describe('what else is recorded', () => {
  test('[ADMIN-15] logins of superusers, and of no one else', async () => {
    const [admin, user] = [await superuser(), await service.user()]
    for (const { email } of [admin, user]) expect((await logIn(email, PASSWORD)).status).toBe(200)
    expect((await logIn(admin.email, NEW)).status).toBe(401)
    expect(await entriesAbout(admin)).toEqual([{ action: 'login', actor_id: admin.id, operator: null, details: {} }])
    expect(await entriesAbout(user)).toEqual([])
  })

  test('[ADMIN-15] password changes, and no failed ones', async () => {
    const user = await service.user()
    const change = (current_password: string) =>
      user.api.send('changePassword', { body: { current_password, new_password: NEW } })
    expect((await change(`${PASSWORD} wrong`)).status).toBe(400)
    expect((await change(PASSWORD)).status).toBe(200)
    const entry = { action: 'change-password', actor_id: user.id, operator: null, details: {} }
    expect(await entriesAbout(user)).toEqual([entry])
  })

  test('[ADMIN-15] members that a superuser changes, and no others', async () => {
    const [admin, other] = [await superuser(), await service.user()]
    const { id: board_id } = await admin.api.call('createBoard', { body: { title: 'Plan' } })
    const params = { board_id, ...of(other) }
    await admin.api.call('inviteMember', { params: { board_id }, body: of(other) })
    await admin.api.fail('inviteMember', { params: { board_id }, body: of(other) })
    await admin.api.call('updateMember', { params, body: { role: 'owner' } })
    await admin.api.call('updateMember', { params, body: { role: 'owner' } })
    await admin.api.call('removeMember', { params })
    const by = { actor_id: admin.id, operator: null }
    expect(await entriesAbout(other)).toEqual([
      { action: 'add-member', ...by, details: { board_id } },
      { action: 'change-role', ...by, details: { board_id, role: 'owner' } },
      { action: 'remove-member', ...by, details: { board_id } },
    ])
    const { member } = await service.board()
    expect(await entriesAbout(member)).toEqual([])
  })

  test('[ADMIN-16] a failed login is logged with a hash of the account', async () => {
    const { email } = await service.user()
    const accounts = async () =>
      (await readFile(service.logFile, 'utf8'))
        .split('\n')
        .filter((line) => line.includes('"msg":"login failed"'))
        .map((line) => JSON.parse(line) as { account: string; address: string; request_id: string })
    const before = (await accounts()).length
    for (const name of [email, email.toUpperCase(), `other-${email}`])
      expect((await logIn(name, `${PASSWORD} wrong`)).status).toBe(401)
    await vi.waitFor(async () => expect(await accounts()).toHaveLength(before + 3))
    const [first, second, third] = (await accounts()).slice(before)
    expect(first).toMatchObject({ account: expect.stringMatching(/^[\w-]{22}$/), address: '127.0.0.1' })
    expect([second?.account, third?.account === first?.account]).toEqual([first?.account, false])
    expect(await readFile(service.logFile, 'utf8')).not.toContain(email)
  })
})

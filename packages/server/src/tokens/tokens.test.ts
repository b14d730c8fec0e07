import { readFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { operations } from '@lockstep/contract'
import type { Operation, Scope } from '@lockstep/contract/operation'
import type { NewAccessToken } from '@lockstep/contract/tokens'
import { Client, type Inputs, type Operations } from '@lockstep/testing/client'
import { MARK, PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { startProxy } from '@lockstep/testing/tcp-proxy'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newAccessToken } from '../security/access-tokens.ts'
import { Tokens } from '../security/tokens.ts'
import { deleteExpiredTokens } from './token-queries.ts'

const SECRET = `${MARK}-access-tokens-${crypto.randomUUID()}`
let service: TestService
beforeAll(async () => {
  service = await startService({ ADMIN_API: 'on', JWT_SECRET: SECRET })
})
afterAll(() => service.stop())

const sessions = new Tokens({ secret: SECRET, algorithm: 'HS256', lifetimeSeconds: 3_600 })
const nowSeconds = () => Math.floor(Date.now() / 1_000)

type NewToken = Inputs<Operations['createToken']>['body']
const create = ({ api }: TestUser, fields: Partial<NewToken> = {}): Promise<NewAccessToken> =>
  api.call('createToken', { body: { name: 'Bot', scope: 'write', ...fields } })
const as = ({ token }: { token: string }, at = service) => new Client(at.baseUrl, token)
const rowOf = async ({ id }: { id: string }) =>
  (await service.sql.query('select * from access_tokens where id = $1', [id])).rows[0]
const entriesAbout = async ({ id }: { id: string }) =>
  (
    await service.sql.query('select action, actor_id, details from admin_actions where target_id = $1 order by id', [
      id,
    ])
  ).rows
async function superuser() {
  const user = await service.user()
  await service.sql.query('update users set is_superuser = true where id = $1', [user.id])
  return user
}

describe('creating a token', () => {
  test('[TOKEN-1] [TOKEN-5] [TOKEN-14] the token is returned once, acts as its user, and only its hash is stored', async () => {
    const { owner, id: board_id } = await service.board()
    const { headers, body } = await owner.api.send('createToken', { body: { name: 'Bot', scope: 'write' } })
    expect(headers.get('cache-control')).toBe('no-store')
    const { token, ...created } = body as NewAccessToken
    expect(created).toMatchObject({ name: 'Bot', scope: 'write', board_id: null, hint: token.slice(-4) })
    const days = (Date.parse(created.expires_at ?? '') - Date.parse(created.created_at)) / 86_400_000
    expect(Math.round(days)).toBe(90)
    expect(await owner.api.call('listTokens', {})).toEqual([created])
    const column = await as({ token }).call('createColumn', { params: { board_id }, body: { title: 'By a bot' } })
    const { rows } = await service.sql.query(
      `select user_id from board_events where board_id = $1 and body like '%' || $2 || '%'`,
      [board_id, column.id],
    )
    expect(rows).toEqual([{ user_id: owner.id }])
    expect((await rowOf(created)).hash).toHaveLength(32)
  })

  test('[TOKEN-6] a token has its documented form, and a malformed one is rejected without a statement', async () => {
    const { owner, id: board_id } = await service.board()
    const { token } = await create(owner)
    const ofBoard = await create(owner, { board_id })
    expect([token, ofBoard.token]).toEqual([
      expect.stringMatching(/^lsp_[0-9A-Za-z]{36}$/),
      expect.stringMatching(/^lsb_[0-9A-Za-z]{36}$/),
    ])
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const checksum = Array.from(token.slice(34)).reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
    expect(checksum).toBe(crc32(token.slice(4, 34)))

    const proxy = await startProxy(service.databaseUrl)
    const counted = await startService({ DATABASE_URL: proxy.url, JWT_SECRET: SECRET })
    const swapped = token.replace(/^(lsp_)(.)/, (_, prefix, first) => prefix + (first === 'A' ? 'B' : 'A'))
    const malformed = [swapped, `${token}0`, token.slice(0, -1), `${token.slice(0, -1)}-`, 'lsp_', 'lsx_abc']
    const statuses: number[] = []
    const { statements } = await proxy.during(async () => {
      for (const each of malformed) statuses.push((await as({ token: each }, counted).send('getMe', {})).status)
    })
    expect([statements, statuses]).toEqual([0, malformed.map(() => 401)])
    // The prefix is part of the hash.
    expect((await as({ token: token.replace('lsp_', 'lsb_') }).send('getMe', {})).status).toBe(401)
    expect((await as({ token }, counted).send('getMe', {})).status).toBe(200)
    await counted.stop()
    await proxy.close()
  })

  test('[TOKEN-6] every character of a new token is equally likely', () => {
    const counts = new Map<string, number>()
    for (let i = 0; i < 2_000; i++)
      for (const character of newAccessToken('personal').slice(4, 34))
        counts.set(character, (counts.get(character) ?? 0) + 1)
    expect(counts.size).toBe(62)
    // 968 expected; six standard deviations are 186.
    for (const count of counts.values()) expect(Math.abs(count - 968)).toBeLessThan(200)
  })

  test('[TOKEN-6] a token in the cookie, or beside another header, is rejected', async () => {
    const user = await service.user()
    const { token } = await create(user)
    const cookie = { cookie: `svc_auth=${token}` }
    expect((await service.anybody.request('GET', '/auth/me', { headers: cookie })).status).toBe(401)
    const headers = { cookie: `svc_auth=${user.api.token}`, authorization: `Bearer ${token.slice(0, -1)}` }
    expect((await service.anybody.request('GET', '/auth/me', { headers })).status).toBe(401)
  })

  test('[TOKEN-9] it requires a login within the last hour, also after a refresh, in a session that is still valid', async () => {
    const user = await service.user()
    const now = nowSeconds()
    const body = { name: 'Bot', scope: 'read' } as const
    const inSession = async (logged_in_at: number) =>
      new Client(service.baseUrl, await sessions.issue(user.id, now, logged_in_at)).send('createToken', { body })
    expect((await inSession(now - 3_500)).status).toBe(201)
    expect((await inSession(now - 3_700)).body).toMatchObject({ code: 'login_too_old' })
    await user.api.call('logoutEverywhere', {})
    expect((await inSession(now - 60)).status).toBe(401)
  })

  test('[TOKEN-9] a token of a board requires membership, and the scope admin ownership', async () => {
    const { id: board_id, owner, member } = await service.board()
    const nonMember = await service.user()
    const fail = ({ api }: TestUser, scope: Scope, id = board_id) =>
      api.fail('createToken', { body: { name: 'Bot', scope, board_id: id } })
    expect(await fail(nonMember, 'read')).toMatchObject({ status: 403, code: 'not_a_member' })
    expect(await fail(member, 'admin')).toMatchObject({ status: 403, code: 'role_too_low' })
    expect(await fail(owner, 'read', crypto.randomUUID())).toMatchObject({ status: 404, code: 'board_not_found' })
    await create(member, { board_id, scope: 'write' })
    await create(owner, { board_id, scope: 'admin' })
  })

  test('[TOKEN-14] a user has at most 50 tokens, also when many are created at once', async () => {
    const user = await service.user()
    await service.sql.query(
      `insert into access_tokens (id, user_id, name, scope, hash, hint)
       select gen_random_uuid(), $1::uuid, 'Old', 'read', sha256(convert_to(gen_random_uuid()::text, 'utf8')), '' from generate_series(1, 45)`,
      [user.id],
    )
    const body = { name: 'Bot', scope: 'read' } as const
    const responses = await Promise.all(Array.from({ length: 12 }, () => user.api.send('createToken', { body })))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(5)
    for (const { status, body: failure } of responses.filter((each) => each.status !== 201))
      expect([status, failure]).toEqual([409, expect.objectContaining({ code: 'too_many_tokens' })])
    expect(await user.api.call('listTokens', {})).toHaveLength(50)
  })

  test('[TOKEN-14] the lifetime is limited, and a token that never expires needs a service without a limit', async () => {
    const user = await service.user()
    for (const expires_in_days of [0, 367])
      expect(
        await user.api.fail('createToken', { body: { name: 'Bot', scope: 'read', expires_in_days } }),
      ).toMatchObject({ status: 409, code: 'token_lifetime_limit', detail: expect.stringContaining('1 to 366 days') })
    expect((await create(user, { expires_in_days: 366 })).expires_at).not.toBeNull()
    const unlimited = await startService({ JWT_SECRET: SECRET, TOKEN_MAX_AGE_DAYS: '0' }, { beside: service })
    const api = new Client(unlimited.baseUrl, user.api.token)
    const forever = await create({ ...user, api }, { expires_in_days: 0 })
    expect([forever.expires_at, (await as(forever).send('getMe', {})).status]).toEqual([null, 200])
    await unlimited.stop()
    const strict = await startService({ JWT_SECRET: SECRET, TOKEN_MAX_AGE_DAYS: '7' }, { beside: service })
    const short = await create({ ...user, api: new Client(strict.baseUrl, user.api.token) })
    expect(Math.round((Date.parse(short.expires_at ?? '') - Date.now()) / 86_400_000)).toBe(7)
    await strict.stop()
  })

  test('[TOKEN-14] a token is deleted 30 days after it expired, and not before', async () => {
    const user = await service.user()
    const [old, recent, valid] = [await create(user), await create(user), await create(user)]
    const expire = (id: string, days: number) =>
      service.sql.query('update access_tokens set expires_at = now() - make_interval(days => $2) where id = $1', [
        id,
        days,
      ])
    await expire(old.id, 31)
    await expire(recent.id, 29)
    const run = async ({ text }: { text: string }) => (await service.sql.query(text)).rows
    expect(await deleteExpiredTokens({ run } as unknown as Parameters<typeof deleteExpiredTokens>[0])).toBe(1)
    expect((await user.api.call('listTokens', {})).map(({ id }) => id)).toEqual([valid.id, recent.id])
  })
})

describe('what a token may do', () => {
  test('[TOKEN-2] the scope is checked before path, resource and payload, but after the token', async () => {
    const { owner, columns } = await service.board()
    const reader = as(await create(owner, { scope: 'read' }))
    const column = `/columns/${columns[0].id}`
    const attempts: [string, string, object][] = [
      ['PATCH', '/columns/not-an-id', {}],
      ['PATCH', `/columns/${crypto.randomUUID()}`, { title: 'x' }],
      ['PATCH', column, { title: 5 }],
      // After a write of the user, whose board is cached.
      ['PATCH', column, { title: 'x' }],
    ]
    await owner.api.request('PATCH', column, { json: { title: 'Changed' } })
    for (const [method, path, json] of attempts)
      expect((await reader.request(method, path, { json })).body, path).toMatchObject({ code: 'token_scope' })
    const unknown = newAccessToken('personal')
    expect((await as({ token: unknown }).request('PATCH', column, { json: {} })).status).toBe(401)
  })

  test('[TOKEN-3] a token of a board lists only that board, and does not see stored responses of others', async () => {
    const { owner, id: board_id } = await service.board()
    const other = await owner.api.call('createBoard', { body: { title: 'Other' } })
    const bot = as(await create(owner, { board_id, scope: 'admin' }))
    const listed = await bot.call('listBoards', {})
    expect(listed).toEqual((await owner.api.call('listBoards', {})).filter(({ id }) => id === board_id))
    expect(listed).toHaveLength(1)

    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = { title: 'Secret' }
    await owner.api.call('createColumn', { params: { board_id: other.id }, body, headers })
    const elsewhere = await bot.fail('createColumn', { params: { board_id: other.id }, body, headers })
    expect(elsewhere).toMatchObject({ status: 403, code: 'token_board' })
    const here = await bot.fail('createColumn', { params: { board_id }, body, headers })
    expect(here).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
    // Its own board's responses are replayed.
    const own = { params: { board_id }, body, headers: { 'idempotency-key': crypto.randomUUID() } }
    const first = await bot.call('createColumn', own)
    expect(await bot.call('createColumn', own)).toEqual(first)
  })

  test('[TOKEN-10] a token of a board is deleted with the membership, however it ends, and does not return with it', async () => {
    const { owner, member, id: board_id } = await service.board()
    const token = await create(member, { board_id })
    const params = { board_id, user_id: member.id }
    await owner.api.call('removeMember', { params })
    expect(await rowOf(token)).toBeUndefined()
    await owner.api.call('inviteMember', { params: { board_id }, body: { user_id: member.id } })
    expect((await as(token).send('getBoard', { params: { board_id } })).status).toBe(401)
    const second = await create(member, { board_id })
    await service.sql.query('delete from board_members where board_id = $1 and user_id = $2', [board_id, member.id])
    expect(await rowOf(second)).toBeUndefined()
    const third = await create(owner, { board_id })
    await owner.api.call('deleteBoard', { params: { board_id } })
    expect(await rowOf(third)).toBeUndefined()
  })

  test('[TOKEN-12] the time of the last use is noted soon, and written once a minute', async () => {
    const user = await service.user()
    const token = await create(user)
    expect(token.last_used_at).toBeNull()
    const bot = as(token)
    await bot.call('getMe', {})
    const used = async () => (await rowOf(token)).last_used_at?.getTime()
    await expect.poll(used).toBeGreaterThan(Date.now() - 5_000)
    const [at, { xmin }] = [await used(), await xminOf(token)]
    for (let i = 0; i < 5; i++) await bot.call('getMe', {})
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect([await used(), (await xminOf(token)).xmin]).toEqual([at, xmin])
    const [{ last_used_at } = {}] = await user.api.call('listTokens', {})
    expect(Date.parse(last_used_at ?? '')).toBe(at)
  })
  const xminOf = async ({ id }: { id: string }) =>
    (await service.sql.query('select xmin::text from access_tokens where id = $1', [id])).rows[0] as { xmin: string }
})

describe('who sees and ends tokens', () => {
  test('[TOKEN-13] owners list and revoke tokens of their board; other tokens are seen by their user only', async () => {
    const { owner, member, id: board_id } = await service.board()
    const [ofBoard, personal] = [await create(member, { board_id }), await create(member)]
    const params = { board_id }
    const listed = await owner.api.call('listBoardTokens', { params })
    expect(listed).toEqual([
      expect.objectContaining({ id: ofBoard.id, user: expect.objectContaining({ id: member.id }) }),
    ])
    expect(await member.api.fail('listBoardTokens', { params })).toMatchObject({ code: 'role_too_low' })
    const revoke = (token_id: string) => owner.api.send('revokeBoardToken', { params: { board_id, token_id } })
    expect((await revoke(personal.id)).body).toMatchObject({ code: 'token_not_found' })
    expect(await owner.api.fail('revokeToken', { params: { token_id: ofBoard.id } })).toMatchObject({
      code: 'token_not_found',
    })
    expect((await revoke(ofBoard.id)).status).toBe(204)
    expect((await as(ofBoard).send('getMe', {})).status).toBe(401)
    expect((await as(personal).send('getMe', {})).status).toBe(200)
    expect(await owner.api.call('listTokens', {})).toEqual([])
  })

  test('[TOKEN-13] superusers list and revoke the tokens of a user', async () => {
    const [root, user] = [await superuser(), await service.user()]
    const token = await create(user)
    const params = { user_id: user.id }
    expect(await root.api.call('listAccountTokens', { params })).toEqual([
      expect.objectContaining({ id: token.id, hint: token.hint }),
    ])
    await root.api.call('revokeAccountTokens', { params })
    expect((await as(token).send('getMe', {})).status).toBe(401)
    const unknown = { params: { user_id: crypto.randomUUID() } }
    expect(await root.api.fail('listAccountTokens', unknown)).toMatchObject({ code: 'user_not_found' })
    expect(await root.api.fail('revokeAccountTokens', unknown)).toMatchObject({ code: 'user_not_found' })
  })

  test('[TOKEN-11] a password change keeps tokens and says so, unless it is asked to revoke them', async () => {
    const user = await service.user()
    const token = await create(user)
    const change = (current_password: string, new_password: string, revoke_tokens?: boolean) =>
      user.api.call('changePassword', {
        body: { current_password, new_password, ...(revoke_tokens && { revoke_tokens }) },
      })
    expect((await change(PASSWORD, `${PASSWORD} 2`)).detail).toBe('Password changed. 1 access token stays valid.')
    expect((await as(token).send('getMe', {})).status).toBe(200)
    expect((await change(`${PASSWORD} 2`, `${PASSWORD} 3`, true)).detail).toBe('Password changed.')
    expect((await as(token).send('getMe', {})).status).toBe(401)
    expect((await entriesAbout(user)).at(-1)).toMatchObject({ action: 'revoke-tokens', details: { count: 1 } })
  })

  test('[TOKEN-9] [TOKEN-11] no token survives a password change that revokes them, when it is created at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const user = await service.user()
      const body = { current_password: PASSWORD, new_password: `${PASSWORD} 2`, revoke_tokens: true }
      const thief = async () => {
        const made: string[] = []
        for (let i = 0; i < 20; i++) {
          const { status, body: created } = await stolen.send('createToken', { body: { name: 'x', scope: 'admin' } })
          if (status === 201) made.push((created as NewAccessToken).token)
        }
        return made
      }
      // Another session than that of the user, which survives the change.
      const stolen = new Client(service.baseUrl, await sessions.issue(user.id, nowSeconds() - 5))
      const [made] = await Promise.all([thief(), user.api.call('changePassword', { body })])
      for (const token of made) expect((await as({ token }).send('getMe', {})).status).toBe(401)
    }
  })

  test('[TOKEN-11] a password reset and an erasure delete all tokens, and an export lists them without hash', async () => {
    const root = await superuser()
    const { member: user, id: board_id } = await service.board()
    const tokens = [await create(user), await create(user, { board_id })]
    const params = { user_id: user.id }
    const exported = await root.api.call('exportAccount', { params })
    expect(exported.access_tokens.map(({ id }) => id)).toEqual(tokens.map(({ id }) => id))
    expect(Object.keys(exported.access_tokens[0] ?? {})).not.toContain('hash')
    const new_password = `${MARK} another horse`
    await root.api.call('resetPassword', { params, body: { new_password } })
    for (const token of tokens) expect((await as(token).send('getMe', {})).status).toBe(401)
    const body = { username: user.email, password: new_password }
    user.api.token = (await service.anybody.call('login', { body })).access_token
    const last = await create(user)
    await root.api.call('eraseAccount', { params })
    expect(await rowOf(last)).toBeUndefined()
    expect((await as(last).send('getMe', {})).status).toBe(401)
  })

  test('[TOKEN-17] creating and revoking are recorded with ids, and without the name', async () => {
    const { owner, member, id: board_id } = await service.board()
    const [first, second] = [await create(member, { board_id, scope: 'read' }), await create(member)]
    await owner.api.call('revokeBoardToken', { params: { board_id, token_id: first.id } })
    await member.api.call('revokeToken', { params: { token_id: second.id } })
    await create(member)
    await member.api.call('revokeTokens', {})
    await member.api.call('revokeTokens', {})
    const entries = await entriesAbout(member)
    expect(entries.map(({ action }) => action)).toEqual([
      ...['create-token', 'create-token', 'revoke-token', 'revoke-token', 'create-token', 'revoke-tokens'],
    ])
    expect(entries[0]).toEqual({
      action: 'create-token',
      actor_id: member.id,
      details: { token_id: first.id, scope: 'read', board_id },
    })
    expect(entries[2]).toMatchObject({ actor_id: owner.id, details: { token_id: first.id } })
    expect(entries[5]).toMatchObject({ details: { count: 1 } })
  })
})

describe('secrets', () => {
  test('[TOKEN-5] [AUTH-22] every operation that returns a secret is marked, so that its response is not cached or stored', () => {
    const hasSecret = ({ returns }: Operation) =>
      Object.keys((returns.schema as { properties?: object }).properties ?? {}).some((field) =>
        /^(secret|token|access_token|ticket|link)$/.test(field),
      )
    const all = Object.entries<Operation>(operations)
    const marked = all.filter(([, { is_secret }]) => is_secret).map(([name]) => name)
    expect(all.filter(([, operation]) => hasSecret(operation)).map(([name]) => name)).toEqual(marked)
    const links = ['createInvitation', 'createResetLink', 'createServiceInvitation']
    expect(marked.filter((name) => !links.includes(name))).toEqual([
      ...['login', 'refresh', 'createTicket', 'getWebhookSecret', 'createToken'],
    ])
  })

  test('[TOKEN-5] no table and no log line contains a token, whatever was done with it', async () => {
    const { owner, id: board_id } = await service.board()
    const tokens = [await create(owner), await create(owner, { board_id })]
    for (const { token } of tokens) {
      const api = as({ token })
      await api.call('createColumn', {
        params: { board_id },
        body: { title: 'By a bot' },
        headers: { 'idempotency-key': crypto.randomUUID() },
      })
      await api.fail('updateMe', { body: { firstname: 'Bot' } })
      await api.request('GET', `/boards?token=${token}`)
      await api.request('POST', '/auth/ticket')
    }
    const { rows: tables } = await service.sql.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public'`,
    )
    for (const { name } of tables) {
      const { rows } = await service.sql.query(`select t::text as text from ${name} t`)
      const text = JSON.stringify(rows)
      for (const { token } of tokens) {
        expect(text.includes(token), name).toBe(false)
        expect(text.includes(Buffer.from(token).toString('hex')), name).toBe(false)
      }
    }
    const log = await readFile(service.logFile, 'utf8')
    expect(log).toContain('/boards/:board_id/columns')
    expect(log).not.toMatch(/ls[pb]_[0-9A-Za-z]{8}/)
  })
})

describe('limits and settings', () => {
  test('[TOKEN-15] with ACCESS_TOKENS=off tokens are rejected and their paths are unknown', async () => {
    const { owner, id: board_id } = await service.board()
    const token = await create(owner)
    const off = await startService({ JWT_SECRET: SECRET, ACCESS_TOKENS: 'off' }, { beside: service })
    expect((await as(token, off).send('getMe', {})).status).toBe(401)
    const api = new Client(off.baseUrl, owner.api.token)
    for (const path of ['/auth/tokens', `/boards/${board_id}/tokens`])
      expect((await api.request('GET', path)).body).toMatchObject({ code: 'not_found' })
    expect((await api.send('getMe', {})).status).toBe(200)
    await off.stop()
  })

  test('[TOKEN-18] [ADMIN-19] members that a token adds, changes or removes are in the audit log with its name, also after it is revoked', async () => {
    const [{ owner, member, id: board_id }, guest] = [await service.board(), await service.user()]
    const [bot, ofBoard] = [
      await create(owner, { name: 'Deploy script', scope: 'admin' }),
      await create(owner, { name: 'Cleaner', scope: 'write', board_id }),
    ]
    const params = { board_id, user_id: guest.id }
    await as(bot).call('inviteMember', { params: { board_id }, body: { user_id: guest.id } })
    await as(bot).fail('inviteMember', { params: { board_id }, body: { user_id: guest.id } })
    await as(bot).call('updateMember', { params, body: { role: 'owner' } })
    await as(bot).call('updateMember', { params, body: { role: 'owner' } })
    await as(ofBoard).call('removeMember', { params })
    // Joining and leaving with an own token too. Changes without a token are in the log of the board alone.
    const { link } = await owner.api.call('createInvitation', { params: { board_id }, body: {} })
    const own = await create(guest, { name: 'Phone', scope: 'write' })
    await as(own).call('acceptInvitation', { body: { token: link.split('#')[1] ?? '' } })
    await owner.api.call('updateMember', { params, body: { role: 'owner' } })
    await as(own).call('removeMember', { params })
    await owner.api.call('revokeTokens', {})
    const by = ({ id: token_id, name: token_name }: NewAccessToken) => ({ board_id, token_id, token_name })
    expect(
      (await entriesAbout(guest)).filter(({ action }) => action.endsWith('-member') || action === 'change-role'),
    ).toEqual([
      { action: 'add-member', actor_id: owner.id, details: by(bot) },
      { action: 'change-role', actor_id: owner.id, details: { ...by(bot), role: 'owner' } },
      { action: 'remove-member', actor_id: owner.id, details: by(ofBoard) },
      { action: 'add-member', actor_id: guest.id, details: { ...by(own), role: 'member' } },
      { action: 'remove-member', actor_id: guest.id, details: by(own) },
    ])
    expect(await entriesAbout(member)).toEqual([])
  })

  test('[LIMIT-16] [TOKEN-18] changes of members with tokens are limited, those without are not', async () => {
    const limits = { RATE_LIMITS: 'on', MAX_TOKEN_MEMBER_CHANGES_PER_HOUR: '2' }
    const at = await startService({ JWT_SECRET: `${MARK}-${crypto.randomUUID()}`, ...limits }, { beside: service })
    const { owner, member, id: board_id } = await at.board()
    const bot = as(await create(owner, { scope: 'admin' }), at)
    const setRole = async (api: Client, role: 'owner' | 'member') =>
      (await api.send('updateMember', { params: { board_id, user_id: member.id }, body: { role } })).status
    expect([await setRole(bot, 'owner'), await setRole(bot, 'owner'), await setRole(bot, 'member')]).toEqual([
      200, 200, 200,
    ])
    expect(await setRole(bot, 'owner')).toBe(429)
    expect((await entriesAbout(member)).map(({ details }) => details.role)).toEqual(['owner', 'member'])
    expect(await setRole(owner.api, 'owner')).toBe(200)
    await at.stop()
  })

  test('[TOKEN-16] an address with many unknown tokens gets 429, but known tokens and logins of it do not', async () => {
    const proxy = await startProxy(service.databaseUrl)
    const limited = await startService({
      DATABASE_URL: proxy.url,
      JWT_SECRET: `${MARK}-${crypto.randomUUID()}`,
      RATE_LIMITS: 'on',
      TRUST_PROXY: '1',
      MAX_UNKNOWN_TOKENS_PER_MINUTE: '3',
    })
    const user = await limited.user()
    const known = await create(user)
    const revoked = await create(user)
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
    const [HOME, CAFE] = [from('192.0.2.1'), from('198.51.100.7')]
    const statusOf = async (token: string, at: typeof HOME) => (await as({ token }, limited).send('getMe', at)).status
    expect(await statusOf(known.token, HOME)).toBe(200)
    // A token that was known is forgotten when it is rejected, and then counts.
    expect(await statusOf(revoked.token, HOME)).toBe(200)
    await user.api.call('revokeToken', { params: { token_id: revoked.id } })
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push(await statusOf(revoked.token, HOME))
    expect(statuses).toEqual([401, 401, 401, 401, 429])
    const { statements } = await proxy.during(async () => {
      expect(await statusOf(newAccessToken('personal'), HOME)).toBe(429)
    })
    expect(statements).toBe(0)
    expect(await statusOf(known.token, HOME)).toBe(200)
    expect(await statusOf(newAccessToken('personal'), CAFE)).toBe(401)
    expect((await user.api.send('getMe', HOME)).status).toBe(200)
    await limited.stop()
    await proxy.close()
  })
})

import { readFileSync } from 'node:fs'
import { Client } from '@lockstep/testing/client'
import { PASSWORD, startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../database/database.ts'
import { deleteExpiredLinks } from '../jobs/retention.ts'

/** Registration is open, so that tests can make users. */
let service: TestService
/** The same database, with closed registration and quotas. */
let closed: TestService
let root: TestUser
beforeAll(async () => {
  service = await startService({ ADMIN_API: 'on' })
  closed = await startService(
    { REGISTRATION: 'closed', PUBLIC_URL: 'https://boards.example', ADMIN_API: 'on' },
    { beside: service },
  )
  root = await service.user()
  await service.sql.query('update users set is_superuser = true where id = $1', [root.id])
})
afterAll(async () => {
  await closed.stop()
  await service.stop()
})

const tokenOf = ({ link }: { link: string }) => link.split('#')[1] as string
async function invite({ id, owner }: TestBoard, body: { role?: 'owner' | 'member'; email?: string } = {}) {
  const made = await owner.api.call('createInvitation', { params: { board_id: id }, body })
  return { ...made, token: tokenOf(made) }
}
const accept = (user: TestUser, token: string) => user.api.send('acceptInvitation', { body: { token } })
const read = (token: string) => service.anybody.send('readInvitation', { body: { token } })
const register = (invitation: string | null, email = `${crypto.randomUUID()}@example.com`) =>
  closed.anybody.send('register', {
    body: { email, username: crypto.randomUUID(), password: PASSWORD, invitation },
  })
const INVALID = { status: 404, body: { code: 'link_invalid' } }
const membersOf = async ({ id, owner }: TestBoard) =>
  (await owner.api.call('listMembers', { params: { board_id: id } })).map(({ user_id }) => user_id)
const rowsOf = async (id: string) =>
  (await service.sql.query('select from invitations where id = $1', [id])).rowCount as number

describe('an invitation to a board', () => {
  test('[REMOVE-9] to an archived board cannot be accepted until the board is restored', async () => {
    const board = await service.board()
    const { token } = await invite(board)
    const user = await service.user()
    const params = { board_id: board.id }
    await board.owner.api.call('archiveBoard', { params })
    expect(await accept(user, token)).toMatchObject({ status: 409, body: { code: 'board_archived' } })
    expect(await membersOf(board)).not.toContain(user.id)
    await board.owner.api.call('restoreBoard', { params })
    expect(await accept(user, token)).toMatchObject({ status: 200 })
  })

  test('[INVITE-1] has its secret in the fragment of the link, and is not cached, logged as an event or stored for retries', async () => {
    const board = await service.board()
    const params = { board_id: board.id }
    const before = await board.events()
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const first = await board.owner.api.send('createInvitation', { params, body: { role: 'owner' }, headers })
    const again = await board.owner.api.send('createInvitation', { params, body: { role: 'owner' }, headers })
    const [one, two] = [first, again].map(({ body }) => body as { id: string; link: string })
    expect(one?.link).toMatch(/^\/app\/invite#[\w-]{43}$/)
    expect(two?.link).not.toBe(one?.link)
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(await board.events()).toEqual(before)
    const { rowCount } = await service.sql.query('select from stored_responses where board_id = $1', [board.id])
    expect(rowCount).toBe(0)
    const absolute = new Client(closed.baseUrl, board.owner.api.token)
    expect((await absolute.call('createInvitation', { params, body: {} })).link).toMatch(
      /^https:\/\/boards\.example\/app\/invite#[\w-]{43}$/,
    )
  })

  test('[INVITE-2] only a hash of the secret is stored, and no log line contains the secret', async () => {
    const board = await service.board()
    const { token, id } = await invite(board, { email: 'new@example.com' })
    await read(token)
    await accept(await service.user(), token)
    const { rows } = await service.sql.query('select t::text as text from invitations t where id = $1', [id])
    expect(rows[0].text).toContain('new@example.com')
    expect(rows[0].text).not.toContain(token)
    expect(readFileSync(service.logFile, 'utf8')).not.toContain(token)
  })

  test('[INVITE-3] anyone with the link reads who invites to what, without using it up', async () => {
    const board = await service.board()
    const { token, expires_at } = await invite(board)
    const preview = { board_title: 'Plan', role: 'member', invited_by: board.owner.username, email: null }
    for (let i = 0; i < 2; i++)
      expect(await service.anybody.call('readInvitation', { body: { token } })).toEqual({
        ...preview,
        expires_at,
        is_claimed: false,
      })
    await board.owner.api.call('updateMe', { body: { firstname: 'Ada', lastname: 'Lovelace' } })
    expect(await read(token)).toMatchObject({ status: 200, body: { invited_by: 'Ada Lovelace' } })
  })

  test('[INVITE-4] makes a logged-in user a member with its role, and emits the event of a new member', async () => {
    const board = await service.board()
    const [guest, second] = [await service.user(), await service.user()]
    const { token } = await invite(board)
    expect(await accept(guest, token)).toMatchObject({ status: 200, body: { board_id: board.id, role: 'member' } })
    expect((await board.events()).at(-1)).toMatchObject({
      type: 'board.member_added',
      user_id: guest.id,
      subject_id: guest.id,
      data: { user_id: guest.id, role: 'member' },
    })
    const { token: forOwner } = await invite(board, { role: 'owner' })
    expect(await accept(second, forOwner)).toMatchObject({ body: { role: 'owner' } })
    await second.api.call('updateBoard', { params: { board_id: board.id }, body: { title: 'Mine too' } })
  })

  test('[INVITE-4] accepting can be repeated, but not after the new member was removed', async () => {
    const board = await service.board()
    const guest = await service.user()
    const { token } = await invite(board)
    const same = { status: 200, body: { board_id: board.id, role: 'member' } }
    expect([await accept(guest, token), await accept(guest, token)]).toMatchObject([same, same])
    // A member does not use a further invitation up.
    const { token: unused } = await invite(board)
    expect(await accept(guest, unused)).toMatchObject(same)
    expect(await read(unused)).toMatchObject({ status: 200 })
    await board.owner.api.call('removeMember', { params: { board_id: board.id, user_id: guest.id } })
    expect(await accept(guest, token)).toMatchObject(INVALID)
    expect(await membersOf(board)).not.toContain(guest.id)
  })

  test('[INVITE-4] [QUOTA-1] obeys the quota of the board, and stays usable when it is exceeded', async () => {
    const full = await startService({ QUOTAS: 'on', MAX_BOARD_TEXT_BYTES: '2000' }, { beside: service })
    try {
      const board = await service.board()
      const guest = await service.user()
      const { token } = await invite(board)
      const api = new Client(full.baseUrl, guest.api.token)
      expect(await api.fail('acceptInvitation', { body: { token } })).toMatchObject({ code: 'board_text_limit' })
      expect(await membersOf(board)).not.toContain(guest.id)
      expect(await accept(guest, token)).toMatchObject({ status: 200 })
    } finally {
      await full.stop()
    }
  })
})

describe('a link is used once', () => {
  test('[INVITE-5] a second person gets 404, and the link can no longer be read', async () => {
    const board = await service.board()
    const { token } = await invite(board)
    expect(await accept(await service.user(), token)).toMatchObject({ status: 200 })
    const late = await service.user()
    expect(await accept(late, token)).toMatchObject(INVALID)
    expect(await read(token)).toMatchObject(INVALID)
    expect(await register(token)).toMatchObject(INVALID)
    expect(await membersOf(board)).not.toContain(late.id)
  })

  test('[INVITE-5] of two people who accept at the same moment, on two instances, one joins', async () => {
    const board = await service.board()
    const [one, two] = [await service.user(), await service.user()]
    for (let round = 0; round < 10; round++) {
      const { token } = await invite(board)
      const elsewhere = new Client(closed.baseUrl, two.api.token)
      const responses = await Promise.all([accept(one, token), elsewhere.send('acceptInvitation', { body: { token } })])
      expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 404])
      const [, , joined] = await membersOf(board)
      expect([one.id, two.id]).toContain(joined)
      expect(await membersOf(board)).toHaveLength(3)
      await board.owner.api.call('removeMember', { params: { board_id: board.id, user_id: joined as string } })
    }
  })

  test('[INVITE-5] of two registrations at the same moment, one creates an account', async () => {
    const board = await service.board()
    for (let round = 0; round < 5; round++) {
      const { token } = await invite(board)
      const responses = await Promise.all([register(token), register(token)])
      expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 404])
    }
  })
})

describe('a link ends', () => {
  test('[INVITE-6] after seven days, and is then deleted', async () => {
    const board = await service.board()
    const { id, token, created_at, expires_at } = await invite(board)
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBeCloseTo(7 * 86_400_000, -4)
    await service.sql.query(`update invitations set expires_at = now() - interval '1 second' where id = $1`, [id])
    expect(await read(token)).toMatchObject(INVALID)
    expect(await accept(await service.user(), token)).toMatchObject(INVALID)
    expect(await register(token)).toMatchObject(INVALID)
    expect(await board.owner.api.call('listInvitations', { params: { board_id: board.id } })).toEqual([])
    const db = new Database({ url: service.databaseUrl, size: 1, onError: () => {} })
    expect(await deleteExpiredLinks(db)).toBeGreaterThan(0)
    await db.close()
    expect(await rowsOf(id)).toBe(0)
  })

  test('[INVITE-7] in the database itself when the inviter is removed from the board', async () => {
    const board = await service.board()
    const params = { board_id: board.id }
    const { token: join } = await invite(board, { role: 'owner' })
    const other = await service.user()
    await accept(other, join)
    const made = await other.api.call('createInvitation', { params, body: {} })
    await board.owner.api.call('removeMember', { params: { ...params, user_id: other.id } })
    expect(await rowsOf(made.id)).toBe(0)
    expect(await read(tokenOf(made))).toMatchObject(INVALID)
    expect(await accept(await service.user(), tokenOf(made))).toMatchObject(INVALID)
  })

  test('[INVITE-7] while the inviter is deactivated or not an owner', async () => {
    const board = await service.board()
    const { token: join } = await invite(board, { role: 'owner' })
    const other = await service.user()
    await accept(other, join)
    const { token } = await invite({ ...board, owner: other })
    const key = { board_id: board.id, user_id: other.id }
    const guest = await service.user()
    await board.owner.api.call('updateMember', { params: key, body: { role: 'member' } })
    expect([await read(token), await accept(guest, token)]).toMatchObject([INVALID, INVALID])
    await board.owner.api.call('updateMember', { params: key, body: { role: 'owner' } })
    await root.api.call('updateAccount', { params: { user_id: other.id }, body: { is_active: false } })
    expect([await read(token), await register(token)]).toMatchObject([INVALID, INVALID])
  })

  test('[INVITE-7] with its board, and when an owner revokes it', async () => {
    const board = await service.board()
    const params = { board_id: board.id }
    const [kept, revoked] = [await invite(board), await invite(board)]
    const pending = await board.owner.api.call('listInvitations', { params })
    expect(pending.map(({ id }) => id)).toEqual([revoked.id, kept.id])
    expect(JSON.stringify(pending)).not.toContain(kept.token)
    const path = { ...params, invitation_id: revoked.id }
    await board.owner.api.call('revokeInvitation', { params: path })
    expect(await board.owner.api.fail('revokeInvitation', { params: path })).toMatchObject({
      code: 'invitation_not_found',
    })
    expect(await accept(await service.user(), revoked.token)).toMatchObject(INVALID)
    // Nor through another board.
    const other = await service.board()
    const foreign = { board_id: other.id, invitation_id: kept.id }
    expect(await other.owner.api.fail('revokeInvitation', { params: foreign })).toMatchObject({ status: 404 })
    await board.owner.api.call('deleteBoard', { params })
    expect(await rowsOf(kept.id)).toBe(0)
  })
})

describe('registration with an invitation', () => {
  test('[INVITE-8] is possible while registration is closed; the account is not verified, and only it can accept', async () => {
    const board = await service.board()
    const { id, token } = await invite(board)
    expect(await register(null)).toMatchObject({ status: 403, body: { code: 'registration_closed' } })
    const email = `${crypto.randomUUID()}@example.com`
    expect(await register(token, email)).toMatchObject({ status: 201, body: { email, is_verified: false } })
    const other = await service.user()
    expect([await accept(other, token), await register(token)]).toMatchObject([INVALID, INVALID])
    expect(await read(token)).toMatchObject({ status: 200, body: { is_claimed: true } })
    const pending = await board.owner.api.call('listInvitations', { params: { board_id: board.id } })
    expect(pending).toMatchObject([{ id, is_claimed: true }])
    const { access_token } = await closed.anybody.call('login', { body: { username: email, password: PASSWORD } })
    const api = new Client(closed.baseUrl, access_token)
    expect(await api.call('acceptInvitation', { body: { token } })).toEqual({ board_id: board.id, role: 'member' })
    await api.call('getBoard', { params: { board_id: board.id } })
  })

  test('[INVITE-8] a rejected registration does not use the invitation up', async () => {
    const board = await service.board()
    const { token } = await invite(board)
    expect(await register(token, board.owner.email)).toMatchObject({ body: { code: 'email_taken' } })
    expect(await register(token)).toMatchObject({ status: 201 })
  })

  test('[INVITE-9] with an e-mail address, only the account with this address can use it', async () => {
    const board = await service.board()
    const [invited, other] = [await service.user(), await service.user()]
    const { token } = await invite(board, { email: invited.email.toUpperCase() })
    const wrong = { status: 403, body: { code: 'wrong_invited_email' } }
    expect([await accept(other, token), await register(token)]).toMatchObject([wrong, wrong])
    expect(await accept(invited, token)).toMatchObject({ status: 200 })
    const { token: second } = await invite(board, { email: 'Someone.New@example.com' })
    expect(await register(second, 'someone.new@EXAMPLE.com')).toMatchObject({
      status: 201,
      body: { is_verified: false },
    })
  })
})

describe('limits', () => {
  const insertPending = (board_id: string, user_id: string, count: number) =>
    service.sql.query(
      `insert into invitations (id, token_hash, board_id, role, invited_by, expires_at)
       select gen_random_uuid(), gen_random_uuid()::text, $1, 'member', $2, now() + interval '1 day' from generate_series(1, $3)`,
      [board_id, user_id, count],
    )
  const create = ({ id, owner }: TestBoard) =>
    owner.api.send('createInvitation', { params: { board_id: id }, body: {} })

  test('[INVITE-10] a board has at most 50 pending invitations, also when they are made at the same moment', async () => {
    const board = await service.board()
    await insertPending(board.id, board.owner.id, 48)
    const responses = await Promise.all([create(board), create(board), create(board), create(board)])
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 201, 409, 409])
    await service.sql.query(`update invitations set expires_at = now() where id in (
      select id from invitations where board_id = '${board.id}' limit 1)`)
    expect((await create(board)).status).toBe(201)
  })

  test('[INVITE-10] a user has made at most 200 pending invitations', async () => {
    const board = await service.board()
    for (let i = 0; i < 4; i++) {
      const { id } = await board.owner.api.call('createBoard', { body: { title: 'Another' } })
      await insertPending(id, board.owner.id, 50)
    }
    expect(await create(board)).toMatchObject({ status: 409, body: { code: 'too_many_invitations' } })
  })

  test('[INVITE-11] an address that guesses links gets 429 for all of them', async () => {
    const limited = await startService(
      { RATE_LIMITS: 'on', MAX_INVALID_LINKS: '3', JWT_SECRET: `hush-hush-${crypto.randomUUID()}` },
      { beside: service },
    )
    try {
      const board = await service.board()
      const { token } = await invite(board)
      const guess = () => limited.anybody.send('readInvitation', { body: { token: `${token.slice(0, -1)}!` } })
      const valid = () => limited.anybody.send('readInvitation', { body: { token } })
      expect(await guess()).toMatchObject(INVALID)
      expect((await valid()).status).toBe(200)
      const new_password = PASSWORD
      const reset = { body: { token: 'a guess', new_password } }
      expect(await limited.anybody.fail('resetPasswordByLink', reset)).toMatchObject({ code: 'link_invalid' })
      expect(await guess()).toMatchObject(INVALID)
      expect((await valid()).status).toBe(429)
      expect(await limited.anybody.fail('resetPasswordByLink', reset)).toMatchObject({ status: 429 })
    } finally {
      await limited.stop()
    }
  })
})

describe('operators', () => {
  const entries = async (invitation_id: string) =>
    (
      await service.sql.query(
        `select action, actor_id, target_id, details from admin_actions where details ->> 'invitation_id' = $1 order by id`,
        [invitation_id],
      )
    ).rows

  test('[INVITE-12] a superuser invites to the service, once, and the audit log has no name and no secret', async () => {
    const response = await root.api.send('createServiceInvitation', { body: { email: 'first@example.com' } })
    expect(response).toMatchObject({ status: 201, body: { board_id: null, role: null, invited_by: root.id } })
    expect(response.headers.get('cache-control')).toBe('no-store')
    const { id, link } = response.body as { id: string; link: string }
    const token = tokenOf({ link })
    expect((await read(token)).body).toMatchObject({ board_title: null, invited_by: null, email: 'first@example.com' })
    expect(await register(token, 'first@example.com')).toMatchObject({ status: 201 })
    expect(await register(token, 'first@example.com')).toMatchObject(INVALID)
    expect(await entries(id)).toEqual([
      { action: 'create-invitation', actor_id: root.id, target_id: null, details: { invitation_id: id } },
    ])
  })

  test('[INVITE-12] an existing user who accepts an invitation to the service does not use it up', async () => {
    const { link } = await root.api.call('createServiceInvitation', { body: {} })
    const token = tokenOf({ link })
    expect(await accept(await service.user(), token)).toMatchObject({
      status: 200,
      body: { board_id: null, role: null },
    })
    expect(await register(token)).toMatchObject({ status: 201 })
  })

  test('[INVITE-12] superusers list and revoke every pending invitation', async () => {
    const board = await service.board()
    const made = [await invite(board), await invite(board)]
    const found: string[] = []
    let path: string | undefined = '/admin/invitations?limit=2'
    while (path !== undefined) {
      const { body, headers, text } = await root.api.request('GET', path)
      found.push(...(body as { id: string }[]).map(({ id }) => id))
      for (const { token } of made) expect(text).not.toContain(token)
      path = /<(.+)>/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(found).toEqual(expect.arrayContaining(made.map(({ id }) => id)))
    expect(new Set(found).size).toBe(found.length)
    const [{ id, token }] = made as [(typeof made)[0]]
    await root.api.call('revokeAnyInvitation', { params: { invitation_id: id } })
    expect(await read(token)).toMatchObject(INVALID)
    expect(await root.api.fail('revokeAnyInvitation', { params: { invitation_id: id } })).toMatchObject({
      code: 'invitation_not_found',
    })
    expect((await entries(id)).map(({ action }) => action)).toEqual(['revoke-invitation'])
  })

  test('[INVITE-12] the invitation of a superuser ends when they are demoted', async () => {
    const other = await service.user()
    const setSuperuser = (is_superuser: boolean) =>
      root.api.call('updateAccount', { params: { user_id: other.id }, body: { is_superuser } })
    await setSuperuser(true)
    const { link } = await other.api.call('createServiceInvitation', { body: {} })
    await setSuperuser(false)
    expect(await register(tokenOf({ link }))).toMatchObject(INVALID)
  })
})

test('[ADMIN-8] [ADMIN-9] an export contains the invitations of a user, and an erasure deletes those to their address', async () => {
  const board = await service.board()
  const person = await service.user()
  const { id, token } = await invite(board, { email: person.email })
  await accept(person, token)
  const params = { user_id: person.id }
  const { invitations } = await root.api.call('exportAccount', { params })
  expect(invitations).toMatchObject([{ id, claimed_by: person.id, accepted_at: expect.any(String) }])
  await root.api.call('eraseAccount', { params })
  expect(await rowsOf(id)).toBe(0)
})

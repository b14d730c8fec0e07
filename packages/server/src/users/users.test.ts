import { startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
let caller: TestUser
beforeAll(async () => {
  service = await startService()
  caller = await service.user('the-caller')
})
afterAll(() => service.stop())

interface Person {
  username: string
  email?: string
  is_active?: boolean
}
/** Inserts users directly: hashing a password for each would take too long. */
async function person({ username, email, is_active = true }: Person): Promise<string> {
  const address = email ?? `${crypto.randomUUID()}@example.org`
  const { rows } = await service.sql.query(
    `insert into users (id, email, email_key, username, username_key, hashed_password, is_active)
     values (gen_random_uuid(), $1, lower($1), $2, lower($2), 'none', $3) returning id`,
    [address, username, is_active],
  )
  return rows[0].id
}
type Query = { search?: string; q?: string; query?: string; limit?: number }
const find = async (query: Query) => (await caller.api.call('findUsers', { query })).map(({ username }) => username)

describe('reading a user', () => {
  test('[USER-1] [USER-2] any authenticated user reads exactly the public fields', async () => {
    const other = await service.user()
    const user = await caller.api.call('getUser', { params: { user_id: other.id } })
    expect(user).toEqual({
      id: other.id,
      email: other.email,
      username: other.username,
      firstname: null,
      lastname: null,
      is_active: true,
      is_verified: false,
      is_superuser: false,
    })
    const [found] = await caller.api.call('findUsers', { query: { search: other.username } })
    expect(found).toEqual(user)
    expect(await other.api.call('getMe', {})).toEqual(user)
  })

  test('[USER-1] an inactive user can still be read', async () => {
    const user_id = await person({ username: 'on leave', is_active: false })
    expect(await caller.api.call('getUser', { params: { user_id } })).toMatchObject({ id: user_id, is_active: false })
  })

  test('[USER-1] an unknown id is 404', async () => {
    const failure = await caller.api.fail('getUser', { params: { user_id: crypto.randomUUID() } })
    expect(failure).toMatchObject({ status: 404, code: 'user_not_found' })
  })

  test.each(['me', '1', '%00', `${crypto.randomUUID()}0`])('[USER-1] [REQ-11] the id %j is 422', async (id) => {
    expect((await caller.api.request('GET', `/users/${id}`)).status).toBe(422)
  })

  test('[USER-1] without a credential neither a user nor the list is returned', async () => {
    expect((await service.anybody.fail('getUser', { params: { user_id: caller.id } })).status).toBe(401)
    expect((await service.anybody.fail('findUsers', {})).status).toBe(401)
  })
})

describe('finding users', () => {
  beforeAll(async () => {
    const people: Person[] = [
      { username: 'Walrus' },
      { username: 'walnut', email: 'nut@shop.example' },
      { username: 'sea walker', email: 'WALDO@Post.example' },
      { username: 'tusk', email: 'old.walrus@zoo.example' },
      { username: 'walking away', is_active: false },
      { username: 'left', email: 'walled@zoo.example', is_active: false },
      { username: '100% wool' },
      { username: '100 wool' },
      { username: 'snake_case' },
      { username: 'snakeXcase' },
      { username: 'back\\slash' },
      { username: 'backslash' },
    ]
    for (const fields of people) await person(fields)
  })

  test.each(['search', 'q', 'query'])(
    '[USER-3] %s matches a part of the username or the address, ordered by username',
    async (name) => {
      expect(await find({ [name]: 'wal' })).toEqual(['sea walker', 'tusk', 'walnut', 'Walrus'])
      expect(await find({ [name]: 'walr' })).toEqual(['tusk', 'Walrus'])
      expect(await find({ [name]: '@zoo.ex' })).toEqual(['tusk'])
      expect(await find({ [name]: 'no such walrus' })).toEqual([])
    },
  )

  test('[USER-3] search has priority over q, and q over query', async () => {
    expect(await find({ search: 'walnut', q: 'walrus' })).toEqual(['walnut'])
    expect(await find({ q: 'walnut', query: 'walrus' })).toEqual(['walnut'])
  })

  test('[USER-3] matching is case-insensitive on both sides', async () => {
    expect(await find({ search: 'WALRUS' })).toEqual(['tusk', 'Walrus'])
    expect(await find({ search: 'waldo@post' })).toEqual(['sea walker'])
    // Created through the service, which computes the normal form.
    const searches = { 'Ünal Ada': ['ünAL', 'u\u0308nal'], ΟΔΟΣΑ: ['ΟΔΟΣ', 'οδοσ'] }
    for (const [username, terms] of Object.entries(searches)) {
      await caller.api.call('updateMe', { body: { username } })
      for (const search of terms) expect(await find({ search })).toEqual([username])
    }
  })

  test('[USER-3] inactive users are not found', async () => {
    expect(await find({ search: 'walking' })).toEqual([])
    expect(await find({ search: 'walled' })).toEqual([])
    expect(await find({ search: 'le' })).not.toContain('left')
  })

  test.each([
    ['0% w', ['100% wool']],
    ['%', ['100% wool']],
    ['ke_', ['snake_case']],
    ['_', ['snake_case']],
    ['k\\', ['back\\slash']],
    ['ck\\sl', ['back\\slash']],
    ['%%%', []],
    ['___', []],
    ['\\', ['back\\slash']],
    ['\\\\', []],
    ["' or true --", []],
  ])('[USER-3] the characters of %j are plain', async (search, found) => {
    expect(await find({ search })).toEqual(found)
  })

  test('[USER-5] an e-mail address and a username match from the first character on', async () => {
    await person({ username: 'quiet', email: 'жю-юж@example.org' })
    await person({ username: 'щука' })
    for (const search of ['ж', 'жю', 'жю-']) expect(await find({ search })).toEqual(['quiet'])
    expect(await find({ search: 'щ' })).toEqual(['щука'])
  })

  test.each(['open', 'limited'])(
    '[USER-6] with names=true a part of the first or last name matches; USER_SEARCH=%s',
    async (USER_SEARCH) => {
      const at = await startService({ USER_SEARCH }, { beside: service })
      const tag = crypto.randomUUID().slice(0, 8)
      const grace = await at.user(`amazing-${tag}`)
      await grace.api.call('updateMe', { body: { firstname: `Gräce${tag}`, lastname: 'Höpper' } })
      const search = async (query: Query & { names?: 'true' | 'false' }) =>
        (await grace.api.call('findUsers', { query })).map(({ username }) => username)
      for (const term of [`gräce${tag}`, `RÄCE${tag}`, `${tag} höp`, `gra\u0308ce${tag} höpper`])
        expect(await search({ search: term, names: 'true' })).toEqual([`amazing-${tag}`])
      // Short terms use another statement.
      expect(await search({ search: 'öp', names: 'true' })).toContain(`amazing-${tag}`)
      for (const names of [undefined, 'false'] as const)
        expect(await search({ search: `gräce${tag}`, ...(names && { names }) })).toEqual([])
      expect((await grace.api.request('GET', '/users?names=yes')).status).toBe(422)
      await at.stop()
    },
  )

  test('[USER-7] in production only a full address matches, or a part of it for members of common boards', async () => {
    const at = await startService({ USER_SEARCH: 'limited' }, { beside: service })
    const board = await at.board()
    const other = await at.user()
    const { api } = board.member
    const search = async (term: string) =>
      (await api.call('findUsers', { query: { search: term } })).map(({ username }) => username)
    const part = (email: string) => email.slice(1)
    await service.sql.query(`update users set username = 'x' || id, username_key = 'x' || id where id = any ($1)`, [
      [other.id, board.owner.id],
    ])
    expect(await search(other.email.toUpperCase())).toEqual([`x${other.id}`])
    expect(await search(part(other.email))).toEqual([])
    expect(await search(part(board.owner.email))).toEqual([`x${board.owner.id}`])
    expect(await search(other.email.slice(-2))).not.toContain(`x${other.id}`)
    expect(await search(`x${other.id}`.slice(0, 20))).toEqual([`x${other.id}`])
    await at.stop()
  })

  test('[USER-7] in production, without a text only the caller and active members of common boards are listed', async () => {
    const at = await startService({ USER_SEARCH: 'limited' }, { beside: service })
    const [board, other, newcomer] = [await at.board(), await at.board(), await at.user()]
    const list = async (user: TestUser, query: Query = {}) =>
      (await user.api.call('findUsers', { query })).map(({ username }) => username)
    const { owner, member } = board
    const both = [owner.username, member.username].sort()
    for (const query of [{}, { search: '' }, { q: '' }, { query: '' }]) expect(await list(owner, query)).toEqual(both)
    expect(await list(owner, { limit: 1 })).toEqual(both.slice(0, 1))
    expect(await list(newcomer)).toEqual([newcomer.username])
    await other.owner.api.call('inviteMember', { params: { board_id: other.id }, body: { user_id: owner.id } })
    const all = [...both, other.owner.username, other.member.username]
    expect(await list(owner)).toEqual(all.sort())
    expect(await list(member)).toEqual(both)
    await service.sql.query('update users set is_active = false where id = $1', [other.member.id])
    expect(await list(owner)).toEqual(all.filter((name) => name !== other.member.username))
    await at.stop()
  })

  test('[USER-8] searches are limited per minute and per day, for each user', async () => {
    const limited = { RATE_LIMITS: 'on', MAX_USER_SEARCHES_PER_MINUTE: '2', JWT_SECRET: crypto.randomUUID() }
    const statusesAt = async (settings: Record<string, string>) => {
      const at = await startService({ ...limited, ...settings })
      const [ada, bob] = [await at.user(), await at.user()]
      const statuses: number[] = []
      for (const { api } of [ada, ada, ada, bob]) statuses.push((await api.send('findUsers', {})).status)
      expect((await ada.api.send('getMe', {})).status).toBe(200)
      await at.stop()
      return statuses
    }
    expect(await statusesAt({})).toEqual([200, 200, 429, 200])
    expect(await statusesAt({ MAX_USER_SEARCHES_PER_MINUTE: '9', MAX_USER_SEARCHES_PER_DAY: '1' })).toEqual([
      200, 429, 429, 200,
    ])
  })

  test('[USER-3] a term that is too long or not valid text is 422', async () => {
    for (const search of ['x'.repeat(255), '%00'])
      expect((await caller.api.request('GET', `/users?search=${search}`)).status).toBe(422)
    expect((await caller.api.request('GET', '/users?search=a&search=b')).status).toBe(422)
  })
})

describe('many users', () => {
  const crowd = Array.from({ length: 60 }, (_, i) => `0crowd${String(i + 1).padStart(2, '0')}`)
  beforeAll(async () => {
    // Not in alphabetical order, so that the result cannot be in insertion order by chance.
    for (const username of crowd.toReversed()) await person({ username })
  })

  test('[USER-4] a search returns the first 50 users without a further page', async () => {
    for (const search of ['0c', 'crowd']) {
      expect(await find({ search })).toEqual(crowd.slice(0, 50))
      expect(await find({ search, limit: 50 })).toEqual(crowd.slice(0, 50))
      expect(await find({ search, limit: 3 })).toEqual(crowd.slice(0, 3))
    }
    const { headers } = await caller.api.send('findUsers', { query: { search: 'crowd' } })
    expect(headers.get('link')).toBeNull()
  })

  test('[USER-4] without a term it returns the first users', async () => {
    for (const query of [{}, { search: '' }, { q: '' }]) expect(await find(query)).toEqual(crowd.slice(0, 50))
    expect(await find({ limit: 2 })).toEqual(crowd.slice(0, 2))
  })

  test.each(['0', '-1', '51', '1.5', 'all', '', '1e1', '99999999999999999999'])(
    '[USER-4] the limit %j is 422',
    async (limit) => {
      expect((await caller.api.request('GET', `/users?limit=${limit}`)).status).toBe(422)
    },
  )
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService, type TestService, type TestUser } from '#testing/service'

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
/** Puts somebody into the table: hashing a password for each would take longer than all the rest. */
async function person({ username, email, is_active = true }: Person): Promise<string> {
  const address = email ?? `${crypto.randomUUID()}@example.org`
  const { rows } = await service.sql.query(
    `insert into users (id, email, email_key, username, username_key, hashed_password, is_active)
     values (gen_random_uuid(), $1, lower($1), $2, lower($2), 'none', $3) returning id`,
    [address, username, is_active],
  )
  return rows[0].id
}
type Query = { search?: string; q?: string; limit?: number }
const find = async (query: Query) => (await caller.api.call('findUsers', { query })).map(({ username }) => username)

describe('reading a user', () => {
  test('[USER-1] [USER-2] anybody who is authenticated reads exactly the public fields', async () => {
    const stranger = await service.user()
    const user = await caller.api.call('getUser', { params: { user_id: stranger.id } })
    expect(user).toEqual({
      id: stranger.id,
      email: stranger.email,
      username: stranger.username,
      firstname: null,
      lastname: null,
      is_active: true,
      is_verified: false,
      is_superuser: false,
    })
    const [found] = await caller.api.call('findUsers', { query: { search: stranger.username } })
    expect(found).toEqual(user)
    expect(await stranger.api.call('getMe', {})).toEqual(user)
  })

  test('[USER-1] an inactive user can still be read', async () => {
    const user_id = await person({ username: 'on leave', is_active: false })
    expect(await caller.api.call('getUser', { params: { user_id } })).toMatchObject({ id: user_id, is_active: false })
  })

  test('[USER-1] an id of nobody is 404', async () => {
    const failure = await caller.api.fail('getUser', { params: { user_id: crypto.randomUUID() } })
    expect(failure).toMatchObject({ status: 404, code: 'user_not_found' })
  })

  test.each(['me', '1', '%00', `${crypto.randomUUID()}0`])('[USER-1] [REQ-11] the id %j is 422', async (id) => {
    expect((await caller.api.request('GET', `/users/${id}`)).status).toBe(422)
  })

  test('[USER-1] without a credential neither a user nor the list is shown', async () => {
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
    for (const somebody of people) await person(somebody)
  })

  test.each(['search', 'q'])('[USER-3] %s finds a part of the username or the address, by username', async (name) => {
    expect(await find({ [name]: 'wal' })).toEqual(['sea walker', 'tusk', 'walnut', 'Walrus'])
    expect(await find({ [name]: 'walr' })).toEqual(['tusk', 'Walrus'])
    expect(await find({ [name]: '@zoo.ex' })).toEqual(['tusk'])
    expect(await find({ [name]: 'no such walrus' })).toEqual([])
  })

  test('[USER-3] search is what counts when both are given', async () => {
    expect(await find({ search: 'walnut', q: 'walrus' })).toEqual(['walnut'])
  })

  test('[USER-3] the case does not matter, on either side', async () => {
    expect(await find({ search: 'WALRUS' })).toEqual(['tusk', 'Walrus'])
    expect(await find({ search: 'waldo@post' })).toEqual(['sea walker'])
    // Through the service, which computes the form that is compared.
    await caller.api.call('updateMe', { body: { username: 'ΟΔΟΣΑ Ünal' } })
    for (const search of ['ünAL', 'u\u0308nal', 'ΟΔΟΣ', 'οδοσ']) expect(await find({ search })).toEqual(['ΟΔΟΣΑ Ünal'])
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
  ])('[USER-3] in %j there are plain characters only', async (search, found) => {
    expect(await find({ search })).toEqual(found)
  })

  test('[USER-5] an e-mail address matches from two characters on, a username from one', async () => {
    await person({ username: 'quiet', email: 'жю-юж@example.org' })
    await person({ username: 'щука' })
    expect(await find({ search: 'ж' })).toEqual([])
    expect(await find({ search: 'жю' })).toEqual(['quiet'])
    expect(await find({ search: 'жю-' })).toEqual(['quiet'])
    expect(await find({ search: 'щ' })).toEqual(['щука'])
  })

  test('[USER-3] a term that is too long or cannot be text is 422', async () => {
    for (const search of ['x'.repeat(255), '%00'])
      expect((await caller.api.request('GET', `/users?search=${search}`)).status).toBe(422)
    expect((await caller.api.request('GET', '/users?search=a&search=b')).status).toBe(422)
  })
})

describe('many users', () => {
  const crowd = Array.from({ length: 60 }, (_, i) => `0crowd${String(i + 1).padStart(2, '0')}`)
  beforeAll(async () => {
    // Not in the order of their names, so that the order found is not the order of arrival.
    for (const username of crowd.toReversed()) await person({ username })
  })

  test('[USER-4] a search answers the first 50 and leads to no further page', async () => {
    for (const search of ['0c', 'crowd']) {
      expect(await find({ search })).toEqual(crowd.slice(0, 50))
      expect(await find({ search, limit: 50 })).toEqual(crowd.slice(0, 50))
      expect(await find({ search, limit: 3 })).toEqual(crowd.slice(0, 3))
    }
    const { headers } = await caller.api.send('findUsers', { query: { search: 'crowd' } })
    expect(headers.get('link')).toBeNull()
  })

  test('[USER-4] without a term it answers the first ones', async () => {
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

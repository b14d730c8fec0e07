import { randomUUID } from 'node:crypto'
import type { BoardMember } from '@lockstep/contract/boards'
import { Client } from '@lockstep/testing/client'
import { recordEvents } from '@lockstep/testing/fold'
import { MARK, owners, startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

let service: TestService
let guest: TestUser
let board: TestBoard
let owner: TestUser
let member: TestUser
/** The path of the board. */
let params: { board_id: string }
beforeAll(async () => {
  service = await startService()
  guest = await service.user()
})
beforeEach(async () => {
  board = await service.board()
  ;({ owner, member } = board)
  params = { board_id: board.id }
})
afterAll(() => service.stop())

const invite = (user_id: string, by = owner) => by.api.send('inviteMember', { params, body: { user_id } })
const remove = (user: { id: string }, by = owner) =>
  by.api.send('removeMember', { params: { ...params, user_id: user.id } })
const setRole = (user: { id: string }, role: 'owner' | 'member', by = owner) =>
  by.api.send('updateMember', { params: { ...params, user_id: user.id }, body: { role } })
const listMembers = (by = owner) => by.api.call('listMembers', { params })
const memberOf = async ({ id }: TestUser, role: 'owner' | 'member' = 'member'): Promise<BoardMember> => ({
  ...params,
  user_id: id,
  role,
  user: await owner.api.call('getUser', { params: { user_id: id } }),
})
const problem = (status: number, code: string) => ({ status, body: { code } })

describe('inviting', () => {
  test('[MEMBER-1] [EVENT-1] [EVENT-5] an owner invites a user, who becomes a member', async () => {
    const { response, events } = await recordEvents(board, () => invite(guest.id))
    expect(response).toMatchObject({ status: 201, body: { user_id: guest.id, role: 'member' } })
    expect(events).toMatchObject([{ type: 'board.member_added', user_id: owner.id, subject_id: guest.id }])
    expect(events[0]?.data).toEqual(await memberOf(guest))
    expect((await guest.api.call('getBoard', { params })).id).toBe(board.id)
  })

  test('[MEMBER-1] [REQ-5] an invited user is only a member, whatever role was requested', async () => {
    const json = { user_id: guest.id, role: 'owner' }
    const { status, body } = await owner.api.request('POST', `/boards/${board.id}/invite`, { json })
    expect({ status, body }).toEqual({ status: 201, body: { user_id: guest.id, role: 'member' } })
    expect(owners(await listMembers())).toEqual([owner.id])
  })

  test('[MEMBER-2] an unknown user is 404, a member or the owner 409, and nothing is emitted', async () => {
    const { events } = await recordEvents(board, async () => {
      expect(await invite(randomUUID())).toMatchObject(problem(404, 'user_not_found'))
      expect(await invite(member.id)).toMatchObject(problem(409, 'already_a_member'))
      return invite(owner.id.toUpperCase())
    })
    expect(events).toEqual([])
    expect(await listMembers()).toHaveLength(2)
  })

  test('[MEMBER-2] of two concurrent invitations one succeeds', async () => {
    const { events } = await recordEvents(board, async () => {
      const responses = await Promise.all([invite(guest.id), invite(guest.id)])
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201, 409]))
      return responses.find(({ status }) => status === 201) ?? expect.fail()
    })
    expect(events).toHaveLength(1)
  })
})

describe('listing', () => {
  test('[MEMBER-3] members list the members in the order in which they joined, each with the public user', async () => {
    const others = await Promise.all([service.user(), service.user(), service.user()])
    for (const { id } of others) await invite(id)
    const expected = await Promise.all([memberOf(owner, 'owner'), ...[member, ...others].map((user) => memberOf(user))])
    expect(await listMembers(member)).toEqual(expected)
    expect((await member.api.call('getBoard', { params })).members).toEqual(expected)
  })
})

describe('changing a role', () => {
  test('[MEMBER-4] [EVENT-1] an owner makes a member an owner, with the event board.updated', async () => {
    const { response, events } = await recordEvents(board, () => setRole(member, 'owner'))
    expect(response).toMatchObject({ status: 200, body: await memberOf(member, 'owner') })
    const { columns: _, ...current } = await owner.api.call('getBoard', { params })
    expect(events).toMatchObject([{ type: 'board.updated', user_id: owner.id }])
    expect(events[0]?.data).toEqual(current)
    expect(owners(current.members)).toEqual([owner.id, member.id])
    expect(await member.api.call('updateBoard', { params, body: { title: 'Ours' } })).toMatchObject({ title: 'Ours' })
  })

  test('[MEMBER-4] [BOARD-4] updated_by does not change: only a PATCH of the board changes it', async () => {
    await setRole(member, 'owner')
    await setRole(owner, 'member', member)
    expect((await owner.api.call('getBoard', { params })).updated_by).toBe(owner.id)
    expect(await owner.api.fail('updateBoard', { params, body: { title: 'Mine' } })).toMatchObject({
      code: 'role_too_low',
    })
  })

  test('[MEMBER-4] [REQ-19] the role is accepted in upper or lower case and returned in lower case', async () => {
    for (const role of ['OWNER', 'Member', 'owner']) {
      const { status, body } = await owner.api.request('PATCH', `/boards/${board.id}/members/${member.id}`, {
        json: { role },
      })
      expect({ status, body }).toMatchObject({ status: 200, body: { role: role.toLowerCase() } })
    }
  })

  test('[REQ-10] [WRITE-1] the current role, or none, changes nothing and emits nothing', async () => {
    const path = { params: { ...params, user_id: member.id } }
    for (const body of [{ role: 'member' as const }, {}]) {
      const { response, events } = await recordEvents(board, () => owner.api.send('updateMember', { ...path, body }))
      expect(response).toMatchObject({ status: 200, body: { role: 'member' } })
      expect(events).toEqual([])
    }
  })

  test('[REQ-9] null and unknown roles are 422', async () => {
    for (const role of [null, 'admin', '', 1, ['owner']]) {
      const json = { role }
      const { status, body } = await owner.api.request('PATCH', `/boards/${board.id}/members/${member.id}`, { json })
      expect({ status, body }).toMatchObject({ status: 422, body: { errors: [{ field: 'role' }] } })
    }
    expect(await listMembers()).toMatchObject([{ role: 'owner' }, { role: 'member' }])
  })

  test('[MEMBER-4] a user who is not a member, existing or not, is 404', async () => {
    expect(await setRole(guest, 'owner')).toMatchObject(problem(404, 'member_not_found'))
    expect(await setRole({ id: randomUUID() }, 'owner')).toMatchObject(problem(404, 'member_not_found'))
  })
})

describe('removing', () => {
  const assignTo = async (user: TestUser, title: string) => {
    const [{ id: column_id }] = board.columns
    const card = await owner.api.call('createCard', { params: { ...params, column_id }, body: { title } })
    return owner.api.call('assignCard', {
      params: { card_id: card.id },
      body: { user_ids: [...new Set([owner.id, user.id])] },
    })
  }

  test('[MEMBER-5] [CARD-9] [EVENT-1] [V08] first each assignment of the member is removed, then the membership', async () => {
    await assignTo(owner, 'Not assigned')
    const assigned = [await assignTo(member, 'One'), await assignTo(member, 'Two'), await assignTo(member, 'Three')]
    const removed = await memberOf(member)

    const { response, events } = await recordEvents(board, () => remove(member))

    expect(response).toMatchObject({ status: 204, text: '' })
    expect(events.map(({ type }) => type)).toEqual([...assigned.map(() => 'card.unassigned'), 'board.member_removed'])
    for (const event of events) expect(event).toMatchObject({ subject_id: member.id })
    expect(events.map(({ user_id }) => user_id)).toEqual([...assigned.map(() => null), owner.id])
    expect(events.at(-1)?.data).toEqual(removed)
    const current = await Promise.all(assigned.map(({ id }) => owner.api.call('getCard', { params: { card_id: id } })))
    const cards = events.slice(0, -1).map(({ data }) => data)
    expect(new Map(cards.map((card) => [card['id'], card]))).toEqual(new Map(current.map((card) => [card.id, card])))
    for (const [i, card] of current.entries()) {
      expect(card.assignees.map(({ id }) => id)).toEqual([owner.id])
      expect(card.updated_at > (assigned[i]?.updated_at as string)).toBe(true)
    }
  })

  test('[MEMBER-5] [V11] a removed member has no access at once, and can be invited again', async () => {
    await remove(member)
    expect(await member.api.fail('getBoard', { params })).toMatchObject({ status: 403, code: 'not_a_member' })
    expect(await member.api.call('listBoards', {})).toEqual([])
    expect(await invite(member.id)).toMatchObject({ status: 201 })
    expect((await member.api.call('getBoard', { params })).columns).toHaveLength(2)
  })

  test('[MEMBER-5] [EVENT-5] a member can leave, and cannot remove others', async () => {
    await invite(guest.id)
    expect(await remove(guest, member)).toMatchObject(problem(403, 'role_too_low'))
    expect(await remove(owner, member)).toMatchObject(problem(403, 'role_too_low'))
    const { response, events } = await recordEvents(board, () => remove(member, member))
    expect(response.status).toBe(204)
    expect(events).toMatchObject([{ type: 'board.member_removed', user_id: member.id, data: { user_id: member.id } }])
  })

  test('[MEMBER-5] an owner can leave a board that has another owner', async () => {
    await setRole(member, 'owner')
    expect((await remove(owner)).status).toBe(204)
    expect(owners(await listMembers(member))).toEqual([member.id])
  })

  test('[MEMBER-7] a user who is not a member, was removed or never existed is 404, and nothing is emitted', async () => {
    await remove(member)
    const { events } = await recordEvents(board, async () => {
      expect(await remove(guest)).toMatchObject(problem(404, 'member_not_found'))
      expect(await remove({ id: randomUUID() })).toMatchObject(problem(404, 'member_not_found'))
      return remove(member)
    })
    expect(events).toEqual([])
    expect(await remove(member)).toMatchObject(problem(404, 'member_not_found'))
  })
})

describe('consequences of a removal', () => {
  /** A card and an item to which the member is assigned. */
  async function assignments() {
    const [{ id: column_id }] = board.columns
    const card = await owner.api.call('createCard', { params: { ...params, column_id }, body: { title: 'Card' } })
    const { id: checklist_id } = await owner.api.call('createChecklist', {
      params: { card_id: card.id },
      body: { title: 'List' },
    })
    const item = await owner.api.call('createItem', { params: { checklist_id }, body: { content: 'Item' } })
    const body = { user_ids: [member.id] }
    await owner.api.call('assignCard', { params: { card_id: card.id }, body })
    await owner.api.call('assignItem', { params: { item_id: item.id }, body })
  }

  test.each(['removes the member', 'leaves'])(
    '[MEMBER-8] when someone %s, the events of lost assignments have no user, so that a client that skips its own events stays right; the log stores who caused it',
    async (how) => {
      await assignments()
      const actor = how === 'leaves' ? member : owner
      using socket = openSocket(owner.api, board.id)
      await socket.next('user_joined')
      const { events } = await recordEvents(board, () => remove(member, actor))
      expect(events.map(({ type, user_id }) => [type, user_id])).toEqual([
        ['card.unassigned', null],
        ['checklist_item.unassigned', null],
        ['board.member_removed', actor.id],
      ])
      await socket.next('board.member_removed')
      const envelope = ['data', 'timestamp', 'type', 'user_id', 'version']
      for (const event of socket.events) expect(Object.keys(event).sort()).toEqual(envelope)
      expect(socket.events.map(({ user_id }) => user_id)).toEqual([null, null, actor.id])
      const log = await owner.api.call('listEvents', { params, query: { limit: 500 } })
      expect(log.slice(-3).map(({ user_id, actor_id }) => [user_id, actor_id])).toEqual([
        [null, actor.id],
        [null, actor.id],
        [actor.id, actor.id],
      ])
    },
  )

  const again = (by: TestUser, key: string, path: string, method: 'POST' | 'DELETE', json?: object) =>
    by.api.request(method, path, { headers: { 'idempotency-key': key }, ...(json && { json }) })

  test('[MEMBER-9] the stored responses of a member are deleted with the membership: a retry afterwards is 403', async () => {
    const create = () => again(member, 'made-before', `/boards/${board.id}/columns`, 'POST', { title: 'Mine' })
    const first = await create()
    expect([first.status, (await create()).headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect((await remove(member)).status).toBe(204)
    expect(await create()).toMatchObject({ status: 403, body: { code: 'not_a_member' } })
  })

  test('[MEMBER-9] [WRITE-3] the response to leaving a board is stored for a retry', async () => {
    const path = `/boards/${board.id}/members/${member.id}`
    const leave = () => again(member, 'leaving', path, 'DELETE')
    expect((await leave()).status).toBe(204)
    const retried = await leave()
    expect([retried.status, retried.headers.get('idempotent-replayed')]).toEqual([204, 'true'])
  })
})

describe('the last owner', () => {
  test('[MEMBER-6] can neither leave nor be demoted, and nothing is emitted', async () => {
    const { events } = await recordEvents(board, async () => {
      expect(await setRole(owner, 'member')).toMatchObject(problem(409, 'last_owner'))
      return remove(owner)
    })
    expect(events).toEqual([])
    expect(await remove(owner)).toMatchObject(problem(409, 'last_owner'))
    expect(owners(await listMembers())).toEqual([owner.id])
  })

  test.for([
    ['leave', () => [remove(owner, owner), remove(member, member)]],
    ['demote themselves', () => [setRole(owner, 'member', owner), setRole(member, 'member', member)]],
    ['demote each other', () => [setRole(member, 'member', owner), setRole(owner, 'member', member)]],
    ['remove each other', () => [remove(member, owner), remove(owner, member)]],
  ] as const)('[MEMBER-6] one stays when the last two owners %s at once', async ([, both]) => {
    await setRole(member, 'owner')
    const { events } = await recordEvents(board, async () => {
      const responses = await Promise.all(both())
      expect(responses.filter(({ status }) => status < 300)).toHaveLength(1)
      return responses.find(({ status }) => status < 300) ?? expect.fail()
    })
    expect(events).toHaveLength(1)
    const { rows } = await service.sql.query(
      `select count(*)::int from board_members where board_id = $1 and role = 'owner'`,
      [board.id],
    )
    expect(rows).toEqual([{ count: 1 }])
  })
})

describe('limits of an inviter', () => {
  /** Each test has counts of its own in Redis. */
  const limited = (settings: Record<string, string>) =>
    startService({ RATE_LIMITS: 'on', JWT_SECRET: `${MARK}-${randomUUID()}`, ...settings }, { beside: service })
  const newBoard = async (by: TestUser) => (await by.api.call('createBoard', { body: { title: 'Plan' } })).id
  const add = (by: TestUser, board_id: string, { id: user_id }: TestUser, headers = {}) =>
    by.api.send('inviteMember', { params: { board_id }, body: { user_id }, headers })
  const leave = ({ id: user_id, api }: TestUser, board_id: string) =>
    api.call('removeMember', { params: { board_id, user_id } })
  const membershipsOf = async ({ id }: TestUser) =>
    (await service.sql.query('select from board_members where user_id = $1', [id])).rowCount

  test('[MEMBER-10] [LIMIT-15] by default a user is added to 20 boards of one inviter in a day, again after leaving included', async () => {
    const at = await limited({})
    const [inviter, other, victim] = [await at.user(), await at.user(), await at.user()]
    const boards = await Promise.all(Array.from({ length: 19 }, () => newBoard(inviter)))
    const [first = ''] = boards
    for (const board_id of boards) expect((await add(inviter, board_id, victim)).status).toBe(201)
    await leave(victim, first)
    expect((await add(inviter, first, victim)).status).toBe(201)
    await leave(victim, first)
    const rejected = await add(inviter, first, victim)
    expect(rejected).toMatchObject(problem(429, 'too_many_requests'))
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(86_000)
    expect(await membershipsOf(victim)).toBe(18)
    // Others are not affected: neither another user on this board nor this user on a board of another inviter.
    expect((await add(inviter, first, other)).status).toBe(201)
    expect((await add(other, await newBoard(other), victim)).status).toBe(201)
    await at.stop()
  })

  test('[MEMBER-10] [LIMIT-15] by default an inviter adds 60 members in an hour', async () => {
    const at = await limited({})
    const inviter = await at.user()
    const users = await Promise.all(Array.from({ length: 61 }, () => at.user()))
    const board_id = await newBoard(inviter)
    const statuses: number[] = []
    for (const user of users) statuses.push((await add(inviter, board_id, user)).status)
    expect(statuses).toEqual([...Array.from({ length: 60 }, () => 201), 429])
    await at.stop()
  })

  test('[MEMBER-10] of concurrent additions on two instances no more than the limit succeed, and the rest change nothing', async () => {
    const settings = { JWT_SECRET: `${MARK}-${randomUUID()}`, MAX_ADDITIONS_OF_ONE_USER_PER_DAY: '5' }
    const [one, two] = [await limited(settings), await limited(settings)]
    const [inviter, victim] = [await one.user(), await one.user()]
    const there = { ...inviter, api: new Client(two.baseUrl, inviter.api.token) }
    const boards = await Promise.all(Array.from({ length: 16 }, () => newBoard(inviter)))
    const responses = await Promise.all(boards.map((board_id, i) => add(i % 2 ? there : inviter, board_id, victim)))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(5)
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(11)
    expect(await membershipsOf(victim)).toBe(5)
    const { rows } = await service.sql.query(
      `select count(*)::int from board_events where type = 'board.member_added' and subject_id = $1`,
      [victim.id],
    )
    expect(rows).toEqual([{ count: 5 }])
    await Promise.all([one.stop(), two.stop()])
  })

  test('[MEMBER-11] only an added member counts: no rejected request, no retry, and no user who joins with a link', async () => {
    const at = await limited({
      MAX_NEW_MEMBERS_PER_HOUR: '3',
      MAX_ADDITIONS_OF_ONE_USER_PER_DAY: '2',
      QUOTAS: 'on',
      MAX_BOARD_TEXT_BYTES: '3000',
    })
    const [inviter, user, third] = [await at.user(), await at.user(), await at.user()]
    const [board_id, other, full] = [await newBoard(inviter), await newBoard(inviter), await newBoard(inviter)]
    await inviter.api.call('updateBoard', { params: { board_id: full }, body: { description: 'x'.repeat(2_000) } })
    const key = { 'idempotency-key': randomUUID() }
    expect((await add(inviter, board_id, user, key)).status).toBe(201)
    for (let i = 0; i < 5; i++) {
      expect((await add(inviter, board_id, user, key)).headers.get('idempotent-replayed')).toBe('true')
      expect(await add(inviter, board_id, user)).toMatchObject(problem(409, 'already_a_member'))
      expect(await add(inviter, board_id, { ...user, id: randomUUID() })).toMatchObject(problem(404, 'user_not_found'))
      expect(await add(inviter, randomUUID(), user)).toMatchObject(problem(404, 'board_not_found'))
      expect(await add(third, board_id, third)).toMatchObject(problem(403, 'not_a_member'))
      expect(await add(inviter, full, third)).toMatchObject(problem(409, 'board_text_limit'))
    }
    for (let i = 0; i < 5; i++) {
      const { link } = await inviter.api.call('createInvitation', { params: { board_id: other }, body: {} })
      await user.api.call('acceptInvitation', { body: { token: link.split('#')[1] ?? '' } })
      await leave(user, other)
    }
    expect((await add(inviter, other, user)).status).toBe(201)
    await leave(user, other)
    // What the limit of one user rejects does not use up the limit of all.
    for (let i = 0; i < 3; i++) expect((await add(inviter, other, user)).status).toBe(429)
    expect((await add(inviter, other, third)).status).toBe(201)
    await leave(third, other)
    expect((await add(inviter, other, third)).status).toBe(429)
    await at.stop()
  })

  test('[MEMBER-10] [LIMIT-1] nothing is limited in development', async () => {
    for (let i = 0; i < 25; i++) {
      await invite(guest.id)
      await leave(guest, board.id)
    }
    expect((await invite(guest.id)).status).toBe(201)
  })
})

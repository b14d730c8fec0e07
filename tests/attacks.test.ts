import { randomUUID } from 'node:crypto'
import { operations } from '@lockstep/contract'
import type { BoardAccess, Operation } from '@lockstep/contract/operation'
import { type ApiResponse, type Failure, sendingOf } from '@lockstep/testing/client'
import { furnish, type Known, lastChange, propertiesOf, validInput } from '@lockstep/testing/input-generator'
import { sampleOf } from '@lockstep/testing/sample'
import { PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** Attacks on particular operations, in addition to the generated suites. */
let service: TestService
let owner: TestUser
/** A member of the owner's first board. */
let guest: TestUser
let otherOwner: TestUser
/**
 * A board of the owner, another one of the same owner, and one of another user. Rejected attacks do not change them.
 */
let here: Known
let other: Known
let foreign: Known

beforeAll(async () => {
  service = await startService()
  const user = () => service.user()
  ;[owner, guest, otherOwner] = await Promise.all([user(), user(), user()])
  ;[here, other, foreign] = await Promise.all([newBoardOf(owner), newBoardOf(owner), newBoardOf(otherOwner)])
})
afterAll(() => service.stop())

/** A board with one of each resource. The guest is a member of the owner's boards. */
async function newBoardOf({ api, id }: TestUser, more: Known = {}): Promise<Known> {
  const known = await furnish(api, { user_id: id, 'inviteMember.user_id': randomUUID(), ...more })
  if (api === owner.api && !more['board_id'])
    await api.call('inviteMember', { params: { board_id: idOf(known, 'board') }, body: { user_id: guest.id } })
  return known
}
const idOf = (known: Known, kind: string) => known[`${kind}_id`] as string
const codeOf = ({ body, status }: ApiResponse) => (status < 400 ? status : (body as Failure).code)

/** One hash over all rows of a board in all tables, including its log. */
async function boardHash(board_id: string): Promise<string> {
  const { rows } = await service.sql.query<{ hash: string }>(
    `select md5(string_agg(table_name || (xpath('//hash/text()', query_to_xml(
       format('select md5(string_agg(t::text, chr(10) order by t::text)) as hash from %I t where %I = %L', table_name, column_name, $1::text),
       true, false, '')))::text, ',' order by table_name)) as hash
     from information_schema.columns
     where table_schema = 'public' and (column_name = 'board_id' or (table_name = 'boards' and column_name = 'id'))`,
    [board_id],
  )
  return rows[0]?.hash as string
}

describe('the parent of a resource', () => {
  // An invitation can be sent once, and has nothing but a role to claim (V18).
  const writing = Object.entries<Operation>(operations).filter(
    ([name, { emits, body }]) => emits && body && name !== 'inviteMember',
  )
  const parents = [
    'board_id',
    'column_id',
    'card_id',
    'checklist_id',
    'label_id',
    'rule_id',
    'item_id',
    'comment_id',
  ] as const

  test.each(sampleOf(writing, 5))(
    '[ACCESS-5] [REQ-5] [V02] %s ignores a parent id in the body',
    async (name, operation) => {
      const own = await newBoardOf(owner)
      const sibling = await newBoardOf(owner, { board_id: own['board_id'] })
      const { path, body } = validInput(name, operation, own)
      const declared = propertiesOf(operation.body)
      for (const elsewhere of [sibling, other, foreign]) {
        const claims = parents.flatMap((parent) => [
          [parent, elsewhere[parent]],
          [parent.replace('_id', ''), { id: elsewhere[parent] }],
        ])
        const more = {
          rank: 7,
          parent_id: elsewhere['card_id'],
          cards: [{ id: elsewhere['card_id'] }],
          items: [],
          labels: [],
        }
        const fields = Object.entries({ ...Object.fromEntries(claims), ...more }).filter(
          ([field]) => !(field in declared),
        )
        const id = 'id' in declared ? { id: randomUUID() } : {}
        const json = { ...Object.fromEntries(fields), ...(body as object), ...id }
        const before = await Promise.all([other, foreign].map((known) => boardHash(idOf(known, 'board'))))

        const response = await owner.api.request(operation.method, path, sendingOf(operation.body_type, json))

        expect(response.status).toBe(operation.returns.status)
        expect(await Promise.all([other, foreign].map((known) => boardHash(idOf(known, 'board'))))).toEqual(before)
        const shown = response.body as Record<string, unknown>
        for (const parent of parents)
          if (parent in shown && !(parent in declared)) expect([parent, shown[parent]]).toEqual([parent, own[parent]])
        expect(shown['rank']).not.toBe(7)
        if (elsewhere !== sibling) for (const parent of parents) expect(response.text).not.toContain(elsewhere[parent])
        // A card can be restored again after it was archived again.
        if (name === 'restoreRemoved')
          await owner.api.call('archiveCard', { params: { card_id: own['removed_id'] as string } })
      }
    },
  )

  test('[ACCESS-4] the hash of a board changes with that board only', async () => {
    const [one, two] = [await newBoardOf(owner), await newBoardOf(owner)]
    const hashes = () => Promise.all([one, two].map((known) => boardHash(idOf(known, 'board'))))
    const before = await hashes()
    await service.sql.query('update checklist_items set is_done = not is_done where id = $1', [one['item_id']])
    const after = await hashes()
    expect(after[0]).not.toBe(before[0])
    expect(after[1]).toBe(before[1])
  })
})

describe('rejected without changes', () => {
  type Refusal = [what: string, code: Failure['code'], send: () => Promise<ApiResponse>]
  const post = (path: string, json?: unknown, api = owner.api) => api.request('POST', path, { json })
  const patch = (path: string, json: unknown, api = owner.api) => api.request('PATCH', path, { json })
  const onBoards = Object.entries<Operation>(operations).filter(([, { access }]) => typeof access === 'object')
  test.each(onBoards)(
    '[ACCESS-2] [ACCESS-4] %s on a resource of another board, with otherwise own ids, is rejected',
    async (name, operation) => {
      const { on } = operation.access as BoardAccess
      const { path, body: json } = validInput(name, operation, { ...here, [`${on}_id`]: foreign[`${on}_id`] })
      const before = await lastChange(service)
      expect(codeOf(await owner.api.request(operation.method, path, { json }))).toBe('not_a_member')
      expect(await lastChange(service)).toBe(before)
    },
  )

  /**
   * Cases that cannot be derived from the contract: users who are members of only one of two boards, and anchors
   * together with columns.
   */
  const refusals: Refusal[] = [
    [
      'a label of the other board on a card of this one',
      'label_not_found',
      () => post(`/cards/${here['card_id']}/labels/${other['label_id']}`),
    ],
    [
      'removing a foreign label from a card',
      'label_not_found',
      () => owner.api.request('DELETE', `/cards/${here['card_id']}/labels/${foreign['label_id']}`),
    ],
    [
      'a move to a foreign column, with an own anchor',
      'column_not_found',
      () => post(`/cards/${here['card_id']}/move`, { column_id: foreign['column_id'], after_id: here['card_id'] }),
    ],
    [
      'a list of users with one who is only a member of the other board',
      'user_not_a_member',
      () =>
        owner.api.request('PUT', `/cards/${here['card_id']}/assignees`, {
          json: { user_ids: [owner.id, outsider.id] },
        }),
    ],
    [
      'the same for an item',
      'user_not_a_member',
      () =>
        owner.api.request('PUT', `/items/${here['item_id']}/assignees`, {
          json: { user_ids: [owner.id, outsider.id] },
        }),
    ],
    [
      'a list with one who does not exist behind one who does',
      'user_not_found',
      () =>
        owner.api.request('PUT', `/items/${here['item_id']}/assignees`, {
          json: { user_ids: [owner.id, randomUUID()] },
        }),
    ],
    [
      'a rule that gets one wrong reference, all others staying as they are',
      'column_not_found',
      () => patch(`/automations/${here['rule_id']}`, { trigger_column_id: other['column_id'] }),
    ],
    [
      'a rule for a user who is only a member of the other board',
      'user_not_a_member',
      () => patch(`/automations/${here['rule_id']}`, { action_user_id: outsider.id }),
    ],
    ['a foreign rule', 'not_a_member', () => patch(`/automations/${foreign['rule_id']}`, { is_enabled: false })],
    [
      'a rule changed by a member who may read it',
      'role_too_low',
      () => patch(`/automations/${here['rule_id']}`, { is_enabled: false }, guest.api),
    ],
    [
      'an invitation by a member, of the same member',
      'role_too_low',
      () => post(`/boards/${here['board_id']}/invite`, { user_id: guest.id }, guest.api),
    ],
    [
      'an invitation of the caller to a foreign board',
      'not_a_member',
      () => post(`/boards/${foreign['board_id']}/invite`, { user_id: owner.id }),
    ],
    [
      'the role of a member of a foreign board',
      'not_a_member',
      () => patch(`/boards/${foreign['board_id']}/members/${otherOwner.id}`, { role: 'member' }),
    ],
    [
      'the removal of a user who is only a member of the other board',
      'member_not_found',
      () => owner.api.request('DELETE', `/boards/${here['board_id']}/members/${outsider.id}`),
    ],
    [
      'the removal of oneself from a foreign board',
      'not_a_member',
      () => owner.api.request('DELETE', `/boards/${foreign['board_id']}/members/${owner.id}`),
    ],
  ]
  /** A member of my other board, and not of this one. */
  let outsider: TestUser
  beforeAll(async () => {
    outsider = await service.user()
    const invitation = { params: { board_id: idOf(other, 'board') }, body: { user_id: outsider.id } }
    await owner.api.call('inviteMember', invitation)
  })

  test.each(refusals)('[ACCESS-2] [ACCESS-4] [ACCESS-5] %s', async (_, code, send) => {
    const before = await lastChange(service)
    expect(codeOf(await send())).toBe(code)
    expect(await lastChange(service)).toBe(before)
  })

  const withId = Object.entries<Operation>(operations).filter(
    ([, { body, emits }]) => emits && 'id' in propertiesOf(body),
  )
  test.each(withId)(
    '[WRITE-2] [ACCESS-4] %s with the id of a resource on another board is rejected',
    async (name, operation) => {
      const kind = name.replace('create', '').toLowerCase()
      for (const place of [other, foreign]) {
        const before = await lastChange(service)
        const { path, body } = validInput(name, operation, here)
        const taken = { ...(body as object), id: place[`${kind}_id`] }
        const response = await owner.api.request('POST', path, sendingOf(operation.body_type, taken))
        expect(codeOf(response)).toBe('id_taken')
        expect(await lastChange(service)).toBe(before)
      }
    },
  )
})

describe('responses', () => {
  test('[LABEL-7] [ACCESS-2] [V10] labels and their counts never include another board', async () => {
    const own = await newBoardOf(owner)
    const params = { board_id: idOf(own, 'board') }
    // The owner's other board has a label on a card, which must not be counted here.
    await owner.api.call('addCardLabel', { params: { card_id: idOf(other, 'card'), label_id: idOf(other, 'label') } })
    expect((await owner.api.call('listLabels', { params })).map(({ id }) => id)).toEqual([own['label_id']])
    expect(await owner.api.call('countLabels', { params })).toMatchObject([
      { label_id: own['label_id'], card_count: 0 },
    ])
  })

  test('[PRES-3] presence contains usernames and no e-mail addresses', async () => {
    const { text } = await otherOwner.api.request('GET', `/ws/boards/${here['board_id']}/presence`)
    expect(text).not.toContain('@')
  })

  test('[AUTH-10] the second of two cookies with the same name is ignored', async () => {
    const me = (cookie: string) => service.anybody.request('GET', '/auth/me', { headers: { cookie } })
    const both = await me(`svc_auth=${guest.api.token}; svc_auth=${owner.api.token}`)
    expect(both.text).not.toContain(owner.id)
    const spoilt = await me(`svc_auth=x; svc_auth=${owner.api.token}`)
    expect(spoilt.status).toBe(401)
  })

  test('[AUTH-18] [REQ-5] a password change applies to the caller, whatever user the body names', async () => {
    const [thief, victim] = await Promise.all([service.user(), service.user()])
    const names = { user_id: victim.id, id: victim.id, email: victim.email, username: victim.email, sub: victim.id }
    const json = { current_password: PASSWORD, new_password: `${PASSWORD} new`, ...names }
    expect((await thief.api.request('POST', '/auth/change-password', { json })).status).toBe(200)
    await service.anybody.call('login', { body: { username: victim.email, password: PASSWORD } })
  })
})

import { randomUUID } from 'node:crypto'
import type { Board } from '@lockstep/contract/boards'
import type { Card } from '@lockstep/contract/cards'
import type { ApiResponse } from '@lockstep/testing/client'
import { recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Database } from '../database/database.ts'
import { deleteExpiredResponses } from '../jobs/retention.ts'

let service: TestService
let elsewhere: TestBoard
let board: TestBoard
let owner: TestUser
let member: TestUser
let column_id: string
let card: Card
beforeAll(async () => {
  service = await startService()
  elsewhere = await service.board()
})
beforeEach(async () => {
  board = await service.board()
  ;({ owner, member } = board)
  column_id = board.columns[0].id
  card = (await createCard({ title: 'First' })).body as Card
})
afterAll(() => service.stop())

const newKey = () => ({ 'idempotency-key': randomUUID() })
const here = () => ({ board_id: board.id })
type Headers = Record<string, string>
const createCard = (body: { title: string; id?: string }, headers: Headers = {}, by = member) =>
  by.api.send('createCard', { params: { ...here(), column_id }, body, headers })
const position = ({ headers }: ApiResponse) => headers.get('board-position')
const isReplay = ({ headers }: ApiResponse) => headers.get('idempotent-replayed')
/** The parts of a response that a retry must return. */
const essence = (response: ApiResponse) => ({
  status: response.status,
  text: response.text,
  position: position(response),
})
const statuses = (responses: ApiResponse[]) => responses.map(({ status }) => status).toSorted((a, b) => a - b)
const cards = async () => (await owner.api.call('getBoard', { params: here() })).columns.flatMap((c) => c.cards)

test('[WRITE-3] the stored response is the same for a large body', async () => {
  for (const title of ['One', 'Two'])
    await owner.api.call('createCard', {
      params: { ...here(), column_id },
      body: { title, description: 'é'.repeat(65_000) },
    })
  const headers = newKey()
  const rename = (title: string) => owner.api.send('updateColumn', { params: { column_id }, body: { title }, headers })
  const first = await rename('New')
  await createCard({ title: 'Later' })
  const again = await rename('New')
  expect(first.bytes.length).toBeGreaterThan(250_000)
  expect([essence(again), again.headers.get('etag'), isReplay(again)]).toEqual([
    essence(first),
    first.headers.get('etag'),
    'true',
  ])
  expect(await rename('Other')).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
})

describe('the position', () => {
  test('[WRITE-1] is returned by every write, also one that changes nothing, and by GET', async () => {
    const { api, id } = owner
    const user = await service.user()
    const of_card = { card_id: card.id }
    const responses: [ApiResponse, string][] = [
      [await api.send('updateBoard', { params: here(), body: { title: 'New' } }), '1.5'],
      [await api.send('updateBoard', { params: here(), body: { title: 'New' } }), '1.5'],
      [await api.send('inviteMember', { params: here(), body: { user_id: user.id } }), '1.6'],
      [await api.send('updateMember', { params: { ...here(), user_id: user.id }, body: { role: 'owner' } }), '1.7'],
      [await api.send('updateMember', { params: { ...here(), user_id: user.id }, body: { role: 'owner' } }), '1.7'],
      [await api.send('updateColumn', { params: { column_id }, body: {} }), '1.7'],
      [await api.send('moveColumn', { params: { column_id }, body: { position: 1 } }), '1.8'],
      [await api.send('updateCard', { params: of_card, body: { title: card.title } }), '1.8'],
      [await api.send('assignCard', { params: of_card, body: { user_ids: [] } }), '1.8'],
      [await api.send('assignCard', { params: of_card, body: { user_ids: [user.id, id] } }), '1.10'],
      [await api.send('unassignCard', { params: { ...of_card, user_id: member.id } }), '1.10'],
      [await api.send('moveCard', { params: of_card, body: {} }), '1.11'],
      [await api.send('removeMember', { params: { ...here(), user_id: user.id } }), '1.13'],
      [await api.send('deleteCard', { params: of_card }), '1.14'],
      [await api.send('getBoard', { params: here() }), '1.14'],
      [await api.send('deleteColumn', { params: { column_id } }), '1.15'],
      [await api.send('deleteBoard', { params: here() }), '1.16'],
    ]
    expect(responses.map(([response]) => position(response))).toEqual(responses.map(([, expected]) => expected))
  })
})

describe('an id of the client', () => {
  const creates = {
    board: (id: string, by = member) => by.api.send('createBoard', { body: { title: 'Mine', id } }),
    column: (id: string, by = member, on = board) =>
      by.api.send('createColumn', { params: { board_id: on.id }, body: { title: 'Mine', id } }),
    card: (id: string, by = member, on = board) => {
      const params = { board_id: on.id, column_id: on.columns[0].id }
      return by.api.send('createCard', { params, body: { title: 'Mine', id } })
    },
  }

  test.for(Object.entries(creates))('[WRITE-2] is the id of the new %s, in lower case', async ([, create]) => {
    const [one, two] = [randomUUID(), randomUUID()]
    expect(await create(one)).toMatchObject({ status: 201, body: { id: one } })
    expect(await create(two.toUpperCase())).toMatchObject({ status: 201, body: { id: two } })
  })

  test.for(Object.entries(creates))(
    '[WRITE-2] that is taken by a %s is 409, also on another board',
    async ([, create]) => {
      const id = randomUUID()
      expect((await create(id)).status).toBe(201)
      const { events } = await recordEvents(board, async () => {
        for (const taken of [id, id.toUpperCase()]) {
          expect(await create(taken)).toMatchObject({ status: 409, body: { code: 'id_taken' } })
          expect(await create(taken, elsewhere.member, elsewhere)).toMatchObject({
            status: 409,
            body: { code: 'id_taken' },
          })
        }
        return create(id)
      })
      expect(events).toEqual([])
    },
  )

  test.for(Object.entries(creates))(
    '[WRITE-2] creates one %s when it is sent twice concurrently',
    async ([, create]) => {
      const id = randomUUID()
      const responses = await Promise.all([create(id), create(id, elsewhere.member, elsewhere)])
      expect(statuses(responses)).toEqual([201, 409])
    },
  )

  test('[WRITE-2] that is not a UUID is 422', async () => {
    for (const create of Object.values(creates))
      expect(await create('mine')).toMatchObject({ status: 422, body: { errors: [{ field: 'id' }] } })
  })
})

describe('a retry with the same key', () => {
  /** Each write, and a change that removes or changes its target before the retry. */
  const writes: Record<
    string,
    { send: (headers: Headers) => Promise<ApiResponse>; meanwhile?: () => Promise<unknown> }
  > = {
    'create a column': {
      send: (headers) => member.api.send('createColumn', { params: here(), body: { title: 'New' }, headers }),
    },
    'create a card': {
      send: (headers) => createCard({ title: 'New' }, headers),
    },
    'create a card, which is deleted with its column': {
      send: (headers) => createCard({ title: 'New' }, headers),
      meanwhile: () => owner.api.call('deleteColumn', { params: { column_id } }),
    },
    'change a card, which is changed again': {
      send: (headers) =>
        member.api.send('updateCard', { params: { card_id: card.id }, body: { title: 'Mine' }, headers }),
      meanwhile: () => owner.api.call('updateCard', { params: { card_id: card.id }, body: { title: 'Theirs' } }),
    },
    'change nothing': {
      send: (headers) => member.api.send('updateCard', { params: { card_id: card.id }, body: {}, headers }),
      meanwhile: () => createCard({ title: 'Meanwhile' }),
    },
    'move a card, which is moved again': {
      send: (headers) => {
        const body = { column_id: board.columns[1].id, position: 0 }
        return member.api.send('moveCard', { params: { card_id: card.id }, body, headers })
      },
      meanwhile: () => owner.api.call('moveCard', { params: { card_id: card.id }, body: { column_id } }),
    },
    'assign a card': {
      send: (headers) => {
        const body = { user_ids: [owner.id, member.id] }
        return member.api.send('assignCard', { params: { card_id: card.id }, body, headers })
      },
    },
    'delete a card': { send: (headers) => member.api.send('deleteCard', { params: { card_id: card.id }, headers }) },
    'invite a user, who leaves': {
      send: (headers) =>
        owner.api.send('inviteMember', { params: here(), body: { user_id: elsewhere.member.id }, headers }),
      meanwhile: () =>
        elsewhere.member.api.call('removeMember', { params: { ...here(), user_id: elsewhere.member.id } }),
    },
    'leave a board': {
      send: (headers) => member.api.send('removeMember', { params: { ...here(), user_id: member.id }, headers }),
    },
    'delete a board': { send: (headers) => owner.api.send('deleteBoard', { params: here(), headers }) },
  }

  test.for(Object.entries(writes))('[WRITE-3] %s', async ([, { send, meanwhile }]) => {
    const headers = newKey()
    const first = await send(headers)
    expect(first.status, first.text).toBeLessThan(300)
    expect(isReplay(first)).toBeNull()
    await meanwhile?.()
    const before = { log: await board.events(), cards: await service.sql.query('select * from cards order by id') }

    const [second, third] = [await send(headers), await send(headers)]

    expect([essence(second), essence(third)]).toEqual([essence(first), essence(first)])
    expect([isReplay(second), isReplay(third)]).toEqual(['true', 'true'])
    expect(await board.events()).toEqual(before.log)
    expect((await service.sql.query('select * from cards order by id')).rows).toEqual(before.cards.rows)
  })

  test('[WRITE-3] create a board', async () => {
    const headers = newKey()
    const send = () => member.api.send('createBoard', { body: { title: 'Mine' }, headers })
    const first = await send()
    const boards = await member.api.call('listBoards', {})
    const second = await send()
    expect(essence(second)).toEqual(essence(first))
    expect(essence(first)).toMatchObject({ status: 201, position: '1.0' })
    expect([isReplay(first), isReplay(second)]).toEqual([null, 'true'])
    expect(await member.api.call('listBoards', {})).toEqual(boards)
  })

  test.for([
    ['a card', (headers: Headers) => createCard({ title: 'New' }, headers)],
    ['a card with an id', (headers: Headers, id: string) => createCard({ title: 'New', id }, headers)],
    ['a board', (headers: Headers) => member.api.send('createBoard', { body: { title: 'New' }, headers })],
    [
      'a board with an id',
      (headers: Headers, id: string) => member.api.send('createBoard', { body: { title: 'New', id }, headers }),
    ],
  ] as const)('[WRITE-3] create %s, several times at once', async ([, send]) => {
    const headers = newKey()
    const id = randomUUID()
    const responses = await Promise.all([1, 2, 3, 4].map(() => send(headers, id)))
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size, JSON.stringify(responses)).toBe(1)
    expect(responses[0]?.status).toBe(201)
    expect(responses.filter((response) => isReplay(response) === 'true')).toHaveLength(3)
    const { rows } = await service.sql.query(
      `select (select count(*) from cards where title = 'New' and board_id = $1)
      + (select count(*) from boards where title = 'New' and created_by = $2) as made`,
      [board.id, member.id],
    )
    expect(rows).toEqual([{ made: '1' }])
  })
})

describe('an Idempotency-Key', () => {
  const reused = { status: 422, body: { code: 'idempotency_key_reused' } }

  test('[WRITE-4] that is reused with another content, path or method is 422, and nothing changes', async () => {
    const { api } = member
    const headers = newKey()
    const params = { card_id: card.id }
    const body = { title: 'Mine' }
    await api.call('updateCard', { params, body, headers })
    const other = (await createCard({ title: 'Other' })).body as Card
    const { events } = await recordEvents(board, async () => {
      expect(await api.send('updateCard', { params, body: { title: 'Theirs' }, headers })).toMatchObject(reused)
      expect(await api.send('updateCard', { params: { card_id: other.id }, body, headers })).toMatchObject(reused)
      expect(await api.send('createBoard', { body, headers })).toMatchObject(reused)
      // The same bytes to the same path: only the method differs.
      const deleting = await api.request('DELETE', `/cards/${card.id}`, { json: body, headers })
      expect(deleting).toMatchObject(reused)
      return deleting
    })
    expect(events).toEqual([])
    expect((await cards()).map(({ title }) => title)).toEqual(['Mine', 'Other'])
  })

  test('[WRITE-4] that is used on two boards concurrently takes effect on one of them', async () => {
    const headers = newKey()
    const { id: board_id } = await member.api.call('createBoard', { body: { title: 'Second' } })
    const create = (id: string) =>
      member.api.send('createColumn', { params: { board_id: id }, body: { title: 'New' }, headers })
    const responses = await Promise.all([create(board.id), create(board_id)])
    expect(statuses(responses)).toEqual([201, 422])
    const { rows } = await service.sql.query(
      `select count(*)::int from columns where title = 'New' and board_id = any ($1)`,
      [[board.id, board_id]],
    )
    expect(rows).toEqual([{ count: 1 }])
  })

  test('[WRITE-5] belongs to its user: the same key of another user is a different key', async () => {
    const headers = newKey()
    const mine = await createCard({ title: 'New' }, headers, member)
    const theirs = await createCard({ title: 'New' }, headers, owner)
    expect([mine.status, theirs.status, isReplay(theirs)]).toEqual([201, 201, null])
    expect((theirs.body as Card).id).not.toBe((mine.body as Card).id)
  })

  test('[WRITE-5] can be used again after a request that failed', async () => {
    const headers = newKey()
    const { api } = member
    const rejected = [
      await createCard({ title: '' }, headers),
      await createCard({ title: 'Taken', id: card.id }, headers),
      await api.send('deleteCard', { params: { card_id: randomUUID() }, headers }),
      await api.send('updateBoard', { params: here(), body: { title: 'Mine' }, headers }),
      await api.send('assignCard', { params: { card_id: card.id }, body: { user_ids: [randomUUID()] }, headers }),
    ]
    expect(rejected.map(({ status }) => status)).toEqual([422, 409, 404, 403, 404])
    const response = await createCard({ title: 'New' }, headers)
    expect([response.status, isReplay(response)]).toEqual([201, null])
  })

  test('[WRITE-5] that is empty, too long, or not of visible ASCII characters is 422', async () => {
    const { events } = await recordEvents(board, async () => {
      for (const key of ['', 'k'.repeat(256), 'two words', 'cl\u00e9', 'a\tb'])
        expect(await createCard({ title: 'New' }, { 'idempotency-key': key })).toMatchObject({
          status: 422,
          body: { errors: [{ field: 'Idempotency-Key' }] },
        })
      return owner.api.send('getBoard', { params: here() })
    })
    expect(events).toEqual([])
  })

  test('[WRITE-5] has up to 255 visible ASCII characters', async () => {
    const visible = Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i)).join('')
    for (const key of ['k', visible, 'k'.repeat(255)]) {
      const headers = { 'idempotency-key': key }
      const [first, second] = [await createCard({ title: key }, headers), await createCard({ title: key }, headers)]
      expect([essence(second), isReplay(second)]).toEqual([essence(first), 'true'])
    }
  })

  test('[WRITE-3] expires after 24 hours, and not before', async () => {
    const headers = newKey()
    const age = (by: string) =>
      service.sql.query(`update stored_responses set created_at = now() - $2::interval where user_id = $1`, [
        member.id,
        by,
      ])
    const first = await createCard({ title: 'New' }, headers)
    await age('23 hours 59 minutes')
    expect(essence(await createCard({ title: 'New' }, headers))).toEqual(essence(first))
    await age('24 hours 1 second')
    const later = await createCard({ title: 'New' }, headers)
    expect([later.status, isReplay(later)]).toEqual([201, null])
    expect((later.body as Board).id).not.toBe((first.body as Board).id)
    expect(essence(await createCard({ title: 'New' }, headers))).toEqual(essence(later))
  })

  test('[UPG-13] a stored response is deleted after 24 hours, even if its user does not return, and always has a board', async () => {
    await createCard({ title: 'Kept' }, newKey(), owner)
    await createCard({ title: 'Left' }, newKey())
    const count = async ({ id }: TestUser) =>
      (await service.sql.query('select from stored_responses where user_id = $1', [id])).rowCount
    const age = `update stored_responses set created_at = now() - $2::interval where user_id = $1`
    await service.sql.query(age, [owner.id, '23 hours 59 minutes'])
    await service.sql.query(age, [member.id, '24 hours 1 second'])
    const db = new Database({ url: service.databaseUrl, size: 2, onError: () => {} })
    expect(await deleteExpiredResponses(db)).toBeGreaterThan(0)
    expect(await deleteExpiredResponses(db)).toBe(0)
    await db.close()
    expect([await count(owner), await count(member)]).toEqual([1, 0])
    const without = service.sql.query('update stored_responses set board_id = null where user_id = $1', [owner.id])
    await expect(without).rejects.toThrow('violates not-null constraint')
  })
})

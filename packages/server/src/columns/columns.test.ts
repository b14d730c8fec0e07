import { randomUUID } from 'node:crypto'
import type { Card } from '@lockstep/contract/cards'
import type { Column } from '@lockstep/contract/columns'
import type { ApiResponse } from '@lockstep/testing/client'
import { recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
let owner: TestUser
let member: TestUser
let elsewhere: TestBoard
beforeAll(async () => {
  service = await startService()
  ;[board, elsewhere] = await Promise.all([service.board(), service.board()])
  ;({ owner, member } = board)
})
afterAll(() => service.stop())

/** The path of the board. */
const here = () => ({ board_id: board.id })
const newColumn = () => member.api.call('createColumn', { params: here(), body: { title: 'New' } })
const newCard = (column: Column, title: string) =>
  member.api.call('createCard', { params: { ...here(), column_id: column.id }, body: { title } })
/** The columns as `GET` shows them. */
const columns = async () => (await owner.api.call('getBoard', { params: here() })).columns
const shown = async ({ id }: Column) => (await columns()).find((column) => column.id === id)
/** A column with a card that has an assignee. */
async function newColumnWithCards(): Promise<Column> {
  const column = await newColumn()
  const one = await newCard(column, 'One')
  const params = { card_id: one.id }
  const assigned = await member.api.call('assignCard', { params, body: { user_ids: [owner.id] } })
  return { ...column, cards: [assigned, await newCard(column, 'Two')] }
}

describe('creating', () => {
  test('[COL-1] [EVENT-1] [EVENT-5] a new column is last, grey and not done by default', async () => {
    const last = (await columns()).at(-1) as Column
    const { response, events } = await recordEvents(board, () =>
      member.api.send('createColumn', { params: here(), body: { title: 'Review' } }),
    )
    const created = response.body as Column
    expect(response.status).toBe(201)
    expect(created).toMatchObject({ ...here(), title: 'Review', color: '#6b7280', is_done_column: false, cards: [] })
    expect(created.rank).toBeGreaterThan(last.rank)
    expect(events).toMatchObject([{ type: 'column.created', user_id: member.id }])
    expect(events[0]?.data).toEqual(created)
    expect((await columns()).at(-1)).toEqual(created)
  })

  test('[COL-1] color, done mark and position can be given', async () => {
    const body = { title: 'Shipped', color: 'rebeccapurple', is_done_column: true, position: 0 }
    const { position: _, ...said } = body
    expect(await member.api.call('createColumn', { params: here(), body })).toMatchObject(said)
    expect((await columns())[0]).toMatchObject(said)
  })

  test('[COL-1] [REQ-8] null is the same as leaving a field out', async () => {
    const body = { title: 'Nulls', id: null, color: null, is_done_column: null, position: null }
    const created = await member.api.call('createColumn', { params: here(), body })
    expect(created).toMatchObject({ color: '#6b7280', is_done_column: false })
    expect((await columns()).at(-1)).toEqual(created)
  })

  test('[REQ-5] other fields of the body are ignored', async () => {
    const json = { title: 'Claims', board_id: elsewhere.id, rank: -5, cards: [{ title: 'Mine' }], nonsense: 1 }
    const { status, body } = await member.api.request('POST', `/boards/${board.id}/columns`, { json })
    expect({ status, body }).toMatchObject({ status: 201, body: { ...here(), cards: [] } })
    expect((await columns()).at(-1)).toEqual(body)
  })
})

describe('changing', () => {
  test('[COL-2] [COL-5] title, color and done mark change; column.updated contains the cards too', async () => {
    const column = await newColumnWithCards()
    const body = { title: 'Doing', color: '#fff', is_done_column: true }
    const { response, events } = await recordEvents(board, () =>
      member.api.send('updateColumn', { params: { column_id: column.id }, body }),
    )
    expect(response.status).toBe(200)
    expect(response.body).toEqual({ ...column, ...body })
    expect(events).toMatchObject([{ type: 'column.updated', user_id: member.id }])
    expect(events[0]?.data).toEqual(response.body)
    expect(await shown(column)).toEqual(response.body)
  })

  test('[COL-2] [REQ-5] board, rank, id and cards never change', async () => {
    const column = await newColumnWithCards()
    const json = { title: 'Claims', id: randomUUID(), board_id: elsewhere.id, rank: 7, cards: [], position: 0 }
    const { body } = await member.api.request('PATCH', `/columns/${column.id}`, { json })
    expect(body).toEqual({ ...column, title: 'Claims' })
    expect(await shown(column)).toEqual(body)
  })
})

describe('deleting', () => {
  test('[COL-3] [COL-5] the column is deleted with its cards, in one event with its last state', async () => {
    const column = await newColumnWithCards()
    const params = { column_id: column.id }
    const { response, events } = await recordEvents(board, () => member.api.send('deleteColumn', { params }))
    expect(response).toMatchObject({ status: 204, text: '' })
    expect(events).toMatchObject([{ type: 'column.deleted', user_id: member.id }])
    const [{ removed, ...last }] = events.map(({ data }) => data as unknown as Column) as [Column]
    expect(last).toEqual(column)
    expect(removed).toMatchObject({ as: 'deleted', by: member.id })
    expect(await shown(column)).toBeUndefined()
    for (const { id } of column.cards)
      expect(await owner.api.fail('getCard', { params: { card_id: id } })).toMatchObject({ code: 'card_not_found' })
    expect(await owner.api.fail('deleteColumn', { params })).toMatchObject({ status: 404, code: 'column_not_found' })
  })
})

describe('moving', () => {
  test('[COL-4] [COL-5] its position changes, and column.moved contains the cards too', async () => {
    const column = await newColumnWithCards()
    const { response, events } = await recordEvents(board, () =>
      member.api.send('moveColumn', { params: { column_id: column.id }, body: { position: 0 } }),
    )
    const moved = response.body as Column
    expect(response.status).toBe(200)
    expect(moved).toEqual({ ...column, rank: moved.rank })
    expect(events).toMatchObject([{ type: 'column.moved', user_id: member.id }])
    expect(events[0]?.data).toEqual(moved)
    expect((await columns())[0]).toEqual(moved)
  })

  test('[COL-4] a move to its current position emits its event all the same', async () => {
    const column = await newColumn()
    const order = (await columns()).map(({ id }) => id)
    const { response, events } = await recordEvents(board, () =>
      member.api.send('moveColumn', { params: { column_id: column.id }, body: { position: order.length - 1 } }),
    )
    expect(events).toMatchObject([{ type: 'column.moved', data: response.body }])
    expect((await columns()).map(({ id }) => id)).toEqual(order)
  })

  test.for([{}, { position: null }, { title: 'Nowhere' }])(
    '[COL-4] without a position or an anchor it is 422: %j',
    async (json) => {
      const column = await newColumn()
      const { response, events } = await recordEvents(board, () =>
        member.api.request('POST', `/columns/${column.id}/move`, { json }),
      )
      expect(response.status).toBe(422)
      expect(events).toEqual([])
    },
  )
})

/** The fields that can be written and changed, of boards, columns and cards. */
type Write = (fields: object) => Promise<ApiResponse>
interface Written {
  create: Write
  patch: Write
  read: () => Promise<unknown>
}
const writing = ({ api }: TestUser, list: string, one: string): Omit<Written, 'read'> => ({
  create: (json) => api.request('POST', list, { json: { title: 'New', ...json } }),
  patch: (json) => api.request('PATCH', one, { json }),
})
const written: Record<'board' | 'column' | 'card', () => Promise<Written>> = {
  board: async () => ({
    ...writing(owner, '/boards', `/boards/${board.id}`),
    read: () => owner.api.call('getBoard', { params: here() }),
  }),
  column: async () => {
    const column = await newColumn()
    return { ...writing(member, `/boards/${board.id}/columns`, `/columns/${column.id}`), read: () => shown(column) }
  },
  card: async () => {
    const column = await newColumn()
    const { id: card_id } = await newCard(column, 'New')
    return {
      ...writing(member, `/boards/${board.id}/columns/${column.id}/cards`, `/cards/${card_id}`),
      read: () => member.api.call('getCard', { params: { card_id } }),
    }
  },
}
const fields = [
  { on: 'board', field: 'title', max: 255 },
  { on: 'board', field: 'description', max: 65_536 },
  { on: 'column', field: 'title', max: 255 },
  { on: 'column', field: 'color', max: 32 },
  { on: 'card', field: 'title', max: 255 },
  { on: 'card', field: 'description', max: 65_536 },
] as const

describe.each(fields)('the $field of a $on', ({ on, field, max }) => {
  const texts = [
    '  spaces  ',
    '\tt\r\n\n',
    'e\u0301 \u00e9 ﬁ Å',
    '\u202eעברית',
    '👩‍👩‍👧 𝒳',
    `"\\'<b>%_$1&amp;`,
    '\u0001\u007f!\ufeff',
  ]

  test('[REQ-6] preserves every character', async () => {
    const { create, patch, read } = await written[on]()
    for (const text of texts) {
      expect((await create({ [field]: text })).body).toMatchObject({ [field]: text })
      expect((await patch({ [field]: text })).body).toMatchObject({ [field]: text })
      expect(await read()).toMatchObject({ [field]: text })
    }
  })

  test('[REQ-6] [REQ-7] rejects text that cannot be stored or is too long', async () => {
    const { create, patch } = await written[on]()
    const wide = '𝒳'
    const invisible = field === 'title' ? ['', '   ', '\u200b\u00a0\n'] : []
    for (const text of ['a\0b', 'a\ud800b', '\udc00', wide.repeat(max + 1), ...invisible])
      for (const write of [create, patch]) {
        const { status, body } = await write({ [field]: text })
        expect({ status, body }).toMatchObject({ status: 422, body: { errors: [{ field }] } })
      }
    expect((await create({ [field]: wide.repeat(max) })).body).toMatchObject({ [field]: wide.repeat(max) })
    expect((await patch({ [field]: wide.repeat(max) })).body).toMatchObject({ [field]: wide.repeat(max) })
  })
})

const changes: [keyof typeof written, Record<string, unknown>][] = [
  ['board', { title: 'Changed', description: 'Changed' }],
  ['column', { title: 'Changed', color: 'red', is_done_column: true }],
  ['card', { title: 'Changed', description: 'Changed' }],
]
describe.each(changes)('a PATCH of a %s', (on, all) => {
  test('[REQ-9] leaves other fields unchanged', async () => {
    const { patch, read } = await written[on]()
    for (const [field, value] of Object.entries(all)) {
      const { updated_at: _, ...before } = (await read()) as Card
      await patch({ [field]: value })
      expect(await read()).toMatchObject({ ...before, [field]: value })
    }
  })

  test('[REQ-9] null clears the description, and is 422 for every other field', async () => {
    const { patch } = await written[on]()
    await patch(all)
    for (const field of Object.keys(all)) {
      const { status, body } = await patch({ [field]: null })
      if (field === 'description') expect({ status, body }).toMatchObject({ status: 200, body: { description: null } })
      else expect({ status, body }).toMatchObject({ status: 422, body: { errors: [{ field }] } })
    }
  })

  test('[REQ-10] [WRITE-1] [CARD-9] that changes nothing returns 200 and emits nothing', async () => {
    const { patch, read } = await written[on]()
    await patch(all)
    const before = await read()
    for (const json of [{}, all, { ...all, nonsense: 1 }]) {
      const { response, events } = await recordEvents(board, () => patch(json))
      expect(response.status).toBe(200)
      expect(before).toMatchObject(response.body as object)
      expect(events).toEqual([])
    }
    expect(await read()).toEqual(before)
  })
})

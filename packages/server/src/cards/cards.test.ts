import { randomUUID } from 'node:crypto'
import type { Card } from '@lockstep/contract/cards'
import type { Column } from '@lockstep/contract/columns'
import type { ApiResponse } from '@lockstep/testing/client'
import { recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
let elsewhere: TestBoard
let owner: TestUser
let member: TestUser
let todo: Column
let done: Column
beforeAll(async () => {
  service = await startService()
  ;[board, elsewhere] = await Promise.all([service.board(), service.board()])
  ;({ owner, member } = board)
  ;[todo, done] = board.columns
})
afterAll(() => service.stop())

const inColumn = ({ id }: Column) => ({ params: { board_id: board.id, column_id: id } })
const of = ({ id }: Card) => ({ params: { card_id: id } })
const newCard = (title = 'Card', column = todo) =>
  member.api.call('createCard', { ...inColumn(column), body: { title, description: 'As it was' } })
const read = (card: Card) => owner.api.call('getCard', of(card))
const cardsIn = async ({ id }: Column): Promise<Card[]> => {
  const { columns } = await owner.api.call('getBoard', { params: { board_id: board.id } })
  return columns.find((column) => column.id === id)?.cards ?? []
}
const titles = async (column: Column) => (await cardsIn(column)).map(({ title }) => title)

/** The timestamps of the last messages, which the rows of the log do not show. */
async function lastTimes(count: number): Promise<string[]> {
  const { rows } = await service.sql.query(
    `select body::json ->> 'timestamp' as at from board_events where board_id = $1 order by seq desc limit $2`,
    [board.id, count],
  )
  return rows.map(({ at }) => at)
}
/** Exactly one event of this type, by the member, with the current card, changed at the time of the event. */
async function expectEvent(
  type: string,
  { response, events }: Awaited<ReturnType<typeof recordEvents>>,
): Promise<Card> {
  expect(response.status, response.text).toBeLessThan(300)
  expect(events).toMatchObject([{ type, user_id: member.id }])
  const card = events[0]?.data as unknown as Card
  expect(await read(card)).toEqual(card)
  if (response.text !== '') expect(response.body).toEqual(card)
  expect(await lastTimes(1)).toEqual([card.updated_at])
  return card
}

describe('creating', () => {
  test('[CARD-1] [CARD-2] [EVENT-1] [EVENT-5] a new card is last unless a position is given, and has every field', async () => {
    await newCard('Before')
    const body = { title: 'One', description: 'What to do' }
    const recorded = await recordEvents(board, () => member.api.send('createCard', { ...inColumn(todo), body }))
    const card = await expectEvent('card.created', recorded)
    expect(recorded.response.status).toBe(201)
    expect(card).toEqual({
      id: card.id,
      column_id: todo.id,
      ...body,
      rank: card.rank,
      labels: [],
      assignees: [],
      checklists: [],
      attachments: [],
      created_at: card.created_at,
      updated_at: card.created_at,
      number: card.number,
      due_on: null,
      comment_count: 0,
    })
    expect((await cardsIn(todo)).at(-1)).toEqual(card)
  })

  test('[CARD-1] [REQ-8] null is the same as leaving a field out', async () => {
    const body = { title: 'Nulls', id: null, description: null, position: null }
    const card = await member.api.call('createCard', { ...inColumn(todo), body })
    expect(card.description).toBeNull()
    expect((await cardsIn(todo)).at(-1)).toEqual(card)
  })

  test('[REQ-5] other fields of the body are ignored', async () => {
    const path = `/boards/${board.id}/columns/${todo.id}/cards`
    const claims = { column_id: done.id, rank: 7, assignees: [owner.id], created_at: '1999-01-01T00:00:00.000Z' }
    const { status, body } = await member.api.request('POST', path, { json: { title: 'Claims', ...claims } })
    expect({ status, body }).toMatchObject({ status: 201, body: { column_id: todo.id, assignees: [] } })
    expect((body as Card).created_at > '2000').toBe(true)
    expect((await cardsIn(todo)).at(-1)).toEqual(body)
  })

  test('[CARD-1] a column of another board is 404', async () => {
    for (const column of [elsewhere.columns[0], { ...todo, id: randomUUID() }]) {
      const failure = await member.api.fail('createCard', { ...inColumn(column), body: { title: 'Lost' } })
      expect(failure).toMatchObject({ status: 404, code: 'column_not_found' })
    }
  })
})

describe('changing', () => {
  test('[CARD-3] [CARD-9] title and description change', async () => {
    const before = await newCard()
    const body = { title: 'Other', description: 'New' }
    const recorded = await recordEvents(board, () => member.api.send('updateCard', { ...of(before), body }))
    const card = await expectEvent('card.updated', recorded)
    expect(card).toEqual({ ...before, ...body, updated_at: card.updated_at })
  })

  test('[CARD-3] [REQ-9] null clears the description', async () => {
    const before = await newCard()
    const body = { description: null }
    const recorded = await recordEvents(board, () => member.api.send('updateCard', { ...of(before), body }))
    expect(await expectEvent('card.updated', recorded)).toMatchObject({ title: before.title, description: null })
  })

  test('[CARD-3] [REQ-5] column, rank, assignees and times never change', async () => {
    const before = await newCard()
    const time = '1999-01-01T00:00:00.000Z'
    const claims = {
      id: randomUUID(),
      column_id: done.id,
      rank: 7,
      assignees: [owner.id],
      created_at: time,
      updated_at: time,
    }
    const recorded = await recordEvents(board, () =>
      member.api.request('PATCH', `/cards/${before.id}`, { json: { title: 'Claims', ...claims } }),
    )
    const card = await expectEvent('card.updated', recorded)
    expect(card).toEqual({ ...before, title: 'Claims', updated_at: card.updated_at })
  })
})

describe('deleting', () => {
  test('[CARD-4] the card is gone, card.deleted contains its last state, and a second delete is 404', async () => {
    const card = await newCard()
    const assigned = await member.api.call('assignCard', { ...of(card), body: { user_ids: [owner.id] } })
    const { response, events } = await recordEvents(board, () => member.api.send('deleteCard', of(card)))
    expect(response).toMatchObject({ status: 204, text: '' })
    expect(events).toMatchObject([{ type: 'card.deleted', user_id: member.id }])
    const [{ removed, ...last }] = events.map(({ data }) => data as unknown as Card) as [Card]
    expect(last).toEqual(assigned)
    expect(removed).toMatchObject({ as: 'deleted', by: member.id })
    const again = await recordEvents(board, () => member.api.send('deleteCard', of(card)))
    expect(again).toMatchObject({ response: { status: 404, body: { code: 'card_not_found' } }, events: [] })
    expect(await member.api.fail('getCard', of(card))).toMatchObject({ status: 404 })
    expect((await cardsIn(todo)).map(({ id }) => id)).not.toContain(card.id)
  })
})

describe('moving', () => {
  const move = (card: Card, body: object) => member.api.request('POST', `/cards/${card.id}/move`, { json: body })

  test.for([
    ['placed', { position: 1 }, ['A', 'X', 'B']],
    ['last unless placed', {}, ['A', 'B', 'X']],
    ['[REQ-8] last when the position is null', { position: null }, ['A', 'B', 'X']],
    ['first behind null', { after_id: null }, ['X', 'A', 'B']],
  ] as const)('[CARD-5] [CARD-9] to another column, %s', async ([, place, order]) => {
    const target = await owner.api.call('createColumn', { params: { board_id: board.id }, body: { title: 'Target' } })
    const before = await newCard('X')
    await newCard('A', target)
    await newCard('B', target)
    const recorded = await recordEvents(board, () => move(before, { column_id: target.id, ...place }))
    const card = await expectEvent('card.moved', recorded)
    expect(card).toEqual({ ...before, column_id: target.id, rank: card.rank, updated_at: card.updated_at })
    expect(await titles(target)).toEqual(order)
    expect((await cardsIn(todo)).map(({ id }) => id)).not.toContain(card.id)
  })

  test('[CARD-5] [REQ-8] without a column it moves within its own, last unless a position is given', async () => {
    const card = await newCard('Wanders')
    await newCard('Stays')
    expect(await expectEvent('card.moved', await recordEvents(board, () => move(card, { position: 0 })))).toBeDefined()
    expect((await titles(todo))[0]).toBe('Wanders')
    await expectEvent('card.moved', await recordEvents(board, () => move(card, { column_id: null })))
    expect((await titles(todo)).at(-1)).toBe('Wanders')
  })

  test('[CARD-5] [CARD-9] a move to its current position emits its event all the same', async () => {
    const before = await newCard()
    const order = await titles(todo)
    await expectEvent('card.moved', await recordEvents(board, () => move(before, { column_id: todo.id })))
    expect(await titles(todo)).toEqual(order)
  })

  test('[CARD-5] a column of another board is 404, and the card stays', async () => {
    const card = await newCard()
    for (const column_id of [elsewhere.columns[0].id, randomUUID()]) {
      const { response, events } = await recordEvents(board, () => move(card, { column_id }))
      expect(response).toMatchObject({ status: 404, body: { code: 'column_not_found' } })
      expect(events).toEqual([])
    }
    expect(await read(card)).toEqual(card)
  })

  test('[ORDER-4] [CARD-9] cards that are re-spaced for one from another column stay in their column, and are otherwise unchanged', async () => {
    const target = await owner.api.call('createColumn', { params: { board_id: board.id }, body: { title: 'Crowded' } })
    for (const title of ['A', 'B', 'C']) await newCard(title, target)
    await service.sql.query('update cards set rank = rank / (1 << 20) where column_id = $1', [target.id])
    const before = await cardsIn(target)
    const card = await newCard('X')
    const { response, events } = await recordEvents(board, () => move(card, { column_id: target.id, position: 1 }))
    const after = await cardsIn(target)
    expect(after.map(({ title }) => title)).toEqual(['A', 'X', 'B', 'C'])
    const others = events.slice(0, -1)
    expect(others.length).toBeGreaterThan(0)
    expect(events.at(-1)).toMatchObject({ user_id: member.id, data: response.body })
    for (const { type, user_id, data } of others) {
      const was = before.find(({ id }) => id === data['id'])
      expect({ type, user_id, data }).toEqual({
        type: 'card.moved',
        user_id: null,
        data: { ...was, rank: data['rank'] },
      })
      expect(after).toContainEqual(data)
    }
  })
})

describe('assigning', () => {
  const assign = (card: Card, user_ids: string[]): Promise<ApiResponse> =>
    member.api.send('assignCard', { ...of(card), body: { user_ids } })
  const assignees = async (card: Card) => (await read(card)).assignees.map(({ id }) => id)

  test('[CARD-6] [CARD-9] the users of the list are added in its order, each with an event, and no user is removed', async () => {
    const card = await newCard()
    await expectEvent('card.assigned', await recordEvents(board, () => assign(card, [member.id])))
    const { response, events } = await recordEvents(board, () => assign(card, [owner.id, member.id]))
    const shown = await read(card)
    expect(response).toMatchObject({ status: 200, body: shown })
    expect(await assignees(card)).toEqual([member.id, owner.id])
    expect(shown.assignees[1]).toEqual(await owner.api.call('getUser', { params: { user_id: owner.id } }))
    expect(events).toMatchObject(
      [owner, member].map(({ id }) => ({ type: 'card.assigned', user_id: member.id, subject_id: id })),
    )
    for (const { data } of events) expect(data).toEqual(shown)
    expect(await lastTimes(2)).toEqual([shown.updated_at, shown.updated_at])
  })

  test('[CARD-6] a user who is already assigned gets an event again, and updates the time', async () => {
    const card = await newCard()
    await assign(card, [member.id])
    await expectEvent('card.assigned', await recordEvents(board, () => assign(card, [member.id])))
    expect(await assignees(card)).toEqual([member.id])
  })

  test('[CARD-6] duplicates count once, in any spelling', async () => {
    const card = await newCard()
    await expectEvent(
      'card.assigned',
      await recordEvents(board, () => assign(card, [member.id, member.id.toUpperCase(), member.id])),
    )
    expect(await assignees(card)).toEqual([member.id])
  })

  test('[CARD-6] [CARD-9] [WRITE-1] an empty list changes nothing and emits nothing', async () => {
    const card = await newCard()
    const { response, events } = await recordEvents(board, () => assign(card, []))
    expect(response).toMatchObject({ status: 200, body: card })
    expect(events).toEqual([])
    expect(await read(card)).toEqual(card)
  })

  test('[CARD-6] a hundred users are assigned in the order of the list, a hundred and one are 422', async () => {
    const ids = Array.from({ length: 100 }, () => randomUUID())
      .toSorted()
      .toReversed()
    await service.sql.query(
      `with person as (insert into users (id, email, email_key, username, username_key, hashed_password)
         select id, id, id, id, id, '' from unnest($2::uuid[]) id returning id)
       insert into board_members (board_id, user_id, role) select $1, id, 'member' from unnest($2::uuid[]) id`,
      [board.id, ids],
    )
    const card = await newCard()
    expect(await assign(card, [...ids, owner.id])).toMatchObject({ status: 422 })
    const { events } = await recordEvents(board, () => assign(card, ids))
    expect(events.map(({ subject_id }) => subject_id)).toEqual(ids)
    expect(await assignees(card)).toEqual(ids)
  })

  test('[CARD-7] [V08] an unknown user is 404, a user who is not a member 403, and then no user is assigned', async () => {
    const card = await newCard()
    const outsider = elsewhere.member.id
    const { events } = await recordEvents(board, async () => {
      const refusals = { status: 403, body: { code: 'user_not_a_member' } }
      expect(await assign(card, [member.id, outsider])).toMatchObject(refusals)
      return assign(card, [outsider, member.id, randomUUID()])
    })
    expect(await assign(card, [randomUUID(), outsider])).toMatchObject({
      status: 404,
      body: { code: 'user_not_found' },
    })
    expect(events).toEqual([])
    expect(await read(card)).toEqual(card)
  })

  test('[CARD-8] [CARD-9] a user is unassigned; nothing happens if the user was not assigned', async () => {
    const card = await newCard()
    await assign(card, [owner.id, member.id])
    const params = { card_id: card.id, user_id: owner.id }
    const recorded = await recordEvents(board, () => member.api.send('unassignCard', { params }))
    expect(recorded).toMatchObject({ response: { status: 204, text: '' }, events: [{ subject_id: owner.id }] })
    const left = await expectEvent('card.unassigned', recorded)
    expect(left.assignees.map(({ id }) => id)).toEqual([member.id])
    const again = await recordEvents(board, () => member.api.send('unassignCard', { params }))
    expect(again).toMatchObject({ response: { status: 204 }, events: [] })
    expect(await read(card)).toEqual(left)
  })
})

import type { Card } from '@lockstep/contract/cards'
import type { Label } from '@lockstep/contract/labels'
import { emptyBoard, foldBoard, recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
let elsewhere: TestBoard
let member: TestUser
beforeAll(async () => {
  service = await startService()
  ;[board, elsewhere] = await Promise.all([service.board(), service.board()])
  member = board.member
})
afterAll(() => service.stop())

const newLabel = (name: string, color?: string) =>
  member.api.call('createLabel', { params: { board_id: board.id }, body: { name, ...(color && { color }) } })
const newCard = () =>
  member.api.call('createCard', {
    params: { board_id: board.id, column_id: board.columns[0].id },
    body: { title: 'Card' },
  })
const read = (card: Card) => member.api.call('getCard', { params: { card_id: card.id } })
const on = (card: Card, label: { id: string }) => ({ params: { card_id: card.id, label_id: label.id } })
const names = (labels: Label[]) => labels.map(({ name }) => name)

describe('labels of a board', () => {
  test('[LABEL-1] [REQ-7] are created with a name, and a color or the default color', async () => {
    const params = { board_id: board.id }
    const { response, events } = await recordEvents(board, () =>
      member.api.send('createLabel', { params, body: { name: 'Urgent' } }),
    )
    expect(response.body).toMatchObject({ board_id: board.id, name: 'Urgent', color: '#6b7280' })
    expect(events).toMatchObject([{ type: 'label.created', user_id: member.id, data: response.body }])
    await newLabel('Later', '#ff0000')
    expect(names(await member.api.call('listLabels', { params }))).toEqual(['Urgent', 'Later'])
    expect(await member.api.fail('createLabel', { params, body: { name: ' ' } })).toMatchObject({ status: 422 })
  })

  test('[LABEL-2] [REQ-9] [REQ-10] are changed with one event, and cards show the new version', async () => {
    const [label, card] = await Promise.all([newLabel('Old'), newCard()])
    const labeled = await member.api.call('addCardLabel', on(card, label))
    const params = { label_id: label.id }
    const { response, events } = await recordEvents(board, () =>
      member.api.send('updateLabel', { params, body: { name: 'New' } }),
    )
    expect(events).toMatchObject([{ type: 'label.updated', data: response.body }])
    expect(await read(card)).toEqual({ ...labeled, labels: [{ ...label, name: 'New' }] })
    const again = await recordEvents(board, () => member.api.send('updateLabel', { params, body: { name: 'New' } }))
    expect(again).toMatchObject({ response: { status: 200 }, events: [] })
    expect(await member.api.fail('updateLabel', { params, body: { color: null as never } })).toMatchObject({
      status: 422,
    })
  })

  test('[LABEL-3] [CARD-9] are deleted with one event, also from every card', async () => {
    const [label, card] = await Promise.all([newLabel('Gone'), newCard()])
    const labeled = await member.api.call('addCardLabel', on(card, label))
    const params = { label_id: label.id }
    const { events } = await recordEvents(board, () => member.api.send('deleteLabel', { params }))
    expect(events).toMatchObject([{ type: 'label.deleted', data: label }])
    expect(await read(card)).toEqual({ ...labeled, labels: [] })
    expect(await member.api.fail('deleteLabel', { params })).toMatchObject({ status: 404, code: 'label_not_found' })
  })
})

describe('labels of a card', () => {
  test('[LABEL-4] [CARD-9] a label is added once, with one event', async () => {
    const [label, card] = await Promise.all([newLabel('Once'), newCard()])
    const { response, events } = await recordEvents(board, () => member.api.send('addCardLabel', on(card, label)))
    expect(response.body).toMatchObject({ id: card.id, labels: [label] })
    expect(events).toMatchObject([{ type: 'card.labeled', data: response.body, subject_id: label.id }])
    expect((response.body as Card).updated_at >= card.updated_at).toBe(true)
    const again = await recordEvents(board, () => member.api.send('addCardLabel', on(card, label)))
    expect(again).toMatchObject({ response: { status: 200, body: response.body }, events: [] })
  })

  test('[LABEL-4] two concurrent requests emit one event', async () => {
    const [label, card] = await Promise.all([newLabel('Race'), newCard()])
    const before = (await board.events()).length
    await Promise.all([1, 2, 3].map(() => member.api.call('addCardLabel', on(card, label))))
    expect((await board.events()).slice(before)).toMatchObject([{ type: 'card.labeled' }])
  })

  test('[LABEL-4] [LABEL-5] [ACCESS-5] [V10] a label that does not exist, or of another board, is 404', async () => {
    const card = await newCard()
    const foreign = await elsewhere.owner.api.call('createLabel', {
      params: { board_id: elsewhere.id },
      body: { name: 'Foreign' },
    })
    for (const label of [foreign, { id: crypto.randomUUID() }]) {
      expect(await member.api.fail('addCardLabel', on(card, label))).toMatchObject({
        status: 404,
        code: 'label_not_found',
      })
      expect(await member.api.fail('removeCardLabel', on(card, label))).toMatchObject({ status: 404 })
    }
    expect((await read(card)).labels).toEqual([])
  })

  test('[LABEL-5] a label is removed with one event, and only if the card has it', async () => {
    const [label, card] = await Promise.all([newLabel('Off'), newCard()])
    await member.api.call('addCardLabel', on(card, label))
    const { events } = await recordEvents(board, () => member.api.send('removeCardLabel', on(card, label)))
    expect(events).toMatchObject([{ type: 'card.unlabeled', data: { id: card.id, labels: [] }, subject_id: label.id }])
    const again = await recordEvents(board, () => member.api.send('removeCardLabel', on(card, label)))
    expect(again).toMatchObject({ response: { status: 204 }, events: [] })
  })

  test('[LABEL-6] labels of a card are in the order in which they were added', async () => {
    const [first, second, third] = [await newLabel('1'), await newLabel('2'), await newLabel('3')]
    const card = await newCard()
    for (const label of [third, first, second]) await member.api.call('addCardLabel', on(card, label))
    expect(names((await read(card)).labels)).toEqual(['3', '1', '2'])
  })
})

test('[LABEL-7] statistics count cards, most used first, then by name', async () => {
  const own = await service.board()
  const { api } = own.member
  const params = { board_id: own.id }
  const [b, a, used] = await Promise.all(
    ['B', 'A', 'Used'].map((name) => api.call('createLabel', { params, body: { name } })),
  )
  const card = await api.call('createCard', {
    params: { ...params, column_id: own.columns[0].id },
    body: { title: 'Card' },
  })
  await api.call('addCardLabel', on(card, used as Label))
  const counted = await api.call('countLabels', { params })
  expect(counted).toEqual(
    [used, a, b].map((label, i) => ({
      label_id: label?.id,
      name: label?.name,
      color: '#6b7280',
      card_count: i === 0 ? 1 : 0,
    })),
  )
})

test('[EVENT-3] applying the events of labels gives the board', async () => {
  const own = await service.board()
  const { api } = own.owner
  const params = { board_id: own.id }
  const start = await api.call('getBoard', { params })
  const from = (await own.events()).length
  const card = await api.call('createCard', {
    params: { ...params, column_id: own.columns[0].id },
    body: { title: 'Card' },
  })
  const [one, two] = [
    await api.call('createLabel', { params, body: { name: 'One' } }),
    await api.call('createLabel', { params, body: { name: 'Two' } }),
  ]
  await api.call('addCardLabel', on(card, one))
  await api.call('addCardLabel', on(card, two))
  await api.call('updateLabel', { params: { label_id: one.id }, body: { name: 'Uno', color: '#123456' } })
  await api.call('deleteLabel', { params: { label_id: two.id } })
  const folded = foldBoard({ ...emptyBoard(start), columns: start.columns }, (await own.events()).slice(from))
  expect(folded).toEqual(await api.call('getBoard', { params }))
})

import type { Card } from '@lockstep/contract/cards'
import { recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
beforeAll(async () => {
  // Far from UTC: a conversion to a time would move the day.
  service = await startService({ TZ: 'Pacific/Kiritimati' })
  board = await service.board()
})
afterAll(() => service.stop())

const addCard = (due_on?: string | null, title = 'Card') =>
  board.member.api.call('createCard', {
    params: { board_id: board.id, column_id: board.columns[0].id },
    body: { title, ...(due_on !== undefined && { due_on }) },
  })
const send = (card: Card, due_on: unknown) =>
  board.member.api.request('PATCH', `/cards/${card.id}`, { json: { due_on } })

test('[DUE-1] a due date is returned as it was sent, in responses, events and the board', async () => {
  for (const day of ['2026-03-29', '1970-01-01', '2999-12-31', '2028-02-29']) {
    const card = await addCard(day)
    expect(card.due_on).toBe(day)
    const { columns } = await board.owner.api.call('getBoard', { params: { board_id: board.id } })
    expect(columns[0]?.cards.at(-1)).toEqual(card)
  }
  const card = await addCard()
  expect(card.due_on).toBeNull()
  const { events, response } = await recordEvents(board, () => send(card, '2026-10-25'))
  expect(response.body).toMatchObject({ due_on: '2026-10-25' })
  expect(events).toMatchObject([{ type: 'card.updated', data: { id: card.id, due_on: '2026-10-25' } }])
})

test.each([
  ...['2026-02-30', '2026-13-01', '1969-12-31', '3000-01-01', '2026-3-29', '', 'tomorrow'],
  ...['2026-03-29T00:00:00.000Z', 20260329, true, ['2026-03-29']],
])('[DUE-1] %j is not a due date: 422', async (due_on) => {
  const card = await addCard('2026-11-20')
  const { events, response } = await recordEvents(board, () => send(card, due_on))
  expect([response.status, events]).toEqual([422, []])
})

test('[DUE-2] the same day again changes nothing; null clears it', async () => {
  const card = await addCard('2026-11-20')
  const same = await recordEvents(board, () => send(card, '2026-11-20'))
  expect([same.response.body, same.events]).toEqual([card, []])
  const cleared = await recordEvents(board, () => send(card, null))
  expect(cleared.events).toMatchObject([{ type: 'card.updated', data: { due_on: null, title: card.title } }])
})

test('[COMPAT-1] requests without the new fields, of a client that does not know them, change nothing of them', async () => {
  const card = await addCard('2026-11-20')
  const { api } = board.member
  await api.call('updateCard', { params: { card_id: card.id }, body: { title: 'Other', description: null } })
  const moved = await api.call('moveCard', { params: { card_id: card.id }, body: { column_id: board.columns[1].id } })
  expect(moved).toMatchObject({ title: 'Other', due_on: '2026-11-20', number: card.number })
})

test('[SEARCH-3] due_from and due_to find cards by their due date, both days included', async () => {
  const other = await service.board()
  const { api } = other.member
  for (const due_on of ['2026-11-19', '2026-11-20', '2026-11-21', null]) {
    const params = { board_id: other.id, column_id: other.columns[0].id }
    await api.call('createCard', { params, body: { title: due_on ?? 'none', due_on } })
  }
  const find = async (query: { due_from?: string; due_to?: string; search?: string }) =>
    (await api.call('findCards', { params: { board_id: other.id }, query })).map(({ title }) => title)
  expect(await find({ due_from: '2026-11-20' })).toEqual(['2026-11-21', '2026-11-20'])
  expect(await find({ due_to: '2026-11-20' })).toEqual(['2026-11-20', '2026-11-19'])
  expect(await find({ due_from: '2026-11-20', due_to: '2026-11-20' })).toEqual(['2026-11-20'])
  expect(await find({ due_from: '2026-11-20', search: '21' })).toEqual(['2026-11-21'])
  expect(await find({})).toHaveLength(4)
  const link = await api.request('GET', `/boards/${other.id}/cards?due_to=2026-11-21&limit=2`)
  expect(link.headers.get('link')).toContain('due_to=2026-11-21')
})

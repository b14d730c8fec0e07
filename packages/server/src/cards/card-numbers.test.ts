import { randomUUID } from 'node:crypto'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const addCard = ({ id, member, columns }: TestBoard, title = 'Card') =>
  member.api.call('createCard', { params: { board_id: id, column_id: columns[0].id }, body: { title } })
const deleteCard = ({ member }: TestBoard, { id }: { id: string }) =>
  member.api.call('deleteCard', { params: { card_id: id } })

test('[NUM-1] cards are numbered from 1, and a number is not used again after a deletion', async () => {
  const board = await service.board()
  const cards = [await addCard(board), await addCard(board), await addCard(board)]
  expect(cards.map(({ number }) => number)).toEqual([1, 2, 3])
  await deleteCard(board, { id: cards[2]?.id ?? '' })
  expect((await addCard(board)).number).toBe(4)
  const other = await service.board()
  expect((await addCard(other)).number).toBe(1)
})

test('[NUM-1] concurrent creates have different numbers, and a failed one uses none', async () => {
  const board = await service.board()
  const { id: column_id } = board.columns[0]
  const gone = { params: { board_id: board.id, column_id: randomUUID() }, body: { title: 'Lost' } }
  const taken = await addCard(board)
  const twice = { params: { board_id: board.id, column_id }, body: { id: taken.id, title: 'Taken' } }
  const failing = [board.member.api.fail('createCard', gone), board.member.api.fail('createCard', twice)]
  const made = await Promise.all(Array.from({ length: 20 }, () => addCard(board)))
  expect((await Promise.all(failing)).map(({ code }) => code)).toEqual(['column_not_found', 'id_taken'])
  expect(made.map(({ number }) => number).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 2))
})

test('[NUM-1] the number stays when a card is changed and moved', async () => {
  const board = await service.board()
  const { api } = board.member
  await addCard(board)
  const { id, number } = await addCard(board)
  await api.call('updateCard', { params: { card_id: id }, body: { title: 'Other' } })
  await api.call('moveCard', { params: { card_id: id }, body: { column_id: board.columns[1].id } })
  const claim = await api.request('PATCH', `/cards/${id}`, { json: { title: 'Claimed', number: 77 } })
  expect(claim.body).toMatchObject({ title: 'Claimed', number })
  const events = (await board.events()).filter(({ data }) => data['id'] === id)
  expect(events.map(({ data }) => data['number'])).toEqual(events.map(() => number))
})

test('[SEARCH-3] a card is found by its number', async () => {
  const board = await service.board()
  for (const title of ['One', 'Two', 'Three']) await addCard(board, title)
  const find = (number: number) =>
    board.member.api.call('findCards', { params: { board_id: board.id }, query: { number } })
  expect((await find(2)).map(({ title }) => title)).toEqual(['Two'])
  expect(await find(4)).toEqual([])
  const invalid = await board.member.api.request('GET', `/boards/${board.id}/cards?number=0`)
  expect(invalid.status).toBe(422)
})

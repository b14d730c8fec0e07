import { randomUUID } from 'node:crypto'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

/** Writes are authorized before their body is read and again under the board lock. */
let service: TestService
let board: TestBoard
let card: { card_id: string }
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())
beforeEach(async () => {
  board = await service.board()
  card = await newCard(board)
  await rename()
  await rename()
})

async function newCard({ id: board_id, columns: [{ id: column_id }], owner }: TestBoard, id: string = randomUUID()) {
  await owner.api.call('createCard', { params: { board_id, column_id }, body: { id, title: 'Known' } })
  return { card_id: id }
}
let renamed = 0
const rename = () => board.member.api.call('updateCard', { params: card, body: { title: `Name ${++renamed}` } })
const rejection = async (body: object = { title: `Name ${++renamed}` }) => {
  const { status, code } = await board.member.api.fail('updateCard', { params: card, body })
  return [status, code]
}
const logged = async () => (await board.events()).length

test('[ACCESS-8] a removed member is rejected on the next write, whether its payload is valid or not', async () => {
  const params = { board_id: board.id, user_id: board.member.id }
  await board.owner.api.call('removeMember', { params })
  const before = await logged()
  expect(await rejection()).toEqual([403, 'not_a_member'])
  await board.owner.api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: board.member.id } })
  await rename()
  await board.owner.api.call('removeMember', { params })
  expect(await rejection({ title: 5 })).toEqual([403, 'not_a_member'])
  expect(await logged()).toBe(before + 3)
})

test('[ACCESS-8] a deactivated user is rejected on the next write', async () => {
  await service.sql.query('update users set is_active = false where id = $1', [board.member.id])
  expect(await rejection()).toEqual([401, 'not_authenticated'])
})

test('[ACCESS-8] [REQ-15] [LIMIT-5] authorization precedes 413, 422 and 429', async () => {
  const limited = await startService({ RATE_LIMITS: 'on', MAX_REQUESTS_PER_MINUTE: '5' }, { beside: service })
  try {
    const send = (body: string, type = 'application/json') =>
      fetch(`${limited.baseUrl}/cards/${card.card_id}`, {
        method: 'PATCH',
        body,
        headers: { authorization: `Bearer ${board.member.api.token}`, 'content-type': type },
      }).then(({ status }) => status)
    expect([await send('{"title":"One"}'), await send('{"title":"Two"}')]).toEqual([200, 200])
    const params = { board_id: board.id, user_id: board.member.id }
    await board.owner.api.call('removeMember', { params })
    expect(await send(`{"title":"${'x'.repeat(1_100_000)}"}`)).toBe(403)
    expect(await send('{"title":"Three"}', 'nonsense')).toBe(403)
    for (let i = 0; i < 4; i++) expect(await send('{"title":"Four"}')).toBe(403)
  } finally {
    await limited.stop()
  }
})

test('[ACCESS-8] a deleted resource is 404, whatever the payload', async () => {
  await board.owner.api.call('deleteCard', { params: card })
  expect(await rejection()).toEqual([404, 'card_not_found'])
  expect(await rejection({ title: 5 })).toEqual([404, 'card_not_found'])
})

test('[ACCESS-8] an id that was reused on another board is authorized there', async () => {
  await board.owner.api.call('deleteCard', { params: card })
  await board.owner.api.call('purgeRemoved', { params: { board_id: board.id, removed_id: card.card_id } })
  const other = await service.board()
  await newCard(other, card.card_id)
  expect(await rejection()).toEqual([403, 'not_a_member'])
  const params = { board_id: other.id }
  await other.owner.api.call('inviteMember', { params, body: { user_id: board.member.id } })
  const { title } = await rename()
  const events = await other.events()
  expect(events.at(-1)).toMatchObject({ type: 'card.updated', data: { id: card.card_id, title } })
})

test('[ACCESS-8] [REQ-3] an invalid payload of a member is 422 and changes nothing', async () => {
  const before = await logged()
  expect(await rejection({ title: 5 })).toEqual([422, 'invalid_input'])
  expect(await logged()).toBe(before)
  await rename()
})

test('[WRITE-9] the response and the event of a new or moved card equal a later GET, byte for byte', async () => {
  const { id: board_id, columns, owner } = board
  const [from, to] = columns.map(({ id }) => id) as [string, string]
  const odd = '"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028é😀'
  const body = { title: `Title ${odd}`, description: odd }
  const made = await owner.api.send('createCard', { params: { board_id, column_id: from }, body })
  const params = { card_id: (made.body as { id: string }).id }
  const read = async () => (await owner.api.send('getCard', { params })).text
  expect(made.text).toBe(await read())
  await owner.api.call('createChecklist', { params, body: { title: 'Steps' } })
  const moved = await owner.api.send('moveCard', { params, body: { column_id: to, position: 0 } })
  expect(moved.text).toBe(await read())
  const event = (await board.events()).filter(({ data }) => data['id'] === params.card_id).at(-1)
  expect(event).toMatchObject({ type: 'card.moved', data: JSON.parse(moved.text) as object })
})

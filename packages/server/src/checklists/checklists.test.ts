import type { Card } from '@lockstep/contract/cards'
import type { Checklist, ChecklistItem } from '@lockstep/contract/checklists'
import type { ApiResponse } from '@lockstep/testing/client'
import { recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
let elsewhere: TestBoard
let member: TestUser
let card: Card
beforeAll(async () => {
  service = await startService()
  ;[board, elsewhere] = await Promise.all([service.board(), service.board()])
  member = board.member
  card = await newCard()
})
afterAll(() => service.stop())

const newCard = (of = board) =>
  of.member.api.call('createCard', {
    params: { board_id: of.id, column_id: of.columns[0].id },
    body: { title: 'Card' },
  })
const newChecklist = (title = 'List', on = card, by = member) =>
  by.api.call('createChecklist', { params: { card_id: on.id }, body: { title } })
const newItem = (list: Checklist, content = 'Item') =>
  member.api.call('createItem', { params: { checklist_id: list.id }, body: { content } })
const of = (list: { id: string }) => ({ params: { checklist_id: list.id } })
const at = (item: { id: string }) => ({ params: { item_id: item.id } })
const listsOn = async ({ id }: Card) => (await member.api.call('getCard', { params: { card_id: id } })).checklists
const itemsOf = async ({ id }: Checklist) => (await listsOn(card)).find((list) => list.id === id)?.items ?? []

/** Runs a change that must emit exactly one event of this type, by the member, with the response body as its data. */
async function emitsOne(type: string, act: () => Promise<ApiResponse>) {
  const { response, events } = await recordEvents(board, act)
  expect(events, response.text).toMatchObject([{ type, user_id: member.id }])
  if (response.status !== 204) expect(events[0]?.data).toEqual(response.body)
  return { body: response.body, data: events[0]?.data }
}

describe('checklists', () => {
  test('[CHECK-1] are added last, and listed in order on the card', async () => {
    const own = await newCard()
    const params = { card_id: own.id }
    const { body } = await emitsOne('checklist.created', () =>
      member.api.send('createChecklist', { params, body: { title: 'A' } }),
    )
    expect(body).toMatchObject({ card_id: own.id, title: 'A', items: [] })
    const second = await newChecklist('B', own)
    expect(await listsOn(own)).toEqual([body, second])
  })

  test('[CHECK-2] [REQ-5] [REQ-10] can be renamed, which changes nothing else', async () => {
    const list = await newChecklist()
    await newItem(list)
    const change = { title: 'Renamed', rank: 1, card_id: crypto.randomUUID(), items: [] }
    const { body } = await emitsOne('checklist.updated', () =>
      member.api.send('updateChecklist', { ...of(list), body: change }),
    )
    expect(body).toEqual({ ...list, title: 'Renamed', items: await itemsOf(list) })
    const again = await recordEvents(board, () =>
      member.api.send('updateChecklist', { ...of(list), body: { title: 'Renamed' } }),
    )
    expect(again).toMatchObject({ response: { status: 200, body }, events: [] })
  })

  test('[CHECK-3] are deleted with their items, with one event', async () => {
    const list = await newChecklist()
    const item = await newItem(list)
    const { data } = await emitsOne('checklist.deleted', () => member.api.send('deleteChecklist', of(list)))
    expect(data).toEqual({ ...list, items: [item] })
    expect(await member.api.fail('updateItem', { ...at(item), body: {} })).toMatchObject({
      status: 404,
      code: 'item_not_found',
    })
    expect(await member.api.fail('deleteChecklist', of(list))).toMatchObject({
      status: 404,
      code: 'checklist_not_found',
    })
  })

  test('[CHECK-4] [ORDER-1] [ORDER-2] are moved to a position or after an anchor, one of which is required', async () => {
    const own = await newCard()
    const [a, b, c] = [await newChecklist('A', own), await newChecklist('B', own), await newChecklist('C', own)]
    await emitsOne('checklist.moved', () => member.api.send('moveChecklist', { ...of(c), body: { position: 0 } }))
    await emitsOne('checklist.moved', () => member.api.send('moveChecklist', { ...of(a), body: { after_id: b.id } }))
    expect((await listsOn(own)).map(({ title }) => title)).toEqual(['C', 'B', 'A'])
    expect(await member.api.fail('moveChecklist', { ...of(a), body: {} })).toMatchObject({ status: 422 })
  })
})

describe('items', () => {
  test('[CHECK-5] are added last and not done, and need visible content', async () => {
    const list = await newChecklist()
    const body = { content: 'First' }
    const first = await emitsOne('checklist_item.created', () => member.api.send('createItem', { ...of(list), body }))
    expect(first.body).toMatchObject({ checklist_id: list.id, content: 'First', is_done: false, assignees: [] })
    const second = await newItem(list, 'Second')
    expect(await itemsOf(list)).toEqual([first.body, second])
    for (const content of ['', ' \n', 'x'.repeat(2001)])
      expect(await member.api.fail('createItem', { ...of(list), body: { content } })).toMatchObject({ status: 422 })
  })

  test('[CHECK-6] are checked off, changed and deleted', async () => {
    const list = await newChecklist()
    const item = await newItem(list)
    const ticked = await emitsOne('checklist_item.updated', () =>
      member.api.send('updateItem', { ...at(item), body: { is_done: true } }),
    )
    expect(ticked.body).toEqual({ ...item, is_done: true })
    const { body } = await emitsOne('checklist_item.updated', () =>
      member.api.send('updateItem', { ...at(item), body: { content: 'New' } }),
    )
    expect(body).toEqual({ ...item, is_done: true, content: 'New' })
    const { data } = await emitsOne('checklist_item.deleted', () => member.api.send('deleteItem', at(item)))
    expect(data).toEqual(body)
    expect(await itemsOf(list)).toEqual([])
  })

  test('[CHECK-7] [ORDER-1] are moved within their checklist and to another checklist of the board', async () => {
    const [from, to] = [await newChecklist('From'), await newChecklist('To')]
    const [a, b, c] = [await newItem(from, 'A'), await newItem(from, 'B'), await newItem(to, 'C')]
    const send = (item: ChecklistItem, body: object) =>
      emitsOne('checklist_item.moved', () => member.api.send('moveItem', { ...at(item), body }))
    await send(b, { position: 0 })
    expect((await itemsOf(from)).map(({ content }) => content)).toEqual(['B', 'A'])
    await send(a, { checklist_id: to.id, position: 0 })
    await send(b, { checklist_id: to.id })
    expect(await itemsOf(from)).toEqual([])
    expect((await itemsOf(to)).map(({ id }) => id)).toEqual([a.id, c.id, b.id])
  })

  test('[CHECK-7] [ACCESS-5] are never moved to a checklist of another board', async () => {
    const item = await newItem(await newChecklist())
    const foreign = await newChecklist('Foreign', await newCard(elsewhere), elsewhere.member)
    for (const checklist_id of [foreign.id, crypto.randomUUID()]) {
      const failure = await member.api.fail('moveItem', { ...at(item), body: { checklist_id, position: 0 } })
      expect(failure).toMatchObject({ status: 404, code: 'checklist_not_found' })
    }
  })

  test('[ORDER-4] without a gap between ranks, events of re-spaced neighbours come first, without a user', async () => {
    const list = await newChecklist()
    const [a, b, c] = [await newItem(list, 'A'), await newItem(list, 'B'), await newItem(list, 'C')]
    await service.sql.query(
      'update checklist_items set rank = case id when $1 then 1 when $2 then 2 else 3 end where checklist_id = $3',
      [a.id, b.id, list.id],
    )
    const { events } = await recordEvents(board, () => member.api.send('moveItem', { ...at(c), body: { position: 1 } }))
    expect(events.length).toBeGreaterThan(1)
    expect(events.map(({ user_id }) => user_id)).toEqual([...events.slice(1).map(() => null), member.id])
    expect((await itemsOf(list)).map(({ content }) => content)).toEqual(['A', 'C', 'B'])
  })
})

describe('assignees of an item', () => {
  test('[CHECK-8] are added with one event for each user of the list, and removed', async () => {
    const item = await newItem(await newChecklist())
    const user_ids = [board.owner.id, member.id, board.owner.id]
    const { response, events } = await recordEvents(board, () =>
      member.api.send('assignItem', { ...at(item), body: { user_ids } }),
    )
    expect((response.body as ChecklistItem).assignees.map(({ id }) => id)).toEqual([board.owner.id, member.id])
    expect(events.map(({ type, subject_id }) => [type, subject_id])).toEqual([
      ['checklist_item.assigned', board.owner.id],
      ['checklist_item.assigned', member.id],
    ])
    const off = { params: { item_id: item.id, user_id: board.owner.id } }
    await emitsOne('checklist_item.unassigned', () => member.api.send('unassignItem', off))
    expect(await recordEvents(board, () => member.api.send('unassignItem', off))).toMatchObject({
      response: { status: 204 },
      events: [],
    })
  })

  test('[CHECK-8] [ACCESS-4] an unknown user is 404, a user who is not a member 403, and then no user is assigned', async () => {
    const item = await newItem(await newChecklist())
    const send = (user_id: string) =>
      member.api.fail('assignItem', { ...at(item), body: { user_ids: [member.id, user_id] } })
    expect(await send(crypto.randomUUID())).toMatchObject({ status: 404, code: 'user_not_found' })
    expect(await send(elsewhere.owner.id)).toMatchObject({ status: 403, code: 'user_not_a_member' })
    const { body } = await member.api.send('assignItem', { ...at(item), body: { user_ids: [] } })
    expect((body as ChecklistItem).assignees).toEqual([])
  })

  test('[CHECK-8] [MEMBER-5] a removed member is unassigned from every item, each with its event, before the event of the removal', async () => {
    const guest = await service.user()
    const params = { board_id: board.id }
    await board.owner.api.call('inviteMember', { params, body: { user_id: guest.id } })
    const item = await newItem(await newChecklist())
    await member.api.call('assignItem', { ...at(item), body: { user_ids: [guest.id] } })
    const { events } = await recordEvents(board, () =>
      board.owner.api.send('removeMember', { params: { ...params, user_id: guest.id } }),
    )
    expect(events).toMatchObject([
      { type: 'checklist_item.unassigned', data: { ...item, assignees: [] }, subject_id: guest.id },
      { type: 'board.member_removed' },
    ])
  })
})

import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../index.ts'
import { openBoard } from './live-board.ts'
import type { ChangeName, Input } from './types.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

test('[SYNC-23] for every kind of change, its event is own on the board that made it, and on no other board of the user', async () => {
  const board = await service.board()
  const { id: user_id } = await service.user()
  const client = createClient({ baseUrl: service.baseUrl, token: board.owner.api.token })
  const [mine, other] = await Promise.all([openBoard(client, board.id), openBoard(client, board.id)])
  const received: [string, boolean][][] = [[], []]
  ;[mine, other].forEach((each, i) => {
    each.onEvent((event, { isOwn }) => {
      if ('user_id' in event && event.user_id !== null) received[i]?.push([event.type, isOwn])
    })
  })
  const made = new Set<ChangeName>()
  const make = <N extends ChangeName>(name: N, input: Input<N>) => {
    made.add(name)
    return mine.change(name, input).id
  }
  const column_id = board.columns[0].id
  make('updateBoard', { title: 'Other' })
  make('inviteMember', { user_id })
  make('updateMember', { user_id, role: 'owner' })
  const [one, two] = [make('createColumn', { title: 'One' }), make('createColumn', { title: 'Two' })]
  make('updateColumn', { column_id: one, title: 'Uno' })
  make('moveColumn', { column_id: two, after_id: null })
  make('deleteColumn', { column_id: two })
  const label_id = make('createLabel', { name: 'Label', color: '#0ea5e9' })
  make('updateLabel', { label_id, name: 'Renamed' })
  const card_id = make('createCard', { column_id, title: 'Card' })
  make('updateCard', { card_id, title: 'Renamed' })
  make('moveCard', { card_id, column_id: one, position: 0 })
  make('assignCard', { card_id, user_ids: [board.owner.id, board.member.id] })
  make('unassignCard', { card_id, user_id: board.owner.id })
  make('addCardLabel', { card_id, label_id })
  make('removeCardLabel', { card_id, label_id })
  const checklist_id = make('createChecklist', { card_id, title: 'Checklist' })
  make('updateChecklist', { checklist_id, title: 'Renamed' })
  make('moveChecklist', { checklist_id, position: 0 })
  const item_id = make('createItem', { checklist_id, content: 'Item' })
  make('updateItem', { item_id, is_done: true })
  make('moveItem', { item_id, position: 0 })
  make('assignItem', { item_id, user_ids: [board.member.id, board.owner.id] })
  make('unassignItem', { item_id, user_id: board.owner.id })
  // This also unassigns the member from the card and the item.
  make('removeMember', { user_id: board.member.id })
  make('deleteItem', { item_id })
  make('deleteChecklist', { checklist_id })
  make('deleteCard', { card_id })
  make('deleteLabel', { label_id })
  make('deleteBoard', {})
  const reasons = () => [mine, other].map(({ status }) => status.reason)
  await expect.poll(reasons, { timeout: 10_000 }).toEqual(['deleted', 'deleted'])
  client.close()
  // All kinds of changes except files.
  expect(made.size).toBe(30)
  expect(received[0]?.length).toBeGreaterThan(30)
  expect(received[0]?.filter(([, isOwn]) => !isOwn)).toEqual([])
  expect(received[1]).toEqual(received[0]?.map(([type]) => [type, false]))
})

import { randomUUID } from 'node:crypto'
import type { Card } from '@lockstep/contract/cards'
import type { LoggedEvent } from '@lockstep/contract/realtime'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
beforeAll(async () => {
  service = await startService()
  board = await service.board()
})
afterAll(() => service.stop())

const addCard = (title: string, place = {}): Promise<Card> =>
  board.member.api.call('createCard', {
    params: { board_id: board.id, column_id: board.columns[0].id },
    body: { title, ...place },
  })
const historyOf = (card_id: string, query: { cursor?: string; limit?: number } = {}, board_id = board.id) =>
  board.owner.api.call('listCardEvents', { params: { board_id, card_id }, query: { limit: 200, ...query } })
const typesOf = (events: LoggedEvent[]) => events.map(({ type }) => type)

test('[HIST-5] [HIST-6] the history of a card is what the log says of it and of its contents, newest first, with its authors', async () => {
  const { owner, member, columns } = board
  const { id: card_id } = await addCard('Card')
  const other = await addCard('Other')
  const params = { card_id }
  const label = await owner.api.call('createLabel', { params: { board_id: board.id }, body: { name: 'Label' } })
  await owner.api.call('createRule', {
    params: { board_id: board.id },
    body: {
      name: 'Rule',
      ...{ trigger_type: 'CARD_MOVED', trigger_column_id: columns[1].id },
      ...{ action_type: 'ASSIGN_MEMBER', action_user_id: owner.id },
    },
  })
  await owner.api.call('updateCard', { params, body: { title: 'Renamed' } })
  await owner.api.call('updateCard', { params: { card_id: other.id }, body: { title: 'Not in it' } })
  await member.api.call('moveCard', { params, body: { column_id: columns[1].id } })
  await owner.api.call('addCardLabel', { params: { card_id, label_id: label.id } })
  await owner.api.call('removeCardLabel', { params: { card_id, label_id: label.id } })
  await owner.api.call('assignCard', { params, body: { user_ids: [member.id] } })
  await owner.api.call('unassignCard', { params: { card_id, user_id: owner.id } })
  const list = await owner.api.call('createChecklist', { params, body: { title: 'List' } })
  const checklist = { checklist_id: list.id }
  await owner.api.call('updateChecklist', { params: checklist, body: { title: 'Steps' } })
  await owner.api.call('moveChecklist', { params: checklist, body: { position: 0 } })
  const { id: item_id } = await owner.api.call('createItem', { params: checklist, body: { content: 'Item' } })
  await owner.api.call('updateItem', { params: { item_id }, body: { is_done: true } })
  await owner.api.call('moveItem', { params: { item_id }, body: { position: 0 } })
  await owner.api.call('assignItem', { params: { item_id }, body: { user_ids: [member.id, owner.id] } })
  await owner.api.call('unassignItem', { params: { item_id, user_id: owner.id } })
  await owner.api.call('removeMember', { params: { board_id: board.id, user_id: member.id } })
  await owner.api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: member.id } })
  await owner.api.call('deleteItem', { params: { item_id } })
  await owner.api.call('deleteChecklist', { params: checklist })
  const file = await owner.api.call('createAttachment', { params, body: { file: new Blob(['x']) } })
  await owner.api.call('deleteAttachment', { params: { attachment_id: file.id } })
  const { id: comment_id } = await member.api.call('createComment', { params, body: { body: 'Hello' } })
  await member.api.call('updateComment', { params: { comment_id }, body: { body: 'Hello!' } })
  await owner.api.call('deleteComment', { params: { comment_id } })

  const history = await historyOf(card_id)
  const [o, m] = [owner.id, member.id]
  expect(history.toReversed().map(({ type, user_id, actor_id }) => [type, user_id, actor_id])).toEqual([
    ['card.created', m, m],
    ['card.updated', o, o],
    ['card.moved', m, m],
    // By the rule.
    ['card.assigned', null, null],
    ['card.labeled', o, o],
    ['card.unlabeled', o, o],
    ['card.assigned', o, o],
    ['card.unassigned', o, o],
    ['checklist.created', o, o],
    ['checklist.updated', o, o],
    ['checklist.moved', o, o],
    ['checklist_item.created', o, o],
    ['checklist_item.updated', o, o],
    ['checklist_item.moved', o, o],
    ['checklist_item.assigned', o, o],
    ['checklist_item.assigned', o, o],
    ['checklist_item.unassigned', o, o],
    // With the membership.
    ['card.unassigned', null, o],
    ['checklist_item.unassigned', null, o],
    ['checklist_item.deleted', o, o],
    ['checklist.deleted', o, o],
    ['attachment.created', o, o],
    ['attachment.deleted', o, o],
    ['comment.created', m, m],
    ['comment.updated', m, m],
    ['comment.deleted', o, o],
  ])
  // The same events as in the log of the board.
  const log = await owner.api.call('listEvents', { params: { board_id: board.id }, query: { limit: 500 } })
  const numbers = history.map(({ seq }) => seq)
  expect(history).toEqual(log.filter(({ seq }) => numbers.includes(seq)).toReversed())

  // It outlives the card.
  await owner.api.call('deleteCard', { params })
  const [newest, ...rest] = await historyOf(card_id)
  expect([newest?.type, rest]).toEqual(['card.deleted', history])
  const gone = await owner.api.send('getCard', { params })
  expect(gone.status).toBe(404)
})

test('[HIST-5] pages lead to the oldest event, also while there are new ones', async () => {
  const { id: card_id } = await addCard('Card')
  const { api } = board.owner
  const rename = (title: string) => api.call('updateCard', { params: { card_id }, body: { title } })
  for (let n = 0; n < 12; n++) await rename(`Card ${n}`)
  const all = await historyOf(card_id)
  expect(all).toHaveLength(13)
  const seen: LoggedEvent[] = []
  const sizes: number[] = []
  for (let path: string | undefined = `/boards/${board.id}/cards/${card_id}/events?limit=5`; path; ) {
    const { body, headers } = await api.request('GET', path)
    seen.push(...(body as LoggedEvent[]))
    sizes.push((body as LoggedEvent[]).length)
    await rename(`Later ${sizes.length}`)
    path = /<(.+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  expect([sizes, seen]).toEqual([[5, 5, 3], all])
  for (const query of ['limit=0', 'limit=201', 'cursor=0', 'cursor=x'])
    expect((await api.request('GET', `/boards/${board.id}/cards/${card_id}/events?${query}`)).status).toBe(422)
})

test('[HIST-4] [HIST-5] a page ends with the event that fills 1 MiB', async () => {
  const { id: card_id } = await addCard('Card')
  for (const letter of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const description = letter.repeat(65_536)
    await board.owner.api.call('updateCard', { params: { card_id }, body: { description } })
  }
  await service.sql.query(
    `insert into board_events (board_id, seq, created_at, type, card_id, body)
     select board_id, 1000000 + n, now(), type, card_id, body from (
       select * from board_events where board_id = $1 and card_id = $2 order by seq desc limit 1) event, generate_series(1, 30) n`,
    [board.id, card_id],
  )
  const { body, headers } = await board.owner.api.send('listCardEvents', { params: { board_id: board.id, card_id } })
  expect(body).toHaveLength(16)
  expect(headers.get('link')).toContain('cursor=1000015')
  await service.sql.query('delete from board_events where board_id = $1 and seq > 1000000', [board.id])
})

test('[HIST-5] neighbours that were only re-spaced have no event in their history', async () => {
  const [first, second] = [await addCard('First'), await addCard('Second')]
  const list = await board.owner.api.call('createChecklist', { params: { card_id: first.id }, body: { title: 'List' } })
  const checklist = { checklist_id: list.id }
  const items = []
  for (const content of ['One', 'Two', 'Three'])
    items.push(await board.owner.api.call('createItem', { params: checklist, body: { content } }))
  await service.sql.query('update cards set rank = case id when $1 then 1 else 2 end where id in ($1, $2)', [
    first.id,
    second.id,
  ])
  await service.sql.query('update checklist_items set rank = array_position($1::uuid[], id) where id = any ($1)', [
    items.map(({ id }) => id),
  ])
  const before = (await board.events()).length
  const between = await addCard('Between', { after_id: first.id })
  const [after_id = '', , item_id = ''] = items.map(({ id }) => id)
  await board.owner.api.call('moveItem', { params: { item_id }, body: { after_id } })
  const added = (await board.events()).slice(before)
  const moved = added.filter(({ user_id }) => user_id === null).map(({ type }) => type)
  expect(new Set(moved)).toEqual(new Set(['card.moved', 'checklist_item.moved']))
  expect(typesOf(await historyOf(second.id))).toEqual(['card.created'])
  expect(typesOf(await historyOf(between.id))).toEqual(['card.created'])
  expect(typesOf(await historyOf(first.id))).toEqual([
    'checklist_item.moved',
    ...items.map(() => 'checklist_item.created'),
    ...['checklist.created', 'card.created'],
  ])
})

test('[HIST-5] is for members of the board; a card that never was, or of another board, has no history', async () => {
  const elsewhere = await service.board()
  const card = await addCard('Card')
  expect(await historyOf(randomUUID())).toEqual([])
  const foreign = { board_id: elsewhere.id, card_id: card.id }
  expect(await elsewhere.owner.api.call('listCardEvents', { params: foreign })).toEqual([])
  const rejected = await elsewhere.owner.api.send('listCardEvents', {
    params: { board_id: board.id, card_id: card.id },
  })
  expect(rejected.status).toBe(403)
})

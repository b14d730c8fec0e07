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

test('[ACCESS-8] a deleted card is 404 also on an archived board, and an archived board is 409 for its other cards', async () => {
  const kept = await newCard(board)
  await board.member.api.call('updateCard', { params: kept, body: { title: 'Kept' } })
  await board.owner.api.call('deleteCard', { params: card })
  await board.owner.api.call('archiveBoard', { params: { board_id: board.id } })
  expect(await rejection()).toEqual([404, 'card_not_found'])
  expect(await board.member.api.fail('updateCard', { params: kept, body: { title: 'Late' } })).toMatchObject({
    status: 409,
    code: 'board_archived',
  })
})

test('[ACCESS-8] an item of an archived card is 404 also with If-Match', async () => {
  const { api } = board.member
  const { id: checklist_id } = await api.call('createChecklist', { params: card, body: { title: 'List' } })
  const { id: item_id } = await api.call('createItem', { params: { checklist_id }, body: { content: 'Item' } })
  const update = (ifMatch?: string) => ({
    params: { item_id },
    body: { is_done: ifMatch === undefined },
    ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
  })
  await api.call('updateItem', update())
  await api.call('archiveCard', { params: card })
  expect(await api.fail('updateItem', update('"old"'))).toMatchObject({ status: 404, code: 'item_not_found' })
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

test('[WRITE-9] the response and the event of a write equal a later read, byte for byte', async () => {
  const { id: board_id, columns, owner, member } = board
  const [from, to] = columns.map(({ id }) => id) as [string, string]
  const odd = '"title":"x","\\\\/\b\f\n\r\t\u0001\u001f\u007f\u2028é😀],"assignees":['
  const logged = async () =>
    (
      await service.sql.query<{ body: string }>(
        'select body from board_events where board_id = $1 order by seq desc limit 1',
        [board_id],
      )
    ).rows[0]?.body
  const body = { title: `Title ${odd}`, description: odd }
  const made = await owner.api.send('createCard', { params: { board_id, column_id: from }, body })
  const params = { card_id: (made.body as { id: string }).id }
  const readCard = async () => (await owner.api.send('getCard', { params })).text
  const expectSame = async (response: { text: string }) => {
    expect(response.text).toBe(await readCard())
    expect(await logged()).toContain(`"data":${response.text},`)
  }
  await expectSame(made)
  // Two elements in each list: PostgreSQL separates them by a comma and a space.
  const labels = await Promise.all(
    [odd, 'Two'].map((name) => owner.api.call('createLabel', { params: { board_id }, body: { name, color: '#fff' } })),
  )
  for (const { id: label_id } of labels)
    await expectSame(await owner.api.send('addCardLabel', { params: { ...params, label_id } }))
  for (const user_ids of [[], [owner.id], [member.id, owner.id]])
    await expectSame(await owner.api.send('assignCard', { params, body: { user_ids } }))
  for (const title of [odd, 'Steps']) {
    const { id: checklist_id } = await owner.api.call('createChecklist', { params, body: { title } })
    for (const content of [odd, 'Step'])
      await owner.api.call('createItem', { params: { checklist_id }, body: { content } })
  }
  await expectSame(await owner.api.send('moveCard', { params, body: { column_id: to, position: 0 } }))
  const changes = [
    { title: odd },
    { description: null, due_on: '2026-02-28' },
    { description: odd, due_on: null },
    { title: odd },
    {},
  ]
  for (const change of changes) await expectSame(await owner.api.send('updateCard', { params, body: change }))

  const { checklists } = await owner.api.call('getCard', { params })
  const item = checklists[0]?.items[0] as { id: string }
  await owner.api.call('assignItem', { params: { item_id: item.id }, body: { user_ids: [owner.id, member.id] } })
  for (const change of [{ is_done: true }, { content: `${odd}!` }, { is_done: false, content: odd }]) {
    const { text } = await owner.api.send('updateItem', { params: { item_id: item.id }, body: change })
    expect(await readCard()).toContain(text)
    expect(await logged()).toContain(`"data":${text},`)
  }

  for (const mentions of [[], [owner.id, member.id]]) {
    const text = `${odd} ${mentions.map((id) => `@[x](user:${id})`).join(' ')}`
    const comment = await member.api.send('createComment', { params, body: { body: text } })
    const list = await owner.api.send('listComments', { params })
    expect(list.text.slice(1, comment.text.length + 1)).toBe(comment.text)
    const { comment_count } = await owner.api.call('getCard', { params })
    expect(await logged()).toContain(`"data":${comment.text.slice(0, -1)},"comment_count":${comment_count}}`)
  }
})

test('[WRITE-9] a list keeps its order when the clock was set back', async () => {
  const { id: board_id, owner, member } = board
  const { id: label_id } = await owner.api.call('createLabel', { params: { board_id }, body: { name: 'A', color: '' } })
  const { id: later } = await owner.api.call('createLabel', { params: { board_id }, body: { name: 'B', color: '' } })
  await owner.api.call('addCardLabel', { params: { ...card, label_id } })
  await owner.api.call('assignCard', { params: card, body: { user_ids: [owner.id] } })
  await service.sql.query(`update card_labels set added_at = now() + interval '1 hour' where card_id = $1`, [
    card.card_id,
  ])
  await service.sql.query(`update card_assignees set assigned_at = now() + interval '1 hour' where card_id = $1`, [
    card.card_id,
  ])
  const labelled = await owner.api.send('addCardLabel', { params: { ...card, label_id: later } })
  expect(labelled.text).toBe((await owner.api.send('getCard', { params: card })).text)
  const assigned = await owner.api.send('assignCard', { params: card, body: { user_ids: [member.id] } })
  expect(assigned.text).toBe((await owner.api.send('getCard', { params: card })).text)
  expect(assigned.body).toMatchObject({
    labels: [{ id: label_id }, { id: later }],
    assignees: [{ id: owner.id }, { id: member.id }],
  })
})

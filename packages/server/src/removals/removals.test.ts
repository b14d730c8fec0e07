import { randomBytes, randomUUID } from 'node:crypto'
import type { Board, FullBoard } from '@lockstep/contract/boards'
import type { Card } from '@lockstep/contract/cards'
import type { Column } from '@lockstep/contract/columns'
import type { RemovedItem, Restored } from '@lockstep/contract/removals'
import { type Client, codeOf } from '@lockstep/testing/client'
import { recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ChangeQueue } from '../core/change-queue.ts'
import { Quotas } from '../core/quotas.ts'
import { Database } from '../database/database.ts'
import { deleteExpiredTrash } from './trash-retention.ts'

const DAYS = 30
let service: TestService
/** On the same database, without a trash. */
let withoutTrash: TestService
let board: TestBoard
let api: Client
let owner: Client
beforeAll(async () => {
  service = await startService({ TRASH_DAYS: String(DAYS) })
  withoutTrash = await startService({ TRASH_DAYS: '0' }, { beside: service })
})
afterAll(async () => {
  await withoutTrash.stop()
  await service.stop()
})
beforeEach(async () => {
  board = await service.board()
  api = board.member.api
  owner = board.owner.api
})

const noQuotas = new Quotas({
  ...{ isOn: false, boardTextBytes: 0, cardsPerBoard: 0, boardFileBytes: 0, ownedBoards: 0, logBytesPerMinute: 1 },
})
const here = () => ({ board_id: board.id })
const newCard = (title: string, column: { id: string } = board.columns[0], body = {}) =>
  api.call('createCard', { params: { ...here(), column_id: column.id }, body: { title, ...body } })
const boardNow = () => api.call('getBoard', { params: here() })
const titles = async (column: { id: string } = board.columns[0]) =>
  (await boardNow()).columns.find(({ id }) => id === column.id)?.cards.map(({ title }) => title)
const archive = (card: { id: string }) => api.call('archiveCard', { params: { card_id: card.id } })
const remove = (card: { id: string }) => api.call('deleteCard', { params: { card_id: card.id } })
const restore = (item: { id: string }, body = {}) =>
  api.send('restoreRemoved', { params: { ...here(), removed_id: item.id }, body })
const removed = (query = {}) => api.call('listRemoved', { params: here(), query })
const dataOf = <T>(event: { data: unknown } | undefined) => (event as { data: T }).data

/** A response that is not checked against the contract. */
async function getRaw(path: string) {
  const response = await fetch(service.baseUrl + path, { headers: { authorization: `Bearer ${api.token}` } })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}
/** A card with everything on it. */
async function fullCard() {
  const { id: card_id } = await newCard('Everything', board.columns[0], { description: 'Text', due_on: '2026-11-20' })
  const label = await api.call('createLabel', { params: here(), body: { name: 'Bug' } })
  await api.call('addCardLabel', { params: { card_id, label_id: label.id } })
  await api.call('assignCard', { params: { card_id }, body: { user_ids: [board.owner.id, board.member.id] } })
  const list = await api.call('createChecklist', { params: { card_id }, body: { title: 'Steps' } })
  const item = await api.call('createItem', { params: { checklist_id: list.id }, body: { content: 'First' } })
  await api.call('assignItem', { params: { item_id: item.id }, body: { user_ids: [board.member.id] } })
  const content = randomBytes(100_000)
  const file = await api.call('createAttachment', { params: { card_id }, body: { file: new File([content], 'a.bin') } })
  await api.call('createComment', { params: { card_id }, body: { body: 'A comment' } })
  const card = await api.call('getCard', { params: { card_id } })
  const comments = () => api.call('listComments', { params: { card_id } })
  const bytes = async () => (await api.request('GET', `/attachments/${file.id}`)).bytes
  return { card, label, list, item, file, content, bytes, comments: await comments() }
}
const usageOf = async ({ id }: TestBoard) => {
  const { rows } = await service.sql.query(
    `select stream.text_bytes - usage.text_bytes as text, stream.card_count - usage.card_count as cards,
       stream.file_bytes - usage.file_bytes as files
     from board_stream stream join board_usage usage using (board_id) where board_id = $1`,
    [id],
  )
  return rows[0] as { text: number; cards: number; files: number }
}

describe('archiving and deleting a card', () => {
  const ways = [
    ['archived', (card: Card) => api.send('archiveCard', { params: { card_id: card.id } })],
    ['deleted', (card: Card) => api.send('deleteCard', { params: { card_id: card.id } })],
  ] as const
  test.each(ways)(
    '[REMOVE-1] [COMPAT-4] a card that is %s leaves the board, and its event says how',
    async (as, act) => {
      const { card, list, item, file, label, comments } = await fullCard()
      const { response, events } = await recordEvents(board, () => act(card))
      expect(response.status).toBe(as === 'archived' ? 200 : 204)
      const [event] = events
      expect(event).toMatchObject({ type: 'card.deleted', user_id: board.member.id })
      const { removed: mark, ...rest } = dataOf<Card>(event)
      expect(rest).toEqual(card)
      expect(mark).toMatchObject({ as, by: board.member.id })
      const kept = mark?.until && Date.parse(mark.until) - Date.parse(mark.at)
      expect(kept).toBe(as === 'archived' ? null : DAYS * 86_400_000)
      if (as === 'archived') expect(response.body).toEqual(event?.data)

      expect(await titles()).toEqual([])
      expect(await api.call('findCards', { params: here() })).toEqual([])
      expect(await api.call('findCards', { params: here(), query: { label: label.id, search: 'every' } })).toEqual([])
      expect(await api.call('countLabels', { params: here() })).toMatchObject([{ card_count: 0 }])
      const gone = [
        await api.send('getCard', { params: { card_id: card.id } }),
        await api.send('updateCard', { params: { card_id: card.id }, body: { title: 'x' } }),
        await api.send('archiveCard', { params: { card_id: card.id } }),
        await api.send('deleteCard', { params: { card_id: card.id } }),
        await api.send('updateChecklist', { params: { checklist_id: list.id }, body: { title: 'x' } }),
        await api.send('updateItem', { params: { item_id: item.id }, body: { content: 'x' } }),
        await api.send('listComments', { params: { card_id: card.id } }),
        await api.send('updateComment', { params: { comment_id: comments[0]?.id ?? '' }, body: { body: 'x' } }),
        await api.send('getAttachment', { params: { attachment_id: file.id } }),
        await api.send('deleteAttachment', { params: { attachment_id: file.id } }),
      ]
      expect(gone.map(({ status }) => status)).toEqual(gone.map(() => 404))
    },
  )

  test('[REMOVE-1] a read during the removal finds the card on the board or not at all', async () => {
    const found: unknown[] = []
    for (let round = 0; round < 40; round++) {
      const card = await newCard('Leaving')
      const read = async () => {
        const { status, json } = await getRaw(`/cards/${card.id}`)
        found.push(status === 404 || json['column_id'] === board.columns[0].id)
      }
      await Promise.all([...Array.from({ length: 12 }, read), archive(card), ...Array.from({ length: 12 }, read)])
    }
    expect(new Set(found)).toEqual(new Set([true]))
  })

  test('[REMOVE-1] an item cannot be moved to a checklist of a deleted card', async () => {
    const [first, second] = [await fullCard(), await fullCard()]
    await remove(second.card)
    const moved = await api.send('moveItem', {
      params: { item_id: first.item.id },
      body: { checklist_id: second.list.id, position: 0 },
    })
    expect(codeOf(moved)).toBe('404 checklist_not_found')
  })

  test.each(ways)('[REMOVE-2] a card that was %s comes back with everything, at its place', async (_as, act) => {
    await newCard('Before')
    const { card, content, bytes, comments } = await fullCard()
    await newCard('After')
    const position = (await boardNow()).columns[0]?.cards.findIndex(({ id }) => id === card.id)
    await act(card)
    const { response, events } = await recordEvents(board, () => restore(card))
    const { card: back, column } = response.body as Restored
    expect(response.status).toBe(200)
    expect(column).toBe(null)
    expect(back).toEqual({ ...card, rank: back?.rank })
    expect(events).toMatchObject([{ type: 'card.created', user_id: board.member.id }])
    expect(events[0]?.data).toEqual(back)
    expect((await boardNow()).columns[0]?.cards[position ?? -1]).toEqual(back)
    expect((await bytes()).equals(content)).toBe(true)
    expect(await api.call('listComments', { params: { card_id: card.id } })).toEqual(comments)
    expect(await removed()).toEqual([])
    expect(codeOf(await restore(card))).toBe('404 removed_not_found')
    expect(await usageOf(board)).toEqual({ text: '0', cards: '0', files: '0' })
  })

  test('[REMOVE-2] two concurrent restores bring it back once', async () => {
    const card = await newCard('Once')
    await archive(card)
    const codes = (await Promise.all([restore(card), restore(card)])).map(codeOf).sort()
    expect(codes).toEqual(['200', '404 removed_not_found'])
    expect(await titles()).toEqual(['Once'])
  })

  test('[REMOVE-3] it comes back behind the cards that were before it, or where the request says', async () => {
    const [a, b, c] = [await newCard('a'), await newCard('b'), await newCard('c')]
    await remove(b)
    await api.call('moveCard', { params: { card_id: c.id }, body: { position: 0 } })
    await restore(b)
    expect(await titles()).toEqual(['c', 'a', 'b'])
    await remove(b)
    await restore(b, { after_id: null })
    expect(await titles()).toEqual(['b', 'c', 'a'])
    await remove(b)
    await restore(b, { position: 1 })
    expect(await titles()).toEqual(['c', 'b', 'a'])
    await remove(b)
    await restore(b, { column_id: board.columns[1].id })
    expect(await titles(board.columns[1])).toEqual(['b'])
    await remove(a)
    expect(codeOf(await restore(a, { column_id: randomUUID() }))).toBe('404 column_not_found')
  })

  test('[REMOVE-3] [REMOVE-4] what is restored in any order is in its former order', async () => {
    const newCards = async () => [await newCard('a'), await newCard('b'), await newCard('c')] as const
    let cards = await newCards()
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ] as const
    for (const order of orders) {
      for (const card of cards) await remove(card)
      // The ranks of restored cards may differ from those of new ones.
      cards = await newCards()
      for (const card of cards) await remove(card)
      for (const index of order) await restore(cards[index])
      expect([order, await titles()]).toEqual([order, ['a', 'b', 'c']])
    }
    const columns = (await boardNow()).columns.map(({ id }) => id)
    for (const id of columns) await api.call('archiveColumn', { params: { column_id: id } })
    for (const id of columns.toReversed()) await restore({ id })
    expect((await boardNow()).columns.map(({ id }) => id)).toEqual(columns)
    // Meanwhile another card got the former place.
    await remove(cards[2])
    await newCard('d')
    await restore(cards[2])
    expect(await titles()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('[REMOVE-3] without its column, a card needs another one', async () => {
    const card = await newCard('Homeless')
    await archive(card)
    await api.call('deleteColumn', { params: { column_id: board.columns[0].id } })
    expect(codeOf(await restore(card))).toBe('409 column_required')
    expect(codeOf(await restore(card, { column_id: board.columns[1].id }))).toBe('200')
    expect(await titles(board.columns[1])).toEqual(['Homeless'])
  })

  test('[REMOVE-3] neighbours without a gap make room, each with an event', async () => {
    const [a, b, c] = [await newCard('a'), await newCard('b'), await newCard('c')]
    await remove(b)
    await service.sql.query('update cards set rank = $2 where id = $1', [c.id, a.rank + 1])
    const { events } = await recordEvents(board, () => restore(b, { after_id: a.id }))
    expect(events.at(-1)?.type).toBe('card.created')
    expect(events.slice(0, -1).every(({ type, user_id }) => type === 'card.moved' && user_id === null)).toBe(true)
    expect(events.length).toBeGreaterThan(1)
    expect(await titles()).toEqual(['a', 'b', 'c'])
  })

  test('[REMOVE-10] labels and members that are gone meanwhile are not on the card', async () => {
    const { card, label } = await fullCard()
    await remove(card)
    const { events } = await recordEvents(board, () =>
      owner.send('removeMember', { params: { ...here(), user_id: board.member.id } }),
    )
    expect(events.map(({ type }) => type)).toEqual(['board.member_removed'])
    await owner.call('deleteLabel', { params: { label_id: label.id } })
    expect(await usageOf(board)).toEqual({ text: '0', cards: '0', files: '0' })
    const { body } = await owner.send('restoreRemoved', { params: { ...here(), removed_id: card.id }, body: {} })
    const back = (body as Restored).card as Card
    expect(back.labels).toEqual([])
    expect(back.assignees.map(({ id }) => id)).toEqual([board.owner.id])
    expect(back.checklists[0]?.items[0]?.assignees).toEqual([])
  })

  test('[REMOVE-12] restoring runs no automation rule', async () => {
    const rule = { trigger_type: 'CARD_MOVED', action_type: 'MOVE_TO_COLUMN', name: 'Move' } as const
    const [from, to] = board.columns
    await owner.call('createRule', {
      params: here(),
      body: { ...rule, trigger_column_id: from.id, action_column_id: to.id },
    })
    const card = await newCard('Stays')
    await remove(card)
    await restore(card)
    expect(await titles(from)).toEqual(['Stays'])
  })
})

describe('columns', () => {
  test('[REMOVE-2] [REMOVE-4] a column leaves and comes back with its cards, with one event each', async () => {
    const column = board.columns[0]
    for (const title of ['a', 'b', 'c']) await newCard(title)
    const alone = await newCard('alone')
    await remove(alone)
    const before = (await boardNow()).columns[0] as Column
    for (const operation of ['archiveColumn', 'deleteColumn'] as const) {
      const gone = await recordEvents(board, () => api.send(operation, { params: { column_id: column.id } }))
      expect(gone.events).toHaveLength(1)
      const { removed: mark, ...rest } = dataOf<Column>(gone.events[0])
      expect(rest).toEqual(before)
      expect(mark?.as).toBe(operation === 'archiveColumn' ? 'archived' : 'deleted')
      const [item] = await removed()
      expect(item).toMatchObject({ id: column.id, kind: 'column', title: column.title, card_count: 3 })
      const back = await recordEvents(board, () => restore(column))
      expect(back.events).toMatchObject([{ type: 'column.created', user_id: board.member.id }])
      expect(back.events[0]?.data).toEqual({ ...before, rank: dataOf<Column>(back.events[0]).rank })
      expect((back.response.body as Restored).column).toEqual(back.events[0]?.data)
      expect((await boardNow()).columns.map(({ id }) => id)).toEqual(board.columns.map(({ id }) => id))
    }
    expect((await removed()).map(({ id }) => id)).toEqual([alone.id])
    expect(await usageOf(board)).toEqual({ text: '0', cards: '0', files: '0' })
  })

  test('[REMOVE-4] a card of it that was restored alone stays where it is; a place can be given', async () => {
    const column = board.columns[0]
    const [a] = [await newCard('a'), await newCard('b')]
    await api.call('deleteColumn', { params: { column_id: column.id } })
    await restore(a, { column_id: board.columns[1].id })
    await restore(column, { position: 9 })
    const after = await boardNow()
    expect(after.columns.map(({ id }) => id)).toEqual([board.columns[1].id, column.id])
    expect(after.columns.map(({ cards }) => cards.map(({ title }) => title))).toEqual([['a'], ['b']])
  })

  test('[REMOVE-1] rules of a column that leaves are switched off, as for a deletion', async () => {
    const [from, to] = board.columns
    const body = { name: 'Rule', trigger_type: 'CARD_MOVED', action_type: 'MOVE_TO_COLUMN' } as const
    await owner.call('createRule', {
      params: here(),
      body: { ...body, trigger_column_id: from.id, action_column_id: to.id },
    })
    await api.call('archiveColumn', { params: { column_id: to.id } })
    expect(await api.call('listRules', { params: here() })).toMatchObject([
      { action_column_id: null, is_enabled: false },
    ])
  })
})

describe('the list', () => {
  test('[REMOVE-7] it is newest first, in pages, each once, and can be filtered', async () => {
    const cards: Card[] = []
    for (let i = 0; i < 7; i++)
      cards.push(await newCard(`Card ${i}`, board.columns[0], { description: i ? null : 'Zebra' }))
    for (const [i, card] of cards.entries()) await (i % 2 ? archive : remove)(card)
    await newCard('Inside', board.columns[1])
    await api.call('archiveColumn', { params: { column_id: board.columns[1].id } })
    const all = await removed()
    expect(all.map(({ title }) => title)).toEqual([
      board.columns[1].title,
      ...cards.map(({ title }) => title).toReversed(),
    ])
    expect(all[1]).toMatchObject({ kind: 'card', number: 7, column_id: board.columns[0].id, card_count: null })

    const seen: RemovedItem[] = []
    let path: string | undefined = `/boards/${board.id}/removed?limit=3`
    while (path) {
      const { body, headers } = await api.request('GET', path)
      seen.push(...(body as RemovedItem[]))
      path = /<(.+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(all)

    const titlesOf = async (query: object) => (await removed(query)).map(({ title }) => title)
    expect(await titlesOf({ as: 'archived', kind: 'card' })).toEqual(['Card 5', 'Card 3', 'Card 1'])
    expect(await titlesOf({ kind: 'column' })).toEqual([board.columns[1].title])
    expect(await titlesOf({ search: 'zEBRA' })).toEqual(['Card 0'])
    expect(await titlesOf({ search: 'inside' })).toEqual(['Inside'])
    expect(await titlesOf({ column_id: board.columns[1].id })).toEqual(['Inside'])
    expect(await titlesOf({ search: '100%' })).toEqual([])
    const bad = await api.request('GET', `/boards/${board.id}/removed?cursor=5`)
    expect(bad.status).toBe(422)
  })

  test.each([
    '9999999999999999_00000000-0000-4000-8000-000000000000',
    `1763300000000_${'-'.repeat(36)}`,
    `1763300000000_${'a'.repeat(36)}`,
  ])('[REMOVE-7] the cursor %s, which no page has, is no error of the service', async (cursor) => {
    const { status } = await getRaw(`/boards/${board.id}/removed?cursor=${cursor}`)
    expect([200, 422]).toContain(status)
  })

  test('[REMOVE-7] one of them is read with its card', async () => {
    const { card } = await fullCard()
    await archive(card)
    const item = await api.call('getRemoved', { params: { ...here(), removed_id: card.id } })
    expect(item).toMatchObject({ kind: 'card', title: card.title, number: card.number, removed: { as: 'archived' } })
    expect(item.card).toEqual(card)
    const unknown = await api.send('getRemoved', { params: { ...here(), removed_id: randomUUID() } })
    expect(codeOf(unknown)).toBe('404 removed_not_found')
    const elsewhere = await service.board()
    const foreign = await elsewhere.member.api.send('getRemoved', {
      params: { board_id: elsewhere.id, removed_id: card.id },
    })
    expect(codeOf(foreign)).toBe('404 removed_not_found')
  })
})

describe('deleting for good', () => {
  const filesOf = async () =>
    (await service.sql.query('select from file_chunks where board_id = $1', [board.id])).rowCount as number
  const purge = (item: { id: string }, as = owner) =>
    as.send('purgeRemoved', { params: { ...here(), removed_id: item.id } })

  test('[REMOVE-6] only an owner may, at once, with everything on it and nothing else', async () => {
    const [first, second] = [await fullCard(), await fullCard()]
    await archive(first.card)
    expect(codeOf(await purge(first.card, api))).toBe('403 role_too_low')
    const { response, events } = await recordEvents(board, () => purge(first.card))
    expect([codeOf(response), events]).toEqual(['204', []])
    expect(codeOf(await purge(first.card))).toBe('404 removed_not_found')
    expect(codeOf(await restore(first.card))).toBe('404 removed_not_found')
    const queued = await service.sql.query('select file_id from unclaimed_files where board_id = $1', [board.id])
    expect(queued.rowCount).toBe(1)
    expect((await second.bytes()).equals(second.content)).toBe(true)
    expect(await api.call('getCard', { params: { card_id: second.card.id } })).toEqual(second.card)
    expect(await usageOf(board)).toEqual({ text: '0', cards: '0', files: '0' })
    for (const table of ['checklists', 'card_labels', 'card_assignees', 'attachments', 'comments'])
      expect((await service.sql.query(`select from ${table} where card_id = $1`, [first.card.id])).rowCount).toBe(0)
  })

  test('[REMOVE-6] a column goes with the cards that left with it', async () => {
    const { card } = await fullCard()
    await api.call('deleteColumn', { params: { column_id: board.columns[0].id } })
    expect(codeOf(await purge(board.columns[0]))).toBe('204')
    expect(codeOf(await restore(card, { column_id: board.columns[1].id }))).toBe('404 removed_not_found')
    expect(await usageOf(board)).toEqual({ text: '0', cards: '0', files: '0' })
  })

  test('[REMOVE-5] what was deleted goes after the retention; what was archived stays', async () => {
    const [old, archived, recent, moved] = [await fullCard(), await fullCard(), await fullCard(), await newCard('With')]
    await api.call('moveCard', { params: { card_id: moved.id }, body: { column_id: board.columns[1].id } })
    await remove(old.card)
    await archive(archived.card)
    await api.call('deleteColumn', { params: { column_id: board.columns[1].id } })
    await service.sql.query("update removals set removed_at = removed_at - interval '31 days' where board_id = $1", [
      board.id,
    ])
    await remove(recent.card)
    const database = new Database({ url: service.databaseUrl, size: 2, onError: () => {} })
    const { events, response } = await recordEvents(board, async () => {
      const count = await deleteExpiredTrash(
        { database, boardQueue: new ChangeQueue(1_000), quotas: noQuotas, announce: () => {} },
        DAYS,
      )
      return { count } as never
    })
    await database.close()
    expect(response).toEqual({ count: 3 })
    expect(events).toEqual([])
    expect((await removed()).map(({ id }) => id)).toEqual([recent.card.id, archived.card.id])
    expect(await usageOf(board)).toEqual({ text: '0', cards: '0', files: '0' })
    expect(await filesOf()).toBeGreaterThan(0)
  })

  test('[REMOVE-5] a board that is deleted while its trash is purged does not stop the job', async () => {
    await remove(await newCard('Expired'))
    await service.sql.query("update removals set removed_at = now() - interval '31 days' where board_id = $1", [
      board.id,
    ])
    const database = new Database({ url: service.databaseUrl, size: 2, onError: () => {} })
    const queue = new ChangeQueue(1_000)
    const run = queue.run.bind(queue)
    // The board is deleted between the list of boards and the purge.
    const runLater = async (...args: Parameters<typeof run>) => {
      await owner.send('deleteBoard', { params: here() })
      return run(...args)
    }
    const core = { database, boardQueue: Object.assign(queue, { run: runLater }), quotas: noQuotas, announce: () => {} }
    expect(await deleteExpiredTrash(core, DAYS)).toBe(0)
    await database.close()
  })

  test('[REMOVE-5] without a trash, a deletion is final', async () => {
    const { card } = await fullCard()
    const response = await withoutTrash.anybody.request('DELETE', `/cards/${card.id}`, {
      headers: { authorization: `Bearer ${api.token}` },
    })
    expect(response.status).toBe(204)
    expect(await removed()).toEqual([])
    expect(await usageOf(board)).toEqual({ text: '0', cards: '0', files: '0' })
  })

  test('[REMOVE-5] deleting the board deletes what was archived and deleted on it', async () => {
    const [first, second] = [await fullCard(), await fullCard()]
    await archive(first.card)
    await remove(second.card)
    await owner.call('deleteBoard', { params: here() })
    for (const table of ['cards', 'removals', 'attachments', 'checklists'])
      expect((await service.sql.query(`select from ${table} where board_id = $1`, [board.id])).rowCount).toBe(0)
    expect((await service.sql.query('select from unclaimed_files where board_id = $1', [board.id])).rowCount).toBe(2)
  })
})

describe('ids', () => {
  test('[REMOVE-8] the id of a deleted card is free for a new one, and the deleted one can still be restored', async () => {
    const { card, content, comments } = await fullCard()
    await remove(card)
    const created = await newCard('New', board.columns[0], { id: card.id })
    expect(created.number).toBe(card.number + 1)
    const [trashed] = await removed()
    expect(trashed).toMatchObject({ title: card.title, number: card.number })
    expect(trashed?.id).not.toBe(card.id)
    const back = ((await restore(trashed as RemovedItem)).body as Restored).card as Card
    const withId = (text: string) => text.replaceAll(card.id, back.id)
    expect(back).toEqual({ ...JSON.parse(withId(JSON.stringify(card))), rank: back.rank })
    const [comment] = await api.call('listComments', { params: { card_id: back.id } })
    expect(comment).toEqual({ ...comments[0], card_id: back.id })
    const [file] = back.attachments
    expect((await api.request('GET', `/attachments/${file?.id}`)).bytes.equals(content)).toBe(true)
    expect(await usageOf(board)).toEqual({ text: '0', cards: '0', files: '0' })
  })

  test('[REMOVE-8] a card and a column of a board never have the same id, on the board or not', async () => {
    const [column, other] = board.columns
    const card = await newCard('Card')
    const makeCard = (id: string) =>
      api.send('createCard', { params: { ...here(), column_id: other.id }, body: { id, title: 'x' } })
    const makeColumn = (id: string) => api.send('createColumn', { params: here(), body: { id, title: 'x' } })
    expect([codeOf(await makeCard(column.id)), codeOf(await makeColumn(card.id))]).toEqual([
      '409 id_taken',
      '409 id_taken',
    ])
    await remove(card)
    expect(codeOf(await makeColumn(card.id))).toBe('409 id_taken')
    await api.call('deleteColumn', { params: { column_id: column.id } })
    expect(codeOf(await makeCard(column.id))).toBe('409 id_taken')
  })

  test('[REMOVE-8] the id of an archived card or column is taken', async () => {
    const card = await newCard('Archived')
    await archive(card)
    const params = { ...here(), column_id: board.columns[0].id }
    expect(codeOf(await api.send('createCard', { params, body: { id: card.id, title: 'x' } }))).toBe('409 id_taken')
    const { id } = board.columns[1]
    await api.call('archiveColumn', { params: { column_id: id } })
    expect(codeOf(await api.send('createColumn', { params: here(), body: { id, title: 'x' } }))).toBe('409 id_taken')
  })

  test('[REMOVE-8] the same for a column, also when another board uses its id', async () => {
    const column = board.columns[0]
    await newCard('Inside')
    await api.call('deleteColumn', { params: { column_id: column.id } })
    await api.call('createColumn', { params: here(), body: { id: column.id, title: 'New' } })
    const [trashed] = await removed()
    expect(trashed).toMatchObject({ title: column.title, card_count: 1 })
    expect(((await restore(trashed as RemovedItem)).body as Restored).column?.cards).toMatchObject([
      { title: 'Inside' },
    ])

    await api.call('deleteColumn', { params: { column_id: column.id } })
    const elsewhere = await service.board()
    await elsewhere.member.api.call('createColumn', {
      params: { board_id: elsewhere.id },
      body: { id: column.id, title: 'Elsewhere' },
    })
    const back = ((await restore(column)).body as Restored).column as Column
    expect(back).toMatchObject({ title: 'New' })
    expect(back.id).not.toBe(column.id)
  })
})

describe('archived boards', () => {
  test('[REMOVE-9] an archived board can be read and not changed, until an owner restores it', async () => {
    const card = await newCard('Card')
    expect(codeOf(await api.send('archiveBoard', { params: here() }))).toBe('403 role_too_low')
    const { response, events } = await recordEvents(board, () => owner.send('archiveBoard', { params: here() }))
    const archived = response.body as Board
    expect(archived.archived_at).toMatch(/^\d{4}-.*Z$/)
    expect(events).toMatchObject([{ type: 'board.updated', user_id: board.owner.id }])
    expect(events[0]?.data).toEqual(archived)
    const again = await recordEvents(board, () => owner.send('archiveBoard', { params: here() }))
    expect([again.response.body, again.events]).toEqual([archived, []])

    const full: FullBoard = await boardNow()
    expect(full.archived_at).toBe(archived.archived_at)
    expect(await api.call('getCard', { params: { card_id: card.id } })).toEqual(card)
    expect((await api.call('listBoards', { query: { archived: 'true' } })).map(({ id }) => id)).toContain(board.id)
    expect((await api.call('listBoards', { query: { archived: 'false' } })).map(({ id }) => id)).not.toContain(board.id)
    expect((await api.call('listBoards', { query: {} })).map(({ id }) => id)).toContain(board.id)

    const changes = [
      await api.send('updateCard', { params: { card_id: card.id }, body: { title: 'x' } }),
      await api.send('updateCard', { params: { card_id: card.id }, body: { title: '' } }),
      await api.send('deleteCard', { params: { card_id: card.id } }),
      await owner.send('updateBoard', { params: here(), body: { title: 'x' } }),
      await owner.send('inviteMember', { params: here(), body: { user_id: board.member.id } }),
    ]
    expect(changes.map(codeOf)).toEqual(changes.map(() => '409 board_archived'))
    expect(codeOf(await api.send('updateBoard', { params: here(), body: { title: 'x' } }))).toBe('403 role_too_low')

    const back = await recordEvents(board, () => owner.send('restoreBoard', { params: here() }))
    expect(back.response.body).toEqual({ ...archived, archived_at: null })
    expect(back.events).toMatchObject([{ type: 'board.updated' }])
    expect(codeOf(await api.send('updateCard', { params: { card_id: card.id }, body: { title: 'x' } }))).toBe('200')
  })

  test('[REMOVE-9] members can leave an archived board, and owners can delete it', async () => {
    await owner.call('archiveBoard', { params: here() })
    const leave = await api.send('removeMember', { params: { ...here(), user_id: board.member.id } })
    expect(codeOf(leave)).toBe('204')
    expect(codeOf(await owner.send('deleteBoard', { params: here() }))).toBe('204')
  })
})

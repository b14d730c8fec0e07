import { randomUUID } from 'node:crypto'
import type { AutomationRule } from '@lockstep/contract/automations'
import type { Card } from '@lockstep/contract/cards'
import type { InboxItem } from '@lockstep/contract/inbox'
import { codeOf } from '@lockstep/testing/client'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Database } from '../database/database.ts'
import { deleteReadItems } from './inbox-queries.ts'

let service: TestService
let board: TestBoard
/** Who acts, and who is notified. */
let owner: TestUser
let member: TestUser
let card: Card
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())
beforeEach(async () => {
  board = await service.board()
  ;({ owner, member } = board)
  card = await newCard('Login page')
  await readAll(member)
})

const here = () => ({ board_id: board.id })
const newCard = (title: string) =>
  owner.api.call('createCard', { params: { ...here(), column_id: board.columns[0].id }, body: { title } })
const inboxOf = (user: TestUser, query = {}) => user.api.call('listInbox', { query })
const readAll = (user: TestUser) => user.api.call('readInbox', { body: { until: '2999-01-01T00:00:00.000Z' } })
const unreadOf = async (user: TestUser) => (await inboxOf(user)).filter(({ read_at }) => read_at === null)
const token = ({ id, username }: TestUser) => `@[${username}](user:${id})`
const comment = (body: string, by = owner, on = card) =>
  by.api.call('createComment', { params: { card_id: on.id }, body: { body } })
const assign = (users: TestUser[], by = owner) =>
  by.api.call('assignCard', { params: { card_id: card.id }, body: { user_ids: users.map(({ id }) => id) } })
const newRule = (rule: Partial<AutomationRule> & Pick<AutomationRule, 'trigger_type'>) =>
  owner.api.call('createRule', { params: here(), body: { name: 'Assign', action_type: 'ASSIGN_MEMBER', ...rule } })

describe('what is in the inbox', () => {
  test('[INBOX-1] a mention, with actor, board, card and the text of the comment', async () => {
    const { id } = await comment(`${token(member)} can you **look**?`)
    const [item] = await inboxOf(member)
    expect(item).toEqual({
      id: item?.id,
      reason: 'mentioned',
      count: 1,
      actor: expect.objectContaining({ id: owner.id }),
      trigger: null,
      board: { id: board.id, title: (await owner.api.call('getBoard', { params: here() })).title },
      card: { id: card.id, number: card.number, title: card.title },
      comment: { id, excerpt: `@${member.username} can you **look**?` },
      changed_at: expect.stringMatching(/Z$/),
      read_at: null,
    })
    expect(await unreadOf(owner)).toEqual([])
  })

  test('[INBOX-1] an assignment to a card or an item, and a new board', async () => {
    await assign([member])
    expect(await unreadOf(member)).toMatchObject([{ reason: 'assigned', comment: null, card: { id: card.id } }])
    await readAll(member)
    const list = await owner.api.call('createChecklist', { params: { card_id: card.id }, body: { title: 'List' } })
    const item = await owner.api.call('createItem', { params: { checklist_id: list.id }, body: { content: 'Item' } })
    await owner.api.call('assignItem', { params: { item_id: item.id }, body: { user_ids: [member.id] } })
    expect(await unreadOf(member)).toMatchObject([{ reason: 'assigned', card: { id: card.id } }])
    const user = await service.user()
    await owner.api.call('inviteMember', { params: here(), body: { user_id: user.id } })
    expect(await inboxOf(user)).toMatchObject([{ reason: 'added', card: null, board: { id: board.id }, count: 1 }])
  })

  test('[INBOX-1] an automation rule has no actor; what started it has one', async () => {
    const to = board.columns[1]
    await newRule({ trigger_type: 'CARD_MOVED', trigger_column_id: to.id, action_user_id: member.id })
    await owner.api.call('moveCard', { params: { card_id: card.id }, body: { column_id: to.id } })
    const actor = { id: owner.id, username: owner.username }
    const column = { id: to.id, title: to.title }
    const moved = { type: 'CARD_MOVED', actor, column, label: null }
    expect(await unreadOf(member)).toMatchObject([{ reason: 'assigned', actor: null, trigger: moved }])

    const label = await owner.api.call('createLabel', { params: here(), body: { name: 'Urgent', color: '#ff0000' } })
    await newRule({ trigger_type: 'LABEL_ADDED', trigger_label_id: label.id, action_user_id: member.id })
    const params = { ...here(), column_id: to.id }
    const other = await owner.api.call('createCard', { params, body: { title: 'Other' } })
    await owner.api.call('addCardLabel', { params: { card_id: other.id, label_id: label.id } })
    const labeled = { type: 'LABEL_ADDED', actor, column: null, label: { id: label.id, name: 'Urgent' } }
    expect(await unreadOf(member)).toMatchObject([{ trigger: labeled }, { trigger: moved }])
    // Without what the log or the board no longer has.
    await service.sql.query('delete from board_events where board_id = $1 and card_id = $2', [board.id, other.id])
    for (const { id } of [card, other])
      await owner.api.call('moveCard', { params: { card_id: id }, body: { column_id: board.columns[0].id } })
    await owner.api.call('deleteColumn', { params: { column_id: to.id } })
    expect(await unreadOf(member)).toMatchObject([{ trigger: null }, { trigger: { ...moved, column: null } }])
  })

  test('[INBOX-2] one item for a user and a card: it gathers until it is read, with the strongest reason', async () => {
    await comment(`${token(member)} one`)
    await assign([member])
    const last = await comment(`${token(member)} two`)
    expect(await unreadOf(member)).toMatchObject([{ reason: 'mentioned', count: 3, comment: { id: last.id } }])
    await readAll(member)
    await owner.api.call('unassignCard', { params: { card_id: card.id, user_id: member.id } })
    await assign([member])
    expect(await unreadOf(member)).toMatchObject([{ reason: 'assigned', count: 1, comment: null }])
    await assign([member])
    expect(await unreadOf(member)).toMatchObject([{ count: 1 }])
  })

  test('[INBOX-3] nobody is notified of what they did themselves', async () => {
    await comment(`${token(member)} note to myself`, member)
    await assign([member], member)
    expect(await unreadOf(member)).toEqual([])
  })

  test('[INBOX-3] nobody is notified of what a rule did because of their own change, but others are', async () => {
    const to = board.columns[1]
    for (const { id } of [owner, member])
      await newRule({ trigger_type: 'CARD_MOVED', trigger_column_id: to.id, action_user_id: id })
    await member.api.call('moveCard', { params: { card_id: card.id }, body: { column_id: to.id } })
    const { assignees } = await owner.api.call('getCard', { params: { card_id: card.id } })
    expect(new Set(assignees.map(({ id }) => id))).toEqual(new Set([owner.id, member.id]))
    expect(await unreadOf(member)).toEqual([])
    expect(await unreadOf(owner)).toMatchObject([
      { reason: 'assigned', count: 1, actor: null, trigger: { actor: { id: member.id }, column: { id: to.id } } },
    ])
  })

  test('[INBOX-3] only members are notified, and a mention of anyone else is text', async () => {
    const nonMember = await service.user()
    await comment(`${token(nonMember)} and @[Nobody](user:${randomUUID()})`)
    expect(await inboxOf(nonMember)).toEqual([])
    const { rowCount } = await service.sql.query('select from inbox_items where user_id = $1', [nonMember.id])
    expect(rowCount).toBe(0)
  })

  test('[INBOX-5] editing notifies only those who are new, and withdraws those who are gone', async () => {
    const { id: comment_id } = await comment(`${token(member)} hello`)
    await readAll(member)
    const edit = (body: string) => owner.api.call('updateComment', { params: { comment_id }, body: { body } })
    await edit(`${token(member)} hello again`)
    expect(await unreadOf(member)).toEqual([])
    await edit('hello')
    await edit(`${token(member)} hello`)
    expect(await unreadOf(member)).toMatchObject([{ reason: 'mentioned', count: 1 }])
    await edit('hello')
    expect(await unreadOf(member)).toEqual([])
  })

  test('[INBOX-5] what is taken back before it was read leaves no trace', async () => {
    await assign([member])
    await owner.api.call('unassignCard', { params: { card_id: card.id, user_id: member.id } })
    const list = await owner.api.call('createChecklist', { params: { card_id: card.id }, body: { title: 'List' } })
    const item = await owner.api.call('createItem', { params: { checklist_id: list.id }, body: { content: 'Item' } })
    const params = { item_id: item.id }
    await member.api.call('assignItem', { params, body: { user_ids: [member.id] } })
    await assign([member])
    await member.api.call('unassignItem', { params: { ...params, user_id: member.id } })
    expect(await unreadOf(member)).toMatchObject([{ reason: 'assigned' }])
    await owner.api.call('unassignCard', { params: { card_id: card.id, user_id: member.id } })
    expect(await unreadOf(member)).toEqual([])
    await owner.api.call('assignItem', { params, body: { user_ids: [member.id] } })
    await owner.api.call('deleteItem', { params })
    expect(await unreadOf(member)).toEqual([])
    const { id } = await comment(`${token(member)} hello`)
    await owner.api.call('deleteComment', { params: { comment_id: id } })
    expect(await unreadOf(member)).toEqual([])
    await comment(`${token(member)} one`)
    const second = await comment(`${token(member)} two`)
    await owner.api.call('deleteComment', { params: { comment_id: second.id } })
    expect(await unreadOf(member)).toMatchObject([{ reason: 'mentioned', comment: null }])
  })
})

describe('who can read it', () => {
  test('[INBOX-4] it ends with the membership, in the same commit, and does not come back', async () => {
    await comment(`${token(member)} secret`)
    const [item] = await unreadOf(member)
    await owner.api.call('removeMember', { params: { ...here(), user_id: member.id } })
    expect((await inboxOf(member)).filter((each) => each.board.id === board.id)).toEqual([])
    const marked = await member.api.send('updateInboxItem', {
      params: { inbox_item_id: (item as InboxItem).id },
      body: { is_read: true },
    })
    expect(codeOf(marked)).toBe('404 inbox_item_not_found')
    await owner.api.call('inviteMember', { params: here(), body: { user_id: member.id } })
    const back = (await inboxOf(member)).filter((each) => each.board.id === board.id)
    expect(back).toMatchObject([{ reason: 'added' }])
  })

  test('[INBOX-4] nobody reads or marks the items of others', async () => {
    await comment(`${token(member)} hello`)
    const [item] = await unreadOf(member)
    const params = { inbox_item_id: (item as InboxItem).id }
    expect(codeOf(await owner.api.send('updateInboxItem', { params, body: { is_read: true } }))).toBe(
      '404 inbox_item_not_found',
    )
    expect(await unreadOf(member)).toHaveLength(1)
    expect((await service.anybody.request('GET', '/me/inbox')).status).toBe(401)
  })

  test('[INBOX-4] the texts are those of now', async () => {
    const { id: comment_id } = await comment(`${token(member)} old`)
    await owner.api.call('updateComment', { params: { comment_id }, body: { body: `${token(member)} new` } })
    await owner.api.call('updateCard', { params: { card_id: card.id }, body: { title: 'Other' } })
    expect(await unreadOf(member)).toMatchObject([
      { comment: { excerpt: `@${member.username} new` }, card: { title: 'Other' } },
    ])
    await owner.api.call('updateComment', {
      params: { comment_id },
      body: { body: `${token(member)} ${'x'.repeat(9_999)}` },
    })
    expect((await unreadOf(member))[0]?.comment?.excerpt).toHaveLength(160)
  })

  test('[INBOX-7] archived and deleted cards and archived boards are left out until they are restored', async () => {
    await comment(`${token(member)} hello`)
    const { unread } = await member.api.call('getInboxSummary', {})
    await owner.api.call('archiveCard', { params: { card_id: card.id } })
    expect(await unreadOf(member)).toEqual([])
    expect(await member.api.call('getInboxSummary', {})).toMatchObject({ unread: unread - 1 })
    await owner.api.call('restoreRemoved', { params: { ...here(), removed_id: card.id }, body: {} })
    expect(await unreadOf(member)).toHaveLength(1)
    await owner.api.call('archiveBoard', { params: here() })
    expect(await unreadOf(member)).toEqual([])
    await owner.api.call('restoreBoard', { params: here() })
    expect(await unreadOf(member)).toHaveLength(1)
    await owner.api.call('deleteCard', { params: { card_id: card.id } })
    await owner.api.call('purgeRemoved', { params: { ...here(), removed_id: card.id } })
    const { rowCount } = await service.sql.query('select from inbox_items where card_id = $1', [card.id])
    expect(rowCount).toBe(0)
  })
})

describe('reading', () => {
  test('[INBOX-6] marks what was seen, not what came later', async () => {
    await comment(`${token(member)} one`)
    const [item] = (await unreadOf(member)) as [InboxItem]
    const params = { inbox_item_id: item.id }
    await comment(`${token(member)} two`)
    const mark = (is_read: boolean, seen?: string) =>
      member.api.call('updateInboxItem', { params, body: { is_read, ...(seen && { seen }) } })
    expect(await mark(true, item.changed_at)).toMatchObject({ read_at: null, count: 2 })
    await member.api.call('readInbox', { body: { until: item.changed_at } })
    const [newer] = (await unreadOf(member)) as [InboxItem]
    expect(newer.count).toBe(2)
    expect((await mark(true, newer.changed_at)).read_at).toMatch(/Z$/)
    expect((await mark(true)).read_at).toMatch(/Z$/)
    expect((await mark(false)).read_at).toBe(null)
    expect(await member.api.call('readInbox', { body: { until: newer.changed_at } })).toEqual({
      unread: 0,
      newest_at: null,
    })
  })

  test('[INBOX-8] it is newest first, in pages, and has only unread items if wanted', async () => {
    const reader = await service.user()
    await owner.api.call('inviteMember', { params: here(), body: { user_id: reader.id } })
    for (let i = 0; i < 5; i++) await comment(`${token(reader)} hello`, owner, await newCard(`Card ${i}`))
    const titles = (items: InboxItem[]) => items.map((item) => item.card?.title ?? item.reason)
    const all = await inboxOf(reader)
    expect(titles(all)).toEqual(['Card 4', 'Card 3', 'Card 2', 'Card 1', 'Card 0', 'added'])
    const seen: InboxItem[] = []
    for (let path: string | undefined = '/me/inbox?limit=4'; path; ) {
      const { body, headers } = await reader.api.request('GET', path)
      seen.push(...(body as InboxItem[]))
      path = /<(.+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(all)
    await reader.api.call('readInbox', { body: { until: all[2]?.changed_at as string } })
    expect(titles(await inboxOf(reader, { unread: 'true' }))).toEqual(['Card 4', 'Card 3'])
    expect(await reader.api.call('getInboxSummary', {})).toEqual({ unread: 2, newest_at: all[0]?.changed_at })
    const { headers } = await reader.api.request('GET', '/me/inbox/summary')
    const again = await reader.api.request('GET', '/me/inbox/summary', {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    })
    expect(again.status).toBe(304)
    // The same number of other items has another ETag.
    await reader.api.call('readInbox', { body: { until: all[0]?.changed_at as string } })
    for (const title of ['Card 5', 'Card 6']) await comment(`${token(reader)} hello`, owner, await newCard(title))
    const other = await reader.api.request('GET', '/me/inbox/summary', {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    })
    expect(other).toMatchObject({ status: 200, body: { unread: 2, newest_at: (await inboxOf(reader))[0]?.changed_at } })
  })

  test('[INBOX-9] items that were read 90 days ago are deleted; unread ones stay', async () => {
    await comment(`${token(member)} read`)
    await readAll(member)
    await service.sql.query("update inbox_items set read_at = read_at - interval '91 days' where user_id = $1", [
      member.id,
    ])
    await comment(`${token(member)} unread`, owner, await newCard('Other'))
    const database = new Database({ url: service.databaseUrl, size: 1, onError: () => {} })
    await deleteReadItems(database)
    await database.close()
    expect(await inboxOf(member)).toMatchObject([{ card: { title: 'Other' } }])
  })

  test('[INBOX-1] a deactivated user is not notified', async () => {
    await service.sql.query('update users set is_active = false where id = $1', [member.id])
    await comment(`${token(member)} hello`)
    const { rowCount } = await service.sql.query('select from inbox_items where user_id = $1 and read_at is null', [
      member.id,
    ])
    expect(rowCount).toBe(0)
  })
})

test('[INBOX-10] changes of different boards that notify the same people do not wait for each other', async () => {
  const other = await service.board()
  const people = [member, owner]
  for (const { id } of people)
    await other.owner.api.call('inviteMember', { params: { board_id: other.id }, body: { user_id: id } })
  const place = { board_id: other.id, column_id: other.columns[0].id }
  const elsewhere = await other.owner.api.call('createCard', { params: place, body: { title: 'Elsewhere' } })
  const held = await service.sql.connect()
  try {
    // A change of this board that has notified both, and is not committed.
    await held.query('begin')
    await held.query('update inbox_items set count = count where board_id = $1', [board.id])
    for (const { id } of people)
      await held.query(
        `insert into inbox_items (user_id, id, board_id, subject_id, card_id, reason, count, changed_at)
         values ($1, gen_random_uuid(), $2, $3, $3, 'assigned', 1, now())`,
        [id, board.id, card.id],
      )
    await comment(people.map(token).join(' '), other.owner, elsewhere)
  } finally {
    await held.query('rollback')
    held.release()
  }
  for (const person of people)
    expect((await unreadOf(person)).filter((item) => item.card?.id === elsewhere.id)).toHaveLength(1)
})

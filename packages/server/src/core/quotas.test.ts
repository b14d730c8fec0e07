import type { FullBoard } from '@lockstep/contract/boards'
import { Client, codeOf } from '@lockstep/testing/client'
import { lockWaiters } from '@lockstep/testing/processes'
import { idOf, type QuotaBoard, quotaBoard, recount, used } from '@lockstep/testing/quota-board'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../config/read-config.ts'
import { objectBytes } from './quotas.ts'

/** Without quotas, to fill boards beyond any limit. */
let service: TestService
/** Each on the same database, with one small quota. */
let fewCards: TestService
let littleText: TestService
let smallFiles: TestService
let fewBoards: TestService
beforeAll(async () => {
  service = await startService()
  const limited = (settings: Record<string, string>) => startService({ QUOTAS: 'on', ...settings }, { beside: service })
  ;[fewCards, littleText, smallFiles, fewBoards] = await Promise.all([
    limited({ MAX_CARDS_PER_BOARD: '5' }),
    limited({ MAX_BOARD_TEXT_BYTES: '20000' }),
    limited({ MAX_BOARD_FILE_BYTES: '1000' }),
    limited({ MAX_OWNED_BOARDS_PER_USER: '3' }),
  ])
})
afterAll(async () => {
  await Promise.all([fewCards, littleText, smallFiles, fewBoards].map((each) => each?.stop()))
  await service.stop()
})

const boardAt = (instance: TestService) => quotaBoard(service, instance)
const recounted = (board: TestBoard) => recount(service, board)

test('[QUOTA-1] quotas are on in production and off in development by default', () => {
  const inProduction = (settings = {}) =>
    readConfig({ ENVIRONMENT: 'production', JWT_SECRET: 'k3J9-x0aQ_72mPzR4bT6vY8wE1uI5oLs', ...settings })
  expect([inProduction().quotas.isOn, inProduction({ QUOTAS: 'off' }).quotas.isOn]).toEqual([true, false])
  expect([readConfig({}).quotas.isOn, readConfig({ QUOTAS: 'on' }).quotas.isOn]).toEqual([false, true])
})

test('[QUOTA-1] [QUOTA-10] without quotas nothing is rejected, and the usage has no limits', async () => {
  const off = await startService(
    {
      MAX_CARDS_PER_BOARD: '1',
      MAX_BOARD_TEXT_BYTES: '1',
      MAX_BOARD_FILE_BYTES: '1',
      MAX_OWNED_BOARDS_PER_USER: '1',
      MAX_BOARD_LOG_BYTES_PER_MINUTE: '1',
    },
    { beside: service },
  )
  try {
    const at = await boardAt(off)
    const responses = [await at.addCard({ title: 'One' }), await at.addCard({ title: 'Two' })]
    const id = idOf(responses[0])
    responses.push(await at.upload(id, 2), await at.api.send('createBoard', { body: { title: 'Another' } }))
    expect(responses.map(codeOf)).toEqual(['201', '201', '201', '201'])
    const usage = await at.usage()
    const { text_bytes, cards, file_bytes, log_bytes_per_minute } = usage
    for (const { limit } of [text_bytes, cards, file_bytes, log_bytes_per_minute]) expect(limit).toBeNull()
    expect(used(usage)).toEqual(await recounted(at.board))
    expect(usage.cards.used).toBe(2)
  } finally {
    await off.stop()
  }
})

describe('[QUOTA-3] cards', () => {
  test('at the limit the next card is 409 board_card_limit; a deletion makes space', async () => {
    const at = await boardAt(fewCards)
    const responses = []
    for (let i = 0; i < 6; i++) responses.push(await at.addCard({ title: `Card ${i}` }))
    expect(responses.map(codeOf)).toEqual(['201', '201', '201', '201', '201', '409 board_card_limit'])
    expect((await at.usage()).cards).toEqual({ used: 5, limit: 5 })
    const card_id = idOf(responses[0])
    await at.api.call('deleteCard', { params: { card_id } })
    expect(codeOf(await at.addCard({ title: 'Instead' }))).toBe('201')
  })

  test('[QUOTA-8] of 20 concurrent requests for the last card, one succeeds', async () => {
    const at = await boardAt(fewCards)
    for (let i = 0; i < 4; i++) await at.fill()
    const responses = await Promise.all(Array.from({ length: 20 }, (_, i) => at.addCard({ title: `Card ${i}` })))
    expect(responses.map(codeOf).sort()).toEqual(['201', ...Array.from({ length: 19 }, () => '409 board_card_limit')])
    expect(await recounted(at.board)).toMatchObject({ cards: 5 })
  })

  test('[QUOTA-7] a board above the limit can be read, changed and emptied', async () => {
    const at = await boardAt(fewCards)
    const cards = []
    for (let i = 0; i < 7; i++) cards.push(await at.fill())
    const params = { card_id: cards[0]?.id as string }
    const column_id = at.board.columns[1].id
    const responses = [
      await at.api.send('getBoard', { params: at.params }),
      await at.api.send('updateCard', { params, body: { description: 'A longer one' } }),
      await at.api.send('moveCard', { params, body: { column_id } }),
      await at.api.send('deleteCard', { params }),
      await at.addCard({ title: 'Still one too many' }),
      await at.api.send('deleteColumn', { params: { column_id: at.column_id } }),
    ]
    expect(responses.map(codeOf)).toEqual(['200', '200', '200', '204', '409 board_card_limit', '204'])
    expect((await at.usage()).cards.used).toBe(7)
    await at.purge(at.column_id)
    await at.purge(params.card_id)
    expect((await at.usage()).cards.used).toBe(0)
  })

  test('[QUOTA-9] a retry counts once, and is answered when the board is full', async () => {
    const at = await boardAt(fewCards)
    for (let i = 0; i < 4; i++) await at.fill()
    const key = { 'idempotency-key': 'the-last-one' }
    expect(codeOf(await at.addCard({ title: 'Last' }, key))).toBe('201')
    const again = await at.addCard({ title: 'Last' }, key)
    expect([codeOf(again), again.headers.get('idempotent-replayed')]).toEqual(['201', 'true'])
    expect((await at.usage()).cards.used).toBe(5)
  })

  test('[REQ-1] a reference that does not exist is reported before a quota', async () => {
    const at = await boardAt(fewCards)
    for (let i = 0; i < 5; i++) await at.fill()
    const params = { ...at.params, column_id: at.board.id }
    expect(codeOf(await at.api.send('createCard', { params, body: { title: 'Card' } }))).toBe('404 column_not_found')
  })
})

describe('[QUOTA-2] text', () => {
  const textOf = async (at: QuotaBoard) => (await at.usage()).text_bytes.used

  test('text counts as JSON: a card that fits exactly is created, one with a byte more is 409 board_text_limit', async () => {
    const at = await boardAt(littleText)
    const left = 20_000 - (await textOf(at))
    // Control characters take six bytes.
    const controls = Math.floor((left - objectBytes('Card', '')) / 6)
    const rest = left - objectBytes('Card', '') - 6 * controls
    const description = '\u0001'.repeat(controls) + 'x'.repeat(rest)
    expect(codeOf(await at.addCard({ title: 'Card', description: `${description}x` }))).toBe('409 board_text_limit')
    expect(codeOf(await at.addCard({ title: 'Card', description }))).toBe('201')
    expect((await at.usage()).text_bytes).toEqual({ used: 20_000, limit: 20_000 })
  })

  test('[QUOTA-8] of 20 concurrent requests for the last bytes, one succeeds', async () => {
    const at = await boardAt(littleText)
    const one = objectBytes('Card', null)
    await at.fill('Fill', 'x'.repeat(20_000 - (await textOf(at)) - objectBytes('Fill', '') - one))
    const responses = await Promise.all(Array.from({ length: 20 }, () => at.addCard({ title: 'Card' })))
    expect(responses.map(codeOf).sort()).toEqual(['201', ...Array.from({ length: 19 }, () => '409 board_text_limit')])
    expect(await recounted(at.board)).toMatchObject({ text_bytes: 20_000 })
  })

  test('[QUOTA-7] a full board can shrink: shorter texts and deletions work, and free space', async () => {
    const at = await boardAt(littleText)
    const card = await at.fill('Card', 'x'.repeat(30_000))
    const params = { card_id: card.id }
    const patch = (body: object) => at.api.send('updateCard', { params, body })
    const responses = [
      await at.api.send('getBoard', { params: at.params }),
      await patch({ title: 'A longer title' }),
      await patch({ description: 'x'.repeat(25_000) }),
      await at.addCard({ title: 'One more' }),
      await patch({ description: null }),
      await at.addCard({ title: 'One more' }),
    ]
    expect(responses.map(codeOf)).toEqual(['200', '409 board_text_limit', '200', '409 board_text_limit', '200', '201'])
  })

  test('every object takes part of the quota, also an empty one, so that their number is limited', async () => {
    const at = await boardAt(littleText)
    const { id: card_id } = await at.fill()
    const { id: checklist_id } = await at.api.call('createChecklist', { params: { card_id }, body: { title: 'List' } })
    const { id: item_id } = await at.api.call('createItem', { params: { checklist_id }, body: { content: '-' } })
    const { id: label_id } = await at.api.call('createLabel', { params: at.params, body: { name: 'L' } })
    const { id: comment_id } = await at.api.call('createComment', { params: { card_id }, body: { body: '-' } })
    const left = 20_000 - (await textOf(at))
    await at.fill('Fill', 'x'.repeat(left - objectBytes('Fill', '') - 100))
    const { api, params } = at
    const outsider = await service.user()
    const user_ids = [at.board.owner.id]
    const responses = {
      column: await api.send('createColumn', { params, body: { title: 'C' } }),
      label: await api.send('createLabel', { params, body: { name: 'L' } }),
      member: await api.send('inviteMember', { params, body: { user_id: outsider.id } }),
      checklist: await api.send('createChecklist', { params: { card_id }, body: { title: '-' } }),
      item: await api.send('createItem', { params: { checklist_id }, body: { content: '-' } }),
      'label on a card': await api.send('addCardLabel', { params: { card_id, label_id } }),
      'assignee of a card': await api.send('assignCard', { params: { card_id }, body: { user_ids } }),
      'assignee of an item': await api.send('assignItem', { params: { item_id }, body: { user_ids } }),
      attachment: await at.upload(card_id, 0),
      comment: await api.send('createComment', { params: { card_id }, body: { body: '-' } }),
      'longer comment': await api.send('updateComment', { params: { comment_id }, body: { body: 'x'.repeat(102) } }),
      'description of the board': await api.send('updateBoard', { params, body: { description: 'x'.repeat(101) } }),
      'longer item': await api.send('updateItem', { params: { item_id }, body: { content: 'x'.repeat(102) } }),
    }
    for (const [what, response] of Object.entries(responses))
      expect(codeOf(response), what).toBe('409 board_text_limit')
    expect(await recounted(at.board)).toEqual(used(await at.usage()))
    const { rows } = await service.sql.query('select from unclaimed_files where board_id = $1', [at.board.id])
    expect(rows).toEqual([])
  })

  test('a member and an assignee count at least half of the longest profile as JSON', async () => {
    const { owner, id: board_id, columns } = await service.board()
    const user = await service.user()
    const name = '山'.repeat(85)
    await user.api.call('updateMe', { body: { firstname: name, lastname: name } })
    // Longer ones cannot be registered.
    const longest = [user.id, user.email.padStart(254, 'x'), '𠀀'.repeat(50)]
    await service.sql.query('update users set email = $2, username = $3 where id = $1', longest)
    const { api } = owner
    const params = { board_id }
    const card = await api.call('createCard', { params: { ...params, column_id: columns[0].id }, body: { title: 'C' } })
    const on = { card_id: card.id }
    const list = await api.call('createChecklist', { params: on, body: { title: 'L' } })
    const item = await api.call('createItem', { params: { checklist_id: list.id }, body: { content: 'I' } })
    const size = async () => {
      const { text } = await api.send('getBoard', { params })
      const { text_bytes } = await api.call('getBoardUsage', { params })
      return { counted: text_bytes.used, json: Buffer.byteLength(text) }
    }
    const body = { user_ids: [user.id] }
    const steps = {
      member: () => api.send('inviteMember', { params, body: { user_id: user.id } }),
      'assignee of a card': () => api.send('assignCard', { params: on, body }),
      'assignee of an item': () => api.send('assignItem', { params: { item_id: item.id }, body }),
    }
    for (const [what, step] of Object.entries(steps)) {
      const before = await size()
      expect((await step()).status, what).toBeLessThan(300)
      const after = await size()
      expect(after.json - before.json, what).toBeGreaterThan(1_000)
      expect(after.json - before.json, what).toBeLessThanOrEqual(2 * (after.counted - before.counted))
    }
  })

  test('[QUOTA-11] a rule that would exceed a quota fails; the change that triggered it is kept', async () => {
    const at = await boardAt(littleText)
    const { id: card_id } = await at.fill()
    const [, second] = at.board.columns
    const rule = {
      name: 'Assign',
      trigger_type: 'CARD_MOVED',
      trigger_column_id: second.id,
      action_type: 'ASSIGN_MEMBER',
      action_user_id: at.board.member.id,
    } as const
    await at.api.call('createRule', { params: at.params, body: rule })
    await at.fill('Fill', 'x'.repeat(20_000 - (await textOf(at)) - objectBytes('Fill', '') - 100))
    const moved = await at.api.call('moveCard', { params: { card_id }, body: { column_id: second.id } })
    expect(moved).toMatchObject({ column_id: second.id, assignees: [] })
    const [run] = await at.api.call('listRuns', { params: at.params })
    expect(run).toMatchObject({ outcome: 'failed', card_id })
    expect(used(await at.usage())).toEqual(await recounted(at.board))
  })
})

describe('[QUOTA-4] files', () => {
  test('below, at and above the limit; a deletion frees space', async () => {
    const at = await boardAt(smallFiles)
    const { id: card_id } = await at.fill()
    const responses = [await at.upload(card_id, 600), await at.upload(card_id, 400), await at.upload(card_id, 1)]
    expect(responses.map(codeOf)).toEqual(['201', '201', '409 board_file_limit'])
    expect((await at.usage()).file_bytes).toEqual({ used: 1_000, limit: 1_000 })
    expect(codeOf(await at.upload(card_id, 0))).toBe('201')
    const attachment_id = idOf(responses[1])
    await at.api.call('deleteAttachment', { params: { attachment_id } })
    expect((await at.usage()).file_bytes.used).toBe(600)
    expect(codeOf(await at.upload(card_id, 400))).toBe('201')
  })

  test('[QUOTA-8] concurrent uploads do not exceed it, and rejected ones leave no bytes', async () => {
    const at = await boardAt(smallFiles)
    const { id: card_id } = await at.fill()
    const responses = await Promise.all(Array.from({ length: 20 }, () => at.upload(card_id, 501)))
    expect(responses.map(codeOf).sort()).toEqual(['201', ...Array.from({ length: 19 }, () => '409 board_file_limit')])
    expect(await recounted(at.board)).toMatchObject({ file_bytes: 501 })
    const { rows } = await service.sql.query(
      'select coalesce(sum(length(bytes)), 0)::int as bytes from file_chunks where board_id = $1',
      [at.board.id],
    )
    expect(rows).toEqual([{ bytes: 501 }])
  })

  test('no bytes of a file are stored on a full board', async () => {
    const at = await boardAt(smallFiles)
    const { id: card_id } = await at.fill()
    await at.upload(card_id, 1_000)
    // A trigger that rejects every write shows that none was attempted.
    await service.sql.query(
      `alter table file_chunks add constraint rejected check (board_id <> '${at.board.id}') not valid`,
    )
    try {
      expect(codeOf(await at.upload(card_id, 100_000))).toBe('409 board_file_limit')
    } finally {
      await service.sql.query('alter table file_chunks drop constraint rejected')
    }
  })

  test('[QUOTA-7] above the limit files can be read and deleted, also with their card and column', async () => {
    const at = await boardAt(smallFiles)
    const { id: card_id } = await at.fill()
    const other = await at.fill()
    const upload = (id: string) =>
      at.board.owner.api.call('createAttachment', {
        params: { card_id: id },
        body: { file: new File(['x'.repeat(900)], 'file.txt') },
      })
    const { id: attachment_id } = await upload(card_id)
    await upload(other.id)
    expect((await at.api.send('getAttachment', { params: { attachment_id } })).status).toBe(200)
    await at.api.call('deleteCard', { params: { card_id } })
    await at.api.call('deleteColumn', { params: { column_id: at.column_id } })
    expect((await at.usage()).file_bytes.used).toBe(1_800)
    await at.purge(card_id)
    expect((await at.usage()).file_bytes.used).toBe(900)
    await at.purge(at.column_id)
    expect((await at.usage()).file_bytes.used).toBe(0)
  })
})

describe('[QUOTA-5] created boards', () => {
  const atLimited = ({ api }: TestUser) => new Client(fewBoards.baseUrl, api.token as string)
  const create = (user: TestUser, at = atLimited(user)) => at.send('createBoard', { body: { title: 'Mine' } })

  test('memberships do not count; at the limit the next board is 409 owned_board_limit; a deletion frees space', async () => {
    const user = await service.user()
    const host = await service.board()
    await host.owner.api.call('inviteMember', { params: { board_id: host.id }, body: { user_id: user.id } })
    const responses = []
    for (let i = 0; i < 4; i++) responses.push(await create(user))
    expect(responses.map(codeOf)).toEqual(['201', '201', '201', '409 owned_board_limit'])
    await atLimited(user).call('deleteBoard', { params: { board_id: idOf(responses[2]) } })
    expect(codeOf(await create(user))).toBe('201')
  })

  test('ownership does not count, so that users cannot use up the quota of others; handing over a board does not free it', async () => {
    const [user, heir] = [await service.user(), await service.user()]
    const handOver = async (owner: TestUser, board_id: string, to: TestUser) => {
      await owner.api.call('inviteMember', { params: { board_id }, body: { user_id: to.id } })
      const params = { board_id, user_id: to.id }
      return codeOf(await atLimited(owner).send('updateMember', { params, body: { role: 'owner' } }))
    }
    for (const host of await Promise.all(Array.from({ length: 4 }, () => service.board())))
      expect(await handOver(host.owner, host.id, user)).toBe('200')
    const responses = []
    for (let i = 0; i < 3; i++) responses.push(await create(user))
    expect(responses.map(codeOf)).toEqual(['201', '201', '201'])
    const host = await service.board()
    expect(await handOver(host.owner, host.id, user)).toBe('200')
    const board_id = idOf(responses[0])
    await handOver(user, board_id, heir)
    await user.api.call('removeMember', { params: { board_id, user_id: user.id } })
    expect(codeOf(await create(user))).toBe('409 owned_board_limit')
  })

  test('[QUOTA-8] of 20 concurrent requests for the last board, one succeeds', async () => {
    const user = await service.user()
    for (let i = 0; i < 2; i++) await create(user)
    // On two instances: one instance makes the changes of a user one after the other.
    const beside = await startService({ QUOTAS: 'on', MAX_OWNED_BOARDS_PER_USER: '3' }, { beside: service })
    const clients = [atLimited(user), new Client(beside.baseUrl, user.api.token as string)]
    // No board can be inserted until both wait. Otherwise the first could end before the second has a connection.
    const other = await service.sql.connect()
    await other.query('begin')
    await other.query('lock table boards in share mode')
    const creating = Promise.all(Array.from({ length: 20 }, (_, i) => create(user, clients[i % 2])))
    await expect.poll(() => lockWaiters(service.sql)).toBeGreaterThan(1)
    await other.query('rollback')
    other.release()
    const responses = await creating
    expect(responses.map(codeOf).sort()).toEqual(['201', ...Array.from({ length: 19 }, () => '409 owned_board_limit')])
    await beside.stop()
  })
})

describe('[REMOVE-11] what was archived or deleted', () => {
  const archive = (at: QuotaBoard, card_id: string) => at.api.call('archiveCard', { params: { card_id } })
  const remove = (at: QuotaBoard, card_id: string) => at.api.call('deleteCard', { params: { card_id } })
  const filesOf = async ({ board }: QuotaBoard) => {
    const { rows } = await service.sql.query('select file_id from file_chunks where board_id = $1', [board.id])
    return rows.length
  }
  const expectCounted = async (at: QuotaBoard) => expect(used(await at.usage())).toEqual(await recounted(at.board))
  /** A card that takes this much of the text quota. */
  const addText = (at: QuotaBoard, bytes: number) =>
    at.addCard({ title: 'Card', description: 'x'.repeat(bytes - objectBytes('Card', '')) })

  test('counts as before: its cards, texts and files', async () => {
    const at = await boardAt(service)
    const [first, second] = [await at.fill('First', 'Text'), await at.fill('Second', 'Text')]
    for (const { id } of [first, second]) await at.upload(id, 100)
    const before = used(await at.usage())
    await archive(at, first.id)
    await remove(at, second.id)
    await at.api.call('deleteColumn', { params: { column_id: at.column_id } })
    await at.api.call('archiveColumn', { params: { column_id: at.board.columns[1].id } })
    expect(used(await at.usage())).toEqual(before)
    await expectCounted(at)
  })

  test('cards: a new card takes the place of the one that was deleted first, and never of an archived one', async () => {
    const at = await boardAt(fewCards)
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push((await at.fill(`Card ${i}`)).id)
    const [archived, first, second, third] = ids as [string, string, string, string]
    await archive(at, archived)
    for (const id of [second, first, third]) await remove(at, id)
    const left = [[third, first, archived], [third, archived], [archived]]
    for (const expected of left) {
      expect(codeOf(await at.addCard({ title: 'New' }))).toBe('201')
      expect(await at.removed()).toEqual(expected)
      expect((await at.usage()).cards.used).toBe(5)
    }
    expect(codeOf(await at.addCard({ title: 'New' }))).toBe('409 board_card_limit')
    expect(await at.removed()).toEqual([archived])
    await expectCounted(at)
  })

  test('text: as many are deleted for good as needed; if all are not enough, none is', async () => {
    const at = await boardAt(littleText)
    const large = []
    for (let i = 0; i < 3; i++) large.push(idOf(await addText(at, 5_000)))
    const [first, second, third] = large as [string, string, string]
    await archive(at, second)
    for (const id of [first, third]) await remove(at, id)
    const free = async () => 20_000 - (await at.usage()).text_bytes.used
    expect(codeOf(await addText(at, (await free()) + 10_001))).toBe('409 board_text_limit')
    expect(await at.removed()).toEqual([third, first, second])
    expect(codeOf(await addText(at, (await free()) + 5_000))).toBe('201')
    expect(await at.removed()).toEqual([third, second])
    expect(await free()).toBe(0)
    expect(codeOf(await at.addCard({ title: 'One byte would be enough' }))).toBe('201')
    expect(await at.removed()).toEqual([second])
    expect(
      codeOf(await at.api.send('restoreRemoved', { params: { ...at.params, removed_id: second }, body: {} })),
    ).toBe('200')
    await expectCounted(at)
  })

  test('text: many small ones make space for a large one', async () => {
    const at = await boardAt(littleText)
    for (let i = 0; i < 60; i++) await remove(at, idOf(await at.addCard({ title: `Card ${i}` })))
    const { used: before } = (await at.usage()).text_bytes
    expect(codeOf(await addText(at, 20_000 - before + 55 * objectBytes('Card 0', null)))).toBe('201')
    expect(await at.removed()).toHaveLength(5)
    await expectCounted(at)
  })

  test('files: an upload that needs the space of deleted files works, and one for which they are not enough keeps them', async () => {
    const at = await boardAt(smallFiles)
    const [target, archived, old, recent] = [await at.fill(), await at.fill(), await at.fill(), await at.fill()]
    await at.upload(archived.id, 300)
    await at.upload(old.id, 400)
    await at.upload(recent.id, 200)
    await archive(at, archived.id)
    for (const { id } of [old, recent]) await remove(at, id)
    expect(codeOf(await at.upload(target.id, 701))).toBe('409 board_file_limit')
    expect(await at.removed()).toEqual([recent.id, old.id, archived.id])
    expect(await filesOf(at)).toBe(3)
    expect(codeOf(await at.upload(target.id, 500))).toBe('201')
    expect(await at.removed()).toEqual([recent.id, archived.id])
    expect((await at.usage()).file_bytes.used).toBe(1_000)
    expect(codeOf(await at.upload(target.id, 200))).toBe('201')
    expect(await at.removed()).toEqual([archived.id])
    expect(codeOf(await at.upload(target.id, 1))).toBe('409 board_file_limit')
    await expectCounted(at)
  })

  test('a column in the trash makes space too, and what remains of it can be found and restored', async () => {
    const at = await boardAt(fewCards)
    const cards = []
    for (let i = 0; i < 5; i++) cards.push(await at.fill(`Card ${i}`))
    await at.api.call('deleteColumn', { params: { column_id: at.column_id } })
    const column_id = at.board.columns[1].id
    const add = () => at.api.send('createCard', { params: { ...at.params, column_id }, body: { title: 'New' } })
    expect(codeOf(await add())).toBe('201')
    await expectCounted(at)
    for (const removed_id of await at.removed())
      await at.api.call('restoreRemoved', { params: { ...at.params, removed_id }, body: { column_id } })
    const { columns } = await at.api.call('getBoard', { params: at.params })
    expect(columns.flatMap((column) => column.cards)).toHaveLength(5)
  })
})

describe('[QUOTA-9] the counters', () => {
  test('equal a recount after every kind of change, including cascades', async () => {
    const board = await service.board()
    const { api, id: owner_id } = board.owner
    const member_id = board.member.id
    const params = { board_id: board.id }
    const [first, second] = board.columns
    const check = async (what: string) =>
      expect(used(await api.call('getBoardUsage', { params })), what).toEqual(await recounted(board))
    const at = { ...params, column_id: first.id }
    const card = await api.call('createCard', { params: at, body: { title: 'É\u0007"\\', description: 'D' } })
    const on = { card_id: card.id }
    const label = await api.call('createLabel', { params, body: { name: 'Label\n', color: '€' } })
    await api.call('addCardLabel', { params: { ...on, label_id: label.id } })
    await api.call('addCardLabel', { params: { ...on, label_id: label.id } })
    await check('a label on a card')
    await api.call('updateLabel', { params: { label_id: label.id }, body: { name: 'Longer label' } })
    await check('a label that was renamed')
    await api.call('assignCard', { params: on, body: { user_ids: [owner_id, member_id] } })
    await api.call('assignCard', { params: on, body: { user_ids: [owner_id, member_id] } })
    const list = await api.call('createChecklist', { params: on, body: { title: 'List' } })
    const of = { checklist_id: list.id }
    const item = await api.call('createItem', { params: of, body: { content: 'Item' } })
    await api.call('createItem', { params: of, body: { content: 'Another' } })
    await api.call('assignItem', { params: { item_id: item.id }, body: { user_ids: [owner_id, member_id] } })
    await api.call('assignItem', { params: { item_id: item.id }, body: { user_ids: [member_id] } })
    const file = await api.call('createAttachment', { params: on, body: { file: new File(['12345'], 'a"b.txt') } })
    await api.call('createAttachment', { params: on, body: { file: new File(['123'], 'c.txt') } })
    const comment = await api.call('createComment', { params: on, body: { body: 'Hello "you"' } })
    await api.call('createComment', { params: on, body: { body: 'Another' } })
    await check('everything that hangs on a card')
    await api.call('updateBoard', { params, body: { title: 'T', description: 'About it' } })
    await api.call('updateColumn', { params: { column_id: first.id }, body: { title: 'C', color: 'x' } })
    await api.call('updateCard', { params: on, body: { description: null } })
    await api.call('updateChecklist', { params: of, body: { title: 'Longer list' } })
    await api.call('updateItem', { params: { item_id: item.id }, body: { content: 'I', is_done: true } })
    await api.call('updateComment', { params: { comment_id: comment.id }, body: { body: 'Hi' } })
    await check('what was edited')
    await api.call('moveCard', { params: on, body: { column_id: second.id } })
    await api.call('moveColumn', { params: { column_id: second.id }, body: { position: 0 } })
    await check('what was moved')
    await api.call('unassignCard', { params: { ...on, user_id: owner_id } })
    await api.call('unassignItem', { params: { item_id: item.id, user_id: owner_id } })
    await api.call('deleteAttachment', { params: { attachment_id: file.id } })
    await api.call('deleteComment', { params: { comment_id: comment.id } })
    await check('what was taken off')
    await api.call('removeMember', { params: { ...params, user_id: member_id } })
    await check('a member who was assigned')
    await api.call('deleteLabel', { params: { label_id: label.id } })
    await check('a label that was on cards')
    await api.call('deleteItem', { params: { item_id: item.id } })
    await api.call('deleteChecklist', { params: of })
    await check('a checklist with items')
    await api.call('createChecklist', { params: on, body: { title: 'List' } })
    await api.call('archiveCard', { params: on })
    await check('an archived card with a checklist and a file')
    await api.call('restoreRemoved', { params: { ...params, removed_id: card.id }, body: {} })
    await api.call('deleteCard', { params: on })
    await check('a card with a checklist, a comment and a file')
    const other = await api.call('createCard', { params: at, body: { title: 'Card' } })
    await api.call('createComment', { params: { card_id: other.id }, body: { body: 'With the column' } })
    await api.call('deleteColumn', { params: { column_id: first.id } })
    await check('a column with cards')
    const again = { id: card.id, title: 'Another one with its id' }
    await api.call('createCard', { params: { ...params, column_id: second.id }, body: again })
    await check('a card with the id of a deleted one')
    await api.call('restoreRemoved', { params: { ...params, removed_id: first.id }, body: {} })
    await check('a restored column')
    await api.call('archiveColumn', { params: { column_id: first.id } })
    await api.call('restoreRemoved', {
      params: { ...params, removed_id: other.id },
      body: { column_id: second.id },
    })
    await api.call('archiveColumn', { params: { column_id: second.id } })
    await check('archived columns')
    for (const { id: removed_id } of await api.call('listRemoved', { params })) {
      await api.call('purgeRemoved', { params: { ...params, removed_id } })
      await check('what was deleted for good')
    }
    const { cards, file_bytes } = await api.call('getBoardUsage', { params })
    expect([cards.used, file_bytes.used]).toEqual([0, 0])
  })

  test('a board that was never counted is counted when it is needed', async () => {
    const at = await boardAt(fewCards)
    for (let i = 0; i < 5; i++) await at.fill()
    const forget = () =>
      service.sql.query(
        'update board_stream set text_bytes = null, card_count = null, file_bytes = null where board_id = $1',
        [at.board.id],
      )
    await forget()
    expect((await at.usage()).cards.used).toBe(5)
    expect(codeOf(await at.addCard({ title: 'One too many' }))).toBe('409 board_card_limit')
    const [card] = ((await at.api.call('getBoard', { params: at.params })) as FullBoard).columns[0]?.cards ?? []
    await at.api.call('deleteCard', { params: { card_id: card?.id as string } })
    expect(used(await at.usage())).toEqual(await recounted(at.board))
    // Without quotas it stays uncounted, and nothing is counted twice later.
    await forget()
    await at.fill()
    expect(used(await at.usage())).toEqual(await recounted(at.board))
    expect(codeOf(await at.addCard({ title: 'One too many' }))).toBe('409 board_card_limit')
  })
})

test('[QUOTA-10] the usage is for members, and part of no board and no event', async () => {
  const at = await boardAt(fewCards)
  const card = await at.addCard({ title: 'Card' })
  const outsider = await service.user()
  expect(codeOf(await outsider.api.send('getBoardUsage', { params: at.params }))).toBe('403 not_a_member')
  const usage = await at.board.member.api.call('getBoardUsage', { params: at.params })
  expect(Object.keys(usage)).toEqual(['text_bytes', 'cards', 'file_bytes', 'log_bytes_per_minute'])
  const board = await at.api.send('getBoard', { params: at.params })
  const events = await at.api.send('listEvents', { params: at.params })
  for (const { text } of [board, events, card]) expect(text).not.toMatch(/text_bytes|card_count|file_bytes|log_bytes/)
})

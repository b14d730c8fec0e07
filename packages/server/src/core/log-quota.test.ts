import { randomUUID } from 'node:crypto'
import { codeOf } from '@lockstep/testing/client'
import { idOf, type QuotaBoard, quotaBoard, recount, used } from '@lockstep/testing/quota-board'
import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const LOG_BYTES = 120_000
/** Without quotas, to fill boards. */
let service: TestService
/** On the same database, with a small log quota. */
let slowLog: TestService
beforeAll(async () => {
  service = await startService()
  const settings = { QUOTAS: 'on', MAX_BOARD_LOG_BYTES_PER_MINUTE: String(LOG_BYTES) }
  slowLog = await startService(settings, { beside: service })
})
afterAll(async () => {
  await slowLog?.stop()
  await service.stop()
})

const newBoard = () => quotaBoard(service, slowLog)
/** Sets the level of the bucket directly: waiting for it to fill or drain would depend on the speed of the machine. */
const setLevel = ({ board }: QuotaBoard, bytes: number) =>
  service.sql.query('update board_stream set log_bytes = $2 where board_id = $1', [board.id, bytes])

test('[QUOTA-6] repeatedly renaming a large column is 429 board_log_limit with Retry-After', async () => {
  const at = await newBoard()
  await at.fill('Card', 'x'.repeat(30_000))
  const codes: string[] = []
  let retry_after = Number.NaN
  while (codes.length < 20 && !codes.includes('429 board_log_limit')) {
    const params = { column_id: at.column_id }
    const response = await at.api.send('updateColumn', { params, body: { title: `Column ${codes.length}` } })
    codes.push(codeOf(response))
    retry_after = Number(response.headers.get('retry-after'))
  }
  // Each rename writes the card again.
  expect(codes.length).toBeGreaterThan(2)
  expect(codes.slice(-2)).toEqual(['200', '429 board_log_limit'])
  expect(retry_after).toBeGreaterThan(0)
  expect(retry_after).toBeLessThanOrEqual(60)
  const { log_bytes_per_minute } = await at.usage()
  expect(log_bytes_per_minute.limit).toBe(LOG_BYTES)
  expect(log_bytes_per_minute.used).toBeGreaterThan(LOG_BYTES / 2)
  // Other boards are not affected.
  const other = await newBoard()
  expect(codeOf(await other.addCard({ title: 'Card' }))).toBe('201')
})

test('[QUOTA-6] stored responses of changes that change nothing count too', async () => {
  const at = await newBoard()
  const card = await at.fill('Card', 'x'.repeat(30_000))
  const logged = async () => (await at.usage()).log_bytes_per_minute.used
  const before = await logged()
  const params = { card_id: card.id }
  const send = (headers = {}) => at.api.send('updateCard', { params, body: { title: 'Card' }, headers })
  expect(codeOf(await send())).toBe('200')
  expect(await logged()).toBeLessThanOrEqual(before)
  expect(codeOf(await send({ 'idempotency-key': randomUUID() }))).toBe('200')
  expect(await logged()).toBeGreaterThan(before + 10_000)
})

test('[QUOTA-7] deletions still work; everything else works again when the bucket has drained', async () => {
  const at = await newBoard()
  const card = await at.fill('Card', 'x'.repeat(30_000))
  await setLevel(at, 2 * LOG_BYTES)
  expect(codeOf(await at.addCard({ title: 'Card' }))).toBe('429 board_log_limit')
  expect(codeOf(await at.api.send('deleteCard', { params: { card_id: card.id } }))).toBe('204')
  const rejected = await at.addCard({ title: 'Card' })
  // As if the time had passed. However much was deleted, it is a minute at most.
  const waited = Number(rejected.headers.get('retry-after'))
  expect(waited).toBeLessThanOrEqual(60)
  const back = [at.board.id, waited * 1_000]
  await service.sql.query('update board_stream set log_at = log_at - $2 where board_id = $1', back)
  expect(codeOf(await at.addCard({ title: 'Card' }))).toBe('201')
})

describe('[QUOTA-13] deletions while the log quota is used up', () => {
  const DESCRIPTION = 'é'.repeat(45_000)

  test('a deletion that frees about as much as it logs, or logs little, works', async () => {
    const at = await newBoard()
    const { api, params } = at
    const [large, small, other] = [await at.fill('Large', DESCRIPTION), await at.fill(), await at.fill()]
    // A small card is larger as JSON than its counted size.
    for (let i = 0; i < 250; i++) await at.fill('-')
    const label = await api.call('createLabel', { params, body: { name: 'L' } })
    const marked = { card_id: small.id, label_id: label.id }
    await api.call('addCardLabel', { params: marked })
    const list = { params: { card_id: small.id }, body: { title: 'x'.repeat(200) } }
    const checklist = await api.call('createChecklist', list)
    const item = await api.call('createItem', { params: { checklist_id: checklist.id }, body: { content: '-' } })
    const attachment_id = idOf(await at.upload(other.id, 10))
    const { id: comment_id } = await api.call('createComment', { params: { card_id: other.id }, body: { body: '-' } })
    await setLevel(at, 2 * LOG_BYTES)
    const responses = [
      await api.send('removeCardLabel', { params: marked }),
      await api.send('deleteItem', { params: { item_id: item.id } }),
      await api.send('deleteChecklist', { params: { checklist_id: checklist.id } }),
      await api.send('deleteAttachment', { params: { attachment_id } }),
      await api.send('deleteComment', { params: { comment_id } }),
      await api.send('deleteLabel', { params: { label_id: label.id } }),
      await api.send('deleteCard', { params: { card_id: large.id } }),
      await api.send('deleteColumn', { params: { column_id: at.column_id } }),
      await api.send('deleteBoard', { params }),
    ]
    expect(responses.map(codeOf)).toEqual(responses.map(() => '204'))
  })

  test('a deletion that frees little and logs a large card is rejected like other changes', async () => {
    const at = await newBoard()
    const { api, params } = at
    const { id: card_id } = await at.fill('Card', DESCRIPTION)
    const { id: label_id } = await at.board.owner.api.call('createLabel', { params, body: { name: 'L' } })
    const user_id = at.board.owner.id
    await at.board.owner.api.call('addCardLabel', { params: { card_id, label_id } })
    await at.board.owner.api.call('assignCard', { params: { card_id }, body: { user_ids: [user_id] } })
    const takeOff = async () =>
      [
        await api.send('removeCardLabel', { params: { card_id, label_id } }),
        await api.send('unassignCard', { params: { card_id, user_id } }),
      ].map(codeOf)
    await setLevel(at, 1.5 * LOG_BYTES)
    expect(await takeOff()).toEqual(['429 board_log_limit', '429 board_log_limit'])
    expect(await api.call('getCard', { params: { card_id } })).toMatchObject({ labels: [{ id: label_id }] })
    expect(used(await at.usage())).toEqual(await recount(service, at.board))
    await setLevel(at, 0)
    expect(await takeOff()).toEqual(['204', '204'])
  })

  test('a member can be removed whatever other changes have logged, but not with one large card after the other', async () => {
    const at = await newBoard()
    const { api, params } = at
    const { id: card_id } = await at.fill('Card', DESCRIPTION)
    const members = [at.board.member.id]
    for (let i = 0; i < 2; i++) {
      const { id: user_id } = await service.user()
      await at.board.owner.api.call('inviteMember', { params, body: { user_id } })
      members.push(user_id)
    }
    await at.board.owner.api.call('assignCard', { params: { card_id }, body: { user_ids: members } })
    await setLevel(at, 2 * LOG_BYTES)
    const responses = []
    for (const user_id of members) responses.push(await api.send('removeMember', { params: { ...params, user_id } }))
    expect(responses.map(codeOf)).toEqual(['204', '429 board_log_limit', '429 board_log_limit'])
    expect(Number(responses[1]?.headers.get('retry-after'))).toBeLessThanOrEqual(60)
  })
})

test('[QUOTA-6] a stored response and the runs of rules count too', async () => {
  const [plain, keyed, ruled] = [await newBoard(), await newBoard(), await newBoard()]
  const spent = async (at: QuotaBoard, headers = {}) => {
    const { id: card_id } = await at.fill('Card', 'x'.repeat(10_000))
    await setLevel(at, 0)
    const column_id = at.board.columns[1].id
    await at.api.call('moveCard', { params: { card_id }, body: { column_id }, headers })
    const { rows } = await service.sql.query('select log_bytes::int from board_stream where board_id = $1', [
      at.board.id,
    ])
    return (rows[0] as { log_bytes: number }).log_bytes
  }
  const rule = { name: 'x'.repeat(255), trigger_type: 'CARD_MOVED', action_type: 'MOVE_TO_COLUMN' } as const
  const column = { trigger_column_id: ruled.board.columns[1].id, action_column_id: ruled.board.columns[1].id }
  for (let i = 0; i < 10; i++)
    await ruled.api.call('createRule', { params: ruled.params, body: { ...rule, ...column } })
  const once = await spent(plain)
  expect(once).toBeGreaterThan(10_000)
  expect(await spent(keyed, { 'idempotency-key': 'move' })).toBeGreaterThan(once + 10_000)
  expect(await spent(ruled)).toBeGreaterThan(once + 10 * 255)
})

test('[QUOTA-12] one change that would write more than the quota of a minute is 409 change_too_large, except a deletion that frees as much', async () => {
  const at = await newBoard()
  const card = await at.fill('Card', 'x'.repeat(50_000))
  const user_ids = [at.board.owner.id, at.board.member.id]
  for (let i = 0; i < 2; i++) {
    const { id } = await service.user()
    await at.api.call('inviteMember', { params: at.params, body: { user_id: id } })
    user_ids.push(id)
  }
  const assign = (ids: string[]) => at.api.send('assignCard', { params: { card_id: card.id }, body: { user_ids: ids } })
  expect(codeOf(await assign(user_ids))).toBe('409 change_too_large')
  expect(await at.api.call('getCard', { params: { card_id: card.id } })).toMatchObject({ assignees: [] })
  for (let i = 0; i < 3; i++) await at.fill('Card', 'x'.repeat(50_000))
  expect(codeOf(await at.api.send('deleteColumn', { params: { column_id: at.column_id } }))).toBe('204')
})

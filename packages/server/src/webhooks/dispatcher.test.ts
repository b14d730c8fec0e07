import { randomUUID } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Webhook } from '@lockstep/contract/webhooks'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { type ReceivedRequest, WEBHOOK_SETTINGS, WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Database } from '../database/database.ts'
import { saveAttempts } from './dispatch-queries.ts'

const SENDING = { ...WEBHOOK_SETTINGS, WEBHOOK_WORKERS: '20' }

let service: TestService
let board: TestBoard
let receiver: WebhookReceiver
beforeAll(async () => {
  service = await startService(SENDING)
})
afterAll(() => service.stop())
beforeEach(async () => {
  board = await service.board()
  receiver = await WebhookReceiver.start()
})
afterEach(() => receiver.close())

const newWebhook = ({ id, owner }: TestBoard, url: string) =>
  owner.api.call('createWebhook', { params: { board_id: id }, body: { name: 'CI', url } })
const newCard = ({ id, owner, columns }: TestBoard, title = 'Card') =>
  owner.api.call('createCard', { params: { board_id: id, column_id: columns[0].id }, body: { title } })
const rowOf = async ({ id }: Webhook) => (await service.sql.query('select * from webhooks where id = $1', [id])).rows[0]

/** Waits until an event of another board is sent and its attempt is saved: attempts that ended before are saved too. */
async function othersAreSaved() {
  const other = await service.board()
  const well = await WebhookReceiver.start()
  const { id } = await newWebhook(other, well.url)
  await newCard(other)
  const saved = () => service.sql.query('select status from webhook_deliveries where webhook_id = $1', [id])
  await expect.poll(async () => (await saved()).rows).toEqual([{ status: 204 }])
  await well.close()
}

/** Receives the first request and answers it only on demand. */
function holdFirst() {
  const { promise, resolve } = Promise.withResolvers<number>()
  receiver.respond = () => (receiver.requests.length === 1 ? promise : 204)
  return resolve
}

test('[HOOK-13] only the statement that saves an attempt commits without waiting for the disk', () => {
  const folder = fileURLToPath(new URL('../', import.meta.url))
  const names = globSync('**/*.ts', { cwd: folder }).filter((name) => !name.endsWith('.test.ts'))
  const found = names.flatMap((name) =>
    readFileSync(folder + name, 'utf8')
      .split(/(?=\bstatement\()/)
      .filter((text) => /synchronous_commit/i.test(text))
      .map((text) => `${name} ${/^statement\(\s*'(\w+)'/.exec(text)?.[1] ?? ''}`.trim()),
  )
  // The other one only reads the setting.
  expect(found.toSorted()).toEqual([
    'database/durability-check.ts',
    'webhooks/dispatch-queries.ts record_webhook_attempts',
  ])
})

test('[HOOK-13] the setting ends with the statement, not with the connection', async () => {
  const webhook = await newWebhook(board, receiver.url)
  await service.sql.query('update webhooks set is_enabled = false where id = $1', [webhook.id])
  const database = new Database({ url: service.databaseUrl, size: 1, onError: () => {} })
  const fence = Number((await rowOf(webhook)).fence)
  const attempt = {
    ...{ board_id: board.id, webhook_id: webhook.id, fence, id: randomUUID(), type: 'card.created' },
    ...{
      event_epoch: 1,
      event_seq: 1,
      epoch: 1,
      seq: 1,
      attempt: 1,
      is_accepted: true,
      is_last: false,
      is_slow: false,
    },
    ...{ wait_seconds: 0, paused_reason: null, status: 204, error: null, duration_ms: 1, response: null },
  }
  expect(await saveAttempts(database, [attempt], 20)).toEqual([fence + 1])
  const { rows } = await database.pool.query('show synchronous_commit')
  await database.close()
  expect(rows).toEqual([{ synchronous_commit: 'on' }])
})

test('[HOOK-9] a sender whose lease was taken over saves nothing', async () => {
  const answer = holdFirst()
  const webhook = await newWebhook(board, receiver.url)
  await newCard(board)
  await expect.poll(() => receiver.requests.length).toBe(1)
  // As another instance would.
  await service.sql.query(
    `update webhooks set fence = fence + 1, held_until = now() + interval '1 hour' where id = $1`,
    [webhook.id],
  )
  const before = await rowOf(webhook)
  answer(204)
  await othersAreSaved()
  expect(await rowOf(webhook)).toEqual(before)
  const { rows } = await service.sql.query('select from webhook_deliveries where webhook_id = $1', [webhook.id])
  expect(rows).toEqual([])
  // The event is sent again when the lease of the other one ends.
  await service.sql.query('update webhooks set held_until = now() where id = $1', [webhook.id])
  await expect.poll(() => receiver.requests.length).toBe(2)
  const [first, again] = receiver.requests as [ReceivedRequest, ReceivedRequest]
  expect(again.headers['webhook-id']).toBe(first.headers['webhook-id'])
  expect(again.text).toBe(first.text)
})

test('[HOOK-9] attempts of several webhooks are saved together, and only those whose number is the current one', async () => {
  const { promise, resolve: answer } = Promise.withResolvers<number>()
  receiver.respond = () => promise
  const webhooks = [await newWebhook(board, receiver.url), await newWebhook(board, receiver.url)] as const
  const [kept, taken] = webhooks
  await newCard(board)
  await expect.poll(() => receiver.requests.length).toBe(2)
  const claimed = Number((await rowOf(kept)).fence)
  await service.sql.query(
    `update webhooks set fence = fence + 1, held_until = now() + interval '1 hour' where id = $1`,
    [taken.id],
  )
  const before = await rowOf(taken)
  answer(204)
  await expect.poll(async () => Number((await rowOf(kept)).seq)).toBe(receiver.seqs[0])
  expect(Number((await rowOf(kept)).fence)).toBe(claimed + 1)
  expect(await rowOf(taken)).toEqual(before)
  const { rows } = await service.sql.query('select webhook_id from webhook_deliveries where board_id = $1', [board.id])
  expect(rows).toEqual([{ webhook_id: kept.id }])
})

test('[HOOK-9] each attempt has its own fencing number, also when PostgreSQL lost the last ones in a crash', async () => {
  const answer = holdFirst()
  const webhook = await newWebhook(board, receiver.url)
  await newCard(board)
  await expect.poll(() => receiver.requests.length).toBe(1)
  const claimed = Number((await rowOf(webhook)).fence)
  await service.sql.query('update webhooks set fence = fence - 100, held_until = now() where id = $1', [webhook.id])
  await expect.poll(async () => Number((await rowOf(webhook)).fence)).toBeGreaterThan(claimed)
  await expect.poll(async () => (await rowOf(webhook)).held_until).toBe(null)
  const saved = await rowOf(webhook)
  answer(500)
  await othersAreSaved()
  expect(await rowOf(webhook)).toEqual(saved)
  const { rows } = await service.sql.query('select status from webhook_deliveries where webhook_id = $1', [webhook.id])
  expect(rows).toEqual([{ status: 204 }])
})

test('[HOOK-15] as many slow webhooks as there are workers do not delay others until they time out', async () => {
  receiver.respond = () => undefined
  const well = await WebhookReceiver.start()
  try {
    // Two owners: each gets half of the workers.
    const slow = [await service.board(), await service.board()]
    for (const each of slow) for (let i = 0; i < 10; i++) await newWebhook(each, `${receiver.url}?${i}`)
    await newWebhook(board, well.url)
    await Promise.all(slow.map((each) => newCard(each)))
    await expect.poll(() => receiver.requests.length).toBeGreaterThan(0)
    for (let i = 1; i <= 5; i++) {
      await newCard(board, `Card ${i}`)
      await expect.poll(() => well.requests.length).toBe(i)
    }
    const { rows } = await service.sql.query(
      'select from webhook_deliveries where webhook_id in (select id from webhooks where starts_with(url, $1))',
      [receiver.url],
    )
    expect(rows).toHaveLength(0)
  } finally {
    await well.close()
  }
})

describe('an instance that stops', () => {
  let idle: TestService
  beforeAll(async () => {
    idle = await startService()
  })
  afterAll(() => idle.stop())

  /** Lets an instance send an event, stops it while it waits for the response, and starts another one. */
  async function stopWhileSending() {
    const sender = await startService(SENDING, { beside: idle })
    const sending = await sender.board()
    const webhook = await newWebhook(sending, receiver.url)
    await newCard(sending)
    await expect.poll(() => receiver.requests.length).toBe(1)
    const heir = await startService(SENDING, { beside: idle })
    const stoppedAt = Date.now()
    await sender.stop()
    return { heir, stoppedAt, webhook }
  }
  const position = async ({ id }: Webhook) =>
    (await idle.sql.query('select seq::int from webhooks where id = $1', [id])).rows[0].seq

  test('[HOOK-23] finishes a request that is answered in time', async () => {
    const answer = holdFirst()
    setTimeout(() => answer(204), 2_000)
    const { heir, webhook } = await stopWhileSending()
    expect(await position(webhook)).toBe(receiver.seqs[0])
    await heir.stop()
    expect(receiver.requests).toHaveLength(1)
  })

  test('[HOOK-23] leaves one that is not to others, before its lease ends', async () => {
    receiver.respond = () => (receiver.requests.length === 1 ? undefined : 204)
    const { heir, stoppedAt, webhook } = await stopWhileSending()
    await expect.poll(() => receiver.requests.length).toBe(2)
    expect((receiver.requests[1] as ReceivedRequest).at - stoppedAt).toBeLessThan(14_000)
    await expect.poll(() => position(webhook)).toBe(receiver.seqs[0])
    await heir.stop()
  })
})

import { createHmac } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { build } from 'esbuild'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRepeated, positionOf, verifyWebhook, WebhookError, type WebhookMessage } from './index.ts'

const secretOf = (character: string) => `whsec_${Buffer.alloc(32, character).toString('base64')}`
const [SECRET, OTHER] = [secretOf('a'), secretOf('b')]
const BODY = '{"type":"webhook.test","board_id":"b","data":{"webhook_id":"ü"},"timestamp":"t"}'

/** A request that the library of Standard Webhooks signed. */
function signed({ body = BODY, secrets = [SECRET], ageSeconds = 0 } = {}) {
  const at = new Date(Date.now() - ageSeconds * 1_000)
  return {
    'webhook-id': 'test_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign('test_1', at, body)).join(' '),
  }
}
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'verified',
    (error: unknown) => (error instanceof WebhookError ? error.code : error),
  )

describe('requests signed by the library of Standard Webhooks', () => {
  test('[SDK-19] are verified: a body as text or bytes, headers of Node.js or of fetch', async () => {
    const headers = signed()
    const upperCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    for (const each of [headers, new Headers(headers), upperCase])
      for (const body of [BODY, Buffer.from(BODY), new TextEncoder().encode(BODY)])
        expect(await verifyWebhook(body, each, SECRET)).toEqual(JSON.parse(BODY))
  })

  test('[SDK-19] one of several signatures and one of several secrets is enough', async () => {
    const both = signed({ secrets: [OTHER, SECRET] })
    expect(await codeOf(verifyWebhook(BODY, both, SECRET))).toBe('verified')
    expect(await codeOf(verifyWebhook(BODY, signed(), [OTHER, SECRET]))).toBe('verified')
    const another = { ...both, 'webhook-signature': `v1a,x v2,y v1,short ${both['webhook-signature']}` }
    expect(await codeOf(verifyWebhook(BODY, another, [SECRET]))).toBe('verified')
  })

  test('[SDK-19] a change of any part is rejected with the reason', async () => {
    const good = signed()
    const timestamp = String(Number(good['webhook-timestamp']) + 1)
    const oldVersion = good['webhook-signature'].replace('v1,', 'v0,')
    const truncated = good['webhook-signature'].slice(0, -4)
    const cases: [code: string, changes: Partial<typeof good>, body?: string, secret?: string][] = [
      ['no_matching_signature', {}, `${BODY} `],
      ['no_matching_signature', {}, BODY, OTHER],
      ['no_matching_signature', { 'webhook-id': 'test_2' }],
      ['no_matching_signature', { 'webhook-timestamp': timestamp }],
      ['no_matching_signature', { 'webhook-signature': oldVersion }],
      ['no_matching_signature', { 'webhook-signature': truncated }],
      ['no_matching_signature', { 'webhook-signature': 'v1,%' }],
      ['invalid_timestamp', { 'webhook-timestamp': 'now' }],
      ...Object.keys(good).map((name): [string, object] => ['missing_header', { [name]: '' }]),
    ]
    for (const [code, changes, body = BODY, secret = SECRET] of cases)
      expect(await codeOf(verifyWebhook(body, { ...good, ...changes }, secret))).toBe(code)
    expect(await codeOf(verifyWebhook(BODY, {}, SECRET))).toBe('missing_header')
  })

  test('[SDK-19] a request that is older or newer than the tolerance is rejected', async () => {
    const verify = (ageSeconds: number, options = {}) =>
      codeOf(verifyWebhook(BODY, signed({ ageSeconds }), SECRET, options))
    expect(await verify(290)).toBe('verified')
    expect(await verify(-290)).toBe('verified')
    expect(await verify(310)).toBe('timestamp_too_old')
    expect(await verify(-310)).toBe('timestamp_too_new')
    expect(await verify(20, { toleranceSeconds: 10 })).toBe('timestamp_too_old')
    expect(await verify(0, { toleranceSeconds: Number.NaN })).not.toBe('verified')
  })

  test('[SDK-19] a missing secret and a parsed body are mistakes with a name', async () => {
    // An attacker can sign with an empty key.
    const at = Math.floor(Date.now() / 1_000)
    const signature = createHmac('sha256', '').update(`1.${at}.${BODY}`).digest('base64')
    const forged = { 'webhook-id': '1', 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` }
    for (const secret of ['', 'whsec_', 'whsec_%', 'whsec_c2hvcnQ=', [], [SECRET, ''], undefined as unknown as string])
      expect(await codeOf(verifyWebhook(BODY, forged, secret))).toBe('invalid_secret')
    const parsed = JSON.parse(BODY) as string
    expect(await codeOf(verifyWebhook(parsed, signed(), SECRET))).toBe('invalid_body')
  })
})

describe('requests of the service', () => {
  let service: TestService
  let board: TestBoard
  let receiver: WebhookReceiver
  beforeAll(async () => {
    service = await startService({ WEBHOOK_WORKERS: '20', WEBHOOK_MAX_BYTES: '4096' })
    board = await service.board()
    receiver = await WebhookReceiver.start()
  })
  afterAll(async () => {
    await receiver.close()
    await service.stop()
  })

  test('[SDK-19] tests, events, truncated events and a resync are verified by both, with their types', async () => {
    const params = { board_id: board.id }
    const body = { name: 'CI', url: receiver.url }
    const { id: webhook_id } = await board.owner.api.call('createWebhook', { params, body })
    const at = { ...params, webhook_id }
    const { secret } = await board.owner.api.call('getWebhookSecret', { params: at })
    const received = (count: number) => expect.poll(() => receiver.requests.length, { timeout: 10_000 }).toBe(count)
    const add = (title: string, description = '') =>
      board.owner.api.call('createCard', {
        params: { ...params, column_id: board.columns[0].id },
        body: { title, description },
      })
    await board.owner.api.call('testWebhook', { params: at })
    await add('Café')
    const long = await add('Long', 'x'.repeat(5_000))
    await received(3)
    // As after a restore of a backup.
    await service.sql.query('update board_stream set epoch = epoch + 1 where board_id = $1', [board.id])
    await received(4)

    const seen: unknown[] = []
    for (const { text, headers } of receiver.requests) {
      const message = await verifyWebhook(text, headers, secret)
      expect(new Webhook(secret).verify(text, headers)).toEqual(message)
      seen.push(summaryOf(message))
    }
    expect(seen).toEqual([webhook_id, 'Café', `truncated ${long.id}`, 'epoch'])
  })
})

/** Compiles only if the type of a message determines the type of its data. */
function summaryOf(message: WebhookMessage): string {
  if (message.type === 'webhook.test') return message.data.webhook_id
  if (message.type === 'webhook.resync') return message.data.reason
  if (message.truncated) return `truncated ${message.data.id}`
  if (message.type === 'card.created') return message.data.title
  // @ts-expect-error a label has a name, and no title
  if (message.type === 'label.created') return message.data.title
  return `${message.type} ${message.board_id} ${message.seq}`
}

test('[SDK-20] a message is repeated if its position is not after the last one, by epoch and then by number', () => {
  const event = (epoch: number, seq: number) => ({ type: 'card.deleted', epoch, seq }) as WebhookMessage
  const resync = { type: 'webhook.resync', epoch: 2, data: { to: '2.5' } } as WebhookMessage
  expect([event(1, 12), resync, { type: 'webhook.test' } as WebhookMessage].map(positionOf)).toEqual([
    '1.12',
    '2.5',
    undefined,
  ])
  const cases: [message: WebhookMessage, last: string | undefined, repeated: boolean][] = [
    [event(1, 1), undefined, false],
    [event(1, 10), '1.9', false],
    [event(1, 9), '1.9', true],
    [event(1, 9), '1.10', true],
    [event(2, 1), '1.10', false],
    [event(1, 11), '2.1', true],
    [resync, '1.90', false],
    [resync, '2.5', true],
    [{ type: 'webhook.test' } as WebhookMessage, '9.9', false],
  ]
  for (const [message, last, repeated] of cases) expect(isRepeated(message, last)).toBe(repeated)
})

test('[SDK-19] it imports nothing, and the main entry point does not contain it', async () => {
  const inputsOf = async (entry: string) => {
    const entryPoints = [fileURLToPath(new URL(entry, import.meta.url))]
    const { metafile } = await build({ entryPoints, bundle: true, format: 'esm', write: false, metafile: true })
    return Object.keys(metafile.inputs).map((file) => file.replace('packages/client/src/', ''))
  }
  expect((await inputsOf('index.ts')).toSorted()).toEqual([
    'webhooks/index.ts',
    'webhooks/messages.ts',
    'webhooks/verify.ts',
  ])
  expect((await inputsOf('../index.ts')).filter((file) => file.includes('webhooks'))).toEqual([])
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { events } from '@lockstep/contract'
import type { Webhook } from '@lockstep/contract/webhooks'
import { codeOf } from '@lockstep/testing/client'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { type ReceivedRequest, WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Database } from '../database/database.ts'
import { deleteExpiredDeliveries } from './dispatch-queries.ts'

let service: TestService
let board: TestBoard
let receiver: WebhookReceiver
beforeAll(async () => {
  service = await startService({ WEBHOOK_WORKERS: '20', WEBHOOK_MAX_BYTES: '20000', WEBHOOK_TIMEOUT_SECONDS: '2' })
})
afterAll(() => service.stop())
beforeEach(async () => {
  board = await service.board()
  receiver = await WebhookReceiver.start()
})
afterEach(() => receiver.close())

const here = () => ({ board_id: board.id })
const newWebhook = (body: object = {}) =>
  board.owner.api.call('createWebhook', { params: here(), body: { name: 'CI', url: receiver.url, ...body } })
const at = ({ id }: { id: string }) => ({ ...here(), webhook_id: id })
const read = (webhook: Webhook) => board.owner.api.call('getWebhook', { params: at(webhook) })
const secretOf = async (webhook: Webhook) =>
  (await board.owner.api.call('getWebhookSecret', { params: at(webhook) })).secret
const newCard = (title: string, description?: string) =>
  board.owner.api.call('createCard', {
    params: { ...here(), column_id: board.columns[0].id },
    body: { title, ...(description !== undefined && { description }) },
  })
const deliveries = (webhook: Webhook, query = {}) =>
  board.owner.api.call('listDeliveries', { params: at(webhook), query })
const received = (count: number) => expect.poll(() => receiver.requests.length, { timeout: 10_000 }).toBe(count)
/** As if the time of the next attempt had come. The sender finds it in its next poll. */
const makeDue = ({ id }: Webhook) =>
  service.sql.query('update webhooks set next_attempt_at = now() where id = $1', [id])
const lastSeq = async () => (await board.events()).at(-1)?.seq as number

describe('managing webhooks', () => {
  test('[HOOK-29] an owner who was removed while they sent the body of a request changes no webhook', async () => {
    const webhook = await newWebhook()
    const { host, hostname, port } = new URL(service.baseUrl)
    const { id: user_id, api } = await service.user()
    await board.owner.api.call('inviteMember', { params: here(), body: { user_id } })
    await board.owner.api.call('updateMember', { params: { ...here(), user_id }, body: { role: 'owner' } })
    /** Sends everything but the body, and waits until the service has read it. */
    const slow = async (method: string, path: string, body: object) => {
      const text = JSON.stringify(body)
      const headers = `Host: ${host}\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}`
      const socket = connect(Number(port), hostname)
      socket.write(
        `${method} /boards/${board.id}/webhooks${path} HTTP/1.1\r\n${headers}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`,
      )
      const [go] = await once(socket, 'data')
      expect(String(go)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
      return async () => {
        socket.write(text)
        return (await readText(socket)).slice(9, 12)
      }
    }
    const requests = await Promise.all([
      slow('POST', '', { name: 'Late', url: receiver.url }),
      slow('PATCH', `/${webhook.id}`, { url: `${receiver.url}/late` }),
      slow('POST', `/${webhook.id}/resume`, { after: 'now' }),
      slow('POST', `/${webhook.id}/rotate-secret`, {}),
      slow('DELETE', `/${webhook.id}`, {}),
    ])
    // Authorized after them.
    await api.call('listWebhooks', { params: here() })
    await board.owner.api.call('removeMember', { params: { ...here(), user_id } })
    for (const finish of requests) expect(await finish()).toBe('403')
    expect(await board.owner.api.call('listWebhooks', { params: here() })).toEqual([await read(webhook)])
    expect((await read(webhook)).url).toBe(receiver.url)
  })

  test('[HOOK-1] owners create, list, read, change and delete webhooks; members and others see none', async () => {
    const webhook = await newWebhook({ kinds: ['card.created'], is_enabled: false })
    expect(webhook).toMatchObject({
      board_id: board.id,
      name: 'CI',
      url: receiver.url,
      kinds: ['card.created'],
      is_enabled: false,
      state: 'disabled',
      paused_reason: null,
      behind: 0,
      failed_attempts: 0,
      created_by: board.owner.id,
    })
    expect(await board.owner.api.call('listWebhooks', { params: here() })).toEqual([webhook])
    const changed = await board.owner.api.call('updateWebhook', {
      params: at(webhook),
      body: { name: 'Other', kinds: null, is_enabled: true },
    })
    expect(changed).toMatchObject({ name: 'Other', kinds: null, state: 'active', url: receiver.url })
    const paths = ['', `/${webhook.id}`, `/${webhook.id}/deliveries`, `/${webhook.id}/secret`]
    for (const path of paths)
      expect(codeOf(await board.member.api.request('GET', `/boards/${board.id}/webhooks${path}`))).toBe(
        '403 role_too_low',
      )
    const other = await service.board()
    expect(codeOf(await other.owner.api.request('GET', `/boards/${other.id}/webhooks/${webhook.id}`))).toBe(
      '404 webhook_not_found',
    )
    await board.owner.api.call('deleteWebhook', { params: at(webhook) })
    expect(codeOf(await board.owner.api.request('GET', `/boards/${board.id}/webhooks/${webhook.id}`))).toBe(
      '404 webhook_not_found',
    )
    expect((await board.events()).map(({ type }) => type)).not.toContain('webhook.created')
  })

  test('[HOOK-1] a board has ten webhooks at most, also when they are created at once, listed in pages', async () => {
    const results = await Promise.all(
      Array.from({ length: 14 }, (_, nth) =>
        board.owner.api.request('POST', `/boards/${board.id}/webhooks`, {
          json: { name: `Hook ${nth}`, url: receiver.url },
        }),
      ),
    )
    expect(results.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(new Set(results.filter(({ status }) => status !== 201).map(codeOf))).toEqual(
      new Set(['409 too_many_webhooks']),
    )
    const seen: Webhook[] = []
    for (let path: string | undefined = `/boards/${board.id}/webhooks?limit=4`; path; ) {
      const { body, headers } = await board.owner.api.request('GET', path)
      seen.push(...(body as Webhook[]))
      path = /<(.+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(await board.owner.api.call('listWebhooks', { params: here() }))
    expect(seen).toHaveLength(10)
  })

  test('[HOOK-17] a URL of an address that is not allowed is refused with the reason', async () => {
    const create = (url: string) =>
      board.owner.api.request('POST', `/boards/${board.id}/webhooks`, { json: { name: 'CI', url } })
    for (const url of ['http://10.0.0.1/', 'https://user:x@example.com/', 'https://example.com:25/', 'https://[::1]/'])
      expect(codeOf(await create(url))).toBe('422 url_refused')
    for (const url of ['ftp://example.com', 'nonsense']) expect(codeOf(await create(url))).toBe('422 invalid_input')
    const webhook = await newWebhook()
    const response = await board.owner.api.request('PATCH', `/boards/${board.id}/webhooks/${webhook.id}`, {
      json: { url: 'http://169.254.169.254/latest/meta-data' },
    })
    expect(codeOf(response)).toBe('422 url_refused')
  })

  test('[HOOK-1] the URL is stored and returned as it is called, and control characters are rejected', async () => {
    const create = (url: string) =>
      board.owner.api.request('POST', `/boards/${board.id}/webhooks`, { json: { name: 'CI', url } })
    for (const url of [
      'https://exa\nmple.com/',
      'https://example.com/\r\nX-Injected: 1',
      'https://example.com/a\tb',
      '\u0001https://example.com/',
      'https://example.com/\u0085',
    ])
      expect(await create(url)).toMatchObject({ status: 422, body: { errors: [{ field: 'url' }] } })
    expect(codeOf(await create(`https://example.com/${'ü'.repeat(1_000)}`))).toBe('422 url_refused')
    const webhook = await newWebhook({ url: ' HTTPS://Bücher.Example:443/a/../ä b?q=ö ' })
    const called = 'https://xn--bcher-kva.example/%C3%A4%20b?q=%C3%B6'
    expect(webhook.url).toBe(called)
    expect(await read(webhook)).toEqual(webhook)
    const changed = await board.owner.api.call('updateWebhook', {
      params: at(webhook),
      body: { url: 'https://0x7f.1:8443' },
    })
    expect(changed.url).toBe('https://127.0.0.1:8443/')
    expect((await board.owner.api.call('updateWebhook', { params: at(webhook), body: { name: 'Other' } })).url).toBe(
      changed.url,
    )
  })

  test('[HOOK-27] without an encryption key, the service sends no webhooks and says so', async () => {
    const off = await startService({ ENCRYPTION_KEY: '' })
    try {
      const { id, owner } = await off.board()
      expect(codeOf(await owner.api.request('GET', `/boards/${id}/webhooks`))).toBe('403 webhooks_off')
      const body = { name: 'CI', url: 'https://example.com' }
      expect(codeOf(await owner.api.request('POST', `/boards/${id}/webhooks`, { json: body }))).toBe('403 webhooks_off')
    } finally {
      await off.stop()
    }
  })
})

describe('sending', () => {
  test('[HOOK-2] [HOOK-3] [HOOK-7] [HOOK-16] every later event is sent in order, as the log has it', async () => {
    await newCard('Before')
    const { position } = await newWebhook()
    expect(position).toMatch(new RegExp(`^\\d+\\.${await lastSeq()}$`))
    const committed: number[] = []
    for (const title of ['One', 'Two', 'Three']) {
      await newCard(title)
      committed.push(Date.now())
    }
    await received(3)
    const log = await board.owner.api.call('listEvents', { params: here(), query: { after: position } })
    const epoch = Number(position.split('.')[0])
    expect(receiver.requests.map(({ message }) => ({ ...message, actor_id: message['user_id'] }))).toEqual(
      log.map((event) => ({ ...event, board_id: board.id, epoch })),
    )
    for (const [nth, { at: time }] of receiver.requests.entries())
      expect(time - (committed[nth] as number)).toBeLessThan(10_000)
  })

  test('[HOOK-2] it begins after a position, at the start of the log, or now', async () => {
    for (const title of ['One', 'Two']) await newCard(title)
    const last = await lastSeq()
    const [{ epoch }] = (await service.sql.query('select epoch from board_stream where board_id = $1', [board.id])).rows
    await newWebhook({ after: `${epoch}.${last - 1}` })
    await received(1)
    expect(receiver.seqs).toEqual([last])
    await newWebhook({ after: '0' })
    await received(1 + last)
    expect(receiver.seqs.slice(1)).toEqual(Array.from({ length: last }, (_, i) => i + 1))
    for (const after of [`${epoch + 1}.1`, `${epoch}.${last + 1}`]) {
      const json = { name: 'CI', url: receiver.url, after }
      expect(codeOf(await board.owner.api.request('POST', `/boards/${board.id}/webhooks`, { json }))).toBe(
        '410 history_gone',
      )
    }
  })

  test('[HOOK-6] the reference library of Standard Webhooks accepts the signature, and rejects any change', async () => {
    const webhook = await newWebhook()
    const secret = await secretOf(webhook)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    await newCard('One „quoted“ 🎉')
    await received(1)
    const [{ text, headers }] = receiver.requests as [ReceivedRequest]
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Lockstep-Webhooks\//),
      'lockstep-webhook': webhook.id,
    })
    const verify = (body: string, changes: Record<string, string> = {}, key = secret) =>
      new StandardWebhook(key).verify(body, { ...headers, ...changes })
    expect(verify(text)).toMatchObject({ type: 'card.created' })
    const otherSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    expect(() => verify(text.replace('One', 'Two'))).toThrow()
    expect(() => verify(text, { 'webhook-id': 'evt_1' })).toThrow()
    expect(() => verify(text, { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) })).toThrow()
    expect(() => verify(text, {}, otherSecret)).toThrow()
  })

  test('[HOOK-6] after a rotation both secrets sign, until the old one ends', async () => {
    const webhook = await newWebhook()
    const old = await secretOf(webhook)
    const rotated = await board.owner.api.call('rotateWebhookSecret', { params: at(webhook), body: {} })
    expect(Date.parse(rotated.old_secret_until as string)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
    const secret = await secretOf(webhook)
    expect(secret).not.toBe(old)
    await newCard('One')
    await received(1)
    const [{ text, headers }] = receiver.requests as [ReceivedRequest]
    for (const key of [old, secret]) expect(new StandardWebhook(key).verify(text, headers)).toBeTruthy()
    await board.owner.api.call('rotateWebhookSecret', { params: at(webhook), body: { keep_old_hours: 0 } })
    await newCard('Two')
    await received(2)
    const last = receiver.requests[1] as ReceivedRequest
    expect(last.headers['webhook-signature']).not.toContain(' ')
    expect(() => new StandardWebhook(secret).verify(last.text, last.headers)).toThrow()
    expect(new StandardWebhook(await secretOf(webhook)).verify(last.text, last.headers)).toBeTruthy()
  })

  test('[HOOK-8] `kinds` chooses, and others move the position', async () => {
    const webhook = await newWebhook({ kinds: ['card.moved', 'comment.created'] })
    const card = await newCard('One')
    const params = { card_id: card.id }
    await board.owner.api.call('moveCard', { params, body: { column_id: board.columns[1].id, position: 0 } })
    await board.owner.api.call('createComment', { params, body: { body: 'Hello' } })
    await newCard('Two')
    await received(2)
    expect(receiver.types).toEqual(['card.moved', 'comment.created'])
    await expect.poll(async () => (await read(webhook)).behind).toBe(0)
    const json = { name: 'CI', url: receiver.url, kinds: ['card.exploded'] }
    const wrong = await board.owner.api.request('POST', `/boards/${board.id}/webhooks`, { json })
    expect(codeOf(wrong)).toBe('422 invalid_input')
    expect(await newWebhook({ kinds: Object.keys(events) })).toMatchObject({ kinds: Object.keys(events) })
  })

  test('[HOOK-7] of an event that is too large, only the id is sent', async () => {
    await newWebhook()
    const { id } = await newCard('Large', 'x'.repeat(20_000))
    await newCard('Small')
    await received(2)
    const [large, small] = receiver.requests.map(({ message }) => message)
    expect(large).toEqual({
      ...{ board_id: board.id, epoch: expect.any(Number), seq: expect.any(Number), truncated: true },
      ...{ type: 'card.created', data: { id }, user_id: board.owner.id },
      ...{ timestamp: expect.stringMatching(/Z$/), version: '1.0' },
    })
    expect(small).toMatchObject({ data: { title: 'Small' } })
    expect(small).not.toHaveProperty('truncated')
  })

  test('[HOOK-3] [HOOK-5] an event is repeated unchanged until it is accepted, and later ones wait', async () => {
    const statuses = [500, 302, 404, 200]
    receiver.respond = () => ({ status: statuses.shift() ?? 200, headers: { location: `${receiver.url}/elsewhere` } })
    const webhook = await newWebhook()
    await newCard('One')
    await newCard('Two')
    for (let attempt = 1; attempt <= 3; attempt++) {
      await received(attempt)
      await expect.poll(async () => (await read(webhook)).failed_attempts).toBe(attempt)
      expect(await read(webhook)).toMatchObject({ state: 'retrying', behind: 2, failing_since: expect.any(String) })
      await makeDue(webhook)
    }
    await received(5)
    const first = receiver.requests[0] as ReceivedRequest
    for (const again of receiver.requests.slice(1, 4)) {
      expect(again.text).toBe(first.text)
      expect(again.headers['webhook-id']).toBe(first.headers['webhook-id'])
      expect(again.path).toBe('/hook')
    }
    expect(receiver.seqs[4]).toBe((first.message.seq as number) + 1)
    await expect.poll(async () => (await read(webhook)).behind).toBe(0)
    expect(await read(webhook)).toMatchObject({ state: 'active', failed_attempts: 0, failing_since: null })
    const log = await deliveries(webhook)
    expect(log.map(({ status, attempt, is_accepted }) => [status, attempt, is_accepted])).toEqual([
      [200, 1, true],
      [200, 4, true],
      [404, 3, false],
      [302, 2, false],
      [500, 1, false],
    ])
  })

  test('[HOOK-10] Retry-After is obeyed, and 410 pauses until an owner resumes', async () => {
    receiver.respond = () => ({ status: 503, headers: { 'retry-after': '600' } })
    const webhook = await newWebhook()
    await newCard('One')
    await expect.poll(async () => (await read(webhook)).failed_attempts).toBe(1)
    const { next_attempt_at } = await read(webhook)
    expect(Date.parse(next_attempt_at as string) - Date.now()).toBeGreaterThan(590_000)
    receiver.respond = () => 410
    await board.owner.api.call('resumeWebhook', { params: at(webhook), body: {} })
    await expect.poll(async () => (await read(webhook)).state).toBe('paused')
    expect(await read(webhook)).toMatchObject({ paused_reason: 'gone', next_attempt_at: null, behind: 1 })
    receiver.respond = () => 200
    await newCard('Two')
    await board.owner.api.call('resumeWebhook', { params: at(webhook), body: {} })
    await expect.poll(async () => (await read(webhook)).behind).toBe(0)
    expect(receiver.types).toEqual(['card.created', 'card.created', 'card.created', 'card.created'])
  })

  test('[HOOK-11] after failing for WEBHOOK_GIVE_UP_HOURS it pauses, and a resume sends everything it missed', async () => {
    receiver.respond = () => 500
    const webhook = await newWebhook()
    await newCard('One')
    await expect.poll(async () => (await read(webhook)).failed_attempts).toBe(1)
    await service.sql.query(
      "update webhooks set failing_since = now() - interval '121 hours', next_attempt_at = now() where id = $1",
      [webhook.id],
    )
    await expect.poll(async () => (await read(webhook)).state, { timeout: 10_000 }).toBe('paused')
    expect(await read(webhook)).toMatchObject({ paused_reason: 'failing' })
    for (const title of ['Two', 'Three']) await newCard(title)
    receiver.respond = () => 200
    const before = receiver.requests.length
    expect(await board.owner.api.call('resumeWebhook', { params: at(webhook), body: {} })).toMatchObject({
      state: 'active',
      paused_reason: null,
    })
    await received(before + 3)
    const seqs = receiver.seqs.slice(before) as number[]
    expect(seqs).toEqual([0, 1, 2].map((nth) => (seqs[0] as number) + nth))
  })

  test('[HOOK-11] a resume replays from any position that the log has', async () => {
    const webhook = await newWebhook()
    for (const title of ['One', 'Two', 'Three']) await newCard(title)
    await received(3)
    await board.owner.api.call('resumeWebhook', { params: at(webhook), body: { after: webhook.position } })
    await received(6)
    expect(receiver.requests.slice(3).map(({ headers }) => headers['webhook-id'])).toEqual(
      receiver.requests.slice(0, 3).map(({ headers }) => headers['webhook-id']),
    )
    await board.owner.api.call('updateWebhook', { params: at(webhook), body: { is_enabled: false } })
    await newCard('Four')
    await board.owner.api.call('resumeWebhook', { params: at(webhook), body: { after: 'now' } })
    await board.owner.api.call('updateWebhook', { params: at(webhook), body: { is_enabled: true } })
    await newCard('Five')
    await received(7)
    expect(receiver.requests[6]?.message.data).toMatchObject({ title: 'Five' })
  })

  test('[HOOK-12] events that the log no longer has, and a new epoch, are announced', async () => {
    const webhook = await newWebhook({ is_enabled: false })
    for (const title of ['One', 'Two']) await newCard(title)
    const head = `${webhook.position.split('.')[0]}.${await lastSeq()}`
    await service.sql.query('delete from board_events where board_id = $1 and seq < $2', [board.id, await lastSeq()])
    receiver.respond = ({ message }) =>
      message.type === 'webhook.resync' && receiver.requests.length === 1 ? 500 : 200
    await board.owner.api.call('updateWebhook', { params: at(webhook), body: { is_enabled: true } })
    await received(1)
    const resync = { board_id: board.id, from: webhook.position, to: head, reason: 'history_gone' }
    expect(receiver.requests[0]?.message).toMatchObject({ type: 'webhook.resync', data: resync })
    await expect.poll(async () => (await read(webhook)).state).toBe('retrying')
    await makeDue(webhook)
    await received(2)
    await expect.poll(async () => (await read(webhook)).position).toBe(head)
    expect(receiver.requests[1]?.headers['webhook-id']).toBe(receiver.requests[0]?.headers['webhook-id'])
    await newCard('Three')
    await received(3)
    expect(receiver.requests[2]?.message).toMatchObject({ type: 'card.created', data: { title: 'Three' } })
    await service.sql.query('update board_stream set epoch = epoch + 1000 where board_id = $1', [board.id])
    await board.owner.api.call('resumeWebhook', { params: at(webhook), body: {} })
    await received(4)
    expect(receiver.requests[3]?.message).toMatchObject({ type: 'webhook.resync', data: { reason: 'epoch' } })
    await newCard('Four')
    await received(5)
    expect(receiver.requests[4]?.message).toMatchObject({ data: { title: 'Four' } })
  })

  test('[HOOK-15] a slow receiver delays its own webhook only', async () => {
    const slow = await WebhookReceiver.start()
    try {
      slow.respond = () => new Promise((resolve) => setTimeout(() => resolve(200), 1_500))
      for (let i = 0; i < 9; i++) await newWebhook({ url: `${slow.url}?${i}` })
      await newWebhook()
      const delays: number[] = []
      for (let i = 1; i <= 5; i++) {
        await newCard(`Card ${i}`)
        const committed = Date.now()
        await received(i)
        delays.push((receiver.requests.at(-1)?.at as number) - committed)
      }
      // The median: the machine may stall once.
      expect(delays.sort((a, b) => a - b)[2]).toBeLessThan(1_000)
    } finally {
      await slow.close()
    }
  })

  test('[HOOK-10] [HOOK-26] timeouts and lost connections fail, and an address that cannot be reached is one word', async () => {
    receiver.respond = (_, response) => {
      if (receiver.requests.length === 1) response.destroy()
      return undefined
    }
    const webhook = await newWebhook()
    await newCard('One')
    await expect.poll(async () => (await deliveries(webhook)).length, { timeout: 10_000 }).toBe(1)
    await makeDue(webhook)
    await expect.poll(async () => (await deliveries(webhook)).length, { timeout: 15_000 }).toBe(2)
    expect((await deliveries(webhook)).map(({ error, status }) => [error, status])).toEqual([
      ['timeout', null],
      ['connection_lost', null],
    ])
    const closed = await newWebhook({ url: 'http://127.0.0.1:9999/hook', kinds: ['label.created'] })
    const started = performance.now()
    expect(await board.owner.api.call('testWebhook', { params: at(closed) })).toEqual({
      status: null,
      error: 'unreachable',
      duration_ms: null,
    })
    expect(performance.now() - started).toBeGreaterThan(4_900)
  })
})

test('[HOOK-28] a secret that cannot be decrypted is a failed attempt, until it is replaced', async () => {
  const webhook = await newWebhook()
  // As if it had been encrypted with another key.
  await service.sql.query(`update webhooks set secret = '\\x00'::bytea || substring(secret from 2) where id = $1`, [
    webhook.id,
  ])
  await newCard('Card')
  await expect.poll(async () => (await read(webhook)).state).toBe('retrying')
  expect(await deliveries(webhook)).toMatchObject([{ is_accepted: false, status: null, error: 'secret_unreadable' }])
  const wait = Date.parse((await read(webhook)).next_attempt_at as string) - Date.now()
  expect(wait).toBeGreaterThan(1_000)
  const tested = await board.owner.api.call('testWebhook', { params: at(webhook) })
  expect(tested).toMatchObject({ status: null, error: 'secret_unreadable' })
  expect(receiver.requests).toEqual([])

  await service.sql.query(
    `update webhooks set failing_since = now() - interval '1 year', next_attempt_at = now() where id = $1`,
    [webhook.id],
  )
  await expect.poll(async () => (await read(webhook)).paused_reason, { timeout: 10_000 }).toBe('failing')
  await board.owner.api.call('rotateWebhookSecret', { params: at(webhook), body: {} })
  await board.owner.api.call('resumeWebhook', { params: at(webhook), body: {} })
  await received(1)
  const [{ text, headers }] = receiver.requests as [ReceivedRequest]
  const secret = await secretOf(webhook)
  expect(() => new StandardWebhook(secret).verify(text, headers)).not.toThrow()
})

describe('life of a webhook', () => {
  test('[HOOK-20] a test is sent at once, logged, and does not move the position', async () => {
    const webhook = await newWebhook()
    expect(await board.owner.api.call('testWebhook', { params: at(webhook) })).toMatchObject({
      status: 204,
      error: null,
    })
    const { message } = receiver.requests[0] as ReceivedRequest
    expect(message).toMatchObject({ type: 'webhook.test', data: { webhook_id: webhook.id } })
    expect(message).not.toHaveProperty('seq')
    expect(await deliveries(webhook)).toMatchObject([{ type: 'webhook.test', position: null, is_accepted: true }])
    expect((await read(webhook)).position).toBe(webhook.position)
  })

  test('[HOOK-30] a user has two tests at a time, and the tests of slow receivers do not delay those of other owners', async () => {
    const slow = await WebhookReceiver.start()
    const other = await service.board()
    try {
      const release = Promise.withResolvers<number>()
      slow.respond = () => release.promise
      const hooks = await Promise.all(Array.from({ length: 8 }, (_, i) => newWebhook({ url: `${slow.url}?${i}` })))
      const tests = hooks.map((webhook) => board.owner.api.send('testWebhook', { params: at(webhook) }))
      await expect.poll(() => slow.requests.length).toBe(2)
      const quick = await other.owner.api.call('createWebhook', {
        params: { board_id: other.id },
        body: { name: 'CI', url: receiver.url },
      })
      for (let i = 0; i < 3; i++) {
        const params = { board_id: other.id, webhook_id: quick.id }
        expect(await other.owner.api.call('testWebhook', { params })).toMatchObject({ status: 204 })
      }
      // None of the others began meanwhile. They wait, and then run or are rejected.
      expect(slow.requests.length).toBe(2)
      release.resolve(204)
      for (const { status } of await Promise.all(tests)) expect([200, 503]).toContain(status)
      expect(slow.requests.length).toBeGreaterThan(2)
    } finally {
      await slow.close()
    }
  })

  test('[HOOK-20] the delivery log is newest first, in pages, can be filtered, and ends with age', async () => {
    const webhook = await newWebhook()
    for (let i = 0; i < 5; i++) await newCard(`Card ${i}`)
    await expect.poll(async () => (await deliveries(webhook)).length).toBe(5)
    const all = await deliveries(webhook)
    expect(all.map(({ position }) => Number(position?.split('.')[1]))).toEqual(receiver.seqs.toReversed())
    const { headers, body } = await board.owner.api.request(
      'GET',
      `/boards/${board.id}/webhooks/${webhook.id}/deliveries?limit=3`,
    )
    expect(body).toEqual(all.slice(0, 3))
    const next = /<(.+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] as string
    expect((await board.owner.api.request('GET', next)).body).toEqual(all.slice(3))
    expect(await deliveries(webhook, { is_accepted: 'false' })).toEqual([])
    await service.sql.query(
      "update webhook_deliveries set attempted_at = now() - interval '8 days' where webhook_id = $1 and seq <= $2",
      [webhook.id, receiver.seqs[2]],
    )
    const database = new Database({ url: service.databaseUrl, size: 1, onError: () => {} })
    expect(await deleteExpiredDeliveries(database, 7)).toBe(3)
    await database.close()
    expect(await deliveries(webhook)).toEqual(all.slice(0, 2))
  })

  test('[HOOK-19] the secret is for owners who logged in within the hour, encrypted, and audited', async () => {
    const webhook = await newWebhook()
    const secret = await secretOf(webhook)
    const { headers } = await board.owner.api.request('GET', `/boards/${board.id}/webhooks/${webhook.id}/secret`)
    expect(headers.get('cache-control')).toBe('no-store')
    const { rows } = await service.sql.query('select * from webhooks where id = $1', [webhook.id])
    expect(rows[0].secret.toString('latin1')).not.toContain(secret)
    expect(rows[0].secret.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false)
    expect(JSON.stringify(await read(webhook))).not.toContain(secret.slice(6, 20))
    const audited = await service.sql.query(
      "select action, details from admin_actions where details ->> 'webhook_id' = $1 order by id",
      [webhook.id],
    )
    expect(audited.rows.map(({ action }) => action)).toEqual([
      'create-webhook',
      'read-webhook-secret',
      'read-webhook-secret',
    ])
    expect(JSON.stringify(audited.rows)).not.toContain('127.0.0.1')
    const { token } = await board.owner.api.call('createToken', {
      body: { name: 'Bot', scope: 'admin', board_id: board.id },
    })
    const path = `/boards/${board.id}/webhooks/${webhook.id}`
    const asToken = { headers: { authorization: `Bearer ${token}` } }
    expect(codeOf(await service.anybody.request('GET', `${path}/secret`, asToken))).toBe('403 token_scope')
    expect((await service.anybody.request('GET', path, asToken)).status).toBe(200)
  })

  test('[HOOK-21] the deletion of a board is sent, and then its webhooks are gone', async () => {
    const webhook = await newWebhook()
    await board.owner.api.call('deleteBoard', { params: here() })
    await received(1)
    expect(receiver.types).toEqual(['board.deleted'])
    const rows = () => service.sql.query('select seq from webhooks where id = $1', [webhook.id])
    const database = new Database({ url: service.databaseUrl, size: 1, onError: () => {} })
    await expect.poll(async () => (await rows()).rows[0]?.seq).toBe(String(receiver.seqs[0]))
    await deleteExpiredDeliveries(database, 7)
    await database.close()
    expect((await rows()).rows).toEqual([])
  })

  test('[HOOK-22] a change takes effect with the next event', async () => {
    const other = await WebhookReceiver.start()
    try {
      const webhook = await newWebhook()
      await newCard('One')
      await received(1)
      await board.owner.api.call('updateWebhook', { params: at(webhook), body: { url: other.url } })
      await newCard('Two')
      await expect.poll(() => other.types).toEqual(['card.created'])
      await board.owner.api.call('deleteWebhook', { params: at(webhook) })
      await newCard('Three')
      await newWebhook()
      await newCard('Four')
      await received(2)
      expect(other.requests).toHaveLength(1)
    } finally {
      await other.close()
    }
  })

  test('[HOOK-25] a webhook that an access token created pauses when the token is revoked, and a user can resume it', async () => {
    const { token, id: token_id } = await board.owner.api.call('createToken', {
      body: { name: 'Bot', scope: 'admin', board_id: board.id },
    })
    const { body } = await service.anybody.request('POST', `/boards/${board.id}/webhooks`, {
      json: { name: 'Bot', url: receiver.url },
      headers: { authorization: `Bearer ${token}` },
    })
    const webhook = body as Webhook
    await newCard('One')
    await received(1)
    await board.owner.api.call('revokeToken', { params: { token_id } })
    expect(await read(webhook)).toMatchObject({ state: 'paused', paused_reason: 'token_invalid' })
    await newCard('Two')
    await newWebhook()
    await newCard('Three')
    await received(2)
    await board.owner.api.call('resumeWebhook', { params: at(webhook), body: {} })
    await received(4)
    expect(receiver.requests.slice(2).map(({ message }) => message.data['title'])).toEqual(['Two', 'Three'])
  })

  test('[HOOK-14] changes neither wait for a webhook nor fail with it', async () => {
    receiver.respond = () => undefined
    for (let i = 0; i < 10; i++) await newWebhook({ url: `${receiver.url}?${i}` })
    const times: number[] = []
    for (let i = 0; i < 20; i++) {
      const started = performance.now()
      await newCard(`Card ${i}`)
      times.push(performance.now() - started)
    }
    expect(times.sort((a, b) => a - b)[10]).toBeLessThan(200)
  })
})

import type { Webhook, WebhookDelivery } from '@lockstep/client'
import { isRepeated, positionOf, verifyWebhook } from '@lockstep/client/webhooks'
import { CliUser, until } from '@lockstep/testing/cli/command'
import { startWebProxy } from '@lockstep/testing/cli/web-proxy'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
let receiver: WebhookReceiver
const user = new CliUser()
beforeAll(async () => {
  service = await startService({ WEBHOOK_WORKERS: '20' })
})
afterAll(async () => {
  user.dispose()
  await service.stop()
})
beforeEach(async () => {
  board = await service.board()
  receiver = await WebhookReceiver.start()
  await user.login(service.baseUrl, board.owner.email)
})
afterEach(() => receiver.close())

const add = (title: string) =>
  board.owner.api.call('createCard', {
    params: { board_id: board.id, column_id: board.columns[0].id },
    body: { title },
  })
const run = (...args: string[]) => user.run(['webhooks', ...args])
const titles = () => receiver.requests.map(({ message }) => message.data['title'])

test('[CLI-26] webhooks are created, listed, tested, rotated, resumed, disabled, enabled and deleted', async () => {
  expect((await run(board.id)).out).toBe('No webhooks. Create one: lockstep webhooks new <board> <url>\n')
  const created = await run('new', board.id, receiver.url, '--name', 'CI', '--kinds', 'card.created,card.moved')
  expect(created).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Created “CI” \(\S+\), which begins after \d+\.\d+\./),
  })
  const all = await user.json<(Webhook & { last_result: string | null })[]>(['webhooks', board.id])
  expect(all).toMatchObject([
    { name: 'CI', url: receiver.url, kinds: ['card.created', 'card.moved'], last_result: null },
  ])
  expect((await run(board.id)).out).toMatch(/^\S+ {2}CI {2}active, up to date {2}last: nothing sent {2}http:\S+\n$/)

  expect(await run('test', board.id, 'ci')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^“CI”: 204 after \d+ ms\n$/),
  })
  receiver.respond = () => 500
  expect(await run('test', board.id, 'ci')).toMatchObject({ code: 1, err: expect.stringContaining('“CI”: 500') })
  await add('One')
  await until('it is retried', async () => (await run(board.id)).out.includes('retrying, 1 behind  last: 500'))
  const sent = await user.json<WebhookDelivery[]>(['webhooks', 'deliveries', board.id, 'CI'])
  expect(sent.map(({ type, status }) => [type, status])).toEqual([
    ['card.created', 500],
    ['webhook.test', 500],
    ['webhook.test', 204],
  ])
  expect((await run('deliveries', board.id, 'CI')).out).toMatch(/Z {2}500 {2}\d+ ms {2}card\.created {2}\d+\.\d+\n/)
  receiver.respond = () => 204
  expect((await run('resume', board.id, 'CI')).out).toBe('“CI” resumed.\n')
  await until('it is accepted', async () => (await run(board.id)).out.includes('active, up to date  last: 204'))
  expect((await run('resume', board.id, 'CI', '--after', '0')).code).toBe(0)
  await until('it is sent again', () => titles().filter((title) => title === 'One').length === 3)

  expect((await run('disable', board.id, 'CI')).out).toBe('“CI” disabled.\n')
  expect((await run(board.id)).out).toContain('disabled, ')
  expect((await run('enable', board.id, 'CI')).out).toBe('“CI” enabled.\n')
  expect((await run('delete', board.id, all[0]?.id.slice(0, 30) ?? '')).out).toBe('“CI” deleted.\n')
  expect(await run('test', board.id, 'CI')).toMatchObject({ code: 4 })
})

test('[CLI-26] only secret prints the secret, which verifies what is sent, also after a rotation', async () => {
  const created = await run('new', board.id, receiver.url, '--after', '0')
  const { code, out: secret } = await run('secret', board.id, '127.0.0.1')
  expect([code, secret]).toEqual([0, expect.stringMatching(/^whsec_[\w+/]{43}=\n$/)])
  const rotated = await run('rotate', board.id, '127.0.0.1')
  expect(rotated.out).toMatch(/has a new secret. The old one signs too for 24 hours\.\n$/)
  const { out: fresh } = await run('secret', board.id, '127.0.0.1')
  expect(fresh).not.toBe(secret)
  for (const { out, err } of [created, rotated, await run(board.id)]) expect(out + err).not.toContain('whsec_')
  receiver.requests.splice(0)
  await add('Signed twice')
  await until('it comes', () => receiver.requests.length > 0)
  const [request] = receiver.requests
  for (const each of [secret, fresh])
    expect(await verifyWebhook(request?.text ?? '', request?.headers ?? {}, each.trim())).toMatchObject({
      board_id: board.id,
    })
  expect((await run('rotate', board.id, '127.0.0.1', '--now')).out).toMatch(/has a new secret\.\n$/)
  receiver.requests.splice(0)
  await add('Signed once')
  await until('it comes', () => receiver.requests.length > 0)
  const [last] = receiver.requests
  await expect(verifyWebhook(last?.text ?? '', last?.headers ?? {}, [secret.trim(), fresh.trim()])).rejects.toThrow(
    'No signature matches',
  )
})

test('[CLI-26] wrong usage is exit code 2, and a kind or URL that the service rejects is a sentence', async () => {
  for (const args of [
    [],
    ['new', board.id],
    ['show', board.id, 'x'],
    ['test', board.id],
    ['constructor', board.id, 'x'],
  ])
    expect(await run(...args)).toMatchObject({ code: 2, out: '' })
  for (const args of [['--to', 'localhost:3000'], ['--to', 'http://'], []])
    expect(await run('listen', board.id, ...args)).toMatchObject({ code: 2, out: '' })
  expect(await run('new', board.id, receiver.url, '--kinds', 'card.eaten')).toMatchObject({ code: 1, out: '' })
  expect(await run('new', board.id, 'http://10.0.0.1')).toMatchObject({
    code: 1,
    err: expect.stringContaining('not public'),
  })
  expect(await board.owner.api.call('listWebhooks', { params: { board_id: board.id } })).toEqual([])
})

test('[CLI-27] listen sends every event in order, signed, and again until it is accepted', async () => {
  let failures = 2
  receiver.respond = ({ message }) => (message.data['title'] === 'Two' && failures-- > 0 ? 500 : 204)
  // A member can listen: it needs no webhook.
  await user.login(service.baseUrl, board.member.email)
  const running = user.start(['webhooks', 'listen', board.id, '--to', receiver.url])
  await until('it listens', () => running.err().includes('WEBHOOK_SECRET='))
  const secret = /WEBHOOK_SECRET=(\S+)/.exec(running.err())?.[1] ?? ''
  for (const title of ['One', 'Two', 'Three']) await add(title)
  await until('all were sent', () => titles().includes('Three'))
  expect(titles()).toEqual(['One', 'Two', 'Two', 'Two', 'Three'])
  const log = await board.owner.api.call('listEvents', { params: { board_id: board.id } })
  let last: string | undefined
  const handled: unknown[] = []
  for (const { text, headers, message: received } of receiver.requests) {
    const message = await verifyWebhook(text, headers, secret)
    expect(new StandardWebhook(secret).verify(text, headers)).toEqual(message)
    expect(headers['webhook-id']).toBe(`evt_${board.id}_${received.epoch}_${received.seq}`)
    if (isRepeated(message, last)) continue
    last = positionOf(message)
    const { board_id, epoch: _, ...event } = received
    handled.push({ ...event, actor_id: event['user_id'] })
    expect(board_id).toBe(board.id)
  }
  expect(handled).toEqual(log.slice(-3))
  expect(running.out()).toMatch(/500 {2}\d+ ms {2}card\.created {2}\d+\.\d+ {2}attempt 1, sending it again\n/)
  expect(await running.end()).toMatchObject({ code: 0 })
})

test('[CLI-27] its requests have the id and the body of a webhook', async () => {
  const hook = await WebhookReceiver.start()
  await run('new', board.id, hook.url)
  const running = user.start(['webhooks', 'listen', board.id, '--to', receiver.url, '--json'])
  await until('it listens', () => running.err().includes('WEBHOOK_SECRET='))
  await add('Both')
  await until('both have it', () => hook.requests.length > 0 && receiver.requests.length > 0)
  const [ours, theirs] = [receiver.requests[0], hook.requests[0]]
  expect(ours?.message).toEqual(theirs?.message)
  expect(ours?.headers['webhook-id']).toBe(theirs?.headers['webhook-id'])
  await until('it is printed', () => running.events().length > 0)
  expect(running.events()).toMatchObject([{ type: 'card.created', attempt: 1, is_accepted: true, status: 204 }])
  await running.end()
  await hook.close()
})

test('[CLI-27] it continues after a receiver that was away and a lost connection, with the given secret', async () => {
  const { port } = receiver
  await receiver.close()
  const proxy = await startWebProxy(service.baseUrl)
  await user.login(proxy.baseUrl, board.owner.email)
  const secret = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`
  const args = ['webhooks', 'listen', board.id, '--to', `http://127.0.0.1:${port}/hook`]
  expect(await user.run(args, { env: { WEBHOOK_SECRET: 'short' } })).toMatchObject({ code: 2 })
  const running = user.start(args, { env: { WEBHOOK_SECRET: secret } })
  await until('it listens', () => running.err().includes('Sending the events'))
  await add('One')
  await until('it retries', () => running.out().includes('unreachable'))
  receiver = await WebhookReceiver.start(port)
  proxy.dropConnections()
  await add('Two')
  await until('both came', () => titles().includes('Two'))
  expect(titles()).toEqual(['One', 'Two'])
  for (const { text, headers } of receiver.requests) await verifyWebhook(text, headers, secret)
  expect(running.err()).not.toContain('whsec_')
  expect(await running.end('SIGTERM')).toMatchObject({ code: 0 })
  await proxy.stop()
})

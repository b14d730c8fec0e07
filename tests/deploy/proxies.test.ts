import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { endProcesses, eventually } from '@lockstep/testing/processes'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type BoardProxy, startHaproxy, startNginx } from './proxies.ts'

// Not the address that asks whether a proxy is up.
const ATTACKER = '127.0.0.3'
const BYSTANDER = '127.0.0.2'
const METRICS_TOKEN = 'hush-hush-token-of-the-metrics'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
/** Of one address at once, for tests that try to open more. */
const CONNECTIONS = 20

interface Sent {
  status: number
  headers: IncomingHttpHeaders
  body: string
}
interface Sending {
  from?: string
  method?: string
  headers?: Record<string, string | number>
  body?: string | Buffer
  /** Whether the request is left without its end. */
  isUnfinished?: boolean
}
const unfinished = new Set<ReturnType<typeof request>>()

/** Sends a request with its path as it stands there, on a connection of its own, from an address of this machine. */
function send(base_url: string, path: string, { from = BYSTANDER, method, headers, body, isUnfinished }: Sending = {}) {
  const sending = request(base_url, { path, method: method ?? 'GET', headers, localAddress: from, agent: false })
  const answer = new Promise<Sent>((resolve, reject) => {
    sending.on('error', reject)
    sending.on('response', (response: IncomingMessage) => {
      const { statusCode = 0, headers: answered } = response
      text(response).then((read) => resolve({ status: statusCode, headers: answered, body: read }), reject)
    })
  })
  if (body !== undefined) sending.write(body)
  if (!isUnfinished) sending.end()
  else {
    unfinished.add(sending)
    answer.catch(() => {})
  }
  return { sending, answer }
}
/** A request whose body is announced, and does not come. */
const sendSlowly = (base_url: string, path: string, body: string | Buffer = 'u', length = 100) =>
  send(base_url, path, {
    from: ATTACKER,
    method: 'POST',
    headers: { ...FORM, 'content-length': length },
    body,
    isUnfinished: true,
  })

/** Stands for an instance: remembers what reached it, and answers with the headers it got. */
let stub: Server
let reached: { url: string; isComplete: boolean }[] = []
/** Answers that are held back. */
let silent: ServerResponse[] = []
let service: TestService
let stub_port: number
let proxies: Record<'HAProxy' | 'nginx', { stub: BoardProxy; service: BoardProxy }>
beforeAll(async () => {
  stub = createServer((incoming, response) => {
    const seen = { url: incoming.url ?? '', isComplete: false }
    if (seen.url !== '/ready') reached.push(seen)
    if (seen.url === '/silence') return void silent.push(response)
    incoming.resume().on('end', () => {
      seen.isComplete = true
      response.end(JSON.stringify(incoming.headers))
    })
  })
  await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve))
  stub_port = (stub.address() as AddressInfo).port
  // Few enough places for a small attack to take them all, and no other defence of the service.
  const alone = { MAX_REQUESTS_AT_ONCE: '2', FAIR_SHARES: 'off', RATE_LIMITS: 'off' }
  service = await startService({ TRUST_PROXY: '1', METRICS_TOKEN, ...alone })
  const port = Number(new URL(service.base_url).port)
  const both = async (start: typeof startHaproxy) => ({
    stub: await start([stub_port, stub_port], { connections: CONNECTIONS }),
    service: await start([port, port]),
  })
  proxies = { HAProxy: await both(startHaproxy), nginx: await both(startNginx) }
}, 120_000)
afterEach(() => {
  for (const each of unfinished) each.destroy()
  unfinished.clear()
  reached = []
  silent = []
})
afterAll(async () => {
  await endProcesses()
  stub.closeAllConnections()
  stub.close()
  await service.stop()
})

describe.each(['HAProxy', 'nginx'] as const)('%s', (kind) => {
  test('[SHIP-21] a request reaches an instance when its body is complete, and not before', async () => {
    const { base_url } = proxies[kind].stub
    const slow = sendSlowly(base_url, '/auth/login', 'u', 16_384)
    const { status } = await send(base_url, '/auth/login', { method: 'POST', headers: FORM, body: 'username=ada' })
      .answer
    expect(status).toBe(200)
    expect(reached).toEqual([{ url: '/auth/login', isComplete: true }])
    slow.sending.end(Buffer.alloc(16_383, 'x'))
    expect((await slow.answer).status).toBe(200)
    expect(reached).toHaveLength(2)
  })

  test('[SHIP-21] a file is handed on as it comes', async () => {
    const { base_url } = proxies[kind].stub
    for (const prefix of ['', '/api']) {
      const path = `${prefix}/cards/00000000-0000-4000-8000-000000000001/attachments`
      sendSlowly(base_url, path, Buffer.alloc(100_000), 1_000_000)
      await eventually('it begins to arrive', () => reached.some(({ url, isComplete }) => url === path && !isComplete))
    }
  })

  test('[SHIP-21] 10 MiB are attached and come back', async () => {
    const board = await service.board()
    const params = { board_id: board.id, column_id: board.columns[0].id }
    const { id: card_id } = await board.owner.api.call('createCard', { params, body: { title: 'Plan' } })
    const file = Buffer.alloc(10_485_760, 'lockstep')
    const form = new FormData()
    form.append('file', new Blob([file]), 'plan.bin')
    const { base_url } = proxies[kind].service
    const headers = { authorization: `Bearer ${board.owner.api.token}` }
    const attached = await fetch(`${base_url}/cards/${card_id}/attachments`, { method: 'POST', headers, body: form })
    expect(attached.status).toBe(201)
    const { id } = (await attached.json()) as { id: string }
    const loaded = await fetch(`${base_url}/attachments/${id}`, { headers })
    expect(file.equals(Buffer.from(await loaded.arrayBuffer()))).toBe(true)
  }, 60_000)

  test('[SHIP-21] slow logins of one client do not keep others from logging in', async () => {
    const { email } = await service.user()
    const { base_url } = proxies[kind].service
    for (let i = 0; i < 150; i++) sendSlowly(base_url, '/auth/login')
    const body = String(new URLSearchParams({ username: email, password: PASSWORD }))
    const statuses: number[] = []
    for (let i = 0; i < 5; i++)
      statuses.push((await send(base_url, '/auth/login', { method: 'POST', headers: FORM, body }).answer).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200])
  }, 60_000)

  test('[SHIP-22] an address has so many connections at once, and others have theirs', async () => {
    const { base_url, log } = proxies[kind].stub
    const waiting = Array.from({ length: CONNECTIONS }, () =>
      send(base_url, '/silence', { from: ATTACKER, isUnfinished: true }),
    )
    for (const { sending } of waiting) sending.end()
    await eventually('all of them wait', () => reached.length === CONNECTIONS)
    const refused = await send(base_url, '/ready?token=hush-hush', { from: ATTACKER }).answer.then(
      ({ status }) => status,
      () => 'closed',
    )
    expect(refused).toBe(kind === 'nginx' ? 429 : 'closed')
    expect((await send(base_url, '/ready').answer).status).toBe(200)
    for (const response of silent) response.end()
    await Promise.all(waiting.map(({ answer }) => answer))
    for (const { sending } of waiting) sending.destroy()
    await eventually('there is room again', () =>
      send(base_url, '/ready', { from: ATTACKER }).answer.then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    expect(await log()).not.toContain('hush-hush')
  })

  test('[SHIP-23] however it is spelled, /metrics is not there', async () => {
    const { base_url } = proxies[kind].service
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    const ask = (at: string, path: string) => send(at, path, { headers }).answer
    const spellings = [
      '/metrics',
      '/metrics/',
      '/metrics?x=1',
      '/%6detrics',
      '/%6Detric%73',
      '/api/metrics',
      '/api/%6detrics',
    ]
    const odd = [
      '//metrics',
      '/./metrics',
      '/api/../metrics',
      '/metrics%2F',
      '/%2Fmetrics',
      '/metrics;x=1',
      '/metrics%3Fx',
    ]
    expect((await ask(service.base_url, '/%6detrics')).status).toBe(200)
    for (const path of [...spellings, ...odd]) {
      const { status, body } = await ask(base_url, path)
      expect([path, status >= 400, body.includes('lockstep_')]).toEqual([path, true, false])
    }
  })

  test('[SHIP-12] a host that a client claims is not handed on', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example', host: 'boards.example' }
    const { body } = await send(proxies[kind].stub.base_url, '/', { headers }).answer
    const got = JSON.parse(body) as IncomingHttpHeaders
    expect([got.host, got['x-forwarded-host'], got.forwarded]).toEqual(['boards.example', undefined, undefined])
  })
})

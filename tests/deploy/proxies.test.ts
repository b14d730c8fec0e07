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
import { type BoardProxy, metricsPaths, startHaproxy, startNginx } from './proxies.ts'

// Other addresses than the one of the readiness checks.
const ATTACKER = '127.0.0.3'
const OTHER_CLIENT = '127.0.0.2'
const METRICS_TOKEN = 'hush-hush-token-of-the-metrics'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
/** Connection limit per address. */
const CONNECTIONS = 20

interface Response {
  status: number
  headers: IncomingHttpHeaders
  body: string
}
interface RequestOptions {
  from?: string
  method?: string
  headers?: Record<string, string | number>
  body?: string | Buffer
  /** Whether the request is never completed. */
  isUnfinished?: boolean
}
const unfinished = new Set<ReturnType<typeof request>>()

/** Sends a request without normalizing its path, on a new connection, from a local address. */
function send(
  baseUrl: string,
  path: string,
  { from = OTHER_CLIENT, method, headers, body, isUnfinished }: RequestOptions = {},
) {
  const sending = request(baseUrl, { path, method: method ?? 'GET', headers, localAddress: from, agent: false })
  const response = new Promise<Response>((resolve, reject) => {
    sending.on('error', reject)
    sending.on('response', (incoming: IncomingMessage) => {
      const { statusCode = 0, headers: received } = incoming
      text(incoming).then((read) => resolve({ status: statusCode, headers: received, body: read }), reject)
    })
  })
  if (body !== undefined) sending.write(body)
  if (!isUnfinished) sending.end()
  else {
    unfinished.add(sending)
    response.catch(() => {})
  }
  return { sending, response }
}
/** Sends a request whose body does not arrive completely. */
const sendSlowly = (baseUrl: string, path: string, body: string | Buffer = 'u', length = 100) =>
  send(baseUrl, path, {
    from: ATTACKER,
    method: 'POST',
    headers: { ...FORM, 'content-length': length },
    body,
    isUnfinished: true,
  })

/** Replaces an instance: records requests, and returns their headers. */
let stub: Server
let reached: { url: string; isComplete: boolean }[] = []
/** Responses that are held back. */
let pending: ServerResponse[] = []
let service: TestService
let stubPort: number
let proxies: Record<'HAProxy' | 'nginx', { stub: BoardProxy; service: BoardProxy }>
beforeAll(async () => {
  stub = createServer((incoming, response) => {
    const received = { url: incoming.url ?? '', isComplete: false }
    if (received.url !== '/ready') reached.push(received)
    if (received.url === '/silence') return void pending.push(response)
    incoming.resume().on('end', () => {
      received.isComplete = true
      response.end(JSON.stringify(incoming.headers))
    })
  })
  await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve))
  stubPort = (stub.address() as AddressInfo).port
  // Few slots, so that a small attack could occupy them all, and no other protection of the service.
  const unprotected = { MAX_REQUESTS_AT_ONCE: '2', RATE_LIMITS: 'off' }
  service = await startService({ TRUST_PROXY: '1', METRICS_TOKEN, ...unprotected })
  const port = Number(new URL(service.baseUrl).port)
  const both = async (start: typeof startHaproxy) => ({
    stub: await start([stubPort, stubPort], { connections: CONNECTIONS }),
    service: await start([port, port]),
  })
  proxies = { HAProxy: await both(startHaproxy), nginx: await both(startNginx) }
}, 120_000)
afterEach(() => {
  for (const each of unfinished) each.destroy()
  unfinished.clear()
  reached = []
  pending = []
})
afterAll(async () => {
  await endProcesses()
  stub.closeAllConnections()
  stub.close()
  await service.stop()
})

describe.each(['HAProxy', 'nginx'] as const)('%s', (kind) => {
  test('[SHIP-21] a request is forwarded only when its body is complete', async () => {
    const { baseUrl } = proxies[kind].stub
    const slow = sendSlowly(baseUrl, '/auth/login', 'u', 16_384)
    const { status } = await send(baseUrl, '/auth/login', { method: 'POST', headers: FORM, body: 'username=ada' })
      .response
    expect(status).toBe(200)
    expect(reached).toEqual([{ url: '/auth/login', isComplete: true }])
    slow.sending.end(Buffer.alloc(16_383, 'x'))
    expect((await slow.response).status).toBe(200)
    expect(reached).toHaveLength(2)
  })

  test('[SHIP-21] a file is streamed', async () => {
    const { baseUrl } = proxies[kind].stub
    for (const prefix of ['', '/api']) {
      const path = `${prefix}/cards/00000000-0000-4000-8000-000000000001/attachments`
      sendSlowly(baseUrl, path, Buffer.alloc(100_000), 1_000_000)
      await eventually('the request reaches the instance', () =>
        reached.some(({ url, isComplete }) => url === path && !isComplete),
      )
    }
  })

  test('[SHIP-21] a file of 10 MiB is uploaded and downloaded', async () => {
    const board = await service.board()
    const params = { board_id: board.id, column_id: board.columns[0].id }
    const { id: card_id } = await board.owner.api.call('createCard', { params, body: { title: 'Plan' } })
    const file = Buffer.alloc(10_485_760, 'lockstep')
    const form = new FormData()
    form.append('file', new Blob([file]), 'plan.bin')
    const { baseUrl } = proxies[kind].service
    const headers = { authorization: `Bearer ${board.owner.api.token}` }
    const attached = await fetch(`${baseUrl}/cards/${card_id}/attachments`, { method: 'POST', headers, body: form })
    expect(attached.status).toBe(201)
    const { id } = (await attached.json()) as { id: string }
    const loaded = await fetch(`${baseUrl}/attachments/${id}`, { headers })
    expect(file.equals(Buffer.from(await loaded.arrayBuffer()))).toBe(true)
  })

  test('[SHIP-21] slow logins of one client do not block logins of others', async () => {
    const { email } = await service.user()
    const { baseUrl } = proxies[kind].service
    for (let i = 0; i < 150; i++) sendSlowly(baseUrl, '/auth/login')
    const body = String(new URLSearchParams({ username: email, password: PASSWORD }))
    const statuses: number[] = []
    for (let i = 0; i < 5; i++)
      statuses.push((await send(baseUrl, '/auth/login', { method: 'POST', headers: FORM, body }).response).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200])
  })

  test('[SHIP-22] the number of connections per address is limited, without affecting other addresses', async () => {
    const { baseUrl, log } = proxies[kind].stub
    const waiting = Array.from({ length: CONNECTIONS }, () =>
      send(baseUrl, '/silence', { from: ATTACKER, isUnfinished: true }),
    )
    for (const { sending } of waiting) sending.end()
    await eventually('all requests wait', () => reached.length === CONNECTIONS)
    const result = await send(baseUrl, '/ready?token=hush-hush', { from: ATTACKER }).response.then(
      ({ status }) => status,
      () => 'closed',
    )
    expect(result).toBe(kind === 'nginx' ? 429 : 'closed')
    expect((await send(baseUrl, '/ready').response).status).toBe(200)
    for (const response of pending) response.end()
    await Promise.all(waiting.map(({ response }) => response))
    for (const { sending } of waiting) sending.destroy()
    await eventually('the address can connect again', () =>
      send(baseUrl, '/ready', { from: ATTACKER }).response.then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    expect(await log()).not.toContain('hush-hush')
  })

  test('[SHIP-23] /metrics is not reachable, however the path is spelled', async () => {
    const { baseUrl } = proxies[kind].service
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    const get = (at: string, path: string) => send(at, path, { headers }).response
    const variants = [
      '//metrics',
      '/./metrics',
      '/api/../metrics',
      '/metrics%2F',
      '/%2Fmetrics',
      '/metrics;x=1',
      '/metrics%3Fx',
    ]
    expect((await get(service.baseUrl, '/%6detrics')).status).toBe(200)
    for (const path of [...metricsPaths, ...variants]) {
      const { status, body } = await get(baseUrl, path)
      expect([path, status >= 400, body.includes('lockstep_')]).toEqual([path, true, false])
    }
  })

  test('[SHIP-12] a host that a client claims is not forwarded', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example', host: 'boards.example' }
    const { body } = await send(proxies[kind].stub.baseUrl, '/', { headers }).response
    const got = JSON.parse(body) as IncomingHttpHeaders
    expect([got.host, got['x-forwarded-host'], got.forwarded]).toEqual(['boards.example', undefined, undefined])
  })
})

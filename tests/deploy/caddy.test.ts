import { readFileSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort } from '@lockstep/testing/ports'
import {
  endProcesses,
  eventually,
  type RunningProcess,
  type ServiceProcess,
  startServiceProcess,
} from '@lockstep/testing/processes'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createCard, newBoard, newUser } from '../recovery/writers.ts'
import { launchCaddy, metricsPaths, startCaddy } from './proxies.ts'
import { services, startStores, startValkey } from './stores.ts'

const METRICS_TOKEN = 'hush-hush-token-of-the-metrics'
let http: number
let https: number
let caddy: { process: RunningProcess; folder: string }
let instances: [ServiceProcess, ServiceProcess]
/** The root certificate of Caddy's own authority, which a browser on this machine would have to trust. */
let ca: string
/** The response before any instance ran. */
let early: number

interface Response {
  status: number
  headers: IncomingHttpHeaders
  body: string
}
const get = (url: string, headers: Record<string, string> = {}) =>
  new Promise<Response>((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest
    const { protocol, hostname, port } = new URL(url)
    const path = url.slice(url.indexOf('/', protocol.length + 2))
    const sending = send({ hostname, port, path, headers, agent: false, ...(ca && { ca }) }, (response) => {
      const { statusCode = 0, headers: received } = response
      text(response).then((body) => resolve({ status: statusCode, headers: received, body }), reject)
    })
    sending.on('error', reject).end()
  })
const secure = (path: string, headers?: Record<string, string>) => get(`https://localhost:${https}${path}`, headers)

beforeAll(async () => {
  ;[http, https] = [await freePort(), await freePort()]
  const ports: [number, number] = [await freePort(), await freePort()]
  // Caddy starts before the stores and the service.
  caddy = await launchCaddy('localhost', ports, `http_port ${http}\n\thttps_port ${https}`)
  ca = await eventually('Caddy has a root certificate', () => {
    if (caddy.process.hasEnded()) throw new Error(caddy.process.output())
    try {
      return readFileSync(join(caddy.folder, 'caddy/pki/authorities/local/root.crt'), 'utf8')
    } catch {
      return undefined
    }
  })
  early = await eventually('Caddy responds', () =>
    secure('/ready').then(
      ({ status }) => status,
      () => undefined,
    ),
  )
  const stores = await startStores()
  await stores.migrate()
  const { DATABASE_URL_FILE, REDIS_URL_FILE, JWT_SECRET_FILE, ...environment } = services.one.environment
  const settings = {
    ...environment,
    DATABASE_URL: stores.addressOf('database_url'),
    REDIS_URL: await startValkey(stores.secrets),
    JWT_SECRET: stores.addressOf('jwt_secret'),
    REGISTRATION: 'open',
    LOG_LEVEL: 'info',
    METRICS_TOKEN,
    METRICS_HOST: '127.0.0.1',
  }
  expect([DATABASE_URL_FILE, REDIS_URL_FILE, JWT_SECRET_FILE].every((file) => file?.startsWith('/run/secrets/'))).toBe(
    true,
  )
  const start = async (port: number) =>
    startServiceProcess({ ...settings, PORT: String(port), METRICS_PORT: String(await freePort()) })
  instances = [await start(ports[0]), await start(ports[1])]
  await eventually('Caddy has found the instances', async () => (await secure('/ready')).status === 200)
}, 240_000)
afterAll(endProcesses)

test('[SHIP-26] Caddy serves HTTPS with its own authority for localhost, also before the service runs', async () => {
  expect(early).toBeGreaterThanOrEqual(502)
  const { status, headers } = await secure('/app/')
  expect([status, headers['strict-transport-security']]).toEqual([200, expect.stringContaining('max-age=')])
  const known = ca
  ca = ''
  await expect(secure('/app')).rejects.toMatchObject({ code: expect.stringMatching(/CERT|SIGNATURE|ISSUER/) })
  ca = known
})

test('[SHIP-26] plain HTTP only redirects', async () => {
  const { status, headers } = await get(`http://localhost:${http}/app?from=mail`)
  expect([status, headers.location]).toEqual([308, 'https://localhost/app?from=mail'])
})

test('[SHIP-11] [SHIP-26] sockets work through TLS, and no token is logged, even if no instance responds', async () => {
  const { api, token } = await newUser(instances[0].baseUrl)
  const board = await newBoard(api)
  const socket = new WebSocket(`wss://localhost:${https}/ws/boards/${board.board_id}?token=${token}`, { ca })
  const messages: string[] = []
  socket.on('message', (data: Buffer) => messages.push(data.toString()))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  await eventually('the socket has joined', () => messages.some((message) => message.includes('user_joined')))
  await createCard(api, board, 'live')
  await eventually('the event arrives', () => messages.some((message) => message.includes('"live"')))
  socket.close()
  const authorization = { authorization: `Bearer ${token}`, cookie: `x=${token}`, referer: `https://x/?token=${token}` }
  expect((await secure(`/boards/${board.board_id}?token=${token}`, authorization)).status).toBe(200)

  await eventually('the requests are logged', () => caddy.process.output().includes(`/ws/boards/${board.board_id}`))
  expect(caddy.process.output()).not.toContain(token)
  expect(caddy.process.output()).not.toContain('token=')

  const baseUrl = `http://127.0.0.1:${await freePort()}`
  const { process: lonely } = await launchCaddy(baseUrl, [1, 1])
  const statusOf = (path: string) =>
    get(baseUrl + path).then(
      ({ status }) => status,
      () => undefined,
    )
  expect(await eventually('Caddy responds', () => statusOf('/ws/boards/x?token=hush-hush'))).toBeGreaterThanOrEqual(502)
  await eventually('the error is logged', () => lonely.output().includes('"uri":"/ws/boards/x"'))
  expect(lonely.output()).not.toContain('hush-hush')
})

describe('in front of stubs', () => {
  const stubs: Server[] = []
  let baseUrl: string
  const send = async (path: string, headers?: Record<string, string>) => {
    const { status, body } = await get(baseUrl + path, headers)
    return { status, ...(status === 200 && (JSON.parse(body) as { name: number; received: IncomingHttpHeaders })) }
  }
  beforeAll(async () => {
    const ports = await Promise.all(
      [0, 1].map(async (name) => {
        const stub = createServer((request, response) =>
          response.end(JSON.stringify({ name, received: request.headers })),
        )
        stubs.push(stub)
        await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve))
        return (stub.address() as AddressInfo).port
      }),
    )
    ;({ baseUrl } = await startCaddy([ports[0] ?? 0, ports[1] ?? 0]))
  })
  afterAll(() => {
    for (const stub of stubs) stub.close()
  })

  test('[SHIP-10] all requests of a board go to one instance, whatever a client sends, and boards are spread', async () => {
    const names = new Set<number | undefined>()
    for (let i = 0; i < 12; i++) {
      const paths = ['/boards/', '/api/boards/', '/ws/boards/', '/api/ws/boards/'].map(
        (prefix) => `${prefix}board-${i}`,
      )
      const responses = [
        ...(await Promise.all(paths.map((path) => send(path)))),
        await send(`/boards/board-${i}/columns?x=1`, { 'x-lockstep-board': 'other' }),
      ]
      expect(new Set(responses.map(({ name }) => name)).size).toBe(1)
      expect(responses.every(({ received }) => received?.['x-lockstep-board'] === undefined)).toBe(true)
      names.add(responses[0]?.name)
    }
    expect(names.size).toBe(2)
  })

  test('[SHIP-12] an address or host that a client claims is not forwarded', async () => {
    const { received } = await send('/', {
      host: new URL(baseUrl).host,
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'gopher',
      'x-forwarded-host': 'evil.example',
      forwarded: 'for=203.0.113.7;host=evil.example',
    })
    expect(received).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' })
    expect(JSON.stringify(received)).not.toMatch(/203\.0\.113\.7|evil\.example/)
  })

  test('[SHIP-23] /metrics is not reachable, however the path is spelled', async () => {
    for (const path of metricsPaths) expect([path, (await send(path)).status]).toEqual([path, 404])
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    for (const path of ['//metrics', '/./metrics', '/api/../metrics', '/metrics%2F', '/%2Fmetrics', '/metrics;x=1'])
      expect([path, (await secure(path, headers)).body.includes('lockstep_')]).toEqual([path, false])
  })
})

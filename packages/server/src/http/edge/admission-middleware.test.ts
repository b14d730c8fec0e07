import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '@lockstep/testing/client'
import { scrape } from '@lockstep/testing/metrics'
import { holdBoard } from '@lockstep/testing/processes'
import {
  MARK,
  PASSWORD,
  startService,
  type TestBoard,
  type TestService,
  type TestUser,
} from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { startProxy, type TcpProxy } from '@lockstep/testing/tcp-proxy'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HASH_COST } from '../../auth/passwords.ts'

/** One response on a connection of this agent, and the local port of the connection. */
const ask = (
  agent: Agent,
  baseUrl: string,
  path: string,
  options: { method?: string; headers?: object; body?: Buffer } = {},
) =>
  new Promise<{ status: number; headers: IncomingHttpHeaders; text: string; port: number }>((resolve, reject) => {
    const { body, ...rest } = options
    const sent = request(baseUrl + path, { agent, ...rest } as object, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, text, port: sent.socket?.localPort ?? 0 })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })

describe('an overloaded service', () => {
  const ORIGIN = 'https://app.example'
  const METRICS_TOKEN = 'hush-hush-token-of-the-metrics'
  let first: TestService
  let board: TestBoard
  let database: TcpProxy
  let service: TestService
  let api: Client
  beforeAll(async () => {
    first = await startService()
    board = await first.board()
    database = await startProxy(first.databaseUrl)
    service = await startService(
      { DATABASE_URL: database.url, MAX_REQUESTS_AT_ONCE: '2', CORS_ORIGINS: ORIGIN, METRICS_TOKEN },
      { beside: first, bodySeconds: 20 },
    )
    api = new Client(service.baseUrl, board.owner.api.token)
  })
  afterAll(async () => {
    await service.stop()
    await database.close()
    await first.stop()
  })

  const headers = () => ({ authorization: `Bearer ${board.owner.api.token}`, origin: ORIGIN })
  const read = { params: { board_id: '' } }
  beforeEach(async () => {
    read.params.board_id = board.id
    await api.call('getBoard', read)
  })
  /** All slots are taken by requests whose database does not respond; they are answered when it does again. */
  async function fill() {
    database.freeze()
    const held = Promise.all(Array.from({ length: 2 }, () => api.send('listBoards', {})))
    const isFull = async () => (await scrape(service.baseUrl, METRICS_TOKEN)).sum('lockstep_http_requests_in_flight')
    await expect.poll(isFull).toBeGreaterThanOrEqual(3)
    return {
      /** Lets the database respond, and returns the outcome of the requests with a slot. */
      end: async () => {
        database.thaw()
        const statuses = (await held).map(({ status }) => status)
        // Until the last rejection is long enough ago.
        await pause(600)
        return statuses
      },
    }
  }

  test('[LOAD-2] [REQ-2] a rejected request gets Retry-After, and JSON that pages of allowed origins can read', async () => {
    const usual = await ask(new Agent(), service.baseUrl, '/boards', { headers: headers() })
    const full = await fill()
    const response = await ask(new Agent(), service.baseUrl, '/boards', { headers: headers() })
    const foreign = await ask(new Agent(), service.baseUrl, '/boards', {
      headers: { origin: 'https://foreign.example' },
    })
    expect(await full.end()).toEqual([200, 200])
    expect(response.status).toBe(503)
    expect(JSON.parse(response.text)).toEqual({ detail: expect.any(String), code: 'overloaded' })
    expect(response.headers).toMatchObject({
      'retry-after': '1',
      'content-type': usual.headers['content-type'],
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-credentials': usual.headers['access-control-allow-credentials'],
      'access-control-expose-headers': usual.headers['access-control-expose-headers'],
    })
    expect(response.headers.vary).toContain('Origin')
    expect(foreign.headers['access-control-allow-origin']).toBeUndefined()
    expect(await api.call('listBoards', {})).toHaveLength(1)
  })

  test.each([
    ['a small body', Buffer.from('{"title":"Plan"}')],
    ['a large one', Buffer.alloc(3 * 1_048_576, 32)],
  ])('[LOAD-3] after %s the connection can be reused', async (_, body) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const full = await fill()
    const post = { method: 'POST', headers: { ...headers(), 'content-type': 'application/json' }, body }
    const rejected = await ask(agent, service.baseUrl, '/boards', post)
    await full.end()
    const next = await ask(agent, service.baseUrl, '/auth/me', { headers: headers() })
    agent.destroy()
    expect([rejected.status, next.status]).toEqual([503, 200])
    expect(next.port).toBe(rejected.port)
    expect(JSON.parse(next.text)).toMatchObject({ id: board.owner.id })
  })

  test('[LOAD-4] health checks are answered within a second', async () => {
    const full = await fill()
    const since = performance.now()
    expect((await fetch(`${service.baseUrl}/live`)).status).toBe(200)
    expect((await fetch(`${service.baseUrl}/api/live/?a=b`)).status).toBe(200)
    const health = await fetch(`${service.baseUrl}/health`)
    expect(((await health.json()) as { code: string }).code).toBe('unavailable')
    await scrape(service.baseUrl, METRICS_TOKEN)
    expect(performance.now() - since).toBeLessThan(2_000)
    await full.end()
  })

  test('[LOAD-7] rejected requests are counted, and logged in one line', async () => {
    const before = await scrape(service.baseUrl, METRICS_TOKEN)
    const lines = () => {
      const log = readFileSync(service.logFile, 'utf8')
        .split('\n')
        .filter((line) => line.includes('requests were rejected with 503'))
      return log.map((line) => (JSON.parse(line) as { requests: number }).requests)
    }
    const linesBefore = lines().length
    const full = await fill()
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await api.send('listBoards', {})).status),
    )
    await full.end()
    expect(statuses).toEqual(Array(30).fill(503))
    const after = await scrape(service.baseUrl, METRICS_TOKEN)
    const grown = (name: string, labels: Record<string, string>) => after.sum(name, labels) - before.sum(name, labels)
    expect(grown('lockstep_http_shed_total', { code: 'overloaded' })).toBe(30)
    expect(grown('lockstep_http_problems_total', { code: 'overloaded' })).toBe(30)
    expect(grown('lockstep_http_requests_total', { method: 'GET', route: 'none', status: '503' })).toBe(30)
    expect(grown('lockstep_http_wait_seconds_count', {})).toBeGreaterThanOrEqual(30)
    await expect
      .poll(() =>
        lines()
          .slice(linesBefore)
          .reduce((sum, count) => sum + count, 0),
      )
      .toBe(30)
    expect(lines().length - linesBefore).toBeLessThan(5)
  })

  test('[LOAD-5] requests with slow bodies hold no slot', async () => {
    const slow = Array.from({ length: 6 }, () => {
      const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
      const head = `POST /boards HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: application/json`
      socket.write(`${head}\r\nContent-Length: 17\r\n\r\n{"title":`)
      return {
        socket,
        response: new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))),
      }
    })
    for (let i = 0; i < 10; i++) expect((await api.send('getBoard', read)).status).toBe(200)
    for (const { socket } of slow) socket.write('"Plan"} ')
    for (const { socket, response } of slow) {
      expect(await response).toMatch(/^HTTP\/1\.1 201 /)
      socket.destroy()
    }
  })

  test('[LOAD-5] a request to an unknown path whose body never arrives holds no slot and is answered at once', async () => {
    const nowhere = ['POST /nowhere', 'PUT /boards', 'DELETE /nowhere', 'POST /app/nowhere'].map((start) => {
      const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
      socket.write(`${start} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n`)
      return {
        socket,
        response: new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))),
      }
    })
    const responses = await Promise.all(nowhere.map(({ response }) => response))
    expect(responses.map((response) => response.slice(9, 12))).toEqual(['404', '405', '404', '404'])
    for (let i = 0; i < 5; i++) expect((await api.send('getBoard', read)).status).toBe(200)
    for (const { socket } of nowhere) socket.destroy()
  })

  test('[LOAD-6] unauthenticated bodies that never arrive leave capacity for authenticated clients', async () => {
    const login = 'POST /auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded'
    const rejected: string[] = []
    const sockets = Array.from({ length: 80 }, () => {
      const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
      socket.write(`${login}\r\nContent-Length: 17\r\n\r\n`)
      socket.once('data', (response) => rejected.push(String(response)))
      return socket
    })
    // Thirty-two bodies are awaited.
    await expect.poll(() => rejected.length).toBe(48)
    for (const response of rejected) expect(response).toMatch(/^HTTP\/1\.1 503 [\s\S]*"overloaded"/)
    for (let i = 0; i < 5; i++) expect((await api.send('getBoard', read)).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    const logIn = () => api.send('login', { body: { username: board.owner.email, password: PASSWORD } })
    await expect.poll(async () => (await logIn()).status).toBe(200)
  })

  test('[LOAD-5] a slow upload holds no slot', async () => {
    const { id: card_id } = await api.call('createCard', {
      params: { board_id: board.id, column_id: board.columns[0].id },
      body: { title: 'With files' },
    })
    const form = (part: string) =>
      `--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${part}\r\n--x--\r\n`
    const whole = form('content')
    const slow = Array.from({ length: 5 }, () => {
      const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
      const head = `POST /cards/${card_id}/attachments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: multipart/form-data; boundary=x`
      socket.write(`${head}\r\nContent-Length: ${whole.length}\r\n\r\n${whole.slice(0, 70)}`)
      return {
        socket,
        response: new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))),
      }
    })
    for (let i = 0; i < 10; i++) expect((await api.send('getBoard', read)).status).toBe(200)
    for (const { socket } of slow) socket.write(whole.slice(70))
    for (const { socket, response } of slow) {
      expect(await response).toMatch(/^HTTP\/1\.1 201 /)
      socket.destroy()
    }
  })

  test('[LOAD-5] neither does a client that does not read its response', async () => {
    const description = 'x'.repeat(60_000)
    const params = { board_id: board.id, column_id: board.columns[0].id }
    for (let i = 0; i < 20; i++) await api.call('createCard', { params, body: { title: 'Large', description } })
    // Its response is larger than what the network buffers for a client that does not read.
    const slow = Array.from({ length: 4 }, () => {
      const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1').pause()
      socket.write(
        `GET /boards/${board.id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\n\r\n`.repeat(2),
      )
      return socket
    })
    await pause(500)
    for (let i = 0; i < 10; i++) expect((await api.send('listBoards', {})).status).toBe(200)
    for (const socket of slow) socket.destroy()
  })

  test('[LOAD-5] nor do changes in the board queue, nor passwords that wait to be hashed', async () => {
    const params = { board_id: board.id, column_id: board.columns[0].id }
    await using held = await holdBoard(first.sql, board.id)
    const waiting = Array.from({ length: 6 }, () => api.send('createCard', { params, body: { title: 'Patient' } }))
    await held.isAwaited()
    const logins = Array.from({ length: 6 }, () =>
      api.send('login', { body: { username: `${randomUUID()}@example.com`, password: 'hush-hush none' } }),
    )
    for (let i = 0; i < 5; i++) expect((await api.send('listBoards', {})).status).toBe(200)
    await held.release()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(6).fill(201))
    expect((await Promise.all(logins)).map(({ status }) => status)).toEqual(Array(6).fill(401))
  })

  test('[LOAD-10] pipelined requests are handled one after the other, in order', async () => {
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
    const paths = Array.from({ length: 60 }, (_, i) => ['/auth/me', '/nowhere', '/boards', '/health'][i % 4])
    const asked = paths.map(
      (path, i) =>
        `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\n${i === 59 ? 'Connection: close\r\n' : ''}\r\n`,
    )
    socket.write(asked.join(''))
    let text = ''
    for await (const piece of socket) text += piece
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
    expect(statuses).toEqual(paths.map((path) => (path === '/nowhere' ? 404 : 200)))
  })

  test('[LOAD-10] until the first is answered no other is started, and a client that pipelines too many is disconnected', async () => {
    const request = `GET /boards HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\n\r\n`
    const port = Number(new URL(service.baseUrl).port)
    const inFlight = async () => (await scrape(service.baseUrl, METRICS_TOKEN)).sum('lockstep_http_requests_in_flight')
    database.freeze()
    const [patient, greedy] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
    greedy.on('error', () => {})
    const hungUp = new Promise((resolve) => greedy.on('close', resolve))
    patient.write(request.repeat(20))
    greedy.write(request.repeat(120))
    await hungUp
    // The waiting request, and the metrics scrape.
    await expect.poll(inFlight).toBe(2)
    database.thaw()
    let text = ''
    patient.on('data', (piece) => {
      text += String(piece)
    })
    await expect.poll(() => text.match(/HTTP\/1\.1 200/g)?.length).toBe(20)
    patient.destroy()
  })

  test.each([
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an upgrade', 'GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['nothing', ''],
    [
      'expectations and CONNECT',
      `${'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n'.repeat(2)}GET /boards HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`,
    ],
  ])('[LOAD-10] a connection that ends with %s after pipelined requests holds nothing', async (_, end) => {
    for (let i = 0; i < 70; i++) {
      const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
      socket.on('error', () => {})
      const before = `GET /boards HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\n\r\n`
      socket.write((end.includes('Expect') ? '' : before.repeat(5)) + end)
      await pause(5)
      socket.destroy()
    }
    expect((await api.send('listBoards', {})).status).toBe(200)
    const inFlight = async () => (await scrape(service.baseUrl, METRICS_TOKEN)).sum('lockstep_http_requests_in_flight')
    await expect.poll(inFlight).toBe(1)
  })

  test('[LOAD-1] a burst is served, with few slots and with many', async () => {
    const rush = async (at: Client, count: number) =>
      Promise.all(Array.from({ length: count }, async () => (await at.send('listBoards', {})).status))
    expect(await rush(api, 8)).toEqual(Array(8).fill(200))
    expect(await rush(board.owner.api, 100)).toEqual(Array(100).fill(200))
  })

  test('[LOAD-6] many concurrent handshakes are authorized a few at a time, and all succeed', async () => {
    const sockets = Array.from({ length: 60 }, () => openSocket(api, board.id, { seq: true }))
    await Promise.all(sockets.map((socket) => socket.next('hello')))
    for (const socket of sockets) socket.ws.close()
  })
})

describe('a service with one slot', () => {
  let service: TestService
  let user: TestUser
  let other: TestUser
  beforeAll(async () => {
    // Hashing takes long enough that a short pause of the machine does not matter.
    const hashCost = { ...HASH_COST, timeCost: 4 * HASH_COST.timeCost }
    service = await startService({ MAX_REQUESTS_AT_ONCE: '1', ADMIN_API: 'on' }, { hashCost })
    user = await service.user()
    other = await service.user()
    await service.sql.query('update users set is_superuser = true where id = $1', [user.id])
  })
  afterAll(() => service.stop())

  const randomName = () => `u${randomUUID().slice(0, 12)}`
  const new_password = `${MARK} another horse`
  const register = (username: string) =>
    user.api.send('register', { body: { email: `${username}@example.com`, username, password: PASSWORD } })
  test.each<[string, number, () => Promise<{ status: number }>]>([
    ['register', 201, () => register(randomName())],
    ['log in', 401, () => user.api.send('login', { body: { username: randomName(), password: PASSWORD } })],
    [
      'change it',
      400,
      () => user.api.send('changePassword', { body: { current_password: randomName(), new_password } }),
    ],
    ['give one', 200, () => user.api.send('resetPassword', { params: { user_id: other.id }, body: { new_password } })],
  ])('[LOAD-5] passwords of users who %s release the slot while they are hashed', async (_, status, hash) => {
    const answered: string[] = []
    const note = async (name: string, asked: Promise<{ status: number }>) => {
      const response = await asked
      answered.push(name)
      return response.status
    }
    const hashed = Array.from({ length: 15 }, () => note('a password', hash()))
    await Promise.race(hashed)
    expect(await note('another', user.api.send('listBoards', {}))).toBe(200)
    expect(await Promise.all(hashed)).toEqual(Array(15).fill(status))
    expect(answered.at(-1)).toBe('a password')
  })
})

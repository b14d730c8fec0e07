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

/** One answer on a connection of this agent, and from which port it was asked. */
const ask = (
  agent: Agent,
  base_url: string,
  path: string,
  options: { method?: string; headers?: object; body?: Buffer } = {},
) =>
  new Promise<{ status: number; headers: IncomingHttpHeaders; text: string; port: number }>((resolve, reject) => {
    const { body, ...rest } = options
    const sent = request(base_url + path, { agent, ...rest } as object, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => {
        text += piece
      })
      answer.on('end', () => {
        const { statusCode: status = 0, headers } = answer
        resolve({ status, headers, text, port: sent.socket?.localPort ?? 0 })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })

describe('a service that has too much to do', () => {
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
    database = await startProxy(first.database_url)
    service = await startService(
      { DATABASE_URL: database.url, MAX_REQUESTS_AT_ONCE: '2', CORS_ORIGINS: ORIGIN, METRICS_TOKEN },
      { beside: first, bodySeconds: 20 },
    )
    api = new Client(service.base_url, board.owner.api.token)
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
  /** All places are taken by requests whose database is silent; they are answered when it speaks again. */
  async function fill() {
    database.freeze()
    const held = Promise.all(Array.from({ length: 2 }, () => api.send('listBoards', {})))
    const isFull = async () => (await scrape(service.base_url, METRICS_TOKEN)).sum('lockstep_http_requests_in_flight')
    await expect.poll(isFull).toBeGreaterThanOrEqual(3)
    return {
      /** Lets the database speak, and answers how the requests went that had a place. */
      end: async () => {
        database.thaw()
        const statuses = (await held).map(({ status }) => status)
        // Until it is forgotten that somebody was sent away.
        await pause(600)
        return statuses
      },
    }
  }

  test('[LOAD-2] [REQ-2] who is sent away is told when to come back, in JSON that pages of allowed origins can read', async () => {
    const usual = await ask(new Agent(), service.base_url, '/boards', { headers: headers() })
    const full = await fill()
    const answer = await ask(new Agent(), service.base_url, '/boards', { headers: headers() })
    const foreign = await ask(new Agent(), service.base_url, '/boards', {
      headers: { origin: 'https://foreign.example' },
    })
    expect(await full.end()).toEqual([200, 200])
    expect(answer.status).toBe(503)
    expect(JSON.parse(answer.text)).toEqual({ detail: expect.any(String), code: 'overloaded' })
    expect(answer.headers).toMatchObject({
      'retry-after': '1',
      'content-type': usual.headers['content-type'],
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-credentials': usual.headers['access-control-allow-credentials'],
      'access-control-expose-headers': usual.headers['access-control-expose-headers'],
    })
    expect(answer.headers.vary).toContain('Origin')
    expect(foreign.headers['access-control-allow-origin']).toBeUndefined()
    expect(await api.call('listBoards', {})).toHaveLength(1)
  })

  test.each([
    ['a small body', Buffer.from('{"title":"Plan"}')],
    ['a large one', Buffer.alloc(3 * 1_048_576, 32)],
  ])('[LOAD-3] after %s its connection can be used again', async (_, body) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const full = await fill()
    const post = { method: 'POST', headers: { ...headers(), 'content-type': 'application/json' }, body }
    const refused = await ask(agent, service.base_url, '/boards', post)
    await full.end()
    const next = await ask(agent, service.base_url, '/auth/me', { headers: headers() })
    agent.destroy()
    expect([refused.status, next.status]).toEqual([503, 200])
    expect(next.port).toBe(refused.port)
    expect(JSON.parse(next.text)).toMatchObject({ id: board.owner.id })
  })

  test('[LOAD-4] whoever looks after it is answered, within a second', async () => {
    const full = await fill()
    const since = performance.now()
    expect((await fetch(`${service.base_url}/live`)).status).toBe(200)
    expect((await fetch(`${service.base_url}/api/live/?a=b`)).status).toBe(200)
    const health = await fetch(`${service.base_url}/health`)
    expect(((await health.json()) as { code: string }).code).toBe('unavailable')
    await scrape(service.base_url, METRICS_TOKEN)
    expect(performance.now() - since).toBeLessThan(2_000)
    await full.end()
  })

  test('[LOAD-7] rejected requests are counted, and logged in one line', async () => {
    const before = await scrape(service.base_url, METRICS_TOKEN)
    const lines = () => {
      const log = readFileSync(service.logFile, 'utf8')
        .split('\n')
        .filter((line) => line.includes('requests were rejected with 503'))
      return log.map((line) => (JSON.parse(line) as { requests: number }).requests)
    }
    const told = lines().length
    const full = await fill()
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await api.send('listBoards', {})).status),
    )
    await full.end()
    expect(statuses).toEqual(Array(30).fill(503))
    const after = await scrape(service.base_url, METRICS_TOKEN)
    const grown = (name: string, labels: Record<string, string>) => after.sum(name, labels) - before.sum(name, labels)
    expect(grown('lockstep_http_shed_total', { code: 'overloaded' })).toBe(30)
    expect(grown('lockstep_http_problems_total', { code: 'overloaded' })).toBe(30)
    expect(grown('lockstep_http_requests_total', { method: 'GET', route: 'none', status: '503' })).toBe(30)
    expect(grown('lockstep_http_wait_seconds_count', {})).toBeGreaterThanOrEqual(30)
    await expect
      .poll(() =>
        lines()
          .slice(told)
          .reduce((sum, count) => sum + count, 0),
      )
      .toBe(30)
    expect(lines().length - told).toBeLessThan(5)
  })

  test('[LOAD-5] bodies that come slowly hold no place', async () => {
    const slow = Array.from({ length: 6 }, () => {
      const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
      const head = `POST /boards HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: application/json`
      socket.write(`${head}\r\nContent-Length: 17\r\n\r\n{"title":`)
      return { socket, answer: new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))) }
    })
    for (let i = 0; i < 10; i++) expect((await api.send('getBoard', read)).status).toBe(200)
    for (const { socket } of slow) socket.write('"Plan"} ')
    for (const { socket, answer } of slow) {
      expect(await answer).toMatch(/^HTTP\/1\.1 201 /)
      socket.destroy()
    }
  })

  test('[LOAD-5] a body that never comes, of a request that leads nowhere, holds no place and is not waited for', async () => {
    const nowhere = ['POST /nowhere', 'PUT /boards', 'DELETE /nowhere', 'POST /app/nowhere'].map((start) => {
      const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
      socket.write(`${start} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n`)
      return { socket, answer: new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))) }
    })
    const answers = await Promise.all(nowhere.map(({ answer }) => answer))
    expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['404', '405', '404', '404'])
    for (let i = 0; i < 5; i++) expect((await api.send('getBoard', read)).status).toBe(200)
    for (const { socket } of nowhere) socket.destroy()
  })

  test('[LOAD-6] bodies of strangers that never come leave room for those who have a credential', async () => {
    const login = 'POST /auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded'
    const refused: string[] = []
    const sockets = Array.from({ length: 80 }, () => {
      const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
      socket.write(`${login}\r\nContent-Length: 17\r\n\r\n`)
      socket.once('data', (answer) => refused.push(String(answer)))
      return socket
    })
    // Thirty-two are waited for.
    await expect.poll(() => refused.length).toBe(48)
    for (const answer of refused) expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*"overloaded"/)
    for (let i = 0; i < 5; i++) expect((await api.send('getBoard', read)).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    const logIn = () => api.send('login', { body: { username: board.owner.email, password: PASSWORD } })
    await expect.poll(async () => (await logIn()).status).toBe(200)
  })

  test('[LOAD-5] an upload that comes slowly holds no place', async () => {
    const { id: card_id } = await api.call('createCard', {
      params: { board_id: board.id, column_id: board.columns[0].id },
      body: { title: 'With files' },
    })
    const form = (part: string) =>
      `--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${part}\r\n--x--\r\n`
    const whole = form('content')
    const slow = Array.from({ length: 5 }, () => {
      const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
      const head = `POST /cards/${card_id}/attachments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: multipart/form-data; boundary=x`
      socket.write(`${head}\r\nContent-Length: ${whole.length}\r\n\r\n${whole.slice(0, 70)}`)
      return { socket, answer: new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))) }
    })
    for (let i = 0; i < 10; i++) expect((await api.send('getBoard', read)).status).toBe(200)
    for (const { socket } of slow) socket.write(whole.slice(70))
    for (const { socket, answer } of slow) {
      expect(await answer).toMatch(/^HTTP\/1\.1 201 /)
      socket.destroy()
    }
  })

  test('[LOAD-5] neither does a reader who takes nothing', async () => {
    const description = 'x'.repeat(60_000)
    const params = { board_id: board.id, column_id: board.columns[0].id }
    for (let i = 0; i < 20; i++) await api.call('createCard', { params, body: { title: 'Large', description } })
    // Its answer is larger than what the network holds for somebody who reads nothing.
    const slow = Array.from({ length: 4 }, () => {
      const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1').pause()
      socket.write(
        `GET /boards/${board.id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\n\r\n`.repeat(2),
      )
      return socket
    })
    await pause(500)
    for (let i = 0; i < 10; i++) expect((await api.send('listBoards', {})).status).toBe(200)
    for (const socket of slow) socket.destroy()
  })

  test('[LOAD-5] nor do changes that wait for their board, nor passwords that wait to be hashed', async () => {
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

  test('[LOAD-10] requests that are sent without waiting are answered one after the other, in their order', async () => {
    const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
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

  test('[LOAD-10] until the first is answered none of the others is begun, and whoever sends too many is hung up on', async () => {
    const request = `GET /boards HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\n\r\n`
    const port = Number(new URL(service.base_url).port)
    const inFlight = async () => (await scrape(service.base_url, METRICS_TOKEN)).sum('lockstep_http_requests_in_flight')
    database.freeze()
    const [patient, greedy] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
    greedy.on('error', () => {})
    const hungUp = new Promise((resolve) => greedy.on('close', resolve))
    patient.write(request.repeat(20))
    greedy.write(request.repeat(120))
    await hungUp
    // The patient one, and whoever asks for the metrics.
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
  ])('[LOAD-10] a connection that ends with %s behind such requests holds nothing', async (_, end) => {
    for (let i = 0; i < 70; i++) {
      const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
      socket.on('error', () => {})
      const before = `GET /boards HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.token}\r\n\r\n`
      socket.write((end.includes('Expect') ? '' : before.repeat(5)) + end)
      await pause(5)
      socket.destroy()
    }
    expect((await api.send('listBoards', {})).status).toBe(200)
    const inFlight = async () => (await scrape(service.base_url, METRICS_TOKEN)).sum('lockstep_http_requests_in_flight')
    await expect.poll(inFlight).toBe(1)
  })

  test('[LOAD-1] a rush is served, by few places and by many', async () => {
    const rush = async (at: Client, count: number) =>
      Promise.all(Array.from({ length: count }, async () => (await at.send('listBoards', {})).status))
    expect(await rush(api, 8)).toEqual(Array(8).fill(200))
    expect(await rush(board.owner.api, 100)).toEqual(Array(100).fill(200))
  })

  test('[LOAD-6] many sockets that come at once are looked at a few at a time, and all get in', async () => {
    const sockets = Array.from({ length: 60 }, () => openSocket(api, board.id, { seq: true }))
    await Promise.all(sockets.map((socket) => socket.next('hello')))
    for (const socket of sockets) socket.ws.close()
  })
})

describe('a service with one place', () => {
  let service: TestService
  let user: TestUser
  let other: TestUser
  beforeAll(async () => {
    service = await startService({ MAX_REQUESTS_AT_ONCE: '1', ADMIN_API: 'on' }, { hashCost: HASH_COST })
    user = await service.user()
    other = await service.user()
    await service.sql.query('update users set is_superuser = true where id = $1', [user.id])
  })
  afterAll(() => service.stop())

  const somebody = () => `u${randomUUID().slice(0, 12)}`
  const new_password = `${MARK} another horse`
  const register = (username: string) =>
    user.api.send('register', { body: { email: `${username}@example.com`, username, password: PASSWORD } })
  test.each<[string, number, () => Promise<{ status: number }>]>([
    ['register', 201, () => register(somebody())],
    ['log in', 401, () => user.api.send('login', { body: { username: somebody(), password: PASSWORD } })],
    ['change it', 400, () => user.api.send('changePassword', { body: { current_password: somebody(), new_password } })],
    ['give one', 200, () => user.api.send('resetPassword', { params: { user_id: other.id }, body: { new_password } })],
  ])('[LOAD-5] passwords of people who %s leave the place to others while they are hashed', async (_, status, hash) => {
    const answered: string[] = []
    const note = async (name: string, asked: Promise<{ status: number }>) => {
      const answer = await asked
      answered.push(name)
      return answer.status
    }
    const hashed = Array.from({ length: 15 }, () => note('a password', hash()))
    await Promise.race(hashed)
    expect(await note('another', user.api.send('listBoards', {}))).toBe(200)
    expect(await Promise.all(hashed)).toEqual(Array(15).fill(status))
    expect(answered.at(-1)).toBe('a password')
  })
})

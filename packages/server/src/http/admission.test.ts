import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { Client } from '@lockstep/testing/client'
import { makeBoards } from '@lockstep/testing/large-board'
import { eventually, lockWaiters } from '@lockstep/testing/processes'
import { PASSWORD, startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { TestClock } from '@lockstep/testing/test-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const SETTINGS = {
  RATE_LIMITS: 'on',
  CORS_ORIGINS: 'https://example.com',
  TRUST_PROXY: '1',
  MAX_REQUESTS_AT_ONCE: '8',
  // No test here reaches a limit that is counted in Redis.
  MAX_REQUESTS_PER_MINUTE: '1000000',
  MAX_REQUESTS_PER_MINUTE_PER_ADDRESS: '1000000',
  MAX_BAD_PAYLOADS_PER_MINUTE: '1000000',
}
let service: TestService
let board: TestBoard
beforeAll(async () => {
  service = await startService(SETTINGS)
  board = await service.board()
})
afterAll(() => service.stop())

/** Adds cards with descriptions of 64 KiB of one character directly: by requests it would take long. */
const fill = (to: Pick<TestBoard, 'id'>, column_id: string, count: number, character: string) =>
  service.sql.query(
    `insert into cards (board_id, id, column_id, title, description, rank, number, created_at, updated_at)
     select $1, gen_random_uuid(), $2, 'Card', repeat($4, 65536), n, 1000 + n, now(), now() from generate_series(1, $3::int) n`,
    [to.id, column_id, count, character],
  )

/** A connection that sends the given data, and collects what it receives until it is told to stop reading. */
function rawConnection({ baseUrl } = service) {
  const { hostname, port } = new URL(baseUrl)
  const socket: Socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  return { socket, text: () => text }
}

const authorization = (user: TestUser) => `Authorization: Bearer ${user.api.token}\r\n`
const from = (address: string) => ({ 'x-forwarded-for': address })
const logIn = (address: string) =>
  service.anybody.send('login', { body: { username: board.owner.email, password: PASSWORD }, headers: from(address) })

/** Begins requests whose bodies never arrive. */
async function beginRequests(count: number, head: string, addressOf: (nth: number) => string) {
  const connections = Array.from({ length: count }, () => rawConnection())
  for (const [nth, { socket }] of connections.entries()) {
    const address = addressOf(nth)
    socket.write(`${head}X-Forwarded-For: ${address}\r\nHost: localhost\r\nContent-Length: 17\r\n\r\n`)
  }
  const heads = () => connections.map(({ text }) => text().split('\r\n\r\n')[0] ?? '').filter((each) => each !== '')
  return {
    rejected: () => heads().map((each) => [each.slice(9, 12), /^retry-after: (\d+)/im.exec(each)?.[1]]),
    close: () => {
      for (const { socket } of connections) socket.destroy()
    },
  }
}

describe('slots', () => {
  /** Lists of boards wait at this lock until it is released. `blocked` counts their statements. */
  async function lockBoards() {
    const lock = await service.sql.connect()
    await lock.query('begin; lock table boards in access exclusive mode')
    return {
      blocked: () => lockWaiters(service.sql),
      release: () => lock.query('commit'),
      [Symbol.asyncDispose]: async () => {
        await lock.query('commit')
        lock.release()
      },
    }
  }
  const list = (user: TestUser) =>
    fetch(`${service.baseUrl}/boards`, {
      headers: { authorization: `Bearer ${user.api.token}`, origin: 'https://example.com' },
    })

  test('[LOAD-2] [LOAD-11] one user holds a quarter of the slots; others run meanwhile, and more of the user’s get 503 after half a second', async () => {
    await using lock = await lockBoards()
    const began = performance.now()
    const lists = Array.from({ length: 12 }, () => list(board.owner))
    await expect.poll(lock.blocked).toBe(2)
    expect((await board.member.api.send('getMe', {})).status).toBe(200)
    const rejected = await Promise.race(lists)
    expect(performance.now() - began).toBeGreaterThan(490)
    const { status, headers } = rejected
    expect([status, headers.get('retry-after'), headers.get('access-control-allow-origin')]).toEqual([
      503,
      expect.stringMatching(/^[1-9]\d*$/),
      'https://example.com',
    ])
    expect(headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
    expect(await rejected.json()).toEqual({ detail: expect.any(String), code: 'overloaded' })
    expect(await lock.blocked()).toBe(2)
    await lock.release()
    const statuses = (await Promise.all(lists)).map((each) => each.status)
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
  })

  test('[LOAD-2] [LOAD-4] [LOAD-6] while 200 requests wait, others get 503 at once, and what needs no slot is answered', async () => {
    const users = await Promise.all(Array.from({ length: 4 }, () => service.user()))
    await using lock = await lockBoards()
    const lists = users.flatMap((user) => Array.from({ length: 60 }, () => list(user)))
    const rejected = await Promise.race(lists)
    const get = (path: string) => fetch(`${service.baseUrl}${path}`, { headers: { origin: 'https://example.com' } })
    const [, ...others] = await Promise.all(['/health', '/app/login', '/openapi.json'].map(get))
    // Without a credential: it is rejected before that is looked at.
    const next = await get('/api/boards')
    expect([next.status, others.map(({ status }) => status)]).toEqual([503, [200, 200]])
    for (const { status, headers } of [rejected, next])
      expect([status, headers.get('retry-after'), headers.get('access-control-allow-origin')]).toEqual([
        ...[503, '1', 'https://example.com'],
      ])
    expect(next.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
    expect(await next.json()).toEqual({ detail: expect.any(String), code: 'overloaded' })
    await lock.release()
    await Promise.all(lists)
  })

  test('[LOAD-1] [LOAD-4] as many requests run as there are slots; probes and the web client need none', async () => {
    const users = await Promise.all(Array.from({ length: 4 }, () => service.user()))
    await using lock = await lockBoards()
    const lists = users.flatMap((user) => [list(user), list(user)])
    await expect.poll(lock.blocked).toBe(8)
    expect((await board.member.api.send('getMe', {})).status).toBe(503)
    for (const path of ['/health', '/ready', '/live', '/app/login', '/openapi.json'])
      expect([path, (await fetch(`${service.baseUrl}${path}`)).status]).toEqual([path, 200])
    await lock.release()
    expect((await Promise.all(lists)).map((each) => each.status)).toEqual(Array.from({ length: 8 }, () => 200))
  })

  test('[LOAD-1] [LOAD-10] a request holds its slot until its statements have ended, also when its client has left', async () => {
    await using lock = await lockBoards()
    const head = `GET /boards HTTP/1.1\r\nHost: localhost\r\n${authorization(board.owner)}\r\n`
    const left = [rawConnection(), rawConnection()]
    for (const { socket } of left) socket.write(head)
    await expect.poll(lock.blocked).toBe(2)
    for (const { socket } of left) socket.destroy()
    const next = await Promise.all(Array.from({ length: 4 }, () => list(board.owner)))
    expect(next.map(({ status }) => status)).toEqual([503, 503, 503, 503])
    expect(await lock.blocked()).toBe(2)
    await lock.release()
    await expect.poll(async () => (await list(board.owner)).status).toBe(200)
  })

  test('[LOAD-3] the body of a rejected request is discarded, and its connection can be used again', async () => {
    const { socket, text } = rawConnection()
    const body = ' '.repeat(300_000)
    socket.write(
      `POST /boards HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer none\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(() => text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200'])
    socket.destroy()
  })

  test('[LOAD-11] a user has 64 open requests, whatever their addresses, then 429; others are served', async () => {
    const head = `POST /boards HTTP/1.1\r\nContent-Type: application/json\r\n${authorization(board.owner)}`
    const begun = await beginRequests(70, head, (nth) => `192.0.2.${nth}`)
    await expect.poll(begun.rejected).toEqual(Array.from({ length: 6 }, () => ['429', '1']))
    expect((await board.member.api.send('getMe', {})).status).toBe(200)
    begun.close()
    await expect.poll(async () => (await board.owner.api.send('getMe', {})).status).toBe(200)
  })

  test('[LOAD-11] an address has 128 open requests without a login, then 429; others can log in', async () => {
    const head = 'POST /auth/login HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n'
    const begun = await beginRequests(132, head, () => '192.0.2.1')
    await expect.poll(begun.rejected).toEqual(Array.from({ length: 4 }, () => ['429', '1']))
    expect((await logIn('192.0.2.2')).status).toBe(200)
    begun.close()
    await expect.poll(async () => (await logIn('192.0.2.1')).status).toBe(200)
  })

  test('[LOAD-10] requests whose client has gone are not open anymore, also pipelined ones', async () => {
    const head = `GET /boards HTTP/1.1\r\nHost: localhost\r\n${authorization(board.owner)}\r\n`
    for (let nth = 0; nth < 20; nth++) {
      const { socket } = rawConnection()
      await new Promise((resolve) => socket.once('connect', resolve))
      socket.write(head.repeat(10), () => setTimeout(() => socket.destroy(), nth % 5))
    }
    const statuses = () =>
      Promise.all(Array.from({ length: 60 }, async () => (await board.owner.api.send('getMe', {})).status))
    await expect.poll(async () => new Set(await statuses())).toEqual(new Set([200]))
  })

  test('[LOAD-10] a connection with more than 16 pipelined requests is closed', async () => {
    const request = `GET /auth/me HTTP/1.1\r\nHost: localhost\r\n${authorization(board.owner)}\r\n`
    const answersTo = async (count: number) => {
      const { socket, text } = rawConnection()
      const isClosed = new Promise<true>((resolve) => socket.once('close', () => resolve(true)))
      socket.write(request.repeat(count))
      const answers = () => text().split('HTTP/1.1 200').length - 1
      const outcome = await Promise.race([isClosed, eventually('all answers', () => answers() === count && answers())])
      socket.destroy()
      return outcome
    }
    expect(await answersTo(16)).toBe(16)
    expect(await answersTo(17)).toBe(true)
  })
})

test('[READ-6] an uncompressed response that the client does not read holds one chunk of memory', async () => {
  const unlimited = await startService({}, { beside: service })
  const { id, owner, columns } = await unlimited.board()
  await fill({ id }, columns[0].id, 60, 'y')
  const { token } = owner.api
  const request = `GET /boards/${id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const plain = await fetch(`${unlimited.baseUrl}/boards/${id}`, {
    headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
  })
  const body = await plain.text()
  expect(Number(plain.headers.get('content-length'))).toBe(Buffer.byteLength(body))
  expect(JSON.parse(body)).toEqual(await owner.api.call('getBoard', { params: { board_id: id } }))
  const used = () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = used()
  const readers = Array.from({ length: 40 }, () => rawConnection(unlimited))
  for (const { socket } of readers) {
    socket.once('data', () => socket.pause())
    socket.write(request)
  }
  await expect.poll(() => new Set(readers.map(({ text }) => text().slice(9, 12)))).toEqual(new Set(['200']))
  // Each has four megabytes pending.
  expect(used() - before).toBeLessThan(100_000_000)
  for (const { socket } of readers) socket.destroy()
  await unlimited.stop()
})

describe('[LOAD-14] the budget of a user, while the clock stands still', () => {
  const clock = new TestClock()
  let paced: TestService
  beforeAll(async () => {
    paced = await startService(SETTINGS, { clock, beside: service })
  })
  afterAll(() => paced.stop())

  /** A board with a column of this many MB. */
  const largeBoard = async (megabytes: number) => {
    const made = await paced.board()
    await fill(made, made.columns[0].id, megabytes * 16, 'x')
    const counted = 'update board_stream set text_bytes = $2 where board_id = $1'
    await paced.sql.query(counted, [made.id, megabytes * 1_048_576])
    return made
  }
  /** The status of a request, and for how many seconds it has to wait. */
  const outcome = async (sent: Promise<{ status: number; headers: Headers }>) => {
    const { status, headers } = await sent
    return [status, Number(headers.get('retry-after'))]
  }
  const load = ({ id }: TestBoard, { api }: TestUser) =>
    outcome(
      fetch(`${paced.baseUrl}/boards/${id}`, {
        headers: { authorization: `Bearer ${api.token}`, 'accept-encoding': 'identity' },
      }),
    )
  const rename = (of: TestBoard, headers = {}) =>
    outcome(
      of.owner.api.send('updateColumn', { params: { column_id: of.columns[0].id }, body: { title: 'New' }, headers }),
    )

  test('large reads above the burst are rejected until the rate allows more, and those of others are not', async () => {
    const large = await largeBoard(6)
    expect(await load(large, large.owner)).toEqual([200, 0])
    // Built and sent: 12.6 MB, of which 8 MiB are the burst, at 4 MiB a second.
    expect(await load(large, large.owner)).toEqual([429, 2])
    expect(await outcome(large.owner.api.send('getMe', {}))).toEqual([429, 2])
    expect(await load(large, large.member)).toEqual([200, 0])
    // What the user may not see is said first.
    expect(await outcome(large.owner.api.send('getBoard', { params: { board_id: randomUUID() } }))).toEqual([404, 0])
    clock.advance(2_000)
    expect(await load(large, large.owner)).toEqual([200, 0])
  })

  test('a large change counts four times, also one that is rejected and one that is repeated', async () => {
    for (const headers of [{}, { 'if-match': '"other"' }, { 'idempotency-key': 'rename' }]) {
      const large = await largeBoard(2)
      if ('idempotency-key' in headers) {
        await rename(large, headers)
        clock.advance(60_000)
      }
      const [status] = await rename(large, headers)
      expect(status).toBe('if-match' in headers ? 412 : 200)
      const [rejected, seconds] = await rename(large)
      // Two MB as an event or a response make eight, both sixteen.
      expect([rejected, (seconds ?? 0) > 0]).toEqual([429, true])
      clock.advance((seconds ?? 0) * 1_000)
      expect((await rename(large))[0]).toBe(200)
    }
  })

  test('bodies that are rejected count', async () => {
    const { api } = await paced.user()
    const send = () => outcome(api.request('POST', '/boards', { json: { title: 5, padding: 'x'.repeat(700_000) } }))
    for (let i = 0; i < 12; i++) expect(await send()).toEqual([422, 0])
    expect(await send()).toEqual([429, 1])
  })

  test('a long list waits between its pages', async () => {
    const [owner, user] = await Promise.all([paced.user(), paced.user()])
    await makeBoards(paced.sql, { owner_id: owner.id, member_id: user.id }, 200)
    const headers = { authorization: `Bearer ${user.api.token}` }
    let listed = 0
    const list = async () => {
      listed = ((await (await fetch(`${paced.baseUrl}/boards`, { headers })).json()) as unknown[]).length
    }
    // A second: 13 MB at 4 MiB a second, without the burst of 8 MiB and the last page. Other timers run too.
    expect(await clock.timeOf(list(), 400)).toBeGreaterThan(500)
    expect(listed).toBe(200)
  })

  test('uploads wait, also those that are only hashed or discarded', async () => {
    const params = { board_id: board.id, column_id: board.columns[0].id }
    const { id: card_id } = await board.owner.api.call('createCard', { params, body: { title: 'One' } })
    const headers = { 'idempotency-key': 'upload' }
    const api = new Client(paced.baseUrl, board.owner.api.token)
    const upload = async (character: string, bytes: number) => {
      const file = new File([character.repeat(bytes)], 'a.txt')
      return (await api.send('createAttachment', { params: { card_id }, body: { file }, headers })).status
    }
    const uploads = async () => {
      expect(await upload('a', 10_000_000)).toBe(201)
      expect(await upload('b', 10_000_000)).toBe(422)
      // More than MAX_ATTACHMENT_BYTES.
      expect(await upload('c', 11_000_000)).toBe(400)
    }
    // 31 MB at 8 MiB per second, of which 4 MiB are not delayed.
    expect(await clock.timeOf(uploads(), 50)).toBeCloseTo(3_200, -3)
  })
})

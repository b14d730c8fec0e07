import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Uuid } from '@lockstep/contract/operation'
import { PASSWORD, startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import Type from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ChangePacer } from '../core/change-pacer.ts'
import { inputReader } from './validation.ts'

let service: TestService
let board: TestBoard
beforeAll(async () => {
  service = await startService({
    FAIR_SHARES: 'on',
    MAX_UPLOADS_AT_ONCE: '4',
    TRUST_PROXY: '1',
    MAX_UNREAD_RESPONSE_BYTES: '4194304',
    MAX_REQUESTS_AT_ONCE: '4',
    // Checked in Redis before a body is read; no test here reaches a limit.
    RATE_LIMITS: 'on',
    ...Object.fromEntries(
      ['REQUESTS_PER_MINUTE', 'REQUESTS_PER_MINUTE_PER_ADDRESS', 'BAD_PAYLOADS_PER_MINUTE'].map((limit) => [
        `MAX_${limit}`,
        '1000000',
      ]),
    ),
  })
  board = await service.board()
})
afterAll(() => service.stop())

const newCard = (description?: string) =>
  board.owner.api.call('createCard', {
    params: { board_id: board.id, column_id: board.columns[0].id },
    body: { title: 'One', ...(description && { description }) },
  })

/** Adds cards with descriptions of 64 KiB of one character directly: by requests it would take long. */
const fill = (to: TestBoard, column_id: string, count: number, character: string) =>
  service.sql.query(
    `insert into cards select $1, gen_random_uuid(), $2, 'Card', repeat($4, 65536), n, now(), now() from generate_series(1, $3::int) n`,
    [to.id, column_id, count, character],
  )

/** A connection that sends the given data, and collects what it receives until it is told to stop reading. */
function rawConnection() {
  const { hostname, port } = new URL(service.baseUrl)
  const socket: Socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  return { socket, text: () => text }
}

describe('lengths are checked before contents', () => {
  test('[REQ-25] a list with too many items is one error, at the cost of parsing it', () => {
    const read = inputReader(Type.Object({ user_ids: Type.Array(Uuid, { maxItems: 100 }), title: Type.String() }))
    const json = JSON.stringify({ user_ids: Array.from({ length: 500_000 }, () => 0), title: 5 })
    const timed = (work: () => unknown) => {
      const started = performance.now()
      work()
      return performance.now() - started
    }
    const parsing = timed(() => JSON.parse(json))
    const value: unknown = JSON.parse(json)
    let problem: unknown
    const checking = timed(() => {
      try {
        read(value)
      } catch (error) {
        problem = error
      }
    })
    expect((problem as { fields: object }).fields).toEqual({
      errors: [
        { field: 'user_ids', message: 'must have at most 100 items' },
        { field: 'title', message: 'must be a string' },
      ],
    })
    // Validating each item took a hundred times as long as parsing.
    expect(checking).toBeLessThan(parsing * 5 + 20)
  })

  test('[REQ-25] a text that is far too long is rejected before its format is checked', () => {
    // Backtracking: this pattern takes seconds for a text that does not match.
    const read = inputReader(Type.Object({ text: Type.String({ maxLength: 3, pattern: '^(?:a+)+$' }) }))
    const began = performance.now()
    expect(() => read({ text: `${'a'.repeat(30)}!` })).toThrow('at most 3 characters')
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  test('[REQ-15] operations without texts, and public operations, accept 16 KiB', async () => {
    const card = await newCard()
    const padding = 'x'.repeat(17_000)
    const { api } = board.owner
    const statuses = async (calls: [string, string, object][]) =>
      Promise.all(calls.map(async ([method, path, body]) => (await api.request(method, path, { json: body })).status))
    const tried = await statuses([
      ['POST', '/auth/register', { padding }],
      ['PUT', `/cards/${card.id}/assignees`, { user_ids: [], padding: padding.repeat(2) }],
      ['POST', `/boards/${board.id}/invite`, { padding }],
      ['POST', '/auth/logout', { padding }],
      ['PUT', `/cards/${card.id}/assignees`, { user_ids: [], padding: 'x'.repeat(10_000) }],
    ])
    expect(tried).toEqual([413, 413, 413, 413, 200])
  })

  test('[REQ-15] the longest texts fit, in any escaping', async () => {
    const description = '\u0001'.repeat(65_536)
    expect((await newCard(description)).description).toBe(description)
  })
})

describe('memory for responses', () => {
  test('[READ-6] an uncompressed response that the client does not read holds one chunk of memory', async () => {
    const text = 'y'.repeat(65_000)
    for (let i = 0; i < 60; i++) await newCard(text)
    const { token } = board.owner.api
    const request = `GET /boards/${board.id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
    const plain = await fetch(`${service.baseUrl}/boards/${board.id}`, {
      headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
    })
    const body = await plain.text()
    expect(Number(plain.headers.get('content-length'))).toBe(Buffer.byteLength(body))
    expect(JSON.parse(body)).toEqual(await board.owner.api.call('getBoard', { params: { board_id: board.id } }))
    const used = () => {
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const before = used()
    const readers = Array.from({ length: 40 }, () => rawConnection())
    for (const { socket } of readers) {
      socket.pause()
      socket.write(request)
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    // Each has four megabytes pending.
    expect(used() - before).toBeLessThan(60_000_000)
    for (const { socket } of readers) socket.destroy()
  })
})

describe('after a client disconnects', () => {
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const pathOfCard = async (bytes: number) => `/cards/${(await newCard('z'.repeat(bytes))).id}`
  /** Sends the head of a request, waits a moment, and disconnects. */
  const hangUp = async (head: string, ms: number) => {
    const { socket } = rawConnection()
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write(head)
    await pause(ms)
    socket.destroy()
  }

  test('[LOAD-11] the memory of a response is released when its client disconnected while it was built', async () => {
    const path = await pathOfCard(65_536)
    // If the memory were not released, the share of the user would be used up after half a megabyte.
    for (let i = 0; i < 200; i++)
      await hangUp(
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${board.owner.api.token}\r\n\r\n`,
        i % 5,
      )
    await pause(300)
    expect((await board.owner.api.request('GET', path)).status).toBe(200)
  })

  test('[LOAD-6] so is the share for an unauthenticated body', async () => {
    const head =
      'POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\n'
    // The limit is 64: 16 for each slot.
    for (let i = 0; i < 300; i++) await hangUp(head, i % 3)
    await pause(300)
    const { status } = await service.anybody.request('POST', '/auth/login', {
      raw: { type: 'application/x-www-form-urlencoded', content: 'username=nobody&password=nothing' },
    })
    expect(status).toBe(401)
  })
})

describe('responses that the client does not read', () => {
  const request = (line: string, headers = '', user = board.owner) =>
    `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${user.api.token}\r\n${headers}\r\n`
  /** How often clients that read only the head get each status. */
  const statusesOf = async (texts: string[]) => {
    const readers = texts.map((text) => {
      const reader = rawConnection()
      reader.socket.once('data', () => reader.socket.pause())
      reader.socket.write(text)
      return reader
    })
    const statuses = () => readers.map((reader) => reader.text().slice(9, 12))
    await expect.poll(statuses, { timeout: 15_000 }).not.toContain('')
    for (const { socket } of readers) socket.destroy()
    return new Set(statuses())
  }

  test('[READ-4] [LOAD-11] a failed precondition with a large object counts as a large response', async () => {
    // Of several users: a user who makes large changes is paced.
    const [large, third] = [await service.board(), await service.user()]
    await large.owner.api.call('inviteMember', { params: { board_id: large.id }, body: { user_id: third.id } })
    const column_id = large.columns[1].id
    // More than the kernel buffers: 12 MB of JSON.
    await fill(large, column_id, 30, '\u0001')
    const headers = 'If-Match: "other"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n'
    const of = (user: TestBoard['owner']) => `${request(`PATCH /columns/${column_id}`, headers, user)}{}`
    expect(await statusesOf([of(large.owner), of(large.member)])).toEqual(new Set(['412', '503']))
    const { status, body } = await third.api.request('PATCH', `/columns/${column_id}`, {
      json: {},
      headers: { 'if-match': '"other"' },
    })
    const { columns } = await third.api.call('getBoard', { params: { board_id: large.id } })
    const current = columns.find(({ id }) => id === column_id)
    expect([status, body]).toEqual([412, { detail: expect.any(String), code: 'precondition_failed', current }])
  })

  test('[LOAD-11] a change is committed although there is no memory for its response, and its connection is closed', async () => {
    const large = await service.board()
    const [column_id, otherId] = large.columns.map(({ id }) => id) as [string, string]
    const params = { board_id: large.id, column_id }
    await fill(large, column_id, 30, '\u0001')
    const card = await large.owner.api.call('createCard', {
      params: { ...params, column_id: otherId },
      body: { title: 'Before', description: 'x'.repeat(65_536) },
    })
    const head = (length: number) => `Content-Type: application/json\r\nContent-Length: ${length}\r\n`
    const unread = rawConnection()
    unread.socket.once('data', () => unread.socket.pause())
    unread.socket.write(`${request(`PATCH /columns/${column_id}`, `If-Match: "other"\r\n${head(2)}`, large.owner)}{}`)
    await expect.poll(() => unread.text().slice(9, 12)).toBe('412')
    const body = '{"title":"After"}'
    const changed = rawConnection()
    const closed = new Promise((resolve) => changed.socket.once('close', resolve))
    changed.socket.write(request(`PATCH /cards/${card.id}`, head(body.length), large.member) + body)
    await closed
    unread.socket.destroy()
    expect(changed.text()).toBe('')
    const read = () => large.member.api.send('getCard', { params: { card_id: card.id } })
    await expect.poll(read).toMatchObject({ status: 200, body: { title: 'After' } })
  })

  test('[READ-7] [LOAD-11] each page of a long list of boards counts while it is sent', async () => {
    for (let i = 0; i < 20; i++)
      await board.owner.api.call('createBoard', { body: { title: 'Long', description: 'y'.repeat(65_536) } })
    const list = request('GET /boards', 'Accept-Encoding: identity\r\n')
    expect(await statusesOf(Array.from({ length: 12 }, () => list))).toEqual(new Set(['200', '503']))
    const headers = { authorization: `Bearer ${board.owner.api.token}` }
    const listed = await fetch(`${service.baseUrl}/boards`, { headers })
    expect(((await listed.json()) as unknown[]).length).toBe(21)
  })
})

describe('uploads', () => {
  /** Starts an upload and sends only its head. */
  const startUpload = (user: TestBoard['owner'], card_id: string, address = '192.0.2.1') => {
    const connection = rawConnection()
    const boundary = randomBytes(8).toString('hex')
    connection.socket.write(
      `POST /cards/${card_id}/attachments HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\nAuthorization: Bearer ${user.api.token}\r\n` +
        `Content-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: 100000\r\n\r\n` +
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`,
    )
    return connection
  }

  test('[LOAD-12] one user gets their share, others get theirs, and a slow upload ends with 408', async () => {
    const card = await newCard()
    // From several addresses: the share of an address is larger.
    const own = [1, 2, 3].map((n) => startUpload(board.owner, card.id, `192.0.2.1${n}`))
    const statuses = () => own.map(({ text }) => text().slice(9, 12)).sort()
    await expect.poll(statuses).toEqual(['', '', '503'])
    const other = startUpload(board.member, card.id, '192.0.2.2')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(other.text()).toBe('')
    // A user with too many uploads is rejected before their access is checked.
    const missing = startUpload(board.owner, board.id)
    await expect.poll(() => missing.text().slice(9, 12)).toBe('503')
    await expect.poll(statuses, { timeout: 15_000 }).toEqual(['408', '408', '503'])
    for (const { socket } of [...own, other, missing]) socket.destroy()
  })
})

describe('[LOAD-11] bodies that never arrive', () => {
  /**
   * Begins requests until the service holds as many as it can, and returns how many. A few at a time: a stall of the machine
   * while many wait for a slot would reject some for being late.
   */
  const beginUntilFull = async (head: string, addressOf: (nth: number) => string = () => '192.0.2.1') => {
    const held = new Set<Socket>()
    for (let begun = 0, rejected = 0; rejected < 20; ) {
      const batch = Array.from({ length: 4 }, () => {
        const { socket } = rawConnection()
        held.add(socket)
        socket.once('data', () => {
          held.delete(socket)
          socket.destroy()
          rejected++
        })
        const address = addressOf(begun++)
        socket.write(`${head}\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\nContent-Length: 17\r\n\r\n`)
        return socket
      })
      for (const socket of batch) if (socket.connecting) await once(socket, 'connect')
      // Handled after the others.
      await service.anybody.send('getHealth', {})
    }
    /** Also waits until the service has released their shares. */
    const close = async () => {
      for (const socket of held) socket.destroy()
      await expect.poll(async () => (await logIn('192.0.2.1')).status).toBe(200)
    }
    return { held: () => held.size, close }
  }
  const logIn = (address: string) =>
    service.anybody.send('login', {
      body: { username: board.owner.email, password: PASSWORD },
      headers: { 'x-forwarded-for': address },
    })

  test('one address gets half of the bodies without a credential, and others can log in', async () => {
    const head = 'POST /auth/login HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded'
    const { held, close } = await beginUntilFull(head)
    // Of 64.
    await expect.poll(held).toBe(32)
    expect((await logIn('192.0.2.1')).status).toBe(503)
    expect((await logIn('192.0.2.2')).status).toBe(200)
    await close()
  })

  test('one address gets half of the open requests, and others can use the service', async () => {
    const head = `POST /boards HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer ${board.owner.api.token}`
    const { held, close } = await beginUntilFull(head)
    // Of 128.
    await expect.poll(held).toBe(64)
    const read = (address: string) => board.member.api.send('getMe', { headers: { 'x-forwarded-for': address } })
    expect((await read('192.0.2.1')).status).toBe(503)
    expect((await read('192.0.2.2')).status).toBe(200)
    await close()
  })

  test('one user gets half of the open requests, whatever their addresses, and others can use the service', async () => {
    const head = `POST /boards HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer ${board.owner.api.token}`
    const { held, close } = await beginUntilFull(head, (nth) => `192.0.${nth}.1`)
    await expect.poll(held).toBe(64)
    const readAs = ({ api }: TestBoard['owner']) =>
      api.send('getMe', { headers: { 'x-forwarded-for': '198.51.100.7' } })
    expect((await readAs(board.owner)).status).toBe(503)
    expect((await readAs(board.member)).status).toBe(200)
    await close()
  })
})

describe('[LOAD-11] requests that wait for a connection to the database', () => {
  test.each(['getMe', 'listBoards', 'getCard'] as const)('are served fairly by user: %s', async (operation) => {
    const busy = await startService({ FAIR_SHARES: 'on', DATABASE_POOL_SIZE: '2' })
    const { id, columns, owner, member } = await busy.board()
    const params = { board_id: id, column_id: columns[0].id }
    const card = await owner.api.call('createCard', { params, body: { title: 'One' } })
    const table = { getMe: 'users', listBoards: 'boards', getCard: 'checklists' }[operation]
    const done: string[] = []
    const read = async (name: string, { api }: TestBoard['owner']) => {
      const { status } = await api.send(operation, { params: { card_id: card.id } } as never)
      done.push(`${name} ${status}`)
    }
    const lock = await busy.sql.connect()
    await lock.query(`begin; lock table ${table} in access exclusive mode`)
    const reads = Array.from({ length: 14 }, () => read('greedy', owner))
    await new Promise((resolve) => setTimeout(resolve, 200))
    reads.push(read('other', member))
    await new Promise((resolve) => setTimeout(resolve, 200))
    await lock.query('commit')
    lock.release()
    await Promise.all(reads)
    expect(new Set(done)).toEqual(new Set(['greedy 200', 'other 200']))
    expect(done.indexOf('other 200')).toBeLessThan(5)
    await busy.stop()
  })
})

test('[LOAD-14] uploads of one user are limited to a rate, also those that are only hashed or discarded', async () => {
  const { id: card_id } = await newCard()
  const headers = { 'idempotency-key': 'upload' }
  const upload = async (character: string, bytes: number) => {
    const file = new File([character.repeat(bytes)], 'a.txt')
    return (await board.owner.api.send('createAttachment', { params: { card_id }, body: { file }, headers })).status
  }
  const began = performance.now()
  expect(await upload('a', 10_000_000)).toBe(201)
  expect(await upload('b', 10_000_000)).toBe(422)
  // More than MAX_ATTACHMENT_BYTES.
  expect(await upload('c', 11_000_000)).toBe(400)
  // 31 MB at 8 MiB per second, of which 4 MiB are not delayed.
  expect(performance.now() - began).toBeGreaterThan(3_000)
})

describe('[LOAD-14] large changes', () => {
  const MEBIBYTE = 1_048_576
  /** A board with a column of this many MB. */
  const largeBoard = async (megabytes: number) => {
    const made = await service.board()
    await fill(made, made.columns[0].id, megabytes * 16, 'x')
    return made
  }
  const rename = async (of: TestBoard, title: string, headers = {}) => {
    const began = performance.now()
    const params = { column_id: of.columns[0].id }
    const response = await of.owner.api.send('updateColumn', { params, body: { title }, headers })
    return { status: response.status, ms: performance.now() - began, wait: Number(response.headers.get('retry-after')) }
  }

  test('the next change of the same user waits, one that would wait long is rejected, and others do not wait', async () => {
    const [first, second] = [await largeBoard(1), await largeBoard(1)]
    const began = performance.now()
    expect((await rename(first, 'First')).status).toBe(200)
    const renames = Promise.all([1, 2, 3].map((n) => rename(first, `Again ${n}`)))
    const own = renames.then(() => 'their own')
    expect(await Promise.race([own, rename(second, 'Of another user').then(() => 'of another user')])).toBe(
      'of another user',
    )
    expect((await renames).map(({ status }) => status)).toEqual([200, 200, 200])
    // Each costs 2 MiB at 512 KiB per second. Three start at once, and the fourth waits for four seconds.
    expect(performance.now() - began).toBeGreaterThan(3_900)
    // More than can be done in the time that a change may wait.
    const many = await Promise.all(Array.from({ length: 9 }, (_, n) => rename(first, `More ${n}`)))
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200, 503]))
  })

  test('a change that is rejected after its work counts as well', async () => {
    const large = await largeBoard(5)
    const began = performance.now()
    expect((await rename(large, 'No', { 'if-match': '"other"' })).status).toBe(412)
    expect((await rename(large, 'Yes')).status).toBe(200)
    // 5 MiB at 512 KiB per second, without the first eight seconds.
    expect(performance.now() - began).toBeGreaterThan(1_900)
    // Twice that, for the event and the response.
    const rejected = await rename(large, 'Again')
    expect(rejected.status).toBe(503)
    expect(rejected.wait).toBeGreaterThan(1)
  })

  test('a retry counts like the change whose response it returns', async () => {
    const large = await largeBoard(2)
    const headers = { 'idempotency-key': 'rename' }
    const began = performance.now()
    // The first costs twice its size, for the event and the response, and each retry its response.
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await rename(large, 'Renamed', headers)).status)
    expect(statuses).toEqual([200, 200, 200, 200])
    // The fourth waits until 8 MiB fit 512 KiB per second, without the first eight seconds.
    expect(performance.now() - began).toBeGreaterThan(7_000)
  })

  test('many changes of 64 KiB count too', async () => {
    const pacer = new ChangePacer()
    const change = async (cost: { bytes: number }) => {
      cost.bytes += 65_537
    }
    const run = () => pacer.run('user', { boardBytes: 0, slot: undefined }, change)
    // 7.5 MiB: they begin together, before the first has a cost.
    await Promise.all(Array.from({ length: 120 }, run))
    await expect(run()).rejects.toMatchObject({ code: 'overloaded' })
  })

  test('of a user with a large board, one change runs at a time, also on other boards', async () => {
    const pacer = new ChangePacer()
    let running = 0
    let most = 0
    const change = async (cost: { boardBytes: number }) => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
      cost.boardBytes = 2 * MEBIBYTE
    }
    const changeOf = (user: string, boardBytes: number) => pacer.run(user, { boardBytes, slot: undefined }, change)
    await Promise.all([1, 2, 3].map(() => changeOf('large from the start', 2 * MEBIBYTE)))
    expect(most).toBe(1)
    await Promise.all([1, 2, 3].map(() => changeOf('not known yet', 0)))
    expect(most).toBe(3)
    most = 0
    await Promise.all([1, 2, 3].map(() => changeOf('not known yet', 0)))
    expect(most).toBe(1)
  })
})

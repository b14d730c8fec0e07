import { randomUUID } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { readFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { connect, type Socket } from 'node:net'
import { memberOperations } from '@lockstep/contract/boards'
import type { Card } from '@lockstep/contract/cards'
import { problems } from '@lockstep/contract/problems'
import type { ApiResponse, Client, Failure, Sending } from '@lockstep/testing/client'
import { eventually } from '@lockstep/testing/processes'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { TestClock } from '@lockstep/testing/test-clock'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { problemOf } from './error-handler.ts'
import { bodyLimitOf } from './request-body.ts'

const CANARY = 'canary-4711'
const MAX_BODY_BYTES = 1_048_576
const jsonOf = (content: string): Sending => ({ raw: { type: 'application/json', content } })
const codeOf = ({ body }: ApiResponse) => (body as Failure).code
const fieldsOf = ({ body }: ApiResponse) => (body as Failure).errors?.map(({ field }) => field)

const clock = new TestClock().run()
let service: TestService
let board: TestBoard
let nonMember: TestUser
let sacked: TestUser
beforeAll(async () => {
  service = await startService({}, { clock })
  ;[board, nonMember, sacked] = await Promise.all([service.board(), service.user(), service.user()])
  await service.sql.query('update users set is_active = false where id = $1', [sacked.id])
})
afterAll(() => service.stop())

describe('the order of checks', () => {
  /** Fixes one error of the request after the other, in the order of the checks. */
  async function repair(steps: [code: string, change: Partial<Invitation>][], request: Invitation) {
    for (const [code, change] of steps) {
      Object.assign(request, change)
      const { api, board_id, key, content } = request
      const sending = { ...jsonOf(content), headers: { 'idempotency-key': key } }
      const response = await api.request('POST', `/boards/${board_id}/invite`, sending)
      const { code: found = 'success', errors } = (response.body ?? {}) as Partial<Failure>
      expect(errors ? `${found} ${errors[0]?.field}` : found).toBe(code)
    }
  }
  interface Invitation {
    api: Client
    board_id: string
    key: string
    content: string
  }

  test('[REQ-1] credential, path, resource, membership, role, payload, references, effect', async () => {
    const newcomer = await service.user()
    const wrong = { api: service.anybody, board_id: 'zz', key: 'a key', content: '{' }
    await repair(
      [
        ['not_authenticated', {}],
        ['not_authenticated', { api: sacked.api }],
        ['invalid_input board_id', { api: nonMember.api }],
        ['board_not_found', { board_id: randomUUID() }],
        ['not_a_member', { board_id: board.id }],
        ['role_too_low', { api: board.member.api }],
        ['invalid_input Idempotency-Key', { api: board.owner.api }],
        ['invalid_input body', { key: 'key' }],
        ['invalid_input user_id', { content: '{}' }],
        ['user_not_found', { content: JSON.stringify({ user_id: randomUUID() }) }],
        ['already_a_member', { content: JSON.stringify({ user_id: board.member.id }) }],
        ['success', { content: JSON.stringify({ user_id: newcomer.id }) }],
      ],
      wrong,
    )
  })

  test('[REQ-1] [REQ-15] a body that is too large is rejected where the payload is checked', async () => {
    const limit = bodyLimitOf(memberOperations.inviteMember)
    const content = `{"user_id":"${randomUUID()}"}`.padEnd(limit + 1)
    const wrong = { api: service.anybody, board_id: 'zz', key: 'large', content }
    await repair(
      [
        ['not_authenticated', {}],
        ['invalid_input board_id', { api: nonMember.api }],
        ['board_not_found', { board_id: randomUUID() }],
        ['not_a_member', { board_id: board.id }],
        ['role_too_low', { api: board.member.api }],
        ['body_too_large', { api: board.owner.api }],
        ['user_not_found', { content: content.slice(0, limit) }],
      ],
      wrong,
    )
  })

  test('[REQ-15] operations without texts, and public operations, accept 16 KiB', async () => {
    const card = await board.owner.api.call('createCard', {
      params: { board_id: board.id, column_id: board.columns[0].id },
      body: { title: 'One' },
    })
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
    const params = { board_id: board.id, column_id: board.columns[0].id }
    const card = await board.owner.api.call('createCard', { params, body: { title: 'One', description } })
    expect(card.description).toBe(description)
  })

  test('[REQ-15] a body without a Content-Length is measured too', async () => {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
    const sent = httpRequest(`${service.baseUrl}/auth/register`, { method: 'POST' }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    sent.on('error', reject)
    for (let bytes = 0; bytes <= MAX_BODY_BYTES; bytes += 65_536) sent.write('x'.repeat(65_536))
    sent.end()
    expect(await promise).toBe(413)
  })
})

describe('errors', () => {
  const send = (method: string, path: string, sending?: Sending) => board.owner.api.request(method, path, sending)

  test('[REQ-2] each has a sentence and a code, and repeats nothing of the request', async () => {
    const headers = { 'x-word': CANARY, referer: `http://${CANARY}/` }
    const responses = [
      await send('GET', `/${CANARY}?token=${CANARY}`, { headers }),
      await send('GET', `/%zz${CANARY}`, { headers }),
      await send('PUT', `/boards?${CANARY}`, { headers }),
      await send('GET', `/boards/${CANARY}`, { headers }),
      await send('GET', `/users?limit=${CANARY}`, { headers }),
      await send('POST', '/boards', { ...jsonOf(`{"title":["${CANARY}"]}`), headers }),
      await send('POST', '/boards', { raw: { type: CANARY, content: CANARY }, headers }),
      await service.anybody.request('GET', '/boards', { headers: { authorization: `Bearer ${CANARY}` } }),
    ]
    expect(responses.map(codeOf)).toEqual([
      ...['not_found', 'not_found', 'method_not_allowed', 'invalid_input', 'invalid_input', 'invalid_input'],
      ...['invalid_input', 'not_authenticated'],
    ])
    for (const { body, status, text, headers: answered } of responses) {
      const { detail, code, errors, ...more } = body as Failure
      expect(detail).toMatch(/^\S.+\.$/)
      expect(problems[code].status).toBe(status)
      expect(more).toEqual({})
      if (code === 'invalid_input') expect(errors).not.toEqual([])
      expect(text + JSON.stringify([...answered])).not.toContain(CANARY)
    }
  })

  test('[REQ-3] every invalid field is listed once, by its name', async () => {
    const json = { title: 5, color: ['red'], position: '0', is_done_column: 'yes', after_id: 'zz', id: 1 }
    const response = await send('POST', `/boards/${board.id}/columns`, { json })
    expect(response.status).toBe(422)
    expect(fieldsOf(response)?.sort()).toEqual(Object.keys(json).sort())
    expect((response.body as Failure).detail).toContain((response.body as Failure).errors?.[0]?.field)
  })

  test.each<[string, Sending]>([
    ['a body that is no JSON', jsonOf('{"title":')],
    ['a body that is no object', jsonOf('["title"]')],
    ['an empty body', { headers: { 'content-type': 'application/json' } }],
    ['no body', {}],
    ['no content type', { raw: { content: Buffer.from('{"title":"x"}') } }],
    ['another content type', { raw: { type: 'text/plain', content: '{"title":"x"}' } }],
    ['a content type with a rest', { raw: { type: 'application/json x', content: '{"title":"x"}' } }],
    ['another charset', { raw: { type: 'application/json; charset=utf-16', content: '{"title":"x"}' } }],
    ['a compressed body', { ...jsonOf('{"title":"x"}'), headers: { 'content-encoding': 'gzip' } }],
    [
      'bytes that are not UTF-8',
      { raw: { type: 'application/json', content: Buffer.from('{"title":"\xff"}', 'latin1') } },
    ],
  ])('[REQ-3] %s is 422', async (_, sending) => {
    const response = await send('POST', '/boards', sending)
    expect([response.status, codeOf(response), fieldsOf(response)]).toEqual([422, 'invalid_input', ['body']])
  })

  test.each<[string, Sending]>([
    ['no body', {}],
    ['an empty body with a type', { headers: { 'content-type': 'application/json' } }],
    ['an empty body of another type', { headers: { 'content-type': 'text/plain' } }],
    ['a body without content', { raw: { type: 'application/json', content: '' } }],
    ['an empty object', jsonOf('{}')],
  ])('[REQ-28] %s counts as {} where no field is required', async (_, sending) => {
    const { api } = board.owner
    const [{ id: column_id }] = board.columns
    const params = { board_id: board.id, column_id }
    const newCard = () => api.call('createCard', { params, body: { title: 'x' } })
    const [card, last] = [await newCard(), await newCard()]
    const moved = await send('POST', `/cards/${card.id}/move`, sending)
    expect(moved.status).toBe(200)
    expect((moved.body as Card).rank).toBeGreaterThan(last.rank)
    await api.call('deleteCard', { params: { card_id: card.id } })
    expect((await send('POST', `/boards/${board.id}/removed/${card.id}/restore`, sending)).status).toBe(200)
    expect((await send('PATCH', `/cards/${card.id}`, sending)).status).toBe(200)
    // position or after_id is required.
    const column = await send('POST', `/columns/${column_id}/move`, sending)
    expect([column.status, codeOf(column)]).toEqual([422, 'invalid_input'])
  })

  test.each<[string, string]>([
    ['title', '5'],
    ['title', 'true'],
    ['title', '["one"]'],
    ['title', '{"toString":"one"}'],
    ['color', '0'],
    ['position', '"0"'],
    ['position', 'true'],
    ['position', '[0]'],
    ['position', '1e30'],
    ['position', '0.5'],
    ['position', '9007199254740992'],
    ['is_done_column', '"true"'],
    ['is_done_column', '1'],
    ['id', '5'],
  ])('[REQ-4] %s is not read from %s', async (field, value) => {
    const others = field === 'title' ? '' : '"title":"One",'
    const response = await send('POST', `/boards/${board.id}/columns`, jsonOf(`{${others}"${field}":${value}}`))
    expect([response.status, fieldsOf(response)]).toEqual([422, [field]])
  })

  test.each(['5.0', '1e1', '+5', ' 5', '0x5', 'five', '5&limit=6'])(
    '[REQ-4] limit is not read from %s',
    async (value) => {
      const response = await send('GET', `/users?limit=${value.replace(/[+ ]/, encodeURIComponent)}`)
      expect([response.status, fieldsOf(response)]).toEqual([422, ['limit']])
    },
  )
})

describe('paths and ids', () => {
  const newCard = (path: string, json: object = {}) =>
    board.owner.api.request('POST', path, { json: { title: 'One', ...json } })
  const cards = (column_id: string) => `/boards/${board.id}/columns/${column_id}/cards`

  test('[REQ-11] upper case is accepted in the path and in the body, and returned in lower case', async () => {
    const [todo, done] = board.columns
    const id = randomUUID()
    const created = await newCard(cards(todo.id.toUpperCase()), { id: id.toUpperCase() })
    expect(created.body).toMatchObject({ id, column_id: todo.id })
    const json = { column_id: done.id.toUpperCase() }
    const moved = await board.owner.api.request('POST', `/cards/${id.toUpperCase()}/move`, { json })
    expect(moved.body).toMatchObject({ id, column_id: done.id })
    expect((await newCard(cards(done.id), { id })).status).toBe(409)
  })

  test.each<[string, (id: string) => string]>([
    ['in braces', (id) => `{${id}}`],
    ['without hyphens', (id) => id.replaceAll('-', '')],
    ['without one hyphen', (id) => id.replace('-', '')],
    ['as a URN', (id) => `urn:uuid:${id}`],
    ['with a space', (id) => ` ${id}`],
    ['with a line feed', (id) => `${id}\n`],
    ['with a NUL', (id) => `${id}\0`],
    ['too short', (id) => id.slice(1)],
    ['far too long', (id) => id.repeat(10)],
  ])('[REQ-11] an id %s is 422, in the path after 401, and in the body', async (_, change) => {
    const form = change(board.id)
    const path = `/boards/${encodeURIComponent(form)}`
    expect((await service.anybody.request('GET', path)).status).toBe(401)
    expect((await board.owner.api.request('GET', path)).status).toBe(422)
    expect((await newCard(cards(board.columns[0].id), { id: form })).status).toBe(422)
  })

  test('[REQ-12] every path is available under /api too, with and without a trailing slash', async () => {
    const path = cards(board.columns[0].id)
    const responses = [await newCard(`/api${path}`), await newCard(`${path}/`), await newCard(`/api${path}/`)]
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201])
    const documents = ['/api/openapi.json', '/api/redoc', '/api/health/?x=1', '/api/boards?x=1']
    for (const document of documents) expect((await board.owner.api.request('GET', document)).status).toBe(200)
    const others = ['/apiboards', '/api/api/boards', '/v1/boards', '//boards']
    for (const other of others) expect((await board.owner.api.request('GET', other)).status).toBe(404)
  })

  test('[REQ-13] another method is 405 with the allowed methods, also under /api and for documents', async () => {
    const at = async (method: string, path: string) => {
      const { status, headers } = await board.owner.api.request(method, path)
      return [status, headers.get('allow')?.split(', ').sort().join(' ')]
    }
    expect(await at('PUT', '/boards')).toEqual([405, 'GET HEAD POST'])
    expect(await at('PUT', `/api/boards/${board.id}/`)).toEqual([405, 'DELETE GET HEAD PATCH'])
    expect(await at('GET', '/auth/login')).toEqual([405, 'POST'])
    expect(await at('DELETE', '/nowhere')).toEqual([404, undefined])
    expect(await at('POST', '/openapi.json')).toEqual([405, 'GET HEAD'])
  })

  test('[REQ-13] a method override is ignored', async () => {
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' }
    const response = await board.owner.api.request('GET', `/boards/${board.id}?_method=DELETE`, { headers })
    expect(response.body).toMatchObject({ id: board.id })
    expect((await board.owner.api.request('PUT', `/boards/${board.id}`, { headers })).status).toBe(405)
  })

  test('[REQ-2] [REQ-13] OPTIONS without a preflight is handled like any other method', async () => {
    const response = await board.owner.api.request('OPTIONS', '/boards')
    expect([200, 204, 405]).toContain(response.status)
  })
})

describe('invalid and unusual HTTP', () => {
  /** Writes bytes to a connection, and reads until the service closes it. */
  function write(bytes: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const { hostname, port } = new URL(service.baseUrl)
    let response = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (chunk) => {
      response += String(chunk)
    })
    socket.on('close', () => resolve(response))
    // A service that stops reading may reset the connection; its response came before.
    socket.on('error', (error) => response === '' && reject(error))
    return promise
  }
  const close = 'Host: x\r\nConnection: close\r\n'

  const isBodyAwaited = () => clock.waits.some((ms) => ms > 10_000)

  test('[REQ-20] a body that does not arrive in time is 408, and its connection is closed', async () => {
    const { port, hostname } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /boards HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${board.owner.api.token}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{`,
    )
    await eventually('the body is awaited', isBodyAwaited)
    clock.advance(30_000)
    let text = ''
    for await (const piece of socket) text += piece
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(text).toContain('request_timeout')
    // Once the body has arrived, the handler may take as long as it needs.
    expect(await board.owner.api.call('listBoards', {})).toHaveLength(1)
  })

  test('[REQ-20] the timeout of a body that was already rejected has no effect', async () => {
    const { port, hostname } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.on('data', (piece) => {
      text += String(piece)
    })
    const head = 'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded'
    socket.write(`${head}\r\nContent-Length: 2000000\r\n\r\n`)
    await expect.poll(() => text).toMatch(/^HTTP\/1\.1 413 /)
    clock.advance(30_000)
    expect((await fetch(`${service.baseUrl}/health`)).status).toBe(200)
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
    socket.destroy()
  })

  test('[REQ-21] a client that does not read is disconnected after a while', async () => {
    const hasty = await startService({}, { beside: service, stalledSeconds: 0.3 })
    const { port, hostname } = new URL(hasty.baseUrl)
    const large = await (await fetch(`${service.baseUrl}/redoc/redoc.standalone.js`)).arrayBuffer()
    const disconnected = Promise.withResolvers<void>()
    const note = (message: unknown) => (message as { socket: Socket }).socket.once('close', disconnected.resolve)
    channel('net.server.socket').subscribe(note)
    const socket = connect(Number(port), hostname).pause()
    socket.on('error', () => {})
    socket.write('GET /redoc/redoc.standalone.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(12))
    await disconnected.promise
    channel('net.server.socket').unsubscribe(note)
    let received = 0
    socket.on('data', (piece) => {
      received += piece.length
    })
    socket.resume()
    await new Promise((resolve) => socket.on('close', resolve))
    expect(received).toBeLessThan(12 * large.byteLength)
    await hasty.stop()
  })

  test.each([
    ['a handshake', 'GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', 404],
    ['what is no HTTP', 'NONSENSE\r\n\r\n', 400],
  ])(
    '[REQ-21] %s that is rejected leaves no connection open, even if the client does not close it',
    async (_, sent, status) => {
      const { port, hostname } = new URL(service.baseUrl)
      const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
      socket.write(sent)
      let text = ''
      socket.on('data', (piece) => {
        text += String(piece)
      })
      await new Promise((resolve) => socket.on('end', resolve))
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      let lost: NodeJS.ErrnoException | undefined
      socket.on('error', (error) => {
        lost = error
      })
      // After two seconds.
      const { code } = await eventually('the connection is gone', () => {
        if (!lost) socket.write('a')
        return lost
      })
      expect(code).toMatch(/EPIPE|ECONNRESET/)
    },
  )

  test('[FUZZ-5] a client that disconnects while sending its body is not an error of the service', async () => {
    const { port, hostname } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    const head = `POST /boards HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${board.owner.api.token}\r\n`
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{`)
    await eventually('the body is awaited', isBodyAwaited)
    socket.destroy()
    await eventually('the request is over', () => !isBodyAwaited())
    const { headers } = await fetch(`${service.baseUrl}/health`)
    const log = () => readFile(service.logFile, 'utf8')
    await expect.poll(log).toContain(headers.get('x-request-id'))
    expect(await log()).not.toContain('cannot reach its database')
    const hungUp = Object.assign(new Error('aborted'), { code: 'ECONNRESET', statusCode: 400 })
    expect(problemOf(hungUp)).toMatchObject({ code: 'request_incomplete', status: 400 })
    // Without the framework's status it is a lost database connection.
    expect(problemOf(Object.assign(new Error('read'), { code: 'ECONNRESET' }))).toMatchObject({ code: 'unavailable' })
  })

  test('[REQ-14] an upgrade to another protocol is declined with an ordinary response', async () => {
    const offer = 'Host: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n'
    expect(await write(`GET /health HTTP/1.1\r\n${offer}\r\n`)).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  test.each(['/nowhere', '/boards', '/%c0%ae', '/health'])(
    '[REQ-14] with a body that is not read, at %s, the connection is closed and the response says so',
    async (path) => {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Type: application/json`
      const response = await write(`${head}\r\nContent-Length: 300000\r\n\r\n${' '.repeat(300_000)}`)
      expect(response).toMatch(/^HTTP\/1\.1 40[145] /)
      expect(response).toMatch(/\r\nconnection: close\r\n/i)
    },
  )

  test.each<[string, string, keyof typeof problems]>([
    ['garbage', `${CANARY}\r\n\r\n`, 'malformed_request'],
    ['a TLS greeting', `\x16\x03\x01\x02\x00\x01\x00${CANARY}\r\n\r\n`, 'malformed_request'],
    ['an unknown method', `${CANARY} / HTTP/1.1\r\n${close}\r\n`, 'malformed_request'],
    ['another protocol version', `GET / HTTP/9.9\r\n${close}\r\n`, 'malformed_request'],
    ['a request without Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', 'malformed_request'],
    ['a header that is none', `GET /health HTTP/1.1\r\n${close}${CANARY}\r\n\r\n`, 'malformed_request'],
    ['a NUL in a header', `GET /health HTTP/1.1\r\n${close}X: \0${CANARY}\r\n\r\n`, 'malformed_request'],
    [
      'a length that is none',
      `POST /boards HTTP/1.1\r\n${close}Content-Length: ${CANARY}\r\n\r\n`,
      'malformed_request',
    ],
    [
      'two ways to tell the length',
      `POST /auth/login HTTP/1.1\r\n${close}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'malformed_request',
    ],
    [
      'a chunk that is none',
      `POST /auth/login HTTP/1.1\r\n${close}Transfer-Encoding: chunked\r\n\r\n${CANARY}\r\n\r\n`,
      'malformed_request',
    ],
    ['an unknown expectation', `GET /health HTTP/1.1\r\n${close}Expect: ${CANARY}\r\n\r\n`, 'expectation_failed'],
    [
      '64 KiB of headers',
      `GET /health HTTP/1.1\r\n${close}X: ${CANARY.padEnd(65_536, 'x')}\r\n\r\n`,
      'headers_too_large',
    ],
    ['an address of 64 KiB', `GET /${CANARY.padEnd(65_536, 'x')} HTTP/1.1\r\n${close}\r\n`, 'headers_too_large'],
  ])('[REQ-14] [REQ-2] %s is rejected with JSON, and the service continues', async (_, bytes, code) => {
    const [head = '', ...rest] = (await write(bytes)).split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${problems[code].status} `))
    expect(head).toMatch(/^content-type: application\/json/im)
    // Chunked responses have lengths around the JSON.
    const body: unknown = JSON.parse(/\{.*\}/s.exec(rest.join('\r\n\r\n'))?.[0] ?? 'null')
    expect(body).toEqual({ detail: problems[code].detail, code })
    expect(head).not.toContain(CANARY)
    expect((await service.anybody.request('GET', '/health')).status).toBe(200)
  })
})

describe('the log', () => {
  const log = () => readFile(service.logFile, 'utf8')
  const linesAbout = async (request_id: string | null) =>
    (await log())
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line['request_id'] === request_id)

  test.each<[string, string, string, number, string | null]>([
    ['a success', 'GET', '/users', 200, '/users'],
    ['a path with ids', 'GET', `/api/boards/${randomUUID()}/`, 404, '/boards/:board_id'],
    ['a bad path', 'GET', '/boards/zz', 422, '/boards/:board_id'],
    ['a bad payload', 'POST', '/boards', 422, '/boards'],
    ['an unknown address', 'GET', '/nowhere', 404, null],
    ['another method', 'PUT', '/boards', 405, null],
    ['an address that cannot be decoded', 'GET', '/%ff', 404, null],
  ])('[REQ-16] [V28] %s has an id and one log line, without its URL', async (_, method, path, status, route) => {
    const word = `word-${randomUUID()}`
    const response = await board.owner.api.request(method, `${path}?token=${word}`)
    expect(response.status).toBe(status)
    const request_id = response.headers.get('x-request-id')
    expect(request_id).toMatch(/^[0-9a-f-]{36}$/)
    const line = { method, route, status, duration_ms: expect.any(Number) }
    await vi.waitFor(async () => expect(await linesAbout(request_id)).toEqual([expect.objectContaining(line)]))
    expect(await log()).not.toContain(word)
  })

  test('[OBS-16] the line of a request names the user and the board where they are known, also of a rejected one', async () => {
    const user_id = board.owner.id
    const other = await service.user()
    const lineOf = async (api: Client, path: string) => {
      const response = await api.request('GET', path)
      const [line] = await vi.waitFor(async () => {
        const lines = await linesAbout(response.headers.get('x-request-id'))
        expect(lines).toHaveLength(1)
        return lines
      })
      return line
    }
    const path = `/boards/${board.id}`
    expect(await lineOf(board.owner.api, path)).toMatchObject({ level: 'info', user_id, board_id: board.id })
    expect(await lineOf(other.api, path)).toMatchObject({ status: 403, user_id: other.id, board_id: board.id })
    expect(await lineOf(board.owner.api, '/users')).toMatchObject({ user_id })
    expect(await lineOf(board.owner.api, '/users')).not.toHaveProperty('board_id')
    for (const name of ['user_id', 'board_id']) expect(await lineOf(service.anybody, path)).not.toHaveProperty(name)
  })

  test.each(['/health', '/api/ready/', '/live'])('[OBS-17] the probe %s is logged at debug', async (path) => {
    const { headers } = await service.anybody.request('GET', path)
    const about = () => linesAbout(headers.get('x-request-id'))
    await vi.waitFor(async () =>
      expect(await about()).toEqual([expect.objectContaining({ level: 'debug', status: 200 })]),
    )
  })

  test('[REQ-16] request ids are generated by the service and unique, whatever the client sends', async () => {
    const headers = { 'x-request-id': CANARY, 'request-id': CANARY }
    const ask = () => service.anybody.request('GET', '/health', { headers })
    const ids = (await Promise.all([ask(), ask(), ask()])).map((response) => response.headers.get('x-request-id'))
    expect(new Set(ids).size).toBe(3)
    expect(ids).not.toContain(CANARY)
  })

  test.each<[string, string, RequestOptions, number[]]>([
    ['a rejected expectation', '/health', { headers: { expect: 'nonsense' } }, [417]],
    ['a request without Host', '/health', { setHost: false }, [400]],
    ['an endless id', `/boards/${'x'.repeat(500)}`, {}, [401, 414, 422]],
  ])('[REQ-16] also %s has an id and a log line', async (_, path, options, statuses) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const sent = httpRequest(service.baseUrl + path, options, (response) => resolve(response.resume()))
    sent.on('error', reject)
    sent.end()
    const { statusCode: status, headers } = await promise
    expect(statuses).toContain(status)
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    const about = () => linesAbout(headers['x-request-id'] as string)
    await vi.waitFor(async () => expect(await about()).toEqual([expect.objectContaining({ status })]))
  })
})

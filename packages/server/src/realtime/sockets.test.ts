import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type EventKind, events } from '@lockstep/contract'
import { asyncApi } from '@lockstep/contract/asyncapi'
import type { FullBoard } from '@lockstep/contract/boards'
import { isAddedKind } from '@lockstep/contract/realtime'
import { checkClosed } from '@lockstep/testing/closed-schema'
import { eventually } from '@lockstep/testing/processes'
import { MARK, startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { type Message, openSocket, type TestSocket } from '@lockstep/testing/socket'
import { TestClock } from '@lockstep/testing/test-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Tokens } from '../security/tokens.ts'
import { HeartbeatWheel } from './heartbeat.ts'

const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

const SECRET = `${MARK}-secret-of-the-socket-tests-0123456789`
const tokens = (lifetimeSeconds: number) => new Tokens({ secret: SECRET, algorithm: 'HS256', lifetimeSeconds })
const nowSeconds = () => Math.floor(Date.now() / 1_000)
const UNKNOWN = '0198a000-0000-7000-8000-000000000000'

const clock = new TestClock().run()
let service: TestService
beforeAll(async () => {
  service = await startService({ JWT_SECRET: SECRET }, { clock })
})
afterAll(() => service.stop())

const addColumn = ({ id, owner }: TestBoard, title = 'More') =>
  owner.api.call('createColumn', { params: { board_id: id }, body: { title } })

describe('opening', () => {
  test.each(['', '/api'])('[SOCK-1] a member opens a socket under "%s/ws/boards/{board_id}"', async (prefix) => {
    const board = await service.board()
    using socket = openSocket(board.member.api, board.id, { prefix })
    await socket.next('user_joined')
    await addColumn(board)
    await socket.next('column.created')
  })

  test('[SOCK-8] a client that is being authorized when the service stops is closed with 1012', async () => {
    const stopping = await startService()
    const board = await stopping.board()
    const locked = await stopping.sql.connect()
    await locked.query('begin; lock table boards, board_members in access exclusive mode')
    using socket = openSocket(board.member.api, board.id)
    await eventually('it waits for the lock', async () => {
      const { rowCount } = await locked.query('select from pg_locks where not granted and relation is not null')
      return rowCount !== 0
    })
    const stopped = stopping.stop()
    await eventually('it stops', async () => !(await fetch(`${stopping.baseUrl}/health`).catch(() => undefined))?.ok)
    await locked.query('commit')
    locked.release()
    expect((await socket.closed).code).toBe(1012)
    await stopped
  })

  test('[SOCK-1] board ids are case-insensitive', async () => {
    const board = await service.board()
    using socket = openSocket(board.member.api, board.id.toUpperCase())
    await socket.next('user_joined')
    await addColumn(board)
    await socket.next('column.created')
  })

  test('[SOCK-1] rejected clients complete the handshake, are closed with 1008, and receive no message', async () => {
    const board = await service.board()
    const outsider = await service.user()
    const { member } = board
    const expired = await tokens(60).issue(member.id, nowSeconds() - 120)
    const forged = await new Tokens({
      secret: `${MARK}-another-secret-0123456789-0123456789`,
      algorithm: 'HS256',
      lifetimeSeconds: 60,
    }).issue(member.id, nowSeconds())
    const rejected = {
      'an expired token': openSocket(member.api, board.id, { token: expired }),
      'a token with a foreign signature': openSocket(member.api, board.id, { token: forged }),
      'a malformed token': openSocket(member.api, board.id, { token: 'none' }),
      'an empty token': openSocket(member.api, board.id, { token: '' }),
      'no token': openSocket(service.anybody, board.id),
      'a user who is not a member': openSocket(outsider.api, board.id),
      'a board that does not exist': openSocket(member.api, UNKNOWN),
      'a malformed id': openSocket(member.api, 'not-an-id'),
      'an id with a null byte': openSocket(member.api, `${board.id.slice(0, -3)}%00`),
      'a page of a foreign origin': openSocket(member.api, board.id, { headers: { origin: 'https://evil.example' } }),
    }
    for (const [who, socket] of Object.entries(rejected)) {
      await socket.opened
      expect([who, (await socket.closed).code, socket.messages]).toEqual([who, 1008, []])
    }
  })

  test('[SOCK-1] neither the Authorization header nor the cookie opens a socket', async () => {
    const { id, member } = await service.board()
    const token = member.api.token as string
    const byHeader = openSocket(service.anybody, id, { headers: { authorization: `Bearer ${token}` } })
    const byCookie = openSocket(service.anybody, id, { headers: { cookie: `svc_auth=${token}` } })
    expect([(await byHeader.closed).code, (await byCookie.closed).code]).toEqual([1008, 1008])
    using own = openSocket(member.api, id, { headers: { origin: service.baseUrl } })
    await own.next('user_joined')
  })

  test('[SOCK-1] only pages of allowed origins may open a socket', async () => {
    const open = await startService({ CORS_ORIGINS: 'https://app.example' })
    const { id, member } = await open.board()
    using listed = openSocket(member.api, id, { headers: { origin: 'https://app.example' } })
    await listed.next('user_joined')
    for (const origin of ['https://app.example.evil.example', 'http://app.example', 'null']) {
      expect([origin, (await openSocket(member.api, id, { headers: { origin } }).closed).code]).toEqual([origin, 1008])
    }
    listed.terminate()
    await open.stop()
  })

  test('[SOCK-1] an upgrade of any other path is 404', async () => {
    using socket = openSocket(service.anybody, 'a/b')
    await expect(socket.opened).rejects.toThrow('HTTP 404')
  })

  test('[SOCK-6] a ticket opens sockets for 30 seconds, and nothing else', async () => {
    const { id, member } = await service.board()
    const { ticket, expires_in } = await member.api.call('createTicket', {})
    expect(expires_in).toBe(30)
    using first = openSocket(member.api, id, { token: ticket })
    using second = openSocket(member.api, id, { token: ticket })
    await Promise.all([first.next('user_joined'), second.next('user_joined')])
    const response = await service.anybody.request('GET', '/auth/me', {
      headers: { authorization: `Bearer ${ticket}` },
    })
    expect(response.status).toBe(401)

    const credential = await tokens(60).verify(member.api.token as string)
    if (!credential) throw new Error('The token of the test is invalid')
    const young = await tokens(60).issueTicket(credential, nowSeconds() - 25)
    const old = await tokens(60).issueTicket(credential, nowSeconds() - 31)
    using inTime = openSocket(member.api, id, { token: young })
    await inTime.next('user_joined')
    expect((await openSocket(member.api, id, { token: old }).closed).code).toBe(1008)
  })

  test('[SOCK-6] a socket opened with a ticket is closed when the token behind it expires', async () => {
    const { id, member } = await service.board()
    const short = await tokens(60).issue(member.id, nowSeconds() - 57)
    const { ticket } = (
      await service.anybody.request('POST', '/auth/ticket', { headers: { authorization: `Bearer ${short}` } })
    ).body as { ticket: string }
    using socket = openSocket(member.api, id, { token: ticket })
    await socket.next('user_joined')
    const expires_at = (await tokens(60).verify(short))?.expires_at ?? 0
    expect((await socket.closed).code).toBe(1008)
    expect(nowSeconds()).toBeGreaterThanOrEqual(expires_at)
    expect((await openSocket(member.api, id, { token: ticket }).closed).code).toBe(1008)
  })
})

describe('invalid handshakes', () => {
  const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'

  test.each(['//', '/ws/boards/', '/boards', '/ws/boards/a/b', 'http://['])(
    '[SOCK-1] an upgrade at %j is 404',
    async (path) => {
      const { hostname, port } = new URL(service.baseUrl)
      const socket = connect(Number(port), hostname)
      socket.write(`GET ${path} HTTP/1.1\r\n${upgrade}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`)
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 [\s\S]*"code":"not_found"/)
      expect((await service.anybody.request('GET', '/health')).status).toBe(200)
    },
  )

  test.each([
    ['another method', 'POST', 'Sec-WebSocket-Version: 13\r\n', 405, 'Allow: GET'],
    ['no key', 'GET', 'Sec-WebSocket-Version: 13\r\n', 400, 'malformed_request'],
    ['a malformed key', 'GET', 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n', 400, 'malformed_request'],
    ['another version', 'GET', `${KEY}Sec-WebSocket-Version: 99\r\n`, 400, 'Sec-WebSocket-Version: 13'],
    [
      'an empty protocol',
      'GET',
      `${KEY}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: ,\r\n`,
      400,
      'malformed_request',
    ],
  ])('[FUZZ-6] a handshake with %s is rejected with a JSON problem', async (_, method, headers, status, content) => {
    const { port, hostname } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    socket.write(`${method} /ws/boards/x HTTP/1.1\r\n${upgrade}${headers}\r\n`)
    const response = await text(socket)
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\r\nContent-Type: application/json`))
    expect(response).toContain(content)
    expect(JSON.parse(response.split('\r\n\r\n')[1] ?? '')).toMatchObject({ detail: expect.any(String) })
  })
})

describe('messages', () => {
  const keys = (message: Message) => Object.keys(message).sort()

  test('[SOCK-2] a client without sequence numbers receives every kind of event exactly as specified', async () => {
    const board = await service.board()
    const { id, owner, columns } = board
    const guest = await service.user()
    const params = { board_id: id }
    using socket = openSocket(owner.api, id)
    expect((await socket.next()).message).toEqual({
      type: 'user_joined',
      user_id: owner.id,
      username: owner.username,
    })
    const seen = new Set<string>()
    /** Changes the board, and compares the event with the contract and with the response of GET. */
    const expectEvent = async (kind: EventKind, change: Promise<unknown>, read: (data: never) => Promise<unknown>) => {
      await change
      const { message } = await socket.next((m) => 'version' in m)
      expect(keys(message), kind).toEqual(['data', 'timestamp', 'type', 'user_id', 'version'])
      expect(message).toMatchObject({ type: kind, user_id: owner.id, version: '1.0' })
      expect(message['timestamp']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/)
      checkClosed(events[kind], message['data'], kind)
      expect(message['data'], kind).toEqual(await read(message['data'] as never))
      seen.add(kind)
    }
    const getBoard = () => owner.api.call('getBoard', { params }) as Promise<FullBoard>
    const boardRow = async () => {
      const { columns: _, ...shown } = await getBoard()
      return shown
    }
    const columnRow = async ({ id: column_id }: { id: string }) =>
      (await getBoard()).columns.find((column) => column.id === column_id)
    const cardRow = ({ id: card_id }: { id: string }) => owner.api.call('getCard', { params: { card_id } })
    const memberRow = async () => (await owner.api.call('listMembers', { params })).find((m) => m.user_id === guest.id)
    /** Events of deletions contain the last state. */
    const asBefore =
      <T>(before: T) =>
      async () =>
        before

    async function expectLabelEvents(card_id: string) {
      const labelRow = async ({ id: label_id }: { id: string }) =>
        (await api.call('listLabels', { params })).find((label) => label.id === label_id)
      const made = api.call('createLabel', { params, body: { name: 'Label' } })
      await expectEvent('label.created', made, labelRow)
      const { id: label_id } = await made
      const on = { params: { card_id, label_id } }
      await expectEvent('card.labeled', api.call('addCardLabel', on), cardRow)
      await expectEvent('card.unlabeled', api.call('removeCardLabel', on), cardRow)
      const named = api.call('updateLabel', { params: { label_id }, body: { name: 'Next' } })
      await expectEvent('label.updated', named, labelRow)
      await expectEvent('label.deleted', api.call('deleteLabel', { params: { label_id } }), asBefore(await named))
    }
    async function expectChecklistEvents(card_id: string) {
      const listRow = async ({ id: list_id }: { id: string }) =>
        (await cardRow({ id: card_id })).checklists.find((list) => list.id === list_id)
      const itemRow = async ({ id: item_id }: { id: string }) =>
        (await cardRow({ id: card_id })).checklists.flatMap((list) => list.items).find((item) => item.id === item_id)
      const made = api.call('createChecklist', { params: { card_id }, body: { title: 'List' } })
      await expectEvent('checklist.created', made, listRow)
      const list = { params: { checklist_id: (await made).id } }
      await expectEvent('checklist.updated', api.call('updateChecklist', { ...list, body: { title: 'Next' } }), listRow)
      await expectEvent('checklist.moved', api.call('moveChecklist', { ...list, body: { position: 0 } }), listRow)
      const added = api.call('createItem', { ...list, body: { content: 'Item' } })
      await expectEvent('checklist_item.created', added, itemRow)
      const item = { params: { item_id: (await added).id } }
      await expectEvent('checklist_item.updated', api.call('updateItem', { ...item, body: { is_done: true } }), itemRow)
      await expectEvent('checklist_item.moved', api.call('moveItem', { ...item, body: { position: 0 } }), itemRow)
      const assigned = api.call('assignItem', { ...item, body: { user_ids: [guest.id] } })
      await expectEvent('checklist_item.assigned', assigned, itemRow)
      const off = { params: { ...item.params, user_id: guest.id } }
      await expectEvent('checklist_item.unassigned', api.call('unassignItem', off), itemRow)
      const before = await itemRow(await added)
      await expectEvent('checklist_item.deleted', api.call('deleteItem', item), asBefore(before))
      const empty = await listRow(await made)
      await expectEvent('checklist.deleted', api.call('deleteChecklist', list), asBefore(empty))
    }

    async function expectAttachmentEvents(card_id: string) {
      const fileRow = async ({ id: file_id }: { id: string }) =>
        (await cardRow({ id: card_id })).attachments.find((file) => file.id === file_id)
      const made = api.call('createAttachment', { params: { card_id }, body: { file: new File(['x'], 'x.txt') } })
      await expectEvent('attachment.created', made, fileRow)
      const removed = api.call('deleteAttachment', { params: { attachment_id: (await made).id } })
      await expectEvent('attachment.deleted', removed, asBefore(await made))
    }

    const [{ id: column_id }, { id: otherId }] = columns
    const api = owner.api
    await expectEvent('board.updated', api.call('updateBoard', { params, body: { description: 'ü ‘x’ 🂡' } }), boardRow)
    await expectEvent(
      'board.member_added',
      api.call('inviteMember', { params, body: { user_id: guest.id } }),
      memberRow,
    )
    await expectEvent('column.created', api.call('createColumn', { params, body: { title: 'New' } }), columnRow)
    await expectEvent(
      'column.updated',
      api.call('updateColumn', { params: { column_id }, body: { title: 'C' } }),
      columnRow,
    )
    await expectEvent(
      'column.moved',
      api.call('moveColumn', { params: { column_id }, body: { position: 1 } }),
      columnRow,
    )
    const created = api.call('createCard', { params: { board_id: id, column_id }, body: { title: 'Card' } })
    await expectEvent('card.created', created, cardRow)
    const { id: card_id } = await created
    await expectEvent('card.updated', api.call('updateCard', { params: { card_id }, body: { title: 'D' } }), cardRow)
    const user_ids = [guest.id]
    await expectEvent('card.assigned', api.call('assignCard', { params: { card_id }, body: { user_ids } }), cardRow)
    await expectEvent(
      'card.moved',
      api.call('moveCard', { params: { card_id }, body: { column_id: otherId } }),
      cardRow,
    )
    const unassigned = api.call('unassignCard', { params: { card_id, user_id: guest.id } })
    await expectEvent('card.unassigned', unassigned, cardRow)
    await expectLabelEvents(card_id)
    await expectChecklistEvents(card_id)
    await expectAttachmentEvents(card_id)
    const removed = expect.objectContaining({ as: 'deleted' })
    const card = { ...((await cardRow({ id: card_id })) as object), removed }
    await expectEvent('card.deleted', api.call('deleteCard', { params: { card_id } }), asBefore(card))
    const column = { ...((await columnRow({ id: column_id })) as object), removed }
    await expectEvent('column.deleted', api.call('deleteColumn', { params: { column_id } }), asBefore(column))
    const guestRow = await memberRow()
    const left = api.call('removeMember', { params: { board_id: id, user_id: guest.id } })
    await expectEvent('board.member_removed', left, asBefore(guestRow))
    await expectEvent('board.deleted', api.call('deleteBoard', { params }), asBefore({ id }))
    const specified = Object.keys(events).filter((kind) => !isAddedKind(kind))
    expect([...seen].sort(), 'add new kinds of events to this test').toEqual(specified.sort())
  })

  test('[SOCK-2] [SOCK-3] ping, user_joined and user_left have exactly the specified fields', async () => {
    const { id, owner, member } = await service.board()
    using socket = openSocket(owner.api, id)
    await socket.next('user_joined')
    const guest = openSocket(member.api, id)
    const user = { user_id: member.id, username: member.username }
    expect((await socket.next('user_joined')).message).toEqual({ type: 'user_joined', ...user })
    await guest.next('user_joined')
    await guest.close()
    expect((await socket.next('user_left')).message).toEqual({ type: 'user_left', ...user })
    clock.advance(30_000)
    expect((await socket.next('ping')).message).toEqual({ type: 'ping', board_id: id })
  })
})

describe('heartbeat', () => {
  test('[SOCK-3] a client that answers pings stays connected; one that does not is closed with 4408', async () => {
    const { id, owner, member } = await service.board()
    using answering = openSocket(owner.api, id)
    using silent = openSocket(member.api, id, { pongs: false })
    await Promise.all([answering, silent].map((socket) => socket.next('user_joined')))
    clock.advance(10_000)
    for (let i = 0; i < 3; i++) {
      clock.advance(20_000)
      await answering.next('ping')
      await answering.roundTrip()
      clock.advance(10_000)
    }
    expect((await silent.closed).code).toBe(4408)
    await answering.roundTrip()
  })

  test('[SOCK-3] messages other than pongs do not count as pongs', async () => {
    const { id, owner } = await service.board()
    using socket = openSocket(owner.api, id, { pongs: false })
    await socket.next('user_joined')
    clock.advance(30_000)
    await socket.next('ping')
    for (const message of ['pong', '{"type":"ping"}', '"pong"', 'null', '[]', '{', '{"type":["pong"]}'])
      socket.send(message)
    await socket.roundTrip()
    clock.advance(10_000)
    expect((await socket.closed).code).toBe(4408)
  })

  test('[SOCK-3] each connection is pinged 30 seconds after its own connect, and its pong is due 10 seconds later', () => {
    const connect = (second: number) => ({ board_id: UNKNOWN, expiresAtSeconds: 2_000_000_000, second })
    type Connection = ReturnType<typeof connect>
    const seen: Record<'board' | 'ping' | 'pong', [connectedAt: number, at: number][]> = {
      board: [],
      ping: [],
      pong: [],
    }
    let second = 0
    const record = (what: keyof typeof seen) => (connections: Connection[]) =>
      void seen[what].push(...connections.map((connection): [number, number] => [connection.second, second]))
    const wheel = new HeartbeatWheel<Connection>({
      onBoardDue: record('board'),
      onPingDue: record('ping'),
      onPongDue: record('pong'),
      onTokenExpired: () => {},
    })
    const secondsOf = (what: keyof typeof seen, connectedAt: number) =>
      seen[what].filter(([of]) => of === connectedAt).map(([, at]) => at)
    const late = connect(47)
    for (; second < 140; second++) {
      // The tick comes up to a second after the connect.
      wheel.tick(second)
      if (second === 0 || second === 7) wheel.add(connect(second))
      if (second === late.second) wheel.add(late)
      if (second === 80) wheel.remove(late)
    }
    expect(secondsOf('ping', 0)).toEqual([30, 60, 90, 120])
    expect(secondsOf('ping', 7)).toEqual([37, 67, 97, 127])
    expect(secondsOf('ping', 47)).toEqual([77])
    const pongs = secondsOf('pong', 0)
    expect([40, 70, 100, 130].every((due) => pongs.includes(due))).toBe(true)
    expect(pongs.every((due) => due % 30 === 10)).toBe(true)
    // Presence and access: all connections of a board together.
    expect(secondsOf('board', 0).slice(-3)).toEqual(secondsOf('board', 7).slice(-3))
  })
})

describe('messages from clients', () => {
  /** A frame as sent over the network, with a mask of zeros. */
  function rawFrame(opcode: number, payload: Buffer | string, { isLast = true, isMasked = true } = {}) {
    const body = Buffer.from(payload)
    const size = body.length < 126 ? 0 : body.length < 65_536 ? 2 : 8
    const head = Buffer.alloc(2 + size)
    head[0] = (isLast ? 0x80 : 0) | opcode
    head[1] = (isMasked ? 0x80 : 0) | (size === 0 ? body.length : size === 2 ? 126 : 127)
    if (size === 2) head.writeUInt16BE(body.length, 2)
    if (size === 8) head.writeBigUInt64BE(BigInt(body.length), 2)
    return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), body])
  }
  const [TEXT, BINARY, CONTINUED, PING] = [1, 2, 0, 9]
  const write = (socket: TestSocket, frames: Buffer[]) =>
    (socket.ws as unknown as { _socket: { write: (bytes: Buffer) => void } })._socket.write(Buffer.concat(frames))
  const half = Buffer.alloc(40_000, 'x')
  const tiny = rawFrame(CONTINUED, 'x', { isLast: false })
  const many = (frame: Buffer, length = 1_001) => Array.from({ length }, () => frame)

  test('[SOCK-4] [V31] invalid messages close their own connection with a specific code, and no other', async () => {
    const board = await service.board()
    const { id, owner, member } = board
    using bystander = openSocket(owner.api, id, { seq: true })
    await bystander.next('user_joined')
    const before = (await board.events()).length
    const invalid: [string, number, Buffer[]][] = [
      ['oversized', 1009, [rawFrame(TEXT, Buffer.alloc(65_537, 'x'))]],
      ['oversized and binary', 1009, [rawFrame(BINARY, Buffer.alloc(65_537, 'x'))]],
      ['oversized in fragments', 1009, [rawFrame(TEXT, half, { isLast: false }), rawFrame(CONTINUED, half)]],
      ['many fragments', 1008, [rawFrame(TEXT, 'x', { isLast: false }), ...many(tiny, 1_024)]],
      ['invalid UTF-8', 1007, [rawFrame(TEXT, Buffer.from([0xc3, 0x28]))]],
      ['a flood', 1013, many(rawFrame(TEXT, 'x'))],
      ['a flood of binary messages', 1013, many(rawFrame(BINARY, 'x'))],
      ['a flood of pongs', 1013, many(rawFrame(TEXT, '{"type":"pong"}'))],
      ['a flood of protocol pings', 1013, many(rawFrame(PING, 'x'))],
      ['no mask', 1002, [rawFrame(TEXT, 'x', { isMasked: false })]],
      ['a continuation without a start', 1002, [rawFrame(CONTINUED, 'x')]],
      ['an unknown opcode', 1002, [rawFrame(3, 'x')]],
    ]
    for (const [what, code, frames] of invalid) {
      using socket = openSocket(member.api, id, { pongs: false })
      await socket.next('user_joined')
      write(socket, frames)
      expect([what, (await socket.closed).code]).toEqual([what, code])
      await addColumn(board, what)
    }
    await bystander.upTo(before + invalid.length)
    expect(bystander.seqs).toEqual(invalid.map((_, i) => before + i + 1))
  })

  test('[SOCK-9] messages other than pongs are ignored, text or binary, up to 64 KiB and 1,000 messages in 10 seconds', async () => {
    const board = await service.board()
    using socket = openSocket(board.member.api, board.id)
    await socket.next('user_joined')
    write(socket, [
      rawFrame(BINARY, 'x'),
      rawFrame(BINARY, ''),
      rawFrame(BINARY, Buffer.alloc(65_536)),
      rawFrame(TEXT, Buffer.alloc(65_536, 'x')),
      rawFrame(TEXT, `{"type":"card.created","data":"${'x'.repeat(60_000)}"}`),
      // The pongs of the test client count too.
      ...many(rawFrame(TEXT, '{"type":"subscribe"}'), 985),
    ])
    await addColumn(board)
    await socket.next('column.created')
    expect(socket.closing).toBeUndefined()
    // Counts are reset every ten seconds: of twice the limit, more than 1,000 fall into one period.
    write(socket, many(rawFrame(PING, ''), 2_002))
    expect((await socket.closed).code).toBe(1013)
  })

  test('[SOCK-10] the AsyncAPI document lists every close code', () => {
    const { description } = asyncApi()['info'] as { description: string }
    const listed = [...description.matchAll(/^\| (\d{4}) \|/gm)].map(([, code]) => Number(code))
    expect(listed).toEqual([1000, 1002, 1007, 1008, 1009, 1012, 1013, 4408])
  })

  test('[SOCK-4] a WebSocket ping frame is answered with a pong frame', async () => {
    const { id, member } = await service.board()
    using socket = openSocket(member.api, id)
    await socket.next('user_joined')
    const pong = new Promise<string>((resolve) => socket.ws.once('pong', (data) => resolve(data.toString())))
    socket.ws.ping('still there?')
    expect(await pong).toBe('still there?')
  })

  test('[SOCK-4] messages other than pongs change nothing, also in fragments', async () => {
    const board = await service.board()
    using socket = openSocket(board.member.api, board.id)
    await socket.next('user_joined')
    for (const text of ['', 'x', '{"type":"column.created"}', '{"type":"subscribe"}']) socket.send(text)
    write(socket, [rawFrame(TEXT, '{"type":', { isLast: false }), rawFrame(CONTINUED, '"pong"}')])
    await addColumn(board)
    await socket.next('column.created')
    expect(socket.closing).toBeUndefined()
  })
})

describe('limits', () => {
  test('[SOCK-7] sockets above MAX_SOCKETS are closed with 1013 until another one closes', async () => {
    const small = await startService({ MAX_SOCKETS: '2' })
    const { id, owner } = await small.board()
    using first = openSocket(owner.api, id)
    using second = openSocket(owner.api, id)
    await Promise.all([first.next('user_joined'), second.next('user_joined')])
    const third = openSocket(owner.api, id)
    expect(await third.closed).toMatchObject({ code: 1013 })
    expect(third.messages).toEqual([])
    await second.close()
    await eventually('a socket is accepted again', async () => {
      using socket = openSocket(owner.api, id)
      return await socket.next('user_joined').catch(() => false as const)
    })
    expect(first.closing).toBeUndefined()
    first.terminate()
    await small.stop()
  })

  test('[SOCK-11] sockets above the limits per user, and per user and board, are closed with 1013', async () => {
    const shared = await startService({
      RATE_LIMITS: 'on',
      MAX_SOCKETS_PER_USER: '3',
      MAX_SOCKETS_PER_USER_AND_BOARD: '2',
    })
    const [one, other] = [await shared.board(), await shared.board()]
    const { api, id } = one.owner
    await other.owner.api.call('inviteMember', { params: { board_id: other.id }, body: { user_id: id } })
    const open = async (at: TestBoard, client = api) => {
      const socket = openSocket(client, at.id)
      await Promise.race([socket.closed, socket.next('user_joined').catch(() => {})])
      return socket
    }
    const [first, second] = [await open(one), await open(one)]
    expect((await open(one)).closing).toMatchObject({ code: 1013 })
    const third = await open(other)
    expect(third.closing).toBeUndefined()
    expect((await open(other)).closing).toMatchObject({ code: 1013 })
    const bystander = await open(one, one.member.api)
    expect([first, second, bystander].map(({ closing }) => closing)).toEqual([undefined, undefined, undefined])
    await second.close()
    await eventually('a socket is accepted again', async () => (await open(one)).closing === undefined)
    await shared.stop()
  })

  test('[SOCK-12] sockets above the limit per address, for all users together, are closed with 1013', async () => {
    const shared = await startService({ RATE_LIMITS: 'on', MAX_SOCKETS_PER_ADDRESS: '2', TRUST_PROXY: '1' })
    const { id, owner, member } = await shared.board()
    const open = async ({ api } = owner, address = '192.0.2.1') => {
      const socket = openSocket(api, id, { headers: { 'x-forwarded-for': address } })
      await Promise.race([socket.closed, socket.next('user_joined').catch(() => {})])
      return socket.closing?.code
    }
    expect([await open(), await open(member), await open(), await open(member)]).toEqual([
      undefined,
      undefined,
      1013,
      1013,
    ])
    expect(await open(owner, '192.0.2.2')).toBeUndefined()
    await shared.stop()
  })

  test('[SOCK-11] [SOCK-12] limits per user and per address are off in development', async () => {
    const one = { MAX_SOCKETS_PER_USER: '1', MAX_SOCKETS_PER_USER_AND_BOARD: '1', MAX_SOCKETS_PER_ADDRESS: '1' }
    const free = await startService(one)
    const { id, owner } = await free.board()
    using first = openSocket(owner.api, id)
    using second = openSocket(owner.api, id)
    await Promise.all([first.next('user_joined'), second.next('user_joined')])
    for (const socket of [first, second]) socket.terminate()
    await free.stop()
  })

  test.each([
    ['0', 'the address of the connection counts, not the header'],
    ['1', 'the address from the proxy counts'],
  ])(
    '[SOCK-7] [LIMIT-6] [V37] more new sockets from one address than MAX_UPGRADES_PER_MINUTE are closed with 1013; with TRUST_PROXY=%s %s',
    async (hops) => {
      // A unique secret separates the counts from other services on this Redis.
      const JWT_SECRET = `${MARK}-${crypto.randomUUID()}`
      const settings = { RATE_LIMITS: 'on', MAX_UPGRADES_PER_MINUTE: '4', TRUST_PROXY: hops, JWT_SECRET }
      const limited = await startService(settings)
      const { id, owner } = await limited.board()
      const rush = async (address: (i: number) => string) => {
        const sockets = Array.from({ length: 16 }, (_, i) =>
          openSocket(owner.api, id, { headers: { 'x-forwarded-for': address(i) } }),
        )
        await Promise.all(sockets.map((s) => Promise.race([s.closed, s.next('user_joined').catch(() => {})])))
        for (const socket of sockets) socket.terminate()
        return sockets.filter((s) => s.closing?.code === 1013).length
      }
      expect(await rush(() => '192.0.2.1')).toBe(12)
      expect(await rush((i) => `198.51.100.${i}`)).toBe(hops === '1' ? 0 : 16)
      await limited.stop()
    },
  )
})

import { execFile } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@lockstep/testing/client'
import { eventually, inherited } from '@lockstep/testing/processes'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { openSocket, type SocketOptions, type TestSocket } from '@lockstep/testing/socket'
import { REDIS } from '@lockstep/testing/template-database'
import { TestClock } from '@lockstep/testing/test-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ADMIN = fileURLToPath(new URL('../administration/admin.ts', import.meta.url))

let service: TestService
let elsewhere: TestService
const clock = new TestClock().run()
beforeAll(async () => {
  service = await startService({}, { clock })
  elsewhere = await startService({}, { clock, beside: service })
})
afterAll(async () => {
  await elsewhere.stop()
  await service.stop()
})

const openAt = (at: TestService, { id, member }: TestBoard, options: SocketOptions = {}) =>
  openSocket({ baseUrl: at.baseUrl, token: member.api.token }, id, options)
const addColumn = ({ id, owner }: TestBoard, title = 'More') =>
  owner.api.call('createColumn', { params: { board_id: id }, body: { title } })
async function positionOf({ id, owner }: TestBoard) {
  const { headers } = await owner.api.send('getBoard', { params: { board_id: id } })
  const position = headers.get('board-position') as string
  return { position, epoch: Number(position.split('.')[0]), seq: Number(position.split('.')[1]) }
}
/** The board's log as the texts that a client with sequence numbers receives. */
async function loggedTexts({ id }: TestBoard, after = 0) {
  const { rows } = await service.sql.query<{ seq: string; body: string }>(
    'select seq, body from board_events where board_id = $1 and seq > $2 order by seq',
    [id, after],
  )
  return rows.map(({ seq, body }) => `{"seq":${seq},${body.slice(1)}`)
}
const textsOf = (socket: TestSocket) =>
  socket.received.filter(({ message }) => 'version' in message).map(({ text }) => text)

describe('resuming', () => {
  test('[SOCK-5] with seq=1 the first message is hello, and events and pings have numbers', async () => {
    const board = await service.board()
    const { epoch, seq } = await positionOf(board)
    using socket = openAt(service, board, { seq: true })
    expect((await socket.next()).message).toEqual({ type: 'hello', epoch, seq })
    expect((await socket.next()).message.type).toBe('user_joined')
    await addColumn(board)
    const { message } = await socket.next('column.created')
    expect(message.seq).toBe(seq + 1)
    expect(Object.keys(message).sort()).toEqual(['data', 'seq', 'timestamp', 'type', 'user_id', 'version'])
    clock.advance(30_000)
    expect((await socket.next('ping')).message).toEqual({ type: 'ping', board_id: board.id, seq: seq + 1 })
  })

  test('[SOCK-5] [LIVE-3] with since: hello, user_joined, missed events, new events; on any instance', async () => {
    const board = await service.board()
    const { position, epoch, seq } = await positionOf(board)
    for (const title of ['one', 'two', 'three']) await addColumn(board, title)
    for (const at of [service, elsewhere]) {
      using socket = openAt(at, board, { since: position })
      const now = (await positionOf(board)).seq
      await addColumn(board, 'four')
      await socket.upTo(now + 1)
      const [hello, joined, ...rest] = socket.messages.filter(({ type }) => type !== 'ping')
      expect(hello).toMatchObject({ type: 'hello', epoch })
      expect(joined).toEqual({ type: 'user_joined', user_id: board.member.id, username: board.member.username })
      expect(rest.map((message) => message.seq)).toEqual(Array.from({ length: now + 1 - seq }, (_, i) => seq + i + 1))
      expect(textsOf(socket)).toEqual(await loggedTexts(board, seq))
    }
  })

  test('[LIVE-3] a client that missed nothing is sent nothing', async () => {
    const board = await service.board()
    const { position, seq } = await positionOf(board)
    using socket = openAt(elsewhere, board, { since: position })
    await socket.next('user_joined')
    await addColumn(board)
    await socket.upTo(seq + 1)
    expect(socket.seqs).toEqual([seq + 1])
    expect(socket.messages.some(({ type }) => type === 'resync')).toBe(false)
  })

  test('[LIVE-1] [LIVE-3] clients that reconnect at random receive every event once, in order, as logged', async () => {
    const board = await service.board()
    const first = (await positionOf(board)).seq
    const last = first + 160
    const followWithReconnects = async (round: number) => {
      const texts: string[] = []
      let seen = first
      for (let i = round; seen < last; i++) {
        using socket = openAt(i % 2 ? service : elsewhere, board, { since: `1.${seen}` })
        const until = Math.min(last, seen + 1 + Math.floor(Math.random() * 25))
        await socket.next((message) => (message.seq ?? 0) >= until && 'version' in message, 15_000)
        texts.push(...textsOf(socket))
        seen = socket.seqs.at(-1) ?? seen
      }
      return texts
    }
    using steady = openAt(elsewhere, board, { seq: true })
    using plain = openAt(service, board)
    await Promise.all([steady.next('user_joined'), plain.next('user_joined')])
    const write = async (at: TestService) => {
      const api = new Client(at.baseUrl, board.owner.api.token)
      for (let i = 0; i < 40; i++)
        await api.call('createColumn', { params: { board_id: board.id }, body: { title: `${i}` } })
    }
    const followers = Array.from({ length: 5 }, (_, i) => followWithReconnects(i))
    await Promise.all([service, elsewhere, service, elsewhere].map(write))
    const log = await loggedTexts(board, first)
    expect(log).toHaveLength(160)
    for (const texts of await Promise.all(followers)) expect(texts).toEqual(log)
    await steady.upTo(last)
    expect(textsOf(steady)).toEqual(log)
    await eventually('the plain client has everything', () => plain.events.length === log.length)
    expect(textsOf(plain)).toEqual(log.map((text) => text.replace(/"seq":\d+,/, '')))
  })

  test('[LIVE-3] a client that is far behind catches up page by page, while the board changes', async () => {
    const board = await service.board()
    const { seq } = await positionOf(board)
    const body = JSON.stringify({ type: 'column.updated', data: { filler: 'x'.repeat(3_000) }, version: '1.0' })
    // More than five pages by number of events, and three by size.
    await service.sql.query(
      `with more as (update board_stream set last_seq = last_seq + 1200 where board_id = $1)
       insert into board_events (board_id, seq, created_at, type, body)
       select $1, $2::int8 + nth, now(), 'column.updated', $3 from generate_series(1, 1200) nth`,
      [board.id, seq, body],
    )
    using socket = openAt(elsewhere, board, { since: `1.${seq}` })
    await addColumn(board)
    await socket.upTo(seq + 1_201)
    expect(socket.seqs).toEqual(Array.from({ length: 1_201 }, (_, i) => seq + i + 1))
  })
})

describe('positions that are gone', () => {
  test('[LIVE-3] a client whose next event was deleted gets resync, and continues from there', async () => {
    const board = await service.board()
    for (let i = 0; i < 6; i++) await addColumn(board)
    const { epoch, seq } = await positionOf(board)
    await service.sql.query('delete from board_events where board_id = $1 and seq <= $2', [board.id, seq - 3])
    using late = openAt(elsewhere, board, { since: `${epoch}.${seq - 4}` })
    using justInTime = openAt(service, board, { since: `${epoch}.${seq - 3}` })
    expect((await late.next('resync')).message).toEqual({ type: 'resync', epoch, seq })
    await addColumn(board)
    await Promise.all([late.upTo(seq + 1), justInTime.upTo(seq + 1)])
    expect(late.messages.map(({ type }) => type).slice(0, 3)).toEqual(['hello', 'user_joined', 'resync'])
    expect(late.seqs).toEqual([seq + 1])
    expect(justInTime.seqs).toEqual([seq - 2, seq - 1, seq, seq + 1])
    expect(justInTime.messages.some(({ type }) => type === 'resync')).toBe(false)
  })

  test.each([
    ['of another epoch', (epoch: number, seq: number) => `${epoch + 1}.${seq}`],
    ['in the future', (epoch: number, seq: number) => `${epoch}.${seq + 1}`],
    ['that is malformed', () => 'yesterday'],
    ['without an epoch', (_: number, seq: number) => String(seq)],
    ['that is empty', () => ''],
    ['below zero', (epoch: number) => `${epoch}.-1`],
  ])('[LIVE-3] a position %s causes a resync', async (_what, since) => {
    const board = await service.board()
    const { epoch, seq } = await positionOf(board)
    using socket = openAt(service, board, { since: since(epoch, seq) })
    expect((await socket.next('resync')).message).toEqual({ type: 'resync', epoch, seq })
    await addColumn(board)
    await socket.upTo(seq + 1)
    expect(socket.seqs).toEqual([seq + 1])
  })
})

describe('a restore', () => {
  const openAll = async (board: TestBoard) => {
    const numbered = [openAt(service, board, { seq: true }), openAt(elsewhere, board, { seq: true })]
    const plain = [openAt(service, board), openAt(elsewhere, board)]
    await Promise.all([...numbered, ...plain].map((socket) => socket.next('user_joined')))
    return { numbered, plain }
  }

  test('[LIVE-10] after a new epoch, clients with sequence numbers get resync and others are closed with 1012', async () => {
    const board = await service.board()
    const before = await positionOf(board)
    const { numbered, plain } = await openAll(board)
    const env = { ...inherited, DATABASE_URL: service.databaseUrl, REDIS_URL: REDIS }
    await promisify(execFile)(process.execPath, [ADMIN, 'new-epoch'], { env })
    const { epoch, seq, position } = await positionOf(board)
    expect(epoch).toBeGreaterThan(before.epoch)
    expect(seq).toBe(before.seq)
    for (const socket of numbered) {
      const resync = await socket.next('resync')
      expect(resync.message).toEqual({ type: 'resync', epoch, seq })
    }
    for (const socket of plain) expect((await socket.closed).code).toBe(1012)
    await addColumn(board)
    for (const socket of numbered) await socket.upTo(seq + 1)
    using stale = openAt(service, board, { since: before.position })
    await stale.next('resync')
    using fresh = openAt(elsewhere, board, { since: position })
    await fresh.upTo(seq + 1)
    expect(fresh.messages.some(({ type }) => type === 'resync')).toBe(false)
    for (const socket of numbered) socket.terminate()
  })

  test('[LIVE-10] clients that get resync also see a change made right after the new epoch', async () => {
    const board = await service.board()
    const { numbered } = await openAll(board)
    await service.sql.query('update board_stream set epoch = epoch + 1000 where board_id = $1', [board.id])
    await addColumn(board, 'in the new epoch')
    const { seq } = await positionOf(board)
    for (const socket of numbered) {
      const { message } = await socket.next('resync')
      // The client sees the change either when it reloads the board, or as an event.
      if ((message.seq ?? 0) < seq) await socket.upTo(seq)
      socket.terminate()
    }
  })

  test('[LIVE-10] a log that lost its newest events causes a resync as well', async () => {
    const board = await service.board()
    const { numbered, plain } = await openAll(board)
    await addColumn(board)
    const { epoch, seq } = await positionOf(board)
    for (const socket of numbered) await socket.upTo(seq)
    // As after a failover to a standby without the last commits.
    await service.sql.query(
      `with gone as (delete from board_events where board_id = $1 and seq > $2::int8 - 2)
       update board_stream set last_seq = $2::int8 - 2 where board_id = $1`,
      [board.id, seq],
    )
    for (const socket of numbered) {
      expect((await socket.next('resync')).message).toEqual({ type: 'resync', epoch, seq: seq - 2 })
    }
    for (const socket of plain) expect((await socket.closed).code).toBe(1012)
    await addColumn(board)
    for (const socket of numbered) expect((await socket.next('column.created')).message.seq).toBe(seq - 1)
    for (const socket of numbered) socket.terminate()
  })
})

describe('a client that reads slowly', () => {
  /** Buffer limit per client: the soft limit, one batch above it, and one large event. */
  const MAX_BYTES = 262_144 + 1_048_576 + 300_000
  const accepted = new Set<Socket>()
  const note = (message: unknown) => void accepted.add((message as { socket: Socket }).socket)
  const still = new TestClock()
  let calm: TestService
  beforeAll(async () => {
    channel('net.server.socket').subscribe(note)
    // Its clock stands still: no connection is closed for a missing pong.
    calm = await startService({}, { clock: still })
  })
  afterAll(async () => {
    channel('net.server.socket').unsubscribe(note)
    await calm.stop()
  })

  /** A board on which each change produces an event of a quarter of a megabyte. */
  async function largeBoard() {
    const board = await calm.board()
    const { owner, columns } = board
    const [{ id: column_id }] = columns
    const body = { title: 'Large', description: 'x'.repeat(65_000) }
    for (let i = 0; i < 4; i++) await owner.api.call('createCard', { params: { board_id: board.id, column_id }, body })
    let count = 0
    const change = async () => {
      const params = { column_id }
      const response = await owner.api.send('updateColumn', { params, body: { title: `Title ${count++}` } })
      return Number(response.headers.get('board-position')?.split('.')[1])
    }
    return { board, change }
  }
  /** The server's end of a connection. Server and client run in one process here. */
  function serverEnd({ ws }: TestSocket): Socket {
    const { localPort } = (ws as unknown as { _socket: Socket })._socket
    const found = [...accepted].find((socket) => socket.remotePort === localPort)
    if (!found) throw new Error('The connection was not found')
    return found
  }
  /** Writes until the buffers of the operating system are full and the server has to buffer too. */
  async function fill(end: Socket, change: () => Promise<number>) {
    for (let i = 0; i < 200; i++) {
      await change()
      if (end.writableLength > 262_144) return
    }
    throw new Error('The buffers of the operating system never filled')
  }

  test('[LIVE-5] is paused while others continue, and catches up when it reads again', async () => {
    const { board, change } = await largeBoard()
    const { seq } = await positionOf(board)
    using slow = openAt(calm, board, { seq: true })
    using fast = openAt(calm, board, { seq: true })
    await Promise.all([slow.next('user_joined'), fast.next('user_joined')])
    const end = serverEnd(slow)
    slow.pause()
    await fill(end, change)
    let most = end.writableLength
    let last = 0
    for (let i = 0; i < 12; i++) {
      last = await change()
      await fast.upTo(last)
      most = Math.max(most, end.writableLength)
    }
    expect(slow.closing).toBeUndefined()
    expect(most).toBeLessThan(MAX_BYTES)
    expect(fast.seqs).toEqual(Array.from({ length: last - seq }, (_, i) => seq + i + 1))
    slow.resume()
    await slow.upTo(last)
    expect(slow.seqs).toEqual(fast.seqs)
    await change()
    await slow.upTo(last + 1)
  })

  test('[LIVE-5] is closed with 1013 when it is 4 MiB behind, without affecting others', async () => {
    const { board, change } = await largeBoard()
    using slow = openAt(calm, board, { seq: true })
    using fast = openAt(calm, board, { seq: true })
    await Promise.all([slow.next('user_joined'), fast.next('user_joined')])
    const end = serverEnd(slow)
    slow.pause()
    await fill(end, change)
    const full = end.writableLength
    let last = 0
    for (let i = 0; i < 20; i++) last = await change()
    await fast.upTo(last)
    still.advance(1_000)
    // Only the close frame can still be added to its buffer.
    await eventually('the close frame is sent', () => end.writableLength > full)
    expect(end.writableLength).toBeLessThan(MAX_BYTES)
    slow.resume()
    const { code } = await slow.closed
    expect(code).toBe(1013)
    const seen = slow.seqs.at(-1) ?? 0
    expect(seen).toBeLessThan(last)
    using back = openAt(calm, board, { since: `1.${seen}` })
    await back.upTo(last)
    expect(back.seqs[0]).toBe(seen + 1)
    expect(fast.closing).toBeUndefined()
  })

  test('[LIVE-5] is closed with 1013 when it reads nothing for 15 seconds', async () => {
    const { board, change } = await largeBoard()
    using slow = openAt(calm, board, { seq: true })
    await slow.next('user_joined')
    const end = serverEnd(slow)
    slow.pause()
    await fill(end, change)
    const full = end.writableLength
    still.advance(14_000)
    expect(end.writableLength).toBe(full)
    still.advance(2_000)
    await eventually('the close frame is sent', () => end.writableLength > full)
    slow.resume()
    expect((await slow.closed).code).toBe(1013)
  })
})

import { connect } from 'node:net'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

const CARD_BYTES = 12_000_000
let service: TestService
let board: TestBoard
let users: TestUser[]
let card_id: string
beforeAll(async () => {
  service = await startService({
    FAIR_SHARES: 'on',
    TRUST_PROXY: '1',
    MAX_UPLOADS_AT_ONCE: '4',
    MAX_UNREAD_RESPONSE_BYTES: '33554432',
  })
  board = await service.board()
  const third = await service.user()
  const { owner, member, columns } = board
  await owner.api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: third.id } })
  users = [owner, member, third]
  const params = { board_id: board.id, column_id: columns[0].id }
  card_id = (await owner.api.call('createCard', { params, body: { title: 'Large' } })).id
  // More than the kernel buffers for a connection.
  await service.sql.query(`update cards set description = repeat('x', $2) where id = $1`, [card_id, CARD_BYTES])
})
afterAll(() => service.stop())

/** Sends the beginning of a request from an address, and reads no more than the head of the response. */
function begin({ api }: TestUser, address: string, line: string, rest = '\r\n') {
  const { hostname, port } = new URL(service.baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  let text = ''
  socket.once('data', (bytes) => {
    text = bytes.toString('latin1')
    socket.pause()
  })
  socket.write(
    `${line} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\nAuthorization: Bearer ${api.token}\r\n${rest}`,
  )
  return { socket, text: () => text, status: () => text.slice(9, 12) }
}
const pause = () => new Promise((resolve) => setTimeout(resolve, 300))

test('[LOAD-12] users of one address get half of the uploads together, and others the other half', async () => {
  const upload = (user: TestUser, address: string) =>
    begin(
      user,
      address,
      `POST /cards/${card_id}/attachments`,
      'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
    )
  const [one, two, three] = users as [TestUser, TestUser, TestUser]
  const same = [upload(one, '192.0.2.1'), upload(two, '192.0.2.1')]
  await pause()
  const third = upload(three, '192.0.2.1')
  await expect.poll(third.status).toBe('503')
  const elsewhere = upload(three, '192.0.2.2')
  await pause()
  const all = [...same, elsewhere]
  expect(all.map(({ status }) => status())).toEqual(['', '', ''])
  for (const { socket } of [...all, third]) socket.destroy()
})

test('[READ-6] users of one address get half of the memory for responses together, and others the other half', async () => {
  const read = async (user: TestUser, address: string) => {
    const reader = begin(user, address, `GET /cards/${card_id}`)
    await expect.poll(reader.status, { timeout: 10_000 }).not.toBe('')
    return reader
  }
  const [one, two, three] = users as [TestUser, TestUser, TestUser]
  const readers = [await read(one, '192.0.2.1'), await read(two, '192.0.2.1'), await read(three, '192.0.2.2')]
  expect(readers.map(({ status }) => status())).toEqual(['200', '503', '200'])
  for (const { socket } of readers) socket.destroy()
})

test('[LOAD-6] lists, searches and cards of a board with much text are read a few at a time, other cards are not', async () => {
  const gated = await startService({ FAIR_SHARES: 'on', DATABASE_POOL_SIZE: '4' })
  const { id: board_id, owner, columns } = await gated.board()
  const { id } = await owner.api.call('createCard', {
    params: { board_id, column_id: columns[0].id },
    body: { title: 'One' },
  })
  /** How many reads are in progress when three are requested and the table is locked. */
  const inProgress = async (path: string, table: string, atLeast = 1): Promise<number | undefined> => {
    const lock = await gated.sql.connect()
    await lock.query(`begin; lock table ${table} in access exclusive mode`)
    const reads = [1, 2, 3].map(() => owner.api.request('GET', path))
    const waiting = async () => {
      const { rows } = await gated.sql.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows[0]?.count
    }
    await expect.poll(waiting).toBeGreaterThanOrEqual(atLeast)
    await pause()
    const count = await waiting()
    await lock.query('commit')
    lock.release()
    const statuses = (await Promise.all(reads)).map(({ status }) => status)
    // A machine that pauses for the two seconds of the lock timeout makes them fail: then the count means nothing.
    if (statuses.includes(503)) return inProgress(path, table, atLeast)
    expect(statuses).toEqual([200, 200, 200])
    return count
  }
  expect(await inProgress(`/cards/${id}`, 'checklists', 3)).toBe(3)
  expect(await inProgress(`/boards/${board_id}/events`, 'board_events')).toBe(1)
  expect(await inProgress('/boards', 'boards')).toBe(1)
  expect(await inProgress(`/boards/${board_id}/cards?search=one`, 'cards')).toBe(1)
  await gated.sql.query('update board_stream set text_bytes = $2 where board_id = $1', [board_id, 9_000_000])
  expect(await inProgress(`/cards/${id}`, 'checklists')).toBe(1)
  await gated.stop()
})

test('[LOAD-12] the connection of a rejected upload that continues too slowly is closed', async () => {
  const { socket, text } = begin(
    board.owner,
    '192.0.2.3',
    `POST /cards/${card_id}/attachments`,
    'Content-Type: text/plain\r\nContent-Length: 100000\r\n\r\n',
  )
  await expect.poll(text, { timeout: 15_000 }).toMatch(/^HTTP\/1\.1 408 .*\r\nconnection: close\r\n/is)
  socket.destroy()
})

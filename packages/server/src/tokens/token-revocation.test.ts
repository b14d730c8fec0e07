import { Client } from '@lockstep/testing/client'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { openSocket, type TestSocket } from '@lockstep/testing/socket'
import { TestClock } from '@lockstep/testing/test-clock'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

/** Ten times as long as it may take, and before the next heartbeat. */
const MAX_MS = 10_000
const clock = new TestClock().run()
/** Nothing listens on this port. */
const NO_REDIS = 'redis://127.0.0.1:9'

let service: TestService
let elsewhere: TestService
beforeAll(async () => {
  service = await startService({ ADMIN_API: 'on' }, { clock })
  elsewhere = await startService({}, { clock, beside: service })
})
afterAll(async () => {
  await elsewhere.stop()
  await service.stop()
})
const open: TestSocket[] = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.terminate()
})

const create = ({ api }: TestUser, board_id: string | null = null) =>
  api.call('createToken', { body: { name: 'Bot', scope: 'read', board_id } })

/** A socket of an access token on each instance, opened with a ticket. */
async function openBoth(token: string, board_id: string, instances = [service, elsewhere]): Promise<TestSocket[]> {
  const sockets = await Promise.all(
    instances.map(async ({ baseUrl }) => {
      const { ticket } = await new Client(baseUrl, token).call('createTicket', {})
      return openSocket({ baseUrl, token: ticket }, board_id)
    }),
  )
  open.push(...sockets)
  await Promise.all(sockets.map((socket) => socket.next('user_joined')))
  return sockets
}
async function expectClosed(sockets: TestSocket[], since: number) {
  for (const socket of sockets) {
    const { code, at } = await socket.closed
    expect(code).toBe(1008)
    expect(at - since).toBeLessThan(MAX_MS)
  }
}
const statusesOf = (token: string, instances = [service, elsewhere]) =>
  Promise.all(instances.map(async ({ baseUrl }) => (await new Client(baseUrl, token).send('getMe', {})).status))

test('[TOKEN-8] a token opens a socket with a ticket, and not in the URL', async () => {
  const { id, owner } = await service.board()
  const { token } = await create(owner)
  const { code } = await openSocket({ baseUrl: service.baseUrl, token }, id).closed
  expect(code).toBe(1008)
  const [socket] = await openBoth(token, id)
  await owner.api.call('createColumn', { params: { board_id: id }, body: { title: 'New' } })
  await socket?.next('column.created')
})

test('[TOKEN-3] [TOKEN-8] a ticket of a board token opens no other board, and is worth nothing after the revocation', async () => {
  const { id, owner } = await service.board()
  const other = await owner.api.call('createBoard', { body: { title: 'Other' } })
  const created = await create(owner, id)
  const { ticket } = await new Client(service.baseUrl, created.token).call('createTicket', {})
  expect((await openSocket({ baseUrl: service.baseUrl, token: ticket }, other.id).closed).code).toBe(1008)
  await owner.api.call('revokeToken', { params: { token_id: created.id } })
  expect((await openSocket({ baseUrl: service.baseUrl, token: ticket }, id).closed).code).toBe(1008)
})

type Ending = [name: string, end: (board: TestBoard, token_id: string) => Promise<unknown>]
test.each<Ending>([
  ['is revoked', ({ member }, token_id) => member.api.call('revokeToken', { params: { token_id } })],
  ['is revoked with all others', ({ member }) => member.api.call('revokeTokens', {})],
  [
    'is revoked by an owner of the board',
    ({ owner, id }, token_id) => owner.api.call('revokeBoardToken', { params: { board_id: id, token_id } }),
  ],
])(
  '[TOKEN-7] a token that %s is rejected by the next request, and its sockets close within a second, on both instances',
  async (_, end) => {
    const board = await service.board()
    const { id, token } = await create(board.member, board.id)
    const other = await create(board.owner, board.id)
    const [closing, staying] = [await openBoth(token, board.id), await openBoth(other.token, board.id)]
    expect(await statusesOf(token)).toEqual([200, 200])
    await end(board, id)
    const since = performance.now()
    expect(await statusesOf(token)).toEqual([401, 401])
    await expectClosed(closing, since)
    clock.advance(30_000)
    for (const socket of staying) {
      await socket.next('ping')
      expect(socket.closing).toBeUndefined()
    }
  },
)

test('[TOKEN-7] a change that waits for the board is rejected when its token is revoked meanwhile', async () => {
  const { id: board_id, owner } = await service.board()
  const { id, token } = await owner.api.call('createToken', { body: { name: 'Bot', scope: 'write' } })
  const bot = new Client(service.baseUrl, token)
  const body = { title: 'New' }
  // The second write of a board is checked only under the lock.
  await bot.call('createColumn', { params: { board_id }, body })
  const lock = await service.sql.connect()
  await lock.query('begin')
  await lock.query('select from board_stream where board_id = $1 for update', [board_id])
  const waiting = bot.send('createColumn', { params: { board_id }, body })
  await new Promise((resolve) => setTimeout(resolve, 200))
  await owner.api.call('revokeToken', { params: { token_id: id } })
  await lock.query('commit')
  lock.release()
  expect((await waiting).status).toBe(401)
})

test('[TOKEN-7] an expired token is rejected, and its sockets close within a second of its expiry', async () => {
  const board = await service.board()
  const { id, token } = await create(board.member)
  const { rows } = await service.sql.query<{ at: Date }>(
    `update access_tokens set expires_at = date_trunc('second', clock_timestamp()) + interval '3 seconds' where id = $1
     returning expires_at as at`,
    [id],
  )
  const sockets = await openBoth(token, board.id)
  const at = rows[0]?.at.getTime() ?? 0
  for (const socket of sockets) {
    const { code } = await socket.closed
    expect([code, Date.now() >= at - 50, Date.now() - at < MAX_MS]).toEqual([1008, true, true])
  }
  expect(await statusesOf(token)).toEqual([401, 401])
})

test('[TOKEN-7] the token of a deactivated user is rejected, and works again with the account', async () => {
  const { member, id } = await service.board()
  const { token } = await create(member)
  const root = await service.user()
  await service.sql.query('update users set is_superuser = true where id = $1', [root.id])
  const sockets = await openBoth(token, id)
  const setActive = (is_active: boolean) =>
    root.api.call('updateAccount', { params: { user_id: member.id }, body: { is_active } })
  await setActive(false)
  await expectClosed(sockets, performance.now())
  expect(await statusesOf(token)).toEqual([401, 401])
  await setActive(true)
  expect(await statusesOf(token)).toEqual([200, 200])
})

test('[TOKEN-7] without Redis a revoked token is rejected at once on every instance, and its sockets close within a heartbeat', async () => {
  const alone = await startService({ REDIS_URL: NO_REDIS }, { clock, beside: service })
  const apart = await startService({ REDIS_URL: NO_REDIS }, { clock, beside: service })
  const instances = [alone, apart]
  const { member, id: board_id } = await service.board()
  const { id, token } = await create(member, board_id)
  const sockets = await openBoth(token, board_id, instances)
  expect(await statusesOf(token, instances)).toEqual([200, 200])
  await new Client(alone.baseUrl, member.api.token).call('revokeToken', { params: { token_id: id } })
  const since = performance.now()
  expect(await statusesOf(token, instances)).toEqual([401, 401])
  await expectClosed(sockets.slice(0, 1), since)
  clock.advance(30_000)
  await expectClosed(sockets.slice(1), since)
  await apart.stop()
  await alone.stop()
})

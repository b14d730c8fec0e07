import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@lockstep/testing/client'
import { inherited } from '@lockstep/testing/processes'
import {
  MARK,
  PASSWORD,
  startService,
  type TestBoard,
  type TestService,
  type TestUser,
} from '@lockstep/testing/service'
import { openSocket, type SocketOptions, type TestSocket } from '@lockstep/testing/socket'
import { REDIS } from '@lockstep/testing/template-database'
import { TestClock } from '@lockstep/testing/test-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Tokens } from '../security/tokens.ts'

const SECRET = `${MARK}-secret-of-the-revocation-tests-0123456789`
const ADMIN = fileURLToPath(new URL('../administration/admin.ts', import.meta.url))
const tokens = new Tokens({ secret: SECRET, algorithm: 'HS256', lifetimeSeconds: 60 })
const nowSeconds = () => Math.floor(Date.now() / 1_000)
/** Ten times as long as it may take, and before the next heartbeat. */
const MAX_MS = 10_000
const clock = new TestClock().run()

let service: TestService
let elsewhere: TestService
beforeAll(async () => {
  service = await startService({ JWT_SECRET: SECRET }, { clock })
  elsewhere = await startService({ JWT_SECRET: SECRET }, { clock, beside: service })
})
afterAll(async () => {
  await elsewhere.stop()
  await service.stop()
})

/** Sockets of one user to a board, one on each instance. */
async function openBoth({ api }: TestUser, board_id: string, options: SocketOptions = {}) {
  const sockets = [service, elsewhere].map(({ baseUrl }) =>
    openSocket({ baseUrl, token: api.token }, board_id, { seq: true, ...options }),
  )
  await Promise.all(sockets.map((socket) => socket.next('user_joined')))
  return sockets as [TestSocket, TestSocket]
}
const addColumn = ({ id, owner }: TestBoard, title = 'More') =>
  owner.api.call('createColumn', { params: { board_id: id }, body: { title } })
const removeMember = ({ id, owner, member }: TestBoard) =>
  owner.api.call('removeMember', { params: { board_id: id, user_id: member.id } })
const invite = ({ id, owner, member }: TestBoard) =>
  owner.api.call('inviteMember', { params: { board_id: id }, body: { user_id: member.id } })
const removals = async (board: TestBoard) =>
  (await board.events()).filter((event) => event.type === 'board.member_removed').map((event) => event.seq)
/** Whether the numbers are consecutive. */
const isGapless = (seqs: (number | undefined)[]) => seqs.every((seq, i) => i === 0 || seq === (seqs[i - 1] ?? 0) + 1)

async function expectClosed(sockets: TestSocket[], code: number, since: number) {
  for (const socket of sockets) {
    const closing = await socket.closed
    expect(closing.code).toBe(code)
    expect(closing.at - since).toBeLessThan(MAX_MS)
  }
}

describe('a removed member', () => {
  test('[LIVE-6] [V11] receives nothing after the removal and is closed with 1008 within a second, on every instance', async () => {
    const board = await service.board()
    const ofMember = await openBoth(board.member, board.id)
    const [ofOwner] = await openBoth(board.owner, board.id)
    const writes = Array.from({ length: 10 }, () => addColumn(board))
    const removedAt = removeMember(board).then(() => performance.now())
    await Promise.all([...writes, ...Array.from({ length: 10 }, () => addColumn(board))])
    await expectClosed(ofMember, 1008, await removedAt)
    const [n = 0] = await removals(board)
    const last = (await board.events()).length
    expect(n).toBeLessThan(last)
    for (const { events, seqs } of ofMember) {
      expect(events.at(-1)).toMatchObject({ type: 'board.member_removed', seq: n })
      expect(isGapless(seqs)).toBe(true)
    }
    await ofOwner.upTo(last)
    expect(isGapless(ofOwner.seqs)).toBe(true)
    ofOwner.terminate()
  })

  test('[LIVE-6] a member who leaves the board is closed as well, and other members are not', async () => {
    const board = await service.board()
    const ofMember = await openBoth(board.member, board.id)
    const ofOwner = await openBoth(board.owner, board.id)
    await board.member.api.call('removeMember', { params: { board_id: board.id, user_id: board.member.id } })
    await expectClosed(ofMember, 1008, performance.now())
    await addColumn(board)
    for (const socket of ofOwner) await socket.next('column.created')
    for (const socket of ofOwner) socket.terminate()
  })

  test('[LIVE-6] a client that was not reading finds nothing after the removal when it reads again', async () => {
    const board = await service.board()
    const [socket] = await openBoth(board.member, board.id)
    socket.pause()
    await addColumn(board)
    await removeMember(board)
    for (let i = 0; i < 5; i++) await addColumn(board)
    socket.resume()
    expect((await socket.closed).code).toBe(1008)
    expect(socket.events.map((event) => event.type)).toEqual(['column.created', 'board.member_removed'])
  })

  test('[LIVE-6] [V11] a member who was removed directly in the database is closed within a heartbeat', async () => {
    const board = await service.board()
    const ofMember = await openBoth(board.member, board.id)
    const ofOwner = await openBoth(board.owner, board.id)
    await service.sql.query('delete from board_members where board_id = $1 and user_id = $2', [
      board.id,
      board.member.id,
    ])
    const at = performance.now()
    clock.advance(30_000)
    await expectClosed(ofMember, 1008, at)
    for (const socket of ofOwner) await socket.next('ping')
    for (const socket of ofOwner) expect(socket.closing).toBeUndefined()
    for (const socket of ofOwner) socket.terminate()
  })

  test('[LIVE-6] a connection that races with the removal is rejected, or receives events up to it and is closed', async () => {
    const board = await service.board()
    let accepted = 0
    for (let round = 0; round < 30; round++) {
      const { baseUrl } = round % 2 ? service : elsewhere
      const options = round % 3 ? { seq: true } : {}
      const socket = openSocket({ baseUrl, token: board.member.api.token }, board.id, options)
      // One that is accepted for sure, and then at different moments.
      if (round === 0) await socket.next('user_joined')
      else await pause((round * 5) % 12)
      await removeMember(board)
      const removedAt = performance.now()
      await addColumn(board)
      await expectClosed([socket], 1008, removedAt)
      const types = socket.events.map((event) => event.type)
      expect(types).toBeOneOf([[], ['board.member_removed']])
      if (types.length > 0) accepted++
      await invite(board)
    }
    expect(accepted).toBeGreaterThan(0)
  })

  test('[LIVE-6] a member who was removed and added again while disconnected resumes across the removal', async () => {
    const board = await service.board()
    const position = `1.${(await board.events()).length}`
    await addColumn(board)
    await removeMember(board)
    await addColumn(board)
    await invite(board)
    const sockets = await openBoth(board.member, board.id, { since: position })
    await addColumn(board)
    const last = (await board.events()).length
    for (const socket of sockets) {
      await socket.upTo(last)
      expect(socket.events.map((event) => event.type)).toEqual([
        'column.created',
        'board.member_removed',
        'column.created',
        'board.member_added',
        'column.created',
      ])
      expect(socket.closing).toBeUndefined()
    }
    await removeMember(board)
    await expectClosed(sockets, 1008, performance.now())
  })
})

describe('a user whose access was revoked', () => {
  test('[LIVE-7] a deactivated user is closed with 1008 within a second, on both instances', async () => {
    const board = await service.board()
    const ofMember = await openBoth(board.member, board.id)
    const ofOwner = await openBoth(board.owner, board.id)
    const env = { ...inherited, DATABASE_URL: service.databaseUrl, REDIS_URL: REDIS, JWT_SECRET: SECRET }
    await promisify(execFile)(process.execPath, [ADMIN, 'deactivate', board.member.email], { env })
    const at = performance.now()
    await expectClosed(ofMember, 1008, at)
    expect((await openSocket(board.member.api, board.id).closed).code).toBe(1008)
    for (const socket of ofOwner) expect(socket.closing).toBeUndefined()
    for (const socket of ofOwner) socket.terminate()
  })

  test('[LIVE-7] a password change closes the sockets of every older token within a second, except the one that made it', async () => {
    const board = await service.board()
    const { id, member } = board
    const older = await tokens.issue(member.id, nowSeconds() - 20)
    const current = await tokens.issue(member.id, nowSeconds() - 10)
    const withToken = (token: string) => ({ ...member, api: Object.assign(Object.create(member.api), { token }) })
    const { ticket } = (
      await service.anybody.request('POST', '/auth/ticket', { headers: { authorization: `Bearer ${older}` } })
    ).body as { ticket: string }
    const closing = [
      ...(await openBoth(withToken(older), id)),
      ...(await openBoth(withToken(older), id, { token: ticket })),
    ]
    const surviving = await openBoth(withToken(current), id)
    const response = await service.anybody.request('POST', '/auth/change-password', {
      headers: { authorization: `Bearer ${current}` },
      json: { current_password: PASSWORD, new_password: `${PASSWORD} renewed` },
    })
    expect(response.status).toBe(200)
    await expectClosed(closing, 1008, performance.now())
    for (let i = 0; i < 2; i++) {
      clock.advance(30_000)
      for (const socket of surviving) {
        await socket.next('ping')
        await socket.roundTrip()
      }
    }
    await addColumn(board)
    for (const socket of surviving) await socket.next('column.created')
    for (const token of [older, ticket]) expect((await openSocket(member.api, id, { token }).closed).code).toBe(1008)
    for (const socket of surviving) socket.terminate()
  })

  /** A thief with a copy of a token, who refreshes it every 50 ms and opens a socket with each new one. */
  function stealToken({ baseUrl }: TestService, board_id: string, token: string) {
    const thief = { held: [token], socket: undefined as TestSocket | undefined, maxHeld: Number.POSITIVE_INFINITY }
    const busy = Promise.withResolvers<void>()
    const refresh = async () => {
      for (;;) {
        const { status, body } = await new Client(baseUrl, thief.held.at(-1)).send('refresh', {})
        if (status === 401 || thief.held.length > thief.maxHeld) return status
        thief.held.push((body as { access_token: string }).access_token)
        thief.socket?.terminate()
        thief.socket = openSocket({ baseUrl, token: thief.held.at(-1) }, board_id)
        if (thief.held.length === 4) busy.resolve()
        await pause(50)
      }
    }
    return { thief, isBusy: busy.promise, lastStatus: refresh() }
  }
  /** Another member of a board, with the password of the first. */
  async function addMember({ id: board_id, member }: TestBoard) {
    const id = crypto.randomUUID()
    await service.sql.query(
      `insert into users (id, email, email_key, username, username_key, hashed_password)
       select $1::uuid, $1, $1, $1, $1, hashed_password from users where id = $2`,
      [id, member.id],
    )
    await service.sql.query(`insert into board_members (board_id, user_id, role) values ($1, $2, 'member')`, [
      board_id,
      id,
    ])
    const api = new Client(service.baseUrl, await tokens.issue(id, nowSeconds(), nowSeconds() - 1))
    return { ...member, id, api }
  }
  async function stealAndChange(board: TestBoard) {
    const member = await addMember(board)
    const own = await openBoth(member, board.id)
    const stolen = await tokens.issue(member.id, nowSeconds(), nowSeconds() - 2)
    const thefts = [service, elsewhere, service].map((at) => stealToken(at, board.id, stolen))
    await Promise.all(thefts.map(({ isBusy }) => isBusy))
    const new_password = `${PASSWORD} renewed`
    await member.api.call('changePassword', { body: { current_password: PASSWORD, new_password } })
    for (const { thief } of thefts) thief.maxHeld = thief.held.length + 20
    const statuses = await Promise.all(thefts.map(({ lastStatus }) => lastStatus))
    const last = thefts.map(({ thief }) => thief.socket as TestSocket)
    const held = thefts.map(({ thief }) => thief.held.at(-1))
    const responses = held.map((token) => new Client(elsewhere.baseUrl, token).send('getMe', {}))
    statuses.push(...(await Promise.all(responses)).map(({ status }) => status))
    // The session that changed the password stays valid, and so do its sockets.
    const { access_token } = await member.api.call('refresh', {})
    await new Client(elsewhere.baseUrl, access_token).call('getMe', {})
    return { statuses, own, last }
  }

  test('[AUTH-19] [LIVE-7] a password change locks out a thief who refreshes every 50 ms, 20 of 20 times', async () => {
    const board = await service.board()
    const rounds = []
    for (let batch = 0; batch < 5; batch++) {
      const thefts = await Promise.all(Array.from({ length: 4 }, () => stealAndChange(board)))
      // At the latest, the sockets of the thieves are closed by the next heartbeat.
      clock.advance(30_000)
      for (const { statuses, own, last } of thefts) {
        const codes = (await Promise.all(last.map(({ closed }) => closed))).map(({ code }) => code)
        for (const socket of own) expect(socket.closing).toBeUndefined()
        for (const socket of [...own, ...last]) socket.terminate()
        rounds.push({ statuses, codes })
      }
    }
    const out = { statuses: [401, 401, 401, 401, 401, 401], codes: [1008, 1008, 1008] }
    expect(rounds).toEqual(Array.from({ length: 20 }, () => out))
  })

  test('[AUTH-25] [LIVE-7] logging out everywhere closes all sockets of the user with 1008, on both instances', async () => {
    const board = await service.board()
    const { ticket } = await board.member.api.call('createTicket', {})
    const closing = [
      ...(await openBoth(board.member, board.id)),
      ...(await openBoth(board.member, board.id, { token: ticket })),
    ]
    const others = await openBoth(board.owner, board.id)
    await board.member.api.call('logoutEverywhere', {})
    await expectClosed(closing, 1008, performance.now())
    expect((await openSocket(board.member.api, board.id, { token: ticket }).closed).code).toBe(1008)
    for (const socket of others) expect(socket.closing).toBeUndefined()
    for (const socket of others) socket.terminate()
  })

  test('[LIVE-7] [V13] a token that expires closes its socket with 1008 within a second, and not before', async () => {
    const board = await service.board()
    const short = await startService({ JWT_SECRET: SECRET, TOKEN_LIFETIME_SECONDS: '3' }, { beside: service })
    const { member } = board
    const { access_token } = await short.anybody.call('login', { body: { username: member.email, password: PASSWORD } })
    const { expires_at = 0 } = (await tokens.verify(access_token)) ?? {}
    using socket = openSocket({ baseUrl: short.baseUrl, token: access_token }, board.id)
    await socket.next('user_joined')
    const { code } = await socket.closed
    const lateMs = Date.now() - expires_at * 1_000
    expect(code).toBe(1008)
    expect(lateMs).toBeGreaterThanOrEqual(0)
    expect(lateMs).toBeLessThan(MAX_MS)
    await short.stop()
  })
})

describe('a deleted board', () => {
  test('[LIVE-8] board.deleted is the last event, then every socket is closed with 1000, on every instance', async () => {
    const board = await service.board()
    const sockets = [...(await openBoth(board.owner, board.id)), ...(await openBoth(board.member, board.id))]
    const plain = openSocket(board.member.api, board.id)
    await plain.next('user_joined')
    const params = { board_id: board.id }
    const writes = Array.from({ length: 8 }, () =>
      board.owner.api.send('createColumn', { params, body: { title: 'Late' } }),
    )
    await board.owner.api.call('deleteBoard', { params })
    await expectClosed([...sockets, plain], 1000, performance.now())
    const made = (await Promise.all(writes)).filter((response) => response.status === 201).length
    for (const { events, messages } of [...sockets, plain]) {
      expect(events.map((event) => event.type)).toEqual([
        ...Array.from({ length: made }, () => 'column.created'),
        'board.deleted',
      ])
      expect(messages.at(-1)).toMatchObject({ type: 'board.deleted', data: { id: board.id } })
    }
    for (const socket of sockets) expect(isGapless(socket.seqs)).toBe(true)
    expect((await openSocket(board.owner.api, board.id, { since: '1.1' }).closed).code).toBe(1008)
  })
})

import { setTimeout as pause } from 'node:timers/promises'
import { endProcesses, eventually, type Store, startRedis } from '@lockstep/testing/processes'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { openSocket, type TestSocket } from '@lockstep/testing/socket'
import { startProxy, type TcpProxy } from '@lockstep/testing/tcp-proxy'
import { TestClock } from '@lockstep/testing/test-clock'
import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const clock = new TestClock().run()
/** A Redis server of its own, which the tests may empty and kill. One instance reaches it through a proxy. */
let redis: Store
let proxy: TcpProxy
let service: TestService
let elsewhere: TestService
beforeAll(async () => {
  redis = await startRedis()
  proxy = await startProxy(redis.url)
  service = await startService({ REDIS_URL: redis.url }, { clock })
  elsewhere = await startService({ REDIS_URL: proxy.url }, { clock, beside: service })
})
afterAll(async () => {
  await elsewhere.stop()
  await service.stop()
  await proxy.close()
  await endProcesses()
})

interface PresenceBoard {
  board: TestBoard
  users: [TestUser, TestUser, TestUser]
}
/** A board with three members. */
async function makeBoard(): Promise<PresenceBoard> {
  const board = await service.board()
  const guest = await service.user()
  await board.owner.api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: guest.id } })
  return { board, users: [board.owner, board.member, guest] }
}
async function openAt(at: TestService, { id }: TestBoard, { api }: TestUser): Promise<TestSocket> {
  const socket = openSocket({ baseUrl: at.baseUrl, token: api.token }, id)
  await socket.next('user_joined')
  return socket
}
const presenceAt = async (at: TestService, { id, owner }: TestBoard) => {
  const headers = { authorization: `Bearer ${owner.api.token}` }
  const { body } = await at.anybody.request('GET', `/ws/boards/${id}/presence`, { headers })
  const { online_users } = body as { online_users: { user_id: string; username: string }[] }
  return online_users.map(({ username }) => username).sort()
}
const namesOf = (users: TestUser[]) => users.map(({ username }) => username).sort()
const isOnline = (at: TestService, board: TestBoard, users: TestUser[]) =>
  eventually('presence is as expected', async () => {
    const names = await presenceAt(at, board)
    return JSON.stringify(names) === JSON.stringify(namesOf(users))
  })
/** The presence messages of a socket, as `+name` and `-name`. */
const changes = ({ messages }: TestSocket) =>
  messages.flatMap(({ type, username }) =>
    type === 'user_joined' ? [`+${username}`] : type === 'user_left' ? [`-${username}`] : [],
  )
const joined = (socket: TestSocket, { id }: TestUser) =>
  socket.next((m) => m.type === 'user_joined' && m['user_id'] === id)
const left = (socket: TestSocket, { id }: TestUser) => socket.next((m) => m.type === 'user_left' && m['user_id'] === id)

describe('joining and leaving', () => {
  test('[PRES-1] [PRES-2] every connect is broadcast once; user_left follows the last disconnect of a user', async () => {
    const { board, users } = await makeBoard()
    const [ann, bob, cid] = users
    const here = await openAt(service, board, ann)
    const there = await openAt(elsewhere, board, bob)
    await joined(here, bob)
    const secondTab = await openAt(service, board, bob)
    await joined(here, bob)
    await joined(there, bob)
    await there.close()
    const thirdTab = await openAt(elsewhere, board, bob)
    await joined(here, bob)
    await secondTab.close()
    thirdTab.terminate()
    await left(here, bob)
    // Presence messages are ordered: duplicates and extra messages would arrive before this one.
    const last = await openAt(elsewhere, board, cid)
    await joined(here, cid)
    const [a, b, c] = namesInOrder(users)
    expect(changes(here)).toEqual([`+${a}`, `+${b}`, `+${b}`, `+${b}`, `-${b}`, `+${c}`])
    expect(changes(there)).toEqual([`+${b}`, `+${b}`])
    expect(there.messages[0]).toMatchObject({ type: 'user_joined', user_id: bob.id })
    expect(changes(last)).toEqual([`+${c}`])
    for (const socket of [here, last]) socket.terminate()
  })
  const namesInOrder = (users: TestUser[]) => users.map(({ username }) => username)

  test('[PRES-1] [PRES-2] [PRES-3] after random joins and leaves, all clients and instances agree on who is online', async () => {
    const { board, users } = await makeBoard()
    const [watching, ...others] = users
    const watchers = [await openAt(service, board, watching), await openAt(elsewhere, board, watching)]
    const open: { user: TestUser; socket: TestSocket }[] = []
    for (let i = 0; i < 40; i++) {
      const isLeaving = open.length > 0 && Math.random() < 0.5
      const [gone] = isLeaving ? open.splice(Math.floor(Math.random() * open.length), 1) : []
      if (gone && i % 3 === 0) gone.socket.terminate()
      else if (gone) void gone.socket.close()
      if (isLeaving) continue
      const user = others[i % 2] as TestUser
      open.push({ user, socket: await openAt(i % 4 < 2 ? service : elsewhere, board, user) })
    }
    const present = [...new Set([watching, ...open.map(({ user }) => user)])]
    for (const at of [service, elsewhere]) await isOnline(at, board, present)
    for (const watcher of watchers) {
      await eventually('the watcher knows who is online', () => {
        const known = new Set<string>()
        for (const change of changes(watcher)) {
          if (change.startsWith('+')) known.add(change.slice(1))
          else known.delete(change.slice(1))
        }
        return JSON.stringify([...known].sort()) === JSON.stringify(namesOf(present))
      })
    }
    for (const { socket } of open) socket.terminate()
    for (const socket of watchers) socket.terminate()
    for (const at of [service, elsewhere]) await isOnline(at, board, [])
  })

  test('[PRES-1] when two users join at the same time, at least one of them sees the other join', async () => {
    for (let round = 0; round < 8; round++) {
      const { board, users } = await makeBoard()
      const sockets = await Promise.all(users.map((user, i) => openAt(i % 2 ? service : elsewhere, board, user)))
      // Presence messages are ordered: a client that received this one has received all before it.
      const marker = await service.user()
      await board.owner.api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: marker.id } })
      const last = await openAt(service, board, marker)
      await Promise.all(sockets.map((socket) => joined(socket, marker)))
      const hasSeen = (a: number, b: number) => changes(sockets[a] as TestSocket).includes(`+${users[b]?.username}`)
      for (const [a, b] of [
        [0, 1],
        [0, 2],
        [1, 2],
      ] as const)
        expect([round, a, b, hasSeen(a, b) || hasSeen(b, a)]).toEqual([round, a, b, true])
      for (const socket of [...sockets, last]) socket.terminate()
    }
  })

  test('[PRES-3] any authenticated user may read presence; an unknown board is 404', async () => {
    const { board, users } = await makeBoard()
    const [ann] = users
    const outsider = await service.user()
    const tabs = [await openAt(service, board, ann), await openAt(elsewhere, board, ann)]
    const params = { board_id: board.id }
    await isOnline(service, board, [ann])
    expect(await outsider.api.call('getPresence', { params })).toEqual({
      board_id: board.id,
      online_users: [{ user_id: ann.id, username: ann.username }],
    })
    for (const tab of tabs) await tab.close()
    await isOnline(elsewhere, board, [])
    const unknown = { board_id: '0198a000-0000-7000-8000-000000000000' }
    expect(await outsider.api.fail('getPresence', { params: unknown })).toMatchObject({ status: 404 })
    expect(await service.anybody.fail('getPresence', { params })).toMatchObject({ status: 401 })
  })

  test('[PRES-3] without Redis, presence covers the connections of one instance', async () => {
    const { board, users } = await makeBoard()
    const [ann, bob] = users
    const alone = await startService({ REDIS_URL: '' }, { clock, beside: service })
    const first = await openAt(alone, board, ann)
    const second = await openAt(alone, board, bob)
    const tab = await openAt(alone, board, bob)
    await joined(first, bob)
    await joined(first, bob)
    expect(await presenceAt(alone, board)).toEqual(namesOf([ann, bob]))
    expect(await presenceAt(service, board)).toEqual([])
    await tab.close()
    await second.close()
    await left(first, bob)
    expect(changes(first)).toEqual([`+${ann.username}`, `+${bob.username}`, `+${bob.username}`, `-${bob.username}`])
    expect(await presenceAt(alone, board)).toEqual(namesOf([ann]))
    first.terminate()
    await alone.stop()
  })
})

describe('a user who has just received their own user_joined', () => {
  const onlineAt = async (at: TestService, { id }: TestBoard, { api }: TestUser) => {
    const headers = { authorization: `Bearer ${api.token}` }
    const { body } = await at.anybody.request('GET', `/ws/boards/${id}/presence`, { headers })
    return (body as { online_users: { user_id: string }[] }).online_users.map(({ user_id }) => user_id)
  }

  test('[PRES-6] is online on every instance', async () => {
    const far = await startProxy(redis.url, { askDelayMs: 80 })
    const distant = await startService({ REDIS_URL: far.url }, { clock, beside: service })
    await eventually('it is connected to Redis', async () => {
      return (await distant.anybody.call('getHealth', {})).redis === 'connected'
    })
    const { board, users } = await makeBoard()
    for (const user of users) {
      const socket = await openAt(distant, board, user)
      expect(await onlineAt(service, board, user)).toContain(user.id)
      expect(socket.messages[0]).toMatchObject({ type: 'user_joined', user_id: user.id })
      await socket.close()
    }
    await distant.stop()
    await far.close()
  })

  test('[PRES-6] is online on their own instance while Redis is slow', async () => {
    const slow = await startProxy(redis.url, { askDelayMs: 400 })
    const distant = await startService({ REDIS_URL: slow.url }, { clock, beside: service })
    const { board, users } = await makeBoard()
    for (const user of users) {
      using socket = await openAt(distant, board, user)
      expect(await onlineAt(distant, board, user)).toContain(user.id)
      expect(socket.closing).toBeUndefined()
    }
    await distant.stop()
    await slow.close()
  })

  test('[PRES-6] is online on their own instance while Redis hangs, and does not wait for it', async () => {
    const { board, users } = await makeBoard()
    const frozen = await startProxy(redis.url)
    const cut = await startService({ REDIS_URL: frozen.url }, { clock, beside: service })
    frozen.freeze()
    const sockets: TestSocket[] = []
    for (const user of users) {
      sockets.push(await openAt(cut, board, user))
      expect(await onlineAt(cut, board, user)).toContain(user.id)
    }
    for (const socket of sockets) socket.terminate()
    frozen.thaw()
    await cut.stop()
    await frozen.close()
  })
})

describe('recovery', () => {
  /** Advances the time by seconds, slowly enough for pongs, until a condition holds. */
  const inTime = (what: string, ask: () => boolean | Promise<boolean>) =>
    eventually(what, () => {
      clock.advance(1_000)
      return ask()
    })
  const isRegistered = async (at: TestService, board: TestBoard, users: TestUser[]) =>
    inTime('presence is complete', async () => String(await presenceAt(at, board)) === String(namesOf(users)))
  const flush = async () => {
    // Versions start at the current time: a restart within the same moment would look like a missed message.
    await pause(150)
    const client = await createClient({ url: redis.url }).connect()
    expect(await client.flushAll()).toBe('OK')
    client.destroy()
  }

  test('[PRES-5] when Redis loses all its data, nobody appears to leave, and presence is complete within a heartbeat', async () => {
    const { board, users } = await makeBoard()
    const [ann, bob, cid] = users
    const here = await openAt(service, board, ann)
    const there = await openAt(elsewhere, board, bob)
    await joined(here, bob)
    await flush()
    for (const at of [service, elsewhere]) await isRegistered(at, board, [ann, bob])
    await there.close()
    await left(here, bob)
    const last = await openAt(elsewhere, board, cid)
    await joined(here, cid)
    expect(changes(here)).toEqual([`+${ann.username}`, `+${bob.username}`, `-${bob.username}`, `+${cid.username}`])
    for (const socket of [here, last]) socket.terminate()
  })

  test('[PRES-5] user_left is eventually sent for a user who leaves while Redis has no data', async () => {
    const { board, users } = await makeBoard()
    const [ann, bob] = users
    const here = await openAt(service, board, ann)
    const there = await openAt(elsewhere, board, bob)
    await joined(here, bob)
    await flush()
    await there.close()
    await inTime('user_left is sent', () => changes(here).includes(`-${bob.username}`))
    for (const at of [service, elsewhere]) await isOnline(at, board, [ann])
    expect(changes(here)).toEqual([`+${ann.username}`, `+${bob.username}`, `-${bob.username}`])
    here.terminate()
  })

  test('[PRES-5] when Redis loses one of two connections, closing the other does not make the user appear to leave', async () => {
    const { board, users } = await makeBoard()
    const [ann, bob] = users
    const here = await openAt(service, board, ann)
    const first = await openAt(service, board, bob)
    await isOnline(service, board, [ann, bob])
    const client = await createClient({ url: redis.url }).connect()
    const [key = ''] = await client.keys(`*:p:connections:${board.id}`)
    const known = await client.zRange(key, 0, -1)
    const second = await openAt(service, board, bob)
    await eventually('both are registered', async () => (await client.zCard(key)) === known.length + 1)
    const lost = (await client.zRange(key, 0, -1)).filter((member) => !known.includes(member))
    expect(await client.zRem(key, lost)).toBe(1)
    await client.hIncrBy(key.replace('connections', 'users'), bob.id, -1)
    await first.close()
    await inTime('the user is registered again', async () => (await client.zRange(key, 0, -1)).join().includes(bob.id))
    client.destroy()
    await isOnline(service, board, [ann, bob])
    expect(changes(here)).toEqual([`+${ann.username}`, `+${bob.username}`, `+${bob.username}`])
    for (const socket of [here, second]) socket.terminate()
  })

  test('[PRES-5] an instance that missed messages repairs its state', async () => {
    const { board, users } = await makeBoard()
    const [ann, bob, cid] = users
    const there = await openAt(elsewhere, board, ann)
    const here = await openAt(service, board, bob)
    await joined(there, bob)
    proxy.freeze()
    const late = await openAt(service, board, cid)
    await joined(here, cid)
    await here.close()
    // Messages in transit are lost with the connection.
    proxy.cut()
    proxy.thaw()
    await inTime('presence is repaired', () => {
      const known = changes(there)
      return known.includes(`+${cid.username}`) && known.includes(`-${bob.username}`)
    })
    for (const at of [service, elsewhere]) await isOnline(at, board, [ann, cid])
    expect(changes(there).sort()).toEqual(
      [`+${ann.username}`, `+${bob.username}`, `+${cid.username}`, `-${bob.username}`].sort(),
    )
    for (const socket of [there, late]) socket.terminate()
  })

  test('[PRES-3] [PRES-5] while Redis is down each instance knows its own users; afterwards all know all', async () => {
    const { board, users } = await makeBoard()
    const [ann, bob, cid] = users
    const here = await openAt(service, board, ann)
    const there = await openAt(elsewhere, board, bob)
    await joined(here, bob)
    await redis.process().end('SIGKILL')
    const late = await openAt(service, board, cid)
    await joined(here, cid)
    expect(await presenceAt(service, board)).toEqual(namesOf([ann, cid]))
    expect(await presenceAt(elsewhere, board)).toEqual(namesOf([bob]))
    await redis.start()
    for (const at of [service, elsewhere]) await isRegistered(at, board, [ann, bob, cid])
    await late.close()
    // An instance that has not subscribed again yet misses the message, and finds out after the grace period.
    for (const socket of [here, there])
      await inTime('user_left is sent', () => changes(socket).includes(`-${cid.username}`))
    expect(changes(here)).toEqual([`+${ann.username}`, `+${bob.username}`, `+${cid.username}`, `-${cid.username}`])
    for (const socket of [here, there]) socket.terminate()
  })
})

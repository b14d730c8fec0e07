import { setTimeout as pause } from 'node:timers/promises'
import { endProcesses, eventually, type Store, startRedis } from '@lockstep/testing/processes'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { openSocket, type TestSocket } from '@lockstep/testing/socket'
import { startProxy, type TcpProxy } from '@lockstep/testing/tcp-proxy'
import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const seconds = { heartbeat: 2, pong: 1 }
/** A redis-server of these tests' own, which they may empty and kill. One instance reaches it through a proxy. */
let redis: Store
let proxy: TcpProxy
let service: TestService
let elsewhere: TestService
beforeAll(async () => {
  redis = await startRedis()
  proxy = await startProxy(redis.url)
  service = await startService({ REDIS_URL: redis.url }, { seconds })
  elsewhere = await startService({ REDIS_URL: proxy.url }, { seconds, beside: service })
})
afterAll(async () => {
  await elsewhere.stop()
  await service.stop()
  await proxy.close()
  await endProcesses()
})

interface Crowd {
  board: TestBoard
  users: [TestUser, TestUser, TestUser]
}
/** A board with three members. */
async function crowd(): Promise<Crowd> {
  const board = await service.board()
  const guest = await service.user()
  await board.owner.api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: guest.id } })
  return { board, users: [board.owner, board.member, guest] }
}
async function openAt(at: TestService, { id }: TestBoard, { api }: TestUser): Promise<TestSocket> {
  const socket = openSocket({ base_url: at.base_url, token: api.token }, id)
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
  eventually('presence is as it should be', async () => {
    const names = await presenceAt(at, board)
    return JSON.stringify(names) === JSON.stringify(namesOf(users))
  })
/** What a socket was told of who comes and goes, in short. */
const told = ({ messages }: TestSocket) =>
  messages.flatMap(({ type, username }) =>
    type === 'user_joined' ? [`+${username}`] : type === 'user_left' ? [`-${username}`] : [],
  )
const joined = (socket: TestSocket, { id }: TestUser) =>
  socket.next((m) => m.type === 'user_joined' && m['user_id'] === id)
const left = (socket: TestSocket, { id }: TestUser, patienceMs?: number) =>
  socket.next((m) => m.type === 'user_left' && m['user_id'] === id, patienceMs)

describe('coming and going', () => {
  test('[PRES-1] [PRES-2] every connect is told to everybody once; only the last one that goes is a user who left', async () => {
    const { board, users } = await crowd()
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
    // Presence is told in one order: whatever was said twice, or too much, would stand before this.
    const last = await openAt(elsewhere, board, cid)
    await joined(here, cid)
    const [a, b, c] = namesInOrder(users)
    expect(told(here)).toEqual([`+${a}`, `+${b}`, `+${b}`, `+${b}`, `-${b}`, `+${c}`])
    expect(told(there)).toEqual([`+${b}`, `+${b}`])
    expect(there.messages[0]).toMatchObject({ type: 'user_joined', user_id: bob.id })
    expect(told(last)).toEqual([`+${c}`])
    for (const socket of [here, last]) socket.terminate()
  })
  const namesInOrder = (users: TestUser[]) => users.map(({ username }) => username)

  test('[PRES-1] [PRES-2] [PRES-3] after any coming and going everybody knows who is there', async () => {
    const { board, users } = await crowd()
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
      await eventually('the watcher knows who is there', () => {
        const known = new Set<string>()
        for (const note of told(watcher)) {
          if (note.startsWith('+')) known.add(note.slice(1))
          else known.delete(note.slice(1))
        }
        return JSON.stringify([...known].sort()) === JSON.stringify(namesOf(present))
      })
    }
    for (const { socket } of open) socket.terminate()
    for (const socket of watchers) socket.terminate()
    for (const at of [service, elsewhere]) await isOnline(at, board, [])
  })

  test('[PRES-1] of two who come at the same moment, the one or the other is told', async () => {
    for (let round = 0; round < 8; round++) {
      const { board, users } = await crowd()
      const sockets = await Promise.all(users.map((user, i) => openAt(i % 2 ? service : elsewhere, board, user)))
      // Presence is told in one order: who has seen these has seen everything before.
      const marker = await service.user()
      await board.owner.api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: marker.id } })
      const last = await openAt(service, board, marker)
      await Promise.all(sockets.map((socket) => joined(socket, marker)))
      const isTold = (a: number, b: number) => told(sockets[a] as TestSocket).includes(`+${users[b]?.username}`)
      for (const [a, b] of [
        [0, 1],
        [0, 2],
        [1, 2],
      ] as const)
        expect([round, a, b, isTold(a, b) || isTold(b, a)]).toEqual([round, a, b, true])
      for (const socket of [...sockets, last]) socket.terminate()
    }
  })

  test('[PRES-3] anybody with a token may ask; an unknown board is a 404', async () => {
    const { board, users } = await crowd()
    const [ann] = users
    const stranger = await service.user()
    const tabs = [await openAt(service, board, ann), await openAt(elsewhere, board, ann)]
    const params = { board_id: board.id }
    await isOnline(service, board, [ann])
    expect(await stranger.api.call('getPresence', { params })).toEqual({
      board_id: board.id,
      online_users: [{ user_id: ann.id, username: ann.username }],
    })
    for (const tab of tabs) await tab.close()
    await isOnline(elsewhere, board, [])
    const unknown = { board_id: '0198a000-0000-7000-8000-000000000000' }
    expect(await stranger.api.fail('getPresence', { params: unknown })).toMatchObject({ status: 404 })
    expect(await service.anybody.fail('getPresence', { params })).toMatchObject({ status: 401 })
  })

  test('[PRES-3] a service without Redis knows who is connected to it', async () => {
    const { board, users } = await crowd()
    const [ann, bob] = users
    const alone = await startService({ REDIS_URL: '' }, { seconds, beside: service })
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
    expect(told(first)).toEqual([`+${ann.username}`, `+${bob.username}`, `+${bob.username}`, `-${bob.username}`])
    expect(await presenceAt(alone, board)).toEqual(namesOf([ann]))
    first.terminate()
    await alone.stop()
  })
})

describe('a user who has just been told to have joined', () => {
  const asksAt = async (at: TestService, { id }: TestBoard, { api }: TestUser) => {
    const headers = { authorization: `Bearer ${api.token}` }
    const { body } = await at.anybody.request('GET', `/ws/boards/${id}/presence`, { headers })
    return (body as { online_users: { user_id: string }[] }).online_users.map(({ user_id }) => user_id)
  }

  test('[PRES-6] is online, whichever instance is asked', async () => {
    const far = await startProxy(redis.url, { askDelayMs: 80 })
    const distant = await startService({ REDIS_URL: far.url }, { seconds, beside: service })
    const { board, users } = await crowd()
    for (const user of users) {
      const socket = await openAt(distant, board, user)
      expect(await asksAt(service, board, user)).toContain(user.id)
      expect(socket.messages[0]).toMatchObject({ type: 'user_joined', user_id: user.id })
      await socket.close()
    }
    await distant.stop()
    await far.close()
  })

  test('[PRES-6] is online where they are connected, however slow Redis is', async () => {
    const slow = await startProxy(redis.url, { askDelayMs: 400 })
    const distant = await startService({ REDIS_URL: slow.url }, { seconds, beside: service })
    const { board, users } = await crowd()
    for (const user of users) {
      using socket = await openAt(distant, board, user)
      expect(await asksAt(distant, board, user)).toContain(user.id)
      expect(socket.closing).toBeUndefined()
    }
    await distant.stop()
    await slow.close()
  })

  test('[PRES-6] is online where they are connected while Redis is frozen, and is not held up', async () => {
    const { board, users } = await crowd()
    const frozen = await startProxy(redis.url)
    const cut = await startService({ REDIS_URL: frozen.url }, { seconds, beside: service })
    frozen.freeze()
    const sockets: TestSocket[] = []
    for (const user of users) {
      const start = performance.now()
      sockets.push(await openAt(cut, board, user))
      expect(performance.now() - start).toBeLessThan(2_000)
      expect(await asksAt(cut, board, user)).toContain(user.id)
    }
    for (const socket of sockets) socket.terminate()
    frozen.thaw()
    await cut.stop()
    await frozen.close()
  })
})

describe('healing', () => {
  const flush = async () => {
    // Numbers begin with the time of day: a new beginning within the same moment would look like a lost message.
    await pause(150)
    const client = await createClient({ url: redis.url }).connect()
    expect(await client.flushAll()).toBe('OK')
    client.destroy()
  }

  test('[PRES-5] when Redis loses all its data, nobody seems to leave, and presence is whole within a heartbeat', async () => {
    const { board, users } = await crowd()
    const [ann, bob, cid] = users
    const here = await openAt(service, board, ann)
    const there = await openAt(elsewhere, board, bob)
    await joined(here, bob)
    await flush()
    for (const at of [service, elsewhere]) await isOnline(at, board, [ann, bob])
    await there.close()
    await left(here, bob)
    const last = await openAt(elsewhere, board, cid)
    await joined(here, cid)
    expect(told(here)).toEqual([`+${ann.username}`, `+${bob.username}`, `-${bob.username}`, `+${cid.username}`])
    for (const socket of [here, last]) socket.terminate()
  })

  test('[PRES-5] who leaves while Redis knows nothing of him is told of in the end', async () => {
    const { board, users } = await crowd()
    const [ann, bob] = users
    const here = await openAt(service, board, ann)
    const there = await openAt(elsewhere, board, bob)
    await joined(here, bob)
    await flush()
    await there.close()
    await left(here, bob, 15_000)
    for (const at of [service, elsewhere]) await isOnline(at, board, [ann])
    expect(told(here)).toEqual([`+${ann.username}`, `+${bob.username}`, `-${bob.username}`])
    here.terminate()
  })

  test('[PRES-5] when Redis loses one of his connections, a user does not seem to leave with the other', async () => {
    const { board, users } = await crowd()
    const [ann, bob] = users
    const here = await openAt(service, board, ann)
    const first = await openAt(service, board, bob)
    await isOnline(service, board, [ann, bob])
    const client = await createClient({ url: redis.url }).connect()
    const [key = ''] = await client.keys(`*:p:connections:${board.id}`)
    const known = await client.zRange(key, 0, -1)
    const second = await openAt(service, board, bob)
    await eventually('both are known', async () => (await client.zCard(key)) === known.length + 1)
    const lost = (await client.zRange(key, 0, -1)).filter((member) => !known.includes(member))
    expect(await client.zRem(key, lost)).toBe(1)
    await client.hIncrBy(key.replace('connections', 'users'), bob.id, -1)
    await first.close()
    await eventually('he is known again', async () => (await client.zRange(key, 0, -1)).join().includes(bob.id))
    client.destroy()
    await isOnline(service, board, [ann, bob])
    expect(told(here)).toEqual([`+${ann.username}`, `+${bob.username}`, `+${bob.username}`])
    for (const socket of [here, second]) socket.terminate()
  })

  test('[PRES-5] an instance that missed the messages learns of them by itself', async () => {
    const { board, users } = await crowd()
    const [ann, bob, cid] = users
    const there = await openAt(elsewhere, board, ann)
    const here = await openAt(service, board, bob)
    await joined(there, bob)
    proxy.freeze()
    const late = await openAt(service, board, cid)
    await joined(here, cid)
    await here.close()
    // What was on its way is lost with the connection.
    proxy.cut()
    proxy.thaw()
    await joined(there, cid)
    await eventually('the one who left is told of', () => told(there).includes(`-${bob.username}`))
    for (const at of [service, elsewhere]) await isOnline(at, board, [ann, cid])
    expect(told(there).sort()).toEqual(
      [`+${ann.username}`, `+${bob.username}`, `+${cid.username}`, `-${bob.username}`].sort(),
    )
    for (const socket of [there, late]) socket.terminate()
  })

  test('[PRES-3] [PRES-5] while Redis is down each instance knows its own; when it is back everybody knows everybody', async () => {
    const { board, users } = await crowd()
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
    await joined(there, cid)
    for (const at of [service, elsewhere]) await isOnline(at, board, [ann, bob, cid])
    await late.close()
    await Promise.all([left(here, cid), left(there, cid)])
    expect(told(here)).toEqual([`+${ann.username}`, `+${bob.username}`, `+${cid.username}`, `-${cid.username}`])
    for (const socket of [here, there]) socket.terminate()
  })
})

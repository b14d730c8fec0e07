import { openSimulatedBoard, title } from '@lockstep/testing/client/simulated-board'
import { SimulatedNetwork } from '@lockstep/testing/client/simulated-network'
import { describe, expect, test } from 'vitest'
import type { Api } from './api.ts'
import { LiveBoard } from './live-board.ts'

describe('the connection of a live board', () => {
  test('[SYNC-33] presence is empty without a WebSocket: both offline and while polling', async () => {
    const network = new SimulatedNetwork(2)
    const { board } = await openSimulatedBoard(network)
    expect(board.presence).toHaveLength(1)
    network.kill()
    await network.run(5_000)
    expect([board.status.phase, board.presence]).toEqual(['offline', []])
    Object.assign(network, { isUp: true, blocksSockets: true })
    await network.run(60_000)
    expect([board.status.phase, board.presence]).toEqual(['polling', []])
    network.blocksSockets = false
    await network.run(90_000)
    expect([board.status.phase, board.presence.length]).toEqual(['live', 1])
    await board.close()
  })

  test('[SYNC-11] a dead connection is detected within 45 seconds', async () => {
    const network = new SimulatedNetwork(3)
    const { board } = await openSimulatedBoard(network)
    for (const socket of network.sockets) socket.isDead = true
    network.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'missed' } })
    const opens = network.openedAt.length
    await network.run(45_000)
    expect(network.openedAt.length).toBeGreaterThan(opens)
    await network.run(1_000)
    expect(title(board)).toBe('missed')
    await board.close()
  })

  test('[SYNC-11] a dead connection is detected immediately when the network is back or the machine has slept', async () => {
    const network = new SimulatedNetwork(4)
    const { board, wake } = await openSimulatedBoard(network)
    for (const socket of network.sockets) socket.isDead = true
    network.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'first' } })
    wake(true)
    await network.run(500)
    expect(title(board)).toBe('first')
    await network.run(6_000)
    for (const socket of network.sockets) socket.isDead = true
    network.server.execute('user-1', 'l', { name: 'updateBoard', input: { title: 'second' } })
    network.sleep(20_000)
    await network.run(1_000)
    expect(title(board)).toBe('second')
    await board.close()
  })

  test('[SYNC-11] a background tab with timers once a minute keeps its connection', async () => {
    const network = new SimulatedNetwork(16)
    const environment = network.environment()
    const { board } = await openSimulatedBoard(network, 'user-0', {
      environment: {
        ...environment,
        after: (ms, work) => environment.after(Math.max(ms, 60_000 - (network.now % 60_000)), work),
      },
    })
    await network.run(60_000)
    const opens = network.openedAt.length
    await network.run(600_000)
    expect([board.status.phase, network.openedAt.length]).toEqual(['live', opens])
    await board.close()
  })

  test('[SYNC-12] without WebSockets it polls, and returns to WebSockets when they work again', async () => {
    const network = new SimulatedNetwork(5)
    network.blocksSockets = true
    const { board } = await openSimulatedBoard(network)
    await network.run(30_000)
    expect(board.status.phase).toBe('polling')
    network.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'polled' } })
    await network.run(6_000)
    expect(title(board)).toBe('polled')
    const { done } = board.change('updateBoard', { title: 'sent while polling' })
    await network.run(6_000)
    expect(await done).toEqual({ outcome: 'confirmed' })
    network.blocksSockets = false
    await network.run(70_000)
    expect(board.status.phase).toBe('live')
    await board.close()
  })

  test('[SYNC-12] it polls if WebSockets are unavailable, and ignores invalid messages', async () => {
    const network = new SimulatedNetwork(14)
    const environment = network.environment()
    environment.openSocket = () => {
      throw new Error('no sockets here')
    }
    const { board } = await openSimulatedBoard(network, 'user-0', { environment })
    await network.run(30_000)
    expect(board.status.phase).toBe('polling')
    await board.close()
    const { board: other } = await openSimulatedBoard(network)
    for (const socket of network.sockets) socket.onmessage?.({ data: '<html>' })
    expect(other.status.phase).toBe('live')
    await other.close()
  })

  test('[SYNC-36] neither missing events nor a whole board are requested again before Retry-After', async () => {
    const network = new SimulatedNetwork(2)
    const api = network.api('user-0')
    const requestedAt: Record<string, number[]> = { listEvents: [], getBoard: [] }
    let isLimited = false
    const limited: Api = {
      ...api,
      request: async (name, ...rest) => {
        requestedAt[name]?.push(network.now)
        if (isLimited && requestedAt[name])
          throw Object.assign(new Error(), { status: 429, code: 'too_many_requests', retryAfterSeconds: 20 })
        return api.request(name, ...rest)
      },
    }
    const board = new LiveBoard(limited, 'board', { environment: network.environment() })
    await network.run(2_000)
    /** The time between the first request, which gets 429, and the next one, which leads to this title. */
    const waitOf = async (name: string, shown: string) => {
      isLimited = true
      requestedAt[name] = []
      network.deliverEvents()
      await network.run(10_000)
      isLimited = false
      await network.run(60_000)
      expect(title(board)).toBe(shown)
      const [first = 0, second = 0] = requestedAt[name]
      return second - first
    }
    // The first of two events is lost.
    network.server.execute('user-1', 'a', { name: 'updateBoard', input: { title: 'lost' } })
    for (const socket of network.sockets) socket.next++
    network.server.execute('user-1', 'b', { name: 'updateBoard', input: { title: 'later' } })
    expect(await waitOf('listEvents', 'later')).toBeGreaterThanOrEqual(20_000)
    network.server.restore(network.server.seq - 1)
    network.closeSockets(1012)
    expect(await waitOf('getBoard', 'lost')).toBeGreaterThanOrEqual(20_000)
    await board.close()
  })

  test('[SYNC-26] retry connects immediately, and leaves a working connection alone', async () => {
    const network = new SimulatedNetwork(18)
    const { board } = await openSimulatedBoard(network)
    const { since } = board.status
    expect(since).toBeLessThanOrEqual(2_000)
    const { status } = board
    board.retry()
    await network.run(30_000)
    expect([network.openedAt.length, board.status === status]).toEqual([1, true])
    network.kill()
    await network.run(100)
    const disconnectedAt = board.status.since
    expect(disconnectedAt).toBeGreaterThan(since)
    board.change('updateBoard', { title: 'waits' })
    for (let i = 0; i < 5; i++) {
      await network.run(20_000)
      // It keeps retrying and stays offline.
      expect(board.status).toMatchObject({ phase: 'offline', since: disconnectedAt })
    }
    network.isUp = true
    board.retry()
    await network.run(300)
    expect(board.status).toMatchObject({ phase: 'live', pending: 0 })
    expect([board.status.since > disconnectedAt, title(board), network.server.board.title]).toEqual([
      true,
      'waits',
      'waits',
    ])
    await board.close()
  })

  test.each([
    ['are disconnected by a shutdown', { code: 1012, awayS: 0, withinS: 5, spanMs: 1_000, share: 1 / 3 }],
    ['are asked to retry later', { code: 1013, awayS: 0, withinS: 46, spanMs: 1_000, share: 1 / 15 }],
    ['lose the service for 10 seconds', { code: 1006, awayS: 10, withinS: 16, spanMs: 1_000, share: 1 / 5 }],
    ['lose their connections', { code: 1006, awayS: 0, withinS: 2, spanMs: 100, share: 1 / 6 }],
  ])(
    '[SYNC-18] a thousand clients that %s reconnect spread over time',
    async (_, outage) => {
      const { code, awayS, withinS, spanMs, share } = outage
      const network = new SimulatedNetwork(12)
      const make = () => new LiveBoard(network.api('user-0'), 'board', { environment: network.environment() })
      const boards = Array.from({ length: 1_000 }, make)
      await network.run(2_000)
      network.openedAt.length = 0
      network.isUp = awayS === 0
      network.closeSockets(code)
      await network.run(awayS * 1_000)
      network.isUp = true
      await network.run(withinS * 1_000)
      expect(network.openedAt).toHaveLength(1_000)
      expect(maxWithin(network.openedAt, spanMs)).toBeLessThan(1_000 * share)
      await Promise.all(boards.map((board) => board.close()))
    },
    60_000,
  )
})

/** The maximum number of times within any span of this length. */
const maxWithin = (times: number[], spanMs: number) =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + spanMs).length))

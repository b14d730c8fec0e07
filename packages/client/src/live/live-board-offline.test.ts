import { memoryQueue } from '@lockstep/testing/client/memory-queue'
import { firstCard, openSimulatedBoard, title } from '@lockstep/testing/client/simulated-board'
import { SimulatedNetwork } from '@lockstep/testing/client/simulated-network'
import { describe, expect, test } from 'vitest'
import type { Api } from './api.ts'
import { LiveBoard, type Snapshot } from './live-board.ts'
import type { FullBoard } from './types.ts'

describe('a live board offline', () => {
  test('[SYNC-28] the snapshot is the server’s board at a position, without unconfirmed changes', async () => {
    const network = new SimulatedNetwork(2)
    const { board } = await openSimulatedBoard(network)
    board.change('updateBoard', { title: 'confirmed' })
    await network.run(1_000)
    board.change('updateBoard', { title: 'in flight' })
    expect(title(board)).toBe('in flight')
    expect(board.snapshot()).toEqual({ board: network.server.board, position: board.position })
    expect(board.snapshot()?.board.title).toBe('confirmed')
    await board.close()
  })

  test('[SYNC-34] changes left in the queue by one tab are sent by another tab of the user as soon as it becomes active', async () => {
    const network = new SimulatedNetwork(2)
    const storage = memoryQueue()
    const { board, wake } = await openSimulatedBoard(network, 'user-0', { storage, userId: 'user-0' })
    network.kill()
    const { position, board: stored } = board.snapshot() as Snapshot
    const loadStored = async () => ({ position, read: async () => stored })
    const { board: other } = await openSimulatedBoard(network, 'user-0', { storage, userId: 'user-0', loadStored })
    other.change('updateBoard', { title: 'from the queue' })
    await network.run(1_000)
    await other.close()
    network.isUp = true
    await network.run(30_000)
    expect([board.status.phase, title(board)]).toEqual(['live', 'Board'])
    wake(false)
    await network.run(1_000)
    expect([title(board), network.server.board.title, storage.texts.size]).toEqual([
      'from the queue',
      'from the queue',
      0,
    ])
    await board.close()
    expect(network.timers).toBe(0)
  })

  test('[SYNC-30] offline, it shows the stored board with the queued changes, and continues from there', async () => {
    const network = new SimulatedNetwork(2)
    const storage = memoryQueue()
    const { board } = await openSimulatedBoard(network, 'user-0', { storage })
    const { board: stored, position } = board.snapshot() as Snapshot
    const loadStored = async () => ({ position, read: async () => stored })
    await board.close()
    network.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'meanwhile' } })
    network.kill()
    const { board: again } = await openSimulatedBoard(network, 'user-0', { storage, userId: 'user-0', loadStored })
    expect([again.view, again.position, again.status.phase]).toEqual([stored, position, 'offline'])
    again.change('updateCard', { card_id: firstCard(again), title: 'offline' })
    const types: string[] = []
    again.onEvent(({ type }) => void types.push(type))
    network.isUp = true
    await network.run(30_000)
    expect(types).toEqual(['board.updated', 'card.updated'])
    expect(again.view).toEqual(network.server.board)
    await again.close()
  })

  test.each([
    { retryAfterSeconds: 60, outcome: 'confirmed' },
    { retryAfterSeconds: 3_600, outcome: 'rejected' },
  ])(
    '[SYNC-5] a rate limit of $retryAfterSeconds seconds: the change is $outcome, and later ones do not wait longer',
    async ({ retryAfterSeconds, outcome }) => {
      const network = new SimulatedNetwork(2)
      const api = network.api('user-0')
      let refusals = 1
      const limited: Api = {
        ...api,
        request: async (name, ...rest) => {
          if (name === 'updateCard' && refusals-- > 0)
            throw Object.assign(new Error(), { status: 429, code: 'too_many_requests', retryAfterSeconds })
          return api.request(name, ...rest)
        },
      }
      const live = new LiveBoard(limited, 'board', { environment: network.environment() })
      await network.run(1_000)
      const limitedOne = live.change('updateCard', { card_id: firstCard(live), title: 'Limited' })
      const renamed = live.change('updateBoard', { title: 'Later' })
      await network.run(90_000)
      expect((await limitedOne.done).outcome).toBe(outcome)
      expect((await renamed.done).outcome).toBe('confirmed')
      await live.close()
    },
  )

  test('[SYNC-30] while the service is overloaded, it shows the stored board as soon as it is loaded', async () => {
    const network = new SimulatedNetwork(2)
    const { board } = await openSimulatedBoard(network)
    const { board: stored, position } = board.snapshot() as Snapshot
    await board.close()
    const overloaded: Api = {
      ...network.api('user-0'),
      request: async () => {
        throw Object.assign(new Error(), { status: 503, code: 'overloaded', retryAfterSeconds: 30 })
      },
    }
    // After the ticket request has failed.
    const read = () => new Promise<FullBoard>((resolve) => network.environment().after(500, () => resolve(stored)))
    const live = new LiveBoard(overloaded, 'board', {
      environment: network.environment(),
      loadStored: async () => ({ position, read }),
    })
    const shown: unknown[] = []
    live.subscribe(() => shown.push(live.view))
    await network.run(2_000)
    expect(shown.at(-1)).toEqual(stored)
    await live.close()
  })

  test('[SYNC-30] a response older than the stored board is not shown; one of a new epoch is', async () => {
    const network = new SimulatedNetwork(2)
    const { board } = await openSimulatedBoard(network)
    for (let i = 0; i < 5; i++)
      network.server.execute('user-1', `k${i}`, { name: 'updateBoard', input: { title: `${i}` } })
    network.deliverEvents()
    await network.run(1_000)
    const { board: stored, position } = board.snapshot() as Snapshot
    await board.close()
    const loadStored = async () => ({ position, read: async () => stored })
    network.staleness = 1
    for (let i = 0; i < 10; i++) {
      const shown: (string | undefined)[] = []
      const live = new LiveBoard(network.api('user-0'), 'board', { environment: network.environment(), loadStored })
      live.subscribe(() => void shown.push(title(live)))
      await network.run(1_000)
      expect(new Set(shown)).toEqual(new Set(['4']))
      await live.close()
    }
    network.staleness = 0
    network.server.restore(network.server.seq - 3)
    const { board: restored } = await openSimulatedBoard(network, 'user-0', { loadStored })
    expect([title(restored), restored.position]).toEqual(['1', `2.${network.server.seq}`])
    await restored.close()
  })

  test('[SYNC-13] unsent changes survive a reload and are sent once', async () => {
    const network = new SimulatedNetwork(6)
    const storage = memoryQueue()
    const { board } = await openSimulatedBoard(network, 'user-0', { storage })
    network.kill()
    const { id } = board.change('createCard', { column_id: 'column-a', title: 'offline' })
    board.change('updateCard', { card_id: id, description: 'more' })
    await network.run(10_000)
    expect(board.status).toMatchObject({ phase: 'offline', pending: 2 })
    await board.close()
    expect(storage.texts.size).toBe(2)
    network.isUp = true
    const { board: again } = await openSimulatedBoard(network, 'user-0', { storage })
    await network.run(2_000)
    expect(again.status).toMatchObject({ phase: 'live', pending: 0 })
    expect(storage.texts.size).toBe(0)
    expect(again.view?.columns[0]?.cards.at(-1)).toMatchObject({ id, title: 'offline', description: 'more' })
    const { board: otherUsers } = await openSimulatedBoard(network, 'user-1', { storage })
    expect(otherUsers.status.pending).toBe(0)
    await Promise.all([again.close(), otherUsers.close()])
  })
})

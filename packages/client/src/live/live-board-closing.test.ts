import { openSimulatedBoard } from '@lockstep/testing/client/simulated-board'
import { SimulatedNetwork } from '@lockstep/testing/client/simulated-network'
import { describe, expect, test } from 'vitest'
import type { Api } from './api.ts'
import { LiveBoard, openBoard } from './live-board.ts'

const nowhere = (): never => {
  throw new Error('no sockets here')
}

describe('closing a live board', () => {
  test('[SYNC-17] with an aborted signal nothing is opened', async () => {
    const network = new SimulatedNetwork(14)
    const options = { environment: network.environment(), signal: AbortSignal.abort(new Error('too late')) }
    const failed = expect(openBoard(network.api('user-0'), 'board', options)).rejects.toThrow('too late')
    await network.run(5_000)
    await failed
    expect(network.timers).toBe(0)
  })

  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'deleted'],
  ])('[SYNC-16] status %i closes the board with reason %s', async (status, reason) => {
    const network = new SimulatedNetwork(10)
    const { board } = await openSimulatedBoard(network)
    const made = board.change('updateBoard', { title: 'too late' })
    network.failWith = status
    network.closeSockets(1008)
    await network.run(5_000)
    expect(board.status).toMatchObject({ phase: 'closed', reason })
    expect(['unknown', 'rejected']).toContain((await made.done).outcome)
    const opening = openBoard(network.api('user-0'), 'board', { environment: network.environment() })
    const failed = expect(opening).rejects.toMatchObject({ status })
    await network.run(5_000)
    await failed
    expect(network.timers).toBe(0)
  })

  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
  ])(
    '[SYNC-27] after a %i, the board can be reopened with its pending changes when the user has access again',
    async (status, reason) => {
      const network = new SimulatedNetwork(20)
      const { board } = await openSimulatedBoard(network)
      const types: string[] = []
      let notifications = 0
      board.onEvent(({ type }) => void types.push(type))
      board.subscribe(() => void notifications++)
      board.change('updateBoard', { title: 'undone' })
      await network.run(500)
      board.undo()
      await network.run(500)
      network.failWith = status
      network.closeSockets(1008)
      await network.run(5_000)
      expect(board.status).toMatchObject({ phase: 'closed', reason })
      const { id, done } = board.change('createCard', { column_id: 'column-a', title: 'created while closed' })
      network.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'missed' } })
      board.retry()
      await network.run(5_000)
      expect(board.status).toMatchObject({ phase: 'closed', reason, pending: 1 })
      network.failWith = undefined
      const before = notifications
      board.retry()
      board.retry()
      await network.run(2_000)
      expect(board.status).toMatchObject({ phase: 'live', reason: undefined, pending: 0 })
      expect([await done, board.canRedo, notifications > before]).toEqual([{ outcome: 'confirmed' }, false, true])
      expect(board.view).toEqual(network.server.board)
      expect(network.server.log.filter(({ event }) => (event.data as { id: string }).id === id)).toHaveLength(1)
      expect(types).toEqual(['board.updated', 'board.updated', 'board.updated', 'card.created'])
      expect(network.sockets.size).toBe(1)
      await board.close()
      board.retry()
      await network.run(5_000)
      expect([board.status.phase, network.timers, network.sockets.size]).toEqual(['closed', 0, 0])
      expect(await board.change('updateBoard', { title: 'too late' }).done).toEqual({ outcome: 'unknown' })
    },
  )

  test('[SYNC-27] pending changes of one user are not sent by another, and the board can still be closed permanently', async () => {
    const network = new SimulatedNetwork(21)
    let user_id = 'user-0'
    const api: Api = { baseUrl: '', request: (...request) => network.api(user_id).request(...request) }
    const board = new LiveBoard(api, 'board', { environment: { ...network.environment(), openSocket: nowhere } })
    board.change('updateBoard', { title: 'by user 0' })
    network.failWith = 401
    await network.run(5_000)
    network.failWith = undefined
    board.retry()
    await network.run(1_000)
    expect(network.server.board.title).toBe('by user 0')
    const { done } = board.change('updateBoard', { title: 'queued' })
    network.failWith = 401
    await network.run(60_000)
    expect(board.status).toMatchObject({ phase: 'closed', reason: 'unauthorized', pending: 1 })
    expect(await done).toEqual({ outcome: 'unknown' })
    network.failWith = undefined
    user_id = 'user-1'
    board.retry()
    await network.run(60_000)
    expect(board.status).toMatchObject({ phase: 'closed', reason: 'unauthorized', pending: 1 })
    expect(network.server.board.title).toBe('by user 0')
    const left = board.change('updateBoard', { title: 'later' })
    await board.close()
    expect(await left.done).toEqual({ outcome: 'unknown' })
    user_id = 'user-0'
    board.retry()
    await network.run(60_000)
    expect([board.status.reason, network.timers]).toEqual(['unauthorized', 0])
  })

  test('[SYNC-16] deleting the board closes it after its last event', async () => {
    const network = new SimulatedNetwork(13)
    const { board } = await openSimulatedBoard(network)
    const events = board.events()
    network.server.emit('board.deleted', { id: 'board' })
    network.deliverEvents()
    await network.run(500)
    expect(board.status).toMatchObject({ phase: 'closed', reason: 'deleted' })
    expect(await events.next()).toMatchObject({ value: { type: 'board.deleted' } })
    expect(await events.next()).toEqual({ value: undefined, done: true })
  })

  test.each(['createTicket', 'getBoard', 'getPresence', 'listEvents', 'updateBoard'])(
    '[SYNC-17] closing while %s is in flight leaves no timer',
    async (awaited) => {
      const network = new SimulatedNetwork(19)
      const inner = network.api('user-0')
      let close: (() => void) | undefined
      const request: Api['request'] = (name, input, options) => {
        if (name === awaited) {
          close?.()
          close = undefined
        }
        return inner.request(name, input, options)
      }
      const api: Api = { baseUrl: inner.baseUrl, request }
      const environment = network.environment()
      const board = new LiveBoard(api, 'board', { environment })
      await network.run(2_000)
      const closed = new Promise<void>((resolve) => {
        close = () => network.schedule(1, () => resolve(board.close()))
      })
      network.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'missed' } })
      for (const socket of network.sockets) socket.next = network.server.seq
      // The response of this change reveals the missed event; otherwise the next hello does.
      if (awaited !== 'getBoard') board.change('updateBoard', { title: 'mine' })
      await network.run(awaited === 'listEvents' ? 2_000 : 50)
      network.server.restore(network.server.seq - 1)
      network.closeSockets(1012)
      await network.run(10_000)
      await closed
      expect([board.status.phase, network.timers, network.sockets.size]).toEqual(['closed', 0, 0])
    },
  )

  test('[SYNC-17] closing leaves no timer, no WebSocket and no pending reader', async () => {
    const network = new SimulatedNetwork(11)
    const { board } = await openSimulatedBoard(network)
    const next = board.events().next()
    {
      await using it = board
      it.change('updateBoard', { title: 'in flight' })
    }
    expect(await next).toEqual({ value: undefined, done: true })
    expect(board.status).toMatchObject({ phase: 'closed', reason: 'closed' })
    await network.run(60_000)
    expect(network.timers).toBe(0)
    expect(network.sockets.size).toBe(0)
  })
})

import { firstCard, openSimulatedBoard, title } from '@lockstep/testing/client/simulated-board'
import { SimulatedNetwork } from '@lockstep/testing/client/simulated-network'
import { describe, expect, test } from 'vitest'
import type { BoardEvent, FullBoard } from './types.ts'

describe('a live board', () => {
  test('[SYNC-10] shows a change immediately, and confirms it when the server has applied it', async () => {
    const network = new SimulatedNetwork(1)
    const { board } = await openSimulatedBoard(network)
    expect(board.status).toMatchObject({ phase: 'live', pending: 0, reason: undefined })
    const { id, done } = board.change('createCard', { column_id: 'column-a', title: 'new', position: 0 })
    expect(board.view?.columns[0]?.cards[0]).toMatchObject({ id, title: 'new' })
    expect(board.status.pending).toBe(1)
    await network.run(1_000)
    expect(await done).toEqual({ outcome: 'confirmed' })
    expect(board.status.pending).toBe(0)
    expect(board.view).toEqual(network.server.board)
    expect(board.presence).toEqual([{ user_id: 'user-0', username: 'user-0' }])
    await board.close()
  })

  test('[SYNC-10] two tabs of one user show each other’s changes', async () => {
    const network = new SimulatedNetwork(2)
    const [{ board: one }, { board: other }] = [await openSimulatedBoard(network), await openSimulatedBoard(network)]
    one.change('updateBoard', { title: 'from one' })
    await network.run(500)
    expect(title(other)).toBe('from one')
    await Promise.all([one.close(), other.close()])
  })

  test('[SYNC-14] a rejected change is rolled back, and its text is kept', async () => {
    const network = new SimulatedNetwork(7)
    const { board } = await openSimulatedBoard(network)
    const card_id = firstCard(board)
    network.server.execute('user-1', 'k', { name: 'deleteCard', input: { card_id } })
    const { key, done } = board.change('updateCard', { card_id, title: 'typed' })
    await network.run(1_000)
    expect(await done).toMatchObject({ outcome: 'rejected', failure: { text: 'typed', problem: { status: 404 } } })
    expect(board.view).toEqual(network.server.board)
    expect(board.failedChanges).toHaveLength(1)
    board.dismiss(key)
    expect(board.failedChanges).toHaveLength(0)
    await board.close()
  })

  test('[SYNC-14] a discarded change is rolled back and not reported as confirmed', async () => {
    const network = new SimulatedNetwork(13)
    const { board } = await openSimulatedBoard(network)
    const before = title(board)
    network.kill()
    const { key, done } = board.change('updateBoard', { title: 'discarded' })
    await network.run(5_000)
    board.discard(key)
    expect(await done).toEqual({ outcome: 'discarded' })
    expect(title(board)).toBe(before)
    await board.close()
  })

  test('[SYNC-14] [SYNC-24] undo and redo also apply on the server', async () => {
    const network = new SimulatedNetwork(8)
    const { board } = await openSimulatedBoard(network)
    const before = board.view as FullBoard
    board.change('moveCard', { card_id: firstCard(board), column_id: 'column-c', position: 0 })
    await network.run(500)
    expect(board.canUndo).toBe(true)
    board.undo()
    await network.run(500)
    const ids = (view?: FullBoard) => view?.columns.map((column) => column.cards.map((card) => card.id))
    expect(ids(network.server.board)).toEqual(ids(before))
    expect([board.canUndo, board.canRedo]).toEqual([false, true])
    const [again] = board.redo()
    expect(board.view?.columns[2]?.cards[0]?.id).toBe(again?.id)
    await network.run(500)
    expect(await again?.done).toEqual({ outcome: 'confirmed' })
    expect(network.server.board.columns[2]?.cards[0]?.id).toBe(again?.id)
    expect([board.canUndo, board.canRedo, board.redo()]).toEqual([true, false, []])
    await board.close()
  })

  test('[SYNC-24] a change can be undone by its own `undo`, even after later changes', async () => {
    const network = new SimulatedNetwork(8)
    const { board } = await openSimulatedBoard(network)
    const card_id = firstCard(board)
    const removed = board.change('deleteCard', { card_id })
    board.change('updateBoard', { title: 'renamed' })
    await network.run(500)
    expect(removed.undo().map(({ change }) => change.name)).toEqual(['restoreRemoved'])
    await network.run(500)
    expect([firstCard(board), network.server.board.title]).toEqual([card_id, 'renamed'])
    expect(removed.undo()).toEqual([])
    await board.close()
  })

  test('[SYNC-15] events arrive once and in order across reconnects; a slow reader gets a resync', async () => {
    const network = new SimulatedNetwork(9)
    const { board } = await openSimulatedBoard(network)
    const first = network.server.seq
    const [events, slow] = [board.events(), board.events()]
    const seqs: number[] = []
    const reading = (async () => {
      for await (const event of events) seqs.push((event as BoardEvent).seq)
    })()
    for (let i = 0; i < 1_200; i++) {
      network.server.execute('user-1', `k${i}`, { name: 'updateBoard', input: { title: `${i}` } })
      if (i % 300 === 100) network.closeSockets(1006)
      if (i % 100 === 0) await network.run(2_000)
    }
    await network.run(5_000)
    expect(await slow.next()).toEqual({ value: { type: 'resync' }, done: false })
    await board.close()
    await reading
    expect(seqs).toEqual(Array.from({ length: 1_200 }, (_, i) => first + 1 + i))
  })

  test('[SYNC-23] a listener gets every event after the view shows it, and whether this board caused it', async () => {
    const network = new SimulatedNetwork(17)
    const [{ board: one }, { board: other }] = [await openSimulatedBoard(network), await openSimulatedBoard(network)]
    const card_id = firstCard(one)
    const received: [string, boolean][][] = [[], []]
    const titles: (string | undefined)[] = []
    ;[one, other].forEach((board, i) => {
      board.onEvent((event, { isOwn }) => void received[i]?.push([event.type, isOwn]))
    })
    const stop = one.onEvent(() => {
      titles.push(title(one))
      throw new Error('listener failed')
    })
    const reported: unknown[] = []
    const report = (error: unknown) => void reported.push(error)
    const others = process.rawListeners('uncaughtException')
    process.removeAllListeners('uncaughtException').on('uncaughtException', report)
    one.change('updateBoard', { title: 'from one' })
    await network.run(1_000)
    process.removeListener('uncaughtException', report)
    for (const each of others) process.on('uncaughtException', each as () => void)
    stop()
    expect([titles, reported]).toMatchObject([['from one'], [{ message: 'listener failed' }]])
    other.change('moveCard', { card_id, position: 1 })
    network.server.execute('user-1', 'k', { name: 'updateCard', input: { card_id, title: 'by another' } })
    await network.run(1_000)
    network.server.restore(network.server.seq - 1)
    network.closeSockets(1012)
    await network.run(10_000)
    const kinds = ['board.updated', 'card.updated', 'card.moved', 'resync']
    expect(received[0]).toEqual(kinds.map((kind, i) => [kind, i === 0]))
    expect(received[1]).toEqual(kinds.map((kind, i) => [kind, i === 2]))
    await Promise.all([one.close(), other.close()])
  })

  test('[SYNC-14] a change that never gets a response can be discarded', async () => {
    const network = new SimulatedNetwork(15)
    const { board } = await openSimulatedBoard(network)
    network.failWith = 500
    const { key, done } = board.change('updateBoard', { title: 'failing' })
    await network.run(20_000)
    expect(board.pending).toMatchObject([{ key, state: 'queued' }])
    network.failWith = undefined
    board.discard(key)
    await network.run(1_000)
    expect(await done).toEqual({ outcome: 'discarded' })
    expect(board.view).toEqual(network.server.board)
    await board.close()
  })
})

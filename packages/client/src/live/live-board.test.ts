import { simulateDriver } from '@lockstep/testing/client/driver-simulation'
import { driverMutations, mutantBoard, removeMutants } from '@lockstep/testing/client/mutants'
import { memoryQueue, VirtualWorld } from '@lockstep/testing/client/virtual-world'
import { afterAll, describe, expect, test } from 'vitest'
import type { Api } from './api.ts'
import { LiveBoard, type LiveOptions, openBoard, type Snapshot } from './live-board.ts'
import type { BoardEvent, FullBoard } from './types.ts'

const MUTANT_SEEDS = 60
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 60)

afterAll(() => removeMutants('driver'))

/** A board that was opened in a virtual world, ready. */
async function opened(world: VirtualWorld, user_id = 'user-0', options: LiveOptions = {}) {
  const wakers = new Set<(is_online: boolean) => void>()
  const environment = world.environment(wakers)
  const opening = openBoard(world.api(user_id), 'board', { environment, ...options })
  await world.run(2_000)
  const board = await opening
  const wake = (is_online: boolean) => {
    for (const waker of [...wakers]) waker(is_online)
  }
  return { board, wake }
}
const nowhere = (): never => {
  throw new Error('no sockets here')
}
const firstCard = (board: LiveBoard) => (board.view as FullBoard).columns[0]?.cards[0]?.id ?? ''
const title = (board: LiveBoard) => board.view?.title

describe('a live board', () => {
  test('[SYNC-10] shows a change at once, and confirms it when the server has', async () => {
    const world = new VirtualWorld(1)
    const { board } = await opened(world)
    expect(board.status).toMatchObject({ phase: 'live', pending: 0, reason: undefined })
    const { id, done } = board.change('createCard', { column_id: 'column-a', title: 'new', position: 0 })
    expect(board.view?.columns[0]?.cards[0]).toMatchObject({ id, title: 'new' })
    expect(board.status.pending).toBe(1)
    await world.run(1_000)
    expect(await done).toEqual({ outcome: 'confirmed' })
    expect(board.status.pending).toBe(0)
    expect(board.view).toEqual(world.server.board)
    expect(board.presence).toEqual([{ user_id: 'user-0', username: 'user-0' }])
    await board.close()
  })

  test('[SYNC-10] two tabs of one user show each other’s changes', async () => {
    const world = new VirtualWorld(2)
    const [{ board: one }, { board: other }] = [await opened(world), await opened(world)]
    one.change('updateBoard', { title: 'from one' })
    await world.run(500)
    expect(title(other)).toBe('from one')
    await Promise.all([one.close(), other.close()])
  })

  test('[SYNC-28] the snapshot is the server’s board at a position, without what is not confirmed', async () => {
    const world = new VirtualWorld(2)
    const { board } = await opened(world)
    board.change('updateBoard', { title: 'confirmed' })
    await world.run(1_000)
    board.change('updateBoard', { title: 'on its way' })
    expect(title(board)).toBe('on its way')
    expect(board.snapshot()).toEqual({ board: world.server.board, position: board.position })
    expect(board.snapshot()?.board.title).toBe('confirmed')
    await board.close()
  })

  test('[SYNC-34] what a page left in the queue is sent by another one of the user, as soon as that is looked at', async () => {
    const world = new VirtualWorld(2)
    const storage = memoryQueue()
    const { board, wake } = await opened(world, 'user-0', { storage, user_id: 'user-0' })
    world.kill()
    const { position, board: stored } = board.snapshot() as Snapshot
    const loadStored = async () => ({ position, read: async () => stored })
    const { board: other } = await opened(world, 'user-0', { storage, user_id: 'user-0', loadStored })
    other.change('updateBoard', { title: 'left behind' })
    await world.run(1_000)
    await other.close()
    world.isUp = true
    await world.run(30_000)
    expect([board.status.phase, title(board)]).toEqual(['live', 'Board'])
    wake(false)
    await world.run(1_000)
    expect([title(board), world.server.board.title, storage.texts.size]).toEqual(['left behind', 'left behind', 0])
    await board.close()
    expect(world.timers).toBe(0)
  })

  test('[SYNC-30] without a network it shows the stored board with what waits, and goes on from there', async () => {
    const world = new VirtualWorld(2)
    const storage = memoryQueue()
    const { board } = await opened(world, 'user-0', { storage })
    const { board: stored, position } = board.snapshot() as Snapshot
    const loadStored = async () => ({ position, read: async () => stored })
    await board.close()
    world.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'meanwhile' } })
    world.kill()
    const { board: again } = await opened(world, 'user-0', { storage, user_id: 'user-0', loadStored })
    expect([again.view, again.position, again.status.phase]).toEqual([stored, position, 'offline'])
    again.change('updateCard', { card_id: firstCard(again), title: 'offline' })
    const told: string[] = []
    again.onEvent(({ type }) => void told.push(type))
    world.isUp = true
    await world.run(30_000)
    expect(told).toEqual(['board.updated', 'card.updated'])
    expect(again.view).toEqual(world.server.board)
    await again.close()
  })

  test('[SYNC-30] it shows the stored board while the service is overloaded, as soon as that was read', async () => {
    const world = new VirtualWorld(2)
    const { board } = await opened(world)
    const { board: stored, position } = board.snapshot() as Snapshot
    await board.close()
    const overloaded: Api = {
      ...world.api('user-0'),
      request: async () => {
        throw Object.assign(new Error(), { status: 503, code: 'overloaded', retry_after_seconds: 30 })
      },
    }
    // Later than the request for a ticket has failed.
    const read = () => new Promise<FullBoard>((resolve) => world.environment().after(500, () => resolve(stored)))
    const live = new LiveBoard(overloaded, 'board', {
      environment: world.environment(),
      loadStored: async () => ({ position, read }),
    })
    const shown: unknown[] = []
    live.subscribe(() => shown.push(live.view))
    await world.run(2_000)
    expect(shown.at(-1)).toEqual(stored)
    await live.close()
  })

  test('[SYNC-30] an answer that is older than the stored board is not shown; one of a new epoch is', async () => {
    const world = new VirtualWorld(2)
    const { board } = await opened(world)
    for (let i = 0; i < 5; i++)
      world.server.execute('user-1', `k${i}`, { name: 'updateBoard', input: { title: `${i}` } })
    world.announce()
    await world.run(1_000)
    const { board: stored, position } = board.snapshot() as Snapshot
    await board.close()
    const loadStored = async () => ({ position, read: async () => stored })
    world.staleness = 1
    for (let i = 0; i < 10; i++) {
      const shown: (string | undefined)[] = []
      const live = new LiveBoard(world.api('user-0'), 'board', { environment: world.environment(), loadStored })
      live.subscribe(() => void shown.push(title(live)))
      await world.run(1_000)
      expect(new Set(shown)).toEqual(new Set(['4']))
      await live.close()
    }
    world.staleness = 0
    world.server.restore(world.server.seq - 3)
    const { board: restored } = await opened(world, 'user-0', { loadStored })
    expect([title(restored), restored.position]).toEqual(['1', `2.${world.server.seq}`])
    await restored.close()
  })

  test('[SYNC-33] nobody is present on a board that has no line: neither offline nor while it asks now and then', async () => {
    const world = new VirtualWorld(2)
    const { board } = await opened(world)
    expect(board.presence).toHaveLength(1)
    world.kill()
    await world.run(5_000)
    expect([board.status.phase, board.presence]).toEqual(['offline', []])
    Object.assign(world, { isUp: true, isBarred: true })
    await world.run(60_000)
    expect([board.status.phase, board.presence]).toEqual(['polling', []])
    world.isBarred = false
    await world.run(90_000)
    expect([board.status.phase, board.presence.length]).toEqual(['live', 1])
    await board.close()
  })

  test('[SYNC-11] a dead line is noticed within 45 seconds', async () => {
    const world = new VirtualWorld(3)
    const { board } = await opened(world)
    for (const socket of world.sockets) socket.isDead = true
    world.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'unheard' } })
    const opens = world.opened_at.length
    await world.run(45_000)
    expect(world.opened_at.length).toBeGreaterThan(opens)
    await world.run(1_000)
    expect(title(board)).toBe('unheard')
    await board.close()
  })

  test('[SYNC-11] at once when the network is back, and when the machine has slept', async () => {
    const world = new VirtualWorld(4)
    const { board, wake } = await opened(world)
    for (const socket of world.sockets) socket.isDead = true
    world.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'first' } })
    wake(true)
    await world.run(500)
    expect(title(board)).toBe('first')
    await world.run(6_000)
    for (const socket of world.sockets) socket.isDead = true
    world.server.execute('user-1', 'l', { name: 'updateBoard', input: { title: 'second' } })
    world.sleep(20_000)
    await world.run(1_000)
    expect(title(board)).toBe('second')
    await board.close()
  })

  test('[SYNC-11] a page in the background, whose timers come once a minute, keeps its line', async () => {
    const world = new VirtualWorld(16)
    const environment = world.environment()
    const { board } = await opened(world, 'user-0', {
      environment: {
        ...environment,
        after: (ms, work) => environment.after(Math.max(ms, 60_000 - (world.now % 60_000)), work),
      },
    })
    await world.run(60_000)
    const opens = world.opened_at.length
    await world.run(600_000)
    expect([board.status.phase, world.opened_at.length]).toEqual(['live', opens])
    await board.close()
  })

  test('[SYNC-12] without sockets it asks now and then, and comes back to sockets when they are let through', async () => {
    const world = new VirtualWorld(5)
    world.isBarred = true
    const { board } = await opened(world)
    await world.run(30_000)
    expect(board.status.phase).toBe('polling')
    world.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'asked for' } })
    await world.run(6_000)
    expect(title(board)).toBe('asked for')
    const { done } = board.change('updateBoard', { title: 'sent all the same' })
    await world.run(6_000)
    expect(await done).toEqual({ outcome: 'confirmed' })
    world.isBarred = false
    await world.run(70_000)
    expect(board.status.phase).toBe('live')
    await board.close()
  })

  test('[SYNC-13] what was not sent survives a reload, and is sent once', async () => {
    const world = new VirtualWorld(6)
    const storage = memoryQueue()
    const { board } = await opened(world, 'user-0', { storage })
    world.kill()
    const { id } = board.change('createCard', { column_id: 'column-a', title: 'offline' })
    board.change('updateCard', { card_id: id, description: 'more' })
    await world.run(10_000)
    expect(board.status).toMatchObject({ phase: 'offline', pending: 2 })
    await board.close()
    expect(storage.texts.size).toBe(2)
    world.isUp = true
    const { board: again } = await opened(world, 'user-0', { storage })
    await world.run(2_000)
    expect(again.status).toMatchObject({ phase: 'live', pending: 0 })
    expect(storage.texts.size).toBe(0)
    expect(again.view?.columns[0]?.cards.at(-1)).toMatchObject({ id, title: 'offline', description: 'more' })
    const { board: stranger } = await opened(world, 'user-1', { storage })
    expect(stranger.status.pending).toBe(0)
    await Promise.all([again.close(), stranger.close()])
  })

  test('[SYNC-14] a change that is refused is taken back, and its text is kept', async () => {
    const world = new VirtualWorld(7)
    const { board } = await opened(world)
    const card_id = firstCard(board)
    world.server.execute('user-1', 'k', { name: 'deleteCard', input: { card_id } })
    const { key, done } = board.change('updateCard', { card_id, title: 'typed' })
    await world.run(1_000)
    expect(await done).toMatchObject({ outcome: 'rejected', notice: { text: 'typed', problem: { status: 404 } } })
    expect(board.view).toEqual(world.server.board)
    expect(board.notices).toHaveLength(1)
    board.dismiss(key)
    expect(board.notices).toHaveLength(0)
    await board.close()
  })

  test('[SYNC-14] a change that is given up is taken back, and is not called confirmed', async () => {
    const world = new VirtualWorld(13)
    const { board } = await opened(world)
    const before = title(board)
    world.kill()
    const { key, done } = board.change('updateBoard', { title: 'given up' })
    await world.run(5_000)
    board.discard(key)
    expect(await done).toEqual({ outcome: 'discarded' })
    expect(title(board)).toBe(before)
    await board.close()
  })

  test('[SYNC-17] a signal that was aborted before opens nothing', async () => {
    const world = new VirtualWorld(14)
    const options = { environment: world.environment(), signal: AbortSignal.abort(new Error('too late')) }
    const failed = expect(openBoard(world.api('user-0'), 'board', options)).rejects.toThrow('too late')
    await world.run(5_000)
    await failed
    expect(world.timers).toBe(0)
  })

  test('[SYNC-14] [SYNC-24] undo takes the last change back on the server too, redo makes it there again', async () => {
    const world = new VirtualWorld(8)
    const { board } = await opened(world)
    const before = board.view as FullBoard
    board.change('moveCard', { card_id: firstCard(board), column_id: 'column-c', position: 0 })
    await world.run(500)
    expect(board.can_undo).toBe(true)
    board.undo()
    await world.run(500)
    const ids = (view?: FullBoard) => view?.columns.map((column) => column.cards.map((card) => card.id))
    expect(ids(world.server.board)).toEqual(ids(before))
    expect([board.can_undo, board.can_redo]).toEqual([false, true])
    const [again] = board.redo()
    expect(board.view?.columns[2]?.cards[0]?.id).toBe(again?.id)
    await world.run(500)
    expect(await again?.done).toEqual({ outcome: 'confirmed' })
    expect(world.server.board.columns[2]?.cards[0]?.id).toBe(again?.id)
    expect([board.can_undo, board.can_redo, board.redo()]).toEqual([true, false, []])
    await board.close()
  })

  test('[SYNC-24] a change undoes itself, also after others', async () => {
    const world = new VirtualWorld(8)
    const { board } = await opened(world)
    const card_id = firstCard(board)
    const removed = board.change('deleteCard', { card_id })
    board.change('updateBoard', { title: 'renamed' })
    await world.run(500)
    expect(removed.undo().map(({ change }) => change.name)).toContain('createCard')
    await world.run(500)
    expect([firstCard(board), world.server.board.title]).toEqual([card_id, 'renamed'])
    expect(removed.undo()).toEqual([])
    await board.close()
  })

  test('[SYNC-15] events come in order, each once, over every reconnect; who cannot keep up is told', async () => {
    const world = new VirtualWorld(9)
    const { board } = await opened(world)
    const first = world.server.seq
    const [events, slow] = [board.events(), board.events()]
    const seqs: number[] = []
    const reading = (async () => {
      for await (const event of events) seqs.push((event as BoardEvent).seq)
    })()
    for (let i = 0; i < 1_200; i++) {
      world.server.execute('user-1', `k${i}`, { name: 'updateBoard', input: { title: `${i}` } })
      if (i % 300 === 100) world.closeSockets(1006)
      if (i % 100 === 0) await world.run(2_000)
    }
    await world.run(5_000)
    expect(await slow.next()).toEqual({ value: { type: 'resync' }, done: false })
    await board.close()
    await reading
    expect(seqs).toEqual(Array.from({ length: 1_200 }, (_, i) => first + 1 + i))
  })

  test('[SYNC-23] a listener is told of every event when the view shows it, and whether the board made it', async () => {
    const world = new VirtualWorld(17)
    const [{ board: one }, { board: other }] = [await opened(world), await opened(world)]
    const card_id = firstCard(one)
    const told: [string, boolean][][] = [[], []]
    const titles: (string | undefined)[] = []
    ;[one, other].forEach((board, i) => {
      board.onEvent((event, { is_own }) => void told[i]?.push([event.type, is_own]))
    })
    const stop = one.onEvent(() => {
      titles.push(title(one))
      throw new Error('the listener’s own trouble')
    })
    const reported: unknown[] = []
    const report = (error: unknown) => void reported.push(error)
    const others = process.rawListeners('uncaughtException')
    process.removeAllListeners('uncaughtException').on('uncaughtException', report)
    one.change('updateBoard', { title: 'from one' })
    await world.run(1_000)
    process.removeListener('uncaughtException', report)
    for (const each of others) process.on('uncaughtException', each as () => void)
    stop()
    expect([titles, reported]).toMatchObject([['from one'], [{ message: 'the listener’s own trouble' }]])
    other.change('moveCard', { card_id, position: 1 })
    world.server.execute('user-1', 'k', { name: 'updateCard', input: { card_id, title: 'by another' } })
    await world.run(1_000)
    world.server.restore(world.server.seq - 1)
    world.closeSockets(1012)
    await world.run(10_000)
    const kinds = ['board.updated', 'card.updated', 'card.moved', 'resync']
    expect(told[0]).toEqual(kinds.map((kind, i) => [kind, i === 0]))
    expect(told[1]).toEqual(kinds.map((kind, i) => [kind, i === 2]))
    await Promise.all([one.close(), other.close()])
  })

  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'deleted'],
  ])('[SYNC-16] a refusal with %i closes it: %s', async (status, reason) => {
    const world = new VirtualWorld(10)
    const { board } = await opened(world)
    const made = board.change('updateBoard', { title: 'too late' })
    world.refusal = status
    world.closeSockets(1008)
    await world.run(5_000)
    expect(board.status).toMatchObject({ phase: 'closed', reason })
    expect(['unknown', 'rejected']).toContain((await made.done).outcome)
    const opening = openBoard(world.api('user-0'), 'board', { environment: world.environment() })
    const failed = expect(opening).rejects.toMatchObject({ status })
    await world.run(5_000)
    await failed
    expect(world.timers).toBe(0)
  })

  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
  ])(
    '[SYNC-27] after a refusal with %i it goes on with what is pending, when the user may again',
    async (status, reason) => {
      const world = new VirtualWorld(20)
      const { board } = await opened(world)
      const told: string[] = []
      let news = 0
      board.onEvent(({ type }) => void told.push(type))
      board.subscribe(() => void news++)
      board.change('updateBoard', { title: 'undone' })
      await world.run(500)
      board.undo()
      await world.run(500)
      world.refusal = status
      world.closeSockets(1008)
      await world.run(5_000)
      expect(board.status).toMatchObject({ phase: 'closed', reason })
      const { id, done } = board.change('createCard', { column_id: 'column-a', title: 'made meanwhile' })
      world.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'missed' } })
      board.retry()
      await world.run(5_000)
      expect(board.status).toMatchObject({ phase: 'closed', reason, pending: 1 })
      world.refusal = undefined
      const before = news
      board.retry()
      board.retry()
      await world.run(2_000)
      expect(board.status).toMatchObject({ phase: 'live', reason: undefined, pending: 0 })
      expect([await done, board.can_redo, news > before]).toEqual([{ outcome: 'confirmed' }, false, true])
      expect(board.view).toEqual(world.server.board)
      expect(world.server.log.filter(({ event }) => (event.data as { id: string }).id === id)).toHaveLength(1)
      expect(told).toEqual(['board.updated', 'board.updated', 'board.updated', 'card.created'])
      expect(world.sockets.size).toBe(1)
      await board.close()
      board.retry()
      await world.run(5_000)
      expect([board.status.phase, world.timers, world.sockets.size]).toEqual(['closed', 0, 0])
      expect(await board.change('updateBoard', { title: 'too late' }).done).toEqual({ outcome: 'unknown' })
    },
  )

  test('[SYNC-27] what one user left is not sent by another, and can be closed for good', async () => {
    const world = new VirtualWorld(21)
    let user_id = 'user-0'
    const api: Api = { base_url: '', request: (...request) => world.api(user_id).request(...request) }
    const board = new LiveBoard(api, 'board', { environment: { ...world.environment(), openSocket: nowhere } })
    board.change('updateBoard', { title: 'not his' })
    world.refusal = 401
    await world.run(5_000)
    world.refusal = undefined
    board.retry()
    await world.run(1_000)
    expect(world.server.board.title).toBe('not his')
    const { done } = board.change('updateBoard', { title: 'mine alone' })
    world.refusal = 401
    await world.run(60_000)
    expect(board.status).toMatchObject({ phase: 'closed', reason: 'unauthorized', pending: 1 })
    expect(await done).toEqual({ outcome: 'unknown' })
    world.refusal = undefined
    user_id = 'user-1'
    board.retry()
    await world.run(60_000)
    expect(board.status).toMatchObject({ phase: 'closed', reason: 'unauthorized', pending: 1 })
    expect(world.server.board.title).toBe('not his')
    const left = board.change('updateBoard', { title: 'later' })
    await board.close()
    expect(await left.done).toEqual({ outcome: 'unknown' })
    user_id = 'user-0'
    board.retry()
    await world.run(60_000)
    expect([board.status.reason, world.timers]).toEqual(['unauthorized', 0])
  })

  test('[SYNC-16] a deleted board closes it, after its last event', async () => {
    const world = new VirtualWorld(13)
    const { board } = await opened(world)
    const events = board.events()
    world.server.emit('board.deleted', { id: 'board' })
    world.announce()
    await world.run(500)
    expect(board.status).toMatchObject({ phase: 'closed', reason: 'deleted' })
    expect(await events.next()).toMatchObject({ value: { type: 'board.deleted' } })
    expect(await events.next()).toEqual({ value: undefined, done: true })
  })

  test('[SYNC-12] where there are no sockets at all, or they talk nonsense, it asks', async () => {
    const world = new VirtualWorld(14)
    const environment = world.environment()
    environment.openSocket = () => {
      throw new Error('no sockets here')
    }
    const { board } = await opened(world, 'user-0', { environment })
    await world.run(30_000)
    expect(board.status.phase).toBe('polling')
    await board.close()
    const { board: other } = await opened(world)
    for (const socket of world.sockets) socket.onmessage?.({ data: '<html>' })
    expect(other.status.phase).toBe('live')
    await other.close()
  })

  test('[SYNC-14] a change that is never answered can be given up', async () => {
    const world = new VirtualWorld(15)
    const { board } = await opened(world)
    world.refusal = 500
    const { key, done } = board.change('updateBoard', { title: 'poison' })
    await world.run(20_000)
    expect(board.pending).toMatchObject([{ key, state: 'queued' }])
    world.refusal = undefined
    board.discard(key)
    await world.run(1_000)
    expect(await done).toEqual({ outcome: 'discarded' })
    expect(board.view).toEqual(world.server.board)
    await board.close()
  })

  test('[SYNC-26] who does not want to wait need not; a line that is well is left alone', async () => {
    const world = new VirtualWorld(18)
    const { board } = await opened(world)
    const { since } = board.status
    expect(since).toBeLessThanOrEqual(2_000)
    const { status } = board
    board.retry()
    await world.run(30_000)
    expect([world.opened_at.length, board.status === status]).toEqual([1, true])
    world.kill()
    await world.run(100)
    const cut = board.status.since
    expect(cut).toBeGreaterThan(since)
    board.change('updateBoard', { title: 'waits' })
    for (let i = 0; i < 5; i++) {
      await world.run(20_000)
      // It tries again and again, and is not live all the while.
      expect(board.status).toMatchObject({ phase: 'offline', since: cut })
    }
    world.isUp = true
    board.retry()
    await world.run(300)
    expect(board.status).toMatchObject({ phase: 'live', pending: 0 })
    expect([board.status.since > cut, title(board), world.server.board.title]).toEqual([true, 'waits', 'waits'])
    await board.close()
  })

  test.each(['createTicket', 'getBoard', 'getPresence', 'listEvents', 'updateBoard'])(
    '[SYNC-17] closing leaves no timer while %s is on its way',
    async (awaited) => {
      const world = new VirtualWorld(19)
      const way = world.api('user-0')
      let close: (() => void) | undefined
      const request: Api['request'] = (name, input, options) => {
        if (name === awaited) {
          close?.()
          close = undefined
        }
        return way.request(name, input, options)
      }
      const api: Api = { base_url: way.base_url, request }
      const environment = world.environment()
      const board = new LiveBoard(api, 'board', { environment })
      await world.run(2_000)
      const closed = new Promise<void>((resolve) => {
        close = () => world.at(1, () => resolve(board.close()))
      })
      world.server.execute('user-1', 'k', { name: 'updateBoard', input: { title: 'unheard' } })
      for (const socket of world.sockets) socket.next = world.server.seq
      // Its answer tells that something was missed; without it, the next greeting does.
      if (awaited !== 'getBoard') board.change('updateBoard', { title: 'mine' })
      await world.run(awaited === 'listEvents' ? 2_000 : 50)
      world.server.restore(world.server.seq - 1)
      world.closeSockets(1012)
      await world.run(10_000)
      await closed
      expect([board.status.phase, world.timers, world.sockets.size]).toEqual(['closed', 0, 0])
    },
  )

  test('[SYNC-17] closing leaves no timer, no socket and nobody waiting', async () => {
    const world = new VirtualWorld(11)
    const { board } = await opened(world)
    const next = board.events().next()
    {
      await using it = board
      it.change('updateBoard', { title: 'on its way' })
    }
    expect(await next).toEqual({ value: undefined, done: true })
    expect(board.status).toMatchObject({ phase: 'closed', reason: 'closed' })
    await world.run(60_000)
    expect(world.timers).toBe(0)
    expect(world.sockets.size).toBe(0)
  })

  test.each([
    ['are sent away by a drain', { code: 1012, away_s: 0, within_s: 5, span_ms: 1_000, share: 1 / 3 }],
    ['are asked to come later', { code: 1013, away_s: 0, within_s: 46, span_ms: 1_000, share: 1 / 15 }],
    ['lose a service for 10 seconds', { code: 1006, away_s: 10, within_s: 16, span_ms: 1_000, share: 1 / 5 }],
    ['are cut off', { code: 1006, away_s: 0, within_s: 2, span_ms: 100, share: 1 / 6 }],
  ])(
    '[SYNC-18] a thousand clients that %s come back spread over time',
    async (_, lost) => {
      const { code, away_s, within_s, span_ms, share } = lost
      const world = new VirtualWorld(12)
      const make = () => new LiveBoard(world.api('user-0'), 'board', { environment: world.environment() })
      const boards = Array.from({ length: 1_000 }, make)
      await world.run(2_000)
      world.opened_at.length = 0
      world.isUp = away_s === 0
      world.closeSockets(code)
      await world.run(away_s * 1_000)
      world.isUp = true
      await world.run(within_s * 1_000)
      expect(world.opened_at).toHaveLength(1_000)
      expect(mostWithin(world.opened_at, span_ms)).toBeLessThan(1_000 * share)
      await Promise.all(boards.map((board) => board.close()))
    },
    60_000,
  )
})

/** How many of the times lie at most within a span of that length, wherever it begins. */
const mostWithin = (times: number[], span_ms: number) =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + span_ms).length))

describe('a live board in simulation', () => {
  test(`[SYNC-19] [SYNC-30] [SYNC-32] ${SEEDS} seeds of faults, reloads and old boards end with everybody live, nothing pending and lost, and the server’s board`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) expect(await simulateDriver(seed, LiveBoard), `seed ${seed}`).toEqual([])
  }, 120_000)

  test.each(Object.entries(driverMutations))(
    `[SYNC-19] [SYNC-30] it is noticed within ${MUTANT_SEEDS} seeds when %s`,
    async (name, [file, rule, without]) => {
      const Board = await mutantBoard(name, file, rule, without)
      let noticed = 0
      for (let seed = 1; seed <= MUTANT_SEEDS && noticed === 0; seed++)
        if ((await simulateDriver(seed, Board)).length > 0) noticed = seed
      expect(noticed).toBeGreaterThan(0)
    },
    60_000,
  )
})

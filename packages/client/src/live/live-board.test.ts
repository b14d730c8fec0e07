import { describe, expect, test } from 'vitest'
import { choose } from '../../testing/random-change.ts'
import { memoryQueue, VirtualWorld } from '../../testing/virtual-world.ts'
import { LiveBoard, type LiveOptions, openBoard } from './live-board.ts'
import type { BoardEvent, FullBoard } from './types.ts'

const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 40)

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
const firstCard = (board: LiveBoard) => (board.view as FullBoard).columns[0]?.cards[0]?.id ?? ''
const title = (board: LiveBoard) => board.view?.title

describe('a live board', () => {
  test('[SYNC-10] shows a change at once, and confirms it when the server has', async () => {
    const world = new VirtualWorld(1)
    const { board } = await opened(world)
    expect(board.status).toEqual({ phase: 'live', pending: 0, reason: undefined })
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

  test('[SYNC-14] undo takes the last change back on the server too', async () => {
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
    expect(board.can_undo).toBe(false)
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

  test('[SYNC-18] a thousand clients come back spread over time', async () => {
    const world = new VirtualWorld(12)
    const make = () => new LiveBoard(world.api('user-0'), 'board', { environment: world.environment() })
    const boards = Array.from({ length: 1_000 }, make)
    await world.run(2_000)
    world.opened_at.length = 0
    world.closeSockets(1012)
    await world.run(5_000)
    const slots = new Map<number, number>()
    for (const at of world.opened_at) slots.set(Math.floor(at / 100), (slots.get(Math.floor(at / 100)) ?? 0) + 1)
    expect(world.opened_at).toHaveLength(1_000)
    expect(Math.max(...slots.values())).toBeLessThan(80)
    await Promise.all(boards.map((board) => board.close()))
  }, 60_000)
})

describe('a live board in simulation', () => {
  test(`[SYNC-19] ${SEEDS} seeds of faults end with everybody live, nothing pending and the server’s board`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) expect(await simulateDriver(seed), `seed ${seed}`).toEqual([])
  }, 120_000)
})

/** Several boards under every fault that there is; then it heals, and has two minutes of its own time to be right. */
async function simulateDriver(seed: number): Promise<string[]> {
  const world = new VirtualWorld(seed)
  const { random } = world
  const below = (n: number) => Math.floor(random() * n)
  let made = 0
  const storage = memoryQueue()
  const wakers = new Set<(is_online: boolean) => void>()
  const start = (user_id: string) =>
    new LiveBoard(world.api(user_id), 'board', { environment: world.environment(wakers), user_id })
  const boards = Array.from({ length: 1 + below(3) }, (_, i) => start(`user-${below(2) ? 0 : i}`))
  const seqs: (number | undefined)[][] = boards.map(() => [])
  const readings = boards.map(async (board, i) => {
    for await (const event of board.events()) seqs[i]?.push('seq' in event ? event.seq : undefined)
  })
  for (let step = 0; step < 60; step++) {
    await world.run(below(3_000))
    const board = boards[below(boards.length)] as LiveBoard
    switch (below(14)) {
      case 0:
        world.kill()
        break
      case 1:
        world.closeSockets([1006, 1008, 1012, 1013, 4408][below(5)] as number)
        break
      case 2:
        world.isBarred = !world.isBarred
        break
      case 3:
        world.loss = below(2) * 0.3
        break
      case 4:
        for (const socket of world.sockets) socket.isDead ||= below(2) === 0
        break
      case 5:
        world.server.restore(Math.max(0, world.server.seq - below(3)))
        world.closeSockets(1012)
        break
      case 6:
        world.sleep(below(60_000))
        for (const waker of wakers) waker(below(2) === 0)
        break
      case 7:
        world.isUp = true
        break
      default: {
        const change = board.view && choose(board.view, below, (kind) => `${kind}-${made++}`, ['user-0', 'user-1'])
        if (change) board.change(change.name, change.input as never)
      }
    }
  }
  Object.assign(world, { isUp: true, isBarred: false, loss: 0 })
  await world.run(120_000)
  const wrong: string[] = []
  for (const board of boards) {
    if (board.status.phase !== 'live' || board.status.pending > 0) wrong.push(JSON.stringify(board.status))
    if (JSON.stringify(board.view) !== JSON.stringify(world.server.board)) {
      try {
        expect(board.view).toEqual(world.server.board)
      } catch {
        wrong.push('does not show the server’s board')
      }
    }
    await board.close()
  }
  await Promise.all(readings)
  for (const each of seqs)
    each.forEach((seq, i) => {
      const before = each[i - 1]
      if (seq !== undefined && before !== undefined && seq !== before + 1) wrong.push(`${seq} came after ${before}`)
    })
  for (const [key, times] of world.server.applied) if (times > 1) wrong.push(`${key} was applied ${times} times`)
  if (world.timers > 0) wrong.push(`${world.timers} timers are left`)
  if (storage.texts.size > 0) wrong.push('something is left in the storage')
  return wrong
}

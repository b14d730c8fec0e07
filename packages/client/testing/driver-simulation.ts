import { isDeepStrictEqual } from 'node:util'
import type { LiveBoard, Settled } from '../src/live/live-board.ts'
import type { Card } from '../src/live/types.ts'
import type { Logged } from './model-server.ts'
import { choose } from './random-change.ts'
import { VirtualWorld } from './virtual-world.ts'

interface Guarded {
  key: string
  seen: string | null
  wanted: string
  done: Promise<Settled>
}
/** A user rewrites the description that he sees. */
function rewrite(board: LiveBoard, { id: card_id, description: seen }: Card, wanted: string): Guarded {
  const input = { card_id, description: wanted }
  return { seen, wanted, ...board.change('updateCard', input, { unless_changed: { description: seen } }) }
}

/** Several boards under every fault that there is; then it heals, and has two minutes of its own time to be right. */
export async function simulateDriver(seed: number, Board: typeof LiveBoard): Promise<string[]> {
  const world = new VirtualWorld(seed)
  const { random } = world
  const below = (n: number) => Math.floor(random() * n)
  let made = 0
  const issued = new Set<string>()
  const guarded = new Map<string, Guarded>()
  const seeded = new Set(world.server.applied.keys())
  const wakers = new Set<(is_online: boolean) => void>()
  const start = (user_id: string) =>
    new Board(world.api(user_id), 'board', { environment: world.environment(wakers), user_id })
  const boards = Array.from({ length: 1 + below(3) }, (_, i) => start(`user-${below(2) ? 0 : i}`))
  const seqs: (number | undefined)[][] = boards.map(() => [])
  const readings = boards.map(async (board, i) => {
    for await (const event of board.events()) seqs[i]?.push('seq' in event ? event.seq : undefined)
  })
  function write(board: LiveBoard): boolean {
    const card = board.view?.columns.flatMap(({ cards }) => cards)[0]
    if (!card) return false
    const written = rewrite(board, card, `text ${made++}`)
    guarded.set(written.key, written)
    issued.add(written.key)
    return true
  }
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
        const back = [0, 0, 0, 1, 2][below(5)]
        for (const { key } of back === 1 ? board.undo() : back === 2 ? board.redo() : []) issued.add(key)
        if (below(2) && write(board)) break
        const change = board.view && choose(board.view, below, (kind) => `${kind}-${made++}`, ['user-0', 'user-1'])
        if (change) issued.add(board.change(change.name, change.input as never).key)
      }
    }
  }
  Object.assign(world, { isUp: true, isBarred: false, loss: 0 })
  await world.run(60_000)
  // Sockets live on while requests are lost, and everybody writes the same text.
  for (let round = 0; round < 3; round++) {
    world.loss = 0.6
    for (const board of boards) write(board)
    await world.run(below(1_000))
    world.loss = 0
    await world.run(5_000)
  }
  await world.run(60_000)
  // One more event that no socket is told of, and nothing that follows: the next ping must do.
  world.server.execute('user-3', 'silent', { name: 'updateBoard', input: { title: 'silent' } })
  seeded.add('silent')
  for (const socket of world.sockets) socket.next = world.server.seq
  await world.run(60_000)
  const wrong: string[] = []
  for (const board of boards) {
    if (board.status.phase !== 'live' || board.status.pending > 0) wrong.push(JSON.stringify(board.status))
    if (!isDeepStrictEqual(board.view, world.server.board)) wrong.push('does not show the server’s board')
    await board.close()
  }
  await Promise.all(readings)
  for (const { key, seen, wanted, done } of guarded.values()) {
    const { outcome } = await done
    const first = world.server.log.findIndex((logged) => logged.key === key)
    if (outcome === 'conflict' && world.server.applied.has(key)) wrong.push('what happened was called a conflict')
    if (first < 0) continue
    const { id } = (world.server.log[first] as Logged).event.data as Card
    const before = world.server.history[first]?.columns.flatMap(({ cards }) => cards).find((card) => card.id === id)
    if (before && before.description !== seen && before.description !== wanted)
      wrong.push(`${before.description} was overwritten by ${wanted} of somebody who saw ${seen}`)
  }
  for (const each of seqs)
    each.forEach((seq, i) => {
      const before = each[i - 1]
      if (seq !== undefined && before !== undefined && seq !== before + 1) wrong.push(`${seq} came after ${before}`)
    })
  for (const [key, times] of world.server.applied) {
    if (times > 1) wrong.push(`${key} was applied ${times} times`)
    if (!issued.has(key) && !seeded.has(key)) wrong.push(`${key} is no change that a user made`)
  }
  if (world.timers > 0) wrong.push(`${world.timers} timers are left`)
  return wrong
}

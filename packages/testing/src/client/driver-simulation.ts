import { isDeepStrictEqual } from 'node:util'
import { positionOf } from '../../../client/src/live/api.ts'
import { isBefore, type Notice, type Position } from '../../../client/src/live/core.ts'
import type { LiveBoard, Settled, Snapshot } from '../../../client/src/live/live-board.ts'
import { KeptQueue } from '../../../client/src/live/storage.ts'
import type { Card, Change } from '../../../client/src/live/types.ts'
import { clone, type Logged, wasImpossible } from './model-server.ts'
import { choose } from './random-change.ts'
import { memoryQueue, VirtualWorld } from './virtual-world.ts'

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

/** A tab: what it shows, and what outlives it. */
interface Tab {
  user_id: string
  board: LiveBoard
  /** The position that a visit must not fall behind. */
  floor: Position | undefined
  seqs: (number | undefined)[]
}

/** Several boards under every fault that there is; then it heals, and has two minutes of its own time to be right. */
export async function simulateDriver(seed: number, Board: typeof LiveBoard): Promise<string[]> {
  const world = new VirtualWorld(seed)
  const { random } = world
  const below = (n: number) => Math.floor(random() * n)
  let made = 0
  const issued = new Map<string, { change: Change | undefined; at: Position }>()
  const notices = new Map<string, Notice>()
  const guarded = new Map<string, Guarded>()
  const seeded = new Set(world.server.applied.keys())
  const wakers = new Set<(is_online: boolean) => void>()
  const wrong: string[] = []
  const storage = memoryQueue()
  const stored = new Map<string, Snapshot>()
  const tabs: Tab[] = []
  /** Changes that two tabs of a user have: one may call a conflict what the other has made happen. */
  const shared = new Set<string>()
  const readings: Promise<void>[] = []
  const seqs: Tab['seqs'][] = []
  const at = (position: string | undefined) => positionOf(position) ?? { epoch: 0, seq: 0 }
  async function visit(user_id: string): Promise<Tab> {
    const queue = new KeptQueue(storage, user_id, 'board')
    const kept = await queue.load()
    const loadStored = async () => {
      const found = stored.get(user_id)
      return found && { position: found.position, read: async () => clone(found.board) }
    }
    const options = { environment: world.environment(wakers), user_id, loadStored }
    const floor = stored.has(user_id) ? at(stored.get(user_id)?.position) : undefined
    const tab: Tab = { user_id, board: new Board(world.api(user_id), 'board', options, queue, kept), floor, seqs: [] }
    tab.board.subscribe(() => look(tab))
    seqs.push(tab.seqs)
    readings.push(
      (async () => {
        for await (const event of tab.board.events()) tab.seqs.push('seq' in event ? event.seq : undefined)
      })(),
    )
    return tab
  }
  /** The page keeps the board for the next visit, unless there is a newer one. */
  function store({ board, user_id }: Tab) {
    const now = board.snapshot()
    if (now && !isBefore(at(now.position), at(stored.get(user_id)?.position))) stored.set(user_id, clone(now))
  }
  function look({ board, floor }: Tab) {
    for (const other of tabs)
      if (other.board !== board)
        for (const { key } of board.pending) if (other.board.pending.some((each) => each.key === key)) shared.add(key)
    for (const notice of board.notices) notices.set(notice.key, notice)
    if (board.view && floor && isBefore(at(board.position), floor))
      wrong.push('shows an older board than the stored one')
  }
  function issue(board: LiveBoard, key: string) {
    const { change } = board.pending.find((operation) => operation.key === key) ?? {}
    issued.set(key, { change, at: at(board.position) })
  }
  for (let i = below(3); i >= 0; i--) tabs.push(await visit(`user-${below(2) ? 0 : i}`))
  function write(board: LiveBoard): boolean {
    const card = board.view?.columns.flatMap(({ cards }) => cards)[0]
    if (!card) return false
    const written = rewrite(board, card, `text ${made++}`)
    guarded.set(written.key, written)
    issue(board, written.key)
    return true
  }
  for (let step = 0; step < 60; step++) {
    await world.run(below(3_000))
    const nth = below(tabs.length)
    const tab = tabs[nth] as Tab
    const { board } = tab
    look(tab)
    switch (below(17)) {
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
      case 14:
        world.staleness = below(2) * 0.5
        break
      case 15:
        store(tab)
        break
      case 16: {
        await board.close()
        const next = await visit(tab.user_id)
        tabs[nth] = next
        // Whatever the service does, what is stored is shown.
        if (next.floor) await world.run(1_000)
        if (next.floor && !next.board.view) wrong.push('does not show the stored board')
        break
      }
      default: {
        const back = [0, 0, 0, 1, 2][below(5)]
        for (const { key } of back === 1 ? board.undo() : back === 2 ? board.redo() : []) issue(board, key)
        if (below(2) && write(board)) break
        const change = board.view && choose(board.view, below, (kind) => `${kind}-${made++}`, ['user-0', 'user-1'])
        if (change) issue(board, board.change(change.name, change.input as never).key)
      }
    }
  }
  Object.assign(world, { isUp: true, isBarred: false, loss: 0, staleness: 0 })
  await world.run(60_000)
  // Sockets live on while requests are lost, and everybody writes the same text.
  for (let round = 0; round < 3; round++) {
    world.loss = 0.6
    for (const { board } of tabs) write(board)
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
  for (const tab of tabs) {
    const { board } = tab
    look(tab)
    if (board.status.phase !== 'live' || board.status.pending > 0) wrong.push(JSON.stringify(board.status))
    if (!isDeepStrictEqual(board.view, world.server.board)) wrong.push('does not show the server’s board')
    await board.close()
  }
  await Promise.all(readings)
  for (const { key, seen, wanted, done } of guarded.values()) {
    const { outcome } = await done
    const first = world.server.log.findIndex((logged) => logged.key === key)
    if (outcome === 'conflict' && world.server.applied.has(key) && !shared.has(key))
      wrong.push('what happened was called a conflict')
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
  const text = JSON.stringify(world.server.board)
  for (const [key, { change, at: made_at }] of issued) {
    const { reason } = notices.get(key) ?? {}
    if (world.server.ever_applied.has(key) || reason === 'rejected' || reason === 'conflict') continue
    // What is to be created may be there: its deletion went with a restore.
    if (change?.name.startsWith('create') && text.includes(`"${(change.input as { id: string }).id}"`)) continue
    if (change && !wasImpossible(world.server, change, made_at)) wrong.push(`${change.name} is lost: ${reason}`)
  }
  if (world.timers > 0) wrong.push(`${world.timers} timers are left`)
  return wrong
}

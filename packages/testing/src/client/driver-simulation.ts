import { isDeepStrictEqual } from 'node:util'
import { positionOf } from '../../../client/src/live/api.ts'
import { type FailedChange, isBefore, type Position } from '../../../client/src/live/core.ts'
import type { ChangeOutcome, LiveBoard, Snapshot } from '../../../client/src/live/live-board.ts'
import { StoredQueue } from '../../../client/src/live/storage.ts'
import type { Card, Change } from '../../../client/src/live/types.ts'
import { memoryQueue } from './memory-queue.ts'
import { clone, type Logged, wasImpossible } from './model-server.ts'
import { randomChange } from './random-change.ts'
import { SimulatedNetwork } from './simulated-network.ts'

interface ConditionalEdit {
  key: string
  seen: string | null
  wanted: string
  done: Promise<ChangeOutcome>
}
/** A user edits the description they see, as a conditional update. */
function rewrite(board: LiveBoard, { id: card_id, description: seen }: Card, wanted: string): ConditionalEdit {
  const input = { card_id, description: wanted }
  return { seen, wanted, ...board.change('updateCard', input, { unlessChanged: { description: seen } }) }
}

/** A browser tab. */
interface Tab {
  userId: string
  board: LiveBoard
  /** The position of the stored board, which the tab must not fall behind. */
  floor: Position | undefined
  seqs: (number | undefined)[]
}

/**
 * Runs several tabs under all faults, then heals the network and allows two minutes of simulated time to converge.
 * Returns the violations.
 */
export async function simulateDriver(seed: number, Board: typeof LiveBoard): Promise<string[]> {
  const network = new SimulatedNetwork(seed)
  const { random } = network
  const below = (n: number) => Math.floor(random() * n)
  let made = 0
  const issued = new Map<string, { change: Change | undefined; at: Position }>()
  const failedChanges = new Map<string, FailedChange>()
  const edits = new Map<string, ConditionalEdit>()
  const seeded = new Set(network.server.applied.keys())
  const wakeListeners = new Set<(isOnline: boolean) => void>()
  const violations: string[] = []
  const storage = memoryQueue()
  const stored = new Map<string, Snapshot>()
  const tabs: Tab[] = []
  /**
   * Changes that two tabs of a user have: one tab may report a conflict for a change that the other has sent
   * successfully.
   */
  const shared = new Set<string>()
  const readings: Promise<void>[] = []
  const seqs: Tab['seqs'][] = []
  const at = (position: string | undefined) => positionOf(position) ?? { epoch: 0, seq: 0 }
  async function openTab(user_id: string): Promise<Tab> {
    const queue = new StoredQueue(storage, user_id, 'board')
    const queued = await queue.load()
    const loadStored = async () => {
      const found = stored.get(user_id)
      return found && { position: found.position, read: async () => clone(found.board) }
    }
    const options = { environment: network.environment(wakeListeners), user_id, loadStored }
    const floor = stored.has(user_id) ? at(stored.get(user_id)?.position) : undefined
    const tab: Tab = {
      userId: user_id,
      board: new Board(network.api(user_id), 'board', options, queue, queued),
      floor,
      seqs: [],
    }
    tab.board.subscribe(() => checkTab(tab))
    seqs.push(tab.seqs)
    readings.push(
      (async () => {
        for await (const event of tab.board.events()) tab.seqs.push('seq' in event ? event.seq : undefined)
      })(),
    )
    return tab
  }
  /** Stores the board for the next visit, unless a newer one is stored. */
  function store({ board, userId: user_id }: Tab) {
    const now = board.snapshot()
    if (now && !isBefore(at(now.position), at(stored.get(user_id)?.position))) stored.set(user_id, clone(now))
  }
  function checkTab({ board, floor }: Tab) {
    for (const other of tabs)
      if (other.board !== board)
        for (const { key } of board.pending) if (other.board.pending.some((each) => each.key === key)) shared.add(key)
    for (const failed of board.failedChanges) failedChanges.set(failed.key, failed)
    if (board.view && floor && isBefore(at(board.position), floor))
      violations.push('shows a board older than the stored one')
  }
  function issue(board: LiveBoard, key: string) {
    const { change } = board.pending.find((operation) => operation.key === key) ?? {}
    issued.set(key, { change, at: at(board.position) })
  }
  for (let i = below(3); i >= 0; i--) tabs.push(await openTab(`user-${below(2) ? 0 : i}`))
  function write(board: LiveBoard): boolean {
    const card = board.view?.columns.flatMap(({ cards }) => cards)[0]
    if (!card) return false
    const written = rewrite(board, card, `text ${made++}`)
    edits.set(written.key, written)
    issue(board, written.key)
    return true
  }
  for (let step = 0; step < 60; step++) {
    await network.run(below(3_000))
    const nth = below(tabs.length)
    const tab = tabs[nth] as Tab
    const { board } = tab
    checkTab(tab)
    switch (below(17)) {
      case 0:
        network.kill()
        break
      case 1:
        network.closeSockets([1006, 1008, 1012, 1013, 4408][below(5)] as number)
        break
      case 2:
        network.blocksSockets = !network.blocksSockets
        break
      case 3:
        network.loss = below(2) * 0.3
        break
      case 4:
        for (const socket of network.sockets) socket.isDead ||= below(2) === 0
        break
      case 5:
        network.server.restore(Math.max(0, network.server.seq - below(3)))
        network.closeSockets(1012)
        break
      case 6:
        network.sleep(below(60_000))
        for (const listener of wakeListeners) listener(below(2) === 0)
        break
      case 7:
        network.isUp = true
        break
      case 14:
        network.staleness = below(2) * 0.5
        break
      case 15:
        store(tab)
        break
      case 16: {
        await board.close()
        const next = await openTab(tab.userId)
        tabs[nth] = next
        // The stored board is shown whatever the service does.
        if (next.floor) await network.run(1_000)
        if (next.floor && !next.board.view) violations.push('does not show the stored board')
        break
      }
      default: {
        const back = [0, 0, 0, 1, 2][below(5)]
        for (const { key } of back === 1 ? board.undo() : back === 2 ? board.redo() : []) issue(board, key)
        if (below(2) && write(board)) break
        const change =
          board.view && randomChange(board.view, below, (kind) => `${kind}-${made++}`, ['user-0', 'user-1'])
        if (change) issue(board, board.change(change.name, change.input as never).key)
      }
    }
  }
  Object.assign(network, { isUp: true, blocksSockets: false, loss: 0, staleness: 0 })
  await network.run(60_000)
  // WebSockets stay open while requests are lost, and all tabs edit the same text.
  for (let round = 0; round < 3; round++) {
    network.loss = 0.6
    for (const { board } of tabs) write(board)
    await network.run(below(1_000))
    network.loss = 0
    await network.run(5_000)
  }
  await network.run(60_000)
  // A last event that no WebSocket delivers, with nothing after it: the next ping must reveal it.
  network.server.execute('user-3', 'silent', { name: 'updateBoard', input: { title: 'silent' } })
  seeded.add('silent')
  for (const socket of network.sockets) socket.next = network.server.seq
  await network.run(60_000)
  for (const tab of tabs) {
    const { board } = tab
    checkTab(tab)
    if (board.status.phase !== 'live' || board.status.pending > 0) violations.push(JSON.stringify(board.status))
    if (!isDeepStrictEqual(board.view, network.server.board)) violations.push('does not show the server’s board')
    await board.close()
  }
  await Promise.all(readings)
  for (const { key, seen, wanted, done } of edits.values()) {
    const { outcome } = await done
    const first = network.server.log.findIndex((logged) => logged.key === key)
    if (outcome === 'conflict' && network.server.applied.has(key) && !shared.has(key))
      violations.push('an applied change was reported as a conflict')
    if (first < 0) continue
    const { id } = (network.server.log[first] as Logged).event.data as Card
    const before = network.server.history[first]?.columns.flatMap(({ cards }) => cards).find((card) => card.id === id)
    if (before && before.description !== seen && before.description !== wanted)
      violations.push(`${before.description} was overwritten by ${wanted}, based on ${seen}`)
  }
  for (const each of seqs)
    each.forEach((seq, i) => {
      const before = each[i - 1]
      if (seq !== undefined && before !== undefined && seq !== before + 1)
        violations.push(`${seq} came after ${before}`)
    })
  for (const [key, times] of network.server.applied) {
    if (times > 1) violations.push(`${key} was applied ${times} times`)
    if (!issued.has(key) && !seeded.has(key)) violations.push(`${key} was not made by a user`)
  }
  const text = JSON.stringify(network.server.board)
  for (const [key, { change, at: madeAt }] of issued) {
    const { reason } = failedChanges.get(key) ?? {}
    if (network.server.everApplied.has(key) || reason === 'rejected' || reason === 'conflict') continue
    // The created resource may exist because its deletion was lost by a restore.
    if (change?.name.startsWith('create') && text.includes(`"${(change.input as { id: string }).id}"`)) continue
    if (change && !wasImpossible(network.server, change, madeAt)) violations.push(`${change.name} is lost: ${reason}`)
  }
  if (network.timers > 0) violations.push(`${network.timers} timers are left`)
  return violations
}

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { applyEvent } from '../../../client/src/live/fold.ts'
import { type LiveBoard, openBoard, type Settled } from '../../../client/src/live/live-board.ts'
import type { BoardEvent, Change, FullBoard } from '../../../client/src/live/types.ts'
import type { FaultyLine } from './faulty-line.ts'
import { fetchApi } from './fetch-api.ts'
import { choose } from './random-change.ts'
import { generator } from './small-board.ts'

export interface LiveRun {
  /** The service itself, past the faulty line; it may move. */
  base_url: () => string
  line: FaultyLine
  board_id: string
  users: { id: string; token: string }[]
  seed: number
  /** How many changes each client makes, and how long it thinks before each. */
  changes: number
  pause_ms: number
  /** What goes wrong meanwhile. */
  faults: () => Promise<void>
}
export interface LiveOutcome {
  violations: string[]
  confirmed: number
  rejected: number
  events: number
  converged_ms: number
}

const CONVERGE_MS = 90_000

/**
 * Real clients on a real service through a line that fails: each changes the board at random. In the end all show the
 * server's board, every confirmed change is in the log once, and folding the log over the first board gives the last.
 */
export async function runLive(run: LiveRun): Promise<LiveOutcome> {
  const { line, board_id, users, seed, changes, pause_ms, faults } = run
  const violations: string[] = []
  const start = await readBoard(run)
  const user_ids = users.map(({ id }) => id)
  const boards = await Promise.all(users.map(({ token }) => openBoard(fetchApi(line.base_url, token), board_id)))
  const made: { change: Change; done: Promise<Settled> }[] = []
  const write = async (board: LiveBoard, nth: number) => {
    const random = generator(seed * 10 + nth)
    const below = (n: number) => Math.floor(random() * n)
    for (let i = 0; i < changes; ) {
      await pause(below(2 * pause_ms))
      const change = choose(board.view as FullBoard, below, () => randomUUID(), user_ids)
      if (!change) continue
      i++
      made.push({ change, done: board.change(change.name, change.input as never).done })
      if (below(15) > 0) continue
      for (const { key, done } of [...board.undo(), ...(below(2) ? board.redo() : [])]) {
        const back = board.pending.find((operation) => operation.key === key)?.change
        if (back) made.push({ change: back, done })
      }
    }
  }
  await Promise.all([...boards.map(write), faults()])

  const healed = performance.now()
  const isSettled = () => boards.every(({ status }) => status.phase === 'live' && status.pending === 0)
  while (performance.now() - healed < CONVERGE_MS) {
    const { position } = await readBoard(run)
    if (isSettled() && boards.every((board) => board.position === position)) break
    await pause(50)
  }
  const converged_ms = Math.round(performance.now() - healed)
  const end = await readBoard(run)
  boards.forEach((board, i) => {
    if (!isDeepStrictEqual(board.view, end.board))
      violations.push(`client ${i} shows another board than the server has: ${JSON.stringify(board.status)}`)
  })

  const events = await readEvents(run, start.position)
  if (!isDeepStrictEqual(events.reduce(applyEvent, start.board), end.board))
    violations.push('the first board and the events behind it are not the last board')
  const settled = await Promise.all(
    made.map(async ({ change, done }) => ({
      change,
      settled: await Promise.race([done, pause(1_000, { outcome: 'unknown' } as const)]),
    })),
  )
  const counted: [Change['name'], string][] = [
    ['createCard', 'card.created'],
    ['moveCard', 'card.moved'],
    ['moveColumn', 'column.moved'],
    ['createItem', 'checklist_item.created'],
    ['deleteCard', 'card.deleted'],
  ]
  for (const [name, type] of counted) {
    const confirmed = settled.filter((each) => each.change.name === name && each.settled.outcome === 'confirmed').length
    const logged = events.filter((event) => event.type === type && event.user_id !== null).length
    // What is gone already need not be deleted: that counts as done.
    const isRight = name === 'deleteCard' ? logged <= confirmed : logged === confirmed
    if (!isRight) violations.push(`${name}: ${confirmed} confirmed, ${logged} in the log`)
  }
  for (const each of settled)
    if (each.settled.outcome === 'unknown') violations.push(`nobody knows what became of ${each.change.name}`)
  await Promise.all(boards.map((board) => board.close()))
  const count = (outcome: string) => settled.filter((each) => each.settled.outcome === outcome).length
  return {
    violations,
    confirmed: count('confirmed'),
    rejected: count('rejected') + count('gone'),
    events: events.length,
    converged_ms,
  }
}

const ask = ({ base_url, users }: LiveRun, name: string, input: Record<string, unknown>) =>
  fetchApi(base_url(), users[0]?.token ?? '').request(name, input, {
    signal: new AbortController().signal,
    max_tries: 1,
  })

async function readBoard(run: LiveRun) {
  const { data, position = '' } = await ask(run, 'getBoard', { board_id: run.board_id })
  return { board: data as FullBoard, position }
}

async function readEvents(run: LiveRun, since: string): Promise<BoardEvent[]> {
  const [epoch] = since.split('.')
  const events: BoardEvent[] = []
  for (let after = since; ; after = `${epoch}.${events.at(-1)?.seq}`) {
    const { data } = await ask(run, 'listEvents', { board_id: run.board_id, after, limit: 500 })
    events.push(...(data as BoardEvent[]))
    if ((data as BoardEvent[]).length < 500) return events
  }
}

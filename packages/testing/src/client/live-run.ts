import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { applyEvent } from '../../../client/src/live/fold.ts'
import { type ChangeOutcome, type LiveBoard, openBoard } from '../../../client/src/live/live-board.ts'
import type { BoardEvent, Change, FullBoard } from '../../../client/src/live/types.ts'
import { mulberry32 } from '../prng.ts'
import type { FaultyConnection } from './faulty-connection.ts'
import { fetchApi } from './fetch-api.ts'
import { randomChange } from './random-change.ts'

export interface LiveRun {
  /** Address of the service without the faulty connection; it may change. */
  baseUrl: () => string
  connection: FaultyConnection
  board_id: string
  users: { id: string; token: string }[]
  seed: number
  /** Number of changes per client, and the mean pause before each. */
  changes: number
  pauseMs: number
  /** Injects faults during the run. */
  faults: () => Promise<void>
}
export interface LiveOutcome {
  violations: string[]
  confirmed: number
  rejected: number
  events: number
  convergedMs: number
}

const CONVERGE_MS = 90_000

/** Changes that have one event of a type each, by type. */
const eventsOf: Record<string, Change['name'][]> = {
  'card.created': ['createCard', 'restoreRemoved'],
  'card.moved': ['moveCard'],
  'column.moved': ['moveColumn'],
  'checklist_item.created': ['createItem'],
  'card.deleted': ['deleteCard', 'archiveCard'],
}

/**
 * Real clients make random changes on a real service through a faulty connection. At the end, all must show the
 * server's board, every confirmed change must be in the log once, and folding the log over the first board must give
 * the last.
 */
export async function runLive(run: LiveRun): Promise<LiveOutcome> {
  const { connection, board_id, users, seed, changes, pauseMs, faults } = run
  const violations: string[] = []
  const start = await readBoard(run)
  const user_ids = users.map(({ id }) => id)
  const boards = await Promise.all(users.map(({ token }) => openBoard(fetchApi(connection.baseUrl, token), board_id)))
  const made: { change: Change; done: Promise<ChangeOutcome> }[] = []
  const write = async (board: LiveBoard, nth: number) => {
    const random = mulberry32(seed * 10 + nth)
    const below = (n: number) => Math.floor(random() * n)
    for (let i = 0; i < changes; ) {
      await pause(below(2 * pauseMs))
      const change = randomChange(board.view as FullBoard, below, () => randomUUID(), user_ids)
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
  const convergedMs = Math.round(performance.now() - healed)
  const end = await readBoard(run)
  boards.forEach((board, i) => {
    if (!isDeepStrictEqual(board.view, end.board))
      violations.push(`client ${i} does not show the server's board: ${JSON.stringify(board.status)}`)
  })

  const events = await readEvents(run, start.position)
  if (!isDeepStrictEqual(events.reduce(applyEvent, start.board), end.board))
    violations.push('folding the events over the first board does not give the last')
  const settled = await Promise.all(
    made.map(async ({ change, done }) => ({
      change,
      settled: await Promise.race([done, pause(1_000, { outcome: 'unknown' } as const)]),
    })),
  )
  for (const [type, names] of Object.entries(eventsOf)) {
    const isCounted = ({ name, restores }: Change) =>
      names.includes(name) && (name !== 'restoreRemoved' || restores?.on === 'card')
    const confirmed = settled.filter((each) => isCounted(each.change) && each.settled.outcome === 'confirmed').length
    const logged = events.filter((event) => event.type === type && event.user_id !== null).length
    // Deleting something that is already gone counts as success.
    const isRight = type === 'card.deleted' ? logged <= confirmed : logged === confirmed
    if (!isRight) violations.push(`${names.join(', ')}: ${confirmed} confirmed, ${logged} in the log`)
  }
  for (const each of settled)
    if (each.settled.outcome === 'unknown') violations.push(`unknown outcome of ${each.change.name}`)
  await Promise.all(boards.map((board) => board.close()))
  const count = (outcome: string) => settled.filter((each) => each.settled.outcome === outcome).length
  return {
    violations,
    confirmed: count('confirmed'),
    rejected: count('rejected') + count('gone'),
    events: events.length,
    convergedMs,
  }
}

const request = ({ baseUrl, users }: LiveRun, name: string, input: Record<string, unknown>) =>
  fetchApi(baseUrl(), users[0]?.token ?? '').request(name, input, {
    signal: new AbortController().signal,
    maxTries: 1,
  })

async function readBoard(run: LiveRun) {
  const { data, position = '' } = await request(run, 'getBoard', { board_id: run.board_id })
  return { board: data as FullBoard, position }
}

async function readEvents(run: LiveRun, since: string): Promise<BoardEvent[]> {
  const [epoch] = since.split('.')
  const events: BoardEvent[] = []
  for (let after = since; ; after = `${epoch}.${events.at(-1)?.seq}`) {
    const { data } = await request(run, 'listEvents', { board_id: run.board_id, after, limit: 500 })
    events.push(...(data as BoardEvent[]))
    if ((data as BoardEvent[]).length < 500) return events
  }
}

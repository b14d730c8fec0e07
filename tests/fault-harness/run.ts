import { readFileSync } from 'node:fs'
import { residentOf } from '@lockstep/testing/load/measure'
import { eventually } from '@lockstep/testing/processes'
import { type Random, seeded } from '@lockstep/testing/random'
import { checkAll } from './checkers.ts'
import { dumpLog, type FaultEnvironment, type HarnessBoard } from './environment.ts'
import { type Durations, injectFaults } from './faults.ts'
import { type Dump, type History, type ListenerKind, now } from './history.ts'
import { Listener } from './listeners.ts'
import { startWriters } from './writers.ts'

export interface Size {
  /** The duration of the faults; `once` injects each of them once. */
  seconds: number | 'once'
  rate: number
  numbered: number
  plain: number
  slow: number
  durations: Durations
}
export interface Outcome {
  history: History
  dump: Dump
  violations: string[]
}

const STALL_MS = 150
/** Of 200 ms. Less is usual on a busy machine. */
const STARVED_MS = 50

export function newHistory(environment: FaultEnvironment, seed: number): History {
  // Cards of earlier runs are not used: their titles belong to other writes.
  for (const board of environment.boards) Object.assign(board, { cards: [], removed: [] })
  return {
    seed,
    began: now(),
    ended: Infinity,
    writes: [],
    connections: [],
    faults: [],
    removals: [],
    snapshots: [],
    created: new Map(environment.boards.map((board) => [board.id, board.created])),
    samples: [],
    outputs: [],
    stalls: [],
  }
}

/** Samples the processes and reads a board every second, and records when the harness or an instance is stalled. */
export function observe(environment: FaultEnvironment, history: History, random: Random) {
  let last = now()
  const watch = setInterval(() => {
    const at = now()
    if (at - last > STALL_MS) history.stalls.push({ from: last, to: at, instance: undefined })
    last = at
  }, 20)
  const waits = new Map<number, number>()
  const starve = setInterval(() => {
    for (const { index, process } of environment.instances) {
      const waited = readWait(process.pid)
      const to = now()
      const ms = waited - (waits.get(process.pid) ?? waited)
      waits.set(process.pid, waited)
      if (ms > STARVED_MS) history.stalls.push({ from: to - ms, to, instance: index })
    }
  }, 200)
  const sample = setInterval(() => {
    for (const { index, process } of environment.instances) {
      const rss_mib = readRss(process.pid)
      if (rss_mib > 0) history.samples.push({ at: now(), instance: index, rss_mib })
    }
    void readSnapshot(environment, history, random.pick(environment.boards)).catch(() => {})
  }, 1_000)
  return () => {
    for (const timer of [watch, starve, sample]) clearInterval(timer)
  }
}

/** How long a process was runnable without a CPU, in milliseconds, from the Linux scheduler. */
function readWait(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

function readRss(pid: number): number {
  try {
    return residentOf(pid) / 2 ** 20
  } catch {
    return 0
  }
}

/** Reads a board. A read that fails during a fault is ignored. */
async function readSnapshot(environment: FaultEnvironment, history: History, board: HarnessBoard) {
  const { status, headers, body } = await environment
    .api(environment.owner)
    .send('getBoard', { params: { board_id: board.id } })
  if (status !== 200) return
  const seq = Number(headers.get('board-position')?.split('.')[1])
  history.snapshots.push({ board_id: board.id, seq, board: body })
}

/** Starts listeners of every kind on all boards, with more on the hot board. */
export function startListeners(
  environment: FaultEnvironment,
  history: History,
  random: Random,
  counts: Pick<Size, 'numbered' | 'plain' | 'slow'>,
) {
  const about = { environment, history, random, bodies: new Map<string, string>() }
  const listeners: Listener[] = []
  const add = (kind: ListenerKind, board: HarnessBoard, user = random.pick(environment.viewers)) => {
    const listener = new Listener(listeners.length, kind, board, user, about)
    listeners.push(listener)
    listener.connect()
  }
  for (const kind of ['numbered', 'plain', 'slow'] as const) {
    for (let i = 0; i < counts[kind]; i++)
      add(kind, environment.boards[i % 3 === 0 ? 0 : i % environment.boards.length] as HarnessBoard)
  }
  for (const board of environment.boards) add('guest', board, environment.guest)
  return listeners
}

export const waitUntilConnected = (listeners: Listener[]) =>
  eventually('all clients are connected', () =>
    listeners.every(({ connection }) => connection?.opened !== undefined && connection.closed === undefined),
  )

/** Runs one seed: load, faults, recovery and checks. */
export async function runSeed(
  environment: FaultEnvironment,
  seed: number,
  size: Size,
  say: (line: string) => void,
): Promise<Outcome> {
  const random = seeded(seed)
  const history = newHistory(environment, seed)
  const stopObserving = observe(environment, history, random)
  const listeners = startListeners(environment, history, random, size)
  await waitUntilConnected(listeners)
  const writers = startWriters(environment, history, random, { rate: size.rate })
  const until = size.seconds === 'once' ? 'once' : now() + size.seconds * 1_000
  await injectFaults({ environment, history, listeners, random, durations: size.durations }, until, say)
  await writers.stop()
  await waitForDelivery(environment, listeners)
  stopObserving()
  for (const board of environment.boards) await readSnapshot(environment, history, board)
  return finishRun(environment, history, listeners)
}

/** Waits until all clients are connected and up to date. The checkers find those that never are. */
async function waitForDelivery(environment: FaultEnvironment, listeners: Listener[]) {
  await waitUntilConnected(listeners.filter((listener) => listener.kind !== 'slow')).catch(() => {})
  const heads = new Map((await dumpLog(environment)).streams.map((stream) => [stream.board_id, stream.last_seq]))
  const until = now() + 4_000
  await eventually('all clients are up to date', () => {
    const isBehind = ({ kind, position, board }: Listener) =>
      kind === 'numbered' && (position ?? 0) < (heads.get(board.id) ?? 0)
    return now() > until || !listeners.some(isBehind)
  })
}

export async function finishRun(
  environment: FaultEnvironment,
  history: History,
  listeners: Listener[],
): Promise<Outcome> {
  history.ended = now()
  for (const listener of listeners) listener.close()
  history.outputs.push(
    ...environment.outputs.splice(0),
    ...environment.instances.map(({ process }) => process.output()),
  )
  const dump = await dumpLog(environment, history.began)
  return { history, dump, violations: checkAll(history, dump) }
}

import { problems } from '@lockstep/contract/problems'
import { byBoard, type Checker, seqsByBody, seqsOf } from './check-log.ts'
import type { Connection, Dump, Fault, FaultKind, History, Millis } from './history.ts'

interface Span {
  from: Millis
  to: Millis
}

/** Maximum delivery time of an event, and the shorter one while only Redis is down. */
const STALE_MS = 3_000
const STALE_WITHOUT_REDIS_MS = 1_500
/** Maximum time until a removed member is disconnected, if nothing else fails. */
const REMOVED_MS = 1_000
const RSS_MIB = 512
/** How long a lost connection to PostgreSQL or Redis may have effects. */
const AFTERMATH_MS = 6_000

const redisDown: FaultKind[] = ['kill Redis', 'freeze Redis']
const redisFaults: FaultKind[] = [...redisDown, 'cut subscriptions', 'lose messages', 'fail over']
const harmless: FaultKind[] = ['reset clients', 'remove member']

/** The length of a period without its excused parts. Overlapping excuses count once. */
export function elapsed(from: Millis, to: Millis, excuses: readonly Span[]): number {
  let at = from
  let counted = 0
  for (const excuse of excuses) {
    if (excuse.to <= at) continue
    if (excuse.from >= to) break
    counted += Math.max(0, excuse.from - at)
    at = Math.max(at, excuse.to)
  }
  return counted + Math.max(0, to - at)
}

/** Excused periods: the instance was frozen, PostgreSQL was down, or the harness itself was stalled. */
function excusesOf({ faults, stalls }: History, instance: number): Span[] {
  const spans = faults
    .filter((f) => f.kind === 'restart PostgreSQL' || (f.kind === 'freeze instance' && f.instance === instance))
    .map(({ began, ended }) => ({ from: began, to: ended }))
  const stalled = stalls.filter((stall) => (stall.instance ?? instance) === instance)
  return [...spans, ...stalled].toSorted((a, b) => a.from - b.from)
}

const touches = ({ began, ended }: Fault, from: Millis, to: Millis) => began <= to && ended >= from

export interface Delay {
  connection: Connection
  seq: number
  committed: Millis
  ms: number
  bound: number
  isDelivered: boolean
}

/** The delivery time of every event to every reading connection, or how long it has been missing. */
export function delaysOf(history: History, dump: Dump): Delay[] {
  const places = seqsByBody(dump)
  const boards = byBoard(dump)
  const excuses = new Map<number, Span[]>()
  const boundAt = boundsOf(history)
  return history.connections.flatMap((connection) => {
    const { kind, opened, instance, closed, since, helloSeq } = connection
    if (kind === 'slow' || opened === undefined) return []
    const excused = excuses.get(instance) ?? excusesOf(history, instance)
    excuses.set(instance, excused)
    const times = new Map(seqsOf(connection, places).map((seq, i) => [seq, connection.receipts[i]?.at]))
    const first = connection.resyncSeq ?? since ?? helloSeq ?? ([...times.keys()][0] ?? Infinity) - 1
    const end = closed ?? history.ended
    // The start of a connection without numbers is unknown, but it must receive everything committed after it was
    // accepted.
    const owedFrom = kind === 'plain' ? opened : Infinity
    return (boards.get(connection.board_id) ?? [])
      .filter((row) => (row.seq > first || row.committed > owedFrom) && row.committed < end)
      .map(({ seq, committed }) => {
        const at = times.get(seq)
        const from = Math.max(committed, opened)
        const ms = elapsed(from, at ?? end, excused)
        return { connection, seq, committed, ms, bound: boundAt(from), isDelivered: at !== undefined }
      })
  })
}

function boundsOf({ faults }: History) {
  const others = faults.filter((f) => !redisDown.includes(f.kind) && !harmless.includes(f.kind))
  const away = faults.filter((f) => redisDown.includes(f.kind))
  return (at: Millis) => {
    const isAway = away.some((f) => touches(f, at, at))
    const isAlone = !others.some((f) => touches(f, at - AFTERMATH_MS, at + STALE_WITHOUT_REDIS_MS))
    return isAway && isAlone ? STALE_WITHOUT_REDIS_MS : STALE_MS
  }
}

/** C6: no reading client is behind for longer than the bound, at any time. */
export const checkStaleness: Checker = (history, dump) => worstOf(delaysOf(history, dump))

/** The longest delay of each connection above its bound. */
export function worstOf(delays: readonly Delay[]): string[] {
  const worst = new Map<number, Delay>()
  for (const delay of delays) {
    if (delay.ms <= delay.bound || (worst.get(delay.connection.id)?.ms ?? 0) >= delay.ms) continue
    worst.set(delay.connection.id, delay)
  }
  return [...worst.values()].map(
    ({ connection: { id, kind, instance }, seq, ms, bound, isDelivered }) =>
      `C6: connection ${id} (${kind}, instance ${instance}) ${isDelivered ? 'received' : 'is still missing'} ${seq} after ${Math.round(ms)} ms, over ${bound}`,
  )
}

/**
 * C9: a removed member receives no event after the removal, is rejected until invited again, and is disconnected in
 * time.
 */
export const checkRemoval: Checker = (history, dump) => {
  const places = seqsByBody(dump)
  return history.removals.flatMap((removal) =>
    history.connections
      .filter((c) => c.board_id === removal.board_id && c.user_id === removal.user_id && c.helloSeq !== undefined)
      .flatMap((connection) => {
        const { id, instance, helloSeq = 0, closed = history.ended } = connection
        if (helloSeq >= removal.backSeq) return []
        if (helloSeq >= removal.seq) return [`C9: connection ${id} was accepted after the removal at ${removal.seq}`]
        const leaked = seqsOf(connection, places).find((seq) => seq > removal.seq)
        const isAlone = !history.faults.some(
          (f) => f.kind !== 'remove member' && touches(f, removal.at - AFTERMATH_MS, closed),
        )
        const bound = isAlone ? REMOVED_MS : STALE_MS
        const late = elapsed(removal.at, Math.max(closed, removal.at), excusesOf(history, instance))
        return [
          ...(leaked === undefined
            ? []
            : [`C9: connection ${id} received ${leaked} after the removal at ${removal.seq}`]),
          ...(late <= bound ? [] : [`C9: connection ${id} was open for ${Math.round(late)} ms after the removal`]),
        ]
      }),
  )
}

/** C11: every closed connection has a cause and its close code. */
export const checkCodes: Checker = (history) =>
  history.connections
    .filter((connection) => connection.closed !== undefined && !isExplained(history, connection))
    .map(
      ({ id, kind, code, instance }) =>
        `C11: connection ${id} (${kind}, instance ${instance}) was closed with ${code} without a cause`,
    )

function isExplained({ faults, removals }: History, connection: Connection): boolean {
  const { kind, code, instance, endedByHarness, board_id, user_id } = connection
  const closed = connection.closed as Millis
  const had = (what: FaultKind, afterMs: number) =>
    faults.some(
      (f) => f.kind === what && (f.instance ?? instance) === instance && touches(f, closed - afterMs, closed + 100),
    )
  if (endedByHarness) return true
  switch (code) {
    case 1006:
      return kind === 'slow' || had('kill instance', 1_000)
    case 1008:
      return removals.some(
        (r) =>
          r.board_id === board_id && r.user_id === user_id && closed > r.at - STALE_MS && closed < r.backAt + STALE_MS,
      )
    case 1012:
      return had('drain instance', 1_000)
    case 1013:
      return kind === 'slow' || had('restart PostgreSQL', AFTERMATH_MS) || had('end backends', AFTERMATH_MS)
    case 4408:
      return kind === 'slow' || had('freeze instance', 15_000)
    default:
      return false
  }
}

/** C12: memory stays below its limit, and no process logs an unhandled error. */
export const checkProcesses: Checker = ({ samples, outputs }) => [
  ...samples
    .filter((sample) => sample.rss_mib > RSS_MIB)
    .slice(0, 3)
    .map(({ instance, rss_mib }) => `C12: instance ${instance} used ${Math.round(rss_mib)} MiB`),
  ...outputs.flatMap((output) =>
    output
      .split('\n')
      .filter(isAlarming)
      .slice(0, 3)
      .map((line) => `C12: a process printed ${line.slice(0, 300)}`),
  ),
]

/** An error other than the 503 of a service without its database. */
const isAlarming = (line: string) =>
  /unhandled|closing after an error|"level":"fatal"/i.test(line) ||
  (line.includes('"level":"error"') && !unavailable.some((detail) => line.includes(detail)))
const unavailable = [problems.unavailable.detail, problems.overloaded.detail, problems.board_busy.detail]

/** C13: writes succeed whatever happens to Redis, and a draining instance completes its requests. */
export const checkHttp: Checker = ({ writes, faults }) => {
  const disruptive = faults.filter((f) => !redisFaults.includes(f.kind) && !harmless.includes(f.kind))
  const drains = faults.filter((f) => f.kind === 'drain instance')
  return writes.flatMap(({ marker, instance, outcome, detail, began, ended }) => {
    if (outcome === 'ok') return []
    if (outcome === 'rejected') return [`C13: ${marker} was rejected: ${detail}`]
    const drain = drains.find((f) => f.instance === instance && began < f.began && ended > f.began)
    if (drain) return [`C13: ${marker} was in flight while instance ${instance} was drained, and failed: ${detail}`]
    const isExcused = disruptive.some((f) => touches(f, began - AFTERMATH_MS, ended))
    return isExcused ? [] : [`C13: ${marker} failed while only Redis was down: ${detail}`]
  })
}

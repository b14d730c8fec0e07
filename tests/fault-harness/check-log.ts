import type { FullBoard } from '@lockstep/contract/boards'
import { foldBoard } from '@lockstep/testing/fold'
import type { Connection, Dump, History, LogRow, Write, WriteKind } from './history.ts'

/** A checker returns one sentence for each violation. */
export type Checker = (history: History, dump: Dump) => string[]

export function byBoard(dump: Dump): Map<string, LogRow[]> {
  const boards = new Map<string, LogRow[]>()
  for (const { board_id } of dump.streams) boards.set(board_id, [])
  for (const row of dump.events) {
    const rows = boards.get(row.board_id) ?? []
    boards.set(row.board_id, rows)
    rows.push(row)
  }
  for (const rows of boards.values()) rows.sort((a, b) => a.seq - b.seq)
  return boards
}

/** C1: the event numbers of a board are 1, 2, 3 … up to the position of its stream. */
export const checkLog: Checker = (_, dump) => {
  const boards = byBoard(dump)
  return dump.streams.flatMap(({ board_id, last_seq }) => {
    const rows = boards.get(board_id) ?? []
    const hole = rows.findIndex((row, i) => row.seq !== i + 1)
    if (hole !== -1) return [`C1: the log of ${board_id} has ${rows[hole]?.seq} instead of ${hole + 1}`]
    return rows.length === last_seq
      ? []
      : [`C1: the log of ${board_id} ends at ${rows.length}, its stream at ${last_seq}`]
  })
}

const markerIn = (body: string) => /"title":"(w\d+-\d+)"/.exec(body)?.[1]

/** C2: no client receives a write that was rejected or never sent. */
export const checkAborted: Checker = ({ writes, connections }) => {
  const outcomes = new Map(writes.map((write) => [write.marker, write.outcome]))
  const seen = new Set<string>()
  for (const { receipts } of connections) {
    for (const { body } of receipts) {
      const marker = markerIn(body)
      if (marker !== undefined && (outcomes.get(marker) ?? 'rejected') === 'rejected') seen.add(marker)
    }
  }
  return [...seen].map((marker) => `C2: ${marker} was rejected or never written, and was delivered`)
}

/** The event of a write. Deleting for good has none: the card had left its board before. */
const kindOf = {
  create: 'card.created',
  update: 'card.updated',
  move: 'card.moved',
  delete: 'card.deleted',
  archive: 'card.deleted',
  restore: 'card.created',
} as const

/** C3: every acknowledged write is in the log of its board, at most at its acknowledged position. */
export const checkLost: Checker = ({ writes }, dump) => {
  const found = new Map<string, number>()
  for (const { board_id, type, body, seq } of dump.events) {
    const key = `${board_id} ${type} ${/"data":\{"id":"([^"]+)"/.exec(body)?.[1]}`
    // A restored card is created again with the same title.
    for (const each of [key, `${key} ${markerIn(body)}`]) found.set(each, Math.min(seq, found.get(each) ?? seq))
    found.set(`${key} ${seq}`, seq)
  }
  const isKept = ({ kind, board_id, card_id, marker, seq }: Write) => {
    if (kind === 'purge') return true
    const key = `${board_id} ${kindOf[kind]} ${card_id}`
    if (kind === 'delete' || kind === 'archive' || kind === 'restore') return found.has(`${key} ${seq}`)
    if (kind === 'move') return found.has(key)
    return (found.get(`${key} ${marker}`) ?? Infinity) <= seq
  }
  return writes
    .filter((write) => write.outcome === 'ok' && !isKept(write))
    .map(
      ({ marker, kind, board_id }) => `C3: ${marker} (${kind} on ${board_id}) was acknowledged, and is not in the log`,
    )
}

const stateAfter: Record<WriteKind, Dump['cards'][number]['state'] | undefined> = {
  ...{ create: 'on the board', update: 'on the board', move: 'on the board', restore: 'on the board' },
  ...{ delete: 'deleted', archive: 'archived', purge: undefined },
}
/** C14: every card is where its last write put it. After a write with an unknown outcome a card is not used again. */
export const checkCards: Checker = ({ writes }, { cards }) => {
  const states = new Map(cards.map(({ id, state }) => [id, state]))
  const misplaced = [...new Map(writes.map((write) => [write.card_id, write])).values()].filter(
    ({ outcome, kind, card_id }) => outcome === 'ok' && states.get(card_id) !== stateAfter[kind],
  )
  return [
    ...cards.filter(({ state }) => state === 'lost').map(({ id }) => `C14: the card ${id} is lost`),
    ...misplaced.map(
      ({ card_id, kind }) =>
        `C14: after an acknowledged ${kind}, the card ${card_id} is ${states.get(card_id) ?? 'gone'}`,
    ),
  ]
}

/** C4: every delivered event equals the text in the log, byte for byte. */
export const checkBodies: Checker = ({ connections }, dump) => {
  const texts = new Map(dump.events.map((row) => [`${row.board_id} ${row.seq}`, row.body]))
  const known = new Set(dump.events.map((row) => row.body))
  return connections.flatMap(({ id, board_id, receipts }) => {
    const wrong = receipts.find(({ seq, body }) =>
      seq === undefined ? !known.has(body) : texts.get(`${board_id} ${seq}`) !== body,
    )
    return wrong
      ? [`C4: connection ${id} received a different text for ${wrong.seq ?? 'an event'} than the log has`]
      : []
  })
}

/** The event numbers that a connection received; without numbers, they are looked up in the log by text. */
export function seqsOf({ board_id, receipts }: Connection, places: Map<string, number>): number[] {
  return receipts.map(({ seq, body }) => seq ?? places.get(`${board_id} ${body}`) ?? -1)
}
export const seqsByBody = (dump: Dump) => new Map(dump.events.map((row) => [`${row.board_id} ${row.body}`, row.seq]))

/** C5: on each connection events are complete, unique and in order. */
export const checkOrder: Checker = ({ connections }, dump) => {
  const places = seqsByBody(dump)
  return connections.flatMap((connection) => {
    const numbers = seqsOf(connection, places)
    // After a resync, events continue from its position.
    const wrong = numbers.findIndex(
      (seq, i) => i > 0 && seq !== (numbers[i - 1] ?? 0) + 1 && seq !== (connection.resyncSeq ?? -2) + 1,
    )
    return wrong === -1
      ? []
      : [`C5: connection ${connection.id} (${connection.kind}) received ${numbers[wrong]} after ${numbers[wrong - 1]}`]
  })
}

/** C7: a client that resumes with `since` first receives the event after it, or a resync. */
export const checkResume: Checker = ({ connections }) =>
  connections.flatMap(({ id, since, helloSeq, resyncSeq, receipts }) => {
    const [first] = receipts
    const from = since ?? helloSeq
    if (!first || from === undefined || first.seq === undefined || resyncSeq !== undefined) return []
    return first.seq === from + 1 ? [] : [`C7: connection ${id} resumed after ${from}, and got ${first.seq}`]
  })

interface Followed {
  connections: Connection[]
  from: number
}

/** C8: applying the events in order gives the board that was read, at every position. */
export const checkFold: Checker = ({ snapshots, created, connections }, dump) => {
  const found: string[] = []
  for (const [board_id, rows] of byBoard(dump)) {
    const start = created.get(board_id) as FullBoard | undefined
    if (!start) continue
    let board = start
    let at = 0
    const reads = snapshots.filter((s) => s.board_id === board_id).toSorted((a, b) => a.seq - b.seq)
    for (const { seq, board: shown } of reads) {
      board = foldBoard(board, rows.slice(at, seq).map(parsed))
      at = seq
      if (!same(board, shown))
        found.push(`C8: the events of ${board_id} up to ${seq} do not fold to the board that was read`)
    }
    found.push(...checkClient(board_id, followOne(board_id, connections), start, rows, board, at))
  }
  return found
}

/** The same for the events that one client received, over all its connections. */
function checkClient(
  board_id: string,
  followed: Followed | undefined,
  start: FullBoard,
  rows: LogRow[],
  end: FullBoard,
  endSeq: number,
): string[] {
  if (!followed) return []
  const heard = new Map(followed.connections.flatMap((c) => c.receipts.map((r) => [r.seq, r.body])))
  const events = rows.slice(0, endSeq).map((row) => (row.seq <= followed.from ? row.body : heard.get(row.seq)))
  const missing = events.indexOf(undefined)
  if (missing !== -1) return [`C8: a client of ${board_id} never received ${missing + 1}`]
  const board = foldBoard(
    start,
    events.map((body) => JSON.parse(body as string)),
  )
  return same(board, end) ? [] : [`C8: the events of a client of ${board_id} do not fold to the board`]
}

/** A listener with numbers that was connected from the start and never got a resync. */
function followOne(board_id: string, connections: Connection[]): Followed | undefined {
  const numbered = connections.filter((c) => c.board_id === board_id && c.kind === 'numbered')
  const [first] = numbered.filter((c) => c.helloSeq !== undefined)
  if (!first) return undefined
  const own = numbered.filter((c) => c.listener === first.listener)
  return { connections: own, from: first.since ?? (first.helloSeq as number) }
}

const parsed = (row: LogRow) => JSON.parse(row.body) as { type: string; data: unknown }
/** Ignores the order of keys and of members, which the events and GET order differently. */
const same = (a: FullBoard, b: unknown) => canonical(a) === canonical(b as FullBoard)
const canonical = (board: FullBoard) =>
  JSON.stringify(sortKeys({ ...board, members: board.members.toSorted((a, b) => (a.user_id < b.user_id ? -1 : 1)) }))
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  )
}

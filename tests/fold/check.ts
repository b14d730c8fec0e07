import { isDeepStrictEqual } from 'node:util'
import { type EventKind, events } from '@lockstep/contract'
import { isAddedKind } from '@lockstep/contract/realtime'
import { checkClosed } from '@lockstep/testing/closed-schema'
import { emptyBoard, foldBoard } from '@lockstep/testing/fold'
import type { Logged, RecordedBoard } from './record-board.ts'
import { emitsOf } from './writes.ts'

/** All violations in a recorded board. */
export function checkRecordedBoard(recorded: RecordedBoard): string[] {
  return [
    ...recorded.violations,
    ...checkNumbers(recorded),
    ...checkMessages(recorded),
    ...checkAuthors(recorded),
    ...checkFold(recorded),
    ...checkReceived(recorded),
    ...checkPlain(recorded),
  ]
}

/** The log is numbered 1, 2, 3 … up to the board's position. */
function checkNumbers({ log, end }: RecordedBoard): string[] {
  const holes = log.filter(({ seq }, i) => seq !== i + 1).map(({ seq }) => `the log has a gap before ${seq}`)
  return end.seq === log.length ? holes : [...holes, `the board is at ${end.seq}, its log ends at ${log.length}`]
}

/** Every event has its five fields, and its data matches the contract. */
function checkMessages({ log }: RecordedBoard): string[] {
  return log.flatMap(({ seq, type, data, ...rest }) => {
    if (Object.keys(rest).sort().join() !== 'timestamp,user_id,version') return [`${seq} ${type} has other fields`]
    const schema = events[type as EventKind]
    return schema ? complaintsOf(() => checkClosed(schema, data, `${seq} ${type}`)) : [`${seq} ${type} is no event`]
  })
}

/**
 * An event has the author of its write, and a kind that the write may emit. Events of rank rebalancing and rules have
 * no author. The events of a write end at the position in its response; a write without changes has the same position
 * as the one before.
 */
function checkAuthors({ log, done }: RecordedBoard): string[] {
  const byPlace = Map.groupBy(done, ({ seq }) => seq)
  const ends = [...byPlace.keys()].sort((a, b) => a - b)
  const complaints = ends.flatMap((end, i) => {
    const writes = byPlace.get(end) ?? []
    const segment = log.slice(ends[i - 1] ?? 0, end)
    const isExplained = writes.some(
      ({ name, user_id }) =>
        segment.some((event) => event.user_id === user_id) &&
        segment.every((event) => (event.user_id === user_id || isNobodys(event)) && mayEmit(name, event)),
    )
    const told = segment.map(({ seq, type, user_id }) => `${seq} ${type} by ${user_id}`).join(', ')
    const names = writes.map(({ name, user_id }) => `${name} by ${user_id}`).join(', ')
    return isExplained || segment.length === 0 ? [] : [`${told} is not what ${names} leaves behind`]
  })
  const last = ends.at(-1) ?? 0
  return last >= log.length ? complaints : [...complaints, `nobody wrote what the log tells behind ${last}`]
}
const mayEmit = (name: Parameters<typeof emitsOf>[0], { type, user_id }: Logged) =>
  emitsOf(name).includes(type) || (user_id === null && type.endsWith('.moved'))
const isNobodys = ({ user_id, type }: Logged) =>
  user_id === null && (type.endsWith('.moved') || type.endsWith('.unassigned') || type === 'card.assigned')

/** Folding the log up to a position gives the GET response at that position. */
function checkFold({ created, log, end, snapshots }: RecordedBoard): string[] {
  const start = emptyBoard(created)
  return [...snapshots, end].flatMap(({ seq, board }) => {
    let folded: unknown
    const complaints = complaintsOf(() => {
      folded = foldBoard(start, log.slice(0, seq))
    })
    if (complaints.length > 0) return complaints
    return isDeepStrictEqual(folded, board)
      ? []
      : [`the log up to ${seq} does not fold to the board: ${firstDifference(folded, board)}`]
  })
}

const withoutNumber = (event: Logged) => {
  const { seq: _, ...message } = event
  return message
}

/** The kinds of the specification, in which a board has no comments. */
const specifiedKinds = Object.keys(events).filter((kind) => !isAddedKind(kind))
const withoutCounts = (board: unknown): unknown =>
  JSON.parse(JSON.stringify(board, (name, value: unknown) => (name === 'comment_count' ? undefined : value)))

/** What a socket without numbers received has only specified kinds, and folds to the board without its added fields. */
function checkPlain({ created, log, end, received: { plain, plainFrom } }: RecordedBoard): string[] {
  const others = plain.filter(({ type }) => !specifiedKinds.includes(type))
  if (others.length > 0) return [`the plain socket was sent ${others[0]?.type}`]
  let folded: unknown
  const complaints = complaintsOf(() => {
    folded = foldBoard(foldBoard(emptyBoard(created), log.slice(0, plainFrom)), plain as unknown as Logged[])
  })
  if (complaints.length > 0) return complaints
  const [a, b] = [withoutCounts(folded), withoutCounts(end.board)]
  return isDeepStrictEqual(a, b) ? [] : [`the plain socket does not fold to the board: ${firstDifference(a, b)}`]
}

/** Sockets received exactly the log, in order; the one without numbers from where it connected, and only specified kinds. */
function checkReceived({ log, received }: RecordedBoard): string[] {
  const isSpecified = ({ type }: Logged) => specifiedKinds.includes(type)
  const expected = {
    numbered: log,
    plain: log.slice(received.plainFrom).filter(isSpecified).map(withoutNumber),
  }
  return (['numbered', 'plain'] as const).flatMap((which) => {
    const at = Array.from({ length: Math.max(expected[which].length, received[which].length) }, (_, i) => i).find(
      (i) => !isDeepStrictEqual({ ...received[which][i] }, { ...expected[which][i] }),
    )
    return at === undefined
      ? []
      : [`the ${which} socket was told something else than the log, first as message ${at + 1}`]
  })
}

function complaintsOf(check: () => void): string[] {
  try {
    check()
    return []
  } catch (error) {
    return [(error as Error).message.slice(0, 500)]
  }
}

/** The path of the first difference, for a useful message. */
function firstDifference(a: unknown, b: unknown, path = 'board'): string {
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
  if (!isObject(a) || !isObject(b))
    return `${path} is ${JSON.stringify(a)?.slice(0, 200)}, not ${JSON.stringify(b)?.slice(0, 200)}`
  const key = [...new Set([...Object.keys(a), ...Object.keys(b)])].find((k) => !isDeepStrictEqual(a[k], b[k]))
  return key === undefined ? path : firstDifference(a[key], b[key], `${path}.${key}`)
}

import type { Column } from '@lockstep/contract/columns'
import type { Connection, Dump, Fault, FaultKind, History, LogRow, Write } from './history.ts'
import type { RemovalHistory } from './removal-model.ts'

const BOARD = '00000000-0000-4000-8000-000000000001'
const COLUMN = '00000000-0000-4000-8000-00000000000c'
export const GUEST = 'guest'
const EVENTS = 20

/** A small correct history: twenty cards, two readers and a guest. Tests seed defects into copies of it. */
export function soundHistory(): { history: History; dump: Dump } {
  const column = { id: COLUMN, title: 'To do', rank: 1, cards: [] as unknown[] }
  const board = { id: BOARD, title: 'Plan', members: [], columns: [column] }
  const cards = Array.from({ length: EVENTS }, (_, i) => ({
    id: `card-${i + 1}`,
    title: `w1-${i + 1}`,
    rank: i + 1,
    column_id: COLUMN,
  }))
  const events = cards.map((card, i): LogRow => {
    const body = `{"type":"card.created","data":${JSON.stringify(card)},"user_id":"owner"}`
    return { board_id: BOARD, seq: i + 1, type: 'card.created', subject_id: null, body, committed: committedAt(i + 1) }
  })
  const writes = cards.map(
    (card, i): Write => ({
      marker: card.title,
      kind: 'create',
      board_id: BOARD,
      card_id: card.id,
      instance: 0,
      began: committedAt(i + 1) - 5,
      ended: committedAt(i + 1) + 1,
      outcome: 'ok',
      detail: '201',
      seq: i + 1,
    }),
  )
  const history: History = {
    seed: 1,
    began: 0,
    ended: 100_000,
    writes,
    connections: [connect(0, 'numbered', events), connect(1, 'plain', events), connect(2, 'guest', events)],
    faults: [],
    removals: [],
    snapshots: [{ board_id: BOARD, seq: EVENTS, board: { ...board, columns: [{ ...column, cards }] } }],
    created: new Map([[BOARD, board]]),
    samples: [{ at: 0, instance: 0, rss_mib: 100 }],
    outputs: ['{"level":"warn","msg":"Redis cannot be reached"}'],
    stalls: [],
  }
  const streams = [{ board_id: BOARD, last_seq: EVENTS }]
  return { history, dump: { events, streams, cards: cards.map(({ id }) => ({ id, state: 'on the board' })) } }
}

/** A column with two cards that was deleted and restored. */
export function soundRemovals(): { history: RemovalHistory; dump: Dump } {
  const cards = ['card-1', 'card-2'].map((id) => ({ id, number: 1, checklists: ['list'], labels: ['label'] }))
  const column = { id: COLUMN, title: 'To do', rank: 1, cards } as never as Column
  const contents = { comments: [{ id: 'comment' } as never], files: ['bytes'] }
  const states: Dump['cards'] = cards.map(({ id }) => ({ id, state: 'on the board' }))
  const sent = (['delete', 'restore'] as const).map((kind, i) => ({
    ...{ kind, isColumn: true, board_id: BOARD, id: COLUMN, outcome: 'ok' as const, detail: '', seq: i + 1 },
  }))
  const events = ['column.deleted', 'column.created'].map((type, i): LogRow => {
    const body = `{"type":"${type}","data":${JSON.stringify(column)}}`
    return { board_id: BOARD, seq: i + 1, type, subject_id: null, body, committed: committedAt(i + 1) }
  })
  const board = { id: BOARD, columns: [column] } as never
  const history: RemovalHistory = {
    sent,
    boards: [{ board_id: BOARD, seq: 2, after: 'restore', expected: [column], board }],
    contents: [{ card_id: 'card-1', expected: contents, found: contents }],
    cards: [{ board_id: BOARD, expected: states, found: states }],
  }
  // Without shared objects: a defect changes what was found, not what was expected.
  return JSON.parse(
    JSON.stringify({ history, dump: { events, streams: [{ board_id: BOARD, last_seq: 2 }], cards: states } }),
  )
}

/** One event a second. */
export const committedAt = (seq: number) => 1_000 * seq

function connect(id: number, kind: Connection['kind'], events: LogRow[]): Connection {
  return {
    id,
    listener: id,
    kind,
    board_id: BOARD,
    user_id: kind === 'guest' ? GUEST : 'viewer',
    instance: id,
    since: undefined,
    opened: 10,
    helloSeq: kind === 'plain' ? undefined : 0,
    resyncSeq: undefined,
    receipts: events.map(({ type, seq, body, committed }) => ({
      at: committed + 20,
      type,
      seq: kind === 'plain' ? undefined : seq,
      body,
    })),
    presence: [{ at: 10, type: 'user_joined', user_id: kind === 'guest' ? GUEST : 'viewer' }],
    closed: undefined,
    code: undefined,
    endedByHarness: undefined,
  }
}

export const fault = (kind: FaultKind, began: number, ended: number, instance?: number): Fault => ({
  kind,
  began,
  ended,
  instance,
  detail: '',
})

/** Ends a connection at a time. */
export function endAt(connection: Connection, at: number, code: number) {
  Object.assign(connection, { closed: at, code, receipts: connection.receipts.filter((receipt) => receipt.at <= at) })
}

/** The removal of the guest at one event, and the invitation at another. */
export const removal = (seq: number, backSeq: number) => ({
  board_id: BOARD,
  user_id: GUEST,
  seq,
  at: committedAt(seq),
  backSeq,
  backAt: committedAt(backSeq),
})

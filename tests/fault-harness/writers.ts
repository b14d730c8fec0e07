import { randomUUID } from 'node:crypto'
import type { Random } from '@lockstep/testing/random'
import type { FaultEnvironment, HarnessBoard, Instance } from './environment.ts'
import type { History, Write, WriteKind } from './history.ts'
import { now } from './history.ts'

const MOST_CARDS = 120
const FEWEST_CARDS = 10
const MOST_UNDER_WAY = 400
/** Longer than any fault: a late response still counts. */
const PATIENCE_MS = 15_000

export interface Writers {
  stop: () => Promise<void>
}

/**
 * Open-loop writes at a steady rate, which a slow service does not reduce. The first board is hot and gets 40 % of
 * the writes.
 */
export function startWriters(
  environment: FaultEnvironment,
  history: History,
  random: Random,
  { rate, instance }: { rate: number; instance?: number },
): Writers {
  const inFlight = new Set<Promise<void>>()
  const began = now()
  let count = 0
  const timer = setInterval(() => {
    const due = Math.floor(((now() - began) * rate) / 1_000)
    for (; count < due; count++) {
      if (inFlight.size >= MOST_UNDER_WAY) continue
      const board = random.next() < 0.4 ? (environment.boards[0] as HarnessBoard) : random.pick(environment.boards)
      const open = environment.instances.filter(
        (i) => i.isInRotation && (instance === undefined || i.index === instance),
      )
      if (open.length === 0) continue
      const writing = write(environment, history, random, board, random.pick(open)).finally(() =>
        inFlight.delete(writing),
      )
      inFlight.add(writing)
    }
  }, 5)
  return {
    stop: async () => {
      clearInterval(timer)
      await Promise.all(inFlight)
    },
  }
}

function choose(random: Random, board: HarnessBoard): WriteKind {
  if (board.cards.length < FEWEST_CARDS) return 'create'
  const kind = random.pick<WriteKind>([
    'create',
    'create',
    'update',
    'update',
    'move',
    'delete',
    'archive',
    'restore',
    'purge',
  ])
  if (kind === 'create' && board.cards.length > MOST_CARDS) return 'delete'
  return isOfRemoved(kind) && board.removed.length === 0 ? 'update' : kind
}
const isOfRemoved = (kind: WriteKind) => kind === 'restore' || kind === 'purge'

async function write(
  environment: FaultEnvironment,
  history: History,
  random: Random,
  board: HarnessBoard,
  instance: Instance,
) {
  const kind = choose(random, board)
  // A card with a pending write is not used: its state would be uncertain.
  const from = isOfRemoved(kind) ? board.removed : board.cards
  const [card = { id: randomUUID(), column: random.pick([0, 1] as const) }] =
    kind === 'create' ? [] : from.splice(random.below(from.length), 1)
  // A move goes to the other column, so that it always emits an event.
  if (kind === 'move') card.column = card.column === 0 ? 1 : 0
  const record: Write = {
    marker: `w${history.seed}-${history.writes.length}`,
    kind,
    board_id: board.id,
    card_id: card.id,
    instance: instance.index,
    began: now(),
    ended: 0,
    outcome: 'unknown',
    detail: '',
    seq: 0,
  }
  history.writes.push(record)
  const [method, path, body] = requestOf(record, board.columns[card.column])
  try {
    const response = await fetch(instance.process.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${environment.owner.token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const text = await response.text()
    record.detail = `${response.status}${response.ok ? '' : ` ${text}`}`
    record.outcome = response.ok ? 'ok' : response.status < 500 ? 'rejected' : 'unknown'
    record.seq = Number(response.headers.get('board-position')?.split('.')[1] ?? 0)
  } catch (error) {
    record.detail = String((error as Error).cause ?? error)
  }
  record.ended = now()
  // Cards with an uncertain state are not used again.
  if (record.outcome !== 'ok' || kind === 'purge') return
  const to = kind === 'delete' || kind === 'archive' ? board.removed : board.cards
  to.push(card)
}

function requestOf({ kind, marker, board_id, card_id }: Write, column_id: string): [string, string, object?] {
  switch (kind) {
    case 'create':
      return ['POST', `/boards/${board_id}/columns/${column_id}/cards`, { id: card_id, title: marker }]
    case 'update':
      return ['PATCH', `/cards/${card_id}`, { title: marker }]
    case 'move':
      return ['POST', `/cards/${card_id}/move`, { column_id }]
    case 'delete':
      return ['DELETE', `/cards/${card_id}`]
    case 'archive':
      return ['POST', `/cards/${card_id}/archive`]
    case 'restore':
      return ['POST', `/boards/${board_id}/removed/${card_id}/restore`, {}]
    case 'purge':
      return ['DELETE', `/boards/${board_id}/removed/${card_id}`]
  }
}

import { isDeepStrictEqual as same } from 'node:util'
import type { FullBoard } from '@lockstep/contract/boards'
import type { Card } from '@lockstep/contract/cards'
import type { Column } from '@lockstep/contract/columns'
import type { Comment } from '@lockstep/contract/comments'
import type { Random } from '@lockstep/testing/random'
import type { Dump } from './history.ts'

type State = 'on the board' | 'archived' | 'deleted'
export type RemovalKind = 'archive' | 'delete' | 'restore' | 'purge'

/** What a card has beside its JSON. */
export interface Contents {
  comments: Comment[]
  /** The bytes of each file, as base64. */
  files: string[]
}
export interface ModelCard {
  json: Card
  contents: Contents
  /** `on the board` also if it left with its column. */
  state: State
}
export interface ModelColumn {
  json: Omit<Column, 'cards'>
  state: State
  cards: ModelCard[]
}
/** An operation on a column, or on a card of it. */
export interface RemovalStep {
  kind: RemovalKind
  column: ModelColumn
  card?: ModelCard
}

export const idOf = ({ column, card }: RemovalStep) => (card ?? column).json.id

/**
 * A board on which cards and columns are only archived, deleted, restored and purged, one after the other. Nothing is moved or
 * edited, so what is on the board is what was there at the start, in the same order, without what was removed.
 */
export class RemovalModel {
  columns: ModelColumn[] = []

  /** The number of cards that can be used. */
  get cardCount(): number {
    return this.columns.reduce((sum, { cards }) => sum + cards.length, 0)
  }

  /** A step that must succeed. */
  choose(random: Random): RemovalStep {
    const kind = random.pick<RemovalKind>([
      'archive',
      'archive',
      'delete',
      'delete',
      'restore',
      'restore',
      'restore',
      'purge',
    ])
    const steps = this.columns.flatMap((column) => [{ column }, ...column.cards.map((card) => ({ column, card }))])
    const possible = steps.filter((step) => this.isPossible(kind, step))
    return possible.length > 0 ? { kind, ...random.pick(possible) } : this.choose(random)
  }

  private isPossible(kind: RemovalKind, { column, card }: Omit<RemovalStep, 'kind'>): boolean {
    const isThere = (each: { state: State }) => each.state === 'on the board'
    if (kind === 'purge') return !isThere(column) || (card !== undefined && !isThere(card))
    // A card cannot leave or come back without its column.
    if (card && !isThere(column)) return false
    return isThere(card ?? column) === (kind !== 'restore')
  }

  apply({ kind, column, card }: RemovalStep) {
    if (kind !== 'purge')
      (card ?? column).state = ({ archive: 'archived', delete: 'deleted', restore: 'on the board' } as const)[kind]
    else if (card) column.cards.splice(column.cards.indexOf(card), 1)
    else {
      // Cards that had left before stay, but their column is gone: they are not used again.
      this.orphans.push(...column.cards.filter(({ state }) => state !== 'on the board'))
      this.columns.splice(this.columns.indexOf(column), 1)
    }
  }
  private readonly orphans: ModelCard[] = []

  /** The columns of the board with their cards, as GET must show them. */
  shown(): Column[] {
    return this.columns
      .filter(({ state }) => state === 'on the board')
      .map(({ json, cards }) => ({
        ...json,
        cards: cards.filter(({ state }) => state === 'on the board').map((card) => card.json),
      }))
  }

  /** Where each card is. A card that left with its column is where the column is. */
  states(): Dump['cards'] {
    const stateOf = (column: ModelColumn, { state }: ModelCard) => (state === 'on the board' ? column.state : state)
    return [
      ...this.columns.flatMap((column) =>
        column.cards.map((card) => ({ id: card.json.id, state: stateOf(column, card) })),
      ),
      ...this.orphans.map(({ json: { id }, state }) => ({ id, state })),
    ]
  }
}

/** An operation and its outcome. `unknown`: its instance was killed; then the board says whether it was applied. */
export interface SentRemoval {
  kind: RemovalKind
  isColumn: boolean
  board_id: string
  id: string
  outcome: 'ok' | 'unknown' | 'rejected'
  detail: string
  seq: number
}
/** What a run observed, with what the model expected. */
export interface RemovalHistory {
  sent: SentRemoval[]
  boards: { board_id: string; seq: number; after: string; expected: Column[]; board: FullBoard }[]
  contents: { card_id: string; expected: Contents; found: Contents }[]
  cards: { board_id: string; expected: Dump['cards']; found: Dump['cards'] }[]
}

const byId = (cards: Dump['cards']) => cards.map(({ id, state }) => `${id} ${state}`).toSorted()
const eventOf = { archive: 'deleted', delete: 'deleted', restore: 'created' } as const

/** One sentence for each violation. */
export function checkRemovals({ sent, boards, contents, cards }: RemovalHistory, dump: Dump): string[] {
  const log = new Map(dump.events.map((row) => [`${row.board_id} ${row.seq}`, row]))
  const isLogged = ({ kind, isColumn, board_id, id, seq }: SentRemoval) => {
    if (kind === 'purge') return true
    const row = log.get(`${board_id} ${seq}`)
    const type = `${isColumn ? 'column' : 'card'}.${eventOf[kind]}`
    return row?.type === type && row.body.startsWith(`{"type":"${type}","data":{"id":"${id}"`)
  }
  const name = ({ kind, isColumn, id }: SentRemoval) => `${kind} of the ${isColumn ? 'column' : 'card'} ${id}`
  return [
    ...sent
      .filter(({ outcome }) => outcome === 'rejected')
      .map((each) => `R1: ${name(each)} was rejected: ${each.detail}`),
    ...sent
      .filter((each) => each.outcome === 'ok' && !isLogged(each))
      .map((each) => `R2: ${name(each)} was acknowledged, and its event is not in the log`),
    ...boards
      .filter(({ expected, board }) => !same(board.columns, expected))
      .map(
        ({ board_id, after }) =>
          `R3: after ${after}, the board ${board_id} is not what it was without what was removed`,
      ),
    ...contents
      .filter(({ expected, found }) => !same(found, expected))
      .map(({ card_id }) => `R4: the card ${card_id} came back with other comments or files`),
    ...cards
      .filter(({ expected, found }) => !same(byId(found), byId(expected)))
      .map(({ board_id }) => `R5: cards of ${board_id} are lost, or were not deleted for good`),
  ]
}

import assert from 'node:assert/strict'
import type { Attachment } from '@lockstep/contract/attachments'
import type { Board, BoardMember, FullBoard } from '@lockstep/contract/boards'
import type { Card } from '@lockstep/contract/cards'
import type { Checklist, ChecklistItem } from '@lockstep/contract/checklists'
import type { Column } from '@lockstep/contract/columns'
import type { CommentEvent } from '@lockstep/contract/comments'
import type { Label } from '@lockstep/contract/labels'
import type { ApiResponse } from './client.ts'
import type { TestBoard } from './service.ts'

/** As much of an event as a client needs to follow a board. */
export interface FoldedEvent {
  type: string
  data: unknown
  user_id?: string | null
  /** The event number. Needed only to order the caller's own responses. */
  seq?: number
}

/**
 * A client that skips the events of its own user, as the specification advises, and applies the responses of its own
 * requests instead. A response has the form of the event that it replaces, and is applied after the event numbered
 * `seq`.
 */
export interface OwnResponses {
  user_id: string
  responses: { seq: number; type: string; data: unknown }[]
}

/** The response of `POST /boards` in the form of `GET /boards/{id}`: the start of a fold. */
export const emptyBoard = (created: Board): FullBoard => ({ ...created, columns: [] })

/** The board that a client shows if it only knows the events, in order. Pure: `start` is not modified. */
export function foldBoard(start: FullBoard, events: readonly FoldedEvent[], own?: OwnResponses): FullBoard {
  return (own ? withOwnResponses(events, own) : events).reduce(applyEvent, start)
}

function withOwnResponses(events: readonly FoldedEvent[], { user_id, responses }: OwnResponses): FoldedEvent[] {
  const heard = events.filter((event) => event.user_id !== user_id)
  // The sort is stable: a response comes after the event of the same number.
  return [...heard, ...responses].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
}

/** The board after one event. An unknown kind is an error, so that no test passes by ignoring it. */
export function applyEvent(board: FullBoard, { type, data }: FoldedEvent): FullBoard {
  switch (type) {
    case 'board.updated':
      return { ...board, ...(data as Board) }
    case 'board.member_added':
      return { ...board, members: [...withoutMember(board, data as BoardMember), data as BoardMember] }
    case 'board.member_removed':
      return { ...board, members: withoutMember(board, data as BoardMember) }
    case 'column.created':
    case 'column.updated':
    case 'column.moved':
      return { ...board, columns: ranked([...without(board.columns, data as Column), data as Column]) }
    case 'column.deleted':
      return { ...board, columns: without(board.columns, data as Column) }
    case 'card.created':
    case 'card.updated':
    case 'card.moved':
    case 'card.assigned':
    case 'card.unassigned':
    case 'card.labeled':
    case 'card.unlabeled':
      return withCard(board, data as Card)
    case 'card.deleted':
      return {
        ...board,
        columns: board.columns.map((column) => ({ ...column, cards: without(column.cards, data as Card) })),
      }
    case 'checklist.created':
    case 'checklist.updated':
    case 'checklist.moved':
      return withChecklists(board, (data as Checklist).card_id, (lists) =>
        ranked([...without(lists, data as Checklist), data as Checklist]),
      )
    case 'checklist.deleted':
      return withChecklists(board, (data as Checklist).card_id, (lists) => without(lists, data as Checklist))
    case 'checklist_item.created':
    case 'checklist_item.updated':
    case 'checklist_item.moved':
    case 'checklist_item.assigned':
    case 'checklist_item.unassigned':
      return withItem(board, data as ChecklistItem, (data as ChecklistItem).checklist_id)
    case 'checklist_item.deleted':
      return withItem(board, data as ChecklistItem, undefined)
    case 'attachment.created':
      return withAttachments(board, data as Attachment, (files) => [...files, data as Attachment])
    case 'attachment.deleted':
      return withAttachments(board, data as Attachment, (files) =>
        files.filter((f) => f.id !== (data as Attachment).id),
      )
    // The board does not contain comments, only their number.
    case 'comment.created':
    case 'comment.updated':
    case 'comment.deleted': {
      const { card_id, comment_count } = data as CommentEvent
      return withCards(board, (card) => (card.id === card_id ? { ...card, comment_count } : card))
    }
    case 'label.created':
      return { ...board, labels: [...board.labels, data as Label] }
    case 'label.updated':
      return withLabels(board, (labels) =>
        labels.map((label) => (label.id === (data as Label).id ? (data as Label) : label)),
      )
    case 'label.deleted':
      return withLabels(board, (labels) => labels.filter((label) => label.id !== (data as Label).id))
    default:
      throw new Error(`There is no way to fold ${type}`)
  }
}

/** Changes a label on the board and on every card that has it. */
function withLabels(board: FullBoard, change: (labels: Label[]) => Label[]): FullBoard {
  const changed = withCards(board, (card) => ({ ...card, labels: change(card.labels) }))
  return { ...changed, labels: change(board.labels) }
}

const withCards = (board: FullBoard, change: (card: Card) => Card): FullBoard => ({
  ...board,
  columns: board.columns.map((column) => ({ ...column, cards: column.cards.map(change) })),
})

const withChecklists = (board: FullBoard, card_id: string, change: (lists: Checklist[]) => Checklist[]) =>
  withCards(board, (card) => (card.id === card_id ? { ...card, checklists: change(card.checklists) } : card))

const withAttachments = (board: FullBoard, { card_id }: Attachment, change: (files: Attachment[]) => Attachment[]) =>
  withCards(board, (card) => (card.id === card_id ? { ...card, attachments: change(card.attachments) } : card))

/** Puts an item into one checklist and removes it from all others. Without a checklist it is deleted. */
const withItem = (board: FullBoard, item: ChecklistItem, checklist_id: string | undefined) =>
  withCards(board, (card) => ({
    ...card,
    checklists: card.checklists.map((list) => {
      const others = without(list.items, item)
      return { ...list, items: list.id === checklist_id ? ranked([...others, item]) : others }
    }),
  }))

interface Item {
  id: string
  rank: number
}

/** A list in its order: by rank, then by id. */
export const ranked = <T extends Item>(items: readonly T[]): T[] =>
  items.toSorted((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))

const without = <T extends Item>(items: readonly T[], { id }: { id: string }) => items.filter((item) => item.id !== id)

const withoutMember = (board: FullBoard, { user_id }: BoardMember) => board.members.filter((m) => m.user_id !== user_id)

function withCard(board: FullBoard, card: Card): FullBoard {
  if (!board.columns.some((column) => column.id === card.column_id)) throw new Error(`${card.id} is in no known column`)
  const columns = board.columns.map((column) => {
    const others = without(column.cards, card)
    return { ...column, cards: column.id === card.column_id ? ranked([...others, card]) : others }
  })
  return { ...board, columns }
}

/**
 * Sends a request, and returns its response and the events that it appended to the log. Its Board-Position must
 * match.
 */
export async function recordEvents(board: Pick<TestBoard, 'events'>, act: () => Promise<ApiResponse>) {
  const before = await board.events()
  const response = await act()
  const after = await board.events()
  if (response.status < 400) assert.equal(response.headers.get('board-position'), `1.${after.length}`, response.text)
  return { response, events: after.slice(before.length) }
}

import { events } from '@lockstep/contract'
import type { ModelServer } from '@lockstep/testing/client/model-server'
import { randomChange } from '@lockstep/testing/client/random-change'
import { member, smallServer } from '@lockstep/testing/client/sample-board'
import { foldBoard } from '@lockstep/testing/fold'
import { mulberry32 } from '@lockstep/testing/prng'
import { expect, test } from 'vitest'
import { applyEvent } from './fold.ts'
import { share } from './tree.ts'
import type { BoardEvent, Card, FullBoard } from './types.ts'

const event = (type: string, data: unknown) => ({ type, data, seq: 1, user_id: null }) as unknown as BoardEvent

/** A log of random changes, followed by the kinds of events that random changes do not cause. */
function randomLog(seed: number): { start: FullBoard; log: BoardEvent[] } {
  const random = mulberry32(seed)
  const below = (n: number) => Math.floor(random() * n)
  const server: ModelServer = smallServer()
  const start = server.board
  const first = server.seq
  const before = structuredClone(start)
  let made = 0
  for (let i = 0; i < 80; i++) {
    const change = randomChange(server.board, below, (kind) => `${kind}-${made++}`, ['user-0', 'user-1'])
    if (change) server.execute('user-0', `key-${i}`, change)
  }
  const card_id = server.board.columns.flatMap((column) => column.cards)[0]?.id
  const file = { id: 'file', card_id, name: 'a.txt', mime_type: 'text/plain', size: 1 }
  const log = server.log.slice(first).map((logged) => logged.event)
  log.push(event('attachment.created', file), event('attachment.created', { ...file, id: 'file-2' }))
  log.push(event('attachment.deleted', file))
  const comment = { id: 'comment', card_id, body: 'Hello', comment_count: 1 }
  log.push(event('comment.created', comment), event('comment.updated', comment))
  log.push(event('comment.deleted', { ...comment, comment_count: 0 }), event('comment.created', comment))
  log.push(event('board.member_added', member('user-8')), event('board.member_removed', member('user-1')))
  return { start: before, log }
}

test('[SYNC-8] every kind of event is applied as on the server', () => {
  const kinds = new Set<string>(['board.deleted'])
  for (let seed = 1; seed <= 40; seed++) {
    const { start, log } = randomLog(seed)
    let [mine, theirs] = [start, start]
    for (const each of log) {
      kinds.add(each.type)
      mine = applyEvent(mine, each)
      theirs = foldBoard(theirs, [each])
      expect(mine, each.type).toEqual(theirs)
    }
  }
  expect([...kinds].sort()).toEqual(Object.keys(events).sort())
})

test('[SYNC-8] an unknown kind of event changes nothing', () => {
  const { start } = randomLog(1)
  expect(applyEvent(start, event('card.unknown', { id: 'x' }))).toBe(start)
})

test('[COMPAT-7] fields that an event lacks stay as they are', () => {
  const { board } = smallServer()
  const card = board.columns[0]?.cards[0] as Card
  const { id, column_id, rank } = card
  const lacking = { id, column_id, title: 'renamed', rank }
  const after = applyEvent(board, event('card.updated', lacking))
  expect(after.columns[0]?.cards[0]).toEqual({ ...card, title: 'renamed' })
  const label = board.labels[0] as FullBoard['labels'][0]
  const relabeled = applyEvent(board, event('label.updated', { id: label.id, name: 'renamed' }))
  expect(relabeled.labels[0]).toEqual({ ...label, name: 'renamed' })
})

test('[COMMENT-8] a comment changes the number of comments of its card, and nothing else', () => {
  const { board } = smallServer()
  const [column] = board.columns as [FullBoard['columns'][0]]
  const card = column.cards[0] as Card
  const comment = { id: 'comment', card_id: card.id, body: 'Hello', comment_count: 1 }
  const after = applyEvent(board, event('comment.created', comment))
  expect(after.columns[0]?.cards).toEqual([{ ...card, comment_count: 1 }, ...column.cards.slice(1)])
  expect(after.columns[0]?.cards[1]).toBe(column.cards[1])
  expect(applyEvent(after, event('comment.updated', comment))).toBe(after)
  expect(applyEvent(after, event('comment.created', { ...comment, card_id: 'unknown' }))).toBe(after)
})

test('[SYNC-9] an event creates new objects only for the parts it changes', () => {
  const { board } = smallServer()
  const [first, second] = board.columns as [FullBoard['columns'][0], FullBoard['columns'][0]]
  const card = first.cards[0] as Card
  // As parsed from the wire: no object is shared.
  const changed = structuredClone({ ...card, title: 'new' })
  const after = applyEvent(board, event('card.updated', changed))
  expect(after.columns[0]?.cards[0]?.title).toBe('new')
  expect(after.columns[0]?.cards[0]?.checklists).toBe(card.checklists)
  expect(after.columns[0]?.cards[1]).toBe(first.cards[1])
  expect(after.columns[1]).toBe(second)
  expect(after.labels).toBe(board.labels)
  expect(after.members).toBe(board.members)
  const renamed = applyEvent(board, event('column.updated', structuredClone({ ...first, title: 'new' })))
  expect(renamed.columns[0]?.cards).toBe(first.cards)
})

test('[SYNC-9] equal parts keep their object identity even when the whole board is reloaded', () => {
  const { board } = smallServer()
  expect(share(board, structuredClone(board))).toBe(board)
  const other = structuredClone(board)
  other.columns.reverse()
  const shared = share(board, other)
  expect(shared).toEqual(other)
  expect(shared.columns[0]).toBe(board.columns.at(-1))
})

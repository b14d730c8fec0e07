import type { Board, BoardMember, Card, ChecklistItem, Column, FullBoard, LoggedEvent, User } from '@lockstep/client'
import { describe, expect, test } from 'vitest'
import { describeLog, sentenceText } from './describe-log.ts'
import { groupEvents } from './group-events.ts'

const user = (id: string, firstname: string, lastname: string): User => ({
  id,
  email: `${id}@example.com`,
  username: id,
  firstname,
  lastname,
  is_active: true,
  is_verified: true,
  is_superuser: false,
})
const ada = user('ada', 'Ada', 'Lovelace')
const grace = user('grace', 'Grace', 'Hopper')
const linus = user('linus', 'Linus', 'T')
const member = (of: User, role: BoardMember['role'] = 'member'): BoardMember => ({
  board_id: 'b',
  user_id: of.id,
  role,
  user: of,
})
const bug = { id: 'bug', board_id: 'b', name: 'bug', color: '#d33' }
const item: ChecklistItem = { id: 'i', checklist_id: 'cl', content: 'Write it', rank: 1, is_done: false, assignees: [] }
const checklist = { id: 'cl', card_id: 'login', title: 'Steps', rank: 1, items: [item] }
const file = { id: 'f', card_id: 'login', name: 'log.txt', mime_type: 'text/plain', size: 1 }
const card = (id: string, title: string, changes: Partial<Card> = {}): Card => ({
  id,
  column_id: 'inbox',
  title,
  number: 1,
  description: null,
  due_on: null,
  comment_count: 0,
  rank: 1,
  labels: [],
  assignees: [],
  checklists: [],
  attachments: [],
  created_at: '2026-11-14T10:00:00.000Z',
  updated_at: '2026-11-14T10:00:00.000Z',
  ...changes,
})
const login = card('login', 'Fix login', { checklists: [checklist] })
const comment = {
  id: 'co',
  card_id: 'login',
  author: grace,
  body: 'Done?',
  mentions: [],
  created_at: '2026-11-14T10:00:00.000Z',
  edited_at: null,
  comment_count: 1,
}
const column = (id: string, title: string, cards: Card[] = []): Column => ({
  id,
  board_id: 'b',
  title,
  rank: 1,
  color: '#888888',
  is_done_column: false,
  cards,
})
const board: Board = {
  id: 'b',
  title: 'Release',
  description: null,
  archived_at: null,
  created_by: 'ada',
  updated_by: 'ada',
  labels: [],
  members: [member(ada, 'owner'), member(grace)],
}
const view: FullBoard = { ...board, columns: [column('inbox', 'Inbox', [login]), column('review', 'Review')] }

let seq = 0
function event<T extends LoggedEvent['type']>(
  type: T,
  data: Extract<LoggedEvent, { type: T }>['data'],
  user_id: string | null = 'grace',
): LoggedEvent {
  const at = { timestamp: '2026-11-14T10:00:00.000Z', version: '1.0', seq: ++seq }
  // The compiler can't see that the type and its data belong together.
  return { type, data, user_id, ...at } as unknown as LoggedEvent
}
const sentences = (...events: LoggedEvent[]) =>
  describeLog(events, view).map(({ actor, sentence }) => `${actor.name} ${sentenceText(sentence)}`)
const last = (...events: LoggedEvent[]) => sentences(...events).at(-1)
const moved = (of: Card, column_id: string, by: string | null = 'grace') =>
  event('card.moved', { ...of, column_id }, by)

describe('sentences of the event log', () => {
  const kinds: [LoggedEvent, string][] = [
    [event('board.updated', board), 'changed the board'],
    [event('board.deleted', { id: 'b' }), 'deleted the board'],
    [event('board.member_added', member(linus)), 'invited Linus T'],
    [event('board.member_removed', member(linus)), 'removed Linus T from the board'],
    [event('column.created', column('qa', 'QA')), 'added the column “QA”'],
    [event('column.updated', column('qa', 'QA')), 'changed the column “QA”'],
    [event('column.moved', column('qa', 'QA')), 'moved the column “QA”'],
    [event('column.deleted', column('qa', 'QA', [login])), 'deleted the column “QA” with its card'],
    [event('card.created', login), 'added “Fix login” to Inbox'],
    [event('card.updated', login), 'changed “Fix login”'],
    [event('card.deleted', login), 'deleted “Fix login” from Inbox'],
    [moved(login, 'review'), 'placed “Fix login” in Review'],
    [event('card.labeled', { ...login, labels: [bug] }), 'added the label “bug” to “Fix login”'],
    [event('card.unlabeled', login), 'removed a label from “Fix login”'],
    [event('card.assigned', { ...login, assignees: [ada] }), 'assigned Ada Lovelace to “Fix login”'],
    [event('card.unassigned', login), 'unassigned someone from “Fix login”'],
    [event('label.created', bug), 'added the label “bug”'],
    [event('label.updated', bug), 'changed the label “bug”'],
    [event('label.deleted', bug), 'deleted the label “bug”'],
    [event('checklist.created', checklist), 'added the checklist “Steps” on “Fix login”'],
    [event('checklist.updated', checklist), 'changed the checklist “Steps” on “Fix login”'],
    [event('checklist.moved', checklist), 'moved the checklist “Steps” on “Fix login”'],
    [event('checklist.deleted', checklist), 'deleted the checklist “Steps” on “Fix login”'],
    [event('checklist_item.created', item), 'added the item “Write it” to “Fix login”'],
    [event('checklist_item.updated', item), 'changed the item “Write it” on “Fix login”'],
    [event('checklist_item.moved', item), 'moved the item “Write it” on “Fix login”'],
    [event('checklist_item.deleted', item), 'deleted the item “Write it” from “Fix login”'],
    [
      event('checklist_item.assigned', { ...item, assignees: [ada] }),
      'assigned Ada Lovelace to “Write it” on “Fix login”',
    ],
    [event('checklist_item.unassigned', item), 'unassigned someone from “Write it” on “Fix login”'],
    [event('comment.created', comment), 'commented on “Fix login”'],
    [event('comment.updated', comment), 'edited a comment on “Fix login”'],
    [event('comment.deleted', comment), 'deleted a comment on “Fix login”'],
    [event('attachment.created', file), 'attached “log.txt” to “Fix login”'],
    [event('attachment.deleted', file), 'deleted the file “log.txt” from “Fix login”'],
  ]
  test('[WEB-41] all 34 event kinds are covered', () => {
    expect(new Set(kinds.map(([{ type }]) => type)).size).toBe(34)
  })
  test.each(kinds)('[WEB-41] $type, without a known previous state', (each, sentence) => {
    expect(sentences(each)).toEqual([`Grace Hopper ${sentence}`])
  })
  test('[MEMBER-8] events caused by the removal of a member name who removed them', () => {
    const removal = { ...event('card.unassigned', login, null), actor_id: 'grace' }
    expect(last(event('card.assigned', { ...login, assignees: [ada] }), removal)).toBe(
      'Grace Hopper unassigned Ada Lovelace from “Fix login”',
    )
  })
  test('[WEB-41] an unknown event kind is named', () => {
    const strange = { ...event('label.created', bug), type: 'vote.cast' } as unknown as LoggedEvent
    expect(sentences(strange)).toEqual(['Grace Hopper made a change (vote.cast)'])
  })
})

describe('with a known previous state', () => {
  test('[WEB-41] a move to another column, and within a column', () => {
    expect(sentences(event('card.created', login), moved(login, 'review'), moved(login, 'review'))).toEqual([
      'Grace Hopper added “Fix login” to Inbox',
      'Grace Hopper moved “Fix login” to Review',
      'Grace Hopper moved “Fix login” within Review',
    ])
  })
  test('[WEB-41] a new name', () => {
    expect(last(event('card.created', login), event('card.updated', card('login', 'Repair login')))).toBe(
      'Grace Hopper renamed “Fix login” to “Repair login”',
    )
    expect(last(event('column.created', column('qa', 'QA')), event('column.updated', column('qa', 'Tests')))).toBe(
      'Grace Hopper renamed the column “QA” to “Tests”',
    )
    expect(last(event('board.updated', board), event('board.updated', { ...board, title: '2.0' }))).toBe(
      'Grace Hopper renamed the board to “2.0”',
    )
  })
  test('[WEB-41] a new role', () => {
    const members = [member(ada, 'owner'), member(grace, 'owner')]
    expect(last(event('board.updated', board, 'ada'), event('board.updated', { ...board, members }, 'ada'))).toBe(
      'Ada Lovelace made Grace Hopper an owner',
    )
    expect(
      last(event('board.member_added', member(grace), 'ada'), event('board.updated', { ...board, members }, 'ada')),
    ).toBe('Ada Lovelace made Grace Hopper an owner')
  })
  test('[WEB-41] a due date', () => {
    const due = { ...login, due_on: '2026-11-20' }
    const set = last(event('card.created', login), event('card.updated', due))
    expect(set).toMatch(/^Grace Hopper set the due date of “Fix login” to .*2026$/)
    expect(last(event('card.updated', due), event('card.updated', login))).toBe(
      'Grace Hopper removed the due date of “Fix login”',
    )
  })
  test('[WEB-41] a new description of a card', () => {
    const described = { ...login, description: 'Only on phones' }
    expect(last(event('card.created', login), event('card.updated', described))).toBe(
      'Grace Hopper changed the description of “Fix login”',
    )
  })

  test('[WEB-168] what was archived, deleted and restored', () => {
    const removal = { at: '2026-11-14T10:00:00.000Z', by: 'grace', until: null }
    const archived = { ...removal, as: 'archived' as const }
    const returned = { ...event('card.created', login), timestamp: '2026-11-15T10:00:00.000Z' }
    const qa = column('qa', 'QA', [login])
    expect(
      sentences(
        event('card.deleted', { ...login, removed: archived }),
        returned,
        event('card.deleted', { ...login, removed: { ...removal, as: 'deleted' } }),
        event('column.deleted', { ...qa, removed: archived }),
        event('column.created', qa),
        event('column.created', column('new', 'New')),
        event('column.deleted', column('new', 'New')),
        event('column.created', column('new', 'New')),
      ),
    ).toEqual([
      'Grace Hopper archived “Fix login” from Inbox',
      'Grace Hopper restored “Fix login” to Inbox',
      'Grace Hopper deleted “Fix login” from Inbox',
      'Grace Hopper archived the column “QA” with its card',
      'Grace Hopper restored the column “QA” with its card',
      'Grace Hopper added the column “New”',
      'Grace Hopper deleted the column “New”',
      'Grace Hopper restored the column “New”',
    ])
    const away = { ...board, archived_at: '2026-11-14T10:00:00.000Z' }
    expect(sentences(event('board.updated', away), event('board.updated', board))).toEqual([
      'Grace Hopper archived the board',
      'Grace Hopper restored the board',
    ])
  })
  test('[WEB-41] a checked item', () => {
    expect(last(event('card.created', login), event('checklist_item.updated', { ...item, is_done: true }))).toBe(
      'Grace Hopper checked off “Write it” on “Fix login”',
    )
  })
  test('[WEB-41] several users assigned by one request are named once', () => {
    const both = { ...login, assignees: [ada, grace], updated_at: '2026-11-14T11:00:00.000Z' }
    expect(
      sentences(event('card.created', login), event('card.assigned', both), event('card.assigned', both)).slice(1),
    ).toEqual(['Grace Hopper assigned Ada Lovelace and themselves to “Fix login”'])
  })
  test('[WEB-41] a member who leaves is not called removed', () => {
    expect(last(event('board.member_removed', member(linus), 'linus'))).toBe('Linus T left the board')
  })
  test('[WEB-41] a deleted column has its last name', () => {
    const qa = column('qa', 'QA')
    expect(sentences(event('card.created', login), moved(login, 'qa'), event('column.deleted', qa))[1]).toBe(
      'Grace Hopper moved “Fix login” to QA',
    )
  })
})

describe('events without a user', () => {
  test('[WEB-41] a rule moves and assigns', () => {
    expect(
      sentences(
        event('card.created', login),
        moved(login, 'review'),
        event('card.assigned', { ...login, column_id: 'review', assignees: [ada] }, null),
        moved(login, 'inbox', null),
      ).slice(2),
    ).toEqual(['A rule assigned Ada Lovelace to “Fix login”', 'A rule moved “Fix login” to Inbox'])
  })
  test('[WEB-41] rebalanced positions are attributed to the server', () => {
    expect(last(event('card.created', login), moved(login, 'inbox', null))).toBe(
      'Lockstep adjusted the position of “Fix login”',
    )
    expect(sentences(event('column.moved', column('qa', 'QA'), null))).toEqual([
      'Lockstep adjusted the position of the column “QA”',
    ])
  })
  test('[WEB-41] without a known previous state, no rule is named', () => {
    expect(sentences(moved(login, 'inbox', null))).toEqual(['Lockstep placed “Fix login” in Inbox'])
  })
})

describe('grouped lines', () => {
  const lines = (...events: LoggedEvent[]) =>
    groupEvents(describeLog(events, view), new Date('2026-11-14T12:00:00.000Z')).flatMap((day) =>
      day.lines.map(({ actor, sentence }) => `${actor.name} ${sentenceText(sentence)}`),
    )
  test('[WEB-41] only existing cards are links', () => {
    const [existing, deleted] = describeLog(
      [event('card.updated', login), event('card.updated', card('x', 'Gone'))],
      view,
    )
    expect(existing?.sentence.object.card_id).toBe('login')
    expect(deleted?.sentence.object.card_id).toBeUndefined()
  })
  test('[WEB-41] the same action on several objects in a row is one line, newest first', () => {
    const two = card('two', 'Two')
    expect(
      lines(
        event('card.created', login),
        event('card.created', two),
        moved(login, 'review'),
        moved(two, 'review'),
        event('card.updated', two),
        event('card.updated', two),
        event('card.updated', two, 'ada'),
      ),
    ).toEqual([
      'Ada Lovelace changed “Two”',
      'Grace Hopper changed “Two” 2 times',
      'Grace Hopper moved 2 cards to Review',
      'Grace Hopper added 2 cards to Inbox',
    ])
  })
  test('[WEB-41] actions on different kinds are not grouped', () => {
    const renamed = (from: string, to: string) => event('card.updated', card(from, to))
    expect(
      lines(
        event('card.created', card('a', 'A')),
        event('card.created', card('b', 'B')),
        renamed('a', 'X'),
        renamed('b', 'X'),
      ),
    ).toEqual([
      'Grace Hopper renamed “B” to “X”',
      'Grace Hopper renamed “A” to “X”',
      'Grace Hopper added 2 cards to Inbox',
    ])
  })
})

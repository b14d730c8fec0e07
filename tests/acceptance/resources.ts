import { email, flag, integer, listOf, type Of, object, oneOf, orNull, text, timestamp, uuid } from './shapes.ts'

/** Part 2 of the specification as data: every object with its fields. */

export const User = object(
  'a public user',
  {
    id: uuid,
    email,
    username: text,
    firstname: orNull(text),
    lastname: orNull(text),
    is_active: flag,
    is_verified: flag,
    is_superuser: flag,
  },
  ['hashed_password'],
)
export type User = Of<typeof User>

export const BoardMember = object('a board member', { board_id: uuid, user_id: uuid, role: oneOf('owner', 'member') })

export const Label = object('a label', { id: uuid, board_id: uuid, name: text, color: text })
export type Label = Of<typeof Label>

export const ChecklistItem = object('a checklist item', { id: uuid, checklist_id: uuid, content: text, rank: integer })
export type ChecklistItem = Of<typeof ChecklistItem>

export const Checklist = object('a checklist', {
  id: uuid,
  card_id: uuid,
  title: text,
  rank: integer,
  items: listOf(ChecklistItem),
})
export type Checklist = Of<typeof Checklist>

export const Attachment = object(
  'an attachment',
  { id: uuid, card_id: uuid, name: text, mime_type: text, size: integer },
  ['blob'],
)
export type Attachment = Of<typeof Attachment>

export const Card = object('a card', {
  id: uuid,
  column_id: uuid,
  title: text,
  description: orNull(text),
  rank: integer,
  labels: listOf(Label),
  assignees: listOf(User),
  checklists: listOf(Checklist),
  attachments: listOf(Attachment),
  created_at: timestamp,
  updated_at: timestamp,
})
export type Card = Of<typeof Card>

export const Column = object('a column', {
  id: uuid,
  board_id: uuid,
  title: text,
  rank: integer,
  color: text,
  is_done_column: flag,
  cards: listOf(Card),
})
export type Column = Of<typeof Column>

export const Board = object('a board', {
  id: uuid,
  title: text,
  description: orNull(text),
  created_by: uuid,
  updated_by: uuid,
  labels: listOf(Label),
  members: listOf(BoardMember),
})
export type Board = Of<typeof Board>

export const FullBoard = object('a full board', { ...Board.fields, columns: listOf(Column) })
export type FullBoard = Of<typeof FullBoard>

export const AutomationRule = object('an automation rule', {
  id: uuid,
  board_id: uuid,
  name: text,
  trigger_type: oneOf('CARD_CREATED', 'CARD_MOVED', 'LABEL_ADDED'),
  trigger_column_id: orNull(uuid),
  trigger_label_id: orNull(uuid),
  action_type: oneOf('MOVE_TO_COLUMN', 'ASSIGN_MEMBER'),
  action_column_id: orNull(uuid),
  action_user_id: orNull(uuid),
  is_enabled: flag,
})
export type AutomationRule = Of<typeof AutomationRule>

/** Part 6.1: the fields of an event, these and no others. */
export const Event = object('an event', {
  type: text,
  data: object('an object', {}),
  user_id: orNull(uuid),
  timestamp,
  version: text,
})

export const Presence = object('the presence of a board', {
  board_id: uuid,
  online_users: listOf(object('an online user', { user_id: uuid, username: text })),
})
export type Presence = Of<typeof Presence>

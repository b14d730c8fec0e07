import Type, { type Static } from 'typebox'
import { Attachment } from './attachments.ts'
import { Checklist } from './checklists.ts'
import { Label } from './labels.ts'
import {
  Changes,
  Day,
  member,
  NewId,
  Nullable,
  named,
  nothing,
  Optional,
  operation,
  PAGING_DAY,
  Paging,
  Place,
  Rank,
  Text,
  Timestamp,
  Title,
  Uuid,
} from './operation.ts'
import { Removed } from './removal.ts'
import { assign, create, link, move, remove, unassign, unlink, update } from './resources.ts'
import { User } from './users.ts'

/** What users write on a card. */
export const cardFields = {
  title: Type.String(),
  description: Nullable(Type.String()),
  due_on: Type.Union([Day, Type.Null()], { description: 'The day on which it is due.' }),
}

const shape = Type.Object({
  id: Uuid,
  column_id: Uuid,
  ...cardFields,
  rank: Rank,
  labels: Type.Array(Label),
  assignees: Type.Array(User),
  checklists: Type.Array(Checklist),
  attachments: Type.Array(Attachment),
  created_at: Timestamp,
  updated_at: Timestamp,
  number: Type.Integer({
    minimum: 1,
    description: 'Unique on the board and never used again, not even after a deletion.',
  }),
  comment_count: Type.Integer({ minimum: 0 }),
  ...Removed,
})
export interface Card extends Static<typeof shape> {}
export const Card = named<Card>('Card', shape)

const CardPath = Type.Object({ card_id: Uuid })
const Description = Text(65_536)

export const cardOperations = {
  createCard: operation({
    method: 'POST',
    path: '/boards/{board_id}/columns/{column_id}/cards',
    tag: 'cards',
    summary: 'Add a card to a column',
    description: 'Placed last unless `position` or `after_id` is given.',
    access: member('board'),
    params: Type.Object({ board_id: Uuid, column_id: Uuid }),
    body: Type.Object({ ...NewId, title: Title, description: Optional(Description), due_on: Optional(Day), ...Place }),
    returns: { status: 201, schema: Card },
    effect: create('card'),
    emits: ['card.created', 'card.moved'],
    problems: ['column_not_found', 'id_taken', 'board_card_limit'],
  }),
  findCards: operation({
    method: 'GET',
    path: '/boards/{board_id}/cards',
    tag: 'cards',
    summary: 'Find cards of a board by text, label, assignee, column, number and due date',
    description:
      'Returns the cards that match all filters; without a filter, all cards. Ordered by descending id, which is newest first if the service generated the ids; so moving or changing a card does not move it between pages. `Link` is the next page. A label, user or column of another board matches nothing.',
    access: member('board'),
    params: Type.Object({ board_id: Uuid }),
    query: Type.Object({
      search: Type.Optional({
        ...Text(255),
        description:
          'A part of the title or of the description, case-insensitive. `%`, `_` and `\\` are plain characters.',
      }),
      label: Type.Optional({ ...Uuid, description: 'A label of the card.' }),
      assignee: Type.Optional({ ...Uuid, description: 'An assignee of the card.' }),
      column: Type.Optional({ ...Uuid, description: 'The column of the card.' }),
      number: Type.Optional(
        Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'The number of the card.' }),
      ),
      due_from: Type.Optional({ ...Day, description: 'Due on this day or later.' }),
      due_to: Type.Optional({ ...Day, description: 'Due on this day or earlier.' }),
      after: Type.Optional({ ...Uuid, description: 'Deprecated, use `cursor`: the last card of the previous page.' }),
      ...Paging({ default: 50, maximum: 200 }),
    }),
    deprecated: { after: PAGING_DAY },
    returns: { status: 200, schema: Type.Array(Card) },
  }),
  getCard: operation({
    method: 'GET',
    path: '/cards/{card_id}',
    tag: 'cards',
    summary: 'Read a card',
    access: member('card'),
    params: CardPath,
    returns: { status: 200, schema: Card },
  }),
  updateCard: operation({
    method: 'PATCH',
    path: '/cards/{card_id}',
    tag: 'cards',
    summary: 'Change the title, the description or the due date of a card',
    access: member('card'),
    params: CardPath,
    body: Changes({ title: Title, description: Nullable(Description), due_on: Nullable(Day) }),
    returns: { status: 200, schema: Card },
    effect: update('card'),
    emits: ['card.updated'],
  }),
  deleteCard: operation({
    method: 'DELETE',
    path: '/cards/{card_id}',
    tag: 'cards',
    summary: 'Delete a card',
    description: 'It can be restored until it is deleted for good, after `TRASH_DAYS`.',
    access: member('card'),
    params: CardPath,
    returns: nothing,
    effect: remove('card'),
    emits: ['card.deleted'],
  }),
  archiveCard: operation({
    method: 'POST',
    path: '/cards/{card_id}/archive',
    tag: 'cards',
    summary: 'Archive a card',
    description: 'It leaves the board, is kept, and can be restored. The response and the event have `removed`.',
    access: member('card'),
    params: CardPath,
    returns: { status: 200, schema: Card },
    effect: remove('card'),
    emits: ['card.deleted'],
  }),
  moveCard: operation({
    method: 'POST',
    path: '/cards/{card_id}/move',
    tag: 'cards',
    summary: 'Move a card within its column or to another column',
    access: member('card'),
    params: CardPath,
    body: Type.Object({ column_id: Optional(Uuid), ...Place }),
    returns: { status: 200, schema: Card },
    effect: move('card'),
    emits: ['card.moved', 'card.assigned'],
    problems: ['column_not_found'],
  }),
  assignCard: operation({
    method: 'PUT',
    path: '/cards/{card_id}/assignees',
    tag: 'cards',
    summary: 'Assign users to a card',
    description: 'Adds the users of the list and removes none. Emits one event for each user of the list.',
    access: member('card'),
    params: CardPath,
    body: Type.Object({ user_ids: Type.Array(Uuid, { maxItems: 100 }) }),
    returns: { status: 200, schema: Card },
    effect: assign('card'),
    emits: ['card.assigned'],
    problems: ['user_not_found', 'user_not_a_member'],
  }),
  unassignCard: operation({
    method: 'DELETE',
    path: '/cards/{card_id}/assignees/{user_id}',
    tag: 'cards',
    summary: 'Remove a user from a card',
    access: member('card'),
    params: Type.Object({ card_id: Uuid, user_id: Uuid }),
    returns: nothing,
    effect: unassign('card'),
    emits: ['card.unassigned'],
    problems: ['board_log_limit', 'change_too_large'],
  }),
  addCardLabel: operation({
    method: 'POST',
    path: '/cards/{card_id}/labels/{label_id}',
    tag: 'cards',
    summary: 'Add a label to a card',
    description: 'If the card has the label already, nothing changes and no event is emitted.',
    access: member('card'),
    params: Type.Object({ card_id: Uuid, label_id: Uuid }),
    returns: { status: 200, schema: Card },
    effect: link('label'),
    emits: ['card.labeled', 'card.moved', 'card.assigned'],
    problems: ['label_not_found'],
  }),
  removeCardLabel: operation({
    method: 'DELETE',
    path: '/cards/{card_id}/labels/{label_id}',
    tag: 'cards',
    summary: 'Remove a label from a card',
    access: member('card'),
    params: Type.Object({ card_id: Uuid, label_id: Uuid }),
    returns: nothing,
    effect: unlink('label'),
    emits: ['card.unlabeled'],
    problems: ['label_not_found', 'board_log_limit', 'change_too_large'],
  }),
}

export const cardEvents = {
  'card.labeled': Card,
  'card.unlabeled': Card,
  'card.created': Card,
  'card.updated': Card,
  'card.deleted': Card,
  'card.moved': Card,
  'card.assigned': Card,
  'card.unassigned': Card,
}

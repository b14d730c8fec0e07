import Type, { type Static } from 'typebox'
import { Attachment } from './attachments.ts'
import { Checklist } from './checklists.ts'
import { Label } from './labels.ts'
import {
  Changes,
  member,
  NewId,
  Nullable,
  named,
  nothing,
  Optional,
  operation,
  Place,
  Rank,
  Text,
  Timestamp,
  Title,
  Uuid,
} from './operation.ts'
import { User } from './users.ts'

const shape = Type.Object({
  id: Uuid,
  column_id: Uuid,
  title: Type.String(),
  description: Nullable(Type.String()),
  rank: Rank,
  labels: Type.Array(Label),
  assignees: Type.Array(User),
  checklists: Type.Array(Checklist),
  attachments: Type.Array(Attachment),
  created_at: Timestamp,
  updated_at: Timestamp,
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
    description: 'Placed last unless a position or an anchor is given.',
    access: member('board'),
    params: Type.Object({ board_id: Uuid, column_id: Uuid }),
    body: Type.Object({ ...NewId, title: Title, description: Optional(Description), ...Place }),
    returns: { status: 201, schema: Card },
    emits: ['card.created', 'card.moved'],
    problems: ['column_not_found', 'id_taken'],
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
    summary: 'Change the title or the description of a card',
    access: member('card'),
    params: CardPath,
    body: Changes({ title: Title, description: Nullable(Description) }),
    returns: { status: 200, schema: Card },
    emits: ['card.updated'],
  }),
  deleteCard: operation({
    method: 'DELETE',
    path: '/cards/{card_id}',
    tag: 'cards',
    summary: 'Delete a card',
    access: member('card'),
    params: CardPath,
    returns: nothing,
    emits: ['card.deleted'],
  }),
  moveCard: operation({
    method: 'POST',
    path: '/cards/{card_id}/move',
    tag: 'cards',
    summary: 'Move a card within its column or to another one',
    access: member('card'),
    params: CardPath,
    body: Type.Object({ column_id: Optional(Uuid), ...Place }),
    returns: { status: 200, schema: Card },
    emits: ['card.moved'],
    problems: ['column_not_found'],
  }),
  assignCard: operation({
    method: 'PUT',
    path: '/cards/{card_id}/assignees',
    tag: 'cards',
    summary: 'Assign users to a card',
    description: 'Adds the users of the list; nobody is taken off. One event for each user of the list.',
    access: member('card'),
    params: CardPath,
    body: Type.Object({ user_ids: Type.Array(Uuid, { maxItems: 100 }) }),
    returns: { status: 200, schema: Card },
    emits: ['card.assigned'],
    problems: ['user_not_found', 'user_not_a_member'],
  }),
  unassignCard: operation({
    method: 'DELETE',
    path: '/cards/{card_id}/assignees/{user_id}',
    tag: 'cards',
    summary: 'Take a user off a card',
    access: member('card'),
    params: Type.Object({ card_id: Uuid, user_id: Uuid }),
    returns: nothing,
    emits: ['card.unassigned'],
  }),
}

export const cardEvents = {
  'card.created': Card,
  'card.updated': Card,
  'card.deleted': Card,
  'card.moved': Card,
  'card.assigned': Card,
  'card.unassigned': Card,
}

import Type, { type Static } from 'typebox'
import {
  Changes,
  member,
  NewId,
  named,
  nothing,
  Optional,
  operation,
  Place,
  Rank,
  REQUIRED_PLACE,
  RequiredPlace,
  Title,
  Uuid,
  VisibleText,
} from './operation.ts'
import { assign, create, move, remove, unassign, update } from './resources.ts'
import { User } from './users.ts'

/** What users write in an item. */
export const itemFields = { content: Type.String(), is_done: Type.Boolean() }

const itemShape = Type.Object({
  id: Uuid,
  checklist_id: Uuid,
  ...itemFields,
  rank: Rank,
  assignees: Type.Array(User),
})
export interface ChecklistItem extends Static<typeof itemShape> {}
export const ChecklistItem = named<ChecklistItem>('ChecklistItem', itemShape)

const shape = Type.Object({
  id: Uuid,
  card_id: Uuid,
  title: Type.String(),
  rank: Rank,
  items: Type.Array(ChecklistItem),
})
export interface Checklist extends Static<typeof shape> {}
export const Checklist = named<Checklist>('Checklist', shape)

const ChecklistPath = Type.Object({ checklist_id: Uuid })
const ItemPath = Type.Object({ item_id: Uuid })
const Content = VisibleText(2_000)

export const checklistOperations = {
  createChecklist: operation({
    method: 'POST',
    path: '/cards/{card_id}/checklists',
    tag: 'checklists',
    summary: 'Add a checklist to a card',
    description: 'Placed last.',
    access: member('card'),
    params: Type.Object({ card_id: Uuid }),
    body: Type.Object({ ...NewId, title: Title }),
    returns: { status: 201, schema: Checklist },
    effect: create('checklist'),
    emits: ['checklist.created'],
    problems: ['id_taken'],
  }),
  updateChecklist: operation({
    method: 'PATCH',
    path: '/checklists/{checklist_id}',
    tag: 'checklists',
    summary: 'Change the title of a checklist',
    description: 'Fields that are left out do not change.',
    access: member('checklist'),
    params: ChecklistPath,
    body: Changes({ title: Title }),
    returns: { status: 200, schema: Checklist },
    effect: update('checklist'),
    emits: ['checklist.updated'],
  }),
  deleteChecklist: operation({
    method: 'DELETE',
    path: '/checklists/{checklist_id}',
    tag: 'checklists',
    summary: 'Delete a checklist with its items',
    description: 'Emits one event, and none for the items. Cannot be undone.',
    access: member('checklist'),
    params: ChecklistPath,
    returns: nothing,
    effect: remove('checklist'),
    emits: ['checklist.deleted'],
  }),
  moveChecklist: operation({
    method: 'POST',
    path: '/checklists/{checklist_id}/move',
    tag: 'checklists',
    summary: 'Move a checklist within its card',
    description: REQUIRED_PLACE,
    access: member('checklist'),
    params: ChecklistPath,
    body: RequiredPlace,
    returns: { status: 200, schema: Checklist },
    effect: move('checklist'),
    emits: ['checklist.moved'],
  }),
}

export const itemOperations = {
  createItem: operation({
    method: 'POST',
    path: '/checklists/{checklist_id}/items',
    tag: 'checklists',
    summary: 'Add an item to a checklist',
    description: 'Placed last.',
    access: member('checklist'),
    params: ChecklistPath,
    body: Type.Object({ ...NewId, content: Content }),
    returns: { status: 201, schema: ChecklistItem },
    effect: create('item'),
    emits: ['checklist_item.created'],
    problems: ['id_taken'],
  }),
  updateItem: operation({
    method: 'PATCH',
    path: '/items/{item_id}',
    tag: 'checklists',
    summary: 'Change the content or the done state of an item',
    description: 'Fields that are left out do not change.',
    access: member('item'),
    params: ItemPath,
    body: Changes({ content: Content, is_done: Type.Boolean() }),
    returns: { status: 200, schema: ChecklistItem },
    effect: update('item'),
    emits: ['checklist_item.updated'],
  }),
  deleteItem: operation({
    method: 'DELETE',
    path: '/items/{item_id}',
    tag: 'checklists',
    summary: 'Delete an item',
    description: 'Cannot be undone.',
    access: member('item'),
    params: ItemPath,
    returns: nothing,
    effect: remove('item'),
    emits: ['checklist_item.deleted'],
  }),
  moveItem: operation({
    method: 'POST',
    path: '/items/{item_id}/move',
    tag: 'checklists',
    summary: 'Move an item within its checklist, or to another checklist of the board',
    description:
      'Without `checklist_id` it stays in its checklist. Placed last unless `position` or `after_id` is given.',
    access: member('item'),
    params: ItemPath,
    body: Type.Object({ checklist_id: Optional(Uuid), ...Place }),
    returns: { status: 200, schema: ChecklistItem },
    effect: move('item'),
    emits: ['checklist_item.moved'],
    problems: ['checklist_not_found'],
  }),
  assignItem: operation({
    method: 'PUT',
    path: '/items/{item_id}/assignees',
    tag: 'checklists',
    summary: 'Assign users to an item',
    description: 'Adds the users of the list and removes none. Emits one event for each user of the list.',
    access: member('item'),
    params: ItemPath,
    body: Type.Object({ user_ids: Type.Array(Uuid, { maxItems: 100 }) }),
    returns: { status: 200, schema: ChecklistItem },
    effect: assign('item'),
    emits: ['checklist_item.assigned'],
    problems: ['user_not_found', 'user_not_a_member'],
  }),
  unassignItem: operation({
    method: 'DELETE',
    path: '/items/{item_id}/assignees/{user_id}',
    tag: 'checklists',
    summary: 'Remove a user from an item',
    description: 'If the user is not assigned, nothing changes and no event is emitted.',
    access: member('item'),
    params: Type.Object({ item_id: Uuid, user_id: Uuid }),
    returns: nothing,
    effect: unassign('item'),
    emits: ['checklist_item.unassigned'],
    problems: ['board_log_limit', 'change_too_large'],
  }),
}

export const checklistEvents = {
  'checklist.created': Checklist,
  'checklist.updated': Checklist,
  'checklist.deleted': Checklist,
  'checklist.moved': Checklist,
  'checklist_item.created': ChecklistItem,
  'checklist_item.updated': ChecklistItem,
  'checklist_item.deleted': ChecklistItem,
  'checklist_item.moved': ChecklistItem,
  'checklist_item.assigned': ChecklistItem,
  'checklist_item.unassigned': ChecklistItem,
}

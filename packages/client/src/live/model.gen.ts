// Generated from packages/contract by npm run generate.
import type { ChangeTable, ResourceTable } from './model-types.ts'

export type ResourceName = 'board' | 'column' | 'card' | 'label' | 'checklist' | 'item' | 'attachment'

export const resources: Record<ResourceName, ResourceTable<ResourceName>> = {
  board: { path: [], children: ['column', 'label'], create: [], update: ['title', 'description'], texts: ['title', 'description'], initial: {}, times: [] },
  column: { path: ['columns'], parent: 'board_id', children: ['card'], isOrdered: true, isPlacedByCreate: true, create: ['title', 'color', 'is_done_column'], update: ['title', 'color', 'is_done_column'], texts: ['title'], initial: { color: '#6b7280', is_done_column: false, cards: [] }, times: [] },
  card: { path: ['columns', 'cards'], parent: 'column_id', children: ['checklist', 'attachment'], isOrdered: true, isPlacedByCreate: true, changesParent: true, create: ['title', 'description'], update: ['title', 'description'], texts: ['title', 'description'], initial: { description: null, labels: [], assignees: [], checklists: [], attachments: [] }, times: ['created_at', 'updated_at'] },
  label: { path: ['labels'], linkedTo: 'card', linkedPath: ['columns', 'cards', 'labels'], parent: 'board_id', children: [], create: ['name', 'color'], update: ['name', 'color'], texts: ['name'], initial: { color: '#6b7280' }, times: [] },
  checklist: { path: ['columns', 'cards', 'checklists'], parent: 'card_id', children: ['item'], isOrdered: true, create: ['title'], update: ['title'], texts: ['title'], initial: { items: [] }, times: [] },
  item: { path: ['columns', 'cards', 'checklists', 'items'], parent: 'checklist_id', children: [], isOrdered: true, changesParent: true, create: ['content'], update: ['content', 'is_done'], texts: ['content'], initial: { is_done: false, assignees: [] }, times: [] },
  attachment: { path: ['columns', 'cards', 'attachments'], parent: 'card_id', children: [], create: [], update: [], texts: [], initial: {}, times: [] },
}

/** For each resource and verb: the operation, its event, and whether its path has the id of the board. */
export const changes: Record<ResourceName | 'member', ChangeTable> = {
  board: { update: ['updateBoard', 'board.updated', 1], delete: ['deleteBoard', 'board.deleted', 1] },
  member: { create: ['inviteMember', 'board.member_added', 1], update: ['updateMember', 'board.updated', 1], delete: ['removeMember', 'board.member_removed', 1] },
  column: { create: ['createColumn', 'column.created', 1], update: ['updateColumn', 'column.updated'], delete: ['deleteColumn', 'column.deleted'], move: ['moveColumn', 'column.moved'] },
  card: { create: ['createCard', 'card.created', 1], update: ['updateCard', 'card.updated'], delete: ['deleteCard', 'card.deleted'], move: ['moveCard', 'card.moved'], assign: ['assignCard', 'card.assigned'], unassign: ['unassignCard', 'card.unassigned'] },
  label: { link: ['addCardLabel', 'card.labeled'], unlink: ['removeCardLabel', 'card.unlabeled'], create: ['createLabel', 'label.created', 1], update: ['updateLabel', 'label.updated'], delete: ['deleteLabel', 'label.deleted'] },
  checklist: { create: ['createChecklist', 'checklist.created'], update: ['updateChecklist', 'checklist.updated'], delete: ['deleteChecklist', 'checklist.deleted'], move: ['moveChecklist', 'checklist.moved'] },
  item: { create: ['createItem', 'checklist_item.created'], update: ['updateItem', 'checklist_item.updated'], delete: ['deleteItem', 'checklist_item.deleted'], move: ['moveItem', 'checklist_item.moved'], assign: ['assignItem', 'checklist_item.assigned'], unassign: ['unassignItem', 'checklist_item.unassigned'] },
  attachment: { create: ['createAttachment', 'attachment.created'], delete: ['deleteAttachment', 'attachment.deleted'] },
}

export type ChangeName =
  | 'updateBoard'
  | 'deleteBoard'
  | 'inviteMember'
  | 'updateMember'
  | 'removeMember'
  | 'createColumn'
  | 'updateColumn'
  | 'deleteColumn'
  | 'moveColumn'
  | 'createCard'
  | 'updateCard'
  | 'deleteCard'
  | 'moveCard'
  | 'assignCard'
  | 'unassignCard'
  | 'addCardLabel'
  | 'removeCardLabel'
  | 'createLabel'
  | 'updateLabel'
  | 'deleteLabel'
  | 'createChecklist'
  | 'updateChecklist'
  | 'deleteChecklist'
  | 'moveChecklist'
  | 'createItem'
  | 'updateItem'
  | 'deleteItem'
  | 'moveItem'
  | 'assignItem'
  | 'unassignItem'
  | 'deleteAttachment'

/** The title, name or content of each kind of resource. */
export const nameFields: Record<ResourceName, string> = {
  board: 'title',
  column: 'title',
  card: 'title',
  label: 'name',
  checklist: 'title',
  item: 'content',
  attachment: 'name',
}

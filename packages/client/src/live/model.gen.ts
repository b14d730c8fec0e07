// Generated from packages/contract by npm run generate.
import type { ChangeRow, ResourceTable } from './model-types.ts'

export type ResourceName = 'board' | 'column' | 'card' | 'label' | 'checklist' | 'item' | 'attachment'

export const resources: Record<ResourceName, ResourceTable<ResourceName>> = {
  board: { path: [], children: ['column', 'label'], update: ['title', 'description'], create: [], texts: ['title', 'description'], initial: {} },
  column: { path: ['columns'], parent: 'board_id', children: ['card'], isOrdered: true, update: ['title', 'color', 'is_done_column'], texts: ['title'], initial: { color: '#6b7280', is_done_column: false, cards: [] } },
  card: { path: ['columns', 'cards'], parent: 'column_id', children: ['checklist', 'attachment'], isOrdered: true, changesParent: true, update: ['title', 'description', 'due_on'], texts: ['title', 'description'], initial: { description: null, due_on: null, labels: [], assignees: [], checklists: [], attachments: [], number: 0, comment_count: 0 }, times: ['created_at', 'updated_at'] },
  label: { path: ['labels'], linkedTo: 'card', linkedPath: ['columns', 'cards', 'labels'], parent: 'board_id', children: [], update: ['name', 'color'], texts: ['name'], initial: { color: '#6b7280' } },
  checklist: { path: ['columns', 'cards', 'checklists'], parent: 'card_id', children: ['item'], isOrdered: true, update: ['title'], texts: ['title'], initial: { items: [] } },
  item: { path: ['columns', 'cards', 'checklists', 'items'], parent: 'checklist_id', children: [], isOrdered: true, changesParent: true, update: ['content', 'is_done'], create: ['content'], texts: ['content'], initial: { is_done: false, assignees: [] } },
  attachment: { path: ['columns', 'cards', 'attachments'], parent: 'card_id', children: [], update: [], create: [], texts: [], initial: {} },
}

export const changes: Record<string, ChangeRow<ResourceName>> = {
  updateBoard: ['update', 'board', 'board.updated', 1],
  deleteBoard: ['delete', 'board', 'board.deleted', 1],
  inviteMember: ['create', 'member', 'board.member_added', 1],
  updateMember: ['update', 'member', 'board.updated', 1],
  removeMember: ['delete', 'member', 'board.member_removed', 1],
  createColumn: ['create', 'column', 'column.created', 1],
  updateColumn: ['update', 'column', 'column.updated'],
  deleteColumn: ['delete', 'column', 'column.deleted'],
  archiveColumn: ['delete', 'column', 'column.deleted'],
  moveColumn: ['move', 'column', 'column.moved'],
  createCard: ['create', 'card', 'card.created', 1],
  updateCard: ['update', 'card', 'card.updated'],
  deleteCard: ['delete', 'card', 'card.deleted'],
  archiveCard: ['delete', 'card', 'card.deleted'],
  moveCard: ['move', 'card', 'card.moved'],
  assignCard: ['assign', 'card', 'card.assigned'],
  unassignCard: ['unassign', 'card', 'card.unassigned'],
  addCardLabel: ['link', 'card', 'card.labeled', 'label'],
  removeCardLabel: ['unlink', 'card', 'card.unlabeled', 'label'],
  createLabel: ['create', 'label', 'label.created', 1],
  updateLabel: ['update', 'label', 'label.updated'],
  deleteLabel: ['delete', 'label', 'label.deleted'],
  createChecklist: ['create', 'checklist', 'checklist.created'],
  updateChecklist: ['update', 'checklist', 'checklist.updated'],
  deleteChecklist: ['delete', 'checklist', 'checklist.deleted'],
  moveChecklist: ['move', 'checklist', 'checklist.moved'],
  createItem: ['create', 'item', 'checklist_item.created'],
  updateItem: ['update', 'item', 'checklist_item.updated'],
  deleteItem: ['delete', 'item', 'checklist_item.deleted'],
  moveItem: ['move', 'item', 'checklist_item.moved'],
  assignItem: ['assign', 'item', 'checklist_item.assigned'],
  unassignItem: ['unassign', 'item', 'checklist_item.unassigned'],
  createAttachment: ['create', 'attachment', 'attachment.created'],
  deleteAttachment: ['delete', 'attachment', 'attachment.deleted'],
  restoreRemoved: ['restore', 'board', 'card.created', 1],
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
  | 'archiveColumn'
  | 'moveColumn'
  | 'createCard'
  | 'updateCard'
  | 'deleteCard'
  | 'archiveCard'
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
  | 'restoreRemoved'

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

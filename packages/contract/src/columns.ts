import Type, { type Static } from 'typebox'
import { Card } from './cards.ts'
import {
  Changes,
  Color,
  DEFAULT_COLOR,
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
} from './operation.ts'
import { Removed } from './removal.ts'
import { create, move, remove, update } from './resources.ts'

const shape = Type.Object({
  id: Uuid,
  board_id: Uuid,
  title: Type.String(),
  rank: Rank,
  color: Type.String(),
  is_done_column: Type.Boolean(),
  cards: Type.Array(Card),
  ...Removed,
})
export interface Column extends Static<typeof shape> {}
export const Column = named<Column>('Column', shape)

const ColumnPath = Type.Object({ column_id: Uuid })

export const columnOperations = {
  createColumn: operation({
    method: 'POST',
    path: '/boards/{board_id}/columns',
    tag: 'columns',
    summary: 'Add a column to a board',
    description: 'Placed last unless `position` or `after_id` is given.',
    access: member('board'),
    params: Type.Object({ board_id: Uuid }),
    body: Type.Object({
      ...NewId,
      title: Title,
      color: Optional(Color, DEFAULT_COLOR),
      is_done_column: Optional(Type.Boolean(), false),
      ...Place,
    }),
    returns: { status: 201, schema: Column },
    effect: create('column'),
    emits: ['column.created', 'column.moved'],
    problems: ['id_taken'],
  }),
  updateColumn: operation({
    method: 'PATCH',
    path: '/columns/{column_id}',
    tag: 'columns',
    summary: 'Change the title, the color or the done mark of a column',
    description: 'Fields that are left out do not change. The event contains the column with its cards.',
    access: member('column'),
    params: ColumnPath,
    body: Changes({ title: Title, color: Color, is_done_column: Type.Boolean() }),
    returns: { status: 200, schema: Column },
    effect: update('column'),
    emits: ['column.updated'],
  }),
  deleteColumn: operation({
    method: 'DELETE',
    path: '/columns/{column_id}',
    tag: 'columns',
    summary: 'Delete a column with its cards',
    description:
      'Emits one event, with the deleted column and its cards. They can be restored until they are deleted for good, after `TRASH_DAYS`.',
    access: member('column'),
    params: ColumnPath,
    returns: nothing,
    effect: remove('column'),
    emits: ['column.deleted'],
  }),
  archiveColumn: operation({
    method: 'POST',
    path: '/columns/{column_id}/archive',
    tag: 'columns',
    summary: 'Archive a column with its cards',
    description: 'They leave the board, are kept, and can be restored. The response and the event have `removed`.',
    access: member('column'),
    params: ColumnPath,
    returns: { status: 200, schema: Column },
    effect: remove('column'),
    emits: ['column.deleted'],
  }),
  moveColumn: operation({
    method: 'POST',
    path: '/columns/{column_id}/move',
    tag: 'columns',
    summary: 'Move a column within its board',
    description: REQUIRED_PLACE,
    access: member('column'),
    params: ColumnPath,
    body: RequiredPlace,
    returns: { status: 200, schema: Column },
    effect: move('column'),
    emits: ['column.moved'],
  }),
}

export const columnEvents = {
  'column.created': Column,
  'column.updated': Column,
  'column.deleted': Column,
  'column.moved': Column,
}

import Type, { type Static } from 'typebox'
import { Card } from './cards.ts'
import { Column } from './columns.ts'
import { member, Nullable, named, nothing, Optional, operation, owner, Paging, Place, Text, Uuid } from './operation.ts'
import { Removal } from './removal.ts'
import { other, restore } from './resources.ts'

const shape = Type.Object({
  id: Type.String({ format: 'uuid', description: 'The id of the card or the column.' }),
  kind: Type.Enum(['card', 'column']),
  title: Type.String(),
  number: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description: 'The number of a card.' }),
  column_id: Type.Union([Uuid, Type.Null()], {
    description: 'The column of a card when it left the board. It may not exist anymore.',
  }),
  card_count: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: 'The number of cards that come back with a column.',
  }),
  removed: Removal,
})
/** A card or a column that was archived or deleted, in a list. */
export interface RemovedItem extends Static<typeof shape> {}
export const RemovedItem = named<RemovedItem>('RemovedItem', shape)

const detailedShape = Type.Object({ ...shape.properties, card: Nullable(Card) })
/** The same with the whole card. */
export interface DetailedRemovedItem extends Static<typeof detailedShape> {}
export const DetailedRemovedItem = named<DetailedRemovedItem>('DetailedRemovedItem', detailedShape)

const restoredShape = Type.Object({ card: Nullable(Card), column: Nullable(Column) })
/** The card or the column that is back on its board. */
export interface Restored extends Static<typeof restoredShape> {}
export const Restored = named<Restored>('Restored', restoredShape)

const RemovedPath = Type.Object({ board_id: Uuid, removed_id: Uuid })

export const removalOperations = {
  listRemoved: operation({
    method: 'GET',
    path: '/boards/{board_id}/removed',
    tag: 'removals',
    summary: 'List the archived and deleted cards and columns of a board',
    description:
      'Newest first; `Link` is the next page. A card that left with its column is listed only with `search` or `column_id`.',
    access: member('board'),
    params: Type.Object({ board_id: Uuid }),
    query: Type.Object({
      as: Type.Optional(Type.Enum(['archived', 'deleted'])),
      kind: Type.Optional(Type.Enum(['card', 'column'])),
      search: Type.Optional({
        ...Text(255),
        description: 'A part of the title or the description of a card, or of the title of a column, case-insensitive.',
      }),
      column_id: Type.Optional({ ...Uuid, description: 'Cards of this column.' }),
      ...Paging({ default: 50 }),
    }),
    returns: { status: 200, schema: Type.Array(RemovedItem) },
  }),
  getRemoved: operation({
    method: 'GET',
    path: '/boards/{board_id}/removed/{removed_id}',
    tag: 'removals',
    summary: 'Read an archived or deleted card or column',
    description:
      'A card is returned as a whole, as it was when it left the board. A column is returned without its cards.',
    access: member('board'),
    params: RemovedPath,
    returns: { status: 200, schema: DetailedRemovedItem },
    problems: ['removed_not_found'],
  }),
  restoreRemoved: operation({
    method: 'POST',
    path: '/boards/{board_id}/removed/{removed_id}/restore',
    tag: 'removals',
    summary: 'Put an archived or deleted card or column back on the board',
    description:
      'With its id, number, labels, assignees, checklists and attachments, at its place among its neighbours unless another place is given. A column comes back with the cards that left with it. Labels that were deleted and members who left meanwhile are no longer on the cards. `column_id` is for cards. Runs no automation rule.',
    access: member('board'),
    params: RemovedPath,
    body: Type.Object({ column_id: Optional(Uuid), ...Place }),
    returns: { status: 200, schema: Restored },
    effect: restore,
    emits: ['card.created', 'card.moved', 'column.created', 'column.moved'],
    problems: ['removed_not_found', 'column_not_found', 'column_required', 'id_taken'],
  }),
  purgeRemoved: operation({
    method: 'DELETE',
    path: '/boards/{board_id}/removed/{removed_id}',
    tag: 'removals',
    summary: 'Delete an archived or deleted card or column for good',
    description:
      'With its files, and a column with the cards that left with it. Emits no event: the board does not change.',
    access: owner('board'),
    params: RemovedPath,
    returns: nothing,
    effect: other('board', 'board.updated'),
    emits: [],
    problems: ['removed_not_found'],
  }),
}

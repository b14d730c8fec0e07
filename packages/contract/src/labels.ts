import Type, { type Static } from 'typebox'
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
  Paging,
  Title,
  Uuid,
} from './operation.ts'
import { create, remove, update } from './resources.ts'

const shape = Type.Object({ id: Uuid, board_id: Uuid, name: Type.String(), color: Type.String() })
export interface Label extends Static<typeof shape> {}
export const Label = named<Label>('Label', shape)

const usageShape = Type.Object({
  label_id: Uuid,
  name: Type.String(),
  color: Type.String(),
  card_count: Type.Integer({ minimum: 0 }),
})
/** The number of cards that have a label. */
export interface LabelUsage extends Static<typeof usageShape> {}
export const LabelUsage = named<LabelUsage>('LabelUsage', usageShape)

const BoardPath = Type.Object({ board_id: Uuid })
const LabelPath = Type.Object({ label_id: Uuid })

export const labelOperations = {
  listLabels: operation({
    method: 'GET',
    path: '/boards/{board_id}/labels',
    tag: 'labels',
    summary: 'List the labels of a board',
    description: 'Oldest first, without the number of cards that have them.',
    access: member('board'),
    params: BoardPath,
    query: Type.Object(Paging()),
    returns: { status: 200, schema: Type.Array(Label) },
  }),
  countLabels: operation({
    method: 'GET',
    path: '/boards/{board_id}/labels/stats',
    tag: 'labels',
    summary: 'Count the cards of each label of a board',
    description:
      'Most used first, then by name. Includes labels without cards. A list with `limit` or `cursor` has the oldest label first instead, because the counts can change between two pages.',
    access: member('board'),
    params: BoardPath,
    query: Type.Object(Paging()),
    returns: { status: 200, schema: Type.Array(LabelUsage) },
  }),
  createLabel: operation({
    method: 'POST',
    path: '/boards/{board_id}/labels',
    tag: 'labels',
    summary: 'Create a label on a board',
    description: 'No card has it at first.',
    access: member('board'),
    params: BoardPath,
    body: Type.Object({ ...NewId, name: Title, color: Optional(Color, DEFAULT_COLOR) }),
    returns: { status: 201, schema: Label },
    effect: create('label'),
    emits: ['label.created'],
    problems: ['id_taken'],
  }),
  updateLabel: operation({
    method: 'PATCH',
    path: '/labels/{label_id}',
    tag: 'labels',
    summary: 'Change the name or the color of a label',
    description: 'Emits one event. Cards with the label show the new version.',
    access: member('label'),
    params: LabelPath,
    body: Changes({ name: Title, color: Color }),
    returns: { status: 200, schema: Label },
    effect: update('label'),
    emits: ['label.updated'],
  }),
  deleteLabel: operation({
    method: 'DELETE',
    path: '/labels/{label_id}',
    tag: 'labels',
    summary: 'Delete a label, also from every card',
    description: 'Emits one event, and none for the cards.',
    access: member('label'),
    params: LabelPath,
    returns: nothing,
    effect: remove('label'),
    emits: ['label.deleted'],
  }),
}

export const labelEvents = {
  'label.created': Label,
  'label.updated': Label,
  'label.deleted': Label,
}

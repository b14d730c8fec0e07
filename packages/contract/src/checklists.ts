import Type, { type Static } from 'typebox'
import { named, Rank, Uuid } from './operation.ts'
import { User } from './users.ts'

const itemShape = Type.Object({
  id: Uuid,
  checklist_id: Uuid,
  content: Type.String(),
  rank: Rank,
  is_done: Type.Boolean(),
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

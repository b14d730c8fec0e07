import Type, { type Static } from 'typebox'
import { named, Timestamp, Uuid } from './operation.ts'

const shape = Type.Object({
  as: Type.Enum(['archived', 'deleted']),
  at: Timestamp,
  by: Type.Union([Uuid, Type.Null()], { description: 'The user who archived or deleted it.' }),
  until: Type.Union([Timestamp, Type.Null()], {
    description: 'From this time on it may be deleted for good; null: it is kept.',
  }),
})
/** How and when a card or a column left its board. */
export interface Removal extends Static<typeof shape> {}
export const Removal = named<Removal>('Removal', shape)

/** A field of what has left its board. Nothing that is on the board has it. */
export const Removed = {
  removed: Type.Optional({ ...Removal, description: 'Only on what is no longer on the board.' }),
}

import Type, { type Static } from 'typebox'
import { named, Uuid } from './operation.ts'

const shape = Type.Object({
  id: Uuid,
  card_id: Uuid,
  name: Type.String(),
  mime_type: Type.String(),
  size: Type.Integer({ minimum: 0 }),
})
/** What is known of a file. Its content is never part of it. */
export interface Attachment extends Static<typeof shape> {}
export const Attachment = named<Attachment>('Attachment', shape)

import Type, { type Static } from 'typebox'
import { named, Uuid } from './operation.ts'

const shape = Type.Object({ id: Uuid, board_id: Uuid, name: Type.String(), color: Type.String() })
export interface Label extends Static<typeof shape> {}
export const Label = named<Label>('Label', shape)

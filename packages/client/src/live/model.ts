import { changes, type ResourceName, resources } from './model.gen.ts'
import type { ResourceTable, Verb } from './model-types.ts'
import type { Change, ChangeName } from './types.ts'

export type ResourceModel = ResourceTable<ResourceName>

/** What an operation does. */
export interface ChangeModel {
  name: string
  verb: Verb
  /** The kind of resource that it changes. Changes of members are not predicted. */
  on: ResourceName | 'member'
  /** The kind that is added or removed. */
  linked: ResourceName | undefined
  event: string
  hasBoardId: boolean
}

/** The input of any change. */
export interface Fields {
  id?: string | null
  position?: number | null
  after_id?: string | null
  user_ids?: string[]
  [field: string]: unknown
}

export const modelOf = (name: ResourceName): ResourceModel => resources[name]

const models = Object.entries(changes).map(([name, [verb, on, event, more]]): ChangeModel => {
  return { name, verb, on, event, linked: more === 1 ? undefined : more, hasBoardId: more === 1 }
})
export const changeModel = (name: ChangeName) => models.find((model) => model.name === name) as ChangeModel
/** Undefined for events of members, and for kinds that a newer server sends. */
export const eventModel = (type: string) =>
  models.find((model): model is EventModel => model.event === type && model.on !== 'member')
/** The effect of a kind of event. */
export type EventModel = ChangeModel & { on: ResourceName }
export const idField = (name: string) => `${name}_id`

/** The change with this effect, as a list; empty if there is no such operation. */
export function changeFor(verb: Verb, on: ResourceName, input: Fields, linked?: ResourceName): Change[] {
  const found = models.find((model) => model.verb === verb && model.on === on && model.linked === linked)
  // The input has the fields that the model lists for this operation.
  return found ? [{ name: found.name, input } as unknown as Change] : []
}

/** The list with copies of a linked kind. */
export const linkedList = (kind: ResourceName) => modelOf(kind).linkedPath?.at(-1) ?? ''

/** What a change does, to which resource. What a restore brings back is known only if it undoes a deletion. */
export function subjectOf({ name, input, restores }: Change) {
  const effect = changeModel(name)
  const { on, item } = { ...effect, item: undefined, ...restores }
  const fields: Fields = { ...input }
  const id = (fields['removed_id'] ?? fields[idField(on)] ?? fields.id) as string
  return { ...effect, on, item, fields, id, model: on === 'member' ? undefined : modelOf(on) }
}

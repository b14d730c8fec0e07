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

const models = Object.entries(changes).flatMap(([key, table]) =>
  Object.entries(table).map(([each, [name, event, hasBoardId]]): ChangeModel => {
    const [group, verb] = [key as ResourceName, each as Verb]
    const { linkedTo } = resources[group] ?? {}
    const isLink = linkedTo && (verb === 'link' || verb === 'unlink')
    const [on, linked] = isLink ? [linkedTo, group] : [group, undefined]
    return { name, verb, on, linked, event, hasBoardId: hasBoardId === 1 }
  }),
)
export const changeModel = (name: ChangeName) => models.find((model) => model.name === name) as ChangeModel
/** Undefined for events of members, and for kinds that a newer server sends. */
export const eventModel = (type: string) =>
  models.find((model): model is EventModel => model.event === type && model.on !== 'member')
/** The effect of a kind of event. */
export type EventModel = ChangeModel & { on: ResourceName }
export const idField = (name: string) => `${name}_id`

/** The change with this effect, as a list; empty if there is no such operation. */
export function changeFor(verb: Verb, on: ResourceName, input: Fields): Change[] {
  const row = changes[on][verb]
  // The input has the fields that the model lists for this operation.
  return row ? [{ name: row[0], input } as unknown as Change] : []
}

/** The kinds that can be linked to a kind of resource. */
export const linkedKinds = (name: ResourceName) =>
  (Object.keys(resources) as ResourceName[]).filter((each) => modelOf(each).linkedTo === name)

/** The list with copies of a linked kind. */
export const linkedList = (kind: ResourceName) => modelOf(kind).linkedPath?.at(-1) ?? ''

/** What a change does, to which resource. */
export function subjectOf({ name, input }: Change) {
  const { verb, on, linked, event } = changeModel(name)
  const fields: Fields = { ...input }
  const id = (fields[idField(on)] ?? fields.id) as string
  return { verb, on, linked, event, fields, id, model: on === 'member' ? undefined : modelOf(on) }
}

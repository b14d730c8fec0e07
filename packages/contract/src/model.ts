import type { TSchema } from 'typebox'
import { operations } from './index.ts'
import type { Operation } from './operation.ts'
import { definitionOf, type Resource, resourceNames, type Verb } from './resources.ts'

export type OperationName = keyof typeof operations
type Schemas = Record<string, TSchema & { type?: string; format?: string; default?: unknown; anyOf?: TSchema[] }>

/** The body fields that say which one and where, not what it is. */
const PLACEMENT = ['id', 'position', 'after_id']
/** The time fields that the server sets. */
const TIMES = ['created_at', 'updated_at']

const propertiesOf = (schema: TSchema | undefined) => (schema as { properties?: Schemas } | undefined)?.properties ?? {}

/** The operation with this effect; undefined if there is none. */
export function findOperation(verb: Verb, on: Resource): { name: OperationName; operation: Operation } | undefined {
  const found = Object.entries<Operation>(operations).find(
    ([, { effect }]) => effect?.verb === verb && effect.on === on,
  )
  return found && { name: found[0] as OperationName, operation: found[1] }
}

/** The fields that every resource of a kind has in a response, with their schemas. */
export function fieldsOf(resource: Resource): Schemas {
  const schema = findOperation('create', resource)?.operation.returns.schema as { required?: string[] } | undefined
  const all = Object.entries(propertiesOf(schema))
  return Object.fromEntries(all.filter(([name]) => schema?.required?.includes(name)))
}

const bodyFields = (verb: Verb, resource: Resource) =>
  Object.keys(propertiesOf(findOperation(verb, resource)?.operation.body)).filter((name) => !PLACEMENT.includes(name))

/** The fields that can be set when a resource is created. */
export const createFields = (resource: Resource) =>
  bodyFields('create', resource).filter((name) => name in fieldsOf(resource))
/** The fields that a PATCH can change. */
export const updateFields = (resource: Resource) => bodyFields('update', resource)

/** The fields with text that users write. They count towards the quota of the board. */
export function textFields(resource: Resource): string[] {
  const fields = fieldsOf(resource)
  const isText = (schema: Schemas[string] | undefined): boolean =>
    schema?.anyOf
      ? schema.anyOf.some((part) => isText(part as Schemas[string]))
      : schema?.type === 'string' && !schema.format
  return updateFields(resource).filter((name) => isText(fields[name]))
}

export const timeFields = (resource: Resource) => TIMES.filter((name) => name in fieldsOf(resource))

/** The value of a field of a new resource, if the request does not set it; undefined if it must. */
export function initialValue(resource: Resource, name: string): unknown {
  const input = propertiesOf(findOperation('create', resource)?.operation.body)[name]
  if (input?.default !== undefined) return input.default
  const { type, anyOf = [] } = (fieldsOf(resource)[name] ?? {}) as Schemas[string]
  if (type === 'array') return []
  if (type === 'boolean') return false
  if (type === 'integer') return 0
  return anyOf.some((part) => (part as { type?: string }).type === 'null') ? null : undefined
}

/** The fields that say where a resource is. */
export function structuralFields(resource: Resource): string[] {
  const { parent, isOrdered } = definitionOf(resource)
  return ['id', ...(parent ? [`${parent}_id`] : []), ...(isOrdered ? ['rank'] : [])]
}

/** The list fields that lead from the board to a resource; undefined if the full board does not contain it. */
export function pathOf(resource: Resource): string[] | undefined {
  const { parent, list } = definitionOf(resource)
  if (!parent) return []
  const above = pathOf(parent as Resource)
  return above && list ? [...above, list] : undefined
}

export const childrenOf = (resource: Resource) =>
  resourceNames.filter((name) => definitionOf(name).parent === resource && pathOf(name))

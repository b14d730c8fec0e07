import { events, operations } from '@lockstep/contract'
import {
  childrenOf,
  createFields,
  fieldsOf,
  findOperation,
  initialValue,
  pathOf,
  structuralFields,
  textFields,
  timeFields,
  updateFields,
} from '@lockstep/contract/model'
import { COLOR_LENGTH, type Operation } from '@lockstep/contract/operation'
import { definitionOf, type Effect, type Resource, resourceNames, type Verb } from '@lockstep/contract/resources'

/** The resources that the full board contains, and the board itself. */
const contained = resourceNames.filter((name) => pathOf(name))
const isContained = (on: Effect['on']) => on === 'member' || contained.includes(on)

/** Without events there is nothing to follow (rules, and boards that do not exist yet). */
const isChange = ({ effect }: Operation) =>
  effect !== undefined && effect.verb !== 'other' && effect.event in events && isContained(effect.on)

/** The part of the contract from which the live board predicts changes, applies events and undoes changes. */
export function clientModel(): string {
  const effects = Object.entries<Operation>(operations).flatMap(([name, operation]) =>
    operation.effect ? [{ name, operation, effect: operation.effect }] : [],
  )
  const changes = effects.filter(({ operation }) => isChange(operation))
  const table = changes.map(({ name, operation: { path }, effect: { verb, on, linked, event } }) => {
    const more = linked ? [linked] : path.includes('{board_id}') ? [1] : []
    return `  ${name}: ${inline([verb, on, event, ...more])},\n`
  })
  // Files are not queued: an upload is known from its event only.
  const names = changes.filter(({ operation }) => operation.body_type !== 'upload').map(({ name }) => `'${name}'`)
  const rows = contained.map((name) => `  ${name}: ${inline(modelOf(name))},\n`)
  return `// Generated from packages/contract by npm run generate.
import type { ChangeRow, ResourceTable } from './model-types.ts'

export type ResourceName = ${contained.map((name) => `'${name}'`).join(' | ')}

export const resources: Record<ResourceName, ResourceTable<ResourceName>> = {
${rows.join('')}}

export const changes: Record<string, ChangeRow<ResourceName>> = {
${table.join('')}}

export type ChangeName =
  | ${names.join('\n  | ')}

/** The title, name or content of each kind of resource. */
export const nameFields: Record<ResourceName, string> = {
${contained.map((name) => `  ${name}: '${nameField(name)}',\n`).join('')}}
`
}

/** The first text that is not an id. */
const nameField = (resource: Resource) =>
  Object.entries(fieldsOf(resource)).find(([, { type, format }]) => type === 'string' && !format)?.[0]

function modelOf(resource: Resource) {
  const { parent, isOrdered, links } = definitionOf(resource)
  const [create, update] = [createFields(resource), updateFields(resource)]
  const times = timeFields(resource)
  const canCreate = resource !== 'board' && findOperation('create', resource)?.operation.body_type !== 'upload'
  return {
    path: pathOf(resource),
    linkedTo: links?.to,
    linkedPath: links && [...(pathOf(links.to as Resource) ?? []), links.list],
    parent: parent && `${parent}_id`,
    children: childrenOf(resource),
    isOrdered,
    changesParent: `${parent}_id` in inputsOf('move', resource) || undefined,
    update,
    create: canCreate && create.join() === update.join() ? undefined : canCreate ? create : [],
    texts: typedTexts(resource),
    initial: canCreate ? initialOf(resource, [...structuralFields(resource), ...times]) : {},
    times: times.length > 0 ? times : undefined,
  }
}

/** The text fields of a resource, without colors, which are chosen. */
const typedTexts = (resource: Resource) =>
  textFields(resource).filter((name) => inputsOf('update', resource)[name]?.maxLength !== COLOR_LENGTH)

const inputsOf = (verb: Verb, resource: Resource) =>
  (findOperation(verb, resource)?.operation.body as { properties?: Record<string, { maxLength?: number }> } | undefined)
    ?.properties ?? {}

/** The fields of a new resource that do not come from the request. */
function initialOf(resource: Resource, others: readonly string[]) {
  const input = findOperation('create', resource)?.operation.body as { required?: string[] }
  const names = Object.keys(fieldsOf(resource)).filter(
    (name) => !others.includes(name) && !input.required?.includes(name),
  )
  return Object.fromEntries(
    names.map((name) => {
      const value = initialValue(resource, name)
      if (value === undefined)
        throw new Error(`A new ${resource} needs a value for ${name}: give it a default in the contract`)
      return [name, value]
    }),
  )
}

const inline = (value: object) =>
  JSON.stringify(value)
    .replaceAll(/"(\w+)":/g, '$1: ')
    .replaceAll('"', "'")
    .replaceAll(/,(?! )/g, ', ')
    .replaceAll(/^\{|(?<=: )\{(?=\w)/g, '{ ')
    .replaceAll(/(?<=[^{])\}/g, ' }')

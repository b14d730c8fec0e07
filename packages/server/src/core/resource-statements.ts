import { createFields, initialValue, textFields, timeFields, updateFields } from '@lockstep/contract/model'
import type { Body, JsonText, Operation, Returns } from '@lockstep/contract/operation'
import { definitionOf, type OrderedResource, type Resource } from '@lockstep/contract/resources'
import { type RawBuilder, sql } from 'kysely'
import { type Db, type ResourceKey, statement } from '../database/database.ts'
import { objectBytes } from './quotas.ts'

/** A row with a resource as JSON. */
export interface ResourceRow<T> {
  id: string
  json: JsonText<T>
}
export type PatchedRow<T> = ResourceRow<T> & { text_bytes: number }

const parentField = (resource: Resource) => {
  const { parent } = definitionOf(resource)
  return parent && parent !== 'board' ? [`${parent}_id`] : []
}

/** The table of a resource, with the name of the resource as alias. */
const tableOf = (resource: Resource) => sql`${sql.table(definitionOf(resource).table)} ${sql.id(resource)}`
const columnsOf = (of: string, names: readonly string[], prefix = '') =>
  sql.join(names.map((name) => sql.id(of, prefix + name)))
const hasKey = (resource: Resource, args: ResourceKey) =>
  resource === 'board'
    ? sql`board.id = ${args.id}`
    : sql`${sql.id(resource, 'board_id')} = ${args.board_id} and ${sql.id(resource, 'id')} = ${args.id}`

/** Reads one resource. `json` refers to the row by the name of the resource. */
export const readStatement = <T>(resource: Resource, json: RawBuilder<T>, condition = sql``) =>
  statement(
    `read_${resource}`,
    (args: ResourceKey) => sql<ResourceRow<T>>`
      select ${sql.id(resource, 'id')}, ${json}::text as json from ${tableOf(resource)}
      where ${hasKey(resource, args)} ${condition}`,
  )

interface PatchOptions {
  /** A column that records the change: when it was made, or by whom. */
  stamp?: 'updated_at' | 'updated_by'
  /** How often the text counts towards the quota; once by default. */
  occurrences?: (args: ResourceKey) => RawBuilder<unknown>
}
interface PatchArguments extends ResourceKey {
  /** The body of the PATCH as JSON. */
  changes: string
  stamp: string | null
}
/**
 * The statement of a PATCH. It sets the fields that the contract allows, leaves the row alone if nothing changes, and returns the
 * resource and the growth of its text.
 */
export function patchStatement<T>(resource: Resource, json: RawBuilder<T>, { stamp, occurrences }: PatchOptions = {}) {
  const [fields, texts] = [updateFields(resource), textFields(resource)]
  const setList = sql.join(fields.map((name) => sql`${sql.id(name)} = ${sql.id('changed', name)}`))
  const oldTexts = texts.map((name) => sql`${sql.id(resource, name)} as ${sql.id(`old_${name}`)}, `)
  const growth = sql`object_bytes(${columnsOf(resource, texts)}) - object_bytes(${columnsOf('changed', texts, 'old_')})`
  return statement(
    `update_${resource}`,
    (args: PatchArguments) => sql<PatchedRow<T>>`
      with changed as (
        select ${sql.join(oldTexts, sql``)} (jsonb_populate_record(${sql.id(resource)}, ${args.changes}::jsonb)).*
        from ${tableOf(resource)} where ${hasKey(resource, args)}
      )
      update ${tableOf(resource)} set ${setList} ${stamp ? sql`, ${sql.id(stamp)} = ${args.stamp}` : sql``}
      from changed
      where ${hasKey(resource, args)}
        and (${columnsOf(resource, fields)}) is distinct from (${columnsOf('changed', fields)})
      returning ${sql.id(resource, 'id')}, ${json}::text as json,
        ${texts.length === 0 ? sql`0` : sql`(${growth}) * ${occurrences?.(args) ?? sql`1`}`} as text_bytes`,
  )
}

/** Inserts a resource with the fields that the contract allows and those that the service sets, and returns it if `json` is given. */
export function insertStatement<Fields extends object, T = undefined>(
  resource: Resource,
  json?: RawBuilder<T>,
  assigned: readonly (keyof Fields & string)[] = [],
) {
  const { table, isOrdered } = definitionOf(resource)
  const names = [
    ...['board_id', 'id', ...parentField(resource), ...createFields(resource)],
    ...(isOrdered ? ['rank'] : []),
    ...assigned,
  ]
  const times = timeFields(resource)
  return statement(`insert_${resource}`, (args: ResourceKey & Fields) => {
    const values = args as unknown as Record<string, unknown>
    const all = [...names.map((name) => sql`${values[name]}`), ...times.map(() => sql`${values['at']}`)]
    return sql<ResourceRow<T>>`
      insert into ${sql.table(table)} as ${sql.id(resource)} (${sql.join([...names, ...times].map((name) => sql.id(name)))})
      values (${sql.join(all)})
      ${json ? sql`returning ${sql.id(resource, 'id')}, ${json}::text as json` : sql``}`
  })
}

/** The fields of a new resource that a request may set. */
export type NewFields<O extends Operation> = Pick<Returns<O>, Exclude<keyof Returns<O> & keyof Body<O>, 'id'>>

/** Makes the function that takes the fields of a new resource from a request, with their defaults. */
export function newFields<const O extends Operation>(operation: O): (body: Body<O>) => NewFields<O> {
  const resource = operation.effect?.on as Resource
  const initial = createFields(resource).map((name) => [name, initialValue(resource, name)] as const)
  return (body) => {
    const given = body as Record<string, unknown>
    return Object.fromEntries(initial.map(([name, value]) => [name, given[name] ?? value])) as NewFields<O>
  }
}

/** Makes the function that counts the text of a new resource. */
export function textBytesOf(resource: Resource): (fields: object) => number {
  const texts = textFields(resource)
  return (fields) => objectBytes(...texts.map((name) => (fields as Record<string, string | null>)[name] ?? null))
}

interface RankUpdate {
  board_id: string
  /** The list to which the resources belong, or to which they are moved. */
  parent_id: string
  /** The resource that the user moved. Only its `updated_at` changes; its neighbours are only re-spaced. */
  moved_id?: string | null
  at?: string | null
}
/** Makes the function that sets the ranks of resources of one list, in one statement. It returns them by id. */
export function rankSetter<T>(resource: OrderedResource, json: RawBuilder<T>) {
  const id = sql.id(resource, 'id')
  const set = statement(`set_${resource}_ranks`, (args: Required<RankUpdate> & { ids: string[]; ranks: number[] }) => {
    const parent = parentField(resource).map((name) => sql`, ${sql.id(name)} = ${args.parent_id}`)
    const times = timeFields(resource)
      .filter((name) => name === 'updated_at')
      .map(
        (name) => sql`, ${sql.id(name)} =
          case when ${id} = ${args.moved_id} then ${args.at}::timestamptz else ${sql.id(resource, name)} end`,
      )
    return sql<ResourceRow<T>>`
      update ${tableOf(resource)} set rank = ranked.rank ${sql.join([...parent, ...times], sql``)}
      from unnest(${args.ids}::uuid[], ${args.ranks}::int8[]) ranked (id, rank)
      where ${sql.id(resource, 'board_id')} = ${args.board_id} and ${id} = ranked.id
      returning ${id}, ${json}::text as json`
  })
  return async (db: Db, update: RankUpdate, ranks: readonly { id: string; rank: number }[]) => {
    const [ids, values] = [ranks.map((each) => each.id), ranks.map((each) => each.rank)]
    const rows = await db.run(set, { moved_id: null, at: null, ...update, ids, ranks: values })
    return new Map(rows.map((row) => [row.id, row.json]))
  }
}

import { events, operations } from '@lockstep/contract'
import { Bytes, type Operation } from '@lockstep/contract/operation'
import { problems } from '@lockstep/contract/problems'
import { EVENT_VERSION } from '@lockstep/contract/realtime'

/** The part of JSON Schema that the contract uses. */
interface Shape {
  type?: string
  title?: string
  format?: string
  description?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Shape[]
  items?: Shape
  properties?: Record<string, Shape>
  required?: string[]
}
type Field = [name: string, schema: Shape, isRequired: boolean]

const all = Object.entries<Operation>(operations)
const inputOf = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}Input`
const comment = (text: string | undefined, indent = '') => (text ? `${indent}/** ${text} */\n` : '')
const union = (members: string[]) => [...new Set(members)].join(' | ')

/** The type of a schema as one would write it by hand. */
function typeOf(schema: Shape): string {
  return schema.title ?? bareType(schema)
}
function bareType(schema: Shape): string {
  const { type, format, properties, items, anyOf, enum: members, const: constant } = schema
  if (properties) return `{ ${fieldsOf(schema).map(declare).join('; ')} }`
  if (constant !== undefined) return JSON.stringify(constant)
  if (members) return union(members.map((member) => JSON.stringify(member)))
  if (anyOf) return union(anyOf.map(typeOf))
  if (items) return /^\w+$/.test(typeOf(items)) ? `${typeOf(items)}[]` : `(${typeOf(items)})[]`
  if (format === 'binary') return 'Blob'
  const known: Record<string, string> = { integer: 'number', object: 'Record<string, unknown>' }
  const plain = ['string', 'number', 'boolean', 'null', 'undefined']
  const found = known[type ?? ''] ?? plain.find((name) => name === type)
  if (!found) throw new Error(`No type is known for the schema ${JSON.stringify(schema)}`)
  return found
}

const fieldsOf = (schema: Shape | undefined): Field[] =>
  Object.entries(schema?.properties ?? {}).map(([name, s]) => [name, s, schema?.required?.includes(name) ?? false])
const declare = ([name, schema, isRequired]: Field) => `${name}${isRequired ? '' : '?'}: ${typeOf(schema)}`
const declareLines = (fields: Field[]) =>
  fields.map((field) => `${comment(field[1].description, '  ')}  ${declare(field)}\n`).join('')

/** Path, query and body in one object. Two fields of one name would need a decision, so they are refused here. */
function inputFields(name: string, { params, query, body }: Operation): Field[] {
  if (body && !(body as Shape).properties) throw new Error(`The body of ${name} is no object: its fields have no names`)
  const fields = [params, query, body].flatMap((schema) => fieldsOf(schema as Shape | undefined))
  const names = fields.map(([field]) => field)
  const twice = names.find((field, i) => names.indexOf(field) !== i)
  if (twice) throw new Error(`${name} has two inputs called ${twice}: rename one in the contract`)
  return fields
}

/** Every schema with a title, in the order in which they are met. */
function resources(): Map<string, Shape> {
  const found = new Map<string, Shape>()
  const visit = (schema: Shape) => {
    if (schema.title && found.has(schema.title)) return
    const inside = [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? []), schema.items]
    for (const part of inside) if (part) visit(part)
    if (schema.title) found.set(schema.title, schema)
  }
  for (const [, { returns }] of all) visit(returns.schema as Shape)
  for (const data of Object.values(events)) visit(data as Shape)
  return found
}

/**
 * The log is typed as loosely as it is stored; a reader knows the kinds, so that `type` tells him what `data` is.
 */
const LOGGED_EVENT = `/** An event of the board's log, with its number. */
export type LoggedEvent<K extends EventKind = EventKind> = BoardEvent<K> & { seq: number; actor_id?: string | null }
`

/** Types of all resources, inputs, results, events and problems, written out: a reader needs no schema library. */
export function clientTypes(): string {
  const interfaces = [...resources()].map(([title, schema]) =>
    title === 'LoggedEvent' ? LOGGED_EVENT : `export interface ${title} {\n${declareLines(fieldsOf(schema))}}\n`,
  )
  const inputs = all.map(([name, operation]) => {
    const fields = inputFields(name, operation)
    return fields.length === 0
      ? `export type ${inputOf(name)} = Record<string, never>\n`
      : `export interface ${inputOf(name)} {\n${declareLines(fields)}}\n`
  })
  const rows = all.map(
    ([name, { returns }]) => `  ${name}: { input: ${inputOf(name)}; result: ${resultOf(returns)} }\n`,
  )
  const kinds = Object.entries(events).map(([kind, data]) => `  '${kind}': ${typeOf(data as Shape)}\n`)
  return `// Made from packages/contract by npm run generate.

${interfaces.join('\n')}
/** What each kind of event carries. */
export interface EventData {
${kinds.join('')}}
export type EventKind = keyof EventData

/** Something that happened on a board. \`type\` tells what \`data\` is. */
export type BoardEvent<K extends EventKind = EventKind> = {
  [T in K]: {
    type: T
    data: EventData[T]
    /** Who did it; null when the service itself did, by a rule or by re-spacing. */
    user_id: string | null
    timestamp: string
    version: '${EVENT_VERSION}'
    /** The event's number on its board, for who asked for numbers. */
    seq?: number
  }
}[K]

/** The service's own names for what can go wrong. */
export type ProblemCode =
${Object.keys(problems)
  .map((code) => `  | '${code}'`)
  .join('\n')}

${inputs.join('\n')}
/** What goes into each operation, and what comes out. */
export interface Operations {
${rows.join('')}}
export type OperationName = keyof Operations
`
}

/** One method for each operation, with what an editor shows about it. */
export function clientCalls(): string {
  const methods = all.map(([name, operation]) => {
    const { method, path, summary, description, returns, problems: own = [] } = operation
    const isOptional = !inputFields(name, operation).some(([, , isRequired]) => isRequired)
    const codes = own.length > 0 ? ` Problems: ${own.map((code) => `\`${code}\``).join(', ')}.` : ''
    const text = `${summary}.${description ? ` ${description}` : ''}${codes} (\`${method} ${path}\`)`
    const input = `input${isOptional ? '?' : ''}: types.${inputOf(name)}`
    return `${comment(text, '  ')}  ${name}(${input}, options?: CallOptions): Promise<${resultOf(returns, 'types.')}>\n`
  })
  return `// Made from packages/contract by npm run generate.
import type { CallOptions } from './options.ts'
import type * as types from './types.gen.ts'

/** One method for each operation. */
export interface Calls {
${methods.join('')}}
`
}

/** What an operation answers with. Only named types, lists of them, files and nothing are known. */
function resultOf({ schema }: Operation['returns'], prefix = ''): string {
  const type = typeOf(schema as Shape)
  return /^[A-Z]/.test(type) && type !== 'Blob' ? prefix + type : type
}

/** How each operation is sent: all that remains of the contract at run time. */
export function clientTable(): string {
  const rows = all.map(([name, operation]) => {
    const { method, path, access, query, body, body_type = 'json', returns } = operation
    const row = {
      method,
      path,
      ...(query && { query: Object.keys(query.properties) }),
      ...(body && { body: body_type }),
      ...(access === 'public' && { isPublic: true }),
      ...(returns.schema === Bytes && { isFile: true }),
      retry: retryOf(operation),
    }
    const text = Object.entries(row).map(([key, value]) => `${key}: ${JSON.stringify(value).replaceAll('"', "'")}`)
    return `  ${name}: { ${text.join(', ')} },\n`
  })
  return `// Made from packages/contract by npm run generate.
import type { OperationRow } from './options.ts'
import type { OperationName } from './types.gen.ts'

export const operations: Record<OperationName, OperationRow> = {
${rows.join('')}}
`
}

/**
 * A write of board data is safe to repeat with its key; a read, and what only asks for a token or clears a cookie (it has
 * no content), is safe without. What is left (accounts, passwords, logins, administration) is sent once.
 */
function retryOf({ method, emits, body, access }: Operation): 'always' | 'keyed' | 'never' {
  if (emits) return 'keyed'
  return method === 'GET' || (!body && access !== 'superuser') ? 'always' : 'never'
}

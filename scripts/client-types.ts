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

/** The TypeScript type of a schema. */
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
  if (!found) throw new Error(`Unsupported schema: ${JSON.stringify(schema)}`)
  return found
}

const fieldsOf = (schema: Shape | undefined): Field[] =>
  Object.entries(schema?.properties ?? {}).map(([name, s]) => [name, s, schema?.required?.includes(name) ?? false])
const declare = ([name, schema, isRequired]: Field) => `${name}${isRequired ? '' : '?'}: ${typeOf(schema)}`
/** The description of a field or, if it accepts several types such as null, of one of them. */
const descriptionOf = ({ description, anyOf = [] }: Shape) =>
  description ?? anyOf.map((member) => member.description).find((text) => text !== undefined)
const declareLines = (fields: Field[]) =>
  fields.map((field) => `${comment(descriptionOf(field[1]), '  ')}  ${declare(field)}\n`).join('')

/** Path, query and body fields in one object. Two fields with the same name are an error. */
function inputFields(name: string, { params, query, body }: Operation): Field[] {
  if (body && !(body as Shape).properties)
    throw new Error(`The body of ${name} is not an object, so its fields have no names`)
  const fields = [params, query, body].flatMap((schema) => fieldsOf(schema as Shape | undefined))
  const names = fields.map(([field]) => field)
  const twice = names.find((field, i) => names.indexOf(field) !== i)
  if (twice) throw new Error(`${name} has two fields called ${twice}: rename one in the contract`)
  return fields
}

/** Every schema with a title, in the order of first use. */
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

/** Replaces the loose type of the contract with a discriminated union: `type` determines the type of `data`. */
const LOGGED_EVENT = `/** An event of a board's log, with its sequence number. */
export type LoggedEvent<K extends EventKind = EventKind> = BoardEvent<K> & { seq: number; actor_id?: string | null }
`

/** The types of all resources, inputs, results, events and problems, as plain TypeScript without a schema library. */
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
  return `// Generated from packages/contract by npm run generate.

${interfaces.join('\n')}
/** The data of each kind of event. */
export interface EventData {
${kinds.join('')}}
export type EventKind = keyof EventData

/** An event of a board. \`type\` determines the type of \`data\`. */
export type BoardEvent<K extends EventKind = EventKind> = {
  [T in K]: {
    type: T
    data: EventData[T]
    /** The user who caused it; null for the service itself (automation rules, rank rebalancing). */
    user_id: string | null
    timestamp: string
    version: '${EVENT_VERSION}'
    /** The sequence number on the board, if the client asked for numbers. */
    seq?: number
  }
}[K]

/** The code of each problem. */
export type ProblemCode =
${Object.keys(problems)
  .map((code) => `  | '${code}'`)
  .join('\n')}

${inputs.join('\n')}
/** Input and result of each operation. */
export interface Operations {
${rows.join('')}}
export type OperationName = keyof Operations
`
}

/** One method for each operation, with its documentation. */
export function clientCalls(): string {
  const methods = all.map(([name, operation]) => {
    const { method, path, summary, description, returns, problems: own = [] } = operation
    const isOptional = !inputFields(name, operation).some(([, , isRequired]) => isRequired)
    const codes = own.length > 0 ? ` Problems: ${own.map((code) => `\`${code}\``).join(', ')}.` : ''
    const text = `${summary}.${description ? ` ${description}` : ''}${codes} (\`${method} ${path}\`)`
    const input = `input${isOptional ? '?' : ''}: types.${inputOf(name)}`
    return `${comment(text, '  ')}  ${name}(${input}, options?: CallOptions): Promise<${resultOf(returns, 'types.')}>\n`
  })
  return `// Generated from packages/contract by npm run generate.
import type { CallOptions } from './options.ts'
import type * as types from './types.gen.ts'

/** One method for each operation. */
export interface Calls {
${methods.join('')}}
`
}

/** The result type of an operation: a named type, a list of one, a file or nothing. */
function resultOf({ schema }: Operation['returns'], prefix = ''): string {
  const type = typeOf(schema as Shape)
  return /^[A-Z]/.test(type) && type !== 'Blob' ? prefix + type : type
}

/** The part of the contract that the client needs at run time: how to send each operation. */
export function clientTable(): string {
  const rows = all.map(([name, operation]) => {
    const { method, path, access, query, body, body_type = 'json', returns } = operation
    if (query && method !== 'GET') throw new Error(`${name} has a query, and the client sends one only with GET`)
    const row = {
      method,
      path,
      ...(body && { body: body_type }),
      ...(access === 'public' && { isPublic: true }),
      ...(returns.schema === Bytes && { isFile: true }),
      ...(retryOf(operation) !== (method === 'GET' ? 'always' : 'keyed') && { retry: retryOf(operation) }),
    }
    const text = Object.entries(row).map(([key, value]) => `${key}: ${JSON.stringify(value).replaceAll('"', "'")}`)
    return `  ${name}: { ${text.join(', ')} },\n`
  })
  return `// Generated from packages/contract by npm run generate.
import type { OperationRow } from './options.ts'
import type { OperationName } from './types.gen.ts'

export const operations: Record<OperationName, OperationRow> = {
${rows.join('')}}
`
}

/**
 * Retry policy. A write of board data is safe to retry with its idempotency key. A read is safe without one, and so is an
 * operation without a body that only returns a token or clears a cookie. Everything else (accounts, passwords, logins, access
 * tokens, administration) is sent once.
 */
function retryOf({ method, emits, body, access }: Operation): 'always' | 'keyed' | 'never' {
  if (emits) return 'keyed'
  return method === 'GET' || (method === 'POST' && !body && access === 'authenticated') ? 'always' : 'never'
}

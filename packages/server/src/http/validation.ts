import { formats } from '@lockstep/contract/formats'
import { type ErrorObject, Ajv2020 as Validator } from 'ajv/dist/2020.js'
import type { TObject, TSchema } from 'typebox'
import { Problem } from '../platform/problem.ts'

/** No coercion and no defaults: input is validated as it was sent. */
const validator = new Validator({
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
  strictRequired: false,
  strictTypes: false,
})
for (const [name, { test }] of Object.entries(formats)) validator.addFormat(name, test)

type InputFields = Record<string, unknown>
interface FieldError {
  field: string
  message: string
}
/** Limits the size of the response. */
const MAX_ERRORS = 50

/**
 * Validates input against its schema: keeps only declared fields, brings UUIDs and enums into canonical form, and rejects
 * invalid fields with a 422 that names them without repeating their values.
 */
export function inputReader<T>(schema: TSchema): (value: unknown) => T {
  const check = validator.compile<T>(schema)
  return (value) => {
    const tooLong: FieldError[] = []
    const picked = isObject(value) ? pick(schema as TObject, value, tooLong) : value
    const isValid = check(picked)
    if (isValid && tooLong.length === 0) return picked
    const errors = (check.errors ?? []).map(({ instancePath, ...error }) => ({
      field: fieldOf(instancePath, error),
      message: messageOf(error),
    }))
    throw invalid([...tooLong, ...errors])
  }
}

/** A 422 with a list of field errors, also for input without a schema. */
export const invalid = (errors: FieldError[]) => problemOfFields('invalid_input', errors)

function problemOfFields(code: 'invalid_input' | 'unknown_field', errors: FieldError[]): Problem {
  const byField = new Map<string, FieldError>()
  for (const error of errors) if (!byField.has(error.field)) byField.set(error.field, error)
  const unique = [...byField.values()].slice(0, MAX_ERRORS)
  const [first] = unique
  return new Problem(code, { detail: `${first?.field} ${first?.message}.`, fields: { errors: unique } })
}

/** Longer names of unknown fields are cut. */
const MAX_NAME_LENGTH = 100

/** Rejects fields of the query and the body that the schemas do not declare, at any depth. */
export function requireKnownFields(
  { query, body }: { query: TSchema | undefined; body: TSchema | undefined },
  sent: { query: unknown; body: unknown },
) {
  const inQuery = unknownFields([query ?? NO_FIELDS], sent.query)
  const inBody = unknownFields(body ? [body] : [], sent.body)
  const errors = [
    ...inQuery.map((field) => ({ field, message: 'is not a query parameter of this operation' })),
    ...inBody.map((field) => ({ field, message: 'is not a field of this operation' })),
  ]
  if (errors.length > 0) throw problemOfFields('unknown_field', errors)
}
const NO_FIELDS = { type: 'object', properties: {} } as TSchema

/** The paths of fields that none of the schemas declares. An object without declared fields may have any. */
function unknownFields(schemas: readonly TSchema[], value: unknown, path: readonly string[] = []): string[] {
  const branches = schemas.flatMap((schema) => (schema as FieldSchema).anyOf ?? []).concat(schemas) as FieldSchema[]
  if (Array.isArray(value)) {
    const items = branches.flatMap((branch) => branch.items ?? [])
    return items.length === 0 ? [] : value.flatMap((item, i) => unknownFields(items, item, [...path, String(i)]))
  }
  const known = branches.map(({ properties }) => properties).filter((properties) => properties !== undefined)
  if (!isObject(value) || known.length === 0) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const fields = known.flatMap((properties) => (Object.hasOwn(properties, name) ? (properties[name] ?? []) : []))
    const inside = [...path, name.slice(0, MAX_NAME_LENGTH).toWellFormed()]
    return fields.length === 0 ? [inside.join('.')] : unknownFields(fields, inner, inside)
  })
}

/** Converts the integers of a query string, which has text only. */
export function readableQuery(schema: TObject, query: InputFields): InputFields {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const isInteger = (schema.properties[name] as { type?: string } | undefined)?.type === 'integer'
      return [name, isInteger && typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value]
    }),
  )
}

const isObject = (value: unknown): value is InputFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Picks the declared fields. Lists and texts that are too long are left out and reported in `tooLong`: their length is checked
 * first, because validating half a million items takes a second.
 */
function pick(schema: TObject, value: InputFields, tooLong: FieldError[]): InputFields {
  const picked: InputFields = {}
  for (const [name, field] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(value, name)) continue
    const excess = excessOf(field, value[name])
    if (excess) tooLong.push({ field: name, message: messageOf(excess) })
    else picked[name] = canonical(field, value[name])
  }
  return picked
}

/** The error of a value that is certainly too long. A string may have two UTF-16 units per character. */
function excessOf(schema: TSchema, value: unknown): SchemaError | undefined {
  const { maxItems = Number.POSITIVE_INFINITY, maxLength = Number.POSITIVE_INFINITY, anyOf } = schema as FieldSchema
  if (anyOf) {
    const excesses = anyOf.map((branch) => excessOf(branch, value))
    return excesses.find((excess) => excess !== undefined)
  }
  if (Array.isArray(value) && value.length > maxItems) return tooMuch('maxItems', maxItems)
  if (typeof value === 'string' && value.length > 2 * maxLength) return tooMuch('maxLength', maxLength)
  return undefined
}
const tooMuch = (keyword: string, limit: number) => ({ keyword, params: { limit }, schemaPath: '' })

interface FieldSchema {
  maxItems?: number
  maxLength?: number
  format?: string
  enum?: unknown[]
  items?: TSchema
  anyOf?: TSchema[]
  properties?: Record<string, TSchema>
}
function canonical(schema: TSchema, value: unknown): unknown {
  const { format, enum: members, items, anyOf } = schema as FieldSchema
  if (anyOf) return anyOf.reduce<unknown>((result, branch) => canonical(branch, result), value)
  if (items && Array.isArray(value)) return value.map((item) => canonical(items, item))
  if (typeof value !== 'string') return value
  if (format === 'uuid') return value.toLowerCase()
  return members?.find((m) => typeof m === 'string' && m.toLowerCase() === value.toLowerCase()) ?? value
}

type SchemaError = Omit<ErrorObject, 'instancePath'>

function fieldOf(path: string, { keyword, params }: SchemaError): string {
  const parts = path.split('/').slice(1)
  if (keyword === 'required') parts.push(params['missingProperty'] as string)
  return parts.join('.') || 'body'
}

function messageOf({ keyword, params, message }: SchemaError): string {
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'type':
      return `must be ${article[params['type'] as string] ?? params['type']}`
    case 'format':
      return formats[params['format'] as keyof typeof formats].says
    case 'enum':
      return `must be one of ${(params['allowedValues'] as string[]).join(', ')}`
    case 'minLength':
    case 'maxLength':
      return `must have ${keyword === 'minLength' ? 'at least' : 'at most'} ${params['limit']} character${params['limit'] === 1 ? '' : 's'}`
    case 'maxItems':
      return `must have at most ${params['limit']} items`
    case 'minimum':
      return `must be at least ${params['limit']}`
    case 'maximum':
      return `must be at most ${params['limit']}`
    default:
      return message ?? 'is not valid'
  }
}
const article: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

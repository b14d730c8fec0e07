import { formats } from '@lockstep/contract/formats'
import { type ErrorObject, Ajv2020 as Validator } from 'ajv/dist/2020.js'
import type { TObject, TSchema } from 'typebox'
import { Problem } from '../platform/problem.ts'

/** No coercion and no defaults: what is checked is what was sent. */
const validator = new Validator({
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
  strictRequired: false,
  strictTypes: false,
})
for (const [name, { test }] of Object.entries(formats)) validator.addFormat(name, test)

type Fields = Record<string, unknown>
interface FieldError {
  field: string
  message: string
}
/** Nobody reads more, and nobody should make us write more. */
const MAX_ERRORS = 50

/**
 * Reads what a client sent against its schema: keeps the declared fields only, writes UUIDs and enums in their one
 * canonical form, and refuses the rest with a 422 that names the fields and repeats nothing of what was in them.
 */
export function inputReader<T>(schema: TSchema): (value: unknown) => T {
  const check = validator.compile<T>(schema)
  return (value) => {
    const tooLong: FieldError[] = []
    const picked = isFields(value) ? pick(schema as TObject, value, tooLong) : value
    const isValid = check(picked)
    if (isValid && tooLong.length === 0) return picked
    const errors = (check.errors ?? []).map(({ instancePath, ...error }) => ({
      field: fieldOf(instancePath, error),
      message: messageOf(error),
    }))
    throw invalid([...tooLong, ...errors])
  }
}

/** A 422 for inputs that no schema can judge, in the same form. */
export function invalid(errors: FieldError[]): Problem {
  const byField = new Map<string, FieldError>()
  for (const error of errors) if (!byField.has(error.field)) byField.set(error.field, error)
  const unique = [...byField.values()].slice(0, MAX_ERRORS)
  const [first] = unique
  return new Problem('invalid_input', { detail: `${first?.field} ${first?.message}.`, fields: { errors: unique } })
}

/** Query strings carry text only; an integer is what is spelled like one. */
export function readableQuery(schema: TObject, query: Fields): Fields {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const isInteger = (schema.properties[name] as { type?: string } | undefined)?.type === 'integer'
      return [name, isInteger && typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value]
    }),
  )
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The declared fields. Lists and texts that are too long are left out and reported in `tooLong`: their length is checked before
 * their contents, because checking half a million items takes a second.
 */
function pick(schema: TObject, value: Fields, tooLong: FieldError[]): Fields {
  const picked: Fields = {}
  for (const [name, field] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(value, name)) continue
    const excess = excessOf(field, value[name])
    if (excess) tooLong.push({ field: name, message: messageOf(excess) })
    else picked[name] = canonical(field, value[name])
  }
  return picked
}

/** Whether a value is certainly too long. Characters outside the basic plane count once and take two units of a string. */
function excessOf(schema: TSchema, value: unknown): Failure | undefined {
  const { maxItems = Number.POSITIVE_INFINITY, maxLength = Number.POSITIVE_INFINITY, anyOf } = schema as Shape
  if (anyOf) {
    const excesses = anyOf.map((branch) => excessOf(branch, value))
    return excesses.find((excess) => excess !== undefined)
  }
  if (Array.isArray(value) && value.length > maxItems) return tooMuch('maxItems', maxItems)
  if (typeof value === 'string' && value.length > 2 * maxLength) return tooMuch('maxLength', maxLength)
  return undefined
}
const tooMuch = (keyword: string, limit: number) => ({ keyword, params: { limit }, schemaPath: '' })

interface Shape {
  maxItems?: number
  maxLength?: number
  format?: string
  enum?: unknown[]
  items?: TSchema
  anyOf?: TSchema[]
}
function canonical(schema: TSchema, value: unknown): unknown {
  const { format, enum: members, items, anyOf } = schema as Shape
  if (anyOf) return anyOf.reduce<unknown>((result, branch) => canonical(branch, result), value)
  if (items && Array.isArray(value)) return value.map((item) => canonical(items, item))
  if (typeof value !== 'string') return value
  if (format === 'uuid') return value.toLowerCase()
  return members?.find((m) => typeof m === 'string' && m.toLowerCase() === value.toLowerCase()) ?? value
}

type Failure = Omit<ErrorObject, 'instancePath'>

function fieldOf(path: string, { keyword, params }: Failure): string {
  const parts = path.split('/').slice(1)
  if (keyword === 'required') parts.push(params['missingProperty'] as string)
  return parts.join('.') || 'body'
}

function messageOf({ keyword, params, message }: Failure): string {
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

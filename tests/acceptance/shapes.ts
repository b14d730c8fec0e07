import { show } from './demand.ts'

/** A type of the specification: what fits it, and what of a value it speaks of. */
export interface Shape<T> {
  /** For the compiler alone. */
  readonly fits?: T
  what: string
  complaints: (value: unknown, where: string) => string[]
  /** The value in normal form, without fields that the specification does not name: responses may have more. */
  project: (value: unknown) => unknown
}
export type Of<S> = S extends Shape<infer T> ? T : never

function leaf<T>(what: string, isIt: (value: unknown) => boolean, project = (value: unknown) => value): Shape<T> {
  const complaints = (value: unknown, where: string) => (isIt(value) ? [] : [`${where} is ${show(value)}, not ${what}`])
  return { what, complaints, project }
}
const matches = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value)

export const uuid = leaf<string>('a UUID', matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i))
export const text = leaf<string>('a string', (value) => typeof value === 'string')
export const email = leaf<string>('a string of valid e-mail format', matches(/^[^\s@]+@[^\s@]+\.[^\s@]+$/))
export const integer = leaf<number>('an integer', Number.isInteger)
export const flag = leaf<boolean>('a boolean', (value) => typeof value === 'boolean')
/** Two spellings of one instant are the same. */
export const timestamp = leaf<string>(
  'an ISO 8601 timestamp in UTC',
  matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/),
  (value) => Date.parse(value as string),
)
/** An enum whose wire spelling is the given one or its lower-case form. */
export const oneOf = <T extends string>(...values: T[]) =>
  leaf<T>(
    `one of ${values.join(', ')}`,
    (value) => values.some((v) => v === value || v.toLowerCase() === value),
    (value) => String(value).toUpperCase(),
  )

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return {
    what: `${shape.what} or null`,
    complaints: (value, where) => (value === null ? [] : shape.complaints(value, where)),
    project: (value) => (value === null ? null : shape.project(value)),
  }
}

export function listOf<T>(shape: Shape<T>): Shape<T[]> {
  return {
    what: `a list, each entry ${shape.what}`,
    complaints: (value, where) =>
      Array.isArray(value)
        ? value.flatMap((entry, i) => shape.complaints(entry, `${where}[${i}]`))
        : [`${where} is ${show(value)}, not a list`],
    project: (value) => (Array.isArray(value) ? value.map((entry) => shape.project(entry)) : value),
  }
}

export interface ObjectShape<F extends Fields> extends Shape<{ [K in keyof F]: Of<F[K]> }> {
  fields: F
}
type Fields = Record<string, Shape<unknown>>

/** An object with these fields. It may have others, except for those that are never returned. */
export function object<F extends Fields>(what: string, fields: F, never: string[] = []): ObjectShape<F> {
  const entries = Object.entries(fields)
  return {
    what,
    fields,
    complaints(value, where) {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return [`${where} is ${show(value)}, not ${what}`]
      const record = value as Record<string, unknown>
      return [
        ...entries.flatMap(([name, shape]) =>
          name in record ? shape.complaints(record[name], `${where}.${name}`) : [`${where} has no ${name}`],
        ),
        ...never.filter((name) => name in record).map((name) => `${where} has ${name}`),
      ]
    },
    project: (value) =>
      typeof value === 'object' && value !== null
        ? Object.fromEntries(
            entries.map(([name, shape]) => [name, shape.project((value as Record<string, unknown>)[name])]),
          )
        : value,
  }
}

import { parse as parseQuery } from 'node:querystring'
import type { DocumentedOperation, Field } from './document.ts'
import { fieldsOfMultipart } from './forms.ts'
import type { FuzzRequest } from './requests.ts'

/**
 * The operation of a method and an address. HEAD is treated as GET. A path may start with `/api` or with a scheme and
 * host, and may end with a slash.
 */
export function operationAt(
  operations: readonly DocumentedOperation[],
  { method, target }: Pick<FuzzRequest, 'method' | 'target'>,
): DocumentedOperation | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method
  const path = pathOf(target)
  return operations.find((operation) => {
    const named = operation.method === wanted ? operation.address.exec(path) : null
    return named !== null && fitsAll(operation.pathFields, (name) => decoded(named.groups?.[name]))
  })
}

/** The normalized path: empty for the root. */
export const pathOf = (target: string) =>
  target
    .replace(/[?#].*$/s, '')
    .replace(/^http:\/\/[^/]+/, '')
    .replace(/^\/api(?=\/)/, '')
    .replace(/\/$/, '')

/** The part of a request that does not match the operation, if any. Undocumented parts are ignored. */
export function mismatchOf(
  operation: DocumentedOperation,
  request: FuzzRequest,
): 'query' | 'header' | 'body' | undefined {
  const query = fieldsOf(/[?#](.*)$/s.exec(request.target)?.[1] ?? '')
  if (!fitsAll(operation.queryFields, (name) => query[name])) return 'query'
  if (!fitsAll(operation.headerFields, (name) => headerOf(request, name))) return 'header'
  // With another content type, the bytes are not checked.
  if (operation.body && !request.mutations.has('type') && !fitsBody(operation.body, request)) return 'body'
  return undefined
}

/** Whether all required fields are present and valid. Values are text, which may spell an integer. */
function fitsAll(fields: readonly Field[], given: (name: string) => string | string[] | undefined): boolean {
  return fields.every(({ name, schema, isRequired, isValid }) => {
    const text = given(name)
    if (text === undefined) return !isRequired
    const isInteger = schema.type === 'integer' && /^-?\d+$/.test(String(text))
    return isValid(isInteger ? Number(text) : text)
  })
}

function fitsBody(
  { type, isRequired, isValid }: NonNullable<DocumentedOperation['body']>,
  request: FuzzRequest,
): boolean {
  if (!isRequired && (request.body ?? '').length === 0) return true
  if (!headerOf(request, 'Content-Type')?.startsWith(type)) return false
  const bytes = request.body ?? Buffer.alloc(0)
  try {
    if (type === 'multipart/form-data') return isValid(fieldsOfMultipart(bytes))
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return isValid(withEnums(type === 'application/json' ? JSON.parse(text) : fieldsOf(text)))
  } catch {
    return false
  }
}

/** Enums are accepted in any case, which the document does not say. */
const withEnums = (value: unknown) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      if (typeof field !== 'string') return [key, field]
      if (key === 'role' || key === 'cookie') return [key, field.toLowerCase()]
      return [key, key.endsWith('_type') ? field.toUpperCase() : field]
    }),
  )
}

/** A repeated field is a list, which no schema accepts as text. */
const fieldsOf = (text: string) => parseQuery(text, '&', '=', { maxKeys: 0 })

/** Repeated headers form one list. */
function headerOf({ headers }: FuzzRequest, name: string): string | undefined {
  const values = headers.filter(([each]) => each === name).map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(', ')
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text)
  } catch {
    return undefined
  }
}

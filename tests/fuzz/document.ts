import { readFileSync } from 'node:fs'
import { checkClosed, openCheck } from '@lockstep/testing/closed-schema'

/** As much of JSON Schema as the documents use. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
  maxItems?: number
}
interface Media {
  content?: Record<string, { schema: Schema }>
}
interface Reference {
  $ref: string
}
interface PublishedHeader {
  required?: boolean
}
interface PublishedResponse extends Media {
  headers?: Record<string, Reference | PublishedHeader>
}
interface PublishedOperation {
  operationId: string
  parameters?: { name: string; in: 'path' | 'query' | 'header'; schema: Schema; required?: boolean }[]
  requestBody?: Media & { required?: boolean }
  security?: unknown[]
  responses: Record<string, Reference | PublishedResponse>
  'x-emits'?: string[]
}
export interface Published {
  paths: Record<string, Record<string, PublishedOperation>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, PublishedResponse>
    headers: Record<string, PublishedHeader>
  }
}

export interface Field {
  name: string
  schema: Schema
  isRequired: boolean
  isValid: (value: unknown) => boolean
}
/** A documented response. */
export interface DocumentedResponse {
  media: string | undefined
  /** Its headers in lower case, and whether each is required. */
  headers: Map<string, boolean>
  /** The problem codes behind it. */
  codes: Set<string>
  /** Validates a body. */
  complaint: (body: unknown) => string | undefined
}
/** Operations for superusers. The fuzzer's users are not superusers. */
export const isAdministration = ({ path }: DocumentedOperation) => path.startsWith('/admin/')

/** An operation as the published document describes it: the fuzzer knows nothing else of the service. */
export interface DocumentedOperation {
  id: string
  method: string
  path: string
  /** A pattern of its addresses, with a group for each path parameter. */
  address: RegExp
  pathFields: Field[]
  queryFields: Field[]
  headerFields: Field[]
  body: { type: string; schema: Schema; isRequired: boolean; isValid: (value: unknown) => boolean } | undefined
  isWrite: boolean
  needsCredential: boolean
  responses: Map<number, DocumentedResponse>
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../docs/api/${name}.json`, import.meta.url), 'utf8'))
export const readOpenApi = (): Published => read('openapi') as Published

interface AsyncDocument {
  components: { messages: Record<string, { payload: Schema }>; schemas: Record<string, Schema> }
}
/** For each kind of message in the published document its validator and its schema. */
export function readMessages(): Map<string, { schema: Schema; complaint: (message: unknown) => string | undefined }> {
  const { components } = read('asyncapi') as AsyncDocument
  return new Map(
    Object.entries(components.messages).map(([name, { payload }]) => {
      const schema = resolved(payload, components.schemas)
      return [name, { schema, complaint: closedCheck(schema) }]
    }),
  )
}

/** The operations of a document. */
export function operationsOf({ paths, components }: Published): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, published]) => operationOf(path, method, published, components)),
  )
}

function operationOf(
  path: string,
  method: string,
  {
    operationId: id,
    parameters = [],
    requestBody,
    security = [],
    responses: documented,
    'x-emits': emits,
  }: PublishedOperation,
  components: Published['components'],
): DocumentedOperation {
  const { schemas } = components
  const fieldsIn = (place: string): Field[] =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema: published, required = false }) => {
        const schema = resolved(published, schemas)
        return { name, schema, isRequired: required, isValid: openCheck(schema) }
      })
  const [content] = Object.entries(requestBody?.content ?? {})
  const body = content && { type: content[0], schema: resolved(content[1].schema, schemas) }
  const responses = Object.entries(documented).map(([status, published]) => {
    const { content: media = {}, headers = {} } = follow(published, components.responses)
    const [given] = Object.entries(media)
    const schema = given && resolved(given[1].schema, schemas)
    const response: DocumentedResponse = {
      media: given?.[0],
      headers: new Map(
        Object.entries(headers).map(([name, header]) => [
          name.toLowerCase(),
          follow(header, components.headers).required === true,
        ]),
      ),
      codes: new Set(schema?.allOf?.[1]?.properties?.['code']?.enum as string[] | undefined),
      complaint: schema ? closedCheck(schema) : () => undefined,
    }
    return [Number(status), response] as const
  })
  return {
    id,
    method: method.toUpperCase(),
    path,
    address: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
    pathFields: fieldsIn('path'),
    queryFields: fieldsIn('query'),
    headerFields: fieldsIn('header'),
    body: body && { ...body, isRequired: requestBody?.required === true, isValid: openCheck(body.schema) },
    isWrite: emits !== undefined,
    needsCredential: security.length > 0,
    responses: new Map(responses),
  }
}

/** A component by its reference; anything else as it is. */
function follow<T extends object>(value: Reference | T, components: Record<string, T>): T {
  if (!('$ref' in value)) return value
  const name = value.$ref.split('/').at(-1) ?? ''
  return components[name] ?? fail(name)
}

/** The schema with everything that it refers to written out. */
function resolved(schema: Schema, schemas: Record<string, Schema>): Schema {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    const name = (value as Schema).$ref?.split('/').at(-1)
    if (name !== undefined) return walk(schemas[name] ?? fail(name))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner)]))
  }
  return walk(schema) as Schema
}
const fail = (name: string): never => {
  throw new Error(`The document refers to ${name}, which it does not have`)
}

/** Nothing is allowed that is not documented: a field that leaks is wrong too. */
const closedCheck = (schema: Schema) => (value: unknown) => {
  try {
    checkClosed(schema, value, 'the body')
    return undefined
  } catch (error) {
    return (error as Error).message.slice(0, 400)
  }
}

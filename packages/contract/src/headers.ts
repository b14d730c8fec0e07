import { Bytes, isPaged, type Operation } from './operation.ts'

/** Whether every response with this status has the header, or only some. */
type Presence = 'always' | 'sometimes'
interface ResponseHeader {
  description: string
  schema: object
  example: string | number
  /** For a status of an operation; undefined if no such response has it. */
  on: (operation: Operation, status: number) => Presence | undefined
}

const when = (isSo: boolean, presence: Presence = 'always') => (isSo ? presence : undefined)
const text = { type: 'string' }
const isSuccess = (status: number) => status < 400
export const isFile = ({ returns }: Operation) => returns.schema === Bytes
/** Whether a GET supports `If-None-Match`. */
export const isConditional = ({ method, access }: Operation) => method === 'GET' && access !== 'public'
/** The resources that can be read by their id. */
const readable: ReadonlySet<string> = new Set(['board', 'card', 'attachment'])
/** Whether the response has the position of the board: changes, the full board and its log. */
const hasPosition = ({ emits, method, path }: Operation) =>
  emits !== undefined || (method === 'GET' && ['/boards/{board_id}', '/boards/{board_id}/events'].includes(path))

/**
 * The headers of responses, for the API document. A header that the service sends and that is neither here nor in
 * `undocumentedHeaders` fails the tests.
 */
export const responseHeaders: Record<string, ResponseHeader> = {
  'X-Request-Id': {
    description: 'Identifies the request in the log of the service.',
    schema: text,
    example: '3f0c6a1e-8f5d-4f0b-9a53-0f6f3f1c2b7d',
    on: () => 'always',
  },
  ETag: {
    description: 'The version of the returned resource, for `If-Match` and `If-None-Match`.',
    schema: text,
    example: '"rVd3Qm1ZbWx0c0lY"',
    // A long list of boards is sent while it is read, so its version is not known in advance.
    on: (operation, status) =>
      isSuccess(status) && operation.path === '/boards' && operation.method === 'GET' && status === 200
        ? 'sometimes'
        : when(isSuccess(status) && (isConditional(operation) || (operation.emits !== undefined && status !== 204))),
  },
  'Cache-Control': {
    description: 'Whether the response may be stored: `no-store` if it contains a secret or a problem.',
    schema: text,
    example: 'private, no-cache',
    on: ({ method, is_secret }, status) => when(!isSuccess(status) || method === 'GET' || is_secret === true),
  },
  'Board-Position': {
    description: 'The position of the board: `<epoch>.<seq>`.',
    schema: text,
    example: '1.42',
    on: (operation, status) => when(isSuccess(status) && hasPosition(operation)),
  },
  'Idempotent-Replayed': {
    description: '`true`: the request was a retry, and this is the response of the first one.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
    on: ({ emits }, status) => when(isSuccess(status) && emits !== undefined, 'sometimes'),
  },
  Link: {
    description: 'The next page, if there is one: `<path?query>; rel="next"`.',
    schema: text,
    example: '</boards/01a0c5f2-7d00-7000-8000-000000000001/events?limit=100&cursor=1.42>; rel="next"',
    on: (operation, status) => when(isSuccess(status) && isPaged(operation), 'sometimes'),
  },
  Location: {
    description: 'The path of the resource that was created.',
    schema: text,
    example: '/cards/01a0c5f2-7d00-7000-8000-000000000001',
    on: ({ effect }, status) => when(status === 201 && effect?.verb === 'create' && readable.has(effect.on)),
  },
  Deprecation: {
    description: 'A parameter of the request is deprecated since this time (RFC 9745).',
    schema: text,
    example: '@1794873600',
    on: ({ deprecated }) => when(deprecated !== undefined, 'sometimes'),
  },
  'Preference-Applied': {
    description: '`handling=strict`, if the request asked for it: unknown fields are rejected.',
    schema: { type: 'string', enum: ['handling=strict'] },
    example: 'handling=strict',
    on: () => 'sometimes',
  },
  'RateLimit-Policy': {
    description: 'The rate limit that the request counts against, if limits are on.',
    schema: text,
    example: '"request";q=600;w=60',
    on: ({ access }, status) => when(status === 429 || (access !== 'public' && status !== 401), 'sometimes'),
  },
  RateLimit: {
    description: 'What is left of this limit, and the seconds until it is full again.',
    schema: text,
    example: '"request";r=599;t=60',
    on: ({ access }, status) => when(status === 429 || (access !== 'public' && status !== 401), 'sometimes'),
  },
  'Set-Cookie': {
    description: 'Sets or clears the cookie `svc_auth`.',
    schema: text,
    example: 'svc_auth=; Path=/; HttpOnly; SameSite=Lax',
    on: () => undefined,
  },
  'Content-Disposition': {
    description: 'Always `attachment`, with the name of the file.',
    schema: text,
    example: 'attachment; filename="plan.txt"',
    on: (operation, status) => when(isFile(operation) && [200, 206].includes(status)),
  },
  'Accept-Ranges': {
    description: 'The unit of `Range`.',
    schema: text,
    example: 'bytes',
    on: (operation, status) => when(isFile(operation) && [200, 206].includes(status)),
  },
  'Content-Range': {
    description: 'The range of the file that is sent, and the size of the file.',
    schema: text,
    example: 'bytes 0-99/1234',
    on: (operation, status) => when(isFile(operation) && [206, 416].includes(status)),
  },
  'WWW-Authenticate': {
    description: 'The scheme of the credential that is missing or invalid.',
    schema: text,
    example: 'Bearer',
    on: (_operation, status) => when(status === 401),
  },
  'Retry-After': {
    description: 'The seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 1 },
    example: 5,
    on: (_operation, status) => when(status === 429 || status === 503),
  },
}

/** The headers of a response of an operation, and whether every such response has them. */
export function headersOf(operation: Operation, status: number): Map<string, Presence> {
  const found = Object.entries(responseHeaders).map(([name, { on }]) => {
    const isOwn = isSuccess(status) && operation.headers?.some((own) => own === name)
    return [name, on(operation, status) ?? when(isOwn === true, 'sometimes')] as const
  })
  return new Map(found.filter((entry): entry is [string, Presence] => entry[1] !== undefined))
}

/** Headers of HTTP, of connections and of browsers' security, which clients of the API do not read. In lower case. */
export const undocumentedHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'date', 'keep-alive', 'transfer-encoding', 'vary'],
  // The media type and the length describe the content, which the document describes elsewhere.
  ...['content-encoding', 'content-length', 'content-type'],
  ...['access-control-allow-credentials', 'access-control-allow-origin', 'access-control-expose-headers'],
  ...['content-security-policy', 'cross-origin-resource-policy', 'referrer-policy', 'strict-transport-security'],
  ...['x-content-type-options', 'x-frame-options'],
])

import { Components, type Json } from './components.ts'
import { operations } from './index.ts'
import { Bytes, type Operation, tags, tokenRequirementOf } from './operation.ts'
import { type ProblemCode, problems } from './problems.ts'

const description = `Shared task boards in real time: all members see the same board, in the same order.

The response to every change has the board's position (\`Board-Position\`), and every change is pushed to all clients of the board.
Every error is a JSON object with a sentence in \`detail\` and a stable \`code\`. Every change of a board accepts an \`Idempotency-Key\`, so
that it can be retried when its response was lost; every create operation accepts an \`id\` that the client has generated.

The WebSocket has its own [reference](/redoc/realtime) and a [console](/docs/realtime).`

const Problem = {
  type: 'object',
  title: 'Problem',
  required: ['detail', 'code'],
  properties: {
    detail: { type: 'string', description: 'A sentence for people.' },
    code: { type: 'string', description: 'A stable code for programs.' },
    current: { type: 'object', description: 'With `precondition_failed`: the current resource.' },
    errors: {
      type: 'array',
      description: 'With `invalid_input`: all invalid fields.',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

const acceptsIfMatch = ({ method, emits }: Operation) =>
  emits !== undefined && (method === 'PATCH' || method === 'DELETE')

/** The problems that an operation can return: those that follow from its properties, and those that it lists. */
export function problemsOf(operation: Operation): ProblemCode[] {
  const { method, path, tag, access, params, query, problems: named = [], emits } = operation
  const isBoard = typeof access !== 'string'
  const isLimited = isBoard && method !== 'DELETE' && emits !== undefined
  const isLogged = isLimited && emits.length > 0
  const implied: (ProblemCode | false)[] = [
    access !== 'public' && 'not_authenticated',
    access !== 'public' && 'foreign_origin',
    isBoard && `${access.on}_not_found`,
    isBoard && 'not_a_member',
    access !== 'public' && 'token_scope',
    access !== 'public' && tokenRequirementOf(operation) !== 'never' && 'token_board',
    access === 'superuser' && 'superuser_only',
    (access === 'superuser' || tag === 'tokens') && 'not_found',
    isBoard && access.role === 'owner' && 'role_too_low',
    isBoard && emits !== undefined && !access.when_archived && 'board_archived',
    isBoard && access.author === 'only' && 'not_the_author',
    access !== 'public' && 'too_many_requests',
    (method !== 'GET' || (params ?? query) !== undefined) && 'invalid_input',
    'unknown_field',
    method !== 'GET' && 'body_too_large',
    emits !== undefined && 'idempotency_key_reused',
    emits !== undefined && 'board_busy',
    isLimited && 'board_log_limit',
    isLogged && !path.endsWith('/move') && 'board_text_limit',
    isLogged && 'change_too_large',
    acceptsIfMatch(operation) && 'precondition_failed',
    tag !== 'health' && 'overloaded',
    method !== 'GET' && 'storage_full',
    tag !== 'health' && 'query_timeout',
    tag !== 'health' && 'result_too_large',
    'unavailable',
  ]
  return [...new Set([...implied.filter((code) => code !== false), ...named])]
}

/** The OpenAPI 3.1 document: a pure function of the contract. */
export function openApi(): Json {
  const components = new Components()
  const paths: Record<string, Json> = {}
  for (const [name, operation] of Object.entries(operations)) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(name, operation, components),
    }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Lockstep',
      version: '0.1.0',
      description,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...components.schemas, Problem },
      securitySchemes: {
        password: { type: 'oauth2', flows: { password: { tokenUrl: '/auth/login', scopes: {} } } },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token of a login, or an access token (`lsp_…`, `lsb_…`) with the scope `x-token-scope`.',
        },
        cookie: { type: 'apiKey', in: 'cookie', name: 'svc_auth' },
      },
    },
  }
}

function describe(operationId: string, operation: Operation, components: Components): Json {
  const { tag, summary, description, access, params, query, deprecated, body, body_type, returns, emits } = operation
  const parameters = [
    ...parametersOf('path', params, components),
    ...parametersOf('query', query, components, deprecated),
    ...(emits ? [idempotencyKey] : []),
    ...(acceptsIfMatch(operation) ? [ifMatch] : []),
    ...(isConditional(operation) ? [ifNoneMatch] : []),
    ...(isFile(operation) ? [range] : []),
  ]
  const mediaType = mediaTypes[body_type ?? 'json']
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: access === 'public' ? [] : [{ password: [] }, { bearer: [] }, { cookie: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { [mediaType]: { schema: components.reference(body) } } } }),
    responses: {
      [returns.status]: success(operation, components),
      ...(isFile(operation) && { 206: { ...success(operation, components), description: 'The requested range' } }),
      ...(isConditional(operation) && { 304: { description: 'Not modified' } }),
      ...failures(operation, components),
    },
    ...(access !== 'public' && { 'x-token-scope': tokenScopeOf(operation) }),
    ...(emits && { 'x-emits': emits }),
  }
}

/** The scope that an access token needs; `never` if none is enough. */
function tokenScopeOf(operation: Operation) {
  const requirement = tokenRequirementOf(operation)
  return requirement === 'never' ? requirement : requirement.scope
}

const mediaTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  upload: 'multipart/form-data',
}
const isFile = ({ returns }: Operation) => returns.schema === Bytes
const isConditional = ({ method, access }: Operation) => method === 'GET' && access !== 'public'

const header = (name: string, description: string) => ({ name, in: 'header', description, schema: { type: 'string' } })
const ifMatch = header('If-Match', 'An ETag. Returns 412 when the resource has changed since.')
const ifNoneMatch = header('If-None-Match', 'An ETag. Returns 304 when the resource has not changed since.')
const range = header('Range', 'A range of bytes, as `bytes=<first>-<last>`.')

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes the request safe to retry: for 24 hours a retry returns the response of the first request.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function parametersOf(
  place: 'path' | 'query',
  schema: Operation['params'],
  components: Components,
  deprecated: Operation['deprecated'] = {},
): Json[] {
  const required = new Set(schema?.required ?? [])
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
    name,
    in: place,
    required: required.has(name),
    ...(name in deprecated && { deprecated: true }),
    schema: components.reference(field),
  }))
}

function success(operation: Operation, components: Components): Json {
  const { returns, emits, method, path } = operation
  const hasPosition = emits !== undefined || (method === 'GET' && path === '/boards/{board_id}')
  const hasTag = isConditional(operation) || (emits !== undefined && returns.status !== 204)
  return {
    description: returns.status === 201 ? 'Created' : returns.status === 204 ? 'Done' : 'OK',
    ...((hasPosition || hasTag) && { headers: { ...(hasPosition && boardPosition), ...(hasTag && etag) } }),
    ...(returns.status !== 204 && {
      content: { [isFile(operation) ? '*/*' : 'application/json']: { schema: components.reference(returns.schema) } },
    }),
  }
}

const boardPosition = {
  'Board-Position': { description: 'The position of the board: `<epoch>.<seq>`.', schema: { type: 'string' } },
}
const etag = { ETag: { description: 'The version of the returned resource.', schema: { type: 'string' } } }

/** One entry for each status, with its problem codes. */
function failures(operation: Operation, components: Components): Json {
  const { unavailable_fields: extra } = operation
  const problem = { $ref: '#/components/schemas/Problem' }
  const byStatus = Map.groupBy(problemsOf(operation), (code) => problems[code].status)
  const entries = [...byStatus].sort(([a], [b]) => a - b)
  return Object.fromEntries(
    entries.map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${problems[code].detail}`).join('\n\n'),
        content: {
          'application/json': {
            schema: status === 503 && extra ? { allOf: [problem, components.reference(extra)] } : problem,
          },
        },
      },
    ]),
  )
}

import { Components, type Json } from './components.ts'
import recorded from './examples.gen.json' with { type: 'json' }
import { headersOf, isConditional, isFile, responseHeaders } from './headers.ts'
import { operations } from './index.ts'
import { isBodyRequired, type Operation, tags, tokenRequirementOf } from './operation.ts'
import { type ProblemCode, problems } from './problems.ts'
import { describeWebhooks } from './webhook-messages.ts'

const description = `Shared task boards in real time: all members see the same board, in the same order.

The response to every change has the board's position (\`Board-Position\`), and every change is pushed to all clients of the board.
Every error is a JSON object with a sentence in \`detail\` and a stable \`code\`. Every change of a board accepts an \`Idempotency-Key\`, so
that it can be retried when its response was lost; every create operation accepts an \`id\` that the client has generated.
A method that a path does not support gets 405 with \`Allow\`.

The WebSocket has its own [reference](/redoc/realtime) and a [console](/docs/realtime).`

const ProblemCodes = { type: 'string', enum: Object.keys(problems), description: 'A stable code for programs.' }
const Problem = {
  type: 'object',
  title: 'Problem',
  required: ['detail', 'code'],
  properties: {
    detail: { type: 'string', description: 'A sentence for people.' },
    code: { $ref: '#/components/schemas/ProblemCode' },
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
/** What some problems have besides `detail` and `code`. */
const problemDetails: { [C in ProblemCode]?: Json } = {
  invalid_input: {
    detail: 'title must contain a visible character.',
    errors: [{ field: 'title', message: 'must contain a visible character' }],
  },
}

/** The examples that a test records from the service (`tests/api-examples.test.ts`). */
interface Examples {
  operations: Record<string, { request?: unknown; responses: Record<string, unknown> }>
  messages: Record<string, Json>
}
export const examples: Examples = recorded

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
export function openApi(revision?: string): Json {
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
      version: '0.2.0',
      ...(revision !== undefined && { 'x-revision': revision }),
      description,
      contact: { name: 'The operator of this service' },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that this document comes from.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: describeWebhooks(components, (kind) => withoutSeq(examples.messages[kind])),
    components: {
      schemas: { ...components.schemas, Problem, ProblemCode: ProblemCodes },
      responses: components.responses,
      headers: Object.fromEntries(Object.keys(responseHeaders).map((name) => [name, describeHeader(name)])),
      examples: problemExamples,
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
    prefer,
  ]
  const { request } = examples.operations[operationId] ?? {}
  const content = body && { schema: components.named(bodyName(operationId), body), ...exampleOf(request) }
  const answer = (status: number, description: string) =>
    success(operationId, operation, status, description, components)
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: access === 'public' ? [] : [{ password: [] }, { bearer: [] }, { cookie: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(content && {
      requestBody: { required: isBodyRequired(operation), content: { [mediaTypes[body_type ?? 'json']]: content } },
    }),
    responses: {
      [returns.status]: answer(
        returns.status,
        returns.status === 201 ? 'Created' : returns.status === 204 ? 'Done' : 'OK',
      ),
      ...(isFile(operation) && { 206: answer(206, 'The requested range') }),
      ...(isConditional(operation) && { 304: { description: 'Not modified', headers: headers(operation, 304) } }),
      ...failures(operation, components),
    },
    ...tokenProperties(operation),
    ...(emits && { 'x-emits': emits }),
  }
}

const bodyName = (operationId: string) => `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Body`
const exampleOf = (value: unknown) => (value === undefined ? {} : { example: value })
/** An event as webhooks receive it: the position is elsewhere. */
const withoutSeq = (event: Json = {}): Json =>
  Object.fromEntries(Object.entries(event).filter(([name]) => name !== 'seq'))

/** The scope that an access token needs, and whether a token of one board is enough. `never`: no token; `none`: no credential. */
function tokenProperties(operation: Operation): Json {
  if (operation.access === 'public') return { 'x-token-scope': 'none' }
  const requirement = tokenRequirementOf(operation)
  if (requirement === 'never') return { 'x-token-scope': 'never' }
  return { 'x-token-scope': requirement.scope, 'x-board-tokens': requirement.board_tokens }
}

const mediaTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  upload: 'multipart/form-data',
}

const header = (name: string, description: string) => ({ name, in: 'header', description, schema: { type: 'string' } })
const ifMatch = header('If-Match', 'An ETag. Returns 412 when the resource has changed since.')
const ifNoneMatch = header('If-None-Match', 'An ETag. Returns 304 when the resource has not changed since.')
const prefer = header(
  'Prefer',
  '`handling=strict` rejects unknown fields and query parameters with 422 `unknown_field`.',
)
const range = header('Range', 'A range of bytes, as `bytes=<first>-<last>`.')

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes the request safe to retry: for 24 hours a retry returns the response of the first request.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

export function parametersOf(
  place: 'path' | 'query',
  schema: Operation['params'],
  components: Components,
  deprecated: Operation['deprecated'] = {},
): Json[] {
  const required = new Set(schema?.required ?? [])
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => {
    const { description, ...written } = components.reference(field)
    return {
      name,
      in: place,
      required: required.has(name),
      ...(description !== undefined && { description }),
      ...(name in deprecated && { deprecated: true }),
      schema: written,
    }
  })
}

function success(
  name: string,
  operation: Operation,
  status: number,
  description: string,
  components: Components,
): Json {
  const content = {
    schema: components.reference(operation.returns.schema),
    ...exampleOf(examples.operations[name]?.responses[status]),
  }
  return {
    description,
    headers: headers(operation, status),
    ...(status !== 204 && { content: { [isFile(operation) ? '*/*' : 'application/json']: content } }),
  }
}

/** Headers that some response always has. The others are optional everywhere. */
const required = new Set(
  Object.values<Operation>(operations).flatMap((operation) =>
    [operation.returns.status, 206, 304, ...problemsOf(operation).map((code) => problems[code].status)].flatMap(
      (status) =>
        [...headersOf(operation, status)].filter(([, presence]) => presence === 'always').map(([name]) => name),
    ),
  ),
)
function describeHeader(name: string, isRequired = required.has(name)): Json {
  const { description, schema, example } = responseHeaders[name] as (typeof responseHeaders)[string]
  return { description, ...(isRequired && { required: true }), schema, example }
}

function headers(operation: Operation, status: number): Json {
  const entries = [...headersOf(operation, status)].map(([name, presence]) => {
    const isShared = required.has(name) === (presence === 'always')
    return [name, isShared ? { $ref: `#/components/headers/${name}` } : describeHeader(name, false)]
  })
  return Object.fromEntries(entries)
}

const problem = { $ref: '#/components/schemas/Problem' }

type Status = (typeof problems)[ProblemCode]['status']
const statusNames: Record<Status, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  414: 'UriTooLong',
  416: 'RangeNotSatisfiable',
  417: 'ExpectationFailed',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
}

/** One entry for each status, with the codes that this operation can return. */
function failures(operation: Operation, components: Components): Json {
  const byStatus = Map.groupBy(problemsOf(operation), (code) => problems[code].status)
  const entries = [...byStatus].sort(([a], [b]) => a - b)
  return Object.fromEntries(
    entries.map(([status, codes]) => {
      const fields = status === 503 ? operation.unavailable_fields : undefined
      const codesOfStatus = { type: 'object', properties: { code: { type: 'string', enum: codes } } }
      const [first] = codes as [ProblemCode]
      const content = {
        schema: { allOf: [problem, codesOfStatus, ...(fields ? [components.reference(fields)] : [])] },
        ...(!fields && { examples: { [first]: { $ref: `#/components/examples/${first}` } } }),
      }
      const response = {
        description: codes.map((code) => `\`${code}\`: ${problems[code].detail}`).join('\n\n'),
        headers: headers(operation, status),
        content: { 'application/json': content },
      }
      return [status, components.response(statusNames[status], response)]
    }),
  )
}

/** The first code of each status of each operation. */
const problemExamples = Object.fromEntries(
  [...new Set(Object.values<Operation>(operations).flatMap(firstCodes))].map((code) => {
    const { detail } = problems[code]
    return [code, { summary: detail, value: { detail, code, ...problemDetails[code] } }]
  }),
)
function firstCodes(operation: Operation): ProblemCode[] {
  const byStatus = Map.groupBy(problemsOf(operation), (code) => problems[code].status)
  return [...byStatus]
    .filter(([status]) => status !== 503 || !operation.unavailable_fields)
    .map(([, [first]]) => first as ProblemCode)
}

import { Components, type Json } from './components.ts'
import { operations } from './index.ts'
import { type Operation, tags } from './operation.ts'
import { type ProblemCode, problems } from './problems.ts'

const description = `Shared task boards on which everyone sees the same board, in the same order, always.

Every change answers with the board's position (\`Board-Position\`), and is pushed to everybody on the board. Every error is a
JSON object with a sentence in \`detail\` and a stable \`code\`. Every write accepts an \`Idempotency-Key\`, so that it can be
sent again when its answer was lost; every create accepts an \`id\` of your own making.`

const Problem = {
  type: 'object',
  title: 'Problem',
  required: ['detail', 'code'],
  properties: {
    detail: { type: 'string', description: 'A sentence for a person.' },
    code: { type: 'string', description: 'A stable name for a program.' },
    errors: {
      type: 'array',
      description: 'With `invalid_input`: every field that is wrong.',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

/** The problems an operation can answer with: those that follow from what it is, and those that it names. */
export function problemsOf({ method, access, params, query, problems: named = [], emits }: Operation): ProblemCode[] {
  const isBoard = typeof access !== 'string'
  const implied: (ProblemCode | false)[] = [
    access !== 'public' && 'not_authenticated',
    access !== 'public' && 'foreign_origin',
    isBoard && `${access.on}_not_found`,
    isBoard && 'not_a_member',
    isBoard && access.role === 'owner' && 'role_too_low',
    (method !== 'GET' || (params ?? query) !== undefined) && 'invalid_input',
    method !== 'GET' && 'body_too_large',
    emits !== undefined && 'idempotency_key_reused',
    emits !== undefined && 'board_busy',
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
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'svc_auth' },
      },
    },
  }
}

function describe(operationId: string, operation: Operation, components: Components): Json {
  const { tag, summary, description, access, params, query, body, body_type, returns, emits } = operation
  const parameters = [
    ...parametersOf('path', params, components),
    ...parametersOf('query', query, components),
    ...(emits ? [idempotencyKey] : []),
  ]
  const mediaType = body_type === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: access === 'public' ? [] : [{ password: [] }, { bearer: [] }, { cookie: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { [mediaType]: { schema: components.reference(body) } } } }),
    responses: { [returns.status]: success(operation, components), ...failures(operation) },
    ...(emits && { 'x-emits': emits }),
  }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes the request safe to send again: for 24 hours it is answered as the first time.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function parametersOf(place: 'path' | 'query', schema: Operation['params'], components: Components): Json[] {
  const required = new Set(schema?.required ?? [])
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
    name,
    in: place,
    required: required.has(name),
    schema: components.reference(field),
  }))
}

function success({ returns, emits, method, path }: Operation, components: Components): Json {
  const hasPosition = emits !== undefined || (method === 'GET' && path === '/boards/{board_id}')
  return {
    description: returns.status === 201 ? 'Created' : returns.status === 204 ? 'Done' : 'OK',
    ...(hasPosition && {
      headers: {
        'Board-Position': { description: 'The state of the board: `<epoch>.<seq>`.', schema: { type: 'string' } },
      },
    }),
    ...(returns.status !== 204 && {
      content: { 'application/json': { schema: components.reference(returns.schema) } },
    }),
  }
}

/** One entry for each status, naming the codes behind it. */
function failures(operation: Operation): Json {
  const byStatus = Map.groupBy(problemsOf(operation), (code) => problems[code].status)
  const entries = [...byStatus].sort(([a], [b]) => a - b)
  return Object.fromEntries(
    entries.map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${problems[code].detail}`).join('\n\n'),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

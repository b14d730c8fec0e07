import { operations } from '@lockstep/contract'
import { FullBoard } from '@lockstep/contract/boards'
import {
  type BoardAccess,
  isBodyRequired,
  isList,
  type Operation,
  type TokenRequirement,
  tokenRequirementOf,
} from '@lockstep/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TObject } from 'typebox'
import type { CoreServices } from '../core/change-board.ts'
import type { ByteBudget } from '../platform/byte-budget.ts'
import type { Clock } from '../platform/clock.ts'
import type { AccessTokens } from '../security/access-tokens.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import type { Tokens } from '../security/tokens.ts'
import type { Admission } from './admission.ts'
import type { ReceivedUpload, UploadStore } from './files/upload.ts'
import type { AnyHandler } from './handler.ts'
import type { ResourceReaders } from './precondition.ts'
import { bodyLimitOf, readBody } from './request-body.ts'
import { inputReader, readableQuery, requireKnownFields } from './validation.ts'

/** What routes depend on. */
export interface RouteDeps {
  core: CoreServices
  uploads: UploadStore
  tokens: Tokens
  /** Undefined when access tokens are turned off. */
  accessTokens: AccessTokens | undefined
  limits: RateLimits
  isOwnOrigin: (request: FastifyRequest) => boolean
  /** How each resource is read, for `If-Match`. */
  resourceReaders: ResourceReaders
  /** For the timeout of bodies. */
  clock: Clock
  admission: Admission
  /** What each user may read and write in large pieces. */
  budget: ByteBudget
}

/** An operation of the contract with everything that can be prepared before the first request. */
export interface Route {
  deps: RouteDeps
  operation: Operation
  handler: AnyHandler
  boardAccess: BoardAccess | undefined
  /** What an access token needs. */
  required: TokenRequirement | 'never'
  isWrite: boolean
  isUpload: boolean
  /** The largest body, in bytes. */
  bodyLimit: number
  /** Whether it returns the full board. */
  isLoad: boolean
  isList: boolean
  /** Path parameters; throws 422. */
  readParams: (request: FastifyRequest) => Record<string, string>
  /** Query and body; throws 422. Sets the headers about a preference and about deprecated parameters. */
  readInput: (
    request: FastifyRequest,
    reply: FastifyReply,
    upload?: ReceivedUpload,
  ) => { query: unknown; body: unknown }
  /** The path at which a created resource can be read, up to its id. */
  readPath: string | undefined
}

export function compileRoute(deps: RouteDeps, operation: Operation, handler: AnyHandler): Route {
  const { access, params, query, body, body_type = 'json', returns, emits } = operation
  const readParams = params && inputReader<Record<string, string>>(params)
  const readQuery = query && inputReader(query)
  const fields = body_type === 'upload' ? withoutFile(body as TObject) : body
  const readFields = fields && inputReader(fields)
  const needsBody = isBodyRequired(operation)
  return {
    deps,
    operation,
    handler,
    boardAccess: typeof access === 'string' ? undefined : access,
    required: tokenRequirementOf(operation),
    isWrite: emits !== undefined,
    isUpload: body_type === 'upload',
    bodyLimit: bodyLimitOf(operation),
    isLoad: returns.schema === FullBoard,
    isList: isList(operation),
    readParams: (request) => readParams?.(request.params) ?? {},
    readPath: readPathOf(operation),
    readInput: (request, reply, upload) => {
      const sent = {
        query: request.query as Record<string, unknown>,
        body: upload ? upload.fields : fields && readBody(request, body_type as 'json' | 'form', needsBody),
      }
      if (isStrict(request)) {
        reply.header('preference-applied', 'handling=strict')
        requireKnownFields({ query, body: fields }, sent)
      }
      setDeprecation(operation, sent.query, reply)
      const read = readFields?.(sent.body)
      return {
        query: readQuery?.(readableQuery(query as TObject, sent.query)) ?? {},
        body: upload ? { ...(read as object), file: upload.file } : read,
      }
    },
  }
}

/** Whether the client wants unknown fields to be rejected (RFC 7240). */
const isStrict = ({ headers: { prefer = '' } }: FastifyRequest) =>
  /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:[;,]|$)/i.test(String(prefer))

/** Sets `Deprecation` (RFC 9745) when the request has a deprecated parameter. */
function setDeprecation({ deprecated = {} }: Operation, query: Record<string, unknown>, reply: FastifyReply) {
  const [day] = Object.keys(deprecated)
    .filter((name) => name in query)
    .map((name) => deprecated[name] as string)
  if (day !== undefined) reply.header('deprecation', `@${Date.parse(day) / 1_000}`)
}

/** For `Location`: the path of the operation that reads what this one creates, without the id, if there is one. */
function readPathOf({ effect }: Operation): string | undefined {
  if (effect?.verb !== 'create') return undefined
  const id = `{${effect.on}_id}`
  const read = Object.values<Operation>(operations).find(
    ({ method, path }) => method === 'GET' && path.endsWith(`/${id}`),
  )
  return read?.path.slice(0, -id.length)
}

/** The file of an upload is not a field: it is streamed. */
const withoutFile = (body: TObject) => Type.Omit(body, ['file'])

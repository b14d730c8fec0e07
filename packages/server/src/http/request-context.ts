import type { BoardAccess } from '@lockstep/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type AccessCheck,
  type AccessRequest,
  type BoardGrant,
  checkAccess,
  requireTokenBoard,
} from '../core/authorize.ts'
import type { Credential, TokenCredential } from '../security/tokens.ts'
import { slotOf } from './admission.ts'
import { authenticate } from './authenticate.ts'
import type { Route } from './route.ts'
import { invalid } from './validation.ts'

/** What is known of a request before its body is read. The log line of a rejected request uses it too. */
export interface RequestContext {
  params: Record<string, string>
  accessRequest: AccessRequest
  /** Missing until it was read. */
  access?: AccessCheck
  /** For operations on a board. Missing on a retry, which gets its stored response whatever became of the board. */
  grant?: BoardGrant
}

const CONTEXT = Symbol('context')
type RequestWithContext = FastifyRequest & { [CONTEXT]?: RequestContext }
/** The context of an authenticated request. Public operations have none. */
export const contextOf = (request: RequestWithContext) => request[CONTEXT]

/**
 * Authenticates and authorizes a request, before its body is read. The order of rejections is part of the API: 401, 403 of the
 * scope of an access token, 422 of the path, 404, 403, 409 of an archived board, 429, 422 of the Idempotency-Key.
 */
export async function authorizeRequest(route: Route, request: RequestWithContext, reply: FastifyReply) {
  const { deps } = route
  const credential = await authenticate(request, deps)
  if (credential.token_id !== undefined) watchTokenUse(route, credential, reply)
  await deps.admission.enter(request, reply, credential.user_id, { isUser: true })
  await slotOf(request)?.run(() => authorizeUser(route, request, reply, credential))
}

async function authorizeUser(route: Route, request: RequestWithContext, reply: FastifyReply, credential: Credential) {
  const { deps, operation, boardAccess, required } = route
  const { user_id } = credential
  const path = attempt(() => route.readParams(request))
  const key = attempt(() => (route.isWrite ? idempotencyKeyOf(request) : null))
  const accessRequest: AccessRequest = {
    credential,
    required,
    key: key.value ?? null,
    ...(route.isWrite && { isChange: true }),
    ...accessTarget(boardAccess, path.value, route.isLoad),
  }
  const context: RequestContext = { params: path.value ?? {}, accessRequest }
  request[CONTEXT] = context
  const [access, { excess, headers }] = await Promise.all([
    checkAccess(deps.core.database, accessRequest),
    deps.limits.request(user_id, request.ip),
  ])
  if (headers) reply.headers(headers)
  if (path.problem) throw path.problem
  if (operation.access === 'superuser') access.requireSuperuser()
  authorizeContext(route, context, access)
  if (excess) throw excess
  deps.budget.require(user_id)
  if (key.problem) throw key.problem
}

/** When the request ends, also by a closed connection, notes the use of an access token, or that it is not valid anymore. */
function watchTokenUse({ deps }: Route, { token_id, token_hash }: TokenCredential, reply: FastifyReply) {
  reply.raw.once('close', () => {
    if (reply.raw.headersSent && reply.statusCode === 401) deps.accessTokens?.forget(token_hash)
    else deps.accessTokens?.markUsed(token_id)
  })
}

/** Throws 404, 403 or 409 (archived board) unless the user is authorized. */
function authorizeContext({ boardAccess }: Route, context: RequestContext, access: AccessCheck) {
  context.access = access
  const { board_id } = context.params
  if (!boardAccess && board_id !== undefined) requireTokenBoard(access.caller.token, board_id)
  if (!boardAccess || access.storedResponse) return
  context.grant = access.authorize()
}

/** What the operation accesses. Without valid path parameters only the user is checked. */
function accessTarget(
  boardAccess: BoardAccess | undefined,
  params: Record<string, string> | undefined,
  isLoad: boolean,
): Omit<AccessRequest, 'credential' | 'key' | 'required'> {
  if (!params) return { targetId: null }
  const selfId = params['user_id']
  return {
    targetId: (boardAccess && params[`${boardAccess.on}_id`]) ?? null,
    ...(isLoad && { isLoad }),
    ...(boardAccess && { access: boardAccess }),
    ...(selfId && { selfId }),
  }
}

/** Runs a check whose rejection must wait for a check that precedes it. */
function attempt<T>(read: () => T): { value?: T; problem?: unknown } {
  try {
    return { value: read() }
  } catch (problem) {
    return { problem }
  }
}

function idempotencyKeyOf(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw invalid([{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }])
}

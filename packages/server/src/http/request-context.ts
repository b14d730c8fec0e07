import type { BoardAccess } from '@lockstep/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type AccessCheck,
  type AccessRequest,
  type BoardGrant,
  checkAccess,
  requireTokenBoard,
} from '../core/authorize.ts'
import { networkOf } from '../platform/client-address.ts'
import { requireShare } from '../platform/fair-share.ts'
import type { TokenCredential } from '../security/tokens.ts'
import { authenticate } from './authenticate.ts'
import { slotOf } from './edge/admission-middleware.ts'
import { isAcceptable } from './request-body.ts'
import type { Route } from './route.ts'
import { invalid } from './validation.ts'

/** What is known of a request before its body is read. The log line of a rejected request uses it too. */
export interface RequestContext {
  params: Record<string, string>
  accessRequest: AccessRequest
  /** Missing on a write to a known board: its access is checked only under the board lock. */
  access?: AccessCheck
  /** For operations on a board. Missing on a retry, which gets its stored response whatever became of the board. */
  grant?: BoardGrant
  /** The board of the grant, or the known one. */
  board_id?: string
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
  const { deps, operation, boardAccess, required } = route
  const credential = await authenticate(request, deps)
  if (credential.token_id !== undefined) watchTokenUse(route, credential, reply)
  const { user_id } = credential
  claimShares(route, request, user_id)
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
  // An upload is received before its board is locked, so it is always authorized first.
  const mayDefer = route.isWrite && !route.isUpload && !key.problem && isAcceptable(request, route.bodyLimit)
  const recentBoard = mayDefer ? deps.recentAccess.boardOf(accessRequest) : undefined
  const [access, { excess, headers }] = await Promise.all([
    recentBoard ? undefined : checkAccess(deps.core.database.forKey(user_id), accessRequest),
    deps.limits.request(user_id, request.ip),
  ])
  if (headers) reply.headers(headers)
  if (path.problem) throw path.problem
  if (operation.access === 'superuser') access?.requireSuperuser()
  if (access) authorizeContext(route, context, access)
  else if (excess) await checkContext(route, context)
  else context.board_id = recentBoard as string
  if (excess) throw excess
  if (key.problem) throw key.problem
}

/** Before the access check, whose statement costs more than the rejection. */
function claimShares({ deps: { shares }, isUpload }: Route, request: FastifyRequest, user_id: string) {
  if (!shares) return
  const slot = slotOf(request)
  slot?.releaseOnClose(requireShare(shares.requests.claim(user_id)))
  if (isUpload) slot?.releaseOnClose(requireShare(shares.uploads.claim(user_id, networkOf(request.ip))))
}

/** Checks the access of such a write after all: the order of rejections must not depend on the cache. */
export async function checkContext(route: Route, context: RequestContext) {
  const { accessRequest } = context
  const db = route.deps.core.database.forKey(accessRequest.credential.user_id)
  authorizeContext(route, context, await checkAccess(db, accessRequest))
}

/** When the request ends, also by a closed connection, notes the use of an access token, or that it is not valid anymore. */
function watchTokenUse({ deps }: Route, { token_id, token_hash }: TokenCredential, reply: FastifyReply) {
  reply.raw.once('close', () => {
    if (reply.raw.headersSent && reply.statusCode === 401) deps.accessTokens?.forget(token_hash)
    else deps.accessTokens?.markUsed(token_id)
  })
}

/** Throws 404, 403 or 409 (archived board) unless the user is authorized. */
function authorizeContext({ deps, boardAccess, isWrite }: Route, context: RequestContext, access: AccessCheck) {
  context.access = access
  const { board_id } = context.params
  if (!boardAccess && board_id !== undefined) requireTokenBoard(access.caller.token, board_id)
  if (!boardAccess || access.storedResponse) return
  context.grant = access.authorize()
  context.board_id = context.grant.board_id
  if (isWrite) deps.recentAccess.add(context.accessRequest, context.board_id)
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

/** The user and the address whose shares a request claims. */
export const claimantOf = (request: FastifyRequest): [user_id: string, address: string] => [
  contextOf(request)?.accessRequest.credential.user_id ?? '',
  networkOf(request.ip),
]

import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { v7 as newUuid } from 'uuid'
import { changeBoard } from '../core/change-board.ts'
import type { ChangeCost } from '../core/event-log.ts'
import { type RequestIdentity, readStoredBody, replayResponse, type WriteResponse } from '../core/idempotency.ts'
import { EVENT_COST } from '../platform/byte-budget.ts'
import { releaseSlotWhile, slotOf } from './admission.ts'
import { problemOf } from './error-handler.ts'
import { encodeWithEtag } from './etag.ts'
import {
  boardUploadSink,
  discardingSink,
  fingerprintOfUpload,
  type ReceivedUpload,
  receiveUpload,
} from './files/upload.ts'
import { ifMatchCheck } from './precondition.ts'
import { sendText, textOf } from './read-handler.ts'
import { contextOf, type RequestContext } from './request-context.ts'
import type { Route } from './route.ts'

interface Uploaded {
  upload?: ReceivedUpload
  onCommit?: () => void
}

/** Handles an operation that changes a board. */
export async function handleWrite(route: Route, request: FastifyRequest, reply: FastifyReply) {
  const response = await (route.isUpload ? changeWithUpload : change)(route, request, reply)
  const { status, position, isReplay, large_body_bytes } = response
  const text = large_body_bytes === null ? response.body : await largeBody(route, request)
  if (position !== null) reply.header('board-position', position)
  if (isReplay) reply.header('idempotent-replayed', 'true')
  const id = status === 201 && route.readPath && createdId.exec(text ?? '')?.[1]
  if (id) reply.header('location', `${prefixOf(request)}${route.readPath}${id}`)
  const encoded = text === null ? undefined : await encodeWithEtag(text)
  if (encoded) reply.header('etag', encoded.etag)
  return sendText(reply.code(status), encoded?.content ?? null)
}

async function change(route: Route, request: FastifyRequest, reply: FastifyReply, uploaded: Uploaded = {}) {
  const { accessRequest } = contextOf(request) as RequestContext
  const cost: ChangeCost = { bytes: 0 }
  try {
    const response = await changeOnce(route, request, reply, { cost, ...uploaded })
    // A retry reads and returns the response of the change, wherever it was found.
    if (response.isReplay) cost.bytes += response.large_body_bytes ?? 0
    return response
  } finally {
    // A rejected change counts too.
    route.deps.budget.charge(accessRequest.credential.user_id, EVENT_COST * cost.bytes)
  }
}

async function changeOnce(
  { deps, operation, handler, readInput }: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  { cost, upload, onCommit }: Uploaded & { cost: ChangeCost },
): Promise<WriteResponse> {
  const { params, accessRequest, access, grant } = contextOf(request) as RequestContext
  const identity = identityOf(request, accessRequest.key, upload)
  if (access?.storedResponse) return replayResponse(access.storedResponse, identity)
  const input = readInput(request, reply, upload)
  const newId = (input.body as { id?: string | null } | undefined)?.id ?? newUuid()
  const board_id = grant?.board_id ?? newId
  const assertIfMatch = ifMatchCheck(deps.resourceReaders, operation, request, params)
  const { prefetch, handle } = handler
  const { user_id } = accessRequest.credential
  return changeBoard(deps.core, {
    accessRequest,
    board_id,
    isNew: grant === undefined,
    isRemoval: operation.method === 'DELETE',
    identity,
    slot: slotOf(request),
    cost,
    onTurn: () => deps.budget.require(user_id),
    onCommit,
    ...(prefetch && { prefetch: (db) => prefetch({ ...input, db, params, board_id, user_id }) }),
    handle: async ({ tx, grant: { caller, at, usage }, emit, grow, beforeCommit, prefetched }) => {
      const nextCardNumber = (usage?.last_card_number ?? 0) + 1
      await assertIfMatch?.(tx, board_id, cost)
      const change = { board_id, newId, at, nextCardNumber, caller, emit, grow, beforeCommit, db: tx }
      const context = { ...input, request, reply, params, ...change }
      return { status: operation.returns.status, body: textOf(await handle(context, prefetched)) }
    },
  })
}

/** Receives the file before the change is queued. The file of a retry is only hashed, to see whether it is the same request. */
async function changeWithUpload(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<WriteResponse> {
  const { uploads } = route.deps
  const { grant, accessRequest } = contextOf(request) as RequestContext
  const { user_id } = accessRequest.credential
  const sink = grant ? boardUploadSink(uploads, grant.board_id, user_id) : discardingSink(uploads)
  const upload = await releaseSlotWhile(request, () =>
    receiveUpload(request, reply, sink, (bytes) => uploads.pace(user_id, bytes)),
  )
  let isCommitting = false
  const onCommit = () => {
    isCommitting = true
  }
  try {
    const response = await change(route, request, reply, { upload, onCommit })
    if (response.isReplay) await sink.discard(upload.file.file_id)
    return response
  } catch (error) {
    // Nothing was committed if COMMIT was not sent or the change was rejected. Otherwise a background job decides.
    if (!isCommitting || problemOf(error).status < 500) await sink.discard(upload.file.file_id)
    throw error
  }
}

/** The body of a replay that is too large to be read with the caller: read through the semaphore, and counted before. */
function largeBody({ deps }: Route, request: FastifyRequest): Promise<string> {
  const { user_id } = (contextOf(request) as RequestContext).accessRequest.credential
  const { key } = (contextOf(request) as RequestContext).accessRequest
  return readStoredBody(deps.core.database, user_id, key ?? '')
}

/** The id of a created resource, whose JSON can be large. */
const createdId = /^\{"id": ?"([\da-f-]{36})"/
/** Every path also exists below `/api`. */
const prefixOf = ({ originalUrl }: FastifyRequest) => /^\/api(?=\/)/.exec(originalUrl)?.[0] ?? ''

/** A retry has the same key, method, path and content. */
function identityOf(request: FastifyRequest, key: string | null, upload?: ReceivedUpload): RequestIdentity | null {
  if (key === null) return null
  const path = (request.url.split('?')[0] as string).replace(/\/$/, '')
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${path}\n`)
    .update(upload ? fingerprintOfUpload(upload) : ((request.body as Buffer | undefined) ?? ''))
    .digest('base64url')
  return { key, fingerprint }
}

import { Bytes } from '@lockstep/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BoardGrant } from '../core/authorize.ts'
import { networkOf } from '../platform/client-address.ts'
import { JSON_TYPE, toJson } from '../platform/json.ts'
import { Problem } from '../platform/problem.ts'
import { slotOf } from './edge/admission-middleware.ts'
import { type Download, sendDownload } from './files/download.ts'
import { sendJson, textLength } from './json-response.ts'
import { contextOf } from './request-context.ts'
import { requireMemory } from './response-memory.ts'
import type { Route } from './route.ts'

/** Resources of boards with less text than this are read without queueing. */
const LARGE_TEXT_BYTES = 1_048_576

/** Handles an operation that changes no board. */
export async function handleRead(route: Route, request: FastifyRequest, reply: FastifyReply) {
  const { deps, operation } = route
  const { access, method, returns, is_secret } = operation
  const result = await runHandler(route, request, reply)
  if (returns.schema === Bytes) return sendDownload(request, reply, result as Download)
  reply.code(returns.status)
  if (is_secret) reply.header('cache-control', 'no-store')
  else if (method === 'GET') reply.header('cache-control', 'private, no-cache')
  if (method !== 'GET') return sendText(reply, textOf(result))
  if (access === 'public') return sendText(reply, textOf(result))
  const key = contextOf(request)?.accessRequest.credential.user_id
  return sendJson(request, reply, result, {
    reserve: (bytes) => requireMemory(deps, request, reply, bytes),
    runPaced: (readPage, bytesOf) => deps.lists?.runPaced(readPage, bytesOf, { key }) ?? readPage(),
  })
}

async function runHandler(route: Route, request: FastifyRequest, reply: FastifyReply) {
  const { deps, handler, isList } = route
  reply.header('vary', [reply.getHeader('vary'), 'Prefer'].filter(Boolean).join(', '))
  const input = route.readInput(request, reply)
  const { params = route.readParams(request), access, grant } = contextOf(request) ?? {}
  const caller = access?.caller
  const context = {
    ...input,
    request,
    reply,
    params,
    caller,
    board_id: grant?.board_id,
    version: grant?.version,
    db: deps.core.database.forKey(caller?.id ?? networkOf(request.ip)),
  }
  const handle = () => handler.handle(context)
  if (!deps.lists || !(isList || mayBeLarge(route, grant))) return handle()
  return deps.lists.runPaced(handle, textLength, { key: caller?.id, slot: slotOf(request) })
}

/** Whether one resource of the board can be so large that few are read at once. Full boards have a semaphore of their own. */
const mayBeLarge = ({ isLoad, operation }: Route, grant: BoardGrant | undefined) =>
  !isLoad && operation.returns.schema !== Bytes && (grant?.text_bytes ?? 0) > LARGE_TEXT_BYTES

/** The same for a public operation with a body: rejected payloads count against the rate limit of the address. */
export async function handlePublic(route: Route, request: FastifyRequest, reply: FastifyReply) {
  try {
    return await handleRead(route, request, reply)
  } catch (error) {
    if (error instanceof Problem && error.status === 422) await route.deps.limits.badPayloads(request.ip).report(false)
    throw error
  }
}

export const textOf = (result: unknown) => (result === undefined ? null : toJson(result))

export const sendText = (reply: FastifyReply, text: string | Buffer | null) =>
  text === null ? reply.send() : reply.type(JSON_TYPE).send(text)

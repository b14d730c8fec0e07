import { Bytes } from '@lockstep/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { JSON_TYPE, toJson } from '../platform/json.ts'
import { Problem } from '../platform/problem.ts'
import { type Download, sendDownload } from './files/download.ts'
import { sendJson } from './json-response.ts'
import { contextOf } from './request-context.ts'
import type { Route } from './route.ts'

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
  const user_id = contextOf(request)?.accessRequest.credential.user_id ?? ''
  return sendJson(request, reply, result, {
    charge: (bytes) => deps.budget.charge(user_id, bytes),
    // A long list waits here for its user's budget. It holds nothing meanwhile.
    readPage: async (read) => {
      await deps.budget.wait(user_id)
      return deps.admission.run(user_id, read)
    },
  })
}

async function runHandler(route: Route, request: FastifyRequest, reply: FastifyReply) {
  const { deps, handler } = route
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
    db: deps.core.database,
  }
  return handler.handle(context)
}

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

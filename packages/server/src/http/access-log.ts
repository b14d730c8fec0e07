import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '../platform/problem.ts'
import { send } from './error-handler.ts'
import { isProbe } from './probes.ts'
import { contextOf } from './request-context.ts'

/**
 * Logs one line per request, with the id of the response. It contains the route, not the URL, which can contain a token. Probes
 * are frequent and rarely of interest, so they are logged at the level debug.
 */
export function logRequests(app: FastifyInstance) {
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply)
    done()
  })
}

function logRequest(request: FastifyRequest, reply: FastifyReply) {
  const { accessRequest, access } = contextOf(request) ?? {}
  request.log[isProbe(request) ? 'debug' : 'info'](
    {
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime * 100) / 100,
      address: request.ip,
      user_id: accessRequest?.credential.user_id,
      token_id: accessRequest?.credential.token_id,
      board_id: access?.board_id ?? undefined,
    },
    'request',
  )
}

/** Sends and logs an error that the framework raises before any hook runs. */
export function sendEarlyProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply) {
  void send(reply.header('x-request-id', request.id), problem)
  logRequest(request, reply)
}

type Early = (request: IncomingMessage, response: ServerResponse, headers?: Record<string, string>) => void

/** Sends and logs an error without the framework, so there is no route. */
export const rejectBeforeRouting = (log: FastifyBaseLogger, problem: Problem): Early => {
  const [body, { status }] = [problem.text(), problem]
  return (request, response, headers) => {
    const request_id = randomUUID()
    response.writeHead(status, {
      ...{ 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) },
      ...{ 'cache-control': 'no-store', 'x-request-id': request_id, ...headers },
    })
    response.end(body)
    log.info(
      { request_id, method: request.method, route: null, status, address: request.socket.remoteAddress },
      'request',
    )
  }
}

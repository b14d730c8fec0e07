import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../platform/problem.ts'
import { send } from './error-handler.ts'

/**
 * One line for each request, with the id that the answer carries too. It names the route and never the address: an
 * address can hold a token.
 */
export function logRequests(app: FastifyInstance) {
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply)
    done()
  })
}

function logRequest(request: FastifyRequest, reply: FastifyReply) {
  request.log.info(
    {
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime * 100) / 100,
      address: request.ip,
    },
    'request',
  )
}

/** An answer that the framework gives before any hook runs, with its id and its line all the same. */
export function sendEarlyProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply) {
  void send(reply.header('x-request-id', request.id), problem)
  logRequest(request, reply)
}

/** The same for an expectation that Node itself hands over: there is no route, and no framework yet. */
export const rejectExpectation = (log: FastifyBaseLogger) => (request: IncomingMessage, response: ServerResponse) => {
  const problem = new Problem('expectation_failed')
  const { status } = problem
  const request_id = randomUUID()
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'x-request-id': request_id })
  response.end(problem.text())
  log.info(
    { request_id, method: request.method, route: null, status, address: request.socket.remoteAddress },
    'request',
  )
}

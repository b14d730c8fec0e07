import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { ProblemCode } from '@lockstep/contract/problems'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problemOfDatabase } from '../database/errors.ts'
import { Problem } from '../platform/problem.ts'
import { slotOf } from './admission.ts'
import { isProbe } from './probes.ts'
import { invalid } from './validation.ts'

const REJECTION_DELAY_MS = 500

/** Renders every error, including those of the framework. A response reveals neither input nor internals. */
export function installErrorHandler(app: FastifyInstance, onProblem: (problem: Problem) => void = () => {}) {
  const methodsAt = recordMethods(app)
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error)
    onProblem(problem)
    // Load shedding is not an error, and can be frequent. The 503 of a probe is its result, which `health/` logs once.
    const isExpected = problem.code === 'overloaded' || (problem === error && isProbe(request))
    if (problem.status >= 500 && !isExpected) request.log.error({ err: error }, problem.message)
    if (problem.status !== 429) return send(reply, problem)
    // A client that repeats at once would be answered thousands of times a second. It holds no slot meanwhile.
    slotOf(request)?.release()
    return pause(REJECTION_DELAY_MS).then(() => send(reply, problem))
  })
  const sendNotFound = (request: FastifyRequest, reply: FastifyReply) => {
    const allowed = methodsAt(request.url.split('?')[0] as string)
    const problem = new Problem(allowed.length === 0 ? 'not_found' : 'method_not_allowed')
    onProblem(problem)
    return send(allowed.length === 0 ? reply : reply.header('allow', allowed.join(', ')), problem)
  }
  // In onRequest, before the body is read: a client that does not send it would hold its slot.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) void sendNotFound(request, reply)
    else done()
  })
  app.setNotFoundHandler(sendNotFound)
}

/** Records all routes. Returns the methods of a path, for 405. */
function recordMethods(app: FastifyInstance) {
  const routes: { method: string | string[]; form: RegExp }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const isForAll = url === '*' || url === '/*'
    if (!isForAll)
      routes.push({ method, form: new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}/?$`) })
  })
  return (path: string) => [...new Set(routes.filter(({ form }) => form.test(path)).flatMap(({ method }) => method))]
}

/** Headers of a result, which may be set already when a response fails. */
const resultHeaders = ['board-position', 'etag', 'link']

export function send(reply: FastifyReply, problem: Problem) {
  for (const name of resultHeaders) reply.removeHeader(name)
  // Caches may store a 404 or 410 that does not forbid it.
  reply.header('cache-control', 'no-store')
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  if (problem.retryAfterSeconds !== undefined) reply.header('retry-after', problem.retryAfterSeconds)
  return reply
    .headers(problem.headers)
    .code(problem.status)
    .type('application/json; charset=utf-8')
    .send(problem.text())
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  return problemOfFramework(error) ?? problemOfDatabase(error) ?? new Problem('internal')
}

/** Maps errors of Fastify to problems. */
function problemOfFramework(error: unknown): Problem | undefined {
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Problem('body_too_large')
  // The client disconnected while sending its body. Without the status it could be a lost database connection.
  if (code === 'ECONNRESET' && statusCode === 400) return new Problem('request_incomplete')
  if (code === 'FST_ERR_BAD_URL') return new Problem('not_found')
  if (code === 'FST_ERR_MAX_PARAM_LENGTH' || statusCode === 414) return new Problem('uri_too_long')
  if (code === 'FST_ERR_ASYNC_CONSTRAINT') return undefined
  if (code.startsWith('FST_ERR_CTP_')) return invalid([{ field: 'body', message: 'cannot be read' }])
  if (code.startsWith('FST_') && statusCode < 500) return new Problem('malformed_request')
  return undefined
}

/** How long a client may take to read the error and close the connection. */
const CLOSE_TIMEOUT_MS = 2_000

/** Sends an error on a raw connection, without the framework, and closes it. */
export function endConnection(socket: Duplex, problem: Problem, headers = '') {
  const body = problem.text()
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.code}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}Connection: close\r\n\r\n${body}`,
  )
  const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** Rejects what the HTTP parser could not read as a request. */
export function rejectConnection(error: Error & { code?: string }, socket: Socket) {
  if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy()
  const code: ProblemCode =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'headers_too_large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'request_timeout'
        : 'malformed_request'
  endConnection(socket, new Problem(code))
  return socket
}

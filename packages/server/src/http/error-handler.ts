import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ProblemCode } from '@lockstep/contract/problems'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem, problemOfDatabase } from '../platform/problem.ts'
import { invalid } from './validation.ts'

/** Renders every error of every path, the framework's own included. Nothing of a request or of our insides is repeated. */
export function installErrorHandler(app: FastifyInstance, told: (problem: Problem) => void = () => {}) {
  const methodsAt = rememberMethods(app)
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error)
    told(problem)
    // Who is one too many is no error, and there may be many.
    if (problem.status >= 500 && problem.code !== 'overloaded') request.log.error({ err: error }, problem.message)
    return send(reply, problem)
  })
  const answerNowhere = (request: FastifyRequest, reply: FastifyReply) => {
    const allowed = methodsAt(request.url.split('?')[0] as string)
    const problem = new Problem(allowed.length === 0 ? 'not_found' : 'method_not_allowed')
    told(problem)
    return send(allowed.length === 0 ? reply : reply.header('allow', allowed.join(', ')), problem)
  }
  // Before the body, which nobody reads: whoever sends none of it would hold his place until it comes.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) void answerNowhere(request, reply)
    else done()
  })
  app.setNotFoundHandler(answerNowhere)
}

/** The methods that a path answers to, whatever stands for its parameters. */
function rememberMethods(app: FastifyInstance) {
  const routes: { method: string | string[]; form: RegExp }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const isForAll = url === '*' || url === '/*'
    if (!isForAll)
      routes.push({ method, form: new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}/?$`) })
  })
  return (path: string) => [...new Set(routes.filter(({ form }) => form.test(path)).flatMap(({ method }) => method))]
}

export function send(reply: FastifyReply, problem: Problem) {
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  if (problem.retry_after_seconds !== undefined) reply.header('retry-after', problem.retry_after_seconds)
  return reply.code(problem.status).type('application/json; charset=utf-8').send(problem.text())
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  return problemOfFramework(error) ?? problemOfDatabase(error) ?? new Problem('internal')
}

/** Fastify's own refusals, in our words. */
function problemOfFramework(error: unknown): Problem | undefined {
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Problem('body_too_large')
  // The client hung up in the middle of its body. The code alone could also be that of a lost database.
  if (code === 'ECONNRESET' && statusCode === 400) return new Problem('request_incomplete')
  if (code === 'FST_ERR_BAD_URL') return new Problem('not_found')
  if (code === 'FST_ERR_MAX_PARAM_LENGTH' || statusCode === 414) return new Problem('uri_too_long')
  if (code === 'FST_ERR_ASYNC_CONSTRAINT') return undefined
  if (code.startsWith('FST_ERR_CTP_')) return invalid([{ field: 'body', message: 'cannot be read' }])
  if (code.startsWith('FST_') && statusCode < 500) return new Problem('malformed_request')
  return undefined
}

/** As long as a client may take to read why it is refused. */
const READING_MS = 2_000

/** Answers on a bare connection, without a framework, and leaves it, also when nobody at the other end does. */
export function endConnection(socket: Duplex, problem: Problem, headers = '') {
  const body = problem.text()
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.code}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}Connection: close\r\n\r\n${body}`,
  )
  const timer = setTimeout(() => socket.destroy(), READING_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** What the HTTP parser refuses before there is a request: answered on the bare connection. */
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

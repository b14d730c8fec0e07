import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import cors from '@fastify/cors'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Config } from '../config/read-config.ts'
import { Problem } from '../platform/problem.ts'
import { shedding } from '../telemetry/metric-definitions.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { logRequests, rejectBeforeRouting, sendEarlyProblem } from './access-log.ts'
import type { Admission } from './admission.ts'
import { crossOriginHeaders, EXPOSED_HEADERS } from './cors.ts'
import { installErrorHandler, problemOf, rejectConnection } from './error-handler.ts'
import { serveMetrics } from './metrics-endpoint.ts'
import { serveApiDocs } from './pages/api-docs.ts'
import { serveWebClient } from './pages/web-client.ts'
import { MAX_BODY_BYTES, parseBodiesAsBuffers } from './request-body.ts'
import { countEarlyResponse, countRequests } from './request-metrics.ts'
import { setResponseHeaders } from './response-headers.ts'
import { shedLoad } from './shed-load.ts'
import { isUpgradeWithBody } from './unread-body.ts'

/** A connection on which nothing moves for this long, in either direction, is closed. */
const STALLED_SECONDS = 120
/** The largest upload at the lowest rate: ten megabytes at ten kilobytes a second. */
const UPLOAD_SECONDS = 1_200

/** How many requests a connection may pipeline; no real client sends more than one at a time. */
const MAX_PIPELINED = 16
const OPEN = Symbol('open')
type PipelinedSocket = Socket & { [OPEN]?: number }

/** The WebSocket side of the server. */
interface SocketServer {
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  drain: () => Promise<void>
}
interface ServerDeps {
  live: SocketServer
  metrics: Metrics
  log: FastifyBaseLogger
  admission: Admission
}

/**
 * The HTTP server without routes. The order of the hooks matters: response headers, access log and metrics come first, so that every
 * later rejection has them; the error handler records the routes' methods, so it comes before the routes.
 */
export async function buildServer(
  config: Config,
  { live, metrics, log, admission }: ServerDeps,
  stalledSeconds = STALLED_SECONDS,
) {
  const { trustedHops, corsOrigins } = config.http
  let isClosing = false
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: () => randomUUID(),
    trustProxy: (_address, hop) => hop < trustedHops,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: UPLOAD_SECONDS * 1_000,
    connectionTimeout: stalledSeconds * 1_000,
    return503OnClosing: false,
    // No plugin waits for anything but the CPU and the disk: on a busy machine a start takes longer, and is no error.
    pluginTimeout: 0,
    // Ids of any length are validated by the route; Node limits the size of the headers.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    http: {
      // Other upgrades are declined by an ordinary response.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
      requireHostHeader: false,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
    },
    rewriteUrl: ({ url = '/' }) => (/^\/api(?=[/?]|$)/.test(url) ? url.slice(4) || '/' : url),
    clientErrorHandler: rejectConnection,
    frameworkErrors: (error, request, reply) => {
      sendEarlyProblem(problemOf(error), request, reply)
      countEarlyResponse(metrics, request, reply)
    },
  })
  closeGracefully(app, config, live, () => {
    isClosing = true
  })
  // Node reports an unknown `Expect` header before the framework sees the request.
  const rejectExpectation = rejectBeforeRouting(log, new Problem('expectation_failed'))
  app.server.on('checkExpectation', (request, response) => rejectExpectation(request, response))
  app.server.on('upgrade', (request, socket, head) => live.upgrade(request, socket, head))
  const headersFor = crossOriginHeaders(corsOrigins)
  shedLoad(app.server, admission, log, metrics, headersFor)
  // Before the framework, which rejects some requests without a hook.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (isUpgradeWithBody(request)) response.shouldKeepAlive = false
  })

  admission.install(app)
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const socket: PipelinedSocket = raw.socket
    if (socket.destroyed) return
    const open = (socket[OPEN] ?? 0) + 1
    socket[OPEN] = open
    if (open > MAX_PIPELINED) return void socket.destroy()
    reply.raw.once('close', () => {
      socket[OPEN] = (socket[OPEN] ?? 1) - 1
    })
    done()
  })
  setResponseHeaders(app, headersFor)
  logRequests(app)
  countRequests(app, metrics)
  serveMetrics(app, metrics, config.metrics)
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    done(headers.host === undefined ? new Problem('malformed_request') : undefined)
  })
  parseBodiesAsBuffers(app)
  const { meters } = metrics
  installErrorHandler(app, ({ code }) => {
    meters.lockstep_http_problems_total.inc({ code })
    if (shedding.includes(code)) meters.lockstep_http_shed_total.inc({ code })
  })
  // CORS preflight, in a scope of its own so that its hooks do not run for other requests.
  await app.register(async (scope) => {
    await scope.register(cors, {
      origin: corsOrigins.includes('*') ? true : corsOrigins,
      credentials: true,
      strictPreflight: false,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: EXPOSED_HEADERS,
    })
  })
  const { hasApiDocs } = config.http
  await app.register(serveApiDocs, { hasPages: hasApiDocs, isTokenKept: !config.isProduction })
  await app.register(serveWebClient, {
    max_attachment_bytes: config.files.maxBytes,
    has_api_docs: hasApiDocs,
    has_trash: config.boards.trashDays > 0,
    has_webhooks: config.webhooks.encryptionKey !== '',
  })
  return { app, isClosing: () => isClosing }
}

/**
 * Graceful shutdown: the instance reports that it is not ready and keeps serving until load balancers have noticed, then
 * drains its sockets, then closes its port. Kept-alive connections are closed after their response.
 */
function closeGracefully(app: FastifyInstance, config: Config, live: SocketServer, onClosing: () => void) {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
    onClosing()
    await pause(config.http.unreadySeconds * 1_000)
    await live.drain()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done()
  })
}

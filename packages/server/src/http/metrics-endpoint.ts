import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../platform/problem.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { send } from './error-handler.ts'

export interface MetricsSettings {
  /** A separate port for `/metrics`; 0 for none. */
  port: number
  host: string
  /** The required bearer token. If empty, the separate port needs none, and the service's own port has no `/metrics`. */
  token: string
}

/**
 * Serves `/metrics` for Prometheus: on a separate port, on the service's port with a token, or both. A request without the
 * token gets the same 404 as an unknown path; for the same reason, call this before the error handler records the routes.
 */
export function serveMetrics(app: FastifyInstance, metrics: Metrics, { port, host, token }: MetricsSettings) {
  const isAllowed = (authorization = '') => token === '' || isSame(authorization, `Bearer ${token}`)
  if (token !== '') {
    app.get('/metrics', async (request, reply) => {
      if (!isAllowed(request.headers.authorization)) return send(reply, new Problem('not_found'))
      return reply
        .type(metrics.type)
        .header('cache-control', 'no-store')
        .send(await metrics.text())
    })
  }
  if (port === 0) return
  const server = createServer(({ method, url, headers }, response) => {
    const isScrape = method === 'GET' && url?.split('?')[0] === '/metrics' && isAllowed(headers.authorization)
    if (!isScrape) return void response.writeHead(404).end()
    const responseHeaders = { 'content-type': metrics.type, 'cache-control': 'no-store' }
    metrics.text().then(
      (text) => response.writeHead(200, responseHeaders).end(text),
      () => response.writeHead(500).end(),
    )
  })
  // In onReady, so that a port that is in use fails the start.
  app.addHook('onReady', () => listen(server, port, host))
  app.addHook('onClose', () => close(server))
}

async function listen(server: Server, port: number, host: string) {
  server.listen(port, host)
  await once(server, 'listening')
}

async function close(server: Server) {
  if (!server.listening) return
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}

/** Constant-time comparison. */
const isSame = (given: string, expected: string) => timingSafeEqual(digest(given), digest(expected))
const digest = (text: string) => createHash('sha256').update(text).digest()

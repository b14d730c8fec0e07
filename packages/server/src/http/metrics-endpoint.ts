import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../platform/problem.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { send } from './error-handler.ts'

export interface MetricsSettings {
  /** A listener of its own for them; 0 for none. */
  port: number
  host: string
  /** What whoever asks must bring; empty: nothing, and then the service's own port does not know them. */
  token: string
}

/**
 * `/metrics` for Prometheus: on a port of its own, on the service's port for whoever brings the token, or both. Whoever
 * does not may not learn that they are there. To be called before paths are remembered, for the same reason.
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
    const isAsked = method === 'GET' && url?.split('?')[0] === '/metrics' && isAllowed(headers.authorization)
    if (!isAsked) return void response.writeHead(404).end()
    const about = { 'content-type': metrics.type, 'cache-control': 'no-store' }
    metrics.text().then(
      (text) => response.writeHead(200, about).end(text),
      () => response.writeHead(500).end(),
    )
  })
  // A port that is taken must end the start, and not be noticed when somebody asks.
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

/** Takes as long whatever is wrong with it. */
const isSame = (given: string, wanted: string) => timingSafeEqual(digest(given), digest(wanted))
const digest = (text: string) => createHash('sha256').update(text).digest()

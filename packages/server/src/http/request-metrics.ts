import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { METHODS } from '../telemetry/metric-definitions.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export type Method = (typeof METHODS)[number]
const known = new Set<string>(METHODS)
const isKnown = (method: string): method is Method => known.has(method)
/** The label of a method. Unknown methods share one, because clients could invent any number of them. */
export const methodLabel = (method = ''): Method => (isKnown(method) ? method : 'other')

/** Counts every request when its connection or response ends, also when the client aborted it. */
export function countRequests(app: FastifyInstance, metrics: Metrics) {
  if (!metrics.isOn) return
  const { meters } = metrics
  let inFlight = 0
  metrics.onScrape(() => meters.lockstep_http_requests_in_flight.set({}, inFlight))
  app.addHook('onRequest', (request, reply, done) => {
    inFlight++
    reply.raw.once('close', () => {
      inFlight--
      countRequest(metrics, request, reply)
    })
    done()
  })
}

/** The same for a request that the framework rejects before any hook runs. */
export function countEarlyResponse(metrics: Metrics, request: FastifyRequest, reply: FastifyReply) {
  reply.raw.once('close', () => countRequest(metrics, request, reply))
}

function countRequest({ meters }: Metrics, request: FastifyRequest, reply: FastifyReply) {
  const status = reply.raw.writableFinished ? String(reply.raw.statusCode) : 'aborted'
  const label = { method: methodLabel(request.method), route: request.routeOptions.url ?? 'none' }
  meters.lockstep_http_requests_total.inc({ ...label, status })
  meters.lockstep_http_request_duration_seconds.observe(label, reply.elapsedTime / 1_000)
}

import type { FastifyInstance } from 'fastify'

/**
 * One line for each request, with the id that the answer carries too. It names the route and never the address: an
 * address can hold a token.
 */
export function logRequests(app: FastifyInstance) {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
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
  })
}

import type { FastifyRequest } from 'fastify'

const paths = new Set<string | undefined>(['/health', '/ready', '/live', '/metrics'])

/** Whether a request is a health check or a scrape of the metrics. */
export const isProbe = (request: FastifyRequest) => paths.has(request.routeOptions.url)

import type { FastifyRequest } from 'fastify'

const PATHS = ['/health', '/ready', '/live', '/metrics']
const paths = new Set<string | undefined>(PATHS)
const urlPattern = new RegExp(`^(?:/api)?(?:${PATHS.join('|')})/?(?:\\?|$)`)

/** Whether a request is a health check or a scrape of the metrics. */
export const isProbe = (request: FastifyRequest) => paths.has(request.routeOptions.url)

/** The same for the URL of a request that is not routed yet. */
export const isProbeUrl = (url: string) => urlPattern.test(url)

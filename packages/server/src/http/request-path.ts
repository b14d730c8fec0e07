import type { FastifyRequest } from 'fastify'

/** The path as the client sent it, for `Link` headers. */
export const pathOf = (request: FastifyRequest) => request.originalUrl.split('?')[0] as string

import type { FastifyRequest } from 'fastify'

/** The path as the client wrote it, for links to the next page. */
export const pathOf = (request: FastifyRequest) => request.originalUrl.split('?')[0] as string

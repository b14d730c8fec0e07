import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOf } from './request-path.ts'

/** Sets the `Link` header of a list to its next page. */
export function setNextLink(request: FastifyRequest, reply: FastifyReply, next: Record<string, unknown>) {
  const search = new URLSearchParams(Object.entries(next).map(([name, value]) => [name, String(value)])).toString()
  reply.header('link', `<${pathOf(request)}?${search}>; rel="next"`)
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import helmet from 'helmet'

/**
 * What tells a browser to trust an answer with nothing: no script, no frame, no guess at its type. Asked of the library once,
 * because it is the same for every answer; a page says for itself what it may do.
 */
const securityHeaders = () => {
  const headers: Record<string, string> = {}
  const note = (name: string, value: string) => {
    headers[name.toLowerCase()] = value
  }
  const set = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    referrerPolicy: { policy: 'no-referrer' },
    // These protect documents: pages set them. The others are for browsers that are no longer in use.
    ...{ crossOriginOpenerPolicy: false, originAgentCluster: false },
    ...{ xDnsPrefetchControl: false, xDownloadOptions: false },
    ...{ xPermittedCrossDomainPolicies: false, xXssProtection: false },
  })
  set({} as IncomingMessage, { setHeader: note, removeHeader: () => {} } as unknown as ServerResponse, () => {})
  return headers
}

/**
 * Gives every answer of the framework its id, what protects a browser, and what lets a page of an allowed origin read it. Who is
 * refused before that, at the door or by the parser, gets JSON without the second.
 */
export function setResponseHeaders(
  app: FastifyInstance,
  crossOriginHeaders: (request: IncomingMessage) => Record<string, string>,
) {
  const always = securityHeaders()
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(always).headers(crossOriginHeaders(request.raw)).header('x-request-id', request.id)
    done()
  })
}

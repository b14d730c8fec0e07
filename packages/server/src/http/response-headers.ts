import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import helmet from 'helmet'

/** Restrictive security headers, computed once because they are the same for every response. Pages set their own policy. */
const securityHeaders = () => {
  const headers: Record<string, string> = {}
  const setHeader = (name: string, value: string) => {
    headers[name.toLowerCase()] = value
  }
  const set = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    referrerPolicy: { policy: 'no-referrer' },
    // The first two protect documents, so pages set them. The others are for obsolete browsers.
    ...{ crossOriginOpenerPolicy: false, originAgentCluster: false },
    ...{ xDnsPrefetchControl: false, xDownloadOptions: false },
    ...{ xPermittedCrossDomainPolicies: false, xXssProtection: false },
  })
  set({} as IncomingMessage, { setHeader, removeHeader: () => {} } as unknown as ServerResponse, () => {})
  return headers
}

/**
 * Sets the request id, the security headers and the CORS headers of every response of the framework. Responses before the
 * framework (admission, HTTP parser) have no security headers; they are JSON.
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

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../platform/problem.ts'
import type { Tokens } from '../security/tokens.ts'

export const COOKIE = 'svc_auth'

/** Reads the credential: the Authorization header if there is one, else the cookie. A bad header is never forgiven. */
export async function authenticate(
  request: FastifyRequest,
  tokens: Tokens,
  isOwnOrigin: (request: FastifyRequest) => boolean,
) {
  const { authorization } = request.headers
  // Node keeps the first of several, and a proxy before us perhaps the last.
  if (request.raw.headersDistinct['authorization']?.[1] !== undefined) throw new Problem('not_authenticated')
  const token = authorization === undefined ? cookieOf(request) : /^Bearer +([\w.-]+)$/i.exec(authorization)?.[1]
  const credential = token === undefined ? undefined : await tokens.verify(token)
  if (credential === undefined) throw new Problem('not_authenticated')
  // A browser sends the cookie along with what other sites make it send.
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (authorization === undefined && !isRead && !isOwnOrigin(request)) throw new Problem('foreign_origin')
  return credential
}

/** Which cookies a request sends under our name. Read only when needed: most requests bring a header. */
const cookiesOf = ({ headers: { cookie = '' } }: FastifyRequest) =>
  cookie.split(';').filter((pair) => pair.split('=')[0]?.trim() === COOKIE)

export const hasCookie = (request: FastifyRequest) => cookiesOf(request).length > 0

/** A page of a sibling domain can set a second cookie of our name; which one is the user's, nobody can tell. */
function cookieOf(request: FastifyRequest) {
  const [cookie, second] = cookiesOf(request)
  if (second !== undefined) throw new Problem('not_authenticated', { detail: `There are two cookies named ${COOKIE}.` })
  return cookie === undefined ? undefined : parseCookie(cookie)[COOKIE]
}

interface SiteSettings {
  /** The origins that the operator named; `*` is any. */
  origins: readonly string[]
  trustsProxy: boolean
}
type WithHeaders = Pick<IncomingMessage, 'headers'>

/**
 * Whether the page that sent a request is of this site, or of an origin that the operator named. The own host is the Host
 * header: X-Forwarded-Host comes from the client unless a proxy removes it.
 */
export function siteCheck({ origins, trustsProxy }: SiteSettings) {
  const isAny = origins.includes('*')
  const isOwn = (origin: string, { host, 'x-forwarded-proto': scheme }: IncomingHttpHeaders) => {
    if (isAny || origins.includes(origin)) return true
    const url = URL.parse(origin)
    // Anybody on the network can answer for a page that came without TLS.
    const isHttps = trustsProxy && /(^|[\s,])https$/i.test(String(scheme ?? ''))
    return url !== null && url.host === host && !(isHttps && url.protocol === 'http:')
  }
  return {
    /** For a request that rests on the cookie. Browsers that send no Origin say where they come from in another header. */
    isOwnOrigin: ({ headers }: WithHeaders) => {
      if (headers.origin !== undefined) return isOwn(headers.origin, headers)
      const site = headers['sec-fetch-site']
      return isAny || site === undefined || site === 'same-origin' || site === 'none'
    },
    /** For a socket: browsers always send an Origin with the handshake. */
    isAllowedOrigin: ({ headers }: WithHeaders) => headers.origin === undefined || isOwn(headers.origin, headers),
  }
}

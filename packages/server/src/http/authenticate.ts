import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../platform/problem.ts'
import { type AccessTokens, isAccessToken } from '../security/access-tokens.ts'
import type { Credential, Tokens } from '../security/tokens.ts'

export const COOKIE = 'svc_auth'

interface AuthenticateDeps {
  tokens: Tokens
  /** Undefined when access tokens are turned off. */
  accessTokens: AccessTokens | undefined
  isOwnOrigin: (request: FastifyRequest) => boolean
}

/**
 * Reads the credential from the header `Authorization: Bearer` or, only if there is none, from the cookie. An access token is
 * accepted only in the header.
 */
export async function authenticate(
  request: FastifyRequest,
  { tokens, accessTokens, isOwnOrigin }: AuthenticateDeps,
): Promise<Credential> {
  const { authorization } = request.headers
  // Of several headers Node uses the first, but a proxy in front may have checked the last.
  if (request.raw.headersDistinct['authorization']?.[1] !== undefined) throw new Problem('not_authenticated')
  // Another scheme is not for this service: a browser sends the password of a proxy with basic authentication to every page.
  const isBearer = authorization !== undefined && /^Bearer\b/i.test(authorization)
  const token = isBearer ? /^Bearer +([\w.-]+)$/i.exec(authorization)?.[1] : cookieOf(request)
  if (token === undefined) throw new Problem('not_authenticated')
  const credential =
    isBearer && isAccessToken(token) ? await accessTokens?.verify(token, request.ip) : await tokens.verify(token)
  if (credential === undefined) throw new Problem('not_authenticated')
  // CSRF protection: a browser sends the cookie with requests of other sites too.
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isBearer && !isRead && !isOwnOrigin(request)) throw new Problem('foreign_origin')
  return credential
}

/** The cookies of our name. Parsed only when needed, because most requests have a header. */
const cookiesOf = ({ headers: { cookie = '' } }: FastifyRequest) =>
  cookie.split(';').filter((pair) => pair.split('=')[0]?.trim() === COOKIE)

export const hasCookie = (request: FastifyRequest) => cookiesOf(request).length > 0

/** Rejects two cookies of our name: a page of a sibling domain can set a second one, and they cannot be told apart. */
function cookieOf(request: FastifyRequest) {
  const [cookie, second] = cookiesOf(request)
  if (second !== undefined) throw new Problem('not_authenticated', { detail: `There are two cookies named ${COOKIE}.` })
  return cookie === undefined ? undefined : parseCookie(cookie)[COOKIE]
}

interface SiteSettings {
  /** The configured origins; `*` allows any. */
  origins: readonly string[]
  trustsProxy: boolean
}
type WithHeaders = Pick<IncomingMessage, 'headers'>

/**
 * Checks whether a request comes from a page of this site or of a configured origin. The own host is that of the Host
 * header: X-Forwarded-Host comes from the client unless a proxy removes it.
 */
export function siteCheck({ origins, trustsProxy }: SiteSettings) {
  const isAny = origins.includes('*')
  const isOwn = (origin: string, { host, 'x-forwarded-proto': scheme }: IncomingHttpHeaders) => {
    if (isAny || origins.includes(origin)) return true
    const url = URL.parse(origin)
    // A page that was loaded without TLS may have been changed on the network.
    const isHttps = trustsProxy && /(^|[\s,])https$/i.test(String(scheme ?? ''))
    return url !== null && url.host === host && !(isHttps && url.protocol === 'http:')
  }
  return {
    /** For requests with a cookie. Browsers that send no Origin send Sec-Fetch-Site. */
    isOwnOrigin: ({ headers }: WithHeaders) => {
      if (headers.origin !== undefined) return isOwn(headers.origin, headers)
      const site = headers['sec-fetch-site']
      return isAny || site === undefined || site === 'same-origin' || site === 'none'
    },
    /** For sockets. Browsers always send an Origin with the handshake. */
    isAllowedOrigin: ({ headers }: WithHeaders) => headers.origin === undefined || isOwn(headers.origin, headers),
  }
}

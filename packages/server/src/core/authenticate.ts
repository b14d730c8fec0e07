import { parseCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'
import { Problem } from './problem.ts'
import type { Tokens } from './tokens.ts'

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

/** The token that a browser keeps for us. Read when somebody asks: most requests bring a header, and are not searched. */
export const cookieOf = ({ headers: { cookie } }: FastifyRequest) =>
  cookie === undefined ? undefined : parseCookie(cookie)[COOKIE]

/** Whether the browser that sent a request says that it came from this site or one the operator named. */
export const ownOrigin = (allowed: readonly string[]) => (request: FastifyRequest) => {
  if (request.headers.origin !== undefined) return isOwnHost(request.headers.origin, request.host, allowed)
  const site = request.headers['sec-fetch-site']
  return site === undefined || site === 'same-origin' || site === 'none'
}

/** Whether an origin is this host itself or one that the operator named. */
export const isOwnHost = (origin: string, host: string, allowed: readonly string[]) =>
  allowed.includes(origin) || (URL.canParse(origin) && new URL(origin).host === host)

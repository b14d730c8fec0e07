import type { FastifyRequest } from 'fastify'
import { Problem } from './problem.ts'
import type { Claims, Tokens } from './tokens.ts'

export const COOKIE = 'svc_auth'

/** What a request shows to prove who sends it. Whether the user still may is for the database to say (`access.ts`). */
export interface Credential extends Claims {
  token: string
}

/** Reads the credential: the Authorization header if there is one, else the cookie. A bad header is never forgiven. */
export async function authenticate(
  request: FastifyRequest,
  tokens: Tokens,
  isOwnOrigin: (request: FastifyRequest) => boolean,
) {
  const { authorization } = request.headers
  const token = authorization === undefined ? request.cookies[COOKIE] : /^Bearer +([\w.-]+)$/i.exec(authorization)?.[1]
  const claims = token === undefined ? undefined : await tokens.verify(token)
  if (token === undefined || claims === undefined) throw new Problem('not_authenticated')
  // A browser sends the cookie along with what other sites make it send.
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (authorization === undefined && !isRead && !isOwnOrigin(request)) throw new Problem('foreign_origin')
  return { ...claims, token } satisfies Credential
}

/** Whether the browser that sent a request says that it came from this site or one the operator named. */
export const ownOrigin = (allowed: readonly string[]) => (request: FastifyRequest) => {
  const { origin } = request.headers
  if (origin !== undefined) {
    if (allowed.includes(origin)) return true
    return URL.canParse(origin) && new URL(origin).host === request.host
  }
  const site = request.headers['sec-fetch-site']
  return site === undefined || site === 'same-origin' || site === 'none'
}

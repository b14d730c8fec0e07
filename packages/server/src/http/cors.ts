import type { IncomingMessage } from 'node:http'

/** What pages of other sites may read of an answer, beside what every page may. */
export const EXPOSED_HEADERS = ['Board-Position', 'ETag', 'Idempotent-Replayed', 'Link', 'Retry-After', 'X-Request-Id']

/**
 * The headers by which a page of an allowed origin can read an answer. (Whether it may ask is answered elsewhere.) Under the
 * wildcard the origin is repeated, because browsers do not accept `*` for a request with a cookie.
 */
export function crossOriginHeaders(origins: string[]): (request: IncomingMessage) => Record<string, string> {
  const isAny = origins.includes('*')
  const always = {
    vary: 'Origin',
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
  }
  return ({ headers: { origin } }) =>
    origin !== undefined && (isAny || origins.includes(origin))
      ? { ...always, 'access-control-allow-origin': origin }
      : always
}

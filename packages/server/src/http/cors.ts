import type { IncomingMessage } from 'node:http'

/** Response headers that pages of allowed origins may read, besides the safelisted ones. */
export const EXPOSED_HEADERS = [
  ...['Board-Position', 'Deprecation', 'ETag', 'Idempotent-Replayed', 'Link', 'Location', 'Preference-Applied'],
  ...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'],
]

/**
 * CORS headers of responses; preflight requests are handled in `server.ts`. Under the wildcard the origin is repeated, because
 * browsers do not accept `*` for a request with a cookie.
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

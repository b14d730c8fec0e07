import type { IncomingMessage } from 'node:http'

/** What pages of other sites may read of an answer, beside what every page may. */
export const EXPOSED_HEADERS = ['Board-Position', 'ETag', 'Idempotent-Replayed', 'Link', 'Retry-After', 'X-Request-Id']

/** The headers by which a page of an allowed origin can read an answer. (Whether it may ask is answered elsewhere.) */
export function crossOriginHeaders(origins: string[]): (request: IncomingMessage) => Record<string, string> {
  const exposed = { 'access-control-expose-headers': EXPOSED_HEADERS.join(', ') }
  if (origins.includes('*')) {
    const always = { 'access-control-allow-origin': '*', ...exposed }
    return () => always
  }
  const always = { vary: 'Origin', 'access-control-allow-credentials': 'true', ...exposed }
  return ({ headers: { origin } }) =>
    origin !== undefined && origins.includes(origin) ? { ...always, 'access-control-allow-origin': origin } : always
}

import type { FastifyRequest } from 'fastify'
import { Problem } from '../../platform/problem.ts'

/** Hosts that a policy can contain: a host name or an IPv4 address, with a port. No character ends a source or a directive. */
export const nameableHost = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*(?::\d{1,5})?$/i

/**
 * One path of the page's own host, as a source of a Content-Security-Policy. `'self'` is the whole origin, attachments of
 * users included. The source has no scheme: it then means the scheme of the page, also behind a proxy that ends TLS.
 */
export function ownPath({ headers: { host = '' } }: FastifyRequest, path: `/${string}/`): string {
  if (!nameableHost.test(host)) throw new Problem('unusable_host')
  return `${host}${path}`
}

/** Browser features that our pages do not use, and that are therefore disabled. */
const unusedFeatures =
  'camera microphone geolocation payment usb serial hid midi display-capture accelerometer gyroscope magnetometer'
const permissionsPolicy = unusedFeatures
  .split(' ')
  .map((feature) => `${feature}=()`)
  .join(', ')

/** The headers that restrict what a page may load and use, and isolate it from pages of other origins. */
export const pageHeaders = (contentSecurityPolicy: string) => ({
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy': permissionsPolicy,
})

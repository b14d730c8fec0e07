import { type Check, ok, wrong } from './check.ts'
import { allowsEverySite } from './check-exposure.ts'
import { codeOf, requestFresh } from './fresh-request.ts'

/** Checks what a proxy in front of the service must do, apart from WebSockets. */
export async function checkProxy(url: string): Promise<Check[]> {
  const host = await checkHost(url)
  // Without the Host header every origin is another one, which says nothing about the forwarded headers.
  const forwarded = host ? undefined : await checkForwarded(url)
  const checks = [host, forwarded, await checkCache(url), await checkUploads(url)]
  const found = checks.filter((check) => check !== undefined)
  return found.length > 0 ? found : [ok('proxy', 'forwards requests correctly, if there is one')]
}

/** Logs in to an account that does not exist, as a page of this origin would. Returns the code of the rejection. */
async function loginCode(url: string, origin: string, headers: Record<string, string> = {}) {
  const response = await requestFresh(`${url}/auth/login`, {
    method: 'POST',
    headers: { ...headers, origin, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'username=doctor%40lockstep.invalid&password=none&cookie=true',
  })
  return codeOf(response)
}

/** Without the Host header, the page of the service is taken for another site, and its login is rejected. */
async function checkHost(url: string): Promise<Check | undefined> {
  if ((await loginCode(url, new URL(url).origin)) !== 'foreign_origin') return undefined
  const remedy = `Browsers cannot log in. Let the proxy forward the header:
nginx:    proxy_set_header Host $http_host;
haproxy:  no rule that sets the Host header`
  return wrong('host', 'the proxy does not forward the Host header', remedy)
}

const forwarding = `nginx:    proxy_set_header X-Forwarded-For $remote_addr;
          proxy_set_header X-Forwarded-Proto $scheme;
haproxy:  http-request set-header X-Forwarded-For %[src]
          http-request set-header X-Forwarded-Proto https`

/**
 * The service rejects an `http:` origin if a trusted proxy reports that it was reached by HTTPS. This shows whether it trusts
 * the proxy, and whether it would trust a client.
 */
async function checkForwarded(url: string): Promise<Check | undefined> {
  const { host, protocol } = new URL(url)
  const isHttps = protocol === 'https:'
  const code = await loginCode(url, `http://${host}`, { 'x-forwarded-proto': isHttps ? 'http' : 'https' })
  if (isHttps && code !== 'foreign_origin' && code !== undefined && !(await allowsEverySite(url))) {
    const remedy = `All users share one address and its rate limits. Set TRUST_PROXY to the number of proxies, and let them set:
${forwarding}`
    return wrong('forwarded', 'the service does not trust the proxy, or the proxy does not report HTTPS', remedy)
  }
  if (!isHttps && code === 'foreign_origin') {
    const remedy = `Everyone can choose the address by which the service counts. Without a proxy set TRUST_PROXY=0; otherwise let it overwrite:
${forwarding}`
    return wrong('forwarded', 'the service believes the X-Forwarded headers of clients', remedy)
  }
  return undefined
}

/** Every response has an id of its own, unless a cache repeats one. */
async function checkCache(url: string): Promise<Check | undefined> {
  const ids: unknown[] = []
  for (let i = 0; i < 2; i++) ids.push((await requestFresh(`${url}/live`))?.headers['x-request-id'])
  if (ids[0] === undefined) {
    const remedy = 'Let the proxy pass on all headers of a response; clients need ETag, Board-Position and Retry-After.'
    return wrong('headers', 'the proxy removes headers of the responses', remedy)
  }
  if (ids[0] !== ids[1]) return undefined
  const remedy = `Users would see outdated boards, or those of others. Switch the cache off for this service:
nginx:    proxy_cache off;      in a CDN: bypass the cache, or let it obey Cache-Control`
  return wrong('cache', 'a proxy or CDN caches responses of the API', remedy)
}

/** How long a proxy may take to reject a Content-Length. A proxy that accepts it waits for the file. */
const REJECTION_MS = 1_500
const DEFAULT_MAX_BYTES = 10_485_760

async function checkUploads(url: string): Promise<Check | undefined> {
  const limits = await requestFresh(`${url}/app/limits.json`)
  const maxBytes = Number(/"max_attachment_bytes":(\d+)/.exec(limits?.text ?? '')?.[1] ?? DEFAULT_MAX_BYTES)
  const response = await requestFresh(`${url}/cards/00000000-0000-0000-0000-000000000000/attachments`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=doctor', 'content-length': String(maxBytes) },
    body: Buffer.alloc(1_024),
    timeoutMs: REJECTION_MS,
  })
  if (response?.status !== 413 || codeOf(response) !== undefined) return undefined
  const megabytes = Math.ceil(maxBytes / 1_048_576) + 1
  const remedy = `The service accepts files up to ${maxBytes} bytes (MAX_ATTACHMENT_BYTES).
nginx:    client_max_body_size ${megabytes}m;`
  return wrong('uploads', 'the proxy rejects files that the service would accept', remedy)
}

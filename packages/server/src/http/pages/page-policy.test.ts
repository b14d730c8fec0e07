import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: TestService
beforeAll(async () => {
  service = await startService({ TRUST_PROXY: '1' })
})
afterAll(() => service.stop())

interface Page {
  status: number | undefined
  headers: IncomingHttpHeaders
  body: string
}
/** Requests a page under any host, which `fetch` cannot. */
function ask(path: string, headers: Record<string, string>): Promise<Page> {
  const { promise, resolve, reject } = Promise.withResolvers<Page>()
  const sent = httpRequest(service.baseUrl + path, { setHost: false, headers }, (response) => {
    text(response).then((body) => resolve({ status: response.statusCode, headers: response.headers, body }), reject)
  })
  sent.on('error', reject).end()
  return promise
}
const policyOf = async (path: string, headers: Record<string, string>) => {
  const policy = String((await ask(path, headers)).headers['content-security-policy'])
  return new Map(policy.split('; ').map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]))
}

const pages: [string, string][] = [
  ['/app/', '/app/'],
  ['/app/index.html', '/app/'],
  ['/app/b/x', '/app/'],
  ['/api/app/', '/app/'],
  ['/docs', '/docs/'],
  ['/docs/', '/docs/'],
  ['/docs/realtime', '/docs/'],
  ['/redoc', '/redoc/'],
  ['/redoc/realtime', '/redoc/'],
]
test.each(pages)('[SEC-4] %s loads scripts and workers only from %s of its own host', async (path, own) => {
  for (const host of ['boards.example.com', 'localhost:8000', '192.168.1.5:8000', 'XN--BCHER-KVA.example:443']) {
    // The source is the requested host, wherever TLS ends and whatever headers a client sends.
    const headers = { host, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' }
    const policy = await policyOf(path, headers)
    expect(policy.get('default-src')).toBe("'none'")
    expect(policy.get('script-src')).toBe(host + own)
    expect(policy.get('worker-src')).toBe(host + own)
    expect(policy.get('frame-ancestors')).toBe("'none'")
  }
})

test.each(['/app/', '/docs', '/docs/realtime', '/redoc'])(
  '[SEC-4] the policy of %s contains nothing that is not a host',
  async (path) => {
    const hosts = [
      'a b',
      'a;script-src *',
      "a'self'",
      'a,b',
      '*',
      '*.example.com',
      'a/b',
      'a:x',
      'a@b',
      '[::1]:8000',
      '',
    ]
    for (const host of hosts) {
      const { status, headers, body } = await ask(path, { host })
      expect([host, status, JSON.parse(body).code]).toEqual([host, 400, 'unusable_host'])
      expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
    }
  },
)

test.each(['/app/', '/docs', '/redoc'])(
  '[SEC-5] %s disables unused features such as the camera, and shares no window with other origins',
  async (path) => {
    const { headers } = await ask(path, { host: 'localhost' })
    expect(headers).toMatchObject({ 'cross-origin-opener-policy': 'same-origin', 'origin-agent-cluster': '?1' })
    const policy = String(headers['permissions-policy'])
    for (const feature of ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'display-capture'])
      expect(policy.split(', ')).toContain(`${feature}=()`)
  },
)

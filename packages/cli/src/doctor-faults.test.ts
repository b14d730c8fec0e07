import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliUser } from '@lockstep/testing/cli/command'
import { startWebProxy } from '@lockstep/testing/cli/web-proxy'
import { installPackages } from '@lockstep/testing/packed-packages'
import { freePort } from '@lockstep/testing/ports'
import { MARK, startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'

// Each diagnosis is a process that makes dozens of requests.
vi.setConfig({ testTimeout: 60_000 })

let service: TestService
const user = new CliUser()
let certificate: { key: string; cert: string }
beforeAll(async () => {
  service = await startService({ ENVIRONMENT: 'production' })
  certificate = makeCertificate()
  // The packed command, installed outside the repository: an operator does not need the source.
  installPackages(user.home, 'cli')
  user.main = join(user.home, 'node_modules/.bin/lockstep')
}, 120_000)
afterAll(async () => {
  user.dispose()
  await service.stop()
})

/** A certificate for 127.0.0.1, which the user's command line trusts. */
function makeCertificate() {
  const [key, cert] = [join(user.home, 'key.pem'), join(user.home, 'cert.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const files = ['-keyout', key, '-out', cert, '-days', '1', '-nodes']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...files, ...subject], { stdio: 'pipe' })
  user.env['NODE_EXTRA_CA_CERTS'] = cert
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

interface Check {
  name: string
  state: string
  detail: string
  remedy?: string
}
async function findings(url: string) {
  const { code, out } = await user.run(['doctor', url, '--json'])
  const { checks } = JSON.parse(out) as { checks: Check[] }
  const found = checks.filter(({ state }) => state === 'wrong')
  expect(code).toBe(found.length > 0 ? 1 : 0)
  return { checks, found, names: found.map(({ name }) => name) }
}

/** Another instance, with other settings. */
async function instance(settings: Record<string, string>) {
  const started = await startService({ ENVIRONMENT: 'production', ...settings }, { beside: service })
  onTestFinished(() => started.stop())
  return started.baseUrl
}
async function proxy(target: string, faults: Parameters<typeof startWebProxy>[1]) {
  const started = await startWebProxy(target, faults)
  onTestFinished(() => started.stop())
  return started.baseUrl
}
/** A URL that is not the loopback address, and leads to this machine. */
const onNetwork = (url: string) => url.replace('127.0.0.1', '0.0.0.0')

const faults: [name: string, fault: string, remedy: RegExp, plant: () => Promise<string>][] = [
  ['https', 'no HTTPS', /Put a proxy with a certificate/, async () => onNetwork(service.baseUrl)],
  [
    'cors',
    'an API that every website may call',
    /Set ENVIRONMENT=production, and CORS_ORIGINS/,
    async () => onNetwork(await instance({ ENVIRONMENT: 'development', CORS_ORIGINS: '*' })),
  ],
  [
    'metrics',
    'metrics for everyone',
    /return 404 for \/metrics/,
    async () => {
      const port = String(await freePort())
      return proxy(await instance({ METRICS_PORT: port }), { metricsUrl: `http://127.0.0.1:${port}` })
    },
  ],
  [
    'host',
    'a proxy that does not forward Host',
    /proxy_set_header Host \$http_host/,
    () => proxy(service.baseUrl, { replacesHost: true }),
  ],
  [
    'forwarded',
    'a proxy that the service does not trust',
    /Set TRUST_PROXY to the number of proxies/,
    () => proxy(service.baseUrl, { certificate }),
  ],
  [
    'forwarded',
    'a service that believes its clients',
    /Without a proxy set TRUST_PROXY=0/,
    () => instance({ TRUST_PROXY: '1' }),
  ],
  ['cache', 'a proxy that caches', /proxy_cache off/, () => proxy(service.baseUrl, { caches: true })],
  [
    'uploads',
    'a proxy that rejects files',
    /client_max_body_size 11m/,
    () => proxy(service.baseUrl, { maxBodyBytes: 1_048_576 }),
  ],
  [
    'instances',
    'an old instance behind the load balancer',
    /Upgrade or stop the instances/,
    () => proxy(service.baseUrl, { secondTarget: service.baseUrl, secondVersion: '0.0.9' }),
  ],
  [
    'instances',
    'an instance of another commit behind the load balancer',
    /Upgrade or stop the instances/,
    () => proxy(service.baseUrl, { secondTarget: service.baseUrl, secondRevision: 'ffffffffffff' }),
  ],
  [
    'websocket',
    'a proxy without WebSockets',
    /proxy_set_header Upgrade/,
    () => proxy(service.baseUrl, { rejectsUpgrades: true }),
  ],
  ['clock', 'a wrong clock', /timedatectl set-ntp/, () => proxy(service.baseUrl, { clockSkewMs: 60_000 })],
]

test.each(faults)('[CLI-16] %s: %s is found, with its fix, and nothing else', async (name, _, remedy, plant) => {
  const url = await plant()
  const { found, names } = await findings(url)
  // Without the loopback address, the lack of HTTPS is found too.
  expect(names.filter((each) => each === name || each !== 'https')).toEqual([name])
  expect(found.find((check) => check.name === name)?.remedy).toMatch(remedy)
})

test('[CLI-16] instances with different signing secrets are found by a login', async () => {
  const second = await instance({ JWT_SECRET: `${MARK}-another-secret-0123456789-abcdef` })
  const { email } = await service.user()
  const url = await proxy(service.baseUrl, {})
  await user.login(url, email)
  const { token } = JSON.parse(readFileSync(user.loginFile, 'utf8')) as { token: string }
  const mixed = await proxy(service.baseUrl, { secondTarget: second })
  user.env['LOCKSTEP_TOKEN'] = token
  onTestFinished(() => {
    delete user.env['LOCKSTEP_TOKEN']
  })
  const { checks } = await findings(mixed)
  const check = checks.find(({ name }) => name === 'instances')
  expect(check).toMatchObject({ state: 'wrong', remedy: expect.stringContaining('the same JWT_SECRET') })
})

test('[RUN-15] planner settings that do not hold are advice', async () => {
  const slow = await instance({ DATABASE_URL: `${service.databaseUrl}?options=-c%20jit%3Don` })
  const { checks } = await findings(slow)
  expect(checks.find(({ name }) => name === 'database')).toMatchObject({
    state: 'advice',
    remedy: expect.stringContaining('jit'),
  })
})

test('[CLI-16] a correct deployment behind HTTPS has no finding; public API documentation is advice', async () => {
  const correct = await proxy(await instance({ TRUST_PROXY: '1' }), { certificate })
  expect((await findings(correct)).names).toEqual([])
  const { checks } = await findings(onNetwork(service.baseUrl))
  expect(checks.find(({ name }) => name === 'docs')).toMatchObject({
    state: 'advice',
    remedy: expect.stringContaining('API_DOCS=off'),
  })
  const hidden = await findings(onNetwork(await instance({ API_DOCS: 'off' })))
  expect(hidden.checks.map(({ name }) => name)).not.toContain('docs')
})

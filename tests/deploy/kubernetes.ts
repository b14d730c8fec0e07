import { spawnSync } from 'node:child_process'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Secret } from 'kubernetes-models/v1/Secret'
import { Service } from 'kubernetes-models/v1/Service'
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount'
import { parseAllDocuments } from 'yaml'
import { operations } from '../../packages/contract/src/index.ts'
import { checkSecretFiles, shutdownSeconds, unknownSettings } from './lint.ts'

const kinds = {
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  NetworkPolicy,
  PodDisruptionBudget,
  ConfigMap,
  Secret,
  Service,
  ServiceAccount,
}
type Kind = keyof typeof kinds
type Labels = Record<string, string>
interface Selector {
  matchLabels?: Labels
  matchExpressions?: { key: string; operator: string; values: string[] }[]
}
interface Probe {
  httpGet?: { path: string; port: string }
}
interface Container {
  name: string
  image: string
  envFrom?: { configMapRef: { name: string } }[]
  env?: { name: string; value: string }[]
  ports?: { name: string; containerPort: number }[]
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
  volumeMounts?: { name: string; mountPath: string }[]
  resources?: { requests?: Labels; limits?: Labels }
  securityContext?: {
    allowPrivilegeEscalation?: boolean
    readOnlyRootFilesystem?: boolean
    capabilities?: { drop?: string[] }
  }
}
interface PodSpec {
  terminationGracePeriodSeconds?: number
  automountServiceAccountToken?: boolean
  serviceAccountName?: string
  securityContext?: { runAsNonRoot?: boolean; runAsUser?: number; seccompProfile?: { type: string } }
  containers: Container[]
  initContainers?: Container[]
  volumes?: { name: string; secret?: { secretName: string; items?: { key: string; path: string }[] } }[]
}
interface Peer {
  podSelector?: Selector
  namespaceSelector?: Selector
  ipBlock?: { cidr: string }
}
export interface Manifest {
  kind: Kind
  metadata: { name: string; annotations?: Labels }
  data?: Labels
  spec: {
    selector: Selector & Labels
    podSelector?: Selector
    policyTypes?: string[]
    ingress?: { ports?: { port: string | number }[] }[]
    egress?: { to?: Peer[]; ports?: { port: string | number }[] }[]
    ports?: { targetPort: string }[]
    scaleTargetRef?: { kind: string; name: string }
    strategy?: { rollingUpdate?: { maxUnavailable?: number } }
    minReplicas?: number
    template: { metadata: { labels: Labels; annotations: Labels }; spec: PodSpec }
  }
}

/** Renders a kustomize folder. */
export function renderManifests(folder: string): Manifest[] {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
}

/** Lints manifests: each against the schema of its kind, and all against each other. */
export function checkManifests(manifests: Manifest[]): string[] {
  const one = (kind: Kind) => manifests.find((manifest) => manifest.kind === kind)
  const missing = (Object.keys(kinds) as Kind[]).filter((kind) => !one(kind))
  if (missing.length > 0) return missing.map((kind) => `${kind} is missing`)
  const problems = manifests.flatMap(schemaProblems)
  if (problems.length > 0) return problems
  const deployment = one('Deployment') as Manifest
  const { template, selector, strategy } = deployment.spec
  const pod = template.spec
  const containers = [...(pod.initContainers ?? []), ...pod.containers]
  const settings = one('ConfigMap')?.data ?? {}
  const secrets = manifests.filter(({ kind }) => kind === 'Secret')
  const annotations = one('Ingress')?.metadata.annotations ?? {}
  const selectsPods = (wanted: Labels = {}) =>
    Object.keys(wanted).length > 0 &&
    Object.entries(wanted).every(([key, value]) => template.metadata.labels[key] === value)
  const ports = pod.containers.flatMap((container) => container.ports ?? [])
  const portNames = ports.map(({ name }) => name)
  const used = [
    ...(one('Service')?.spec.ports ?? []).map(({ targetPort }) => targetPort),
    ...(one('NetworkPolicy')?.spec.ingress ?? []).flatMap((rule) => (rule.ports ?? []).map(({ port }) => String(port))),
  ]
  const wrong = (isWrong: boolean, problem: string) => (isWrong ? [problem] : [])
  return [
    ...wrong(!selectsPods(selector.matchLabels), 'the deployment does not select its own pods'),
    ...wrong(!selectsPods(one('Service')?.spec.selector), 'the service selects other pods'),
    ...wrong(
      !selectsPods(one('PodDisruptionBudget')?.spec.selector.matchLabels),
      'the disruption budget selects other pods',
    ),
    ...wrong(
      !selectsPods(one('NetworkPolicy')?.spec.podSelector?.matchLabels),
      'the network policy selects other pods',
    ),
    ...wrong(one('NetworkPolicy')?.spec.policyTypes?.length !== 2, 'the network policy does not cover both directions'),
    ...wrong(
      one('HorizontalPodAutoscaler')?.spec.scaleTargetRef?.name !== deployment.metadata.name,
      'the autoscaler has another target',
    ),
    ...wrong(
      (one('HorizontalPodAutoscaler')?.spec.minReplicas ?? 1) < 2,
      'fewer than two instances cause downtime on a rollout',
    ),
    ...wrong(strategy?.rollingUpdate?.maxUnavailable !== 0, 'an instance may stop before its replacement is ready'),
    ...used.filter((name) => !portNames.includes(name)).map((name) => `no container has the port ${name}`),
    ...wrong(
      String(ports.find(({ name }) => name === 'http')?.containerPort) !== settings['PORT'],
      'PORT differs from the container port',
    ),
    ...wrong(
      String(ports.find(({ name }) => name === 'metrics')?.containerPort) !== settings['METRICS_PORT'],
      'METRICS_PORT differs from the container port',
    ),
    ...wrong(
      template.metadata.annotations['prometheus.io/port'] !== settings['METRICS_PORT'],
      'prometheus.io/port differs from METRICS_PORT',
    ),
    ...wrong(
      (pod.terminationGracePeriodSeconds ?? 30) <= shutdownSeconds(settings),
      'it is killed before it has shut down',
    ),
    ...wrong(!pod.securityContext?.runAsNonRoot || !pod.securityContext.runAsUser, 'it can run as root'),
    ...wrong(pod.securityContext?.seccompProfile?.type !== 'RuntimeDefault', 'it has no seccomp profile'),
    ...wrong(pod.automountServiceAccountToken !== false, 'it has a service account token'),
    ...wrong(pod.serviceAccountName !== one('ServiceAccount')?.metadata.name, 'it uses another service account'),
    ...wrong(
      (one('NetworkPolicy')?.spec.egress ?? []).some(({ to }) => !to?.length || to.some((peer) => !isNarrow(peer))),
      'the network policy allows any address',
    ),
    ...wrong(Object.keys(annotations).length > 0, 'the ingress is for one controller only'),
    ...unknownSettings([
      ...Object.keys(settings),
      ...containers.flatMap(({ env = [] }) => env.map(({ name }) => name)),
    ]),
    ...containers.flatMap((container) => checkContainer(container, one('ConfigMap')?.metadata.name)),
    ...containers.flatMap(({ name, env = [], volumeMounts = [] }) =>
      checkSecretFiles(
        name,
        env.map((each) => [each.name, each.value]),
        volumeMounts.flatMap((mount) => readableAt(mount, pod, secrets)),
      ),
    ),
    ...pod.containers.flatMap((container) => checkProbes(container, portNames)),
  ]
}

/** Removes line breaks that kustomize inserts into long secrets: a cluster accepts them, the schema does not. */
const withoutLineBreaks = (data: Labels) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, value.replaceAll(/\s/g, '')]))

function schemaProblems(manifest: Manifest): string[] {
  const Model = kinds[manifest.kind] as unknown as new (data: object) => { validate: () => void }
  if (!Model) return [`${manifest.kind} is not a known kind`]
  try {
    new Model(
      manifest.kind === 'Secret' ? { ...manifest, data: withoutLineBreaks(manifest.data ?? {}) } : manifest,
    ).validate()
    return []
  } catch (error) {
    return [`${manifest.kind}: ${(error as Error).message}`]
  }
}

/** Whether a peer selects pods, or a network of at most 65,536 addresses. */
function isNarrow({ podSelector, namespaceSelector, ipBlock }: Peer): boolean {
  if (ipBlock) return Number(ipBlock.cidr.split('/')[1]) >= (ipBlock.cidr.includes(':') ? 112 : 16)
  return [podSelector, namespaceSelector].some(
    (selector) => Object.keys(selector?.matchLabels ?? {}).length > 0 || (selector?.matchExpressions ?? []).length > 0,
  )
}

/** The secret files of a mount. */
function readableAt({ name, mountPath }: { name: string; mountPath: string }, pod: PodSpec, secrets: Manifest[]) {
  const volume = pod.volumes?.find((each) => each.name === name)?.secret
  const data = secrets.find(({ metadata }) => metadata.name === volume?.secretName)?.data ?? {}
  const paths = volume?.items?.filter(({ key }) => key in data).map(({ path }) => path) ?? Object.keys(data)
  return paths.map((path) => `${mountPath}/${path}`)
}

function checkContainer({ name, image, envFrom, securityContext, resources }: Container, settings?: string) {
  return [
    ...(/:\d+\.\d+\.\d+/.test(image) ? [] : [`${name}: its image is not pinned`]),
    ...(envFrom?.[0]?.configMapRef.name === settings ? [] : [`${name}: it has no settings`]),
    ...(securityContext?.allowPrivilegeEscalation === false ? [] : [`${name}: it can gain privileges`]),
    ...(securityContext?.readOnlyRootFilesystem ? [] : [`${name}: its file system is writable`]),
    ...(securityContext?.capabilities?.drop?.includes('ALL') ? [] : [`${name}: it keeps capabilities`]),
    ...(resources?.requests?.['cpu'] && resources.limits?.['memory'] ? [] : [`${name}: it has no resource limits`]),
  ]
}

/** Probes must use paths of the contract; the liveness probe must not depend on the database. */
function checkProbes(container: Container, ports: string[]): string[] {
  const wanted = { startupProbe: '/live', livenessProbe: '/live', readinessProbe: '/ready' } as const
  const paths = Object.values(operations).map(({ path }) => path as string)
  return Object.entries(wanted).flatMap(([probe, path]) => {
    const { httpGet } = container[probe as keyof typeof wanted] ?? {}
    const isRight = httpGet?.path === path && paths.includes(path) && ports.includes(httpGet.port)
    return isRight ? [] : [`${container.name}: its ${probe} does not use ${path}`]
  })
}

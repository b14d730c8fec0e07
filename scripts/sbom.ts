import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

interface Locked {
  name?: string
  version?: string
  integrity?: string
  license?: string
  link?: boolean
  resolved?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  /** What npm installs beside a package because it asks for it. */
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}
export interface Lock {
  name: string
  version: string
  packages: Record<string, Locked>
}

/** What is handed out: the service, and the web client that it sends. */
const SHIPPED = ['packages/server', 'packages/web']

/**
 * The parts that the service is shipped with, as CycloneDX: read from the lock file, so that it is the same wherever it is
 * made. (`npm sbom --omit=dev` leaves out whatever the workspace root also has as a tool: pg, redis and ws among them.)
 */
export function billOfMaterials(lock: Lock, shipped = SHIPPED) {
  const found = new Map<string, { isOptional: boolean; needs: string[] }>()
  const visit = (path: string, isOptional: boolean) => {
    const known = found.get(path)
    // A part that somebody cannot do without is no optional one, whoever else could.
    if (known && (isOptional || !known.isOptional)) return
    const entry = lock.packages[path] as Locked
    const optional = entry.optionalDependencies ?? {}
    const peers = Object.keys(entry.peerDependencies ?? {}).filter(
      (name) => !entry.peerDependenciesMeta?.[name]?.optional,
    )
    const required = [...Object.keys(entry.dependencies ?? {}), ...peers].filter((name) => !(name in optional))
    const paths = required.map((name) => resolve(lock, path, name) ?? missing(path, name))
    const extra = Object.keys(optional).flatMap((name) => resolve(lock, path, name) ?? [])
    found.set(path, { isOptional, needs: [...paths, ...extra] })
    for (const each of paths) visit(each, isOptional)
    for (const each of extra) visit(each, true)
  }
  for (const path of shipped) visit(path, false)

  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1))
  const components = sorted.map(([path, { isOptional }]) => component(path, lock.packages[path] as Locked, isOptional))
  const dependencies = sorted.map(([ref, { needs }]) => ({ ref, dependsOn: [...new Set(needs)].sort() }))
  const root = { type: 'application', 'bom-ref': lock.name, name: lock.name, version: lock.version }
  const content = {
    metadata: { component: { ...root, purl: purl(lock.name, lock.version) } },
    components,
    dependencies: [{ ref: lock.name, dependsOn: shipped }, ...dependencies],
  }
  return { bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber: serialOf(content), version: 1, ...content }
}

/** Where Node finds a package that another one asks for: beside it, or further up. */
function resolve(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder === '.' ? '' : posix.dirname(folder)) {
    const path = posix.join(folder, 'node_modules', name)
    const entry = lock.packages[path]
    if (entry) return entry.link ? entry.resolved : path
    if (folder === '') return undefined
  }
}

function missing(path: string, name: string): never {
  throw new Error(`${path} needs ${name}, which is not in the lock file`)
}

function component(path: string, { name, version = '', integrity, license }: Locked, isOptional: boolean) {
  const full = name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const [algorithm, digest] = integrity?.split('-') ?? []
  return {
    type: 'library',
    'bom-ref': path,
    name: full,
    version,
    scope: isOptional ? 'optional' : 'required',
    purl: purl(full, version),
    ...(algorithm === 'sha512' &&
      digest && { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
    ...(license && { licenses: [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }] }),
  }
}

const purl = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** A name for the content: the same parts have the same one. */
function serialOf(content: object): string {
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `a${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ]
  return `urn:uuid:${parts.join('-')}`
}

if (import.meta.main) {
  const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as Lock
  console.log(JSON.stringify(billOfMaterials(lock), null, 2))
}

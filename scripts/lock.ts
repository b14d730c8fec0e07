interface Locked {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}
interface Lock {
  packages: Record<string, Locked>
}

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'wasi',
  'win32',
]
const processors = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']

/**
 * Some registries do not have the binaries for other platforms, and npm then leaves them out of the lock file, with which
 * `npm ci` fails everywhere. They are added by what their names say: what a platform needs is found when it is needed.
 */
export function completeLock(text: string): string {
  const lock = JSON.parse(text) as Lock
  const missing = Object.values(lock.packages).flatMap((parent) =>
    Object.entries(parent.optionalDependencies ?? {})
      .filter(([name]) => !Object.keys(lock.packages).some((path) => path.endsWith(`node_modules/${name}`)))
      .map(([name, version]) => [`node_modules/${name}`, entryOf(name, version, parent)] as const),
  )
  if (missing.length === 0) return text
  const packages = Object.entries({ ...lock.packages, ...Object.fromEntries(missing) })
  packages.sort(([a], [b]) => a.localeCompare(b, 'en'))
  return `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`
}

function entryOf(name: string, version: string, parent: Locked): Locked {
  const words = name.split(/[-/]/)
  const os = systems.filter((system) => words.includes(system))
  const cpu = processors.filter((processor) => words.includes(processor))
  const libc = name.includes('musl') ? ['musl'] : words.includes('gnu') ? ['glibc'] : []
  return {
    version: version.replace(/^[\^~]/, ''),
    ...(cpu.length > 0 && { cpu }),
    ...(parent.dev && { dev: true }),
    ...(libc.length > 0 && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  }
}

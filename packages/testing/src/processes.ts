import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, rmSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from '@redis/client'
import pg from 'pg'
import { freePort } from './ports.ts'
import { OUTPUT } from './template-database.ts'

/** A process that a test started. */
export interface RunningProcess {
  pid: number
  /** Its output so far. */
  output: () => string
  /** Its exit code; null when a signal ended it. */
  ended: Promise<number | null>
  hasEnded: () => boolean
  signal: (signal: NodeJS.Signals) => void
  /** Ends it with a signal and waits for its exit code. */
  end: (signal?: NodeJS.Signals) => Promise<number | null>
}
export interface ServiceProcess extends RunningProcess {
  baseUrl: string
}
export interface Store {
  url: string
  process: () => RunningProcess
  /** Starts it again on the same data and the same port. */
  start: () => Promise<void>
}

const MAIN = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const ADMIN = fileURLToPath(new URL('../../server/src/administration/admin.ts', import.meta.url))
/** Long, because a start may compete with the load of the test. */
const START_MS = 180_000
const running = new Set<ChildProcess>()
const folders = new Set<string>()

/** Ends all remaining processes and removes all folders. For `afterAll`, so that it also runs when a test failed. */
export async function endProcesses() {
  await Promise.all([...running].map((child) => endChild(child)))
  await Promise.all([...folders].map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })))
  folders.clear()
}
// An interrupted run cleans up too. Without a listener, a signal would end it at once.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))

/** A frozen process must be resumed before it can exit. PostgreSQL ends its child processes only on SIGQUIT. */
async function endChild(child: ChildProcess) {
  child.kill('SIGCONT')
  child.kill('SIGQUIT')
  const isGone = new Promise((resolve) => child.once('exit', resolve))
  const timer = setTimeout(() => child.kill('SIGKILL'), 3_000)
  if (running.has(child)) await isGone
  clearTimeout(timer)
}

/** Polls until a condition holds. The timeout is long, because the machine may be busy. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  patienceMs = 60_000,
) {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const found = await ask()
    if (found !== undefined && found !== false) return found
    if (Date.now() > deadline) throw new Error(`Timed out waiting: ${what}`)
    await pause(10)
  }
}

/** Inherited environment: the PATH, and the cache of compiled code, which halves the start time. */
export const inherited = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }

/** Starts the service as a process, or another version of it. It gets only the given settings as its environment. */
export async function startServiceProcess(
  settings: Record<string, string>,
  main = MAIN,
  logFile?: string,
): Promise<ServiceProcess> {
  for (;;) {
    const port = settings['PORT'] ?? String(await freePort())
    const env = { ...inherited, LOG_LEVEL: 'debug', ...settings, PORT: port }
    const service = launch(process.execPath, [main], { env, ...(logFile && { logFile }) })
    const baseUrl = `http://127.0.0.1:${port}`
    const isUp = async () => service.hasEnded() || (await responses(`${baseUrl}/health`))
    await eventually('the service listens', isUp, START_MS)
    void service.ended.then(() => keepOutput(service))
    if (!service.hasEnded()) return { ...service, baseUrl }
    if (!/EADDRINUSE|is in use/.test(service.output()))
      throw new Error(`The service did not start: ${service.output()}`)
  }
}
/** Runs an admin command: the arguments after `npm run admin --`. */
export const startAdmin = (args: string[], settings: Record<string, string>): RunningProcess =>
  launch(process.execPath, [ADMIN, ...args], { env: { ...inherited, ...settings } })

const responses = (url: string) =>
  fetch(url).then(
    (response) => response.text().then(() => true),
    () => false,
  )
/** Keeps the output for the scan for secrets after the run. */
async function keepOutput({ pid, output }: RunningProcess) {
  await writeFile(new URL(`log-process-${pid}.jsonl`, OUTPUT), output())
}

export interface PostgresStore extends Store {
  /** Its data directory. */
  data: string
}
export interface PostgresOptions {
  /** Additional settings, as `name=value`. */
  settings?: string[]
  /** Fills the data directory from another source than `initdb`: a copy or a backup. */
  make?: (data: string) => Promise<void>
}

/** A PostgreSQL server of the test, which it may stop, kill and restart. */
export async function startPostgres({
  settings = [],
  make = initialize,
}: PostgresOptions = {}): Promise<PostgresStore> {
  const folder = await newPostgresFolder()
  const data = join(folder, 'data')
  await make(data)
  const all = [
    // In these tests only processes fail, not the machine, so data in the kernel's cache is safe.
    'fsync=off',
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'shared_buffers=16MB',
    ...settings,
  ]
  const store = await startStore((port) => {
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    const args = ['-D', data, '-p', String(port), ...all.flatMap((setting) => ['-c', setting])]
    return {
      url,
      begin: () => launch(join(postgresPrograms(), 'postgres'), args, unprivileged()),
      isReady: () => isPostgres(url),
    }
  })
  return { ...store, data }
}

async function initialize(data: string) {
  const options = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  const making = launch(join(postgresPrograms(), 'initdb'), options, unprivileged())
  assert.equal(await making.ended, 0, making.output())
}

/** A folder that PostgreSQL may write to. */
export async function newPostgresFolder() {
  const folder = await newFolder()
  const owner = unprivileged()
  if (owner) await chown(folder, owner.uid, owner.gid)
  return folder
}

/** Runs a shell script as the user `postgres`, with PostgreSQL's programs in the PATH. */
export async function runAsPostgres(script: string, env: Record<string, string> = {}) {
  const path = `${postgresPrograms()}:${process.env['PATH']}`
  const running = launch('sh', ['-euc', script], { env: { ...env, PATH: path }, ...unprivileged() })
  assert.equal(await running.ended, 0, running.output())
}

/** A Redis server of the test, with additional options of `redis-server`. */
export async function startRedis(...options: string[]): Promise<Store> {
  const folder = await newFolder()
  return startStore((port) => {
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      folder,
      ...options,
    ]
    const url = `redis://127.0.0.1:${port}`
    return { url, begin: () => launch('redis-server', args), isReady: () => isRedis(url) }
  })
}

interface StoreKind {
  url: string
  begin: () => RunningProcess
  isReady: () => Promise<boolean>
}
async function startStore(kindAt: (port: number) => StoreKind): Promise<Store> {
  for (;;) {
    const { url, begin, isReady } = kindAt(await freePort())
    let current = begin()
    const isUp = () => eventually(`${url} is ready`, async () => current.hasEnded() || (await isReady()))
    await isUp()
    // Another process took the port in the meantime.
    if (current.hasEnded() && /in use/.test(current.output())) continue
    assert.ok(!current.hasEnded(), current.output())
    const start = async () => {
      await eventually(`${url} starts again`, async () => {
        current = begin()
        await isUp()
        // Child processes of a killed PostgreSQL may still use its shared memory for a moment.
        return !current.hasEnded()
      })
    }
    return { url, process: () => current, start }
  }
}

/** Subscribes to a shard channel of Redis like another instance, and can publish to it. */
export async function hear(url: string, channel: string) {
  const client = createClient({ url, socket: { reconnectStrategy: 20 } })
  const speaker = client.duplicate()
  // Redis may be stopped meanwhile; the client subscribes again after reconnecting.
  for (const each of [client, speaker]) each.on('error', () => {})
  await Promise.all([client.connect(), speaker.connect()])
  const messages: string[] = []
  await client.sSubscribe(channel, (message) => void messages.push(message))
  return {
    messages,
    say: (message: string) => speaker.sPublish(channel, message),
    [Symbol.dispose]: () => {
      client.destroy()
      speaker.destroy()
    },
  }
}

/** The number of database connections that wait for a lock. */
export async function lockWaiters(sql: pg.Pool): Promise<number> {
  const { rowCount } = await sql.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rowCount ?? 0
}

/** Takes a board's lock like a change of another instance. Disposing releases it. */
export async function holdBoard(sql: pg.Pool, board_id: string) {
  const holder = await sql.connect()
  await holder.query('begin')
  await holder.query('select from board_stream where board_id = $1 for no key update', [board_id])
  let isHeld = true
  const release = async () => {
    if (isHeld) await holder.query('commit')
    if (isHeld) holder.release()
    isHeld = false
  }
  return {
    isAwaited: () => eventually('a change waits for the lock', async () => (await lockWaiters(sql)) > 0),
    /** Runs a statement in the transaction that holds the lock. */
    query: (text: string, values: unknown[]) => holder.query(text, values),
    release,
    [Symbol.asyncDispose]: release,
  }
}

async function isPostgres(url: string) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}

/** Whether a Redis accepts connections and the credentials of the URL. */
export async function isRedis(url: string) {
  const client = createClient({ url, socket: { reconnectStrategy: false } })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    client.destroy()
  }
}

/** Starts a program, which `endProcesses` ends. With `logFile` its output goes there instead of memory. */
export function launch(
  command: string,
  args: string[],
  { logFile, ...options }: { cwd?: string; env?: NodeJS.ProcessEnv; uid?: number; gid?: number; logFile?: string } = {},
): RunningProcess {
  const target = logFile === undefined ? 'pipe' : openSync(logFile, 'w')
  const child = spawn(command, args, { ...options, stdio: ['ignore', target, target] })
  if (typeof target === 'number') closeSync(target)
  running.add(child)
  let output = ''
  let isOver = false
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (output += text.toString()))
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', (error) => (output += error.message))
    const over = (code: number | null) => {
      isOver = true
      running.delete(child)
      resolve(code)
    }
    child.once('error', () => over(-1))
    child.once('exit', over)
  })
  const signal = (name: NodeJS.Signals) => void child.kill(name)
  return {
    pid: child.pid ?? -1,
    output: () => output,
    ended,
    hasEnded: () => isOver,
    signal,
    end: (name = 'SIGTERM') => {
      signal(name)
      return ended
    },
  }
}

/** A temporary folder, which `endProcesses` removes. */
export async function newFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-'))
  folders.add(folder)
  return folder
}

/** PostgreSQL does not run as root; its package creates the user `postgres`. */
export function unprivileged() {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (kind: '-u' | '-g') => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** Debian keeps a folder of programs for each version. */
export function postgresPrograms() {
  const root = '/usr/lib/postgresql'
  const [newest] = readdirSync(root).sort((a, b) => Number(b) - Number(a))
  return process.env['TEST_POSTGRES_BIN'] ?? join(root, newest ?? '', 'bin')
}

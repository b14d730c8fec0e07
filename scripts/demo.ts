import { createHmac, randomBytes } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { parseArgs } from 'node:util'
import { buildApp } from '../packages/server/src/app.ts'
import { readConfig } from '../packages/server/src/config/read-config.ts'
import { ensureDatabase, migrate } from '../packages/server/src/database/migrations/migrate.ts'
import { createLogger } from '../packages/server/src/telemetry/logger.ts'
import { buildWeb, isWebBuilt } from './build-web.ts'
import { makeDemoBoard } from './demo-board.ts'
import { people } from './demo-cards.ts'
import { startPostgres } from './demo-postgres.ts'

const HELP = `npm run demo [-- options]

Brings up Lockstep with a PostgreSQL of its own, a board to try, and two people. Ctrl-C ends it and deletes its data.

  --port <number>   the first port to try; 8000 unless told
  --no-build        serves the web client as it was built last
  --help            prints this

DATABASE_URL names a PostgreSQL to use instead of one of its own; the database must be empty or the demo's.`

type App = Awaited<ReturnType<typeof buildApp>>

const options = readOptions()
const ending = new AbortController()
const isAskedToEnd = once(ending.signal, 'abort')
// At a terminal npm passes on the Ctrl-C that we were sent too: the second one means nothing new.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort())
// The shell between npm and us passes no signal on: when npm is ended, we only see that our parent is gone.
const parent = process.ppid
const isFromNpm = process.env['npm_lifecycle_event'] === 'demo'
if (isFromNpm) setInterval(() => process.ppid === parent || ending.abort(), 500).unref()

const opened = new AsyncDisposableStack()
let exit_code = 0
try {
  await start()
  await isAskedToEnd
} catch (error) {
  if (!ending.signal.aborted) giveUp(`The demo did not start. ${sentenceOf(error)}`)
}
setTimeout(() => process.exit(1), 15_000).unref()
await opened.disposeAsync()
if (exit_code === 0) console.log('\nThe demo has ended.')
process.exit(exit_code)

async function start() {
  if (options.builds && !isWebBuilt()) await step('Web client', () => buildWeb(ending.signal))
  const { database_url, password } = await step('PostgreSQL', findDatabase)
  await step('Tables', () => migrate(database_url))
  const port = await freePort(options.port)
  const base_url = `http://127.0.0.1:${port}`
  const board = Promise.withResolvers<string>()
  await step('Service', () => listen(database_url, port, (app) => addSignIn(app, password, board.promise)))
  board.resolve(await step('Demo board', () => makeDemoBoard(base_url, password)))
  console.log(`
Lockstep is ready. Two people share a board: open both links, side by side.

  Ada    ${base_url}/app/demo/ada
  Grace  http://localhost:${port}/app/demo/grace

Browsers keep cookies by host, so one browser can be both of them.
The API is at ${base_url}/docs. Ctrl-C ends the demo${process.env['DATABASE_URL'] ? '' : ' and deletes its data'}.`)
}

function giveUp(sentence: string) {
  exit_code = 1
  console.error(`\n${sentence}`)
  ending.abort()
}

/** The database that was asked for, or a new one; and the password that the demo's people have in it. */
async function findDatabase() {
  const database_url = process.env['DATABASE_URL']
  if (database_url) {
    await ensureDatabase(database_url)
    // The same at the next run, and no other: this is how the demo knows its own people again.
    return { database_url, password: createHmac('sha256', database_url).update('demo').digest('base64url') }
  }
  try {
    const { url, ended } = opened.use(await startPostgres())
    void ended.then(() => opened.disposed || giveUp('PostgreSQL has ended by itself.'))
    return { database_url: url, password: randomBytes(24).toString('base64url') }
  } catch (error) {
    throw new Error(`${sentenceOf(error)}\nSet DATABASE_URL to a PostgreSQL of yours, and the demo uses that.`)
  }
}

/** The service as it is, without Redis, for this machine alone. */
async function listen(database_url: string, port: number, addRoutes: (app: App) => void) {
  const config = readConfig({
    DATABASE_URL: database_url,
    REDIS_URL: '',
    JWT_SECRET: randomBytes(48).toString('base64url'),
    CORS_ORIGINS: '',
    RATE_LIMITS: 'off',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'warn',
  })
  const app = await buildApp(config, createLogger(config.log))
  opened.defer(() => app.close())
  addRoutes(app)
  // Both 127.0.0.1 and ::1, where a browser looks first.
  await app.listen({ host: 'localhost', port })
}

/** A link that logs a person in, as the form of the login does, and leads to the board. */
function addSignIn(app: App, password: string, board_id: Promise<string>) {
  for (const { username, email } of Object.values(people)) {
    app.get(`/app/demo/${username}`, async (_request, reply) => {
      const { headers } = await app.inject({
        method: 'POST',
        url: '/auth/login',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ username: email, password, cookie: 'true' }).toString(),
      })
      // There is none when the visitor has changed the password; the client then asks for it.
      if (headers['set-cookie'] !== undefined) reply.header('set-cookie', headers['set-cookie'])
      return reply.header('cache-control', 'no-store').redirect(`/app/b/${await board_id}`)
    })
  }
}

/** One line for each step, with the time it took. */
async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  ending.signal.throwIfAborted()
  const started = performance.now()
  process.stdout.write(`${name} … `)
  const result = await work()
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`)
  return result
}

async function freePort(first: number): Promise<number> {
  const addresses = await lookup('localhost', { all: true })
  for (let port = first; port < Math.min(first + 100, 65_536); port++) {
    const free = await Promise.all(addresses.map(({ address }) => isFree(port, address)))
    if (free.every(Boolean)) return port
  }
  throw new Error(`No port from ${first} on is free: give another one with --port.`)
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    // A machine without IPv6 may still have a name for ::1.
    probe.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE' && code !== 'EACCES'))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '8000' },
        'no-build': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) {
      console.log(HELP)
      process.exit(0)
    }
    const port = Number(values.port)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error('--port is a number up to 65535.')
    return { port, builds: !values['no-build'] }
  } catch (error) {
    console.error(`${sentenceOf(error)}\n\n${HELP}`)
    process.exit(2)
  }
}

/** Some errors of connections have a code and no message. */
function sentenceOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || (code ?? 'Nobody knows why.')
}

import { createHmac, randomBytes } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Token } from '@lockstep/client'
import { buildApp } from '../packages/server/src/app.ts'
import { readConfig } from '../packages/server/src/config/read-config.ts'
import { ensureDatabase, migrate } from '../packages/server/src/database/migrations/migrate.ts'
import { exitWithUsage, readArguments } from '../packages/server/src/platform/command-line.ts'
import { createLogger } from '../packages/server/src/telemetry/logger.ts'
import { loginOf } from '../packages/web/src/login.ts'
import { buildWeb, isWebBuilt } from './build-web.ts'
import { makeDemoBoard } from './demo-board.ts'
import { people } from './demo-cards.ts'
import { startPostgres } from './demo-postgres.ts'

const HELP = `npm run demo [-- options]

Starts Lockstep with its own PostgreSQL, a demo board and two users. Ctrl-C stops it and deletes its data.

  --port <number>   first port to try (default: 8000)
  --no-build        use the last build of the web client
  --version         print the version
  --help            show this help

Set DATABASE_URL to use your own PostgreSQL instead. The database must be empty, or from an earlier demo.`

type App = Awaited<ReturnType<typeof buildApp>>

const options = readOptions()
const ending = new AbortController()
const stopRequested = once(ending.signal, 'abort')
// At a terminal both npm and the terminal send SIGINT; the second one has no effect.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort())
// The shell between npm and this process does not forward signals. Detect that npm has ended by a changed parent process.
const parent = process.ppid
const isFromNpm = process.env['npm_lifecycle_event'] === 'demo'
if (isFromNpm) setInterval(() => process.ppid === parent || ending.abort(), 500).unref()

const opened = new AsyncDisposableStack()
let exitCode = 0
try {
  await start()
  await stopRequested
} catch (error) {
  if (!ending.signal.aborted) giveUp(`The demo did not start. ${messageOf(error)}`)
}
setTimeout(() => process.exit(1), 15_000).unref()
await opened.disposeAsync()
if (exitCode === 0) console.log('\nThe demo has stopped.')
process.exit(exitCode)

async function start() {
  if (options.builds && !isWebBuilt()) await step('Web client', () => buildWeb(ending.signal))
  const { databaseUrl, password } = await step('PostgreSQL', findDatabase)
  await step('Tables', () => migrate(databaseUrl))
  const port = await freePort(options.port)
  const baseUrl = `http://127.0.0.1:${port}`
  const board = Promise.withResolvers<string>()
  await step('Service', () => listen(databaseUrl, port, (app) => addSignIn(app, password, board.promise)))
  board.resolve(await step('Demo board', () => makeDemoBoard(baseUrl, password)))
  console.log(`
Lockstep is ready. Two users share a board: open both links side by side.

  Ada    ${baseUrl}/demo/ada
  Grace  http://localhost:${port}/demo/grace

The two host names have separate cookies, so one browser can be logged in as both users.

  API documentation  ${baseUrl}/docs
  Realtime console   ${baseUrl}/docs/realtime
  Log in there as    ${people.ada.email}, password ${password}

Ctrl-C stops the demo${process.env['DATABASE_URL'] ? '' : ' and deletes its data'}.`)
}

function giveUp(message: string) {
  exitCode = 1
  console.error(`\n${message}`)
  ending.abort()
}

/** The database of DATABASE_URL, or a new one, and the password of the demo users in it. */
async function findDatabase() {
  const databaseUrl = process.env['DATABASE_URL']
  if (databaseUrl) {
    await ensureDatabase(databaseUrl)
    // Derived from the URL, so that the next run can log in as the same users.
    return { databaseUrl, password: createHmac('sha256', databaseUrl).update('demo').digest('base64url') }
  }
  try {
    const { url, ended } = opened.use(await startPostgres())
    void ended.then(() => opened.disposed || giveUp('PostgreSQL has stopped unexpectedly.'))
    return { databaseUrl: url, password: randomBytes(24).toString('base64url') }
  } catch (error) {
    throw new Error(`${messageOf(error)}\nSet DATABASE_URL to use your own PostgreSQL.`)
  }
}

/** Starts the service without Redis, on localhost only. */
async function listen(databaseUrl: string, port: number, addRoutes: (app: App) => void) {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
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
  // Both 127.0.0.1 and ::1: browsers try ::1 first.
  await app.listen({ host: 'localhost', port })
}

/** Adds a page for each user that logs them in like the login form, and continues to the board. */
function addSignIn(app: App, password: string, board_id: Promise<string>) {
  for (const { username, email } of Object.values(people)) {
    app.get(`/demo/${username}`, async (_request, reply) => {
      const { headers, ...response } = await app.inject({
        method: 'POST',
        url: '/auth/login',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ username: email, password, cookie: 'true' }).toString(),
      })
      const board = `/app/b/${await board_id}`
      reply.header('cache-control', 'no-store')
      // No cookie if the visitor has changed the password; the client then shows the login.
      if (headers['set-cookie'] === undefined) return reply.redirect(board)
      const login = JSON.stringify(loginOf(response.json<Token>()))
      const nonce = randomBytes(16).toString('base64')
      return reply
        .header('set-cookie', headers['set-cookie'])
        .header('content-security-policy', `default-src 'none'; script-src 'nonce-${nonce}'`)
        .type('text/html; charset=utf-8')
        .send(
          `<!doctype html><title>Lockstep</title><script nonce="${nonce}">
          localStorage.setItem('lockstep/login', ${JSON.stringify(login)})
          location.replace('${board}')
        </script>`,
        )
    })
  }
}

/** Runs a step, and prints its name and duration. */
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
  throw new Error(`No free port from ${first} on: choose another with --port.`)
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    // Without IPv6, localhost may still resolve to ::1.
    probe.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE' && code !== 'EACCES'))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })
}

function readOptions() {
  const options = {
    port: { type: 'string', default: '8000' },
    'no-build': { type: 'boolean', default: false },
  } as const
  const { values } = readArguments({ help: HELP, options })
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    exitWithUsage('--port must be a number from 1 to 65535. See --help.')
  return { port, builds: !values['no-build'] }
}

/** Some connection errors have a code but no message. */
function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || (code ?? 'Unknown error.')
}

import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { freePort } from '@lockstep/testing/ports'
import {
  endProcesses,
  eventually,
  inherited,
  launch,
  startPostgres,
  startServiceProcess,
} from '@lockstep/testing/processes'
import { MARK } from '@lockstep/testing/service'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION } from './platform/version.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))
const production = { ENVIRONMENT: 'production', JWT_SECRET: `${MARK}-0123456789-secret-of-the-starts`, REDIS_URL: '' }
const development = { LOG_FORMAT: 'json', REDIS_URL: '' }

let postgres: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  postgres = await startPostgres()
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query('create role newcomer login nosuperuser')
  await client.end()
}, 120_000)
afterAll(endProcesses)

const start = (settings: Record<string, string>, args: string[] = []) =>
  launch(process.execPath, [MAIN, ...args], { env: { ...inherited, ...settings } })
const isReady = (port: string) =>
  fetch(`http://127.0.0.1:${port}/ready`).then(
    ({ ok }) => ok,
    () => false,
  )
const at = (path: string, user = 'postgres') => postgres.url.replace('postgres@', `${user}@`).replace(/\/\w+$/, path)

interface Line {
  level: string
  msg: string
}
/** Starts the service, which must fail. Returns its last line; every line is JSON and none has a stack. */
async function failure(settings: Record<string, string>): Promise<string> {
  const service = start(settings)
  expect(await service.ended).toBe(1)
  const lines = service.output().trim().split('\n')
  const last = lines.map((line) => JSON.parse(line) as Line).at(-1)
  expect(service.output()).not.toMatch(/"stack"|\n\s+at |Redis/)
  expect(service.output()).not.toContain(MARK)
  expect(last?.level).toBe('fatal')
  return last?.msg ?? ''
}

describe.each([
  ['production', production],
  ['development', development],
])('in %s a failed start is one sentence', (_, settings) => {
  test('[RUN-9] a role that may not log in', async () => {
    const said = await failure({ ...settings, DATABASE_URL: at('/postgres', 'nobody') })
    expect(said).toMatch(
      /^PostgreSQL at 127\.0\.0\.1:\d+ rejects the user "nobody" \(role "nobody" does not exist\)\. Correct/,
    )
  })

  test('[RUN-9] a port in use', async () => {
    const port = await freePort()
    const other = createServer().listen(port, '127.0.0.1')
    const said = await failure({ ...settings, DATABASE_URL: at('/postgres'), PORT: String(port) })
    expect(said).toBe(`Port ${port} of 127.0.0.1 is in use. Stop the process that uses it, or set PORT to another one.`)
    other.close()
  })

  test('[RUN-9] [RUN-10] a misspelt setting', async () => {
    expect(await failure({ ...settings, RATE_LIMIT: 'off' })).toBe(
      'RATE_LIMIT is not a setting. Did you mean RATE_LIMITS?',
    )
  })
})

test('[RUN-9] a missing database, which only development creates', async () => {
  expect(await failure({ ...production, DATABASE_URL: at('/nowhere') })).toMatch(
    /^PostgreSQL at 127\.0\.0\.1:\d+ has no database "nowhere"\. Create it, or correct DATABASE_URL\.$/,
  )
  expect(await failure({ ...development, DATABASE_URL: at('/another', 'newcomer') })).toMatch(
    /^The user "newcomer" of DATABASE_URL lacks a privilege .+permission denied to create database/,
  )
})

test('[RUN-9] the port of the metrics, and an address of another machine', async () => {
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.1')
  const settings = { ...production, DATABASE_URL: at('/postgres'), PORT: '0' }
  expect(await failure({ ...settings, METRICS_PORT: String(port) })).toMatch(
    /is in use\. .+set METRICS_PORT to another/,
  )
  other.close()
  expect(await failure({ ...settings, HOST: '192.0.2.1' })).toBe(
    'This machine has no address 192.0.2.1 (EADDRNOTAVAIL). Correct HOST.',
  )
})

test('[RUN-9] a wrong password', { timeout: 120_000 }, async () => {
  const strict = await startPostgres()
  const client = new pg.Client({ connectionString: strict.url })
  await client.connect()
  await client.query(`create role guest login password '${MARK}'`)
  await client.query(`copy (select 'host all guest 127.0.0.1/32 scram-sha-256') to '${strict.data}/pg_hba.conf'`)
  await client.query('select pg_reload_conf()')
  await client.end()
  const withPassword = (password: string) => strict.url.replace('postgres@', `guest${password}@`)
  expect(await failure({ ...production, DATABASE_URL: withPassword(':wrong') })).toMatch(
    /^PostgreSQL at 127\.0\.0\.1:\d+ rejects the password of the user "guest", or has no such user\. Correct DATABASE_URL\.$/,
  )
  expect(await failure({ ...production, DATABASE_URL: withPassword('') })).toMatch(
    /^PostgreSQL at 127\.0\.0\.1:\d+ requires a password for the user "guest", and DATABASE_URL has none\.$/,
  )
})

describe('a PostgreSQL that is not reachable', () => {
  test('[RUN-11] the start waits for it', { timeout: 120_000 }, async () => {
    const late = await startPostgres()
    await late.process().end('SIGINT')
    const port = String(await freePort())
    const service = start({ ...production, DATABASE_URL: late.url, PORT: port })
    await eventually('the service waits', () => service.output().includes('Trying again for 30 s'))
    await late.start()
    await eventually('the service is ready', () => isReady(port))
    expect(service.output().match(/Trying again/g)).toHaveLength(1)
    await service.end()
  })

  test('[RUN-9] [RUN-11] after 30 seconds the start fails', { timeout: 120_000 }, async () => {
    const began = performance.now()
    const port = await freePort()
    const said = await failure({ ...production, DATABASE_URL: `postgres://u:${MARK}@127.0.0.1:${port}/x` })
    expect(said).toBe(
      `PostgreSQL cannot be reached at 127.0.0.1:${port} (ECONNREFUSED). Start it, or correct DATABASE_URL.`,
    )
    expect(performance.now() - began).toBeGreaterThan(30_000)
  })
})

test('[RUN-13] [OBS-19] the start line names the version, the commit, the mode and the addresses', async () => {
  const REVISION = '3df1bfedd16cff61ba14a5c00dfa122fd39a1d33'
  const service = await startServiceProcess({ ...production, DATABASE_URL: at('/postgres'), API_DOCS: 'on', REVISION })
  const { baseUrl } = service
  const line = new RegExp(
    `"msg":"Lockstep ${VERSION} \\(commit 3df1bfedd16c\\) in production: API at ${baseUrl}(, web client at ${baseUrl}/app)?, API documentation at ${baseUrl}/docs"`,
  )
  await eventually('the start line', () => line.test(service.output()))
  expect(service.output()).toMatch(new RegExp(`"service":"lockstep","version":"${VERSION}","instance":"[^"]+:\\d+"`))
  await service.end()
})

test('[RUN-14] SIGTERM to npm start shuts the service down: npm ends with its exit code, and the port is closed', async () => {
  const port = String(await freePort())
  const settings = { ...production, DATABASE_URL: at('/postgres'), PORT: port }
  const npm = launch('npm', ['start'], { env: { ...inherited, ...settings } })
  await eventually('the service is ready', () => isReady(port))
  // 1 would be the exit code of a shutdown that took longer than documented.
  expect(await npm.end()).toBe(0)
  const failure = await fetch(`http://127.0.0.1:${port}/ready`).catch(({ cause }) => cause)
  expect(failure).toMatchObject({ code: 'ECONNREFUSED' })
}, 120_000)

test('[RUN-12] --help and --version work without settings; an unknown option is one sentence', async () => {
  const help = start({}, ['--help'])
  expect([await help.ended, help.output()]).toEqual([0, expect.stringMatching(/^npm start\n/)])
  const version = start({}, ['--version'])
  expect([await version.ended, version.output()]).toEqual([0, `${VERSION}\n`])
  const unknown = start({}, ['--prot', '8001'])
  expect([await unknown.ended, unknown.output()]).toEqual([2, "Unknown option '--prot'. See --help.\n"])
})

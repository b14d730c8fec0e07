import { chmodSync } from 'node:fs'
import { createServer } from 'node:http'
import { Person } from '@lockstep/testing/cli/command'
import { startWebProxy } from '@lockstep/testing/cli/web-proxy'
import { freePort } from '@lockstep/testing/ports'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
let person: Person
beforeAll(async () => {
  service = await startService()
  board = await service.board()
})
afterAll(() => service.stop())
beforeEach(() => {
  person = new Person()
})
afterEach(() => person.leave())

interface Check {
  name: string
  state: string
  detail: string
  remedy?: string
}
/** What it found, by name; and that the exit code says the same. */
async function examined(...args: string[]) {
  const { code, out } = await person.run(['doctor', ...args, '--json'])
  const { is_ok, checks } = JSON.parse(out) as { is_ok: boolean; checks: Check[] }
  expect(code).toBe(is_ok ? 0 : 1)
  return { is_ok, ...Object.fromEntries(checks.map((check) => [check.name, check])) } as {
    is_ok: boolean
  } & Partial<Record<string, Check>>
}
const wrong = (detail: RegExp, remedy: RegExp) => ({
  state: 'wrong',
  detail: expect.stringMatching(detail),
  remedy: expect.stringMatching(remedy),
})
/** Does something through a proxy of these manners. */
async function behind(manners: Parameters<typeof startWebProxy>[1], work: (url: string) => Promise<void>) {
  const proxy = await startWebProxy(service.base_url, manners)
  try {
    await work(proxy.base_url)
  } finally {
    await proxy.stop()
  }
}

test('[CLI-14] where all is well every check is a line, and an event comes through within a second', async () => {
  await person.login(service.base_url, board.owner.email)
  const before = await board.owner.api.call('getBoard', { params: { board_id: board.id } })
  const { code, out } = await person.run(['doctor', '--board', 'Plan'])
  expect(out.replaceAll(/\d+ (ms|min)/g, 'n $1')).toBe(`✓ address     ${service.base_url} answers
✓ service     Lockstep 0.1.0
✓ database    connected
✓ redis       connected
✓ clock       as here
✓ round trip  n ms
✓ login       as ${board.owner.username}, for n min more; renewed while it is used
✓ websocket   gets through
✓ event       came through the socket after n ms
`)
  expect(code).toBe(0)
  const order = ({ columns }: typeof before) => columns.map(({ id }) => id)
  expect(order(await board.owner.api.call('getBoard', { params: { board_id: board.id } }))).toEqual(order(before))
})

test('[CLI-14] without a login it looks at the rest', async () => {
  expect(await examined(service.base_url, '--board', 'Plan')).toMatchObject({
    is_ok: true,
    login: { state: 'skipped' },
    websocket: { state: 'ok' },
    event: { state: 'skipped' },
  })
  expect(await person.run(['doctor'])).toMatchObject({ code: 2 })
})

test('[CLI-14] an address where nothing listens, a name that is none, and something else are told apart', async () => {
  const nothing = await examined(`http://127.0.0.1:${await freePort()}`)
  expect(nothing['address']).toMatchObject(wrong(/ECONNREFUSED/, /Start the service/))
  const nobody = await examined('http://no-such-machine.invalid')
  expect(nobody['address']).toMatchObject(wrong(/ENOTFOUND|EAI_AGAIN/, /name/))
  const tls = await examined(service.base_url.replace('http:', 'https:'))
  expect(tls['address']).toMatchObject(wrong(/SSL|EPROTO/, /http:\/\//))
  const port = await freePort()
  const other = createServer((_, response) => void response.end('<h1>It works!</h1>')).listen(port, '127.0.0.1')
  expect((await examined(`http://127.0.0.1:${port}`))['service']).toMatchObject(wrong(/not Lockstep/, /proxy/))
  other.close()
})

test('[CLI-14] a redirect is no address to work with', async () => {
  const port = await freePort()
  const redirect = createServer(({ url }, response) => {
    response.writeHead(301, { location: service.base_url + url }).end()
  }).listen(port, '127.0.0.1')
  const { service: found } = await examined(`http://127.0.0.1:${port}`)
  expect(found).toMatchObject(wrong(/redirect/, new RegExp(`--url ${service.base_url}`)))
  redirect.close()
})

test('[CLI-14] no Redis and no database are found, with what to do', async () => {
  const nowhere = async (scheme: string) => `${scheme}://127.0.0.1:${await freePort()}`
  const degraded = await startService({ REDIS_URL: await nowhere('redis') }, { beside: service })
  expect(await examined(degraded.base_url)).toMatchObject({
    is_ok: false,
    database: { state: 'ok' },
    redis: wrong(/not connected/, /REDIS_URL/),
    websocket: { state: 'ok' },
  })
  await degraded.stop()
  const single = await startService({ REDIS_URL: '' }, { beside: service })
  expect(await examined(single.base_url)).toMatchObject({ is_ok: true, redis: { state: 'ok' } })
  await single.stop()
  const failing = await startService({ DATABASE_URL: `${await nowhere('postgres')}/lost` }, { beside: service })
  expect(await examined(failing.base_url)).toMatchObject({
    is_ok: false,
    database: wrong(/not connected/, /DATABASE_URL/),
    redis: { state: 'skipped' },
  })
  await failing.stop()
})

test('[CLI-14] clocks that differ are found, in either direction', async () => {
  await behind({ clock_ms: -600_000 }, async (url) => {
    expect((await examined(url))['clock']).toMatchObject(wrong(/10 min behind/, /timedatectl/))
  })
  await behind({ clock_ms: 90_000 }, async (url) => {
    expect((await examined(url))['clock']).toMatchObject(wrong(/(89|90|91) s ahead/, /timedatectl/))
  })
})

test('[CLI-14] a token that others can read is found, and one that is none', async () => {
  await person.login(service.base_url, board.owner.email)
  chmodSync(person.login_file, 0o644)
  expect((await examined())['login']).toMatchObject(wrong(/others/, /chmod 600/))
  person.env['LOCKSTEP_TOKEN'] = 'none'
  expect((await examined())['login']).toMatchObject(wrong(/never/, /lockstep login/))
})

test('[CLI-15] a proxy that refuses upgrades is found, and the settings for it are said', async () => {
  await behind({ refuses_upgrades: true }, async (url) => {
    await person.login(url, board.owner.email)
    const { is_ok, websocket, event } = await examined('--board', 'Plan')
    expect(is_ok).toBe(false)
    expect(websocket).toMatchObject(wrong(/answered 400, not 101/, /proxy_set_header Upgrade.*timeout tunnel/s))
    expect(event).toMatchObject({ state: 'skipped' })
    const { out } = await person.run(['doctor'])
    expect(out).toMatch(/^✗ websocket .+\n {4}Something.+\n {4}nginx: +location \/ws\/ \{$/m)
  })
})

test('[CLI-15] a proxy that says its name is told its own settings only', async () => {
  await behind({ refuses_upgrades: true, server: 'nginx/1.29.3' }, async (url) => {
    const { websocket } = await examined(url)
    expect(websocket).toMatchObject(wrong(/by nginx/, /proxy_http_version 1\.1/))
    expect(websocket?.remedy).not.toContain('haproxy')
  })
})

test('[CLI-15] a proxy that lets the upgrade through, and no message, is found', async () => {
  await behind({ swallows_frames: true }, async (url) => {
    expect((await examined(url))['websocket']).toMatchObject(wrong(/no message/, /Upgrade/))
  })
})

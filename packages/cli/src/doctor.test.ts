import { chmodSync } from 'node:fs'
import { createServer } from 'node:http'
import { CliUser } from '@lockstep/testing/cli/command'
import { startWebProxy } from '@lockstep/testing/cli/web-proxy'
import { freePort } from '@lockstep/testing/ports'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
let user: CliUser
beforeAll(async () => {
  service = await startService()
  board = await service.board()
})
afterAll(() => service.stop())
beforeEach(() => {
  user = new CliUser()
})
afterEach(() => user.dispose())

interface Check {
  name: string
  state: string
  detail: string
  remedy?: string
}
/** The results by name. Also checks that the exit code matches. */
async function runDoctor(...args: string[]) {
  const { code, out } = await user.run(['doctor', ...args, '--json'])
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
/** Runs `work` through a proxy with these faults. */
async function throughProxy(faults: Parameters<typeof startWebProxy>[1], work: (url: string) => Promise<void>) {
  const proxy = await startWebProxy(service.baseUrl, faults)
  try {
    await work(proxy.baseUrl)
  } finally {
    await proxy.stop()
  }
}

test('[CLI-14] on a healthy deployment every check passes, and an event arrives within a second', async () => {
  await user.login(service.baseUrl, board.owner.email)
  const before = await board.owner.api.call('getBoard', { params: { board_id: board.id } })
  const { code, out } = await user.run(['doctor', '--board', 'Plan'])
  expect(out.replaceAll(/\d+ (ms|min)/g, 'n $1')).toBe(`✓ address     ${service.baseUrl} responds
✓ service     Lockstep 0.2.0 (commit ${process.env['REVISION']})
✓ https       not needed on this machine
✓ database    connected
✓ redis       connected
✓ clock       in sync
✓ round trip  n ms
✓ exposure    nothing unexpected
✓ proxy       forwards requests correctly, if there is one
✓ login       as ${board.owner.username}, valid for n min, renewed on use
✓ instances   no difference found
✓ websocket   works
✓ event       arrived after n ms
`)
  expect(code).toBe(0)
  const order = ({ columns }: typeof before) => columns.map(({ id }) => id)
  expect(order(await board.owner.api.call('getBoard', { params: { board_id: board.id } }))).toEqual(order(before))
})

test('[CLI-14] without a login the other checks still run', async () => {
  expect(await runDoctor(service.baseUrl, '--board', 'Plan')).toMatchObject({
    is_ok: true,
    login: { state: 'skipped' },
    websocket: { state: 'ok' },
    event: { state: 'skipped' },
  })
  expect(await user.run(['doctor'])).toMatchObject({ code: 2 })
})

test('[CLI-14] distinguishes an unreachable address, an unknown host name, TLS on a plain port, and another service', async () => {
  const unreachable = await runDoctor(`http://127.0.0.1:${await freePort()}`)
  expect(unreachable['address']).toMatchObject(wrong(/ECONNREFUSED/, /Start the service/))
  const unknownHost = await runDoctor('http://no-such-machine.invalid')
  expect(unknownHost['address']).toMatchObject(wrong(/ENOTFOUND|EAI_AGAIN/, /name/))
  const tls = await runDoctor(service.baseUrl.replace('http:', 'https:'))
  expect(tls['address']).toMatchObject(wrong(/SSL|EPROTO/, /http:\/\//))
  const port = await freePort()
  const other = createServer((_, response) => void response.end('<h1>It works!</h1>')).listen(port, '127.0.0.1')
  expect((await runDoctor(`http://127.0.0.1:${port}`))['service']).toMatchObject(wrong(/not Lockstep/, /proxy/))
  other.close()
})

test('[CLI-14] a redirect is reported', async () => {
  const port = await freePort()
  const redirect = createServer(({ url }, response) => {
    response.writeHead(301, { location: service.baseUrl + url }).end()
  }).listen(port, '127.0.0.1')
  const { service: found } = await runDoctor(`http://127.0.0.1:${port}`)
  expect(found).toMatchObject(wrong(/redirect/, new RegExp(`--url ${service.baseUrl}`)))
  redirect.close()
})

test('[CLI-14] a missing Redis or database is reported with a remedy', async () => {
  const nowhere = async (scheme: string) => `${scheme}://127.0.0.1:${await freePort()}`
  const degraded = await startService({ REDIS_URL: await nowhere('redis') }, { beside: service })
  expect(await runDoctor(degraded.baseUrl)).toMatchObject({
    is_ok: false,
    database: { state: 'ok' },
    redis: wrong(/not connected/, /REDIS_URL/),
    websocket: { state: 'ok' },
  })
  await degraded.stop()
  const single = await startService({ REDIS_URL: '' }, { beside: service })
  expect(await runDoctor(single.baseUrl)).toMatchObject({ is_ok: true, redis: { state: 'ok' } })
  await single.stop()
  const failing = await startService({ DATABASE_URL: `${await nowhere('postgres')}/lost` }, { beside: service })
  expect(await runDoctor(failing.baseUrl)).toMatchObject({
    is_ok: false,
    database: wrong(/not connected/, /DATABASE_URL/),
    redis: { state: 'skipped' },
  })
  await failing.stop()
})

test('[CLI-14] clock differences in both directions are reported', async () => {
  await throughProxy({ clockSkewMs: -600_000 }, async (url) => {
    expect((await runDoctor(url))['clock']).toMatchObject(wrong(/10 min behind/, /timedatectl/))
  })
  await throughProxy({ clockSkewMs: 90_000 }, async (url) => {
    expect((await runDoctor(url))['clock']).toMatchObject(wrong(/(89|90|91) s ahead/, /timedatectl/))
  })
})

test('[CLI-14] a login file readable by others and an invalid token are reported', async () => {
  await user.login(service.baseUrl, board.owner.email)
  chmodSync(user.loginFile, 0o644)
  expect((await runDoctor())['login']).toMatchObject(wrong(/other users/, /chmod 600/))
  user.env['LOCKSTEP_TOKEN'] = 'none'
  expect((await runDoctor())['login']).toMatchObject(wrong(/not issued/, /LOCKSTEP_TOKEN is unknown/))
})

test('[CLI-15] a proxy that rejects upgrades is reported with its required settings', async () => {
  await throughProxy({ rejectsUpgrades: true }, async (url) => {
    await user.login(url, board.owner.email)
    const { is_ok, websocket, event } = await runDoctor('--board', 'Plan')
    expect(is_ok).toBe(false)
    expect(websocket).toMatchObject(wrong(/returned 400 instead of 101/, /proxy_set_header Upgrade.*timeout tunnel/s))
    expect(event).toMatchObject({ state: 'skipped' })
    const { out } = await user.run(['doctor'])
    expect(out).toMatch(/^✗ websocket .+\n {4}A proxy.+\n {4}nginx: +location \/ws\/ \{$/m)
  })
})

test('[CLI-15] if the proxy names itself, only its settings are printed', async () => {
  await throughProxy({ rejectsUpgrades: true, server: 'nginx/1.29.3' }, async (url) => {
    const { websocket } = await runDoctor(url)
    expect(websocket).toMatchObject(wrong(/by nginx/, /proxy_http_version 1\.1/))
    expect(websocket?.remedy).not.toContain('haproxy')
  })
})

test('[CLI-15] a proxy that forwards the upgrade but no messages is reported', async () => {
  await throughProxy({ dropsFrames: true }, async (url) => {
    expect((await runDoctor(url))['websocket']).toMatchObject(wrong(/no message/, /Upgrade/))
  })
})

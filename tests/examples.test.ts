import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { type Client, createClient } from '@lockstep/client'
import { openBrowser } from '@lockstep/testing/browser'
import { openApp } from '@lockstep/testing/client/app-page'
import { freePort } from '@lockstep/testing/ports'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

const TIMEOUT_MS = 120_000
const EXAMPLES = ['bot', 'react-board', 'webhook-receiver']
/** Packages of the examples that this repository has installed. */
const INSTALLED = [
  '.bin',
  'react',
  'react-dom',
  'vite',
  'typescript',
  '@types/react',
  '@types/react-dom',
  '@types/node',
]

/** A copy of the examples, with the packed client library. */
let folder: string
let service: TestService
let browser: Browser
let ada: Client
const servers: Server[] = []
beforeAll(async () => {
  service = await startService({ WEBHOOK_WORKERS: '20', CORS_ORIGINS: '*' })
  browser = await openBrowser()
  ada = createClient({ baseUrl: service.baseUrl })
  await ada.login({ username: (await service.user('ada')).email, password: PASSWORD })
  folder = mkdtempSync(join(tmpdir(), 'lockstep-examples-'))
  execFileSync(process.execPath, ['scripts/build-client.ts', '--out', join(folder, 'built')])
  execFileSync('npm', ['pack', './built'], { cwd: folder, stdio: 'pipe' })
  for (const name of EXAMPLES) {
    cpSync(`examples/${name}`, join(folder, name), { recursive: true })
    const client = join(folder, name, 'node_modules/@lockstep/client')
    mkdirSync(client, { recursive: true })
    const { version } = JSON.parse(readFileSync('packages/client/package.json', 'utf8'))
    execFileSync('tar', ['-xzf', join(folder, `lockstep-client-${version}.tgz`), '--strip-components=1', '-C', client])
    for (const each of INSTALLED) {
      const link = join(folder, name, 'node_modules', each)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(join(process.cwd(), 'node_modules', each), link)
    }
  }
}, TIMEOUT_MS)
afterAll(async () => {
  for (const server of servers) server.close()
  ada.close()
  await browser.close()
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const tsc = (name: string, ...args: string[]) =>
  expect(
    spawnSync('tsc', ['--noEmit', '--pretty', 'false', ...args], { cwd: join(folder, name), encoding: 'utf8' }).stdout,
  ).toBe('')

const NODE_OPTIONS = '--strict --module nodenext --target es2024 --lib es2024,dom --types node'.split(' ')

test('[EXAMPLE-1] the versions of the examples are those of this repository', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages
  for (const name of EXAMPLES) {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(`examples/${name}/package.json`, 'utf8'))
    for (const [each, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      const own = each.replace(/^@lockstep\//, 'packages/')
      expect(lock[own.startsWith('packages/') ? own : `node_modules/${each}`].version, each).toBe(version)
    }
  }
})

test('[EXAMPLE-5] the commands of each README install the example, and change no file', { timeout: 300_000 }, () => {
  const checkout = join(folder, 'checkout')
  cpSync('examples', join(checkout, 'examples'), { recursive: true, filter: (path) => !path.includes('node_modules') })
  const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false' }
  for (const name of EXAMPLES) {
    const at = join(checkout, 'examples', name)
    const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(readFileSync(join(at, 'README.md'), 'utf8')) ?? []
    const [build = '', ...rest] = block.split('\n').map((line) => line.trim())
    // The copy of the checkout has no compiler. The build is the one of the other tests.
    expect(build).toBe('npm run build -w packages/client')
    cpSync(join(folder, 'built'), join(checkout, 'packages/client/dist'), { recursive: true })
    execFileSync('sh', ['-ec', rest.join('\n')], { cwd: checkout, env, stdio: 'pipe' })
    const read = (root: string) =>
      globSync('**/*.*', { cwd: root, exclude: ['node_modules', 'dist'] })
        .sort()
        .map((file) => [file, readFileSync(join(root, file), 'utf8')])
    expect(read(at)).toEqual(read(`examples/${name}`))
    // Copied, so that React is the one of the example.
    expect(lstatSync(join(at, 'node_modules/@lockstep/client')).isSymbolicLink()).toBe(false)
  }
  const bot = spawnSync('npm', ['start'], { cwd: join(checkout, 'examples/bot'), env, encoding: 'utf8' })
  expect([bot.status, bot.stderr]).toEqual([2, expect.stringContaining('Usage: LOCKSTEP_TOKEN=')])
  execFileSync('npm', ['run', 'build'], { cwd: join(checkout, 'examples/react-board'), env, stdio: 'pipe' })
})

test('[EXAMPLE-2] the bot marks the cards beyond the limit, and only those', { timeout: TIMEOUT_MS }, async () => {
  tsc('bot', 'bot.ts', ...NODE_OPTIONS)
  const { id: board_id } = await ada.createBoard({ title: 'Plan' })
  const { id: column_id } = await ada.createColumn({ board_id, title: 'Doing' })
  const { id: done_id } = await ada.createColumn({ board_id, title: 'Done', is_done_column: true })
  const bot_user = await service.user('bot')
  await ada.inviteMember({ board_id, user_id: bot_user.id })
  const add = (title: string, column = column_id) => ada.createCard({ board_id, column_id: column, title })
  const cards = [await add('one'), await add('two'), await add('three')]
  for (const title of ['a', 'b', 'c']) await add(title, done_id)

  const body = { name: 'Bot', scope: 'write', board_id } as const
  const { token } = await bot_user.api.call('createToken', { body })
  const env = { ...process.env, LOCKSTEP_URL: service.baseUrl, LOCKSTEP_TOKEN: token }
  const bot = spawn(process.execPath, ['bot.ts', board_id, '2'], {
    cwd: join(folder, 'bot'),
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const marked = async () => {
    const { columns } = await ada.getBoard({ board_id })
    const all = columns.flatMap((column) => column.cards)
    return all.filter(({ labels }) => labels.some(({ name }) => name === 'Over limit')).map(({ title }) => title)
  }
  try {
    // A card that was there before it started, a new one, and room again.
    await expect.poll(marked).toEqual(['three'])
    await add('four')
    await expect.poll(marked).toEqual(['three', 'four'])
    await ada.moveCard({ card_id: cards[0]?.id ?? '', column_id: done_id })
    await expect.poll(marked).toEqual(['four'])
    expect((await ada.getBoard({ board_id })).labels).toHaveLength(1)
  } finally {
    bot.kill('SIGTERM')
  }
  expect(await once(bot, 'exit')).toEqual([0, null])
})

test('[EXAMPLE-4] the receiver saves every event once and in order, also if it was killed', {
  timeout: TIMEOUT_MS,
}, async () => {
  tsc('webhook-receiver', 'receiver.ts', ...NODE_OPTIONS)
  const { id: board_id } = await ada.createBoard({ title: 'Plan' })
  const { id: column_id } = await ada.createColumn({ board_id, title: 'Doing' })
  const add = (title: string) => ada.createCard({ board_id, column_id, title })
  const port = await freePort()
  const webhook = await ada.createWebhook({ board_id, name: 'Log', url: `http://127.0.0.1:${port}/` })
  const at = { board_id, webhook_id: webhook.id }
  const { secret } = await ada.getWebhookSecret(at)
  const other = `whsec_${Buffer.alloc(32, 'o').toString('base64')}`
  const cwd = join(folder, 'webhook-receiver')
  const start = async () => {
    const env = { ...process.env, PORT: String(port), WEBHOOK_SECRETS: `${other},${secret}` }
    const receiver = spawn(process.execPath, ['receiver.ts'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    await once(receiver.stdout, 'data')
    return receiver
  }
  const titles = () => {
    const lines = existsSync(join(cwd, 'events.jsonl'))
      ? readFileSync(join(cwd, 'events.jsonl'), 'utf8').split('\n')
      : []
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line).message.data.title)
  }
  const first = await start()
  await add('one')
  await expect.poll(titles, { timeout: 10_000 }).toEqual(['one'])
  first.kill('SIGKILL')
  await once(first, 'exit')
  await add('two')
  const second = await start()
  // Everything is sent again. What was saved before is not saved a second time.
  await ada.resumeWebhook({ ...at, after: webhook.position })
  await add('three')
  await expect.poll(titles, { timeout: 10_000 }).toEqual(['one', 'two', 'three'])
  const forged = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{"type":"webhook.test"}' })
  expect(forged.status).toBe(401)
  second.kill('SIGTERM')
  expect(await once(second, 'exit')).toEqual([0, null])
})

test('[EXAMPLE-3] two people share a board in the React example', { timeout: TIMEOUT_MS }, async () => {
  tsc('react-board')
  const env = { ...process.env, NODE_ENV: 'production', VITE_LOCKSTEP_URL: service.baseUrl }
  execFileSync('npm', ['run', 'build'], { cwd: join(folder, 'react-board'), env, stdio: 'pipe' })
  const url = await serve(join(folder, 'react-board/dist'))
  const { id: board_id } = await ada.createBoard({ title: 'Shared' })
  for (const title of ['To do', 'Done']) await ada.createColumn({ board_id, title })
  const grace = await service.user('grace')
  await ada.inviteMember({ board_id, user_id: grace.id })

  const enter = async (email: string) => {
    const { page, errors } = await openApp(browser, url)
    await page.fill('input[type=email]', email)
    await page.fill('input[type=password]', PASSWORD)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Shared' }).click()
    await page.getByRole('heading', { name: 'Shared' }).waitFor()
    return { page, errors }
  }
  const one = await enter((await ada.getMe()).email)
  const other = await enter(grace.email)
  await one.page.getByText('ada, grace').or(one.page.getByText('grace, ada')).waitFor()
  await one.page.getByRole('region', { name: 'To do' }).getByPlaceholder('New card').fill('Write')
  await one.page.keyboard.press('Enter')
  await other.page.getByRole('button', { name: 'Move Write on' }).click()
  await one.page.getByRole('region', { name: 'Done' }).getByText('Write').waitFor()
  await other.page.getByRole('button', { name: 'Undo' }).click()
  await one.page.getByRole('region', { name: 'To do' }).getByText('Write').waitFor()
  expect([...one.errors, ...other.errors]).toEqual([])
})

/** Serves a folder from its own origin. */
async function serve(root: string): Promise<string> {
  const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
  const server = createServer((request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '')
    response.setHeader('content-type', types[extname(path)] ?? 'text/plain').end(readFileSync(join(root, path)))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

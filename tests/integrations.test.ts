import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Client, createClient } from '@lockstep/client'
import { freePort } from '@lockstep/testing/ports'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

const page = readFileSync('docs/integrations.md', 'utf8')
const folder = join(process.cwd(), '.test-output/integrations')
const home = mkdtempSync(join(tmpdir(), 'lockstep-integrations-'))
const children = new Set<ChildProcess>()
const ran = new Set<string>()

/** The code of a block, with addresses of this test. Blocks with the same name form one program. */
const codeOf = (language: string, name: string) => {
  ran.add(name)
  return [...page.matchAll(/```(\w+) (\S+)\n([\s\S]*?)```/g)]
    .filter((match) => match[1] === language && match[2] === name)
    .map(([, , , code = '']) => here(code))
    .join('')
}
const here = (code: string) =>
  code
    .replaceAll('http://127.0.0.1:8000', service.baseUrl)
    .replaceAll('https://ci.example.com/hook', `http://localhost:${ports[0]}/hook`)
    .replaceAll('3000', String(ports[0]))
    .replaceAll('3001', String(ports[1]))

let service: TestService
let ports: number[]
let ada: Client
let board: string
let column_id: string
let env: NodeJS.ProcessEnv
beforeAll(async () => {
  service = await startService({ WEBHOOK_WORKERS: '20', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' })
  ports = [await freePort(), await freePort()]
  const account = await service.user('ada')
  ada = createClient({ baseUrl: service.baseUrl })
  await ada.login({ username: account.email, password: PASSWORD })
  board = (await ada.createBoard({ title: 'Plan' })).id
  column_id = (await ada.createColumn({ board_id: board, title: 'To do' })).id
  mkdirSync(folder, { recursive: true })
  for (const name of ['receiver.ts', 'bot.ts']) writeFileSync(join(folder, name), codeOf('ts', name))
  writeFileSync(join(home, 'lockstep'), `#!/bin/sh\nexec node ${process.cwd()}/packages/cli/src/main.ts "$@"\n`, {
    mode: 0o755,
  })
  env = {
    PATH: `${home}:${process.env['PATH']}`,
    HOME: home,
    LOCKSTEP_URL: service.baseUrl,
    LOCKSTEP_TOKEN: ada.session.token,
    api: service.baseUrl,
    token: ada.session.token,
    board,
  }
})
afterAll(async () => {
  for (const child of children) if (child.pid) process.kill(-child.pid, 'SIGKILL')
  ada.close()
  await service.stop()
  for (const path of [folder, home]) rmSync(path, { recursive: true, force: true })
})

const bash = (code: string) => ['--norc', '-euo', 'pipefail', '-c', code]
/** Runs a block of commands to its end. */
const run = (name: string) => promisify(execFile)('bash', bash(codeOf('sh', name)), { cwd: folder, env })
/** Starts a block or a program that does not end by itself. */
function start(code: string, more: NodeJS.ProcessEnv = {}) {
  const child = spawn('bash', bash(code), { cwd: folder, env: { ...env, ...more }, detached: true })
  children.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()))
  const end = () => {
    if (child.pid) process.kill(-child.pid, 'SIGKILL')
    children.delete(child)
  }
  return { output: () => output, end }
}
const isOpen = (port: number | undefined) =>
  fetch(`http://localhost:${port}/`).then(
    () => true,
    () => false,
  )
const add = (title: string) => ada.createCard({ board_id: board, column_id, title })

test('[DOC-28] all code on the page compiles with the strictest options', () => {
  const compilerOptions = { lib: ['ES2024', 'DOM'] }
  const config = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  expect(spawnSync('tsc', ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' }).stdout).toBe('')
  expect(codeOf('ts', 'receiver.ts').split('\n').length).toBeLessThan(30)
})

test('[DOC-28] a receiver is written with listen, and then gets a webhook', async () => {
  const secret = `whsec_${Buffer.alloc(32, 's').toString('base64')}`
  const local = start(`${codeOf('sh', 'receiver').replace(/=whsec_.*/, `=${secret}`)}`)
  await expect.poll(() => isOpen(ports[0]), { timeout: 10_000 }).toBe(true)
  const listening = start(codeOf('sh', 'listen'), { WEBHOOK_SECRET: secret })
  await expect.poll(listening.output, { timeout: 10_000 }).toContain('Sending the events')
  await add('Local')
  await expect.poll(local.output, { timeout: 10_000 }).toBe('New card: Local\n')
  await expect.poll(listening.output).toMatch(/^204 {2}\d+ ms {2}card\.created {2}\d+\.\d+$/m)
  listening.end()
  local.end()

  const created = await run('create')
  expect(created.stdout).toMatch(/^Created “CI”/)
  const [, real = ''] = /^(whsec_\S+)$/m.exec(created.stdout) ?? []
  const receiver = start('node receiver.ts', { WEBHOOK_SECRET: real })
  await expect.poll(() => isOpen(ports[0]), { timeout: 10_000 }).toBe(true)
  const tested = await run('test')
  expect(tested.stdout).toMatch(/^“CI”: 204 after \d+ ms\n\S+ {2}CI {2}active, up to date {2}last: 204 {2}http:\S+\n$/)
  await add('Sent')
  await expect.poll(receiver.output, { timeout: 10_000 }).toBe('New card: Sent\n')
  expect((await run('fail')).stdout).toMatch(/ {2}204 {2}\d+ ms {2}card\.created .+\n[\s\S]+“CI” resumed\.\n$/)
  expect((await run('rotate')).stdout).toMatch(/^“CI” has a new secret\. .+\nwhsec_\S+\n$/)
  await add('Signed twice')
  await expect.poll(receiver.output, { timeout: 10_000 }).toContain('Signed twice')
  // The other webhook has another secret, so this receiver rejects its requests.
  expect((await run('http')).stdout).toMatch(/^\{"secret":"whsec_[^}]+\}\{"status":401,/)
  receiver.end()
})

test('[DOC-28] a bot with a token of one board writes once for an event that arrives twice', async () => {
  const account = await service.user('bot')
  await ada.inviteMember({ board_id: board, user_id: account.id })
  const own = createClient({ baseUrl: service.baseUrl })
  await own.login({ username: account.email, password: PASSWORD })
  env['LOCKSTEP_TOKEN'] = own.session.token
  const LOCKSTEP_TOKEN = (await run('token')).stdout.trim()
  expect(LOCKSTEP_TOKEN).toMatch(/^lsb_/)
  own.close()
  const webhook = await ada.createWebhook({ board_id: board, name: 'Bot', url: `http://localhost:${ports[1]}/` })
  const at = { board_id: board, webhook_id: webhook.id }
  const { secret: WEBHOOK_SECRET } = await ada.getWebhookSecret(at)
  const bot = start('node bot.ts', { LOCKSTEP_TOKEN, WEBHOOK_SECRET })
  await expect.poll(() => isOpen(ports[1]), { timeout: 10_000 }).toBe(true)
  const { id: card_id } = await add('Help')
  const comments = async () => (await ada.listComments({ card_id })).map(({ body, author }) => [author.username, body])
  await expect.poll(comments, { timeout: 10_000 }).toEqual([['bot', 'Thank you, we will look at it.']])
  await ada.resumeWebhook({ ...at, after: webhook.position })
  const sent = async () => (await ada.listDeliveries(at)).filter(({ type }) => type === 'card.created').length
  await expect.poll(sent, { timeout: 10_000 }).toBe(2)
  expect(await comments()).toHaveLength(1)
  expect(bot.output()).toBe('')
  bot.end()
})

test('[DOC-28] every block with a name was run', () => {
  const named = [...page.matchAll(/```\w+ (\S+)\n/g)].map(([, name]) => name)
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((name = '') => !ran.has(name))).toEqual([])
  expect([...page.matchAll(/```(ts|sh)\n/g)]).toEqual([])
})

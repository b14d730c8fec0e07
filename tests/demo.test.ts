import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, type FullBoard } from '@lockstep/client'
import { openBrowser } from '@lockstep/testing/browser'
import { freePort } from '@lockstep/testing/ports'
import { startService } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { databaseUrl, onServer } from '@lockstep/testing/template-database'
import pg from 'pg'
import type { Browser } from 'playwright-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { packageFor, startPostgres } from '../scripts/demo-postgres.ts'
import { columnOf } from './web/board-page-object.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SCRIPT = 'scripts/demo.ts'
const TIMEOUT_MS = 120_000

interface Start {
  settings?: Record<string, string>
  port?: number
  command?: string[]
}

/** The demo creates its temporary folder in this one. The user that PostgreSQL runs as must be able to enter it. */
let folder: string
const started = new Set<ChildProcess>()
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lockstep-'))
  await chmod(folder, 0o755)
})
afterEach(async () => {
  for (const child of started) {
    // Wait, because it has to stop its database.
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  started.clear()
  await rm(folder, { recursive: true, force: true })
})

/** Starts the demo, with or without npm. */
async function startDemo({ settings = {}, port, command = [process.execPath, SCRIPT] }: Start = {}) {
  const { DATABASE_URL: _, REDIS_URL: __, ...environment } = process.env
  const [program, ...args] = [...command, '--no-build', '--port', String(port ?? (await freePort()))]
  const child = spawn(program, args, { cwd: ROOT, env: { ...environment, TMPDIR: folder, ...settings } })
  started.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const prints = (words: string) =>
    new Promise<void>((resolve, reject) => {
      child.stdout.on('data', () => output.includes(words) && resolve())
      child.once('close', () => reject(new Error(`The demo has exited: ${output}`)))
    })
  return {
    output: () => output,
    prints,
    /** The links, once the demo is ready. */
    links: async () => {
      await prints('Ctrl-C stops the demo')
      const [ada = '', grace = ''] = output.match(/http:\S+\/demo\/\w+/g) ?? []
      return { ada, grace }
    },
    ended,
    end: (signal: NodeJS.Signals) => {
      child.kill(signal)
      return ended
    },
  }
}

/** Opens a link in the browser, and waits for the board. */
async function visit(browser: Browser, link: string) {
  const page = await (await browser.newContext()).newPage()
  await page.goto(link)
  await page.getByText('Drag me to Review').first().waitFor()
  const { origin: baseUrl, pathname } = new URL(page.url())
  const [cookie] = await page.context().cookies()
  const token = cookie?.value ?? ''
  const read = async (path: string): Promise<unknown> =>
    (await fetch(baseUrl + path, { headers: { cookie: `svc_auth=${token}` } })).json()
  return { page, cookie, token, board_id: pathname.split('/').at(-1) ?? '', baseUrl, read }
}

const cardsOf = ({ columns }: FullBoard) => columns.flatMap(({ cards }) => cards)

/** The folders of the demo in the temporary folder, which npm also uses. */
const demoFolders = async () => (await readdir(folder)).filter((name) => name.startsWith('lockstep-demo-'))

/** The process ids of the demo's PostgreSQL: the server and its child processes. */
async function postgresPids(): Promise<number[]> {
  const [name = ''] = await demoFolders()
  const server = Number((await readFile(join(folder, name, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0])
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const parents = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return [server, ...pids.filter((_, i) => Number(parents[i]?.split(') ')[1]?.split(' ')[1]) === server)]
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test(
  '[DEMO-1] [DEMO-2] [DEMO-3] [DEMO-4] two links open one board, both users see each change, and SIGINT leaves nothing behind',
  async () => {
    const demo = await startDemo()
    const links = await demo.links()
    expect([new URL(links.ada).hostname, new URL(links.grace).hostname]).toEqual(['127.0.0.1', 'localhost'])
    await using browser = await openBrowser()
    const [ada, grace] = [await visit(browser, links.ada), await visit(browser, links.grace)]
    expect(ada.cookie).toMatchObject({ name: 'svc_auth', path: '/', httpOnly: true, sameSite: 'Lax' })
    expect(grace.board_id).toBe(ada.board_id)
    expect(await grace.read('/auth/me')).toMatchObject({ firstname: 'Grace', lastname: 'Hopper' })

    const board = (await ada.read(`/boards/${ada.board_id}`)) as FullBoard
    const cards = cardsOf(board)
    expect([board.columns.length, cards.length, board.members.length]).toEqual([4, 12, 2])
    expect(board.columns.map(({ is_done_column }) => is_done_column)).toEqual([false, false, false, true])
    expect(cards.every(({ labels, description }) => labels.length > 0 && description)).toBe(true)
    expect(cards.flatMap(({ attachments }) => attachments)).toHaveLength(1)
    const ticks = cards.flatMap(({ checklists }) => checklists.flatMap(({ items }) => items.map((i) => i.is_done)))
    expect(new Set(ticks)).toEqual(new Set([true, false]))
    expect(cards.map(({ comment_count }) => comment_count).filter((count) => count > 0)).toEqual([2, 1])
    expect(await ada.read(`/boards/${ada.board_id}/removed`)).toMatchObject([{ title: 'Restore me' }])
    expect(await grace.read('/me/inbox?unread=true')).toContainEqual(expect.objectContaining({ reason: 'mentioned' }))

    const socket = openSocket(grace, grace.board_id)
    await socket.next('user_joined')
    const card = cards.find(({ title }) => title === 'Drag me to Review')
    const review = board.columns.find(({ title }) => title === 'Review')
    const api = createClient({ baseUrl: ada.baseUrl, token: ada.token })
    await api.moveCard({ card_id: card?.id ?? '', column_id: review?.id ?? '' })
    await columnOf(grace.page, 'Review').getByText('Drag me to Review').waitFor()
    const moved = (await socket.next('card.moved')).message
    expect(moved).toMatchObject({ data: { id: card?.id, column_id: review?.id } })
    await socket.next('card.assigned')
    const { assignees } = await api.getCard({ card_id: card?.id ?? '' })
    expect(assignees.map(({ username }) => username).sort()).toEqual(['ada', 'grace'])

    const pids = await postgresPids()
    expect(pids.length).toBeGreaterThan(3)
    expect(await demo.end('SIGINT')).toBe(0)
    expect(await readdir(folder)).toEqual([])
    expect(pids.filter(isAlive)).toEqual([])
    expect((await socket.closed).code).toBe(1012)
  },
  TIMEOUT_MS,
)

test(
  '[DEMO-7] the printed password logs in at /docs and at the realtime console, and both are linked',
  async () => {
    const demo = await startDemo()
    const baseUrl = new URL((await demo.links()).ada).origin
    const [, email = '', password = ''] = /Log in there as\s+(\S+), password (\S+)/.exec(demo.output()) ?? []
    const client = createClient({ baseUrl })
    await client.login({ username: email, password })
    expect(await client.getMe()).toMatchObject({ username: 'ada' })
    client.close()
    const pages = demo.output().match(/http:\S+\/docs\S*/g) ?? []
    expect(pages).toEqual([`${baseUrl}/docs`, `${baseUrl}/docs/realtime`])
    for (const page of pages) expect((await fetch(page)).status).toBe(200)
    const { info } = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as { info: { description: string } }
    expect(info.description).toContain('](/docs/realtime)')
    expect(await demo.end('SIGINT')).toBe(0)
  },
  TIMEOUT_MS,
)

test('[DEMO-8] there is PostgreSQL for five platforms, in one version', async () => {
  const { optionalDependencies } = JSON.parse(await readFile('packages/demo/package.json', 'utf8'))
  const platforms = ['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64', 'win32 x64']
  const names = platforms.map((each) => packageFor(...(each.split(' ') as [string, string])))
  expect(Object.keys(optionalDependencies)).toEqual(names)
  expect(new Set(Object.values(optionalDependencies)).size).toBe(1)
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'))
  for (const [i, name] of names.entries()) {
    const { os, cpu, optional } = packages[`node_modules/${name}`]
    expect([...os, ...cpu, optional].join(' ')).toBe(`${platforms[i]} true`)
  }
})

test(
  '[DEMO-8] without Unix sockets it listens on this machine only, with a random password',
  async () => {
    await using postgres = await startPostgres({ usesTcp: true })
    const url = new URL(postgres.url)
    expect([url.hostname, url.password.length]).toEqual(['127.0.0.1', 48])
    const ask = async (address: string) => {
      const client = new pg.Client(address)
      await client.connect()
      const { rows } = await client.query('show listen_addresses')
      await client.end()
      return rows
    }
    expect(await ask(postgres.url)).toEqual([{ listen_addresses: '127.0.0.1' }])
    await expect(ask(postgres.url.replace(url.password, 'wrong'))).rejects.toThrow('password authentication failed')
  },
  TIMEOUT_MS,
)

test(
  '[DEMO-4] a signal during the start leaves nothing behind',
  async () => {
    const demo = await startDemo()
    await demo.prints('PostgreSQL')
    expect(await demo.end('SIGTERM')).toBe(0)
    expect(demo.output()).not.toMatch(/Tables|did not start/)
    expect(await readdir(folder)).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  '[DEMO-4] it stops when npm ends, even though the shell between them forwards no signals',
  async () => {
    const demo = await startDemo({ command: ['npm', 'run', 'demo', '--'] })
    await demo.links()
    const pids = await postgresPids()
    await demo.end('SIGTERM')
    expect(await demoFolders()).toEqual([])
    expect(pids.filter(isAlive)).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  '[DEMO-4] a database that cannot start is reported with an alternative, and leaves nothing behind',
  async () => {
    // The path of a Unix socket has at most 107 bytes.
    const TMPDIR = join(folder, 'x'.repeat(100))
    await mkdir(TMPDIR)
    const demo = await startDemo({ settings: { TMPDIR } })
    expect(await demo.ended).toBe(1)
    expect(demo.output()).toMatch(/The demo did not start\. PostgreSQL did not start\.[\s\S]+Set DATABASE_URL/)
    expect(await readdir(TMPDIR)).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  '[DEMO-5] with DATABASE_URL it uses that database, finds its board on the next run, and starts no PostgreSQL',
  async () => {
    const name = `lockstep_test_${randomBytes(6).toString('hex')}`
    const settings = { DATABASE_URL: databaseUrl(name) }
    try {
      await using browser = await openBrowser()
      const board_ids: string[] = []
      for (let run = 0; run < 2; run++) {
        const demo = await startDemo({ settings })
        board_ids.push((await visit(browser, (await demo.links()).ada)).board_id)
        expect(await readdir(folder)).toEqual([])
        expect(await demo.end('SIGINT'), demo.output()).toBe(0)
      }
      expect(board_ids[1]).toBe(board_ids[0])
    } finally {
      await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
    }
  },
  TIMEOUT_MS,
)

test(
  '[DEMO-5] it rejects a database with another user named ada',
  async () => {
    const service = await startService()
    try {
      await service.user('ada')
      const demo = await startDemo({ settings: { DATABASE_URL: service.databaseUrl } })
      expect(await demo.ended).toBe(1)
      expect(demo.output()).toContain('already has another user ada: use an empty database for the demo.')
      const { rowCount } = await service.sql.query('select from boards')
      expect(rowCount).toBe(0)
    } finally {
      await service.stop()
    }
  },
  TIMEOUT_MS,
)

test(
  '[DEMO-6] it uses the next port if one is in use, and other machines cannot reach it',
  async () => {
    const port = await freePort()
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')
    try {
      const demo = await startDemo({ port })
      const { ada } = await demo.links()
      expect(Number(new URL(ada).port)).toBeGreaterThan(port)
      await expect(fetch(ada.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow()
      expect(await demo.end('SIGINT')).toBe(0)
    } finally {
      other.close()
    }
  },
  TIMEOUT_MS,
)

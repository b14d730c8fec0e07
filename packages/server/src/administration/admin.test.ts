import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Client } from '@lockstep/testing/client'
import { inherited } from '@lockstep/testing/processes'
import { MARK, PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

// Each command is a separate process.
vi.setConfig({ testTimeout: 60_000 })

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const script = fileURLToPath(new URL('admin.ts', import.meta.url))

/** Runs the command as an operator does, with input. */
async function admin(args: string[], typed = '', settings: Record<string, string> = {}, cwd = '.') {
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: { ...inherited, DATABASE_URL: service.databaseUrl, ...settings },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // A command that reads no input may end before this is written.
  child.stdin.on('error', () => {})
  child.stdin.end(typed)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  expect(stdout + stderr).not.toContain(MARK)
  return { code: code as number, stdout, stderr }
}
const create = (email: string, username: string, typed = `${PASSWORD}\n`, settings = {}) =>
  admin(['create-superuser', '--email', email, '--username', username], typed, settings)
const logIn = (email: string) => service.anybody.send('login', { body: { username: email, password: PASSWORD } })
const countOf = async (username: string) =>
  (await service.sql.query('select from users where username = $1', [username])).rowCount

test.each([['migrate'], ['statistics']])(
  '[SHIP-17] %s runs in production without the signing secret',
  async (command) => {
    const { code, stderr } = await admin([command], '', { ENVIRONMENT: 'production' })
    expect([code, stderr]).toEqual([0, ''])
  },
)

describe('create-superuser', () => {
  test.each([
    ['ended', '\n'],
    ['not ended', ''],
  ])('[AUTH-23] creates a superuser with the password from a line of standard input, %s', async (_, end) => {
    const username = `root-${crypto.randomUUID()}`
    const email = `${username}@Example.com`
    const { code, stdout } = await create(email, username, PASSWORD + end)
    expect([code, stdout]).toEqual([0, `${email}: created\n`])
    const { body } = await logIn(email.toLowerCase())
    const api = new Client(service.baseUrl, (body as { access_token: string }).access_token)
    expect(await api.call('getMe', {})).toMatchObject({ email, username, is_superuser: true, is_active: true })
  })

  test('[AUTH-23] [AUTH-4] rejects a password that breaks the rules, and prints the rule', async () => {
    const { code, stderr } = await create('weak@example.com', 'weak', `${PASSWORD}\n`, { PASSWORD_REQUIRES: 'digit' })
    expect(code).toBe(1)
    expect(stderr).toContain('The password must contain a digit.')
    expect(await countOf('weak')).toBe(0)
  })

  test('[AUTH-23] [AUTH-3] rejects an address that is taken', async () => {
    const { email } = await service.user()
    const { code, stderr } = await create(email.toUpperCase(), 'second')
    expect(code).toBe(1)
    expect(stderr).not.toBe('')
    expect(await countOf('second')).toBe(0)
  })

  test.each([
    ['no address', 'proper'],
    ['proper@example.com', 'ab'],
  ])('[AUTH-23] [AUTH-2] rejects %j with the username %j', async (email, username) => {
    expect((await create(email, username)).code).toBe(1)
    expect(await countOf(username)).toBe(0)
  })
})

describe('deactivate and activate', () => {
  test('[AUTH-23] [AUTH-12] a deactivated user is rejected at once, and accepted again when activated', async () => {
    const { email, api } = await service.user()
    expect(await admin(['deactivate', email.toUpperCase()])).toMatchObject({ code: 0 })
    expect((await api.fail('getMe', {})).status).toBe(401)
    expect((await logIn(email)).status).toBe(401)
    expect(await admin(['activate', email])).toMatchObject({ code: 0, stdout: `${email}: activated\n` })
    expect((await api.call('getMe', {})).email).toBe(email)
    expect((await logIn(email)).status).toBe(200)
  })

  test('[AUTH-23] an unknown address is an error', async () => {
    const { code, stderr } = await admin(['deactivate', 'nobody@example.com'])
    expect([code, stderr]).toEqual([1, 'There is no user nobody@example.com.\n'])
  })
})

describe('commands on a user', () => {
  const entriesAbout = async (user_id: string) => {
    const { rows } = await service.sql.query(
      'select actor_id, operator, action from admin_actions where target_id = $1 order by id',
      [user_id],
    )
    for (const { actor_id, operator } of rows) expect([actor_id, operator]).toEqual([null, userInfo().username])
    return rows.map(({ action }) => action as string)
  }

  test('[ADMIN-13] [ADMIN-6] reset-password reads the new password from standard input, or generates one and prints it once', async () => {
    const { id, email, api } = await service.user()
    const typed = `${PASSWORD} renewed`
    const weak = await admin(['reset-password', email], 'short\n', { PASSWORD_MIN_LENGTH: '8' })
    expect(weak).toMatchObject({ code: 1, stderr: 'The password must have at least 8 characters.\n' })
    expect(await admin(['reset-password', email], `${typed}\n`)).toMatchObject({
      code: 0,
      stdout: `${email}: password changed\n`,
    })
    expect((await api.send('getMe', {})).status).toBe(401)
    expect((await service.anybody.send('login', { body: { username: email, password: typed } })).status).toBe(200)
    const strict = { PASSWORD_REQUIRES: 'lower,upper,digit,symbol', PASSWORD_MIN_LENGTH: '40' }
    const { stdout } = await admin(['reset-password', id.toUpperCase(), '--generate'], '', strict)
    const password = stdout.trim()
    expect(password).toMatch(/^\S{40,}$/)
    expect((await service.anybody.send('login', { body: { username: email, password } })).status).toBe(200)
    expect(await entriesAbout(id)).toEqual(['reset-password', 'reset-password'])
  })

  test('[ADMIN-13] [ADMIN-8] [ADMIN-12] export prints a document, or writes it to a file that only the operator can read', async () => {
    const { id, email } = await service.user()
    const printed = await admin(['export', email])
    expect(JSON.parse(printed.stdout)).toMatchObject({ profile: { id, email }, memberships: [] })
    const folder = await mkdtemp(join(tmpdir(), 'lockstep-export-'))
    try {
      const out = join(folder, 'user.json')
      expect(await admin(['export', email, '--out', out])).toMatchObject({ code: 0, stdout: '' })
      expect(JSON.parse(await readFile(out, 'utf8'))).toMatchObject({ profile: { id }, audit: [{ action: 'export' }] })
      expect((await stat(out)).mode & 0o777).toBe(0o600)
    } finally {
      await rm(folder, { recursive: true })
    }
    expect(await entriesAbout(id)).toEqual(['export', 'export'])
  })

  test('[ADMIN-13] [ADMIN-9] erase requires the address again, or --yes', async () => {
    const { id, email, username } = await service.user()
    const asked = await admin(['erase', email], 'no\n')
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was erased.') })
    expect((await logIn(email)).status).toBe(200)
    expect(await admin(['erase', email], `${email}\n`)).toMatchObject({ code: 0 })
    expect(await countOf(username)).toBe(0)
    expect(await admin(['erase', email, '--yes'])).toMatchObject({ code: 1, stderr: `There is no user ${email}.\n` })
    // An incomplete erasure is completed by id.
    expect(await admin(['erase', id, '--yes'])).toMatchObject({ code: 0 })
    expect(await entriesAbout(id)).toEqual(['erase', 'erased', 'erased'])
  })

  test('[ADMIN-13] [ADMIN-7] [ADMIN-12] statistics and audit print a table, or JSON', async () => {
    const { id } = await service.user()
    await admin(['deactivate', id])
    const [table, json] = [await admin(['statistics']), await admin(['statistics', '--json'])]
    const { users, days } = JSON.parse(json.stdout) as { users: { active: number }; days: unknown[] }
    expect(table.stdout).toMatch(new RegExp(`^users +${users.active} active, \\d+ inactive, \\d+ erased$`, 'm'))
    expect(table.stdout.match(/^\d{4}-\d\d-\d\d( +\d+){4}$/gm)).toHaveLength(days.length)
    const audit = await admin(['audit', '--limit', '1'])
    const line = `command line (${userInfo().username})  change-account  ${id}  {"is_active":false}\n`
    expect(audit.stdout.slice('2026-01-01T00:00:00.000Z  '.length)).toBe(line)
    expect(JSON.parse((await admin(['audit', '--json', '--limit', '1'])).stdout)).toMatchObject([{ target_id: id }])
  })
})

test('[ADMIN-13] every command on the administration page works as documented', async () => {
  const page = await readFile('docs/administering.md', 'utf8')
  const commands = [...page.matchAll(/^npm run admin -- (.+)$/gm)].map(([, line]) => line as string)
  const { id } = await service.anybody.call('register', {
    body: { email: 'ada@example.com', username: 'ada', password: PASSWORD },
  })
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-page-'))
  try {
    for (const command of commands) {
      const typed = command.startsWith('erase') ? 'ada@example.com' : PASSWORD
      const { code, stderr } = await admin(command.split(' '), `${typed}\n`, {}, folder)
      expect([command, code, stderr.includes('Redis')]).toEqual([command, 0, false])
    }
    expect(JSON.parse(await readFile(join(folder, 'ada.json'), 'utf8'))).toMatchObject({ profile: { id } })
  } finally {
    await rm(folder, { recursive: true })
  }
  const { rows } = await service.sql.query('select action from admin_actions where target_id = $1 order by id', [id])
  const [off, on] = ['change-account', 'change-account']
  const reset = 'reset-password'
  expect(rows.map(({ action }) => action)).toEqual([off, on, reset, reset, 'export', 'erase', 'erased'])
  // No command is missing from the page.
  const { stderr: usage } = await admin([])
  const known = [...usage.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name as string)
  const documented = new Set(commands.map((command) => command.split(' ')[0]))
  expect(known.filter((name) => !documented.has(name))).toEqual(['migrate', 'new-epoch', 'recount'])
})

test('[QUOTA-9] recount makes every board count again when its counters are next needed', async () => {
  const { id: board_id, owner } = await service.board()
  await service.sql.query('update board_stream set text_bytes = 1 where board_id = $1', [board_id])
  const shown = async () => (await owner.api.call('getBoardUsage', { params: { board_id } })).text_bytes.used
  expect(await shown()).toBe(1)
  expect((await admin(['recount'])).stdout).toMatch(/^\d+ boards will be counted again\n$/)
  const { rows } = await service.sql.query('select text_bytes::int from board_usage where board_id = $1', [board_id])
  expect(rows).toEqual([{ text_bytes: await shown() }])
})

test('[AUTH-23] an unknown command prints the usage', async () => {
  for (const args of [[], ['promote', 'a@example.com']]) {
    const { code, stdout, stderr } = await admin(args)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('create-superuser --email')
  }
})

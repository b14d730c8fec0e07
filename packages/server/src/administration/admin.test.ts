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
import { POSTGRES } from '@lockstep/testing/template-database'
import { WEBHOOK_SETTINGS } from '@lockstep/testing/webhook-receiver'
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
    ['proper@example.com', ' '],
  ])('[AUTH-23] [AUTH-2] rejects %j with the username %j', async (email, username) => {
    expect((await create(email, username)).code).toBe(1)
    expect(await countOf(username)).toBe(0)
  })
})

describe('accounts and links', () => {
  const closed = { REGISTRATION: 'closed' }
  const tokenIn = (stdout: string) => stdout.trim().split('#')[1] as string

  test('[ADMIN-17] create-user creates an account with a typed or a generated password', async () => {
    const names = ['--email', 'judy@example.com', '--username', 'judy']
    const { code, stdout } = await admin(['create-user', ...names, '--generate'], '', closed)
    expect(code).toBe(0)
    const body = { username: 'judy@example.com', password: stdout.trim() }
    const { access_token } = await service.anybody.call('login', { body })
    const me = await new Client(service.baseUrl, access_token).call('getMe', {})
    expect(me).toMatchObject({ username: 'judy', is_superuser: false, is_verified: false })
    const typed = await admin(
      ['create-user', '--email', 'bob@example.com', '--username', 'bob'],
      `${PASSWORD}\n`,
      closed,
    )
    expect(typed).toMatchObject({ code: 0, stdout: 'bob@example.com: created\n' })
    expect((await logIn('bob@example.com')).status).toBe(200)
    expect(await admin(['create-user', ...names], `${PASSWORD}\n`)).toMatchObject({ code: 1, stdout: '' })
    const { rows } = await service.sql.query('select action, operator from admin_actions where target_id = $1', [me.id])
    expect(rows).toEqual([{ action: 'create-user', operator: userInfo().username }])
  })

  test('[INVITE-12] [INVITE-13] invite prints a link that creates an account; invitations lists it, revoke-invitation ends it', async () => {
    const { code, stdout, stderr } = await admin(['invite', '--email', 'new@example.com'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\/app\/invite#[\w-]{43}\n$/)])
    expect(stderr).toMatch(/^The link can be used once, until 20.+Z\. Put the address/)
    const token = tokenIn(stdout)
    const preview = await service.anybody.call('readInvitation', { body: { token } })
    expect(preview).toMatchObject({ board_title: null, invited_by: null, email: 'new@example.com' })
    const listed = (await admin(['invitations'])).stdout
    expect(listed).toMatch(/ {2}the service {2}new@example\.com$/m)
    const [{ id }] = JSON.parse((await admin(['invitations', '--json'])).stdout) as [{ id: string }]
    expect(await admin(['revoke-invitation', id])).toMatchObject({ code: 0, stdout: `${id}: revoked\n` })
    expect(await admin(['revoke-invitation', id])).toMatchObject({ code: 1 })
    expect(await admin(['revoke-invitation', 'new@example.com'])).toMatchObject({ code: 2 })
    expect(await service.anybody.fail('readInvitation', { body: { token } })).toMatchObject({ code: 'link_invalid' })
    const publicUrl = { PUBLIC_URL: 'https://boards.example' }
    expect((await admin(['invite'], '', publicUrl)).stdout).toMatch(/^https:\/\/boards\.example\/app\/invite#/)
    expect(await admin(['invite', '--email', 'no address'])).toMatchObject({ code: 1, stdout: '' })
  })

  test('[ADMIN-18] reset-link prints a link that sets a new password', async () => {
    const { email, api } = await service.user()
    const { code, stdout } = await admin(['reset-link', email])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\/app\/reset#[\w-]{43}\n$/)])
    const new_password = `${PASSWORD} again`
    await service.anybody.call('resetPasswordByLink', { body: { token: tokenIn(stdout), new_password } })
    expect((await api.send('getMe', {})).status).toBe(401)
    expect((await logIn(email)).status).toBe(401)
  })
})

describe('deactivate and activate', () => {
  test('[AUTH-23] [AUTH-12] [AUTH-31] a deactivated user is rejected at once, and can log in again when activated', async () => {
    const { email, api } = await service.user()
    expect(await admin(['deactivate', email.toUpperCase()])).toMatchObject({ code: 0 })
    expect((await api.fail('getMe', {})).status).toBe(401)
    expect((await logIn(email)).status).toBe(401)
    expect(await admin(['activate', email])).toMatchObject({ code: 0, stdout: `${email}: activated\n` })
    expect((await api.fail('getMe', {})).status).toBe(401)
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

  test('[ADMIN-13] [TOKEN-13] tokens lists the access tokens of a user, and revoke-tokens revokes them', async () => {
    const { id, email, api } = await service.user()
    const { token, hint } = await api.call('createToken', { body: { name: 'Bot', scope: 'read' } })
    const { stdout } = await admin(['tokens', email])
    expect(stdout).toMatch(
      new RegExp(`^\\S+ {2}read {3}…${hint} {2}last used never {2}expires 20\\S+ {2}all boards {2}"Bot"\n$`),
    )
    expect(JSON.parse((await admin(['tokens', id, '--json'])).stdout)).toEqual(await api.call('listTokens', {}))
    expect(await admin(['revoke-tokens', email])).toMatchObject({ stdout: `${email}: 1 access tokens revoked\n` })
    expect((await new Client(service.baseUrl, token).send('getMe', {})).status).toBe(401)
    const { rows } = await service.sql.query(
      `select operator from admin_actions where target_id = $1 and action = 'revoke-tokens'`,
      [id],
    )
    expect(rows).toEqual([{ operator: userInfo().username }])
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

  test('[ADMIN-19] [TOKEN-18] audit shows the members that a revoked token added, and escapes its name', async () => {
    const [{ owner, id: board_id }, { id: user_id }] = [await service.board(), await service.user()]
    const name = 'CI \u001b[31m\u009b2J\u202e'
    const token = await owner.api.call('createToken', { body: { name, scope: 'admin' } })
    const bot = new Client(service.baseUrl, token.token)
    await bot.call('inviteMember', { params: { board_id }, body: { user_id } })
    await owner.api.call('revokeTokens', {})
    const lines = (await admin(['audit', '--limit', '20'])).stdout.split('\n')
    const escaped = '"CI \\u001b[31m\\u009b2J\\u202e"'
    const details = `{"board_id":"${board_id}","token_id":"${token.id}","token_name":${escaped}}`
    expect(lines.map((line) => line.slice('2026-01-01T00:00:00.000Z  '.length))).toContain(
      `${owner.id}  add-member  ${user_id}  ${details}`,
    )
  })
})

test('[ADMIN-13] every command on the administration page works as documented', { timeout: 180_000 }, async () => {
  const page = await readFile('docs/administering.md', 'utf8')
  const commands = [...page.matchAll(/^npm run admin -- (.+)$/gm)].map(([, line]) => line as string)
  const { id } = await service.anybody.call('register', {
    body: { email: 'ada@example.com', username: 'ada', password: PASSWORD },
  })
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-page-'))
  try {
    for (const command of commands) {
      const typed = command.startsWith('erase') ? 'ada@example.com' : PASSWORD
      const { code, stderr } = await admin(command.split(' '), `${typed}\n`, WEBHOOK_SETTINGS, folder)
      expect([command, code, stderr.includes('Redis')]).toEqual([command, 0, false])
    }
    expect(JSON.parse(await readFile(join(folder, 'ada.json'), 'utf8'))).toMatchObject({ profile: { id } })
  } finally {
    await rm(folder, { recursive: true })
  }
  const { rows } = await service.sql.query('select action from admin_actions where target_id = $1 order by id', [id])
  const [off, on] = ['change-account', 'change-account']
  const reset = 'reset-password'
  expect(rows.map(({ action }) => action)).toEqual([
    ...[off, on, reset, reset, 'create-reset-link'],
    ...['export', 'erase', 'erased'],
  ])
  // No command is missing from the page.
  const { stdout: usage } = await admin(['--help'])
  const known = [...usage.matchAll(/^ {2}([a-z][a-z-]+)/gm)].map(([, name]) => name as string)
  const documented = new Set(commands.map((command) => command.split(' ')[0]))
  expect(known.filter((name) => !documented.has(name))).toEqual([
    'revoke-invitation',
    'migrate',
    'new-epoch',
    'recount',
  ])
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

describe('usage', () => {
  test('[RUN-12] --help and --version, of all commands and of one', async () => {
    expect(await admin(['--help'])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^ {2}erase /m),
    })
    const { version } = JSON.parse(await readFile('packages/server/package.json', 'utf8')) as { version: string }
    for (const args of [['--version'], ['erase', '--version']])
      expect(await admin(args)).toEqual({ code: 0, stderr: '', stdout: `${version}\n` })
    const { stdout } = await admin(['reset-password', '--help'], '', { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' })
    expect(stdout).toMatch(/^npm run admin -- reset-password <address> \[--generate\]\n\n {2}set a new password/)
  })

  test.each([
    [['promote', 'a@example.com'], 'Unknown command promote. See npm run admin -- --help.\n'],
    [['deactivate', 'a@example.com', '--jsno'], "Unknown option '--jsno'. See --help.\n"],
    [['deactivate', 'a@example.com', '--json'], "Unknown option '--json'. See --help.\n"],
    [['--jsno'], "Unknown option '--jsno'. See --help.\n"],
    [['deactivate'], 'Usage: npm run admin -- deactivate <address>\n'],
    [['statistics', 'today'], 'Usage: npm run admin -- statistics [--json]\n'],
    [['create-superuser'], 'Usage: npm run admin -- create-superuser --email <address> --username <name>\n'],
  ])('[RUN-12] [AUTH-23] %j is one sentence, with exit code 2', async (args, stderr) => {
    expect(await admin(args)).toEqual({ code: 2, stdout: '', stderr })
  })

  test('[RUN-12] [AUTH-23] without a command it prints all of them, with exit code 2', async () => {
    expect(await admin([])).toMatchObject({ code: 2, stderr: expect.stringContaining('create-superuser --email') })
  })

  test('[RUN-9] a missing database or PostgreSQL is one sentence', async () => {
    const DATABASE_URL = service.databaseUrl.replace(/[^/]+$/, 'nowhere')
    for (const command of ['statistics', 'migrate'])
      expect(await admin([command], '', { DATABASE_URL })).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^PostgreSQL at \S+ has no database "nowhere"\. [^\n]+\n$/),
      })
    const empty = await admin(['statistics'], '', { DATABASE_URL: POSTGRES })
    expect(empty.stderr).toMatch(/^The database "\w+" at \S+ is not migrated \(.+\)\. Run npm run migrate/)
    const gone = await admin(['statistics'], '', { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' })
    expect(gone).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^PostgreSQL cannot be reached at 127\.0\.0\.1:1 /),
    })
  })
})

test('[ADMIN-15] new-epoch and every migration are in the audit log', async () => {
  const entries = async (action: string) =>
    (await service.sql.query('select operator, details from admin_actions where action = $1', [action])).rows
  await admin(['new-epoch'])
  const operator = userInfo().username
  expect(await entries('new-epoch')).toEqual([{ operator, details: { epoch: expect.any(Number) } }])
  const { rows } = await service.sql.query('select name from schema_migrations order by applied_at')
  expect(await entries('migrate')).toEqual(rows.map(({ name }) => ({ operator, details: { migration: name } })))
})

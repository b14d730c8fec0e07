import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from '#testing/client'
import { MARK, PASSWORD, startService, type TestService } from '#testing/service'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const script = fileURLToPath(new URL('admin.ts', import.meta.url))

/** Runs the command as an operator does, with what he types. */
async function admin(args: string[], typed = '', settings: Record<string, string> = {}) {
  const child = spawn(process.execPath, [script, ...args], {
    env: { DATABASE_URL: service.database_url, ...settings },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
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

describe('create-superuser', () => {
  test.each([
    ['ended', '\n'],
    ['not ended', ''],
  ])('[AUTH-23] creates one with the password that a line of standard input holds, %s', async (_, end) => {
    const username = `root-${crypto.randomUUID()}`
    const email = `${username}@Example.com`
    const { code, stdout } = await create(email, username, PASSWORD + end)
    expect([code, stdout]).toEqual([0, `${email}: created\n`])
    const { body } = await logIn(email.toLowerCase())
    const api = new Client(service.base_url, (body as { access_token: string }).access_token)
    expect(await api.call('getMe', {})).toMatchObject({ email, username, is_superuser: true, is_active: true })
  })

  test('[AUTH-23] [AUTH-4] refuses a password that breaks the rules, and says which', async () => {
    const { code, stderr } = await create('weak@example.com', 'weak', `${PASSWORD}\n`, { PASSWORD_REQUIRES: 'digit' })
    expect(code).toBe(1)
    expect(stderr).toContain('The password must contain a digit.')
    expect(await countOf('weak')).toBe(0)
  })

  test('[AUTH-23] [AUTH-3] refuses an address that is taken', async () => {
    const { email } = await service.user()
    const { code, stderr } = await create(email.toUpperCase(), 'second')
    expect(code).toBe(1)
    expect(stderr).not.toBe('')
    expect(await countOf('second')).toBe(0)
  })

  test.each([
    ['no address', 'proper'],
    ['proper@example.com', 'ab'],
  ])('[AUTH-23] [AUTH-2] refuses %j with the username %j', async (email, username) => {
    expect((await create(email, username)).code).toBe(1)
    expect(await countOf(username)).toBe(0)
  })
})

describe('deactivate and activate', () => {
  test('[AUTH-23] [AUTH-12] a deactivated user is refused at once, and let in again when activated', async () => {
    const { email, api } = await service.user()
    expect(await admin(['deactivate', email.toUpperCase()])).toMatchObject({ code: 0 })
    expect((await api.fail('getMe', {})).status).toBe(401)
    expect((await logIn(email)).status).toBe(401)
    expect(await admin(['activate', email])).toMatchObject({ code: 0, stdout: `${email}: activated\n` })
    expect((await api.call('getMe', {})).email).toBe(email)
    expect((await logIn(email)).status).toBe(200)
  })

  test('[AUTH-23] an address of nobody is refused', async () => {
    const { code, stderr } = await admin(['deactivate', 'nobody@example.com'])
    expect([code, stderr]).toEqual([1, 'There is no user nobody@example.com.\n'])
  })
})

test('[AUTH-23] without a command that it knows it says how it is used', async () => {
  for (const args of [[], ['promote', 'a@example.com']]) {
    const { code, stdout, stderr } = await admin(args)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('create-superuser --email')
  }
})

import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CliUser, until } from '@lockstep/testing/cli/command'
import { PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

let service: TestService
let user: TestUser
let cli: CliUser
beforeAll(async () => {
  service = await startService()
  user = await service.user()
  await user.api.call('createBoard', { body: { title: 'Plan' } })
})
afterAll(() => service.stop())
beforeEach(() => {
  cli = new CliUser()
})
afterEach(() => cli.dispose())

const storedLogin = () => JSON.parse(readFileSync(cli.loginFile, 'utf8')) as { url: string; token: string }

test('[CLI-2] login reads the password from stdin and stores a token that only its owner can read', async () => {
  const args = ['login', '--url', service.baseUrl, '--email', user.email]
  const { code, out } = await cli.run(args, { input: `${PASSWORD}\n` })
  expect({ code, out }).toEqual({ code: 0, out: `Logged in at ${service.baseUrl} as ${user.username}.\n` })
  expect(statSync(cli.loginFile).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(cli.loginFile)).mode & 0o777).toBe(0o700)
  expect(storedLogin()).toMatchObject({ url: service.baseUrl, email: user.email })
  expect((await cli.run(['boards'])).out).toContain('Plan')
})

test('[CLI-2] on a terminal it prompts, and does not echo the password', async () => {
  const running = cli.startOnTerminal(['login'])
  for (const [prompt, answer] of [
    ['URL', service.baseUrl],
    ['E-mail', user.email],
    ['Password', PASSWORD],
  ] as const) {
    await until(prompt, () => running.out().includes(`${prompt}`))
    // Readline turns echoing off a moment after the prompt.
    await pause(200)
    running.type(`${answer}\r`)
  }
  await until('the login is stored', () => existsSync(cli.loginFile))
  // The test helper fails if the output contains the password.
  const { out } = await running.ended
  expect(out).toContain(`as ${user.username}.`)
})

test('[CLI-2] a wrong password or an incomplete login stores nothing', async () => {
  const args = ['login', '--url', service.baseUrl, '--email', user.email]
  expect(await cli.run(args, { input: 'wrong horse\n' })).toMatchObject({ code: 3, out: '' })
  expect(await cli.run(args, { input: '' })).toMatchObject({ code: 2 })
  expect(await cli.run(['login', '--url', service.baseUrl])).toMatchObject({ code: 2 })
  expect(await cli.run(['login', '--url', 'ftp://x', '--email', 'a@b.cd'])).toMatchObject({ code: 2 })
  const away = ['login', '--url', '127.0.0.1:19999', '--email', 'a@b.cd']
  expect(await cli.run(away, { input: 'some\n' })).toMatchObject({
    code: 1,
    err: 'lockstep: http://127.0.0.1:19999: The service could not be reached (ECONNREFUSED).\n',
  })
  expect(existsSync(cli.loginFile)).toBe(false)
})

test('[CLI-2] logout removes the file even if the service is down', async () => {
  await cli.login(service.baseUrl, user.email)
  expect(await cli.run(['logout'])).toMatchObject({ code: 0, out: `Logged out at ${service.baseUrl}.\n` })
  expect(existsSync(cli.loginFile)).toBe(false)
  expect(await cli.run(['boards'])).toMatchObject({ code: 3, out: '' })
  expect(await cli.run(['logout'])).toMatchObject({ code: 0, out: 'Not logged in.\n' })
  const temporary = await startService({}, { beside: service })
  await cli.login(temporary.baseUrl, user.email)
  await temporary.stop()
  expect(await cli.run(['logout'])).toMatchObject({ code: 0, err: '' })
  expect(existsSync(cli.loginFile)).toBe(false)
})

test('[CLI-13] cancelling the prompt, and an unwritable folder, print a message', async () => {
  const running = cli.startOnTerminal(['login', '--url', service.baseUrl, '--email', user.email])
  await until('the prompt', () => running.out().includes('Password'))
  await pause(200)
  running.type('\x03')
  expect((await running.ended).out).toMatch(/lockstep: Cancelled\./)
  const args = ['login', '--url', service.baseUrl, '--email', user.email]
  const env = { XDG_CONFIG_HOME: '/dev/null' }
  const rejected = await cli.run(args, { input: `${PASSWORD}\n`, env })
  expect(rejected).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^lockstep: ENOTDIR.+\n$/) })
})

test('[CLI-3] LOCKSTEP_URL and LOCKSTEP_TOKEN replace a login, and no file is written', async () => {
  const token = user.api.token ?? ''
  const env = { LOCKSTEP_URL: service.baseUrl, LOCKSTEP_TOKEN: token }
  expect(await cli.run(['boards'], { env })).toMatchObject({ code: 0, out: expect.stringContaining('Plan') })
  expect(existsSync(cli.loginFile)).toBe(false)
})

test('[CLI-3] a token is sent only to its own address', async () => {
  await cli.login(service.baseUrl, user.email)
  // The same service under another name would accept it.
  const elsewhere = service.baseUrl.replace('127.0.0.1', 'localhost')
  const away = { code: 3, out: '', err: expect.stringContaining(`Not logged in at ${elsewhere}`) }
  expect(await cli.run(['boards'], { env: { LOCKSTEP_URL: elsewhere } })).toMatchObject(away)
  expect(await cli.run(['boards', '--url', elsewhere])).toMatchObject(away)
  const env = { LOCKSTEP_URL: service.baseUrl, LOCKSTEP_TOKEN: user.api.token ?? '' }
  expect(await cli.run(['boards', '--url', elsewhere], { env })).toMatchObject(away)
})

test('[CLI-5] no output contains the token or the password', async () => {
  await cli.login(service.baseUrl, user.email)
  const { token } = storedLogin()
  for (const args of [['boards'], ['show', 'Nowhere'], ['doctor'], ['login', '--email', 'wrong'], ['logout']]) {
    for (const more of [[], ['--json']]) {
      const { out, err } = await cli.run([...args, ...more], { input: `${PASSWORD}\n` })
      expect(out + err).not.toContain(token)
      expect(out + err).not.toContain(PASSWORD)
    }
  }
})

test('[CLI-4] a login is renewed after half its lifetime; an expired one exits with code 3', async () => {
  const short = await startService({ TOKEN_LIFETIME_SECONDS: '6' }, { beside: service })
  try {
    await cli.login(short.baseUrl, user.email)
    const { token } = storedLogin()
    await pause(3_500)
    expect(await cli.run(['boards'])).toMatchObject({ code: 0 })
    expect(storedLogin().token).not.toBe(token)
    expect(statSync(cli.loginFile).mode & 0o777).toBe(0o600)
    await pause(7_000)
    const ended = await cli.run(['boards'])
    expect(ended).toMatchObject({ code: 3, out: '', err: expect.stringContaining('lockstep login') })
    expect(await cli.run(['doctor'])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/✗ login .*expired.*\n +lockstep login --url/),
    })
  } finally {
    await short.stop()
  }
})

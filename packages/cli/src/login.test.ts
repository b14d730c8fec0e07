import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Person, until } from '@lockstep/testing/cli/command'
import { PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

let service: TestService
let user: TestUser
let person: Person
beforeAll(async () => {
  service = await startService()
  user = await service.user()
  await user.api.call('createBoard', { body: { title: 'Plan' } })
})
afterAll(() => service.stop())
beforeEach(() => {
  person = new Person()
})
afterEach(() => person.leave())

const kept = () => JSON.parse(readFileSync(person.login_file, 'utf8')) as { url: string; token: string }

test('[CLI-2] a login takes the password from standard input, and keeps a token that only its owner can read', async () => {
  const args = ['login', '--url', service.base_url, '--email', user.email]
  const { code, out } = await person.run(args, { input: `${PASSWORD}\n` })
  expect({ code, out }).toEqual({ code: 0, out: `Logged in at ${service.base_url} as ${user.username}.\n` })
  expect(statSync(person.login_file).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(person.login_file)).mode & 0o777).toBe(0o700)
  expect(kept()).toMatchObject({ url: service.base_url, email: user.email })
  expect((await person.run(['boards'])).out).toContain('Plan')
})

test('[CLI-2] at a terminal it asks, and does not show the password', async () => {
  const running = person.startOnTerminal(['login'])
  for (const [prompt, answer] of [
    ['URL', service.base_url],
    ['E-mail', user.email],
    ['Password', PASSWORD],
  ] as const) {
    await until(prompt, () => running.out().includes(`${prompt}`))
    // Readline turns echoing off a moment after the prompt.
    await pause(200)
    running.type(`${answer}\r`)
  }
  await until('the login is kept', () => existsSync(person.login_file))
  // Had it been shown, the harness would say so.
  const { out } = await running.ended
  expect(out).toContain(`as ${user.username}.`)
})

test('[CLI-2] a wrong password, and a login that says too little, keep nothing', async () => {
  const args = ['login', '--url', service.base_url, '--email', user.email]
  expect(await person.run(args, { input: 'wrong horse\n' })).toMatchObject({ code: 3, out: '' })
  expect(await person.run(args, { input: '' })).toMatchObject({ code: 2 })
  expect(await person.run(['login', '--url', service.base_url])).toMatchObject({ code: 2 })
  expect(await person.run(['login', '--url', 'ftp://x', '--email', 'a@b.cd'])).toMatchObject({ code: 2 })
  const away = ['login', '--url', '127.0.0.1:19999', '--email', 'a@b.cd']
  expect(await person.run(away, { input: 'some\n' })).toMatchObject({
    code: 1,
    err: 'lockstep: http://127.0.0.1:19999: The service could not be reached (ECONNREFUSED).\n',
  })
  expect(existsSync(person.login_file)).toBe(false)
})

test('[CLI-2] a logout removes the file, also when the service is away', async () => {
  await person.login(service.base_url, user.email)
  expect(await person.run(['logout'])).toMatchObject({ code: 0, out: `Logged out at ${service.base_url}.\n` })
  expect(existsSync(person.login_file)).toBe(false)
  expect(await person.run(['boards'])).toMatchObject({ code: 3, out: '' })
  expect(await person.run(['logout'])).toMatchObject({ code: 0, out: 'Nobody was logged in.\n' })
  const passing = await startService({}, { beside: service })
  await person.login(passing.base_url, user.email)
  await passing.stop()
  expect(await person.run(['logout'])).toMatchObject({ code: 0, err: '' })
  expect(existsSync(person.login_file)).toBe(false)
})

test('[CLI-13] who changes his mind at the prompt, and a folder that cannot be written, get a sentence', async () => {
  const running = person.startOnTerminal(['login', '--url', service.base_url, '--email', user.email])
  await until('the prompt', () => running.out().includes('Password'))
  await pause(200)
  running.type('\x03')
  expect((await running.ended).out).toMatch(/lockstep: Nothing was done\./)
  const args = ['login', '--url', service.base_url, '--email', user.email]
  const env = { XDG_CONFIG_HOME: '/dev/null' }
  const refused = await person.run(args, { input: `${PASSWORD}\n`, env })
  expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^lockstep: ENOTDIR.+\n$/) })
})

test('[CLI-3] LOCKSTEP_URL and LOCKSTEP_TOKEN take the place of a login, and leave no file', async () => {
  const token = user.api.token ?? ''
  const env = { LOCKSTEP_URL: service.base_url, LOCKSTEP_TOKEN: token }
  expect(await person.run(['boards'], { env })).toMatchObject({ code: 0, out: expect.stringContaining('Plan') })
  expect(existsSync(person.login_file)).toBe(false)
})

test('[CLI-3] a token is sent to no other address than its own', async () => {
  await person.login(service.base_url, user.email)
  // The same service under another name would accept it.
  const elsewhere = service.base_url.replace('127.0.0.1', 'localhost')
  const away = { code: 3, out: '', err: expect.stringContaining(`Nobody is logged in at ${elsewhere}`) }
  expect(await person.run(['boards'], { env: { LOCKSTEP_URL: elsewhere } })).toMatchObject(away)
  expect(await person.run(['boards', '--url', elsewhere])).toMatchObject(away)
  const env = { LOCKSTEP_URL: service.base_url, LOCKSTEP_TOKEN: user.api.token ?? '' }
  expect(await person.run(['boards', '--url', elsewhere], { env })).toMatchObject(away)
})

test('[CLI-5] nothing that is printed holds the token or the password, in success as in failure', async () => {
  await person.login(service.base_url, user.email)
  const { token } = kept()
  for (const args of [['boards'], ['show', 'Nowhere'], ['doctor'], ['login', '--email', 'wrong'], ['logout']]) {
    for (const more of [[], ['--json']]) {
      const { out, err } = await person.run([...args, ...more], { input: `${PASSWORD}\n` })
      expect(out + err).not.toContain(token)
      expect(out + err).not.toContain(PASSWORD)
    }
  }
})

test('[CLI-4] a login is renewed when half its time is over; one that has ended is exit code 3', async () => {
  const short = await startService({ TOKEN_LIFETIME_SECONDS: '6' }, { beside: service })
  try {
    await person.login(short.base_url, user.email)
    const { token } = kept()
    await pause(3_500)
    expect(await person.run(['boards'])).toMatchObject({ code: 0 })
    expect(kept().token).not.toBe(token)
    expect(statSync(person.login_file).mode & 0o777).toBe(0o600)
    await pause(7_000)
    const ended = await person.run(['boards'])
    expect(ended).toMatchObject({ code: 3, out: '', err: expect.stringContaining('lockstep login') })
    expect(await person.run(['doctor'])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/✗ login .*ended.*\n +lockstep login --url/),
    })
  } finally {
    await short.stop()
  }
}, 40_000)

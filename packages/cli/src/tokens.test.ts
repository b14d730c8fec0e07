import { readFileSync } from 'node:fs'
import type { NewAccessToken } from '@lockstep/client'
import { CliUser, until } from '@lockstep/testing/cli/command'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
const user = new CliUser()
beforeAll(async () => {
  service = await startService()
  board = await service.board()
  await user.login(service.baseUrl, board.owner.email)
})
afterAll(async () => {
  user.dispose()
  await service.stop()
})

test('[CLI-18] tokens are created, listed and revoked, and only the creation prints one', async () => {
  expect((await user.run(['tokens'])).out).toBe('No access tokens. Create one: lockstep tokens new\n')
  const { code, out } = await user.run(['tokens', 'new', '--name', 'CI', '--scope', 'write', '--board', 'Plan'])
  expect([code, out]).toEqual([0, expect.stringMatching(/^lsb_[0-9A-Za-z]{36}\n$/)])
  const personal = await user.json<NewAccessToken>(['tokens', 'new', '--days', '7'])
  expect(personal).toMatchObject({ scope: 'read', board_id: null, token: expect.stringMatching(/^lsp_/) })
  const listed = (await user.run(['tokens'])).out
  expect(listed).toMatch(/CI +write {2}….{4} {2}Plan {2}never used, expires \d{4}-\d\d-\d\d\n$/)
  expect(listed).not.toMatch(/ls[pb]_/)
  expect(await user.run(['tokens', 'revoke', 'CI'])).toMatchObject({ code: 0, out: 'Revoked “CI”.\n' })
  expect(await user.run(['tokens', 'revoke', personal.id.slice(0, 30)])).toMatchObject({ code: 0 })
  expect(await board.owner.api.call('listTokens', {})).toEqual([])
  expect(await user.run(['tokens', 'revoke', 'CI'])).toMatchObject({ code: 4 })
})

test('[CLI-18] wrong usage of tokens is exit code 2, and creates nothing', async () => {
  for (const args of [['new', 'x'], ['revoke'], ['show'], ['new', '--scope', 'all'], ['new', '--days', 'long']])
    expect(await user.run(['tokens', ...args])).toMatchObject({ code: 2, out: '' })
  expect(await board.owner.api.call('listTokens', {})).toEqual([])
})

test('[CLI-18] login --token reads an access token from stdin, stores it and does not print it', async () => {
  const { token, id } = await board.member.api.call('createToken', { body: { name: 'Bot', scope: 'read' } })
  const bot = new CliUser()
  try {
    const login = ['login', '--token', '--url', service.baseUrl]
    expect(await bot.run(login, { input: 'not-a-token\n' })).toMatchObject({ code: 2, out: '' })
    expect(await bot.run(login, { input: `${token.slice(0, -1)}\n` })).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringContaining('This access token is unknown, expired or revoked.'),
    })
    const { code, out, err } = await bot.run(login, { input: `${token}\n` })
    expect([code, out + err]).toEqual([0, expect.stringContaining('with an access token.')])
    expect(JSON.parse(readFileSync(bot.loginFile, 'utf8'))).toMatchObject({ token, email: board.member.email })
    expect((await bot.run(['boards'])).out).toContain('Plan')
    const doctor = await bot.run(['doctor'])
    expect(doctor.out).toContain(`✓ login       as ${board.member.username}, with an access token`)
    for (const args of [['tokens'], ['add', 'Plan', 'Done', 'x']])
      expect(await bot.run(args)).toMatchObject({ code: 1, err: expect.stringContaining('access token') })
    await board.member.api.call('revokeToken', { params: { token_id: id } })
    const rejected = await bot.run(['boards'])
    expect(rejected).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringContaining(
        'The access token is unknown, expired or revoked. Create another one in the settings',
      ),
    })
    expect((await bot.run(['doctor'])).out).toContain('The access token is unknown, expired or revoked.')
    for (const { out: printed, err: errors } of [doctor, await bot.run(['logout'])])
      expect(printed + errors).not.toContain(token)
  } finally {
    bot.dispose()
  }
})

test('[CLI-30] a program whose LOCKSTEP_TOKEN is rejected is told so, and not to log in', async () => {
  const { token, id } = await board.member.api.call('createToken', { body: { name: 'CI', scope: 'read' } })
  const bot = new CliUser()
  const env = { LOCKSTEP_URL: service.baseUrl, LOCKSTEP_TOKEN: token }
  try {
    const watching = bot.start(['watch', 'Plan'], { env })
    await until('the board is watched', () => watching.err().includes('Watching'))
    await board.member.api.call('revokeToken', { params: { token_id: id } })
    for (const { code, out, err } of [await bot.run(['boards'], { env }), await watching.ended]) {
      expect([code, out]).toEqual([3, ''])
      expect(err).toContain(
        'LOCKSTEP_TOKEN is unknown, expired or revoked. Create another one in the settings of the web client.',
      )
      expect(err).not.toContain('lockstep login')
    }
    const { err } = await bot.run(['boards', '--json'], { env })
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'not_authenticated', exit_code: 3 } })
  } finally {
    bot.dispose()
  }
})

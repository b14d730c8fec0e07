import { execFileSync } from 'node:child_process'
import { CliUser } from '@lockstep/testing/cli/command'
import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: TestService
const user = new CliUser()
beforeAll(async () => {
  service = await startService()
  const { email } = await service.user('ada')
  await user.login(service.baseUrl, email)
})
afterAll(async () => {
  user.dispose()
  await service.stop()
})

test('[CLI-20] whoami shows the account and the service', async () => {
  expect(await user.json(['whoami'])).toMatchObject({ url: service.baseUrl, user: { username: 'ada' } })
  expect((await user.run(['whoami'])).out).toMatch(/^ada \(\S+@\S+\) at http:\S+\n$/)
})

test('[CLI-20] api creates, changes and deletes what has no command of its own', async () => {
  const { id: board_id } = await user.json<{ id: string }>(['api', 'createBoard', '{"title": "Plan"}'])
  const input = JSON.stringify({ board_id, title: 'Café' })
  const column = await user.json<{ id: string }>(['api', 'createColumn', '-'], { input })
  expect(column).toMatchObject({ board_id, title: 'Café' })
  expect((await user.run(['api', 'listBoards'])).out).toContain('\n    "title": "Plan"')
  const deletion = await user.run(['api', 'deleteColumn', JSON.stringify({ column_id: column.id })])
  expect(deletion).toEqual({ code: 0, out: '', err: '' })
})

test('[CLI-25] every command asks the service to reject unknown fields, so that a misspelled one is named', async () => {
  const { code, err } = await user.run(['api', 'createBoard', '{"title": "Plan", "descripton": "x"}'])
  expect([code, err]).toEqual([1, expect.stringContaining('descripton is not a field of this operation')])
})

test.each([
  ...['nothing', 'close', 'session', 'constructor'].map((name): [string[], string] => [
    [name],
    `There is no operation ${name}; lockstep api lists them.`,
  ]),
  [['createBoard', 'title'], 'The input must be a JSON object.'],
  [['createBoard', '[]'], 'The input must be a JSON object.'],
  ...['login', 'refresh', 'createTicket', 'changePassword', 'register', 'getWebhookSecret'].map(
    (name): [string[], string] => [
      [name, '{}'],
      `${name} has a secret in its input or output: use another client for it.`,
    ],
  ),
])('[CLI-20] api rejects %j', async (args, sentence) => {
  expect(await user.run(['api', ...args])).toEqual({ code: 2, out: '', err: `lockstep: ${sentence}\n` })
})

test('[CLI-28] api without a needed input is wrong usage in one line, as JSON with --json', async () => {
  const missing = 'createLabel needs board_id.'
  for (const input of [[], ['{"name": "Urgent"}'], ['{"board_id": 5}']])
    expect(await user.run(['api', 'createLabel', ...input])).toEqual({
      code: 2,
      out: '',
      err: `lockstep: ${missing}\n`,
    })
  for (const [args, detail] of [
    [['createLabel'], missing],
    [['createLabel', '{"name'], 'The input must be a JSON object.'],
    [['nothing'], 'There is no operation nothing; lockstep api lists them.'],
  ] as const) {
    const { code, out, err } = await user.run(['api', ...args, '--json'])
    expect([code, out, JSON.parse(err)]).toEqual([2, '', { error: { code: 'wrong_usage', detail, exit_code: 2 } }])
  }
})

test('[CLI-28] api takes titles of boards, columns and cards, as other commands do', async () => {
  const board = await user.json<{ id: string }>(['api', 'createBoard', '{"title": "Bakery"}'])
  const call = (name: string, input: object) => user.json<{ id: string }>(['api', name, JSON.stringify(input)])
  expect(await call('createLabel', { board_id: 'Bakery', name: 'Urgent' })).toMatchObject({ board_id: board.id })
  const [open, done] = [
    await call('createColumn', { board_id: 'bakery', title: 'Open' }),
    await call('createColumn', { board_id: board.id, title: 'Done' }),
  ]
  const card = await call('createCard', { board_id: 'Bake', column_id: 'open', title: 'Bread' })
  expect(card).toMatchObject({ column_id: open.id })
  expect(await call('updateCard', { card_id: 'Bread', title: 'Rye bread' })).toMatchObject({ id: card.id })
  expect(await call('moveCard', { card_id: 'Rye', column_id: 'Done' })).toMatchObject({
    id: card.id,
    column_id: done.id,
  })
  const unknown = await user.run(['api', 'createLabel', '{"board_id": "Brewery", "name": "Urgent"}'])
  expect(unknown).toMatchObject({
    code: 4,
    out: '',
    err: expect.stringMatching(/^lockstep: There is no board “Brewery”\..*\n$/),
  })
})

test('[CLI-28] api without an operation lists the operations, also without a login', async () => {
  const nobody = new CliUser()
  try {
    const { code, out } = await nobody.run(['api'])
    const names = out.trimEnd().split('\n')
    expect([code, names]).toEqual([0, expect.arrayContaining(['createBoard', 'moveCard', 'listEvents'])])
    for (const name of ['request', 'pages', 'close', 'session', 'baseUrl', 'login', 'createToken'])
      expect(names).not.toContain(name)
    expect(await nobody.json(['api'])).toEqual(names)
  } finally {
    nobody.dispose()
  }
})

test('[CLI-20] completion offers commands, then the options of the command', async () => {
  const { out: script } = await user.run(['completion', 'bash'])
  const complete = (...words: string[]) => {
    const line = words.map((word) => `'${word}'`).join(' ')
    const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _lockstep; echo "\${COMPREPLY[*]}"`
    return execFileSync('bash', ['--norc', '-c', `${script}\n${ask}`], { encoding: 'utf8' }).trim()
  }
  expect(complete('lockstep', 'lo')).toBe('login logout')
  expect(complete('lockstep', 'move', '--')).toBe('--after --position --board --json --url --help')
  expect(complete('lockstep', 'nothing', '')).toBe('')
  for (const shell of ['zsh', 'fish'])
    expect((await user.run(['completion', shell])).out).toMatch(/doctor.*find problems/)
  expect((await user.run(['completion', 'tcsh'])).code).toBe(2)
})

import { setTimeout as pause } from 'node:timers/promises'
import { Person, until } from '@lockstep/testing/cli/command'
import { startWebProxy } from '@lockstep/testing/cli/web-proxy'
import { endProcesses, startServiceProcess } from '@lockstep/testing/processes'
import { PASSWORD, startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { REDIS } from '@lockstep/testing/template-database'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: TestService
const person = new Person()
beforeAll(async () => {
  service = await startService()
})
afterAll(async () => {
  person.leave()
  await endProcesses()
  await service.stop()
})

/** Adds a card behind the command's back, and says how it went. */
const add = (board: TestBoard, title: string) =>
  board.member.api.call('createCard', {
    params: { board_id: board.id, column_id: board.columns[0].id },
    body: { title },
  })

test('[CLI-9] every event is a line that says when, who and what', async () => {
  const board = await service.board()
  const { member, columns } = board
  await person.login(service.base_url, board.owner.email)
  const running = person.start(['watch', board.id])
  await until('it watches', () => running.err().includes('Watching Plan'))
  const card = await add(board, 'Write')
  const params = { card_id: card.id }
  await member.api.call('moveCard', { params, body: { column_id: columns[1].id } })
  await member.api.call('updateCard', { params, body: { title: 'Rewrite' } })
  const label = await member.api.call('createLabel', { params: { board_id: board.id }, body: { name: 'bug' } })
  await member.api.call('addCardLabel', { params: { ...params, label_id: label.id } })
  await member.api.call('assignCard', { params, body: { user_ids: [board.owner.id] } })
  const checklist = await member.api.call('createChecklist', { params, body: { title: 'Steps' } })
  const of = { checklist_id: checklist.id }
  const item = await member.api.call('createItem', { params: of, body: { content: 'first' } })
  await member.api.call('updateItem', { params: { item_id: item.id }, body: { is_done: true } })
  await member.api.call('deleteCard', { params })
  await until('all ten came', () => running.out().split('\n').length > 10)
  const lines = running.out().trimEnd().split('\n')
  for (const line of lines) expect(line).toMatch(/^\d\d:\d\d:\d\d {2}/)
  expect(lines.map((line) => line.slice(10))).toEqual(
    [
      'added “Write” to To do',
      'moved “Write” from To do to Done',
      'renamed “Write” to “Rewrite”',
      'added the label #bug',
      'put #bug on “Rewrite”',
      `assigned @${board.owner.username} to “Rewrite”`,
      'added the checklist “Steps” on “Rewrite”',
      'added the item “first” on “Rewrite”',
      'ticked off “first” on “Rewrite”',
      'deleted “Rewrite” from Done',
    ].map((what) => `${member.username} ${what}`),
  )
  expect(await running.end()).toMatchObject({ code: 0 })
})

test('[CLI-9] [CLI-11] it goes on where it was when the service is killed and comes back', async () => {
  const board = await service.board()
  const settings = { DATABASE_URL: service.database_url, REDIS_URL: REDIS }
  const first = await startServiceProcess(settings)
  const proxy = await startWebProxy(first.base_url)
  await person.login(proxy.base_url, board.owner.email)
  const running = person.start(['watch', board.id, '--json'])
  const told = person.start(['watch', board.id])
  const seen = () => running.events().flatMap(({ data }) => data?.title ?? [])
  await until('both watch', async () => {
    await add(board, 'warm')
    return seen().length > 0 && told.out() !== ''
  })
  await add(board, 'before')
  await until('the first comes', () => seen().includes('before'))
  await first.end('SIGKILL')
  await add(board, 'meanwhile')
  await until('it noticed', () => /lost|cannot be reached/.test(told.err()))
  const second = await startServiceProcess(settings)
  proxy.leadTo(second.base_url)
  await add(board, 'after')
  await until('the last comes', () => seen().includes('after') && told.out().includes('“after”'))
  expect(seen().filter((title) => title !== 'warm')).toEqual(['before', 'meanwhile', 'after'])
  const numbers = running.events().map(({ seq }) => seq ?? 0)
  expect(numbers).toEqual(numbers.map((_, i) => (numbers[0] ?? 0) + i))
  expect(told.err()).toContain('Connected again.')
  expect(await running.end('SIGTERM')).toMatchObject({ code: 0, err: '' })
  await told.end()
  await second.end()
  await proxy.stop()
}, 60_000)

test('[CLI-9] it ends with the board; who is removed from it is told so', async () => {
  const board = await service.board()
  const other = new Person()
  await person.login(service.base_url, board.owner.email)
  await other.login(service.base_url, board.member.email)
  const [owner, member] = [person.start(['watch', board.id]), other.start(['watch', board.id])]
  await until('both watch', () => [owner, member].every(({ err }) => err().includes('Watching')))
  const params = { board_id: board.id }
  await board.owner.api.call('removeMember', { params: { ...params, user_id: board.member.id } })
  expect(await member.ended).toMatchObject({ code: 1, err: expect.stringContaining('no longer a member') })
  await board.owner.api.call('deleteBoard', { params })
  expect(await owner.ended).toMatchObject({ code: 0, out: expect.stringContaining('deleted the board') })
  other.leave()
})

test('[CLI-4] [CLI-9] it ends with exit code 3 when the login is over', async () => {
  const board = await service.board()
  // Two logins of one second have one token, and the token that changes the password lives on.
  await pause(1_100)
  await person.login(service.base_url, board.owner.email)
  const running = person.start(['watch', board.id])
  await until('it watches', () => running.err().includes('Watching'))
  // A token of the very second of the change would live on.
  await pause(1_100)
  const body = { current_password: PASSWORD, new_password: `${PASSWORD} battery` }
  await board.owner.api.call('changePassword', { body })
  expect(await running.ended).toMatchObject({ code: 3, err: expect.stringContaining('lockstep login') })
})

test('[CLI-9] where sockets are barred it asks now and then, and says so', { timeout: 60_000 }, async () => {
  const board = await service.board()
  const proxy = await startWebProxy(service.base_url, { refuses_upgrades: true })
  await person.login(proxy.base_url, board.owner.email)
  const running = person.start(['watch', board.id])
  await until('it asks', () => running.err().includes('No socket can be had'), 40_000)
  await add(board, 'asked for')
  await until('the event comes', () => running.out().includes('added “asked for” to To do'))
  await running.end()
  await proxy.stop()
})

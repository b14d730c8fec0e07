import { setTimeout as pause } from 'node:timers/promises'
import { CliUser, until } from '@lockstep/testing/cli/command'
import { startWebProxy } from '@lockstep/testing/cli/web-proxy'
import { endProcesses, startServiceProcess } from '@lockstep/testing/processes'
import { PASSWORD, startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { REDIS } from '@lockstep/testing/template-database'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: TestService
const user = new CliUser()
beforeAll(async () => {
  service = await startService()
})
afterAll(async () => {
  user.dispose()
  await endProcesses()
  await service.stop()
})

/** Adds a card with another client. */
const add = (board: TestBoard, title: string) =>
  board.member.api.call('createCard', {
    params: { board_id: board.id, column_id: board.columns[0].id },
    body: { title },
  })

test('[CLI-9] every event is a line with time, user and change', async () => {
  const board = await service.board()
  const { member, columns } = board
  await user.login(service.baseUrl, board.owner.email)
  const running = user.start(['watch', board.id])
  await until('it is watching', () => running.err().includes('Watching Plan'))
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
  const comment = await member.api.call('createComment', { params, body: { body: 'Is it done?' } })
  const ofComment = { comment_id: comment.id }
  await member.api.call('updateComment', { params: ofComment, body: { body: 'It is done.' } })
  await member.api.call('deleteComment', { params: ofComment })
  await member.api.call('deleteCard', { params })
  await until('all thirteen came', () => running.out().split('\n').length > 13)
  const lines = running.out().trimEnd().split('\n')
  for (const line of lines) expect(line).toMatch(/^\d\d:\d\d:\d\d {2}/)
  expect(lines.map((line) => line.slice(10))).toEqual(
    [
      'added “Write” to To do',
      'moved “Write” from To do to Done',
      'renamed “Write” to “Rewrite”',
      'added the label #bug',
      'added #bug to “Rewrite”',
      `assigned @${board.owner.username} to “Rewrite”`,
      'added the checklist “Steps” on “Rewrite”',
      'added the item “first” on “Rewrite”',
      'checked off “first” on “Rewrite”',
      'commented on “Rewrite”',
      'edited a comment on “Rewrite”',
      'deleted a comment on “Rewrite”',
      'deleted “Rewrite” from Done',
    ].map((what) => `${member.username} ${what}`),
  )
  expect(await running.end()).toMatchObject({ code: 0 })
})

test('[CLI-9] [CLI-11] it continues without gaps when the service is killed and restarted', async () => {
  const board = await service.board()
  const settings = { DATABASE_URL: service.databaseUrl, REDIS_URL: REDIS }
  const first = await startServiceProcess(settings)
  const proxy = await startWebProxy(first.baseUrl)
  await user.login(proxy.baseUrl, board.owner.email)
  const running = user.start(['watch', board.id, '--json'])
  const text = user.start(['watch', board.id])
  const seen = () => running.events().flatMap(({ data }) => data?.title ?? [])
  await until('both are watching', async () => {
    await add(board, 'warm')
    return seen().length > 0 && text.out() !== ''
  })
  await add(board, 'before')
  await until('the first comes', () => seen().includes('before'))
  await first.end('SIGKILL')
  await add(board, 'meanwhile')
  await until('it detects the outage', () => /lost|cannot be reached/.test(text.err()))
  const second = await startServiceProcess(settings)
  proxy.setTarget(second.baseUrl)
  await add(board, 'after')
  await until('the last comes', () => seen().includes('after') && text.out().includes('“after”'))
  expect(seen().filter((title) => title !== 'warm')).toEqual(['before', 'meanwhile', 'after'])
  const numbers = running.events().map(({ seq }) => seq ?? 0)
  expect(numbers).toEqual(numbers.map((_, i) => (numbers[0] ?? 0) + i))
  expect(text.err()).toContain('Reconnected.')
  expect(await running.end('SIGTERM')).toMatchObject({ code: 0, err: '' })
  await text.end()
  await second.end()
  await proxy.stop()
})

test('[CLI-9] it stops when the board is deleted or the user is removed', async () => {
  const board = await service.board()
  const other = new CliUser()
  await user.login(service.baseUrl, board.owner.email)
  await other.login(service.baseUrl, board.member.email)
  const [owner, member] = [user.start(['watch', board.id]), other.start(['watch', board.id])]
  await until('both are watching', () => [owner, member].every(({ err }) => err().includes('Watching')))
  const params = { board_id: board.id }
  await board.owner.api.call('removeMember', { params: { ...params, user_id: board.member.id } })
  expect(await member.ended).toMatchObject({ code: 1, err: expect.stringContaining('no longer a member') })
  await board.owner.api.call('deleteBoard', { params })
  expect(await owner.ended).toMatchObject({ code: 0, out: expect.stringContaining('deleted the board') })
  other.dispose()
})

test('[CLI-4] [CLI-9] it exits with code 3 when the login expires', async () => {
  const board = await service.board()
  // Two logins within one second get the same token, and the token that changes the password stays valid.
  await pause(1_100)
  await user.login(service.baseUrl, board.owner.email)
  const running = user.start(['watch', board.id])
  await until('it is watching', () => running.err().includes('Watching'))
  // A token issued in the same second as the change would stay valid.
  await pause(1_100)
  const body = { current_password: PASSWORD, new_password: `${PASSWORD} battery` }
  await board.owner.api.call('changePassword', { body })
  expect(await running.ended).toMatchObject({ code: 3, err: expect.stringContaining('lockstep login') })
})

test('[CLI-9] behind a proxy that blocks WebSockets it polls and says so', async () => {
  const board = await service.board()
  const proxy = await startWebProxy(service.baseUrl, { rejectsUpgrades: true })
  await user.login(proxy.baseUrl, board.owner.email)
  const running = user.start(['watch', board.id])
  await until('it polls', () => running.err().includes('WebSockets are blocked'), 40_000)
  await add(board, 'polled')
  await until('the event comes', () => running.out().includes('added “polled” to To do'))
  await running.end()
  await proxy.stop()
})

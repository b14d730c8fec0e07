import { afterAll, beforeAll, expect, test } from 'vitest'
import { columnOf, dragCard, storedOrder } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { announcements, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

test('[WEB-3] users see each other’s changes and presence, until one closes the page', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  const grace = a.getByRole('button', { name: `Members. Also here: ${board.grace.username}` })
  await grace.waitFor()
  await b.getByRole('button', { name: `Members. Also here: ${board.ada.username}` }).waitFor()

  await a.getByRole('button', { name: 'New card' }).click()
  await a.getByLabel('Card title').fill('made by Ada')
  await a.keyboard.press('Enter')
  expect(await env.waitForSync(board, a, b)).toEqual([['To do', ['one', 'made by Ada']]])

  await checkAndClose(b)
  await a.getByRole('button', { name: 'Members. No one else is here' }).waitFor()
  await checkAndClose(a)
})

test('[WEB-4] two tabs of one browser work on the same board: no change is lost or duplicated', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: ['three'] })
  const one = await env.openPage(board.ada, board.path)
  const other = await env.openTab(one, board.path)
  const write = async (page: typeof one, column: string, name: string) => {
    await columnOf(page, column).getByRole('button', { name: 'Add card' }).click()
    for (let i = 1; i <= 10; i++) {
      await page.getByLabel('Card title').fill(`${name} ${i}`)
      await page.keyboard.press('Enter')
    }
    await page.keyboard.press('Escape')
  }
  await Promise.all([write(one, 'To do', 'left'), write(other, 'Doing', 'right')])
  // A reloaded tab must not resend the changes of the other tab.
  await one.reload()
  await one.locator('main.board').waitFor()
  await dragCard(other, 'two', 'Doing', 0)
  const stored = await env.waitForSync(board, one, other)
  const cards = (name: string) => Array.from({ length: 10 }, (_, i) => `${name} ${i + 1}`)
  expect(stored).toEqual([
    ['To do', ['one', ...cards('left')]],
    ['Doing', ['two', 'three', ...cards('right')]],
  ])
  await checkAndClose(one)
  await checkAndClose(other)
})

test('[WEB-9] two hundred cards inserted at the same position have the same order everywhere', async () => {
  const board = await env.createBoard({ 'To do': ['first', 'last'], Doing: ['other'] })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  const params = { board_id: board.id, column_id: board.columns['To do'] ?? '' }
  const after_id = board.cards['first'] ?? null
  for (let i = 1; i <= 200; i++) {
    const { api } = i % 2 ? board.ada : board.grace
    await api.call('createCard', { params, body: { title: `card ${i}`, after_id } })
  }
  const [column] = await env.waitForSync(board, a, b)
  expect(column?.[1]).toEqual(['first', ...Array.from({ length: 200 }, (_, i) => `card ${200 - i}`), 'last'])
  // Rebalancing events have no user and are not announced.
  const moves = 'select from board_events where board_id = $1 and user_id is null'
  expect((await env.service.sql.query(moves, [board.id])).rowCount).toBeGreaterThan(0)
  await a.waitForTimeout(5_500)
  expect(announcements(a).join()).not.toContain('A rule')
  // And at the other end of the column, which was not rendered during the changes.
  for (const page of [a, b]) {
    await page.locator('.card-title', { hasText: 'first' }).focus()
    await page.keyboard.press('End')
    await page.locator('.card-title', { hasText: 'last' }).waitFor()
  }
  await env.waitForSync(board, a, b)
  expect(await storedOrder(board.grace.api, board.id)).toEqual(await storedOrder(board.ada.api, board.id))
  await checkAndClose(a)
  await checkAndClose(b)
})

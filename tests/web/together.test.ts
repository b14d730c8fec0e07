import { afterAll, beforeAll, expect, test } from 'vitest'
import { dragCard, laneOf, orderOf } from './board-hands.ts'
import { finish, liveRegion } from './pages.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('[WEB-3] what one makes the other sees, and each sees that the other is there, until he closes the page', async () => {
  const board = await stage.board({ 'To do': ['one'] })
  const a = await stage.enter(board.ada, board.path)
  const b = await stage.enter(board.grace, board.path)
  const grace = a.getByRole('banner').getByRole('img', { name: board.grace.username })
  await grace.waitFor()
  await b.getByRole('banner').getByRole('img', { name: board.ada.username }).first().waitFor()

  await a.getByRole('button', { name: 'New card' }).click()
  await a.getByLabel('Title of the new card').fill('made by Ada')
  await a.keyboard.press('Enter')
  expect(await stage.agreed(board, a, b)).toEqual([['To do', ['one', 'made by Ada']]])

  await finish(b)
  await grace.waitFor({ state: 'detached' })
  await finish(a)
})

test('[WEB-4] two tabs of one browser work on the same board: nothing is lost and nothing done twice', async () => {
  const board = await stage.board({ 'To do': ['one', 'two'], Doing: ['three'] })
  const one = await stage.enter(board.ada, board.path)
  const other = await stage.enterBeside(one, board.path)
  const write = async (page: typeof one, lane: string, name: string) => {
    await laneOf(page, lane).getByRole('button', { name: 'Add a card' }).click()
    for (let i = 1; i <= 10; i++) {
      await page.getByLabel('Title of the new card').fill(`${name} ${i}`)
      await page.keyboard.press('Enter')
    }
    await page.keyboard.press('Escape')
  }
  await Promise.all([write(one, 'To do', 'left'), write(other, 'Doing', 'right')])
  // A tab that is loaded anew must not send again what another one has sent.
  await one.reload()
  await one.locator('main.board').waitFor()
  await dragCard(other, 'two', 'Doing', 0)
  const truth = await stage.agreed(board, one, other)
  const cards = (name: string) => Array.from({ length: 10 }, (_, i) => `${name} ${i + 1}`)
  expect(truth).toEqual([
    ['To do', ['one', ...cards('left')]],
    ['Doing', ['two', 'three', ...cards('right')]],
  ])
  await finish(one)
  await finish(other)
})

test('[WEB-9] two hundred cards that come to the same spot stand in the same order everywhere', async () => {
  const board = await stage.board({ 'To do': ['first', 'last'], Doing: ['aside'] })
  const a = await stage.enter(board.ada, board.path)
  const b = await stage.enter(board.grace, board.path)
  const params = { board_id: board.id, column_id: board.lanes['To do'] ?? '' }
  const after_id = board.cards['first'] ?? null
  for (let i = 1; i <= 200; i++) {
    const { api } = i % 2 ? board.ada : board.grace
    await api.call('createCard', { params, body: { title: `card ${i}`, after_id } })
  }
  const [lane] = await stage.agreed(board, a, b)
  expect(lane?.[1]).toEqual(['first', ...Array.from({ length: 200 }, (_, i) => `card ${200 - i}`), 'last'])
  // Neighbours that made room were moved by nobody.
  const moves = 'select from board_events where board_id = $1 and user_id is null'
  expect((await stage.service.sql.query(moves, [board.id])).rowCount).toBeGreaterThan(0)
  await a.waitForTimeout(5_500)
  expect(liveRegion(a).join()).not.toContain('A rule')
  // And at the other end of the lane, where nothing was drawn while it happened.
  for (const page of [a, b]) {
    await page.locator('.card-title', { hasText: 'first' }).focus()
    await page.keyboard.press('End')
    await page.locator('.card-title', { hasText: 'last' }).waitFor()
  }
  await stage.agreed(board, a, b)
  expect(await orderOf(board.grace.api, board.id)).toEqual(await orderOf(board.ada.api, board.id))
  await finish(a)
  await finish(b)
}, 60_000)

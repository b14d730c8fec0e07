import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, carryTo, liftCard } from './board-hands.ts'
import { finish } from './pages.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('[WEB-51] who holds a card that another moves or renames is told so, and can drop it where he wants', async () => {
  const board = await stage.board({ 'To do': ['held', 'one'], Doing: ['two'], Done: [] })
  const page = await stage.enter(board.ada, board.path)
  const params = { card_id: board.cards['held'] ?? '' }
  const toast = page.locator('.toast')

  await liftCard(page, 'held')
  await board.grace.api.call('updateCard', { params, body: { title: 'renamed' } })
  await expect.poll(() => toast.textContent()).toContain('it is “renamed” now')
  await board.grace.api.call('moveCard', { params, body: { column_id: board.lanes['Done'] ?? '' } })
  await expect.poll(() => toast.textContent()).toContain('moved this card to Done')
  await carryTo(page, 'Doing', 1)
  await page.mouse.up()
  expect(await stage.agreed(board, page)).toEqual([
    ['To do', ['one']],
    ['Doing', ['two', 'renamed']],
    ['Done', []],
  ])
  await finish(page)
})

test('[WEB-51] Escape leaves a held card where another has moved it', async () => {
  const board = await stage.board({ 'To do': ['held'], Doing: [] })
  const page = await stage.enter(board.ada, board.path)
  await liftCard(page, 'held')
  const params = { card_id: board.cards['held'] ?? '' }
  await board.grace.api.call('moveCard', { params, body: { column_id: board.lanes['Doing'] ?? '' } })
  await page.locator('.toast').waitFor()
  await page.keyboard.press('Escape')
  expect(await stage.agreed(board, page)).toEqual([
    ['To do', []],
    ['Doing', ['held']],
  ])
  await page.mouse.up()
  await finish(page)
})

test('[WEB-51] a held card that another deletes is gone, and the screen says so; the lanes go on working', async () => {
  const board = await stage.board({ 'To do': ['held', 'one'], Doing: ['two'] })
  const page = await stage.enter(board.ada, board.path)
  await liftCard(page, 'held')
  await board.grace.api.call('deleteCard', { params: { card_id: board.cards['held'] ?? '' } })
  await expect.poll(() => page.locator('.toast').textContent()).toContain('deleted the card that you hold')
  const { x, y } = (await cardOf(page, 'two').boundingBox()) ?? { x: 0, y: 0 }
  await page.mouse.move(x + 30, y + 5, { steps: 4 })
  await page.mouse.up()
  await expect.poll(() => page.locator('.toast').textContent()).toContain('deleted while you dragged it')
  expect(await page.locator('.placeholder').count()).toBe(0)

  await liftCard(page, 'one')
  await carryTo(page, 'Doing', 0)
  await page.mouse.up()
  expect(await stage.agreed(board, page)).toEqual([
    ['To do', []],
    ['Doing', ['one', 'two']],
  ])
  await finish(page)
})

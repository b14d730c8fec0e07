// @module-tag journey
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, dragTo, startDrag } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { toastOf } from './layers.ts'
import { checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

test('[WEB-51] a user who drags a card is told when someone moves or renames it, and can still drop it anywhere', async () => {
  const board = await env.createBoard({ 'To do': ['dragged', 'one'], Doing: ['two'], Done: [] })
  const page = await env.openPage(board.ada, board.path)
  const params = { card_id: board.cards['dragged'] ?? '' }
  const toast = toastOf(page)

  await startDrag(page, 'dragged')
  await board.grace.api.call('updateCard', { params, body: { title: 'renamed' } })
  await expect.poll(() => toast.textContent()).toContain('title is now “renamed”')
  await board.grace.api.call('moveCard', { params, body: { column_id: board.columns['Done'] ?? '' } })
  await expect.poll(() => toast.textContent()).toContain('moved this card to Done')
  await dragTo(page, 'Doing', 1)
  await page.mouse.up()
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', ['one']],
    ['Doing', ['two', 'renamed']],
    ['Done', []],
  ])
  await checkAndClose(page)
})

test('[WEB-51] Escape leaves a dragged card where another user has moved it', async () => {
  const board = await env.createBoard({ 'To do': ['dragged'], Doing: [] })
  const page = await env.openPage(board.ada, board.path)
  await startDrag(page, 'dragged')
  const params = { card_id: board.cards['dragged'] ?? '' }
  await board.grace.api.call('moveCard', { params, body: { column_id: board.columns['Doing'] ?? '' } })
  await toastOf(page).waitFor()
  await page.keyboard.press('Escape')
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', []],
    ['Doing', ['dragged']],
  ])
  await page.mouse.up()
  await checkAndClose(page)
})

test('[WEB-51] when a dragged card is deleted by another user, the page says so and keeps working', async () => {
  const board = await env.createBoard({ 'To do': ['dragged', 'one'], Doing: ['two'] })
  const page = await env.openPage(board.ada, board.path)
  await startDrag(page, 'dragged')
  await board.grace.api.call('deleteCard', { params: { card_id: board.cards['dragged'] ?? '' } })
  await expect.poll(() => toastOf(page).textContent()).toContain('deleted the card you are dragging')
  const { x, y } = (await cardOf(page, 'two').boundingBox()) ?? { x: 0, y: 0 }
  await page.mouse.move(x + 30, y + 5, { steps: 4 })
  await page.mouse.up()
  await expect.poll(() => toastOf(page).textContent()).toContain('deleted while you were dragging it')
  expect(await page.locator('.placeholder').count()).toBe(0)

  await startDrag(page, 'one')
  await dragTo(page, 'Doing', 0)
  await page.mouse.up()
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', []],
    ['Doing', ['one', 'two']],
  ])
  await checkAndClose(page)
})

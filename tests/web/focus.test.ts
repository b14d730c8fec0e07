import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, focusedCard } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const focus = (page: Page, title: string) => cardOf(page, title).locator('.card-title').focus()
const hasFocus = (page: Page) => page.evaluate('document.activeElement !== document.body')

test('[WEB-13] deleting a card moves the focus to its neighbour, or to the column if it was the last card', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two', 'three'], Done: [] })
  const page = await env.openPage(board.ada, board.path)
  await focus(page, 'two')
  await page.keyboard.press('Delete')
  await expect.poll(() => focusedCard(page)).toBe('three')
  await page.keyboard.press('Delete')
  await expect.poll(() => focusedCard(page)).toBe('one')
  await page.keyboard.press('Delete')
  await cardOf(page, 'one').waitFor({ state: 'detached' })
  await expect.poll(() => hasFocus(page)).toBe(true)
  await checkAndClose(page)
})

test('[WEB-13] a moved card keeps the focus, within its column and across columns', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Done: ['three'] })
  const page = await env.openPage(board.ada, board.path)
  await focus(page, 'one')
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowLeft']) {
    await page.keyboard.press(`Shift+${key}`)
    await expect.poll(() => focusedCard(page)).toBe('one')
  }
  // Also when another user moves it.
  const body = { column_id: board.columns['Done'] ?? '', position: 0 }
  await board.grace.api.call('moveCard', { params: { card_id: board.cards['one'] ?? '' }, body })
  await env.waitForSync(board, page)
  await expect.poll(() => focusedCard(page)).toBe('one')
  await checkAndClose(page)
})

test('[WEB-13] when another user deletes the focused card, the focus moves to its neighbour', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two', 'three'], Done: [] })
  const page = await env.openPage(board.ada, board.path)
  const remove = (title: string) =>
    board.grace.api.call('deleteCard', { params: { card_id: board.cards[title] ?? '' } })
  await focus(page, 'two')
  await remove('two')
  await expect.poll(() => focusedCard(page)).toBe('three')
  await remove('three')
  await expect.poll(() => focusedCard(page)).toBe('one')
  await remove('one')
  await cardOf(page, 'one').waitFor({ state: 'detached' })
  await expect.poll(() => hasFocus(page)).toBe(true)
  await checkAndClose(page)
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, focusedCard } from './board-hands.ts'
import { finish } from './pages.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

const focus = (page: Page, title: string) => cardOf(page, title).locator('.card-title').focus()
const hasFocus = (page: Page) => page.evaluate('document.activeElement !== document.body')

test('[WEB-13] a card that is deleted hands the focus to its neighbour, the last one of a lane to what is left there', async () => {
  const board = await stage.board({ 'To do': ['one', 'two', 'three'], Done: [] })
  const page = await stage.enter(board.ada, board.path)
  await focus(page, 'two')
  await page.keyboard.press('Delete')
  await expect.poll(() => focusedCard(page)).toBe('three')
  await page.keyboard.press('Delete')
  await expect.poll(() => focusedCard(page)).toBe('one')
  await page.keyboard.press('Delete')
  await cardOf(page, 'one').waitFor({ state: 'detached' })
  await expect.poll(() => hasFocus(page)).toBe(true)
  await finish(page)
})

test('[WEB-13] a card that is moved keeps the focus, in its lane and across lanes', async () => {
  const board = await stage.board({ 'To do': ['one', 'two'], Done: ['three'] })
  const page = await stage.enter(board.ada, board.path)
  await focus(page, 'one')
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowLeft']) {
    await page.keyboard.press(`Shift+${key}`)
    await expect.poll(() => focusedCard(page)).toBe('one')
  }
  // Also when somebody else moves it.
  const body = { column_id: board.lanes['Done'] ?? '', position: 0 }
  await board.grace.api.call('moveCard', { params: { card_id: board.cards['one'] ?? '' }, body })
  await stage.agreed(board, page)
  await expect.poll(() => focusedCard(page)).toBe('one')
  await finish(page)
})

test('[WEB-13] a card that somebody else deletes hands the focus to its neighbour', async () => {
  const board = await stage.board({ 'To do': ['one', 'two', 'three'], Done: [] })
  const page = await stage.enter(board.ada, board.path)
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
  await finish(page)
})

// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, focusedCard } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { dialogs } from './layers.ts'
import { checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const focus = (page: Page, title: string) => cardOf(page, title).locator('.card-title').focus()
const hasFocus = (page: Page) => page.evaluate('document.activeElement !== document.body')

test('[WEB-85] a list that opens with the focus has no frame, until the user tabs to it', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'] })
  const page = await env.openPage(board.ada, board.path)
  const frameOf = (selector: string) =>
    page.evaluate(`(() => {
      const element = document.querySelector('${selector}')
      return { hasFocus: element === document.activeElement, style: getComputedStyle(element).outlineStyle }
    })()`)
  const quiet = { hasFocus: true, style: 'none' }
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await dialogs(page).waitFor()
  await expect.poll(() => frameOf('.activity')).toEqual(quiet)
  // Once the history is loaded, its filters come before it.
  await page.locator('.activity-bar').waitFor()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Tab')
  await expect.poll(() => frameOf('.activity')).toEqual({ hasFocus: true, style: 'solid' })
  await page.keyboard.press('Escape')
  await dialogs(page).waitFor({ state: 'detached' })
  await board.ada.api.call('deleteCard', { params: { card_id: board.cards['one'] ?? '' } })
  await page.goto(`${env.service.baseUrl}/app${board.path}/c/${board.cards['one']}`)
  await dialogs(page).waitFor()
  await page.keyboard.press('Shift')
  await expect.poll(() => frameOf('.cd')).toEqual(quiet)
  await page.goto(`${env.service.baseUrl}/app${board.path}/automations`)
  await page.keyboard.press('Shift')
  await expect.poll(() => frameOf('.automations')).toEqual(quiet)
  await checkAndClose(page)
})

test.each(['members', 'activity', 'removed'])(
  '[WEB-78] the dialog at /%s that was opened by its URL leaves the focus on the heading of the page',
  async (panel) => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.ada, board.path)
    const heading = page.getByRole('heading', { level: 1 }).and(page.locator(':focus'))
    await page.goto(`${env.service.baseUrl}/app${board.path}/${panel}`)
    await dialogs(page).locator(':focus').waitFor()
    await page.keyboard.press('Escape')
    await dialogs(page).waitFor({ state: 'detached' })
    await heading.waitFor()
    await page.goBack()
    await page.reload()
    await dialogs(page).locator(':focus').waitFor()
    await page.goForward()
    await dialogs(page).waitFor({ state: 'detached' })
    await heading.waitFor()
    await checkAndClose(page)
  },
)

test('[WEB-13] a click beside the controls of the composer, as in a double click on its Add card, leaves the focus in its field', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const page = await env.openPage(board.ada, board.path)
  await focus(page, 'one')
  await page.keyboard.press('n')
  const field = page.getByLabel('Card title').and(page.locator(':focus'))
  await field.waitFor()
  await page.keyboard.type('two')
  await page.locator('.composer').getByRole('button', { name: 'Add card' }).dblclick()
  await page.keyboard.type('c')
  await expect.poll(() => field.inputValue()).toBe('c')
  await page.locator('.composer').click({ position: { x: 3, y: 3 } })
  await page.keyboard.type('d')
  expect(await field.inputValue()).toBe('cd')
  expect(await env.waitForSync(board, page)).toEqual([['To do', ['one', 'two']]])
  await checkAndClose(page)
})

test('[WEB-13] Escape in the field for a new checklist item moves the focus to the checklist', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const body = { title: 'Steps' }
  await board.ada.api.call('createChecklist', { params: { card_id: board.cards['one'] ?? '' }, body })
  const page = await env.openPage(board.ada, `${board.path}/c/${board.cards['one']}`)
  const checklist = page.getByRole('region', { name: 'Checklist Steps' })
  await checklist.getByLabel('Add item').click()
  await page.keyboard.press('Escape')
  await checklist.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await dialogs(page).waitFor({ state: 'detached' })
  await checkAndClose(page)
})

test('[WEB-13] deleting a card moves the focus to its neighbour, or to the column if it was the last card', {
  tags: ['smoke'],
}, async () => {
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

// @module-tag journey
import { PASSWORD } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { boardLeft, cardOf, columnOf, focusedCard, shownOrder } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { announcements, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const three = { 'To do': ['a1', 'a2', 'a3'], Doing: ['b1', 'b2'], Done: ['c1'] }

test('[WEB-1] registration to the first card takes eight keys besides typing, and a few seconds', {
  tags: ['smoke'],
}, async () => {
  const page = await env.openPage(undefined, '/register')
  const began = performance.now()
  let keys = 0
  const press = (key: string) => {
    keys++
    return page.keyboard.press(key)
  }
  await page.getByLabel('Email').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('new.comer@example.com')
  await press('Tab')
  await page.keyboard.type('newcomer')
  await press('Tab')
  await page.keyboard.type(PASSWORD)
  await press('Enter')
  await page.getByRole('heading', { name: 'Create your first board' }).waitFor()
  await page.getByRole('button', { name: 'Start with a tutorial board' }).waitFor()
  await press('n')
  await page.getByLabel('Board name').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('My first board')
  await press('Enter')
  await page.getByRole('heading', { name: 'My first board' }).waitFor()
  await press('n')
  await page.getByLabel('Card title').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('My first card')
  await press('Enter')
  await cardOf(page, 'My first card').waitFor()
  const seconds = (performance.now() - began) / 1_000
  await press('Escape')
  await expect.poll(() => focusedCard(page)).toBe('My first card')
  expect((await shownOrder(page))[0]).toEqual(['To do', ['My first card']])
  expect(keys).toBeLessThanOrEqual(8)
  expect(seconds).toBeLessThan(10)
  await checkAndClose(page)
})

test('[WEB-10] arrow keys move between cards, Home and End go to the ends, and each column has one Tab stop', async () => {
  const board = await env.createBoard(three)
  const page = await env.openPage(board.ada, board.path)
  await cardOf(page, 'a1').locator('.card-title').focus()
  const focusAfter = async (keys: string[]) => {
    const stops: unknown[] = []
    for (const key of keys) {
      await page.keyboard.press(key)
      stops.push(await focusedCard(page))
    }
    return stops
  }
  expect(await focusAfter(['ArrowDown', 'ArrowDown', 'ArrowDown'])).toEqual(['a2', 'a3', 'a3'])
  expect(await focusAfter(['ArrowRight', 'ArrowUp', 'ArrowRight', 'ArrowRight'])).toEqual(['b2', 'b1', 'c1', 'c1'])
  expect(await focusAfter(['ArrowLeft', 'ArrowLeft', 'End', 'Home'])).toEqual(['b1', 'a1', 'a3', 'a1'])
  // Each column has one card as Tab stop.
  expect(await page.locator('.card-title[tabindex="0"]').allTextContents()).toEqual(['a1', 'b1', 'c1'])
  await checkAndClose(page)
})

test('[WEB-11] Shift with an arrow key moves the card and announces its position', { tags: ['smoke'] }, async () => {
  const board = await env.createBoard(three)
  const page = await env.openPage(board.ada, board.path)
  await cardOf(page, 'a1').locator('.card-title').focus()
  for (const key of ['ArrowDown', 'End', 'Home', 'ArrowUp', 'ArrowRight', 'ArrowRight', 'ArrowRight']) {
    await page.keyboard.press(`Shift+${key}`)
    await expect.poll(() => focusedCard(page)).toBe('a1')
  }
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', ['a2', 'a3']],
    ['Doing', ['b1', 'b2']],
    ['Done', ['a1', 'c1']],
  ])
  expect(announcements(page)).toEqual([
    'Moved “a1”, position 2 of 3',
    'Moved “a1”, position 3 of 3',
    'Moved “a1”, position 1 of 3',
    'Can’t move further',
    'Moved “a1” from To do to Doing, position 1 of 3',
    'Moved “a1” from Doing to Done, position 1 of 2',
    'Can’t move further',
  ])
  await checkAndClose(page)
})

test('[WEB-11] M opens the move dialog with column and position', async () => {
  const board = await env.createBoard(three)
  const page = await env.openPage(board.ada, board.path)
  await cardOf(page, 'a2').locator('.card-title').focus()
  await page.keyboard.press('m')
  const dialog = page.getByRole('dialog', { name: 'Move “a2”' })
  await dialog.waitFor()
  const isFocused = (role: 'combobox' | 'option', name: string) =>
    page.getByRole(role, { name, exact: true }).and(page.locator(':focus')).waitFor()
  await isFocused('combobox', 'Column')
  // Letters choose an option of the closed list, arrow keys open the list.
  await page.keyboard.type('Doing')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  await isFocused('option', '1, before “b1”')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await isFocused('combobox', 'Position')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', ['a1', 'a3']],
    ['Doing', ['b1', 'b2', 'a2']],
    ['Done', ['c1']],
  ])
  await expect.poll(() => focusedCard(page)).toBe('a2')
  // Escape changes nothing and returns the focus.
  await page.keyboard.press('m')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focusedCard(page)).toBe('a2')
  await checkAndClose(page)
})

test('[WEB-12] creating, moving, deleting and undoing are announced', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const page = await env.openPage(board.ada, board.path)
  await cardOf(page, 'one').locator('.card-title').focus()
  await page.keyboard.press('n')
  await page.keyboard.type('two')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await expect.poll(() => focusedCard(page)).toBe('two')
  await page.keyboard.press('Shift+ArrowUp')
  await expect.poll(async () => (await shownOrder(page))[0]?.[1]).toEqual(['two', 'one'])
  await page.keyboard.press('Delete')
  await expect.poll(async () => (await shownOrder(page))[0]?.[1]).toEqual(['one'])
  await expect.poll(() => announcements(page)).toContain('Archived “two”')
  await page.keyboard.press('Control+z')
  await expect.poll(async () => (await shownOrder(page))[0]?.[1]).toEqual(['two', 'one'])
  await expect
    .poll(() => announcements(page))
    .toEqual(['Created “two”', 'Moved “two”, position 1 of 2', 'Archived “two”', 'Restored “two”'])
  await env.waitForSync(board, page)
  await checkAndClose(page)
})

test('[WEB-228] New card and N name the column and add to it: that of the focused card, otherwise the first', async () => {
  const board = await env.createBoard({ 'To do': ['one'], Doing: ['two', 'three'], Done: [], Later: [] })
  const page = await env.openPage(board.ada, board.path, { viewport: { width: 1280, height: 800 } })
  const button = page.getByRole('button', { name: 'New card' })
  const field = page.getByLabel('Card title')
  const nameOfButton = async () => [await button.getAttribute('aria-label'), await button.getAttribute('title')]
  const add = async (title: string) => {
    await field.and(page.locator(':focus')).waitFor()
    await page.keyboard.type(title)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
  }
  for (let i = 0; i < 3; i++)
    await board.ada.api.call('createColumn', { params: { board_id: board.id }, body: { title: `More ${i}` } })
  await columnOf(page, 'More 2').waitFor()
  await page.mouse.move(100, 400)
  await page.mouse.wheel(60, 0)
  await expect.poll(() => boardLeft(page)).toBe(60)
  expect(await nameOfButton()).toEqual(['New card in To do', 'New card in To do'])
  await page.keyboard.press('n')
  expect(await field.getAttribute('placeholder')).toBe('New card in To do')
  await add('by key')
  await page.locator('h1').focus()
  await expect.poll(nameOfButton).toEqual(['New card in To do', 'New card in To do'])
  await button.click()
  await add('by button')
  await cardOf(page, 'two').locator('.card-title').focus()
  await expect.poll(nameOfButton).toEqual(['New card in Doing', 'New card in Doing'])
  await button.click()
  await add('after two')
  const cards = Object.fromEntries(await env.waitForSync(board, page))
  expect(cards).toMatchObject({ 'To do': ['one', 'by key', 'by button'], Doing: ['two', 'after two', 'three'] })
  await checkAndClose(page)
})

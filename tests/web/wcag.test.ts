// @module-tag journey
import { PASSWORD } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, focusedCard } from './board-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { KeyboardUser } from './keyboard-user.ts'
import { dialogs } from './layers.ts'
import { checkAndClose } from './page-checks.ts'
import { openScreen, screens } from './screens.ts'

let env: TestEnvironment
let board: TestBoard
beforeAll(async () => {
  env = await openEnvironment()
  board = await env.createBoard({ 'To do': ['Write', 'Paint'], Done: [] })
})
afterAll(() => env.close())
/** Browsers log every error response. */
const ignoreErrors = { ignore: /status of 4\d\d/ }

test('[WEB-78] Escape closes every dialog and menu of a board and returns the focus', { tags: ['smoke'] }, async () => {
  const page = await env.openPage(board.ada, board.path)
  const user = new KeyboardUser(page)
  await user.focusCard('Write')
  for (const key of ['Enter', 'm', 'l', 'a', 'Control+k', '?', '.']) {
    await user.press(key)
    await page.locator('.layer').first().waitFor()
    await user.press('Escape')
    await page.locator('.layer').first().waitFor({ state: 'detached' })
    await user.expectFocus(key === '.' ? 'Actions for Write' : 'Write')
    if (key === '.') await user.press('Shift+Tab')
  }
  for (const panel of ['Members', 'Automation', 'Webhooks', 'Activity']) {
    await page.getByRole('button', { name: 'Board menu' }).focus()
    await user.chooseFromMenu(panel)
    await dialogs(page).waitFor()
    await user.press('Escape')
    await user.waitForNoDialog()
    await user.expectFocus('Board menu')
  }
  await checkAndClose(page)
})

test('[WEB-84] the skip link leads past the header of every page', async () => {
  const page = await env.openPage(board.ada, '/boards')
  for (const screen of screens.filter(({ isPublic, keys, path }) => !isPublic && !keys && !/}\//.test(path))) {
    await openScreen(page, env.service.baseUrl, screen, { board: board.id, card: '' })
    const user = new KeyboardUser(page)
    await user.press('Tab')
    await user.expectFocus('Skip to content')
    await user.press('Enter')
    expect(await page.evaluate('document.activeElement.localName'), screen.name).toBe('main')
    await user.press('Tab')
    const isInside = `document.activeElement.matches('main, main *') || document.querySelector('main :is(a, button)') === null`
    expect(await page.evaluate(isInside), screen.name).toBe(true)
  }
  await checkAndClose(page)
})

test('[WEB-86] in a column of 300 cards the focused card is visible after every step', async () => {
  const { ada } = board
  const { id } = await ada.api.call('createBoard', { body: { title: 'Long' } })
  const { id: column_id } = await ada.api.call('createColumn', { params: { board_id: id }, body: { title: 'All' } })
  for (let i = 1; i <= 300; i += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        ada.api.call('createCard', { params: { board_id: id, column_id }, body: { title: `card ${i + n}` } }),
      ),
    )
  const page = await env.openPage(ada, `/b/${id}`)
  const user = new KeyboardUser(page)
  await user.press('/')
  await user.expectFocus('Filter cards')
  const isVisible = () =>
    page.evaluate(`(() => {
      const card = document.activeElement.closest('.card')?.getBoundingClientRect()
      const column = document.querySelector('.column-cards').getBoundingClientRect()
      return card !== undefined && card.top >= column.top - 1 && card.bottom <= column.bottom + 1
    })()`)
  for (const key of [
    ...Array(25).fill('ArrowDown'),
    'End',
    ...Array(25).fill('ArrowUp'),
    'Home',
    'End',
    'Shift+Home',
  ]) {
    await user.press(key)
    await expect.poll(isVisible, { message: `after ${key}` }).toBe(true)
  }
  await checkAndClose(page)
})

const menuOf = async (page: Page) => {
  await page.getByRole('button', { name: /account of/ }).click()
  await page.getByRole('menuitem').first().waitFor()
  const items = await page.getByRole('menuitem').allTextContents()
  await page.keyboard.press('Escape')
  return items
}

test('[WEB-87] help is in the same place on every page: the last menu of the header, with the same entries', async () => {
  const page = await env.openPage(board.ada, '/boards')
  for (const path of ['/boards', board.path, '/settings', '/accessibility']) {
    await page.goto(`${env.service.baseUrl}/app${path}`)
    expect(await menuOf(page), path).toEqual(['Settings', 'Keyboard shortcuts?', 'Accessibility', 'Log out'])
    expect(await page.locator('header [aria-haspopup]').last().getAttribute('aria-label'), path).toMatch(/account of/)
  }
  await checkAndClose(page)
})

test('[WEB-89] form errors are shown as text at their field, which takes the focus, and the input is kept', async () => {
  const out = await env.openPage(undefined, '/login')
  await out.getByLabel('Email').fill(board.ada.email)
  await out.getByLabel('Password', { exact: true }).fill('wrong and long enough')
  await out.keyboard.press('Enter')
  await out.getByRole('alert').and(out.locator(':focus')).waitFor()
  expect(await out.getByLabel('Password', { exact: true }).inputValue()).toBe('wrong and long enough')
  await out.goto(`${env.service.baseUrl}/app/register`)
  await out.getByLabel('Email').fill('nobody')
  await out.getByLabel('Username').fill(board.ada.username)
  await out.getByLabel('Password', { exact: true }).fill('short')
  await out.keyboard.press('Enter')
  const first = out.getByLabel('Email').and(out.locator(':focus[aria-invalid=true]'))
  await first.waitFor()
  const described = `document.getElementById(document.activeElement.getAttribute('aria-describedby').split(' ').at(-1)).textContent`
  expect(await out.evaluate(described)).toMatch(/\w+ \w+/)
  expect(await out.getByLabel('Username').inputValue()).toBe(board.ada.username)
  await checkAndClose(out, ignoreErrors)

  const page = await env.openPage(board.ada, '/settings')
  await page.getByLabel('Username').fill(board.grace.username)
  await page.keyboard.press('Enter')
  await page.getByLabel('Username').and(page.locator(':focus[aria-invalid=true]')).waitFor()
  await page.getByLabel('Current password').fill('not mine at all')
  await page.getByLabel('New password').fill('a good new sentence')
  await page.keyboard.press('Enter')
  await page.getByLabel('Current password').and(page.locator(':focus[aria-invalid=true]')).waitFor()
  await checkAndClose(page, ignoreErrors)
})

test('[WEB-90] fields have autocomplete attributes, and passwords can be pasted and shown', async () => {
  const page = await env.openPage(undefined, '/login')
  const purposes = () =>
    page.evaluate(
      `[...document.querySelectorAll('form input:not([type=checkbox])')].map((field) => field.autocomplete)`,
    )
  const password = page.getByLabel('Password', { exact: true })
  await password.waitFor()
  expect(await purposes()).toEqual(['username', 'current-password'])
  await password.focus()
  await page.evaluate(`document.execCommand('insertText', false, ${JSON.stringify(PASSWORD)})`)
  await page.getByLabel('Show password').check()
  expect(await password.getAttribute('type')).toBe('text')
  expect(await password.inputValue()).toBe(PASSWORD)
  await page.goto(`${env.service.baseUrl}/app/register`)
  await page.getByLabel('Username').waitFor()
  expect(await purposes()).toEqual(['username', 'nickname', 'new-password', 'given-name', 'family-name'])
  await page.getByLabel('Show password').check()
  expect(await page.getByLabel('Password', { exact: true }).getAttribute('type')).toBe('text')
  await checkAndClose(page, ignoreErrors)
})

test('[WEB-88] the menu button of a card, which appears on hover, also appears on focus', async () => {
  const page = await env.openPage(board.ada, board.path)
  const opacity = () =>
    page.evaluate(`getComputedStyle(document.querySelector('[aria-label="Actions for Paint"]')).opacity`)
  await cardOf(page, 'Write').waitFor()
  expect(await opacity()).toBe('0')
  await cardOf(page, 'Paint').locator('.card-title').focus()
  expect(await opacity()).toBe('1')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Open' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Shift+Tab')
  expect(await focusedCard(page)).toBe('Paint')
  await checkAndClose(page)
})

import { PASSWORD } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, focusedCard } from './board-hands.ts'
import { KeyboardHands } from './hands.ts'
import { finish } from './pages.ts'
import { goTo, places } from './places.ts'
import { openStage, type Stage, type StageBoard } from './stage.ts'

let stage: Stage
let board: StageBoard
beforeAll(async () => {
  stage = await openStage()
  board = await stage.board({ 'To do': ['Write', 'Paint'], Done: [] })
})
afterAll(() => stage.close())
/** Whether somebody is logged in is found out by asking, and browsers note every refusal. */
const asked = { but: /status of 4\d\d/ }

test('[WEB-78] whatever opens over a board is left by Escape, and the focus is where it was', async () => {
  const page = await stage.enter(board.ada, board.path)
  const hands = new KeyboardHands(page)
  await hands.toCard('Write')
  for (const key of ['Enter', 'm', 'l', 'a', 'Control+k', '?', '.']) {
    await hands.press(key)
    await page.locator('dialog[open], [role=menu]:popover-open').first().waitFor()
    await hands.press('Escape')
    await page.locator('dialog[open], [role=menu]:popover-open').first().waitFor({ state: 'detached' })
    await hands.at(key === '.' ? 'Actions for Write' : 'Write')
    if (key === '.') await hands.press('Shift+Tab')
  }
  for (const panel of ['Members', 'Automation', 'Activity']) {
    await page.getByRole('button', { name: 'Board menu' }).focus()
    await hands.choose(panel)
    await page.locator('dialog[open]').waitFor()
    await hands.press('Escape')
    await hands.noDialog()
    await hands.at('Board menu')
  }
  await finish(page)
})

test('[WEB-84] one Tab and Enter lead past the header of every page', async () => {
  const page = await stage.enter(board.ada, '/boards')
  for (const place of places.filter(({ is_outside, keys, path }) => !is_outside && !keys && !/}\//.test(path))) {
    await goTo(page, stage.service.base_url, place, { board: board.id, card: '' })
    const hands = new KeyboardHands(page)
    await hands.press('Tab')
    await hands.at('Skip to the content')
    await hands.press('Enter')
    expect(await page.evaluate('document.activeElement.localName'), place.name).toBe('main')
    await hands.press('Tab')
    const isInside = `document.activeElement.matches('main, main *') || document.querySelector('main :is(a, button)') === null`
    expect(await page.evaluate(isInside), place.name).toBe(true)
  }
  await finish(page)
})

test('[WEB-86] in a lane of three hundred cards the one with the focus is in sight after every step', async () => {
  const { ada } = board
  const { id } = await ada.api.call('createBoard', { body: { title: 'Long' } })
  const { id: column_id } = await ada.api.call('createColumn', { params: { board_id: id }, body: { title: 'All' } })
  for (let i = 1; i <= 300; i += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        ada.api.call('createCard', { params: { board_id: id, column_id }, body: { title: `card ${i + n}` } }),
      ),
    )
  const page = await stage.enter(ada, `/b/${id}`)
  const hands = new KeyboardHands(page)
  await hands.press('/')
  await hands.at('Filter cards')
  const isInSight = () =>
    page.evaluate(`(() => {
      const card = document.activeElement.closest('.card')?.getBoundingClientRect()
      const lane = document.querySelector('.lane-cards').getBoundingClientRect()
      return card !== undefined && card.top >= lane.top - 1 && card.bottom <= lane.bottom + 1
    })()`)
  for (const key of [
    ...Array(25).fill('ArrowDown'),
    'End',
    ...Array(25).fill('ArrowUp'),
    'Home',
    'End',
    'Shift+Home',
  ]) {
    await hands.press(key)
    await expect.poll(isInSight, { message: `after ${key}` }).toBe(true)
  }
  await finish(page)
}, 60_000)

const menuOf = async (page: Page) => {
  await page.getByRole('button', { name: /account of/ }).click()
  const items = await page.getByRole('menuitem').allTextContents()
  await page.keyboard.press('Escape')
  return items
}

test('[WEB-87] help is at the same place of every page: the last menu of the header, with the same entries', async () => {
  const page = await stage.enter(board.ada, '/boards')
  for (const path of ['/boards', board.path, '/settings', '/accessibility']) {
    await page.goto(`${stage.service.base_url}/app${path}`)
    expect(await menuOf(page), path).toEqual(['Settings', 'Keyboard shortcuts?', 'Accessibility', 'Log out'])
    expect(await page.locator('header [aria-haspopup]').last().getAttribute('aria-label'), path).toMatch(/account of/)
  }
  await finish(page)
})

test('[WEB-89] what a form refuses is said in words where it is wrong, the focus goes there, and nothing typed is lost', async () => {
  const out = await stage.enter(undefined, '/login')
  await out.getByLabel('E-mail').fill(board.ada.email)
  await out.getByLabel('Password', { exact: true }).fill('wrong and long enough')
  await out.keyboard.press('Enter')
  await out.getByRole('alert').and(out.locator(':focus')).waitFor()
  expect(await out.getByLabel('Password', { exact: true }).inputValue()).toBe('wrong and long enough')
  await out.goto(`${stage.service.base_url}/app/register`)
  await out.getByLabel('E-mail').fill('nobody')
  await out.getByLabel('Username').fill(board.ada.username)
  await out.getByLabel('Password').fill('short')
  await out.keyboard.press('Enter')
  const first = out.getByLabel('E-mail').and(out.locator(':focus[aria-invalid=true]'))
  await first.waitFor()
  const described = `document.getElementById(document.activeElement.getAttribute('aria-describedby').split(' ').at(-1)).textContent`
  expect(await out.evaluate(described)).toMatch(/\w+ \w+/)
  expect(await out.getByLabel('Username').inputValue()).toBe(board.ada.username)
  await finish(out, asked)

  const page = await stage.enter(board.ada, '/settings')
  await page.getByLabel('Username').fill(board.grace.username)
  await page.keyboard.press('Enter')
  await page.getByLabel('Username').and(page.locator(':focus[aria-invalid=true]')).waitFor()
  await page.getByLabel('Current password').fill('not mine at all')
  await page.getByLabel('New password').fill('a good new sentence')
  await page.keyboard.press('Enter')
  await page.getByLabel('Current password').and(page.locator(':focus[aria-invalid=true]')).waitFor()
  await finish(page, asked)
})

test('[WEB-90] password managers know the fields, and passwords can be pasted and shown', async () => {
  const page = await stage.enter(undefined, '/login')
  const purposes = () =>
    page.evaluate(
      `[...document.querySelectorAll('form input:not([type=checkbox])')].map((field) => field.autocomplete)`,
    )
  const password = page.getByLabel('Password', { exact: true })
  await password.waitFor()
  expect(await purposes()).toEqual(['username', 'current-password'])
  await password.focus()
  await page.evaluate(`document.execCommand('insertText', false, ${JSON.stringify(PASSWORD)})`)
  await page.getByLabel('Show the password').check()
  expect(await password.getAttribute('type')).toBe('text')
  expect(await password.inputValue()).toBe(PASSWORD)
  await page.goto(`${stage.service.base_url}/app/register`)
  await page.getByLabel('Username').waitFor()
  expect(await purposes()).toEqual(['username', 'nickname', 'new-password', 'given-name', 'family-name'])
  await finish(page, asked)
})

test('[WEB-88] the button of a card’s menu, which is shown under the pointer, is shown with the focus too', async () => {
  const page = await stage.enter(board.ada, board.path)
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
  await finish(page)
})

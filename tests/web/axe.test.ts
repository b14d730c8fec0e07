// @module-tag journey
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf } from './board-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { auditAccessibility, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
let board: TestBoard
beforeAll(async () => {
  env = await openEnvironment()
  board = await env.createBoard({ 'To do': ['one', 'two'], Doing: ['three'], Done: [] })
  const card_id = board.cards['one'] ?? ''
  const { api, id } = board.ada
  for (const [name, color] of [
    ['pale', '#ffff99'],
    ['dark', '#001133'],
    ['plain', '#6a994e'],
  ] as const) {
    const label = await api.call('createLabel', { params: { board_id: board.id }, body: { name, color } })
    await api.call('addCardLabel', { params: { card_id, label_id: label.id } })
  }
  await api.call('assignCard', { params: { card_id }, body: { user_ids: [id, board.grace.id] } })
  await api.call('updateCard', { params: { card_id }, body: { description: 'With *words*.' } })
})
afterAll(() => env.close())

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const environments: [string, BrowserContextOptions][] = [
  ['light theme', { colorScheme: 'light' }],
  ['in dark', { colorScheme: 'dark' }],
  ['on a phone', { ...phone, colorScheme: 'light' }],
  ['at 320 pixels, in dark', { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }],
  ['with forced colours and without motion', { forcedColors: 'active', reducedMotion: 'reduce' }],
]

/** Horizontal overflow of the page. Only the board itself may scroll horizontally. */
const overflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

describe.each(environments)('%s', (_, options) => {
  test('[WEB-14] a board passes axe, with composer, title editor, menu, move dialog and toast', async () => {
    const page = await env.openPage(board.ada, board.path, options)
    expect(await auditAccessibility(page)).toEqual([])
    expect(await overflow(page)).toBe(0)
    const one = cardOf(page, 'one')
    const open: [string, () => Promise<unknown>][] = [
      ['n', () => page.getByLabel('Card title').waitFor()],
      ['e', () => page.getByLabel('Title', { exact: true }).waitFor()],
      ['m', () => page.getByRole('dialog').waitFor()],
    ]
    for (const [key, isOpen] of open) {
      await one.locator('.card-title').focus()
      await page.keyboard.press(key)
      await isOpen()
      expect(await auditAccessibility(page), key).toEqual([])
      await page.keyboard.press('Escape')
    }
    await one.getByRole('button', { name: 'Actions for one' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Open' }).waitFor()
    expect(await auditAccessibility(page), 'menu').toEqual([])
    await page.keyboard.press('Escape')
    await cardOf(page, 'two').locator('.card-title').focus()
    await page.keyboard.press('Delete')
    await page.getByRole('button', { name: 'Undo' }).click()
    await cardOf(page, 'two').waitFor()
    await page.getByLabel('Filter cards').fill('nothing like this')
    await checkAndClose(page)
  })

  test('[WEB-14] the board list, login and registration pass axe, also with errors', async () => {
    const boards = await env.openPage(board.ada, '/boards', options)
    await boards.getByRole('link', { name: 'Plan' }).waitFor()
    expect(await overflow(boards)).toBe(0)
    await checkAndClose(boards)

    const out = await env.openPage(undefined, '/login', options)
    await out.getByLabel('Email').fill('nobody@example.com')
    await out.getByLabel('Password', { exact: true }).fill('not this one')
    await out.keyboard.press('Enter')
    await out.getByRole('alert').waitFor()
    expect(await auditAccessibility(out)).toEqual([])
    await out.getByRole('link', { name: 'Create account' }).click()
    await out.getByRole('button', { name: 'Create account' }).click()
    await out.locator('[aria-invalid=true]').first().waitFor()
    expect(await overflow(out)).toBe(0)
    // Browsers log every error response.
    await checkAndClose(out, { ignore: /status of 4\d\d .*\/auth\/(me|login|register)/ })
  })
})

test('[WEB-14] the page checks find an image without text, low contrast, errors and requests to other origins', async () => {
  const page = await env.openPage(board.ada, board.path)
  await page.evaluate(`(() => {
    const text = Object.assign(document.createElement('p'), { textContent: 'Low contrast' })
    text.style.color = '#f4f2ed'
    document.querySelector('main').append(document.createElement('img'), text)
  })()`)
  const found = (await auditAccessibility(page)).map((each) => each.split(':')[0])
  expect(found).toEqual(expect.arrayContaining(['image-alt', 'color-contrast']))
  await page.evaluate(
    `document.querySelector('main > img').remove(); document.querySelector('main > p:last-child').remove()`,
  )
  expect(await auditAccessibility(page)).toEqual([])
  await page.evaluate(`console.error('seeded'); setTimeout(() => { throw new Error('thrown') })
    fetch('http://127.0.0.1:9/elsewhere').catch(() => {})`)
  await page.waitForTimeout(200)
  for (const seeded of [/console: seeded/, /error: Error thrown/, /connect-src http:\/\/127.0.0.1:9\/elsewhere/])
    await expect(checkAndClose(page)).rejects.toThrow(seeded)
  await page.close()
})

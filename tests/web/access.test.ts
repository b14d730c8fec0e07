import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf } from './board-hands.ts'
import { auditAccess, finish } from './pages.ts'
import { openStage, type Stage, type StageBoard } from './stage.ts'

let stage: Stage
let board: StageBoard
beforeAll(async () => {
  stage = await openStage()
  board = await stage.board({ 'To do': ['one', 'two'], Doing: ['three'], Done: [] })
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
afterAll(() => stage.close())

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const circumstances: [string, BrowserContextOptions][] = [
  ['in light', { colorScheme: 'light' }],
  ['in dark', { colorScheme: 'dark' }],
  ['on a phone', { ...phone, colorScheme: 'light' }],
  ['at 320 pixels, in dark', { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }],
  ['with forced colours and without motion', { forcedColors: 'active', reducedMotion: 'reduce' }],
]

/** The board scrolls sideways inside itself; the page never does. */
const overflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

describe.each(circumstances)('%s', (_, options) => {
  test('[WEB-14] a board passes axe with what opens over it: a composer, a title, a menu, the move dialog, a toast', async () => {
    const page = await stage.enter(board.ada, board.path, options)
    expect(await auditAccess(page)).toEqual([])
    expect(await overflow(page)).toBe(0)
    const one = cardOf(page, 'one')
    const open: [string, () => Promise<unknown>][] = [
      ['n', () => page.getByLabel('Title of the new card').waitFor()],
      ['e', () => page.getByLabel('Title', { exact: true }).waitFor()],
      ['m', () => page.getByRole('dialog').waitFor()],
    ]
    for (const [key, isOpen] of open) {
      await one.locator('.card-title').focus()
      await page.keyboard.press(key)
      await isOpen()
      expect(await auditAccess(page), key).toEqual([])
      await page.keyboard.press('Escape')
    }
    await one.getByRole('button', { name: 'Actions for one' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Open' }).waitFor()
    expect(await auditAccess(page), 'menu').toEqual([])
    await page.keyboard.press('Escape')
    await cardOf(page, 'two').locator('.card-title').focus()
    await page.keyboard.press('Delete')
    await page.getByRole('button', { name: 'Undo' }).click()
    await cardOf(page, 'two').waitFor()
    await page.getByLabel('Filter cards').fill('nothing like this')
    await finish(page)
  })

  test('[WEB-14] the list of boards, the login and the registration pass axe, with what they refuse', async () => {
    const boards = await stage.enter(board.ada, '/boards', options)
    await boards.getByRole('link', { name: 'Plan' }).waitFor()
    expect(await overflow(boards)).toBe(0)
    await finish(boards)

    const out = await stage.enter(undefined, '/login', options)
    await out.getByLabel('E-mail').fill('nobody@example.com')
    await out.getByLabel('Password', { exact: true }).fill('not this one')
    await out.keyboard.press('Enter')
    await out.getByRole('alert').waitFor()
    expect(await auditAccess(out)).toEqual([])
    await out.getByRole('link', { name: 'Create an account' }).click()
    await out.getByRole('button', { name: 'Create account' }).click()
    await out.locator('[aria-invalid=true]').first().waitFor()
    expect(await overflow(out)).toBe(0)
    // Browsers note every refusal.
    await finish(out, { but: /status of 4\d\d .*\/auth\/(me|login|register)/ })
  })
})

test('[WEB-14] what the stage looks for it finds: a picture without words, pale text, errors, a request to somebody else', async () => {
  const page = await stage.enter(board.ada, board.path)
  await page.evaluate(`(() => {
    const text = Object.assign(document.createElement('p'), { textContent: 'Pale as the paper' })
    text.style.color = '#f4f2ed'
    document.querySelector('main').append(document.createElement('img'), text)
  })()`)
  const found = (await auditAccess(page)).map((each) => each.split(':')[0])
  expect(found).toEqual(expect.arrayContaining(['image-alt', 'color-contrast']))
  await page.evaluate(
    `document.querySelector('main > img').remove(); document.querySelector('main > p:last-child').remove()`,
  )
  expect(await auditAccess(page)).toEqual([])
  await page.evaluate(`console.error('planted'); setTimeout(() => { throw new Error('thrown') })
    fetch('http://127.0.0.1:9/elsewhere').catch(() => {})`)
  await page.waitForTimeout(200)
  for (const planted of [/console: planted/, /error: Error thrown/, /connect-src http:\/\/127.0.0.1:9\/elsewhere/])
    await expect(finish(page)).rejects.toThrow(planted)
  await page.close()
})

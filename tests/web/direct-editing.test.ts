// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, columnOf } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { answer, dialogs, toastOf } from './layers.ts'
import { animationsEnd, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const hasFocus = (page: Page) => page.evaluate('document.activeElement !== document.body')
/** Types in the field that a double click has opened, and has selected. */
async function rename(page: Page, field: string, text: string, key = 'Enter') {
  await page.getByLabel(field, { exact: true }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type(text)
  await page.keyboard.press(key)
  await page.getByLabel(field, { exact: true }).waitFor({ state: 'detached' })
}

test('[WEB-137] a double click renames a column, and for an owner the board, in place', async () => {
  const board = await env.createBoard({ 'To do': ['one'], Doing: [] })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  await columnOf(a, 'To do').locator('h2').dblclick()
  await rename(a, 'Column name', 'Later')
  await columnOf(b, 'Later').waitFor()
  await columnOf(b, 'Doing').locator('h2').dblclick()
  await rename(b, 'Column name', 'not this', 'Escape')
  expect((await env.waitForSync(board, a, b)).map(([column]) => column)).toEqual(['Later', 'Doing'])

  await a.getByRole('heading', { name: 'Plan' }).dblclick()
  await rename(a, 'Board name', 'Road map')
  await a.getByRole('heading', { name: 'Road map' }).waitFor()
  expect(await hasFocus(a)).toBe(true)
  const heading = b.getByRole('heading', { name: 'Road map' })
  await heading.waitFor()
  // A member may not rename the board.
  await heading.dblclick()
  expect(await b.getByLabel('Board name').count()).toBe(0)
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-138] a label is renamed, recoloured and deleted in the picker, and the other page follows', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'] })
  const { api } = board.ada
  const params = { board_id: board.id }
  const label = await api.call('createLabel', { params, body: { name: 'bug', color: '#d33a2c' } })
  await api.call('addCardLabel', { params: { card_id: board.cards['one'] ?? '', label_id: label.id } })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  const tag = cardOf(b, 'one').locator('.tag')
  const manage = async () => {
    await cardOf(a, 'one').locator('.card-title').focus()
    await a.keyboard.press('l')
    await a.getByRole('button', { name: 'Manage labels…' }).click()
  }
  await manage()
  const name = a.getByLabel('Name of bug')
  await name.fill('x'.repeat(51))
  await name.press('Enter')
  await a.getByText('Too long: 51 of 50 characters').waitFor()
  // Escape restores the name, and leaves the picker open.
  await name.press('Escape')
  expect(await name.inputValue()).toBe('bug')
  await name.fill('defect')
  await name.press('Enter')
  await expect.poll(() => tag.allTextContents()).toEqual(['defect'])
  await a.getByRole('button', { name: 'Colour of defect' }).click()
  await a.getByRole('radio', { name: 'Blue' }).check()
  await expect.poll(() => tag.getAttribute('style')).toContain('#2f6fcc')
  await a.getByRole('button', { name: 'Back' }).click()
  await a.getByLabel('Find or create label').and(a.locator(':focus')).waitFor()
  await a.keyboard.press('Escape')

  await manage()
  await a.getByRole('button', { name: 'Delete defect' }).click()
  await answer(a, 'Delete label “defect” from 1 card?', 'Delete')
  await toastOf(a).getByText('Deleted label “defect”').waitFor()
  await tag.waitFor({ state: 'detached' })
  expect((await api.call('getBoard', { params })).labels).toEqual([])
  await expect.poll(() => hasFocus(a)).toBe(true)
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-139] a right click on a card opens its menu at the pointer; with Shift the browser’s own', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'] })
  const page = await env.openPage(board.ada, board.path)
  const menu = page.getByRole('menu', { name: 'Actions for two' })
  const card = cardOf(page, 'two')
  await card.click({ button: 'right', modifiers: ['Shift'], position: { x: 80, y: 10 } })
  expect(await menu.count()).toBe(0)
  await card.click({ button: 'right', position: { x: 80, y: 10 } })
  await menu.waitFor()
  const [at, box] = [await card.boundingBox(), await menu.boundingBox()]
  expect(Math.abs((box?.x ?? 0) - (at?.x ?? 0) - 80)).toBeLessThan(12)
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
  expect(await hasFocus(page)).toBe(true)
  await card.click({ button: 'right' })
  await menu.getByRole('menuitem', { name: 'Assign me' }).click()
  await card.getByRole('img', { name: board.ada.username }).waitFor()
  await checkAndClose(page)
})

test('[WEB-140] the menu of a column has its colours, with the current one marked', async () => {
  const board = await env.createBoard({ 'To do': ['one'], Doing: [] })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  const openMenu = () => a.getByRole('button', { name: 'Actions for To do' }).click()
  const teal = a.getByRole('menuitemradio', { name: 'Teal' })
  await openMenu()
  await teal.click()
  await teal.waitFor({ state: 'detached' })
  await expect.poll(() => columnOf(b, 'To do').locator('.column-head').getAttribute('style')).toContain('#0d9488')
  await openMenu()
  await a.getByRole('menuitemradio', { name: 'Teal', checked: true }).waitFor()
  expect(await a.getByRole('menuitemradio', { checked: true }).count()).toBe(1)
  await a.keyboard.press('Escape')
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-141] an owner edits the description of the board, which the list of boards shows', async () => {
  const board = await env.createBoard({ 'To do': [] })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  const field = a.getByRole('textbox', { name: 'Board description' })
  const open = async () => {
    await a.getByRole('button', { name: 'Board menu' }).click()
    await a.getByRole('menuitem', { name: 'Edit description' }).click()
    await field.and(a.locator(':focus')).waitFor()
  }
  await open()
  await field.fill('All about it')
  // Escape keeps the text as a draft.
  await a.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
  await open()
  expect(await field.inputValue()).toBe('All about it')
  await a.keyboard.press('Control+Enter')
  await field.waitFor({ state: 'detached' })
  await expect.poll(() => b.locator('.board-title').getAttribute('title')).toBe('All about it')

  await b.getByRole('button', { name: 'Board menu' }).click()
  await b.getByRole('menuitem', { name: 'Members' }).waitFor()
  expect(await b.getByRole('menuitem', { name: 'Edit description' }).count()).toBe(0)
  await b.keyboard.press('Escape')
  await b.getByRole('link', { name: 'All boards' }).click()
  await b.locator('.tile').getByText('All about it').waitFor()

  // Undo restores the previous text.
  await a.keyboard.press('Control+z')
  const stored = async () =>
    (await board.ada.api.call('getBoard', { params: { board_id: board.id } })).description ?? ''
  await expect.poll(stored).toBe('')
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-152] a double click on a card leaves its dialog open and focused', async () => {
  const titles = Array.from({ length: 8 }, (_, i) => `card ${i + 1}`)
  const board = await env.createBoard({ 'To do': titles, Doing: [], Done: titles.map((title) => `done ${title}`) })
  const page = await env.openPage(board.ada, board.path)
  const close = async () => {
    await page.keyboard.press('Escape')
    await dialogs(page).waitFor({ state: 'detached' })
  }
  // Loads the dialog.
  await cardOf(page, 'card 1').locator('.card-title').click()
  await dialogs(page).waitFor()
  await close()
  const outcomes: string[] = []
  for (const gap of [60, 120, 200]) {
    for (let i = 0; i < 20; i++) {
      const title = `${i % 2 === 0 ? '' : 'done '}card ${(i % 8) + 1}`
      const box = await cardOf(page, title).boundingBox()
      const [x, y] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 12]
      await page.mouse.click(x, y)
      await page.waitForTimeout(gap)
      await page.mouse.down({ clickCount: 2 })
      await page.mouse.up({ clickCount: 2 })
      await dialogs(page).waitFor()
      await animationsEnd(page)
      const isOpen = (await dialogs(page).count()) === 1 && page.url().includes('/c/')
      await page.locator('.layer.dialog:focus-within').waitFor()
      outcomes.push(`${gap} ${isOpen ? 'open' : title}`)
      await close()
    }
  }
  expect(outcomes).toEqual([60, 120, 200].flatMap((gap) => Array.from({ length: 20 }, () => `${gap} open`)))
  // A click beside it still closes it, once the double click is over.
  await cardOf(page, 'card 1').locator('.card-title').click()
  await dialogs(page).waitFor()
  const clickBeside = async () => {
    await page.mouse.click(10, 400)
    return dialogs(page).count()
  }
  await expect.poll(clickBeside).toBe(0)
  await checkAndClose(page)
}, 300_000)

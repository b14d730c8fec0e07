// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, focusedCard, shownOrder } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { chooseOption } from './layers.ts'
import { checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const field = (page: Page) => page.getByRole('combobox', { name: 'Search cards, boards and actions' })
const chosen = (page: Page) => page.getByRole('option').and(page.locator('[data-highlighted]'))
/** Opens the palette, types a query, and runs the first result. */
async function run(page: Page, query: string, first: string | RegExp = query) {
  await page.keyboard.press('Control+k')
  await field(page).and(page.locator(':focus')).waitFor()
  await page.keyboard.type(query)
  await chosen(page).filter({ hasText: first }).waitFor()
  await page.keyboard.press('Enter')
  await field(page).waitFor({ state: 'detached' })
}

describe('on a board', () => {
  test('[WEB-68] a fragment finds a card, Enter opens it, and Escape returns the focus', {
    tags: ['smoke'],
  }, async () => {
    const board = await env.createBoard({ 'To do': ['Rotate the signing secret', 'two'], Doing: ['Signed offers'] })
    const page = await env.openPage(board.ada, board.path)
    await cardOf(page, 'two').locator('.card-title').focus()
    await page.keyboard.press('Control+k')
    await field(page).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('sign sec')
    await expect.poll(() => page.getByRole('option').first().textContent()).toContain('Rotate the signing secret')
    expect(await page.getByRole('option', { name: 'Signed offers' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await field(page).waitFor({ state: 'detached' })
    await expect.poll(() => focusedCard(page)).toBe('two')

    await run(page, 'gning', 'Rotate the signing secret')
    await page.getByRole('dialog', { name: 'Rotate the signing secret' }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/app${board.path}/c/${board.cards['Rotate the signing secret']}`)
    await checkAndClose(page)
  })

  test('[WEB-243] Back closes it and leaves the page behind it, with its filter, and what it opens is one step from there', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'] })
    const page = await env.openPage(board.ada, board.path)
    const panel = page.getByRole('dialog', { name: 'one' })
    await cardOf(page, 'one').locator('.card-title').click()
    await panel.waitFor()
    await page.keyboard.press('Control+k')
    await field(page).and(page.locator(':focus')).waitFor()
    await page.goBack()
    await field(page).waitFor({ state: 'detached' })
    await panel.locator(':focus').waitFor()
    await page.goBack()
    await panel.waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await page.keyboard.type('two')
    await run(page, 'inbox', 'Inbox')
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.goBack()
    await cardOf(page, 'two').waitFor()
    await expect.poll(() => shownOrder(page)).toEqual([['To do', ['two']]])
    await checkAndClose(page)
  })

  test('[WEB-68] it runs board actions, with the focused card', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: [] })
    const page = await env.openPage(board.ada, board.path)
    await cardOf(page, 'one').locator('.card-title').focus()
    await run(page, 'new card', 'New card')
    await page.getByLabel('Card title').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('made here')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    expect(await env.waitForSync(board, page)).toEqual([
      ['To do', ['one', 'made here', 'two']],
      ['Doing', []],
    ])

    await run(page, 'undo', 'Undo')
    await expect.poll(async () => (await env.waitForSync(board, page))[0]).toEqual(['To do', ['one', 'two']])

    await cardOf(page, 'two').locator('.card-title').focus()
    await run(page, 'assign me', 'Assign me')
    await cardOf(page, 'two').getByRole('img', { name: board.ada.username }).waitFor()

    await cardOf(page, 'two').locator('.card-title').focus()
    await run(page, 'move to', 'Move to…')
    await chooseOption(page.getByRole('combobox', { name: 'Column', exact: true }), 'Doing')
    await page.getByRole('button', { name: 'Move', exact: true }).click()
    expect(await env.waitForSync(board, page)).toEqual([
      ['To do', ['one']],
      ['Doing', ['two']],
    ])

    await run(page, 'add column', 'Add column')
    await page.getByLabel('New column name').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('Later')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    expect((await env.waitForSync(board, page)).map(([column]) => column)).toEqual(['To do', 'Doing', 'Later'])

    await run(page, 'theme dark', 'Theme: dark')
    await expect.poll(() => page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')

    await run(page, 'members', 'Members')
    await page.getByRole('dialog', { name: 'Members of “Plan”' }).waitFor()
    await checkAndClose(page)
  })

  test('[WEB-68] arrow keys select a result, and an unknown name shows a message', async () => {
    const board = await env.createBoard({ 'To do': ['alpha one', 'alpha two'] })
    const page = await env.openPage(board.ada, board.path)
    await page.keyboard.press('Control+k')
    await field(page).fill('alpha')
    await expect.poll(() => page.getByRole('option').count()).toBe(2)
    await expect.poll(() => chosen(page).textContent()).toContain('alpha one')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => chosen(page).textContent()).toContain('alpha two')
    await field(page).fill('zzzz')
    await page.getByRole('status').filter({ hasText: 'No results for “zzzz”' }).waitFor()
    await page.keyboard.press('Enter')
    await field(page).waitFor()
    await checkAndClose(page)
  })
})

test('[WEB-68] on the board list it finds and opens boards', async () => {
  const board = await env.createBoard({ 'To do': [] })
  const { id } = await board.ada.api.call('createBoard', { body: { title: 'Quarterly review' } })
  const page = await env.openPage(board.ada, '/boards')
  await page.getByRole('link', { name: /Quarterly review/ }).waitFor()
  await page.getByLabel('Board name').focus()
  await page.keyboard.press('Control+k')
  await field(page).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('Board name').and(page.locator(':focus')).waitFor()
  await run(page, 'quart', 'Quarterly review')
  await page.getByRole('heading', { name: 'Quarterly review' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/app/b/${id}`)
  // And from one board to another.
  await run(page, 'plan', 'Plan')
  await page.getByRole('heading', { name: 'Plan' }).waitFor()
  await checkAndClose(page)
})

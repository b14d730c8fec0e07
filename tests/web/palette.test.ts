import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, focusedCard } from './board-hands.ts'
import { finish } from './pages.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

const field = (page: Page) => page.getByRole('combobox', { name: 'Find a card, a board or an action' })
const chosen = (page: Page) => page.getByRole('option', { selected: true })
/** Opens the palette, types, and takes what it offers first. */
async function run(page: Page, query: string, first: string | RegExp = query) {
  await page.keyboard.press('Control+k')
  await field(page).and(page.locator(':focus')).waitFor()
  await page.keyboard.type(query)
  await chosen(page).filter({ hasText: first }).waitFor()
  await page.keyboard.press('Enter')
  await field(page).waitFor({ state: 'detached' })
}

describe('on a board', () => {
  test('[WEB-68] a fragment finds a card, Enter opens it, and Escape gives the focus back', async () => {
    const board = await stage.board({ 'To do': ['Rotate the signing secret', 'two'], Doing: ['Signed offers'] })
    const page = await stage.enter(board.ada, board.path)
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
    await finish(page)
  })

  test('[WEB-68] it does what the board can do, with the card that had the focus', async () => {
    const board = await stage.board({ 'To do': ['one', 'two'], Doing: [] })
    const page = await stage.enter(board.ada, board.path)
    await cardOf(page, 'one').locator('.card-title').focus()
    await run(page, 'new card', 'New card')
    await page.getByLabel('Title of the new card').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('made here')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    expect(await stage.agreed(board, page)).toEqual([
      ['To do', ['one', 'made here', 'two']],
      ['Doing', []],
    ])

    await run(page, 'undo', 'Undo')
    await expect.poll(async () => (await stage.agreed(board, page))[0]).toEqual(['To do', ['one', 'two']])

    await cardOf(page, 'two').locator('.card-title').focus()
    await run(page, 'assign me', 'Assign me')
    await cardOf(page, 'two').getByRole('img', { name: board.ada.username }).waitFor()

    await cardOf(page, 'two').locator('.card-title').focus()
    await run(page, 'move to', 'Move to…')
    await page.getByRole('dialog', { name: 'Move “two”' }).getByLabel('Lane').selectOption('Doing')
    await page.getByRole('button', { name: 'Move', exact: true }).click()
    expect(await stage.agreed(board, page)).toEqual([
      ['To do', ['one']],
      ['Doing', ['two']],
    ])

    await run(page, 'new lane', 'New lane')
    await page.getByLabel('Title of the new lane').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('Later')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    expect((await stage.agreed(board, page)).map(([lane]) => lane)).toEqual(['To do', 'Doing', 'Later'])

    await run(page, 'theme dark', 'Theme: dark')
    await expect.poll(() => page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')

    await run(page, 'members', 'Members')
    await page.getByRole('dialog', { name: 'Members of “Plan”' }).waitFor()
    await finish(page)
  }, 40_000)

  test('[WEB-68] arrows choose, and what nothing is called like is said', async () => {
    const board = await stage.board({ 'To do': ['alpha one', 'alpha two'] })
    const page = await stage.enter(board.ada, board.path)
    await page.keyboard.press('Control+k')
    await field(page).fill('alpha')
    await expect.poll(() => page.getByRole('option').count()).toBe(2)
    await expect.poll(() => chosen(page).textContent()).toContain('alpha one')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => chosen(page).textContent()).toContain('alpha two')
    await field(page).fill('zzzz')
    await page.getByRole('status').filter({ hasText: 'Nothing is called “zzzz”.' }).waitFor()
    await page.keyboard.press('Enter')
    await field(page).waitFor()
    await finish(page)
  })
})

test('[WEB-68] from the list of boards it finds boards, and goes to them', async () => {
  const board = await stage.board({ 'To do': [] })
  const { id } = await board.ada.api.call('createBoard', { body: { title: 'Quarterly review' } })
  const page = await stage.enter(board.ada, '/boards')
  await page.getByRole('link', { name: /Quarterly review/ }).waitFor()
  await page.getByLabel('Title of the new board').focus()
  await page.keyboard.press('Control+k')
  await field(page).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('Title of the new board').and(page.locator(':focus')).waitFor()
  await run(page, 'quart', 'Quarterly review')
  await page.getByRole('heading', { name: 'Quarterly review' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/app/b/${id}`)
  // And from one board to the other.
  await run(page, 'plan', 'Plan')
  await page.getByRole('heading', { name: 'Plan' }).waitFor()
  await finish(page)
})

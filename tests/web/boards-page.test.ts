// @module-tag journey
import { makeBoards } from '@lockstep/testing/large-board'
import { PASSWORD } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { columnOf } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const tileOf = (page: Page, title: string) => page.getByRole('link').filter({ hasText: title })

test('[WEB-1] a double click on the offer creates the tutorial board once, with its cards numbered in their order, and opens it', {
  tags: ['smoke'],
}, async () => {
  const user = await env.service.user()
  const page = await env.openPage(user, '/boards')
  await page.getByRole('button', { name: 'Start with a tutorial board' }).dblclick()
  await page.waitForURL('**/b/*')
  await page.locator('main.board .card').first().waitFor()
  const boards = await user.api.call('listBoards', {})
  expect(boards).toHaveLength(1)
  const { columns } = await user.api.call('getBoard', { params: { board_id: boards[0]?.id ?? '' } })
  const numbers = columns.flatMap(({ cards }) => cards.map(({ number }) => number))
  expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  await page.goto(`${env.service.baseUrl}/app/boards`)
  await tileOf(page, boards[0]?.title ?? '').waitFor()
  expect(await page.getByRole('button', { name: 'Start with a tutorial board' }).count()).toBe(0)
  await checkAndClose(page)
})

test('[WEB-147] the list of boards shows changes by others without a reload, within 15 seconds', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const page = await env.openPage(board.grace, '/boards')
  await tileOf(page, 'Plan').getByText('1 open', { exact: true }).waitFor()
  const params = { board_id: board.id, column_id: board.columns['To do'] ?? '' }
  const card = await board.ada.api.call('createCard', { params, body: { title: 'two' } })
  await board.ada.api.call('assignCard', { params: { card_id: card.id }, body: { user_ids: [board.grace.id] } })
  const { id } = await board.ada.api.call('createBoard', { body: { title: 'Road map' } })
  await board.ada.api.call('inviteMember', { params: { board_id: id }, body: { user_id: board.grace.id } })
  await tileOf(page, 'Road map').waitFor({ timeout: 20_000 })
  await tileOf(page, 'Plan').getByText('2 open · 1 yours').waitFor()
  await checkAndClose(page)
})

test('[WEB-148] offline, the list shows the boards of the last visit; only the saved ones can be opened', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  await board.ada.api.call('createBoard', { body: { title: 'Never opened' } })
  const page = await env.openPage(board.ada, board.path)
  await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null'), { timeout: 15_000 }).toBe(true)
  await page.goto(`${env.service.baseUrl}/app/boards`)
  await tileOf(page, 'Never opened').waitFor()
  await page.context().setOffline(true)
  await page.getByText('Can’t reach the server').waitFor()
  await tileOf(page, 'Never opened').getByText('Not available offline').waitFor()
  await page.reload()
  await page.getByText('Can’t reach the server').waitFor()
  await tileOf(page, 'Never opened').getByText('Not available offline').waitFor()
  await tileOf(page, 'Plan').click()
  await columnOf(page, 'To do').getByText('one').waitFor()
  await page.context().setOffline(false)
  await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED|WebSocket/ })
})

test('[WEB-148] a board that was deleted is not listed offline', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  await board.ada.api.call('createBoard', { body: { title: 'Kept' } })
  const page = await env.openPage(board.ada, board.path)
  const savedBoards = () =>
    page.evaluate(
      "caches.open('lockstep/data').then((data) => data.keys()).then((keys) => keys.filter(({ url }) => url.includes('/boards/')).length)",
    )
  await expect.poll(savedBoards).toBe(1)
  await page.goto(`${env.service.baseUrl}/app/boards`)
  await tileOf(page, 'Plan').waitFor()
  await board.ada.api.call('deleteBoard', { params: { board_id: board.id } })
  await page.reload()
  await tileOf(page, 'Kept').waitFor()
  await expect.poll(savedBoards).toBe(0)
  await page.context().setOffline(true)
  await page.reload()
  await page.getByText('Can’t reach the server').waitFor()
  await tileOf(page, 'Kept').waitFor()
  expect(await tileOf(page, 'Plan').count()).toBe(0)
  await page.context().setOffline(false)
  await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED|WebSocket/ })
})

test('[WEB-148] offline, a tile counts the cards of the board as it is saved, not those of the last list', async () => {
  const board = await env.createBoard({ 'To do': [] })
  const page = await env.openPage(board.ada, '/boards')
  await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null'), { timeout: 15_000 }).toBe(true)
  await page.reload()
  await tileOf(page, 'Plan').getByText('No open cards').waitFor()
  await tileOf(page, 'Plan').click()
  await columnOf(page, 'To do').getByRole('button', { name: 'Add card' }).click()
  for (const title of ['one', 'two', 'three']) {
    await page.getByLabel('Card title').fill(title)
    await page.keyboard.press('Enter')
  }
  await page.keyboard.press('Escape')
  await env.waitForSync(board, page)
  await page.context().setOffline(true)
  await page.goBack()
  await tileOf(page, 'Plan').getByText('3 open').waitFor()
  await page.reload()
  await tileOf(page, 'Plan').getByText('3 open').waitFor()
  await page.context().setOffline(false)
  await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED|WebSocket/ })
})

test('[WEB-234] while the client loads slowly, the page shows the mark and columns in the colours of the theme', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await env.openPage(board.ada, '/boards', { colorScheme, serviceWorkers: 'block' })
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route(/\/assets\/index-[^/]+\.js$/, async (route) => {
      await promise
      await route.fallback()
    })
    await page.goto(`${env.service.baseUrl}/app${board.path}`, { waitUntil: 'commit' })
    await page.locator('.boot-columns i').first().waitFor()
    const look = () =>
      page.evaluate(`(() => {
        const column = document.querySelector('.boot-columns i')
        const { opacity } = getComputedStyle(document.querySelector('.boot'))
        return [opacity, getComputedStyle(column).backgroundColor, document.querySelector('.boot').ariaHidden]
      })()`)
    const color = colorScheme === 'light' ? 'rgb(240, 238, 232)' : 'rgb(26, 26, 24)'
    await expect.poll(look).toEqual(['1', color, 'true'])
    resolve()
    await columnOf(page, 'To do').getByText('one').waitFor()
    expect(await page.locator('.boot').isVisible()).toBe(false)
    await checkAndClose(page)
  }
})

test('[WEB-240] a list of large boards is loaded page by page, shows two lines of each description, and is shared with palette and settings', async () => {
  const [owner, user] = await Promise.all([env.service.user(), env.service.user()])
  await user.api.call('createBoard', { body: { title: 'My own' } })
  await makeBoards(env.service.sql, { owner_id: owner.id, member_id: user.id }, 60)
  const page = await env.openPage(user, '/login')
  const lists: string[] = []
  let bytes = 0
  page.on('response', async (response) => {
    const { pathname, search } = new URL(response.url())
    if (pathname !== '/boards') return
    lists.push(search)
    bytes += (await response.body().catch(() => '')).length
  })
  await page.goto(`${env.service.baseUrl}/app/boards`)
  await tileOf(page, 'Board 16').waitFor()
  expect(lists[0]).toBe('?limit=100')
  const text = tileOf(page, 'Board 1').locator('.tile-text').first()
  expect((await text.innerText()).length).toBeLessThanOrEqual(300)
  const { height, lineHeight } = (await page.evaluate(
    `{
      const text = document.querySelector('.tile-text')
      ;({ height: text.clientHeight, lineHeight: parseFloat(getComputedStyle(text).lineHeight) })
    }`,
  )) as { height: number; lineHeight: number }
  expect(height).toBeLessThanOrEqual(2 * lineHeight + 1)

  // Loads until the end of the list is below the window, and not the rest.
  await expect.poll(() => page.locator('.tiles a').count()).toBeGreaterThan(16)
  const shown = page.getByRole('button', { name: 'Show more boards' })
  await expect.poll(() => shown.boundingBox().then((box) => box?.y ?? 0)).toBeGreaterThan(900)
  expect(await page.locator('.tiles a').count()).toBeLessThan(61)
  const loaded = lists.length

  // The palette and the settings use what is loaded. They ask for the beginning only.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('My own')
  await page.getByRole('option', { name: 'My own' }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => lists.slice(loaded).length).toBeGreaterThan(0)
  expect(lists.slice(loaded).every((search) => search === '?limit=100')).toBe(true)
  expect(lists).not.toContain('')

  // The wheel reaches the end.
  await page.mouse.move(700, 600)
  await expect
    .poll(
      async () => {
        await page.mouse.wheel(0, 2_000)
        return page.locator('.tiles a').count()
      },
      { timeout: 30_000 },
    )
    .toBe(61)
  expect(await shown.count()).toBe(0)
  expect(bytes).toBeGreaterThan(0)
  await checkAndClose(page)
})

test('[WEB-240] a search in a list that is not loaded yet loads until it finds the board', async () => {
  const [owner, user] = await Promise.all([env.service.user(), env.service.user()])
  await makeBoards(env.service.sql, { owner_id: owner.id, member_id: user.id }, 60)
  const page = await env.openPage(user, '/boards')
  await page.getByRole('searchbox', { name: 'Find board' }).fill('Board 60')
  await tileOf(page, 'Board 60').waitFor()
  expect(await page.locator('.tiles a').count()).toBe(1)
  await checkAndClose(page)
})

test('[WEB-240] the boards of a user are not shown to the next one at the same page', async () => {
  const [ada, bob] = await Promise.all([env.service.user(), env.service.user()])
  await ada.api.call('createBoard', { body: { title: 'Of Ada' } })
  await bob.api.call('createBoard', { body: { title: 'Of Bob' } })
  const page = await env.openPage(ada, '/boards')
  await tileOf(page, 'Of Ada').waitFor()
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.getByLabel('Email').fill(bob.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Log in' }).click()
  await tileOf(page, 'Of Bob').waitFor()
  expect(await tileOf(page, 'Of Ada').count()).toBe(0)
  await checkAndClose(page)
})

/** Boards of another owner, of which the user is a member. */
async function boardsWith(titles: string[]) {
  const [owner, user] = await Promise.all([env.service.user(), env.service.user()])
  for (const title of titles) {
    const { id } = await owner.api.call('createBoard', { body: { title } })
    await owner.api.call('inviteMember', { params: { board_id: id }, body: { user_id: user.id } })
  }
  const titlesOf = async () => (await user.api.call('listBoards', {})).map(({ title }) => title).sort()
  return { user, titlesOf }
}

test('[WEB-241] several boards are selected and left with the keyboard alone; the only owner stays on a board, and is told why', async () => {
  const { user, titlesOf } = await boardsWith(['One', 'Two', 'Three'])
  await user.api.call('createBoard', { body: { title: 'Mine' } })
  const page = await env.openPage(user, '/boards')
  await tileOf(page, 'Mine').waitFor()
  const select = page.getByRole('button', { name: 'Select', exact: true })
  await select.focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('checkbox')
  // Escape ends the selection, and returns to the button.
  await page.keyboard.press('Escape')
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Select')
  await page.keyboard.press('Enter')
  for (const title of ['One', 'Mine', 'Two']) {
    await page.getByRole('checkbox', { name: title, exact: true }).focus()
    await page.keyboard.press('Space')
  }
  await page.getByText('3 boards selected').waitFor()
  // An arrow key moves between the boxes, as between boards.
  await page.keyboard.press('ArrowLeft')
  expect(await page.evaluate('document.activeElement.type')).toBe('checkbox')
  await page.getByRole('button', { name: 'Leave boards' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await dialog.getByText('Leave 3 boards?').waitFor()
  // Nothing is left before the answer.
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await titlesOf()).toEqual(['Mine', 'One', 'Three', 'Two'])
  await page.getByText('3 boards selected').waitFor()
  await page.getByRole('button', { name: 'Leave boards' }).focus()
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Leave boards' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('“Mine”: You are its only owner').waitFor()
  expect(await titlesOf()).toEqual(['Mine', 'Three'])
  await expect.poll(() => page.locator('.tiles .tile').count()).toBe(2)
  expect(await page.getByRole('checkbox', { name: 'Mine' }).isChecked()).toBe(true)
  await page.getByRole('region', { name: 'Messages' }).getByText('Left 2 boards').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await tileOf(page, 'Three').waitFor()
  await checkAndClose(page, { ignore: /409/ })
})

test('[WEB-241] on a phone, boards are selected by touch; a double tap leaves them once', async () => {
  const { user, titlesOf } = await boardsWith(['One', 'Two', 'Three'])
  const page = await env.openPage(user, '/boards', {
    viewport: { width: 390, height: 780 },
    hasTouch: true,
    isMobile: true,
  })
  const removals: string[] = []
  page.on('request', (request) => void (request.method() === 'DELETE' && removals.push(request.url())))
  await page.getByRole('button', { name: 'Select', exact: true }).tap()
  await page.getByRole('button', { name: 'Select all' }).tap()
  await page.getByText('3 boards selected').waitFor()
  // The whole tile is the target.
  const tile = page.locator('.tile', { hasText: 'Two' })
  expect((await tile.boundingBox())?.height).toBeGreaterThanOrEqual(44)
  await tile.tap()
  await page.getByText('2 boards selected').waitFor()
  await page.getByRole('button', { name: 'Leave boards' }).tap()
  await page
    .getByRole('alertdialog')
    .or(page.getByRole('dialog'))
    .getByRole('button', { name: 'Leave boards' })
    .dblclick()
  await page.getByRole('region', { name: 'Messages' }).getByText('Left 2 boards').waitFor()
  expect(await titlesOf()).toEqual(['Two'])
  expect(removals).toHaveLength(2)
  await checkAndClose(page)
})

test('[WEB-241] without a network the boards stay selected; a board that was left elsewhere meanwhile counts as left', async () => {
  const { user, titlesOf } = await boardsWith(['One', 'Two', 'Three'])
  const page = await env.openPage(user, '/boards')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('button', { name: 'Select all' }).click()
  const leave = page.getByRole('main').getByRole('button', { name: 'Leave boards' })
  const question = page.getByRole('alertdialog')
  await page.route('**/boards/*/members/*', (route) => route.abort())
  await leave.click()
  await question.getByRole('button', { name: 'Leave boards' }).click()
  await page.getByRole('alert').getByText('You are still on 3 boards:').waitFor()
  await page.getByText('3 boards selected').waitFor()
  await page.unroute('**/boards/*/members/*')
  await leave.click()
  await question.getByText('Leave 3 boards?').waitFor()
  const [one] = await user.api.call('listBoards', {})
  await user.api.call('removeMember', { params: { board_id: one?.id ?? '', user_id: user.id } })
  await question.getByRole('button', { name: 'Leave boards' }).click()
  await page.getByRole('region', { name: 'Messages' }).getByText('Left 3 boards').waitFor()
  expect(await titlesOf()).toEqual([])
  await checkAndClose(page, { ignore: /ERR_FAILED|403/ })
})

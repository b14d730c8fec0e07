import { PASSWORD } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf } from './board-hands.ts'
import { finish } from './pages.ts'
import { openStage, type Stage } from './stage.ts'

/** The answer to who has no session any more is an error to the browser. */
const REFUSED = /status of 40[134]|WebSocket/

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('[WEB-56] nobody is logged out while his tab is open: the session is renewed by itself, also after a reload', async () => {
  const hasty = await openStage({ TOKEN_LIFETIME_SECONDS: '6' })
  const board = await hasty.board({ 'To do': ['one'] })
  const page = await hasty.enter(board.ada, board.path)
  const renewals: number[] = []
  page.on('response', (response) => {
    if (response.url().endsWith('/auth/refresh')) renewals.push(response.status())
  })
  await page.waitForTimeout(8_000)
  await page.reload()
  await page.waitForTimeout(8_000)
  expect(renewals.length).toBeGreaterThanOrEqual(2)
  expect(new Set(renewals)).toEqual(new Set([200]))
  await cardOf(page, 'one').locator('a').focus()
  await page.keyboard.press('e')
  await page.keyboard.type('still here')
  await page.keyboard.press('Enter')
  const saved = async () => (await page.request.get(`${hasty.service.base_url}/boards/${board.id}`)).text()
  await expect.poll(saved).toContain('still here')
  await finish(page)
  await hasty.close()
}, 60_000)

test('[AUTH-25] “Log out everywhere” ends this session and those of other devices, and says so when it could not', async () => {
  const board = await stage.board({ 'To do': ['one'] })
  const elsewhere = await stage.enter(board.ada, board.path)
  await elsewhere.getByText('Live').waitFor()
  const page = await stage.enter(board.ada, '/settings')
  const button = page.getByRole('button', { name: 'Log out everywhere' })
  await page.route('**/auth/logout-everywhere', (route) => route.abort())
  await button.click()
  await page.getByRole('region', { name: 'Message' }).getByText('The service cannot be reached.').waitFor()
  await page.unroute('**/auth/logout-everywhere')
  await button.click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  await elsewhere.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
  expect((await page.request.get(`${stage.service.base_url}/auth/me`)).status()).toBe(401)
  await finish(page, { but: /status of 401|Failed to load/ })
  await finish(elsewhere, { but: REFUSED })
})

describe('a session that ends', () => {
  test('[WEB-57] asks for the password over the page, and what was changed meanwhile is sent afterwards, once', async () => {
    const board = await stage.board({ 'To do': ['one', 'two'], Doing: [] })
    const page = await stage.enter(board.ada, board.path)
    await page.getByText('Live').waitFor()
    // Until nothing else is asked for that would end the session first.
    await page.waitForLoadState('networkidle')
    await page.context().clearCookies()
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('Shift+ArrowRight')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.waitFor()
    expect(await cardOf(page, 'one').count()).toBe(1)
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await stage.agreed(board, page)).toEqual([
      ['To do', ['two']],
      ['Doing', ['one']],
    ])
    await finish(page, { but: REFUSED })
  })

  test('[WEB-57] whoever is removed from a board is told so in a sentence, at once', async () => {
    const board = await stage.board({ 'To do': ['one'] })
    const page = await stage.enter(board.grace, board.path)
    await page.getByText('Live').waitFor()
    await board.ada.api.call('removeMember', { params: { board_id: board.id, user_id: board.grace.id } })
    await page.getByRole('heading', { name: 'This board is not yours to see' }).waitFor()
    await finish(page, { but: REFUSED })
  })

  test('[WEB-57] what was written and not sent is there to copy', async () => {
    const board = await stage.board({ 'To do': ['one'] })
    const page = await stage.enter(board.grace, board.path)
    await page.getByText('Live').waitFor()
    await page.route('**/cards/*', (route) => route.abort())
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('e')
    await page.keyboard.type('a title that was never sent')
    await page.keyboard.press('Enter')
    await board.ada.api.call('removeMember', { params: { board_id: board.id, user_id: board.grace.id } })
    await page.getByText('What you wrote last was not saved').waitFor()
    await page.getByText('a title that was never sent').waitFor()
    await page.getByRole('button', { name: 'Copy the text' }).waitFor()
    await finish(page, { but: /status of 40[13]|WebSocket|net::ERR_/ })
  })

  test('[WEB-57] a board that is deleted says so to everybody on it', async () => {
    const board = await stage.board({ 'To do': ['one'] })
    const page = await stage.enter(board.grace, board.path)
    await page.getByText('Live').waitFor()
    await board.ada.api.call('deleteBoard', { params: { board_id: board.id } })
    await page.getByRole('heading', { name: 'This board is gone' }).waitFor()
    await finish(page, { but: REFUSED })
  })
})

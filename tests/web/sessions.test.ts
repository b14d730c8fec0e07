// @module-tag journey
import { PASSWORD } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, focusedCard, storedOrder } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { toastOf } from './layers.ts'
import { checkAndClose, openRecordedPage } from './page-checks.ts'

/** Messages of the browser about responses without a session or access. */
const SESSION_ERRORS = /status of 40[134]|WebSocket/

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const endedDialog = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' })

/** Ends the session of a page, which notices it with its next request. */
async function endSession(page: Page) {
  await page.context().clearCookies()
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await endedDialog(page).waitFor()
  return endedDialog(page)
}

async function logInAgain(page: Page) {
  await endedDialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await endedDialog(page).waitFor({ state: 'detached' })
}

test('[WEB-56] a session is renewed while its tab is open, also after a reload', async () => {
  const shortLived = await openEnvironment({ TOKEN_LIFETIME_SECONDS: '6' })
  const board = await shortLived.createBoard({ 'To do': ['one'] })
  const page = await shortLived.openPage(board.ada, board.path)
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
  const saved = async () => (await page.request.get(`${shortLived.service.baseUrl}/boards/${board.id}`)).text()
  await expect.poll(saved).toContain('still here')
  await checkAndClose(page)
  await shortLived.close()
})

test('[WEB-149] in production a page opened without HTTPS says why a right password does not log in', async () => {
  const hostName = 'boards.example'
  const production = await openEnvironment({ ENVIRONMENT: 'production' }, { hostName })
  const { email } = await production.service.user()
  const baseUrl = production.service.baseUrl.replace('127.0.0.1', hostName)
  const page = await openRecordedPage(await production.browser.newContext(), baseUrl)
  await page.goto(`${baseUrl}/app/login`)
  const send = async (password: string) => {
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
  }
  const alert = page.getByRole('alert')
  await send(`${PASSWORD} wrong`)
  await alert.getByText('Wrong email or password.').waitFor()
  await send(PASSWORD)
  await alert.getByText(`This page was opened without HTTPS. Your password is right`).waitFor()
  expect(await alert.textContent()).toContain(`Open https://${hostName} instead.`)
  await checkAndClose(page, { ignore: /status of 401|untrustworthy|Cross-Origin-Opener-Policy/ })
  await production.close()
})

test('[DOC-27] without API documentation the login page does not link to it', async () => {
  const link = async ({ openPage }: TestEnvironment) => {
    const page = await openPage(undefined, '/login')
    await page.waitForLoadState('networkidle')
    return page.getByRole('link', { name: 'API' }).count()
  }
  const without = await openEnvironment({ API_DOCS: 'off' })
  expect([await link(env), await link(without)]).toEqual([1, 0])
  await without.close()
})

test('[AUTH-25] “Log out everywhere” ends all sessions of the user, and shows an error if it fails', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const elsewhere = await env.openPage(board.ada, board.path)
  await elsewhere.getByText('Live').waitFor()
  const page = await env.openPage(board.ada, '/settings')
  const button = page.getByRole('button', { name: 'Log out everywhere' })
  await page.route('**/auth/logout-everywhere', (route) => route.abort())
  await button.click()
  await toastOf(page).getByText('Can’t reach the server.').waitFor()
  await page.unroute('**/auth/logout-everywhere')
  await button.click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  await elsewhere.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
  expect((await page.request.get(`${env.service.baseUrl}/auth/me`)).status()).toBe(401)
  await checkAndClose(page, { ignore: /status of 401|Failed to load/ })
  await checkAndClose(elsewhere, { ignore: SESSION_ERRORS })
})

describe('an ended session', () => {
  test('[WEB-57] asks for the password in a dialog, and sends queued changes once after the login', {
    tags: ['smoke'],
  }, async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: [] })
    const page = await env.openPage(board.ada, board.path)
    await page.getByText('Live').waitFor()
    // Wait until no other request can notice the ended session first.
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
    expect(await env.waitForSync(board, page)).toEqual([
      ['To do', ['two']],
      ['Doing', ['one']],
    ])
    await checkAndClose(page, { ignore: SESSION_ERRORS })
  })

  test('[WEB-57] is above everything that is open: no key acts behind it, and after the login the focus returns', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'] })
    const page = await env.openPage(board.ada, board.path)
    await page.getByText('Live').waitFor()
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'one' }).waitFor()
    await page.keyboard.press('l')
    const label = page.getByRole('dialog', { name: 'Labels' }).getByRole('combobox')
    await label.and(page.locator(':focus')).waitFor()
    const dialog = await endSession(page)
    await dialog.getByLabel('Password', { exact: true }).and(page.locator(':focus')).waitFor()
    const keys = ['Delete', 'e', 'c', 'Control+z', 'Control+k']
    for (const key of ['Tab', ...keys, 'Tab', ...keys, 'Tab', 'Tab', 'Tab', 'Tab']) {
      await page.keyboard.press(key)
      await dialog.locator(':focus').waitFor()
    }
    await logInAgain(page)
    await label.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await expect.poll(() => focusedCard(page)).toBe('one')
    expect(await env.waitForSync(board, page)).toEqual([['To do', ['one', 'two']]])
    await checkAndClose(page, { ignore: SESSION_ERRORS })
  })

  test('[WEB-57] a title that is being typed when it ends is sent after the login', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.ada, board.path)
    await page.getByText('Live').waitFor()
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('e')
    await page.keyboard.type('typed before')
    await endSession(page)
    await logInAgain(page)
    await expect.poll(() => storedOrder(board.ada.api, board.id)).toEqual([['To do', ['typed before']]])
    await page.getByRole('heading', { level: 1 }).and(page.locator(':focus')).waitFor()
    await checkAndClose(page, { ignore: /status of 4(0[134]|12)|WebSocket/ })
  })

  test('[WEB-57] everywhere starts the page again after the login, with the focus on its heading', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.ada, board.path)
    await page.getByText('Live').waitFor()
    await board.ada.api.call('logoutEverywhere', {})
    await logInAgain(page)
    await page.getByRole('heading', { level: 1 }).and(page.locator(':focus')).waitFor()
    await checkAndClose(page, { ignore: SESSION_ERRORS })
  })

  test('[WEB-57] a removed member is told at once', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.grace, board.path)
    await page.getByText('Live').waitFor()
    await board.ada.api.call('removeMember', { params: { board_id: board.id, user_id: board.grace.id } })
    await page.getByRole('heading', { name: 'You don’t have access to this board' }).waitFor()
    await checkAndClose(page, { ignore: SESSION_ERRORS })
  })

  test('[WEB-57] unsent text can be copied', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.grace, board.path)
    await page.getByText('Live').waitFor()
    await page.route('**/cards/*', (route) => route.abort())
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('e')
    await page.keyboard.type('a title that was never sent')
    await page.keyboard.press('Enter')
    await board.ada.api.call('removeMember', { params: { board_id: board.id, user_id: board.grace.id } })
    await page.getByText('This text was not saved').waitFor()
    await page.getByText('a title that was never sent').waitFor()
    await page.getByRole('button', { name: 'Copy text' }).waitFor()
    await checkAndClose(page, { ignore: /status of 40[13]|WebSocket|net::ERR_/ })
  })

  test('[WEB-57] all users of a deleted board are told', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.grace, board.path)
    await page.getByText('Live').waitFor()
    await board.ada.api.call('deleteBoard', { params: { board_id: board.id } })
    await page.getByRole('heading', { name: 'This board was deleted' }).waitFor()
    await checkAndClose(page, { ignore: SESSION_ERRORS })
  })
})

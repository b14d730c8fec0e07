// @module-tag journey
import { PASSWORD, type TestUser } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, columnOf, shownOrder } from './board-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { toastOf } from './layers.ts'
import { checkAndClose, logIn, openRecordedPage } from './page-checks.ts'
import { openRandomWalk } from './random-walks.ts'

/**
 * Messages of the browser while offline, when it closes the socket of a cached page, and about the 412 response to a repeated
 * conditional change.
 */
const OFFLINE_ERRORS = /net::ERR_|WebSocket connection|fetching the script|inline style|style-src-elem|status of 412/

/** Waits until the page can be reloaded offline. */
const waitForOfflineSupport = async (page: Page) => {
  await page.getByText('Live').waitFor()
  await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null'), { timeout: 15_000 }).toBe(true)
}

const sendToWorker = (page: Page, message: Record<string, unknown>) =>
  page.evaluate(`navigator.serviceWorker.ready.then(({ active }) => active.postMessage(${JSON.stringify(message)}))`)

describe.each([
  ['without', false],
  ['with', true],
])('%s the back/forward cache', (_, hasPageCache) => {
  let env: TestEnvironment
  let board: TestBoard
  beforeAll(async () => {
    env = await openEnvironment({}, { hasPageCache })
  })
  afterAll(() => env.close())

  /** Opens the pages of Ada, who has added a card, and Grace. */
  async function begin() {
    board = await env.createBoard({ 'To do': ['one', 'two'], Doing: ['three'] })
    const page = await env.openPage(board.ada, board.path)
    const other = await env.openPage(board.grace, board.path)
    await page.evaluate(`addEventListener('pageshow', ({ persisted }) => { window.restored = persisted })`)
    await waitForOfflineSupport(page)
    await add(page, 'added')
    await env.waitForSync(board, page, other)
    return [page, other] as const
  }
  async function add(page: Page, title: string) {
    await columnOf(page, 'To do').getByRole('button', { name: 'Add card' }).click()
    await page.getByLabel('Card title').fill(title)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await cardOf(page, title).waitFor()
  }
  /** Moves and renames cards. The board in the browser's HTTP cache does not contain these changes. */
  async function moveAndRename(page: Page) {
    await cardOf(page, 'two').locator('a').focus()
    await page.keyboard.press('Shift+ArrowRight')
    await cardOf(page, 'added').locator('a').focus()
    await page.keyboard.press('e')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('renamed')
    await page.keyboard.press('Enter')
    await cardOf(page, 'renamed').waitFor()
  }
  /** Navigates to another page and back. */
  async function leaveAndReturn(page: Page, meanwhile = async () => {}) {
    await page.goto(`${env.service.baseUrl}/app/accessibility`)
    await meanwhile()
    await page.goBack({ waitUntil: 'commit' })
    await page.locator('main.board').waitFor()
    const restored = await page.evaluate('window.restored ?? false')
    expect(restored).toBe(hasPageCache)
  }
  /** Deletes the board stored for offline use, so that the page shows the one that it requests. */
  async function deleteStored(page: Page) {
    // The worker processes messages in order: the board that the page stored when it was left is deleted as well.
    await sendToWorker(page, { path: '/marker', text: 'x', position: '0.1', user_id: board.ada.id })
    await expect.poll(() => page.evaluate(`caches.match('/marker').then((found) => found !== undefined)`)).toBe(true)
    await page.evaluate(`caches.open('lockstep/data').then((data) => data.delete('/boards/${board.id}'))`)
  }
  const byGrace = (title: string) =>
    board.grace.api.call('createCard', {
      params: { board_id: board.id, column_id: board.columns['Doing'] ?? '' },
      body: { title },
    })
  const checkAndCloseBoth = async (page: Page, other: Page) => {
    expect(await page.getByRole('alert').allTextContents()).toEqual([])
    await checkAndClose(page, { ignore: OFFLINE_ERRORS })
    await checkAndClose(other, { ignore: OFFLINE_ERRORS })
  }

  test('[WEB-130] [SYNC-29] Back shows the current board, and does not mark the user’s own changes as remote', async () => {
    const [page, other] = await begin()
    await moveAndRename(page)
    await env.waitForSync(board, page, other)
    await leaveAndReturn(page, () => deleteStored(page))
    expect(await env.waitForSync(board, page, other)).toEqual([
      ['To do', ['one', 'renamed']],
      ['Doing', ['three', 'two']],
    ])
    // The connection is live: new changes arrive.
    await byGrace('by Grace')
    await cardOf(page, 'by Grace').waitFor()
    expect(await page.locator('.card-mark').allTextContents()).toEqual([`${board.grace.username} added this`])
    await checkAndCloseBoth(page, other)
  })

  test('[WEB-130] offline, Back and a reload show the same board with all queued changes, which are sent later', async () => {
    const [page, other] = await begin()
    await page.context().setOffline(true)
    await moveAndRename(page)
    const shown = await shownOrder(page)
    await leaveAndReturn(page)
    expect(await shownOrder(page)).toEqual(shown)
    await byGrace('by Grace')
    await page.reload()
    await expect.poll(() => shownOrder(page)).toEqual(shown)
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('Shift+ArrowDown')
    await leaveAndReturnOffline(page)
    await page.context().setOffline(false)
    expect(await env.waitForSync(board, page, other)).toEqual([
      ['To do', ['renamed', 'one']],
      ['Doing', ['three', 'two', 'by Grace']],
    ])
    await checkAndCloseBoth(page, other)
  })

  /** The same after a reload, which removes the `restored` flag. */
  async function leaveAndReturnOffline(page: Page) {
    const shown = await shownOrder(page)
    await page.goto(`${env.service.baseUrl}/app/accessibility`)
    await page.goBack({ waitUntil: 'commit' })
    await expect.poll(() => shownOrder(page)).toEqual(shown)
  }

  test('[WEB-130] a tab closed offline continues with its changes, and a restored page also sends changes that it does not know', async () => {
    const [page, other] = await begin()
    await page.context().setOffline(true)
    await moveAndRename(page)
    const shown = await shownOrder(page)
    const again = await openRecordedPage(page.context(), env.service.baseUrl)
    await page.close()
    await again.goto(`${env.service.baseUrl}/app${board.path}`)
    await expect.poll(() => shownOrder(again)).toEqual(shown)
    // Change something on a second visit in the same tab, and go back to the first one.
    await again.goto(`${env.service.baseUrl}/app${board.path}/activity`)
    await again.goto(`${env.service.baseUrl}/app${board.path}?q=`)
    await add(again, 'second visit')
    await again.goBack({ waitUntil: 'commit' })
    if (!hasPageCache) await again.waitForLoadState()
    await again.goBack({ waitUntil: 'commit' })
    await again.context().setOffline(false)
    expect(await env.waitForSync(board, again, other)).toEqual([
      ['To do', ['one', 'renamed', 'second visit']],
      ['Doing', ['three', 'two']],
    ])
    await checkAndCloseBoth(again, other)
  })

  test('[WEB-131] [SYNC-32] no change is lost in a random walk', async () => {
    const [ada, grace] = await Promise.all([env.service.user(), env.service.user()])
    const { baseUrl } = env.service
    const people = { ada: { ...ada, password: PASSWORD }, grace: { ...grace, password: PASSWORD } }
    const { walk, close } = await openRandomWalk({ baseUrl, browser: env.browser, hasPageCache, ...people })
    // One walk; `npm run prove -- web-walks` runs 200.
    expect((await walk(1)).violations).toEqual([])
    await close()
  }, 120_000)
})

describe('offline cache', () => {
  let env: TestEnvironment
  beforeAll(async () => {
    env = await openEnvironment()
  })
  afterAll(() => env.close())

  const cachedData = (page: Page, path: string) =>
    page.evaluate(`caches.open('lockstep/data').then(async (data) => {
      const response = await data.match('${path}')
      return response ? [response.headers.get('board-position'), await response.text()] : null
    })`) as Promise<[position: string | null, text: string] | null>

  test('[WEB-132] [WEB-93] a board left by a link is cached as shown, and its toasts disappear', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'] })
    const page = await env.openPage(board.ada, board.path)
    await waitForOfflineSupport(page)
    await cardOf(page, 'two').locator('a').focus()
    await page.keyboard.press('Shift+ArrowUp')
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('Delete')
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await env.waitForSync(board, page)
    const shown = await shownOrder(page)
    await page.getByRole('link', { name: 'All boards' }).click()
    await page.getByRole('heading', { name: 'Boards' }).waitFor()
    expect(await toastOf(page).count()).toBe(0)
    await page.context().setOffline(true)
    await page.goBack()
    await page.locator('main.board').waitFor()
    expect(await shownOrder(page)).toEqual(shown)
    await checkAndClose(page, { ignore: OFFLINE_ERRORS })
  })

  test('[WEB-132] a cached board is never replaced by an older one, and a logout clears the cache for every tab', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.ada, board.path)
    await waitForOfflineSupport(page)
    const path = `/boards/${board.id}`
    await expect.poll(() => cachedData(page, path)).not.toBeNull()
    const [first = ''] = (await cachedData(page, path)) ?? []
    const message = (position: string | null, user_id: string) =>
      sendToWorker(page, { path, text: `{"at":"${position}"}`, position, user_id })
    const [epoch = 0, seq = 0] = (first ?? '').split('.').map(Number)
    // Messages of tabs with older and newer boards, in any order.
    for (const position of [
      `${epoch}.${seq + 9}`,
      `${epoch}.${seq + 4}`,
      first,
      `${epoch}.${seq + 10}`,
      `${epoch - 1}.999`,
    ])
      await message(position, board.ada.id)
    await message(`${epoch}.${seq + 99}`, board.grace.id)
    await expect.poll(() => cachedData(page, path)).toEqual([`${epoch}.${seq + 10}`, `{"at":"${epoch}.${seq + 10}"}`])
    await message(`${epoch + 1}.1`, board.ada.id)
    await expect.poll(async () => (await cachedData(page, path))?.[0]).toBe(`${epoch + 1}.1`)

    const tab = await env.openTab(page, '/boards')
    await tab.getByRole('button', { name: /account of/ }).click()
    await tab.getByRole('menuitem', { name: 'Log out' }).click()
    await tab.getByRole('heading', { name: 'Log in' }).waitFor()
    await expect.poll(() => cachedData(tab, '/auth/me')).toBeNull()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await message(`${epoch + 1}.2`, board.ada.id)
    // Messages are processed in order: when that of the next user is done, all before it are.
    await tab.evaluate(
      `caches.open('lockstep/data').then((data) => data.put('/auth/me', Response.json({ id: 'next' })))`,
    )
    await sendToWorker(tab, { path: '/marker', text: 'x', position: '0.1', user_id: 'next' })
    await expect.poll(() => cachedData(tab, '/marker')).not.toBeNull()
    expect(await cachedData(tab, path)).toBeNull()
    // Each tab ends the session, and the second one finds it ended.
    const ended = /WebSocket|status of 401 .*\/auth\/logout/
    await checkAndClose(tab, { ignore: ended })
    await checkAndClose(page, { ignore: ended })
  })
})

describe('connection', () => {
  let env: TestEnvironment
  const memberRow = (page: Page, { username }: TestUser) =>
    page
      .getByRole('dialog')
      .getByRole('listitem')
      .filter({ hasText: `@${username}` })
  beforeAll(async () => {
    env = await openEnvironment()
  })
  afterAll(() => env.close())

  test('[WEB-133] a slow first connection is shown as connecting, not as reconnecting', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const { baseUrl } = env.service
    const context = await logIn(env.browser, baseUrl, { email: board.ada.email, password: PASSWORD })
    const page = await openRecordedPage(context, baseUrl)
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/auth/ticket', async (route) => {
      await promise
      await route.continue()
    })
    await page.goto(`${baseUrl}/app${board.path}`)
    await page.getByText('Connecting…', { exact: true }).waitFor()
    // On a phone it fits into the first row of the header.
    await page.setViewportSize({ width: 390, height: 844 })
    const height = async () => (await page.locator('.board-head').boundingBox())?.height ?? 0
    const before = await height()
    resolve()
    await page.getByText('Live').waitFor()
    expect(before).toBeLessThanOrEqual(await height())
    await checkAndClose(page)
  })

  test('[WEB-134] offline, no other users are shown as present; after the reconnect they are', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const params = { card_id: board.cards['one'] ?? '' }
    await board.ada.api.call('assignCard', { params, body: { user_ids: [board.grace.id] } })
    const page = await env.openPage(board.ada, board.path)
    const other = await env.openPage(board.grace, board.path)
    const faces = page.getByRole('button', { name: `Members. Also here: ${board.grace.username}` })
    await faces.waitFor()
    await page.getByRole('button', { name: 'Share' }).click()
    const online = memberRow(page, board.grace).getByText('· online')
    await online.waitFor()
    await page.context().setOffline(true)
    await page.locator('.banner').getByText('Offline.').waitFor()
    await online.waitFor({ state: 'detached', timeout: 3_000 })
    await page.context().setOffline(false)
    await online.waitFor({ timeout: 20_000 })
    await page.keyboard.press('Escape')
    await faces.waitFor()
    await page.locator('.card [data-person-id]').click()
    const popover = page.getByText(`${board.grace.username} · Member · online`)
    await popover.waitFor()
    await page.context().setOffline(true)
    await page.locator('.banner').getByText('Offline.').waitFor()
    await faces.waitFor({ state: 'detached', timeout: 3_000 })
    await popover.waitFor({ state: 'detached', timeout: 3_000 })
    await page.context().setOffline(false)
    await faces.waitFor({ timeout: 20_000 })
    await checkAndClose(page, { ignore: OFFLINE_ERRORS })
    await checkAndClose(other)
  })

  test('[WEB-134] while the service does not respond, no other users are shown as present', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const { baseUrl } = env.service
    const context = await logIn(env.browser, baseUrl, { email: board.ada.email, password: PASSWORD })
    const page = await openRecordedPage(context, baseUrl)
    const { promise: lost, resolve: lose } = Promise.withResolvers<void>()
    await page.routeWebSocket(/\/ws\//, (socket) => {
      socket.connectToServer()
      void lost.then(() => socket.close())
    })
    await page.goto(`${baseUrl}/app${board.path}`)
    const other = await env.openPage(board.grace, board.path)
    const faces = page.getByRole('button', { name: `Members. Also here: ${board.grace.username}` })
    await faces.waitFor()
    // The client waits 10 s for the response. After 5 s the page shows that it is offline.
    await page.route('**/auth/ticket', () => {})
    lose()
    await page.locator('.banner').getByText('Offline.').waitFor()
    await faces.waitFor({ state: 'detached', timeout: 3_000 })
    await page.getByRole('button', { name: 'Share' }).click()
    await memberRow(page, board.grace).waitFor()
    expect(await memberRow(page, board.grace).textContent()).not.toContain('· online')
    await checkAndClose(page, { ignore: OFFLINE_ERRORS })
    await checkAndClose(other)
  })
})

// @module-tag journey
import { PASSWORD } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, columnOf, shownOrder } from './board-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { checkAndClose, openRecordedPage } from './page-checks.ts'

/** Messages of the browser about the network, and about responses without a session. */
const EXPECTED_ERRORS = /net::ERR_|WebSocket|fetching the script|status of 401/
const SECRET = 'Confidential card'

let env: TestEnvironment
let board: TestBoard
beforeAll(async () => {
  env = await openEnvironment({ ADMIN_API: 'on' }, { hasPageCache: true })
})
afterAll(() => env.close())

const urlOf = (path: string) => env.service.baseUrl + path
const begin = async () => {
  board = await env.createBoard({ 'To do': [SECRET] })
}
const loginHeading = (page: Page) => page.getByRole('heading', { name: 'Log in' })
const endedDialog = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' })
/** Everything in the page that a user could read, also what is hidden. */
const textOf = (page: Page) => page.evaluate('document.title + document.body.textContent') as Promise<string>
const cacheNames = (page: Page) => page.evaluate('caches.keys()') as Promise<string[]>
const isCached = (page: Page, board_id: string) =>
  page.evaluate(`caches.match('/boards/${board_id}').then((found) => found !== undefined)`) as Promise<boolean>

/** Opens the board of Ada, and waits until it can be opened offline. */
async function openBoard(page?: Page) {
  const opened = page ? await env.openTab(page, board.path) : await env.openPage(board.ada, board.path)
  await expectCached(opened)
  return opened
}
async function expectCached(page: Page) {
  await page.getByText('Live').waitFor()
  await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null'), { timeout: 15_000 }).toBe(true)
  await expect.poll(() => isCached(page, board.id)).toBe(true)
}
/** Opens the board as a user does who enters this address. */
async function enter(page: Page, entry: string) {
  await page.goto(urlOf(entry.replace('/b/…', `${board.path}?q=`)))
  if (!entry.includes('/b/')) await page.getByRole('link', { name: 'Plan' }).click()
  await expectCached(page)
}
async function logOut(page: Page) {
  await page.getByRole('button', { name: /account of/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await loginHeading(page).waitFor()
}
async function fillLogin(page: Page, email: string, password = PASSWORD) {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
}
/** Logs in on the login page and opens the board. */
async function logInAndOpen(page: Page, email: string) {
  await page.goto(urlOf('/app/login'))
  await fillLogin(page, email)
  await page.getByRole('heading', { name: 'Boards' }).waitFor()
  await page.goto(urlOf(`/app${board.path}`))
  await cardOf(page, SECRET).waitFor()
  await page.getByText('Live').waitFor()
}
/** Checks that the page shows the login and nothing of the board, and that nothing is cached. */
async function expectForgotten(page: Page) {
  await loginHeading(page).waitFor()
  expect(await textOf(page)).not.toMatch(/Confidential|Plan/)
  expect(await cacheNames(page)).not.toContain('lockstep/data')
}
/** Adds cards with these titles, as far as the page lets the user. */
async function addCards(page: Page, titles: readonly string[]) {
  await openComposer(page)
  await typeCards(page, titles)
}
const openComposer = (page: Page) => columnOf(page, 'To do').getByRole('button', { name: 'Add card' }).click()
async function typeCards(page: Page, titles: readonly string[]) {
  const field = page.getByLabel('Card title')
  for (const title of titles) {
    if ((await field.count()) === 0) break
    await page.keyboard.type(title)
    await page.keyboard.press('Enter')
  }
}
/**
 * Pastes a list, which makes a card of each line, at the moment when another tab has logged out. Resolves with the name of the
 * field. Timers would be late: browsers slow them down in tabs in the background.
 */
const pasteAtLogout = (page: Page, titles: readonly string[]) =>
  page.evaluate(`new Promise((resolve) => {
    globalThis.onDeafEvent = () => {
      if (localStorage.getItem('lockstep/login') !== null) return
      globalThis.onDeafEvent = undefined
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', ${JSON.stringify(titles.join('\n'))})
      const field = document.activeElement
      resolve(field.ariaLabel)
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    }
  })`)
const titles = (count: number) => Array.from({ length: count }, (_, i) => `typed ${i + 1}`)
/** The titles of created cards in the log of the board, in order. */
async function createdCards({ service } = env): Promise<string[]> {
  const { rows } = await service.sql.query(
    `select body::json -> 'data' ->> 'title' as title from board_events where board_id = $1 and type = 'card.created' order by seq`,
    [board.id],
  )
  return rows.map(({ title }) => title)
}
/** Opens the board in a tab that can be cut from all news of other tabs. Its listeners are the first ones. */
async function openDeafTab(page: Page) {
  const tab = await openRecordedPage(page.context(), env.service.baseUrl)
  await tab.addInitScript(`for (const type of ['storage', 'focus', 'visibilitychange', 'pageshow', 'online'])
    addEventListener(type, (event) => {
      if (!globalThis.isDeaf) return
      event.stopImmediatePropagation()
      globalThis.onDeafEvent?.()
    }, true)`)
  await tab.goto(urlOf(`/app${board.path}`))
  await expectCached(tab)
  return tab
}
/** Cuts it off, from the network too. */
async function isolate(tab: Page) {
  await tab.evaluate('globalThis.isDeaf = true')
  return cut(tab)
}
async function cut(page: Page) {
  const network = await page.context().newCDPSession(page)
  const set = (offline: boolean) =>
    network.send('Network.emulateNetworkConditions', {
      offline,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    })
  await set(true)
  return () => set(false)
}

describe('a logout', () => {
  test.each(['/', '/app', '/app/', '/app/b/…'])(
    '[WEB-222] [WEB-132] on a page entered through %s leaves no board in the browser, neither offline nor by Back',
    async (entry) => {
      await begin()
      // Without a service worker, except that Back needs a page of the board before this one.
      const page = entry.includes('/b/') ? await openBoard() : await env.openPage(board.ada, '/mark.svg')
      await enter(page, entry)
      const other = await openRecordedPage(page.context(), env.service.baseUrl)
      await enter(other, entry)
      await page.evaluate('globalThis.memory = 1')
      await logOut(page)
      await expect.poll(() => page.context().cookies()).toEqual([])
      // Nothing of the page is left to the next user of the tab.
      expect(await page.evaluate('globalThis.memory')).toBeUndefined()
      for (const tab of [page, other]) {
        await expectForgotten(tab)
        await tab.goBack({ waitUntil: 'commit' })
        if (tab.url().includes('/app/')) await expectForgotten(tab)
      }
      await page.context().setOffline(true)
      for (const tab of [page, other]) {
        await tab.goForward({ waitUntil: 'commit' })
        await expectForgotten(tab)
      }
      const next = await openRecordedPage(page.context(), env.service.baseUrl)
      await next.goto(urlOf(`/app${board.path}`))
      await expectForgotten(next)
      await next.context().close()
    },
  )

  test('[WEB-222] is heard by the other tabs at once, also without a network', { tags: ['smoke'] }, async () => {
    await begin()
    const page = await openBoard()
    const other = await openBoard(page)
    const offline = await openBoard(page)
    await cut(offline)
    await logOut(page)
    await expectForgotten(other)
    await expectForgotten(offline)
    await checkAndClose(other, { ignore: EXPECTED_ERRORS })
    await checkAndClose(page, { ignore: EXPECTED_ERRORS })
  })

  test('[WEB-222] is noticed by a page that Back restores from the page cache', async () => {
    await begin()
    const page = await openBoard()
    await page.evaluate(
      `addEventListener('pageshow', ({ persisted }) => sessionStorage.setItem('restored', persisted))`,
    )
    await page.goto(urlOf('/app/accessibility'))
    const other = await openBoard(page)
    await logOut(other)
    await page.goBack({ waitUntil: 'commit' })
    await expectForgotten(page)
    expect(await page.evaluate(`sessionStorage.getItem('restored')`)).toBe('true')
    await page.context().close()
  })

  test('[WEB-222] without a network clears the cache at once, and the cookie when the network is back', async () => {
    await begin()
    const page = await openBoard()
    await page.context().setOffline(true)
    await logOut(page)
    await expectForgotten(page)
    expect(await page.context().cookies()).toHaveLength(1)
    await page.context().setOffline(false)
    await expect.poll(() => page.context().cookies()).toEqual([])
    await checkAndClose(page, { ignore: EXPECTED_ERRORS })
  })

  test('[WEB-222] everywhere closes the boards in other tabs of the browser', async () => {
    await begin()
    const page = await openBoard()
    const other = await openBoard(page)
    await page.goto(urlOf('/app/settings'))
    await page.getByRole('button', { name: 'Log out everywhere' }).click()
    await expectForgotten(page)
    await expectForgotten(other)
    await page.context().close()
  })
})

/** How the sessions of the user end elsewhere, and the password afterwards. */
const NEW_PASSWORD = `${PASSWORD} 2`
const endings: [name: string, end: () => Promise<unknown>, password: string][] = [
  ['“log out everywhere”', () => board.ada.api.call('logoutEverywhere', {}), PASSWORD],
  [
    'a new password',
    () => board.ada.api.call('changePassword', { body: { current_password: PASSWORD, new_password: NEW_PASSWORD } }),
    NEW_PASSWORD,
  ],
  [
    'a deactivation',
    async () => {
      const root = await env.service.user()
      await env.service.sql.query('update users set is_superuser = true where id = $1', [root.id])
      for (const is_active of [false, true])
        await root.api.call('updateAccount', { params: { user_id: board.ada.id }, body: { is_active } })
    },
    PASSWORD,
  ],
]

describe('a session that the server rejects', () => {
  test.each(endings)('[WEB-222] after %s leaves no board offline, in any tab', async (_, end) => {
    await begin()
    const page = await openBoard()
    const later = await openBoard(page)
    await later.goto('about:blank')
    await end()
    await page.getByLabel('Password', { exact: true }).waitFor()
    expect(await cacheNames(page)).not.toContain('lockstep/data')
    await later.goto(urlOf(`/app${board.path}`))
    await expectForgotten(later)
    await page.context().setOffline(true)
    for (const tab of [page, later]) {
      await tab.goto(urlOf(`/app${board.path}`))
      await expectForgotten(tab)
    }
    await page.context().close()
  })

  test('[WEB-222] at the start of a page leaves no board offline', async () => {
    await begin()
    const page = await openBoard()
    await page.goto('about:blank')
    await board.ada.api.call('logoutEverywhere', {})
    await page.goto(urlOf(`/app${board.path}`))
    await expectForgotten(page)
    await page.context().setOffline(true)
    await page.goto(urlOf(`/app${board.path}`))
    await expectForgotten(page)
    await page.context().close()
  })
})

describe('changes after a logout', () => {
  test('[WEB-223] cards typed in a tab that did not hear of it are never sent, by no user', {
    tags: ['smoke'],
  }, async () => {
    await begin()
    const page = await openBoard()
    const deaf = await openDeafTab(page)
    await openComposer(deaf)
    const pastedInto = pasteAtLogout(deaf, titles(20))
    const reconnect = await isolate(deaf)
    await logOut(page)
    expect(await pastedInto).toBe('Card title')
    await expectForgotten(deaf)
    await reconnect()
    for (const { email } of [board.grace, board.ada]) {
      await logInAndOpen(page, email)
      expect(await textOf(page)).not.toContain('typed 1')
      await deaf.goto(urlOf(`/app${board.path}`))
      await deaf.getByText('Live').waitFor()
      await logOut(page)
      await loginHeading(deaf).waitFor()
    }
    expect(await createdCards()).toEqual([SECRET])
    await page.context().close()
  })

  test('[WEB-223] queued changes are not sent with the cookie of another user, who sees nothing of the board', async () => {
    await begin()
    const newcomer = await env.service.user()
    const page = await openBoard()
    const deaf = await openDeafTab(page)
    const reconnect = await isolate(deaf)
    await addCards(deaf, titles(2))
    await logOut(page)
    await fillLogin(page, newcomer.email)
    const noAccess = 'You don’t have access to this board'
    await page.getByRole('heading', { name: noAccess }).waitFor()
    await reconnect()
    await deaf.getByRole('heading', { name: noAccess }).waitFor()
    expect(await textOf(deaf)).not.toMatch(/Confidential|Plan|typed/)
    expect(await createdCards()).toEqual([SECRET])
    // They are Ada's, who typed them before the logout.
    await page.goto(urlOf('/app/boards'))
    await logOut(page)
    await logInAndOpen(page, board.ada.email)
    await expect.poll(() => createdCards()).toEqual([SECRET, ...titles(2)])
    await page.context().close()
  })
})

describe('changes that wait while the sessions of the user are ended elsewhere', () => {
  test.each(endings)('[WEB-224] by %s are not sent after the next login, but shown', async (_, end, password) => {
    await begin()
    const page = await openBoard()
    await page.context().setOffline(true)
    await end()
    await addCards(page, titles(20))
    await cardOf(page, 'typed 20').waitFor()
    await page.context().setOffline(false)
    await endedDialog(page).getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    const failed = page.getByRole('alert', { name: '20 changes couldn’t be saved' })
    await failed.waitFor()
    await failed.getByText('typed 20').waitFor()
    await page.getByText('Live').waitFor()
    const tab = await openBoard(page)
    expect(await createdCards()).toEqual([SECRET])
    await logOut(tab)
    await logInAndOpen(tab, board.grace.email)
    expect(await textOf(tab)).not.toContain('typed')
    await logOut(tab)
    expect(await createdCards()).toEqual([SECRET])
    // They stay until the user has seen to each of them.
    await fillLogin(tab, board.ada.email, password)
    const kept = tab.getByRole('alert', { name: '20 changes couldn’t be saved' })
    await kept.getByRole('button', { name: 'Retry' }).first().click()
    await expect.poll(() => createdCards()).toEqual([SECRET, 'typed 1'])
    await tab.reload()
    await tab.getByRole('alert', { name: '19 changes couldn’t be saved' }).waitFor()
    await page.context().close()
  })

  test('[WEB-224] stay unsent when the next login ends while they are shown', async () => {
    await begin()
    const page = await openBoard()
    await page.context().setOffline(true)
    await board.ada.api.call('logoutEverywhere', {})
    await addCards(page, titles(2))
    await page.context().setOffline(false)
    const logInAgain = async () => {
      await endedDialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.keyboard.press('Enter')
      await endedDialog(page).waitFor({ state: 'detached' })
    }
    await logInAgain()
    await page.getByRole('alert', { name: '2 changes couldn’t be saved' }).waitFor()
    await page.getByText('Live').waitFor()
    // Offline, so that no other request opens the dialog before the card is typed.
    await page.context().setOffline(true)
    await addCards(page, ['own 1'])
    await page.context().clearCookies()
    await page.context().setOffline(false)
    await endedDialog(page).waitFor()
    // The page reads its queue again when it gets the focus.
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    await logInAgain()
    await expect.poll(() => createdCards()).toEqual([SECRET, 'own 1'])
    await page.keyboard.press('Escape')
    await addCards(page, ['own 2'])
    await expect.poll(() => createdCards()).toEqual([SECRET, 'own 1', 'own 2'])
    await page.context().close()
  })
})

describe('an honest user', () => {
  test.each(['with the page open', 'with a reload meanwhile'])(
    '[WEB-224] [WEB-57] offline for longer than the session lives, %s, has every card sent once after the login',
    async (how) => {
      const shortLived = await openEnvironment({ TOKEN_LIFETIME_SECONDS: '6' })
      board = await shortLived.createBoard({ 'To do': [SECRET] })
      const page = await shortLived.openPage(board.ada, board.path)
      await page.getByText('Live').waitFor()
      await expect
        .poll(() => page.evaluate('navigator.serviceWorker.controller !== null'), { timeout: 15_000 })
        .toBe(true)
      await expect.poll(() => isCached(page, board.id)).toBe(true)
      await page.context().setOffline(true)
      await addCards(page, titles(5))
      await cardOf(page, 'typed 5').waitFor()
      if (how === 'with a reload meanwhile') await page.reload()
      await expect.poll(() => page.context().cookies(), { timeout: 60_000 }).toEqual([])
      await page.context().setOffline(false)
      await endedDialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.keyboard.press('Enter')
      await endedDialog(page).waitFor({ state: 'detached' })
      await expect.poll(() => createdCards(shortLived)).toEqual([SECRET, ...titles(5)])
      expect(await shownOrder(page)).toEqual([['To do', [SECRET, ...titles(5)]]])
      expect(await page.getByRole('alert').allTextContents()).toEqual([])
      await checkAndClose(page, { ignore: EXPECTED_ERRORS })
      await shortLived.close()
    },
  )
})

test('[WEB-225] a visit without a login sends no request that would be rejected', async () => {
  for (const path of ['', '/', '/boards', '/b/00000000-0000-7000-8000-000000000000', '/login']) {
    const page = await env.openPage(undefined, '/accessibility')
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    await page.goto(urlOf(`/app${path}`))
    await loginHeading(page).waitFor()
    await page.waitForLoadState('networkidle')
    expect(requested.filter((each) => !each.startsWith('/app'))).toEqual([])
    await checkAndClose(page)
  }
})

test('[SEC-13] a file that is opened in a tab does not become the page that is shown offline', async () => {
  await begin()
  const page = await openBoard()
  for (const file of ['/app/files.json', '/app/mark.svg', '/app/limits.json']) {
    const tab = await openRecordedPage(page.context(), env.service.baseUrl)
    await tab.goto(urlOf(file))
    await tab.close()
  }
  await page.context().setOffline(true)
  await page.reload()
  await cardOf(page, SECRET).waitFor()
  await page.context().close()
})

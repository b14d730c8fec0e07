import { PASSWORD } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, laneOf, order } from './board-hands.ts'
import { finish, logIn, openNoted } from './pages.ts'
import { openStage, type Stage, type StageBoard } from './stage.ts'
import { openWalk } from './walks.ts'

/**
 * What a browser logs by itself without a network, when it closes the socket of a cached page, and for the 412 by which a
 * repeated guarded change learns that it was not applied before.
 */
const NO_LINE = /net::ERR_|WebSocket connection|fetching the script|inline style|style-src-elem|status of 412/

/** The page can be loaded again without a network. */
const ready = async (page: Page) => {
  await page.getByText('Live').waitFor()
  await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null'), { timeout: 15_000 }).toBe(true)
}

describe.each([
  ['without', false],
  ['with', true],
])('%s the back/forward cache', (_, has_page_cache) => {
  let stage: Stage
  let board: StageBoard
  beforeAll(async () => {
    stage = await openStage({}, { has_page_cache })
  })
  afterAll(() => stage.close())

  /** Ada's page, on which she has worked, and Grace's. */
  async function begin() {
    board = await stage.board({ 'To do': ['one', 'two'], Doing: ['three'] })
    const page = await stage.enter(board.ada, board.path)
    const other = await stage.enter(board.grace, board.path)
    await page.evaluate(`addEventListener('pageshow', ({ persisted }) => { window.restored = persisted })`)
    await ready(page)
    await add(page, 'added')
    await stage.agreed(board, page, other)
    return [page, other] as const
  }
  async function add(page: Page, title: string) {
    await laneOf(page, 'To do').getByRole('button', { name: 'Add a card' }).click()
    await page.getByLabel('Title of the new card').fill(title)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await cardOf(page, title).waitFor()
  }
  /** A move and a new title, of cards of which the browser's cached board knows nothing. */
  async function work(page: Page) {
    await cardOf(page, 'two').locator('a').focus()
    await page.keyboard.press('Shift+ArrowRight')
    await cardOf(page, 'added').locator('a').focus()
    await page.keyboard.press('e')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('renamed')
    await page.keyboard.press('Enter')
    await cardOf(page, 'renamed').waitFor()
  }
  /** Another page, and back. */
  async function leaveAndReturn(page: Page) {
    await page.goto(`${stage.service.base_url}/app/accessibility`)
    await page.goBack({ waitUntil: 'commit' })
    await page.locator('main.board').waitFor()
    const restored = await page.evaluate('window.restored ?? false')
    expect(restored).toBe(has_page_cache)
  }
  const byGrace = (title: string) =>
    board.grace.api.call('createCard', {
      params: { board_id: board.id, column_id: board.lanes['Doing'] ?? '' },
      body: { title },
    })
  const finished = async (page: Page, other: Page) => {
    expect(await page.getByRole('alert').allTextContents()).toEqual([])
    await finish(page, { but: NO_LINE })
    await finish(other, { but: NO_LINE })
  }

  test('[WEB-130] [SYNC-29] Back shows the board as it is, and calls nothing that the user did somebody else’s', async () => {
    const [page, other] = await begin()
    await work(page)
    await stage.agreed(board, page, other)
    await leaveAndReturn(page)
    expect(await stage.agreed(board, page, other)).toEqual([
      ['To do', ['one', 'renamed']],
      ['Doing', ['three', 'two']],
    ])
    // What is shown came with the board, or over a socket that is live.
    await byGrace('by Grace')
    await cardOf(page, 'by Grace').waitFor()
    expect(await page.locator('.card-mark').allTextContents()).toEqual([`${board.grace.username} added this`])
    await finished(page, other)
  }, 60_000)

  test('[WEB-130] offline, Back and a reload show the same board with all that waits, and everything is sent', async () => {
    const [page, other] = await begin()
    await page.context().setOffline(true)
    await work(page)
    const shown = await order(page)
    await leaveAndReturn(page)
    expect(await order(page)).toEqual(shown)
    await byGrace('by Grace')
    await page.reload()
    await expect.poll(() => order(page)).toEqual(shown)
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('Shift+ArrowDown')
    await leaveAndReturnOffline(page)
    await page.context().setOffline(false)
    expect(await stage.agreed(board, page, other)).toEqual([
      ['To do', ['renamed', 'one']],
      ['Doing', ['three', 'two', 'by Grace']],
    ])
    await finished(page, other)
  }, 60_000)

  /** As above; what a reloaded page knew of its restoration is gone with it. */
  async function leaveAndReturnOffline(page: Page) {
    const shown = await order(page)
    await page.goto(`${stage.service.base_url}/app/accessibility`)
    await page.goBack({ waitUntil: 'commit' })
    await expect.poll(() => order(page)).toEqual(shown)
  }

  test('[WEB-130] a tab that was closed offline goes on where it was, and what a restored page does not know is sent by it', async () => {
    const [page, other] = await begin()
    await page.context().setOffline(true)
    await work(page)
    const shown = await order(page)
    const again = await openNoted(page.context(), stage.service.base_url)
    await page.close()
    await again.goto(`${stage.service.base_url}/app${board.path}`)
    await expect.poll(() => order(again)).toEqual(shown)
    // A second visit in the same tab changes something, and the first one is gone back to.
    await again.goto(`${stage.service.base_url}/app${board.path}/activity`)
    await again.goto(`${stage.service.base_url}/app${board.path}?q=`)
    await add(again, 'second visit')
    await again.goBack({ waitUntil: 'commit' })
    if (!has_page_cache) await again.waitForLoadState()
    await again.goBack({ waitUntil: 'commit' })
    await again.context().setOffline(false)
    expect(await stage.agreed(board, again, other)).toEqual([
      ['To do', ['one', 'renamed', 'second visit']],
      ['Doing', ['three', 'two']],
    ])
    await finished(again, other)
  }, 60_000)

  test('[WEB-131] [SYNC-32] no change is lost in a random walk', async () => {
    const [ada, grace] = await Promise.all([stage.service.user(), stage.service.user()])
    const { base_url } = stage.service
    const people = { ada: { ...ada, password: PASSWORD }, grace: { ...grace, password: PASSWORD } }
    const { walk, close } = await openWalk({ base_url, browser: stage.browser, has_page_cache, ...people })
    // One walk; `npm run prove -- web-walks` runs 200.
    expect((await walk(1)).violations).toEqual([])
    await close()
  }, 120_000)
})

describe('what is kept for work without a network', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage.close())

  const keptOf = (page: Page, path: string) =>
    page.evaluate(`caches.open('lockstep/data').then(async (data) => {
      const answer = await data.match('${path}')
      return answer ? [answer.headers.get('board-position'), await answer.text()] : null
    })`) as Promise<[position: string | null, text: string] | null>

  test('[WEB-132] [WEB-93] a board that is left by a link is stored as it was shown, and takes its messages with it', async () => {
    const board = await stage.board({ 'To do': ['one', 'two'] })
    const page = await stage.enter(board.ada, board.path)
    await ready(page)
    await cardOf(page, 'two').locator('a').focus()
    await page.keyboard.press('Shift+ArrowUp')
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('Delete')
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await stage.agreed(board, page)
    const shown = await order(page)
    await page.getByRole('link', { name: 'All boards' }).click()
    await page.getByRole('heading', { name: 'Boards' }).waitFor()
    expect(await page.locator('.toast').count()).toBe(0)
    await page.context().setOffline(true)
    await page.goBack()
    await page.locator('main.board').waitFor()
    expect(await order(page)).toEqual(shown)
    await finish(page, { but: NO_LINE })
  }, 60_000)

  test('[WEB-132] a board is never replaced by an older one, and a logout clears it for every tab', async () => {
    const board = await stage.board({ 'To do': ['one'] })
    const page = await stage.enter(board.ada, board.path)
    await ready(page)
    const path = `/boards/${board.id}`
    await expect.poll(() => keptOf(page, path)).not.toBeNull()
    const [first = ''] = (await keptOf(page, path)) ?? []
    const message = (position: string | null, user_id: string) =>
      page.evaluate(
        `navigator.serviceWorker.ready.then(({ active }) => active.postMessage(${JSON.stringify({ path, text: `{"at":"${position}"}`, position, user_id })}))`,
      )
    const [epoch = 0, seq = 0] = (first ?? '').split('.').map(Number)
    // As tabs would that know an older or a newer board, in whatever order they get there.
    for (const position of [
      `${epoch}.${seq + 9}`,
      `${epoch}.${seq + 4}`,
      first,
      `${epoch}.${seq + 10}`,
      `${epoch - 1}.999`,
    ])
      await message(position, board.ada.id)
    await message(`${epoch}.${seq + 99}`, board.grace.id)
    await expect.poll(() => keptOf(page, path)).toEqual([`${epoch}.${seq + 10}`, `{"at":"${epoch}.${seq + 10}"}`])
    await message(`${epoch + 1}.1`, board.ada.id)
    await expect.poll(async () => (await keptOf(page, path))?.[0]).toBe(`${epoch + 1}.1`)

    const tab = await stage.enterBeside(page, '/boards')
    await tab.getByRole('button', { name: /account of/ }).click()
    await tab.getByRole('menuitem', { name: 'Log out' }).click()
    await tab.getByRole('heading', { name: 'Log in' }).waitFor()
    await expect.poll(() => keptOf(tab, '/auth/me')).toBeNull()
    await message(`${epoch + 1}.2`, board.ada.id)
    await page.evaluate(`dispatchEvent(new Event('offline'))`)
    // Messages are worked off in order: behind this one, those before it are done.
    await tab.evaluate(`navigator.serviceWorker.ready.then(({ active }) =>
      active.postMessage({ path: '/auth/me', text: '{"id":"marker"}', user_id: 'marker' }))`)
    await expect.poll(async () => (await keptOf(tab, '/auth/me'))?.[1]).toContain('marker')
    expect(await keptOf(tab, path)).toBeNull()
    await finish(tab, { but: /status of 401|WebSocket/ })
    await page.close()
  }, 60_000)
})

describe('the line', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage.close())

  test('[WEB-133] a first connection that takes its time is not called a second one', async () => {
    const board = await stage.board({ 'To do': ['one'] })
    const { base_url } = stage.service
    const context = await logIn(stage.browser, base_url, { email: board.ada.email, password: PASSWORD })
    const page = await openNoted(context, base_url)
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/auth/ticket', async (route) => {
      await promise
      await route.continue()
    })
    await page.goto(`${base_url}/app${board.path}`)
    await page.getByText('Connecting…').waitFor()
    resolve()
    await page.getByText('Live').waitFor()
    await finish(page)
  })

  test('[WEB-134] offline, nobody else is shown as present; back again, they are', async () => {
    const board = await stage.board({ 'To do': ['one'] })
    const page = await stage.enter(board.ada, board.path)
    const other = await stage.enter(board.grace, board.path)
    const grace = page.getByRole('banner').getByRole('img', { name: board.grace.username })
    await grace.waitFor()
    await page.context().setOffline(true)
    await page.locator('.banner').getByText('Offline.').waitFor()
    await grace.waitFor({ state: 'detached' })
    await page.context().setOffline(false)
    await grace.waitFor({ timeout: 20_000 })
    await finish(page, { but: NO_LINE })
    await finish(other)
  }, 60_000)
})

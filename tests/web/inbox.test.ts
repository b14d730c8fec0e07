// @module-tag journey
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf } from './board-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { dialogs } from './layers.ts'
import { auditAccessibility, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const bellOf = (page: Page, name: string) => page.getByRole('link', { name, exact: true })
const rowOf = (page: Page, text: string) => page.locator('.inbox-row').filter({ hasText: text })
const linkOf = (row: Locator) => row.getByRole('link')
const summaries = (page: Page) => {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/me/inbox/summary')) sent.push(request.url())
  })
  return sent
}
/** The user returns to the page. */
const focus = (page: Page) => page.evaluate("dispatchEvent(new Event('focus'))")
const hide = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)

/** Ada mentions Grace. */
const mention = ({ ada, grace, cards }: TestBoard, title: string, text: string) =>
  ada.api.call('createComment', {
    params: { card_id: cards[title] ?? '' },
    body: { body: `@[${grace.username}](user:${grace.id}) ${text}` },
  })
const unreadOf = async ({ grace }: TestBoard) => (await grace.api.call('getInboxSummary', {})).unread
/** A board where Grace has read everything. */
async function newBoard(...titles: string[]) {
  const board = await env.createBoard({ 'To do': titles })
  await board.grace.api.call('readInbox', { body: { until: new Date(Date.now() + 60_000).toISOString() } })
  return board
}

test('[WEB-200] the bell and the title count unread items: within 30 seconds, at once when the user returns, and never while hidden', async () => {
  const board = await newBoard('one', 'two')
  const page = await env.openPage(board.grace, board.path)
  await bellOf(page, 'Inbox').waitFor()
  await mention(board, 'one', 'hello')
  await bellOf(page, 'Inbox, 1 unread').waitFor({ timeout: 40_000 })
  expect(await page.title()).toBe('(1) Plan · Lockstep')

  await mention(board, 'two', 'hello')
  await focus(page)
  await bellOf(page, 'Inbox, 2 unread').waitFor({ timeout: 5_000 })
  const sent = summaries(page)
  await hide(page, 'hidden')
  await focus(page)
  expect(sent).toEqual([])
  await hide(page, 'visible')
  await expect.poll(() => sent.length).toBe(1)

  await page.context().setOffline(true)
  await focus(page)
  expect(sent).toHaveLength(1)
  await page.context().setOffline(false)
  await page.goto(`${env.service.baseUrl}/app/boards`)
  await bellOf(page, 'Inbox, 2 unread').waitFor()
  expect(await page.title()).toBe('(2) Boards · Lockstep')
  await page.route('**/me/inbox/summary', (route) =>
    route.fulfill({ json: { unread: 100, newest_at: new Date().toISOString() }, headers: { etag: '"x"' } }),
  )
  await focus(page)
  await bellOf(page, 'Inbox, 99+ unread').waitFor()
  await page.unroute('**/me/inbox/summary')
  await page.route('**/me/inbox/summary', (route) => route.fulfill({ status: 500, body: 'broken' }))
  await focus(page)
  await bellOf(page, 'Inbox, 99+ unread').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED|WebSocket|status of 500/ })
})

test('[WEB-201] [WEB-202] an item tells who did what where, opens the card over its board, and is read then', {
  tags: ['smoke'],
}, async () => {
  const board = await newBoard('Login page')
  const card_id = board.cards['Login page'] ?? ''
  await board.ada.api.call('assignCard', { params: { card_id }, body: { user_ids: [board.grace.id] } })
  await mention(board, 'Login page', 'first')
  const { id } = await mention(board, 'Login page', 'can you look at this?')
  const page = await env.openPage(board.grace, '/boards')
  await bellOf(page, 'Inbox, 1 unread').click()
  const row = rowOf(page, 'Login page')
  await row.waitFor()
  expect((await row.innerText()).split(/\n+/)).toEqual([
    expect.any(String),
    'Unread',
    `${board.ada.username} mentioned you and 2 more`,
    '#1 Login page · Plan',
    `“@${board.grace.username} can you look at this?”`,
    'just now',
  ])
  const marks = await page.evaluate(`[...document.querySelectorAll('.inbox-row')].map((row) =>
    [getComputedStyle(row.querySelector('.inbox-event')).fontWeight, getComputedStyle(row, '::before').content])`)
  expect(marks).toEqual([
    ['700', '""'],
    ['400', 'none'],
  ])
  expect(await auditAccessibility(page)).toEqual([])

  await linkOf(row).click()
  await dialogs(page).waitFor()
  expect(page.url()).toContain(`/b/${board.id}/c/${card_id}?comment=${id}`)
  await expect.poll(() => unreadOf(board)).toBe(0)
  await page.goBack()
  await rowOf(page, 'Login page').waitFor()
  await expect.poll(() => rowOf(page, 'Login page').getAttribute('class')).toBe('inbox-row')
  await bellOf(page, 'Inbox').waitFor()
  await linkOf(rowOf(page, 'added you to the board')).click()
  await page.waitForURL(`**/b/${board.id}`)
  await checkAndClose(page)
})

test('[WEB-201] [INBOX-3] a rule assigns both: who moved the card has no item, and the other reads who moved it where', {
  tags: ['smoke'],
}, async () => {
  const board = await newBoard('Login page')
  const params = { board_id: board.id }
  const column = await board.ada.api.call('createColumn', { params, body: { title: 'Backlog' } })
  for (const { id: action_user_id } of [board.ada, board.grace]) {
    const rule = { name: 'Assign', trigger_type: 'CARD_MOVED', action_type: 'ASSIGN_MEMBER' } as const
    await board.ada.api.call('createRule', { params, body: { ...rule, trigger_column_id: column.id, action_user_id } })
  }
  const page = await env.openPage(board.grace, board.path)
  await cardOf(page, 'Login page').locator('.card-title').focus()
  await page.keyboard.press('Shift+ArrowRight')
  const other = await env.openPage(board.ada, '/inbox')
  await other.getByText(`${board.grace.username} moved it to Backlog; a rule assigned you`, { exact: true }).waitFor()
  expect(await unreadOf(board)).toBe(0)
  await focus(page)
  await bellOf(page, 'Inbox').waitFor()
  await checkAndClose(page)
  await checkAndClose(other)
})

test('[WEB-202] opening the card in another way marks its item, also one that arrives while it is open', async () => {
  const board = await newBoard('one', 'two')
  await mention(board, 'one', 'hello')
  await mention(board, 'two', 'hello')
  const page = await env.openPage(board.grace, `${board.path}/c/${board.cards['one']}`)
  await expect.poll(() => unreadOf(board)).toBe(1)
  await mention(board, 'one', 'again')
  await focus(page)
  await expect.poll(() => unreadOf(board)).toBe(1)
  const [unread] = await board.grace.api.call('listInbox', { query: { unread: 'true' } })
  expect(unread?.card?.title).toBe('two')
  await page.goto(`${env.service.baseUrl}/app/boards`)
  await bellOf(page, 'Inbox, 1 unread').waitFor()
  await checkAndClose(page)
})

test('[WEB-203] [WEB-204] marks single items and all that are shown, and filters unread items', async () => {
  const board = await newBoard('one', 'two', 'three')
  for (const title of ['one', 'two']) await mention(board, title, 'hello')
  const page = await env.openPage(board.grace, '/inbox')
  const filter = (name: string) => page.getByRole('group', { name: 'Show' }).getByRole('button', { name })
  await rowOf(page, '#1 one').getByRole('button', { name: 'Mark as read: #1 one' }).click()
  await bellOf(page, 'Inbox, 1 unread').waitFor()
  await filter('Unread').click()
  await expect.poll(() => page.locator('.inbox-row').count()).toBe(1)
  expect(page.url()).toContain('?show=unread')
  await rowOf(page, '#2 two').getByRole('button').click()
  await bellOf(page, 'Inbox').waitFor()
  await rowOf(page, '#2 two').getByRole('button', { name: 'Mark as unread: #2 two' }).click()
  await bellOf(page, 'Inbox, 1 unread').waitFor()
  expect(await page.locator('.inbox-row').count()).toBe(1)

  // It arrives after the list was loaded.
  await mention(board, 'three', 'hello')
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await bellOf(page, 'Inbox, 1 unread').waitFor()
  await expect.poll(() => rowOf(page, '#2 two').getAttribute('class')).toBe('inbox-row')
  expect(await board.grace.api.call('listInbox', { query: { unread: 'true' } })).toMatchObject([
    { card: { title: 'three' } },
  ])
  await filter('All').click()
  await expect.poll(() => page.locator('.inbox-row').count()).toBe(4)
  await filter('Unread').click()
  await rowOf(page, '#3 three').waitFor()
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await bellOf(page, 'Inbox').waitFor()
  await page.reload()
  await page.getByText('Nothing unread').waitFor()
  await checkAndClose(page)
})

test('[WEB-201] a long inbox has more pages, each item once', async () => {
  const board = await newBoard('one')
  const column_id = board.columns['To do'] ?? ''
  for (let i = 0; i < 60; i++) {
    const params = { board_id: board.id, column_id }
    const { id } = await board.ada.api.call('createCard', { params, body: { title: `Card ${i}` } })
    await board.ada.api.call('assignCard', { params: { card_id: id }, body: { user_ids: [board.grace.id] } })
  }
  const page = await env.openPage(board.grace, '/inbox')
  await expect.poll(() => page.locator('.inbox-row').count()).toBe(50)
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect.poll(() => page.locator('.inbox-row').count()).toBe(61)
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  const titles = (await page.locator('.inbox-where').allTextContents()).map((text) => /Card (\d+)/.exec(text)?.[1])
  expect(titles).toEqual([...Array.from({ length: 60 }, (_, i) => String(59 - i)), undefined])
  await checkAndClose(page)
})

test('[WEB-205] the keyboard is enough', async () => {
  const board = await newBoard('one', 'two')
  for (const title of ['one', 'two']) await mention(board, title, 'hello')
  const page = await env.openPage(board.grace, '/boards')
  await bellOf(page, 'Inbox, 2 unread').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('inbox')
  await page.getByRole('option', { name: /^Inbox/ }).waitFor()
  await page.keyboard.press('Enter')
  await rowOf(page, '#1 one').waitFor()
  await page.goBack()
  await page.locator('.tile strong').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await rowOf(page, '#1 one').waitFor()
  await linkOf(rowOf(page, '#2 two')).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await bellOf(page, 'Inbox, 1 unread').waitFor()
  await linkOf(rowOf(page, '#1 one')).focus()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await dialogs(page).waitFor()
  expect(page.url()).toContain(`/c/${board.cards['two']}`)
  await expect.poll(() => unreadOf(board)).toBe(0)
  await checkAndClose(page)
})

test('[WEB-205] on a touch screen, a tap marks or opens an item', async () => {
  const board = await newBoard('one', 'two')
  for (const title of ['one', 'two']) await mention(board, title, 'hello')
  const page = await env.openPage(board.grace, '/boards', phone)
  await bellOf(page, 'Inbox, 2 unread').tap()
  const button = rowOf(page, '#2 two').getByRole('button')
  await button.waitFor()
  for (const target of [button, linkOf(rowOf(page, '#1 one'))]) {
    const { width = 0, height = 0 } = (await target.boundingBox()) ?? {}
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(44)
  }
  await button.tap()
  await bellOf(page, 'Inbox, 1 unread').waitFor()
  await linkOf(rowOf(page, '#1 one')).tap()
  await dialogs(page).waitFor()
  await expect.poll(() => unreadOf(board)).toBe(0)
  await checkAndClose(page)
})

test('[WEB-206] an empty inbox explains itself, and offline it says so', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const empty = await env.openPage(board.ada, '/inbox')
  await empty.getByText('You will see here when someone mentions you, assigns you or adds you to a board.').waitFor()
  await checkAndClose(empty)
  const page = await env.openPage(board.grace, '/inbox')
  await rowOf(page, 'added you').waitFor()
  await page.getByRole('banner').getByRole('link', { name: 'Boards', exact: true }).getByText('Boards').waitFor()
  // The response to a request from before arrives when a later one has failed.
  const held = Promise.withResolvers<void>()
  const requested = Promise.withResolvers<void>()
  let isFirst = true
  await page.route(/\/inbox$/, async (route) => {
    if (!isFirst) return route.fallback()
    isFirst = false
    const response = await route.fetch()
    requested.resolve()
    await held.promise
    await route.fulfill({ response })
  })
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  await requested.promise
  await page.context().setOffline(true)
  await page.getByText('Can’t reach the server').waitFor()
  const late = page.waitForResponse(/\/inbox$/)
  held.resolve()
  await late
  await page.waitForTimeout(300)
  expect(await page.getByText('Can’t reach the server').count()).toBe(1)
  expect(await rowOf(page, 'added you').count()).toBe(1)
  await mention(board, 'one', 'hello')
  await page.context().setOffline(false)
  await rowOf(page, '#1 one').waitFor()
  expect(await page.getByText('Can’t reach the server').count()).toBe(0)
  await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED/ })
})

// @module-tag journey
import { endProcesses, eventually, startRedis, startServiceProcess } from '@lockstep/testing/processes'
import { PASSWORD, startService } from '@lockstep/testing/service'
import { TestClock } from '@lockstep/testing/test-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, dragTo, startDrag } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { announcements, checkAndClose, logIn, openRecordedPage } from './page-checks.ts'

/** Messages of the browser while offline and about 404 responses. */
const OFFLINE_ERRORS = /net::ERR_|WebSocket connection|status of 50[234]|status of 404|fetching the script/

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(async () => {
  await env.close()
  await endProcesses()
})

describe('offline', () => {
  test('[WEB-221] a part of the page that could not be prefetched is loaded at its first use, with its styles', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const { email } = board.ada
    const page = await openRecordedPage(
      await logIn(env.browser, env.service.baseUrl, { email, password: PASSWORD }),
      env.service.baseUrl,
    )
    const parts = /\/assets\/palette-[^/]+\.(js|css)$/
    await page.route(parts, (route) => route.abort())
    const failed = page.waitForEvent('requestfailed', (request) => parts.test(request.url()))
    await page.goto(`${env.service.baseUrl}/app${board.path}`)
    await failed
    await page.unroute(parts)
    await cardOf(page, 'one').waitFor()
    await page.keyboard.press('Control+k')
    const field = page.locator('.palette-field')
    await field.waitFor()
    // Without the scale of the animation.
    expect(await page.evaluate("document.querySelector('.palette-field').offsetHeight")).toBe(40)
    await checkAndClose(page, { ignore: OFFLINE_ERRORS })
  })

  test('[WEB-52] ten offline changes survive a reload and are sent once, in order, and the banner counts them', {
    tags: ['smoke'],
  }, async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two', 'three'], Doing: ['four'], Done: [] })
    const page = await env.openPage(board.ada, board.path)
    await expect
      .poll(() => page.evaluate('navigator.serviceWorker.controller !== null'), { timeout: 15_000 })
      .toBe(true)
    await page.context().setOffline(true)
    const banner = page.locator('.banner')
    await banner.getByText('You can keep working').waitFor()

    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('n')
    for (let i = 1; i <= 6; i++) {
      await page.keyboard.type(`offline ${i}`)
      await page.keyboard.press('Enter')
    }
    await page.keyboard.press('Escape')
    await cardOf(page, 'two').locator('a').focus()
    await page.keyboard.press('Shift+ArrowRight')
    await page.keyboard.press('Shift+ArrowUp')
    await cardOf(page, 'three').locator('a').focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Delete')
    const waiting = 'Your 10 changes are saved and will be sent when you’re back online.'
    await banner.getByText(waiting).waitFor()
    const before = (await page.locator('.card-title').allTextContents()).join()

    // Another user keeps working, also on a card that is deleted here.
    const { api } = board.grace
    const params = { board_id: board.id, column_id: board.columns['Done'] ?? '' }
    for (let i = 1; i <= 4; i++) await api.call('createCard', { params, body: { title: `theirs ${i}` } })
    await api.call('updateCard', { params: { card_id: board.cards['three'] ?? '' }, body: { title: 'three, changed' } })

    await page.reload()
    await banner.getByText(waiting).waitFor()
    expect((await page.locator('.card-title').allTextContents()).join()).toBe(before)

    await page.context().setOffline(false)
    await banner.getByText('Back online.').waitFor({ timeout: 20_000 })
    await expect.poll(() => banner.textContent()).toContain('Everything is synced: 10 changes sent, 5 received.')
    expect(announcements(page).at(-1)).toContain('Back online.')
    expect(await env.waitForSync(board, page)).toEqual([
      ['To do', ['one', ...Array.from({ length: 6 }, (_, i) => `offline ${i + 1}`)]],
      ['Doing', ['two', 'four']],
      ['Done', ['theirs 1', 'theirs 2', 'theirs 3', 'theirs 4']],
    ])
    await checkAndClose(page, { ignore: OFFLINE_ERRORS })
  })

  test('[WEB-52] an offline change that fails is shown with its text, and the others are sent', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'doomed'], Doing: [] })
    const page = await env.openPage(board.ada, board.path)
    await page.context().setOffline(true)
    await cardOf(page, 'doomed').locator('a').focus()
    await page.keyboard.press('e')
    await page.keyboard.type('a title that was typed')
    await page.keyboard.press('Enter')
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('Shift+ArrowRight')
    await board.grace.api.call('deleteCard', { params: { card_id: board.cards['doomed'] ?? '' } })
    await page.context().setOffline(false)
    const notices = page.getByRole('alert', { name: 'One change couldn’t be saved' })
    await notices.getByText('a title that was typed').waitFor({ timeout: 20_000 })
    expect(await env.waitForSync(board, page)).toEqual([
      ['To do', []],
      ['Doing', ['one']],
    ])
    await notices.getByRole('button', { name: 'Dismiss' }).click()
    await notices.waitFor({ state: 'detached' })
    await checkAndClose(page, { ignore: OFFLINE_ERRORS })
  })
})

test('[WEB-53] a dead socket is detected, and missed changes are loaded', async () => {
  const board = await env.createBoard({ 'To do': ['one'], Doing: [] })
  const context = await logIn(env.browser, env.service.baseUrl, { email: board.ada.email, password: PASSWORD })
  const page = await openRecordedPage(context, env.service.baseUrl)
  await page.clock.install()
  let isDead = false
  let sockets = 0
  await page.routeWebSocket(/\/ws\//, (socket) => {
    const own = ++sockets
    const service = socket.connectToServer()
    const passes = () => !(isDead && own === 1)
    service.onMessage((message) => passes() && socket.send(message))
    socket.onMessage((message) => passes() && service.send(message))
  })
  await page.goto(`${env.service.baseUrl}/app${board.path}`)
  await page.getByText('Live').waitFor()
  isDead = true
  await board.grace.api.call('createCard', {
    params: { board_id: board.id, column_id: board.columns['Doing'] ?? '' },
    body: { title: 'missed' },
  })
  await page.clock.runFor(20_000)
  expect(await cardOf(page, 'missed').count()).toBe(0)
  // After the heartbeat timeout the client reconnects.
  await page.clock.runFor(26_000)
  await cardOf(page, 'missed').waitFor()
  expect(sockets).toBeGreaterThan(1)
  await checkAndClose(page)
})

test('[WEB-54] a server restart during a drag loses and duplicates no change', async () => {
  const board = await env.createBoard({ 'To do': ['dragged', 'one'], Doing: ['two'] })
  const settings = { DATABASE_URL: env.service.databaseUrl, JWT_SECRET: 'killed-and-started-again-0123456789' }
  let service = await startServiceProcess({ ...settings, LOG_LEVEL: 'warn' })
  const { baseUrl } = service
  const context = await logIn(env.browser, baseUrl, { email: board.ada.email, password: PASSWORD })
  const page = await openRecordedPage(context, baseUrl)
  await page.goto(`${baseUrl}/app${board.path}`)
  await page.getByText('Live').waitFor()

  await startDrag(page, 'dragged')
  await dragTo(page, 'Doing', 1)
  await service.end('SIGKILL')
  await page.mouse.up()
  await cardOf(page, 'dragged').locator('a').focus()
  await page.keyboard.press('n')
  await page.keyboard.type('while it was down')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.getByText('Reconnecting…').waitFor()
  service = await startServiceProcess({ ...settings, LOG_LEVEL: 'warn', PORT: new URL(baseUrl).port })
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', ['one']],
    ['Doing', ['two', 'dragged', 'while it was down']],
  ])
  const moves = await env.service.sql.query("select from board_events where board_id = $1 and type = 'card.moved'", [
    board.id,
  ])
  expect(moves.rowCount).toBe(1)
  await checkAndClose(page, { ignore: OFFLINE_ERRORS })
  await service.end()
})

test('[WEB-55] without Redis, changes on one instance reach pages of the other', async () => {
  const redis = await startRedis()
  const first = await startService({ REDIS_URL: redis.url })
  const board = await first.board()
  const second = await startServiceProcess({
    DATABASE_URL: first.databaseUrl,
    REDIS_URL: redis.url,
    JWT_SECRET: 'another-instance-0123456789-0123456789',
    LOG_LEVEL: 'warn',
  })
  const context = await logIn(env.browser, second.baseUrl, { email: board.member.email, password: PASSWORD })
  const page = await openRecordedPage(context, second.baseUrl)
  await page.goto(`${second.baseUrl}/app/b/${board.id}`)
  await page.getByText('Live').waitFor()
  await redis.process().end('SIGKILL')
  const params = { board_id: board.id, column_id: board.columns[0].id }
  await board.owner.api.call('createCard', { params, body: { title: 'without Redis' } })
  await cardOf(page, 'without Redis').waitFor({ timeout: 5_000 })
  await eventually('it is live', () => page.getByText('Live').isVisible())
  await checkAndClose(page)
  await second.end()
  await first.stop()
})

test('[WEB-244] while the byte budget is used up, changes and the board wait, which the page says, and nothing is lost', async () => {
  // Stands still, so that the budget stays used up.
  const clock = new TestClock()
  const service = await startService({ RATE_LIMITS: 'on' }, { clock })
  const { id, owner, member, columns } = await service.board()
  const params = { board_id: id, column_id: columns[1].id }
  const useUpBudget = async () => {
    const body = { title: 'Large', description: 'x'.repeat(65_536) }
    while ((await owner.api.send('createCard', { params, body })).status !== 429);
  }
  const context = await logIn(env.browser, service.baseUrl, { email: owner.email, password: PASSWORD })
  const page = await openRecordedPage(context, service.baseUrl)
  await page.goto(`${service.baseUrl}/app/b/${id}`)
  await page.getByText('Live').waitFor()

  await useUpBudget()
  await page.keyboard.press('n')
  for (const title of ['One', 'Two', 'Three']) {
    await page.keyboard.type(title)
    await page.keyboard.press('Enter')
  }
  await page.keyboard.press('Escape')
  await page.locator('.pill', { hasText: 'Saving…' }).waitFor({ timeout: 20_000 })
  const stored = async () => {
    const board = await member.api.call('getBoard', { params: { board_id: id } })
    return board.columns[0]?.cards.map(({ title }) => title)
  }
  expect(await stored()).toEqual([])
  clock.advance(10_000)
  await expect.poll(stored, { timeout: 10_000 }).toEqual(['One', 'Two', 'Three'])
  await page.getByText('Live').waitFor()

  await useUpBudget()
  await page.reload()
  await page.locator('.banner').getByText('You can keep working.').waitFor({ timeout: 20_000 })
  clock.advance(10_000)
  await page.locator('.banner').getByText('Back online.').waitFor({ timeout: 20_000 })
  await cardOf(page, 'Three').waitFor()
  expect(await page.locator('.failedChanges').count()).toBe(0)
  await checkAndClose(page, { ignore: /status of 429/ })
  await service.stop()
})

import { endProcesses, eventually, startRedis, startServiceProcess } from '@lockstep/testing/processes'
import { PASSWORD, startService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, carryTo, liftCard } from './board-hands.ts'
import { finish, liveRegion, logIn, openNoted } from './pages.ts'
import { openStage, type Stage } from './stage.ts'

/**
 * What a browser says by itself when there is no line, or what was asked for is gone: it is part of the journey. axe also tries
 * to read style sheets that could not be fetched ahead, by means that the policy forbids.
 */
const NO_LINE =
  /net::ERR_|WebSocket connection|status of 50[234]|status of 404|fetching the script|inline style|style-src-elem/

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(async () => {
  await stage.close()
  await endProcesses()
})

describe('without a network', () => {
  test('[WEB-52] ten changes, a reload, and the network again: all arrive once, in order, and the banner counts right', async () => {
    const board = await stage.board({ 'To do': ['one', 'two', 'three'], Doing: ['four'], Done: [] })
    const page = await stage.enter(board.ada, board.path)
    await expect
      .poll(() => page.evaluate('navigator.serviceWorker.controller !== null'), { timeout: 15_000 })
      .toBe(true)
    await page.context().setOffline(true)
    const banner = page.locator('.banner')
    await banner.getByText('You can go on working').waitFor()

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
    const waiting = 'Your 10 changes are kept here and will be sent when the connection returns.'
    await banner.getByText(waiting).waitFor()
    const before = (await page.locator('.card-title').allTextContents()).join()

    // Others go on meanwhile, also with what is deleted here.
    const { api } = board.grace
    const params = { board_id: board.id, column_id: board.lanes['Done'] ?? '' }
    for (let i = 1; i <= 4; i++) await api.call('createCard', { params, body: { title: `theirs ${i}` } })
    await api.call('updateCard', { params: { card_id: board.cards['three'] ?? '' }, body: { title: 'three, changed' } })

    await page.reload()
    await banner.getByText(waiting).waitFor()
    expect((await page.locator('.card-title').allTextContents()).join()).toBe(before)

    await page.context().setOffline(false)
    await banner.getByText('Back online.').waitFor({ timeout: 20_000 })
    await expect.poll(() => banner.textContent()).toContain('10 sent, 5 received.')
    expect(liveRegion(page).at(-1)).toContain('Back online.')
    expect(await stage.agreed(board, page)).toEqual([
      ['To do', ['one', ...Array.from({ length: 6 }, (_, i) => `offline ${i + 1}`)]],
      ['Doing', ['two', 'four']],
      ['Done', ['theirs 1', 'theirs 2', 'theirs 3', 'theirs 4']],
    ])
    await finish(page, { but: NO_LINE })
  }, 60_000)

  test('[WEB-52] a change that cannot be made any more is told of with its text, and the others arrive', async () => {
    const board = await stage.board({ 'To do': ['one', 'doomed'], Doing: [] })
    const page = await stage.enter(board.ada, board.path)
    await page.context().setOffline(true)
    await cardOf(page, 'doomed').locator('a').focus()
    await page.keyboard.press('e')
    await page.keyboard.type('a title that was typed')
    await page.keyboard.press('Enter')
    await cardOf(page, 'one').locator('a').focus()
    await page.keyboard.press('Shift+ArrowRight')
    await board.grace.api.call('deleteCard', { params: { card_id: board.cards['doomed'] ?? '' } })
    await page.context().setOffline(false)
    const notices = page.getByRole('alert', { name: 'One change could not be made' })
    await notices.getByText('a title that was typed').waitFor({ timeout: 20_000 })
    expect(await stage.agreed(board, page)).toEqual([
      ['To do', []],
      ['Doing', ['one']],
    ])
    await notices.getByRole('button', { name: 'Dismiss' }).click()
    await notices.waitFor({ state: 'detached' })
    await finish(page, { but: NO_LINE })
  }, 60_000)
})

test('[WEB-53] a socket that only seems open is noticed, and what was missed is made up for', async () => {
  const board = await stage.board({ 'To do': ['one'], Doing: [] })
  const context = await logIn(stage.browser, stage.service.base_url, { email: board.ada.email, password: PASSWORD })
  const page = await openNoted(context, stage.service.base_url)
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
  await page.goto(`${stage.service.base_url}/app${board.path}`)
  await page.getByText('Live').waitFor()
  isDead = true
  await board.grace.api.call('createCard', {
    params: { board_id: board.id, column_id: board.lanes['Doing'] ?? '' },
    body: { title: 'missed' },
  })
  await page.clock.runFor(20_000)
  expect(await cardOf(page, 'missed').count()).toBe(0)
  // Nothing was heard for so long that somebody must look.
  await page.clock.runFor(26_000)
  await cardOf(page, 'missed').waitFor()
  expect(sockets).toBeGreaterThan(1)
  await finish(page)
})

test('[WEB-54] a service that is killed and started again while a card is held loses nothing and does nothing twice', async () => {
  const board = await stage.board({ 'To do': ['held', 'one'], Doing: ['two'] })
  const settings = { DATABASE_URL: stage.service.database_url, JWT_SECRET: 'killed-and-started-again-0123456789' }
  let service = await startServiceProcess({ ...settings, LOG_LEVEL: 'warn' })
  const { base_url } = service
  const context = await logIn(stage.browser, base_url, { email: board.ada.email, password: PASSWORD })
  const page = await openNoted(context, base_url)
  await page.goto(`${base_url}/app${board.path}`)
  await page.getByText('Live').waitFor()

  await liftCard(page, 'held')
  await carryTo(page, 'Doing', 1)
  await service.end('SIGKILL')
  await page.mouse.up()
  await cardOf(page, 'held').locator('a').focus()
  await page.keyboard.press('n')
  await page.keyboard.type('while it was down')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.getByText('Reconnecting…').waitFor()
  service = await startServiceProcess({ ...settings, LOG_LEVEL: 'warn', PORT: new URL(base_url).port })
  expect(await stage.agreed(board, page)).toEqual([
    ['To do', ['one']],
    ['Doing', ['two', 'held', 'while it was down']],
  ])
  const moves = await stage.service.sql.query("select from board_events where board_id = $1 and type = 'card.moved'", [
    board.id,
  ])
  expect(moves.rowCount).toBe(1)
  await finish(page, { but: NO_LINE })
  await service.end()
}, 60_000)

test('[WEB-55] with Redis gone, what is changed on one instance comes to a page of the other', async () => {
  const redis = await startRedis()
  const first = await startService({ REDIS_URL: redis.url })
  const board = await first.board()
  const second = await startServiceProcess({
    DATABASE_URL: first.database_url,
    REDIS_URL: redis.url,
    JWT_SECRET: 'another-instance-0123456789-0123456789',
    LOG_LEVEL: 'warn',
  })
  const context = await logIn(stage.browser, second.base_url, { email: board.member.email, password: PASSWORD })
  const page = await openNoted(context, second.base_url)
  await page.goto(`${second.base_url}/app/b/${board.id}`)
  await page.getByText('Live').waitFor()
  await redis.process().end('SIGKILL')
  const params = { board_id: board.id, column_id: board.columns[0].id }
  await board.owner.api.call('createCard', { params, body: { title: 'without Redis' } })
  await cardOf(page, 'without Redis').waitFor({ timeout: 5_000 })
  await eventually('it is live', () => page.getByText('Live').isVisible())
  await finish(page)
  await second.end()
  await first.stop()
}, 60_000)

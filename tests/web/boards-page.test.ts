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

test('[WEB-1] a double click on the offer creates the tutorial board once, and opens it', async () => {
  const user = await env.service.user()
  const page = await env.openPage(user, '/boards')
  await page.getByRole('button', { name: 'Start with a tutorial board' }).dblclick()
  await page.waitForURL('**/b/*')
  await page.locator('main.board .card').first().waitFor()
  const boards = await user.api.call('listBoards', {})
  expect(boards).toHaveLength(1)
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

// @module-tag journey
import { PASSWORD } from '@lockstep/testing/service'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { answer, toastOf } from './layers.ts'
import { findLayoutProblems } from './layout-checks.ts'
import { announcements, auditAccessibility, checkAndClose, oldSession } from './page-checks.ts'

let env: TestEnvironment
let board: TestBoard
let receiver: WebhookReceiver
beforeAll(async () => {
  env = await openEnvironment({ WEBHOOK_WORKERS: '20' })
})
afterAll(() => env.close())
beforeEach(async () => {
  board = await env.createBoard({ 'To do': [] })
  receiver = await WebhookReceiver.start()
})
afterEach(() => receiver.close())

const here = () => ({ board_id: board.id })
const list = () => board.ada.api.call('listWebhooks', { params: here() })
const newWebhook = (body: object = {}) =>
  board.ada.api.call('createWebhook', { params: here(), body: { name: 'CI', url: receiver.url, ...body } })
const newCard = (title: string) =>
  board.ada.api.call('createCard', { params: { ...here(), column_id: board.columns['To do'] ?? '' }, body: { title } })
const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Webhooks' })
const rowOf = (page: Page, name: string) => dialogOf(page).getByRole('listitem').filter({ hasText: name })
const button = (page: Page, name: string) => dialogOf(page).getByRole('button', { name, exact: true })
const deliveriesOf = (page: Page) => dialogOf(page).getByRole('list', { name: 'Deliveries' }).getByRole('listitem')
const openWebhooks = (options = {}, item = '') => env.openPage(board.ada, `${board.path}/webhooks${item}`, options)
const focusedText = (page: Page) => page.evaluate('document.activeElement?.textContent?.trim()')

test('[WEB-210] [WEB-211] an owner creates a webhook from the board menu, with the keyboard, and sees it in the list', {
  tags: ['smoke'],
}, async () => {
  const page = await env.openPage(board.ada, board.path)
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Webhooks' }).click()
  await dialogOf(page).getByText('This board has no webhooks.').waitFor()
  await button(page, 'New webhook').focus()
  await page.keyboard.press('Enter')
  await dialogOf(page).getByLabel('Name').and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  for (const text of ['Enter a name.', 'Enter the URL of the receiver.']) await page.getByText(text).waitFor()
  await page.keyboard.type('Build server')
  await page.keyboard.press('Tab')
  await page.keyboard.type(`${receiver.url}?key=1`)
  await page.keyboard.press('Enter')
  await dialogOf(page).getByRole('heading', { name: 'Build server' }).waitFor()
  await dialogOf(page).getByText(`${receiver.url}?key=1`).waitFor()
  await expect.poll(() => announcements(page)).toContain('Created webhook “Build server”')
  expect(await list()).toMatchObject([{ name: 'Build server', url: `${receiver.url}?key=1`, kinds: null }])
  await expect.poll(() => focusedText(page)).toBe('All webhooks')

  await page.keyboard.press('Enter')
  const row = rowOf(page, 'Build server')
  await row.getByText('Active').waitFor()
  await expect.poll(() => focusedText(page)).toBe('Build server')
  expect(await row.textContent()).toBe(`Build server Active127.0.0.1:${receiver.port}no delivery yet`)
  expect(await row.getByRole('link').getAttribute('title')).toBe(`${receiver.url}?key=1`)
  await newCard('one')
  await row.getByText(/last delivery/).waitFor()
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('webh')
  await page.keyboard.press('Enter')
  await row.waitFor()
  await checkAndClose(page)
})

test('[WEB-210] members neither see the entry nor the dialog; a former owner no longer sees it', async () => {
  await newWebhook()
  const page = await env.openPage(board.grace, `${board.path}/webhooks`)
  const requested: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  await page.waitForURL(`**${board.path}`)
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Automation' }).waitFor()
  expect(await page.getByRole('menuitem', { name: 'Webhooks' }).count()).toBe(0)
  await page.keyboard.press('Escape')
  const params = { ...here(), user_id: board.grace.id }
  await board.ada.api.call('updateMember', { params, body: { role: 'owner' } })
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Webhooks' }).click()
  await rowOf(page, 'CI').waitFor()
  await board.ada.api.call('updateMember', { params, body: { role: 'member' } })
  await dialogOf(page).waitFor({ state: 'detached' })
  await checkAndClose(page)
  expect(requested.findIndex((url) => url.includes('/webhooks'))).toBeGreaterThan(0)
})

test('[WEB-211] kinds are chosen by group or one by one; an edit sends only what was changed', async () => {
  const page = await openWebhooks({}, '/new')
  const dialog = dialogOf(page)
  await dialog.getByLabel('Name').fill('CI')
  await dialog.getByLabel('URL').fill(receiver.url)
  await dialog.getByLabel('Chosen events').check()
  await button(page, 'Create webhook').click()
  await dialog.getByText('Choose at least one kind of event.').waitFor()
  await dialog.getByLabel('Comments', { exact: true }).check()
  await button(page, '0 of 8 Cards').click()
  await dialog.getByLabel('card.created').check()
  await button(page, '1 of 8 Cards').waitFor()
  await dialog.getByLabel('Cards', { exact: true }).and(page.locator(':indeterminate')).waitFor()
  await dialog.getByLabel('Enabled').uncheck()
  // The second click must not create another one.
  await button(page, 'Create webhook').dblclick()
  await dialog.getByText('Nothing is sent until an owner enables it.').waitFor()
  const [webhook, ...others] = await list()
  expect(others).toEqual([])
  expect(webhook?.is_enabled).toBe(false)
  expect(webhook?.kinds?.toSorted()).toEqual(['card.created', 'comment.created', 'comment.deleted', 'comment.updated'])
  await dialog.getByText('card.created').waitFor()

  const bodies: unknown[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') bodies.push(request.postDataJSON())
  })
  await button(page, 'Edit').click()
  expect(await dialog.getByLabel('card.created').isChecked()).toBe(true)
  await button(page, 'Save').click()
  await expect.poll(() => focusedText(page)).toBe('Edit')
  await button(page, 'Edit').click()
  await dialog.getByLabel('Name').fill('Other')
  await dialog.getByLabel('All events').check()
  await button(page, 'Save').click()
  await dialog.getByRole('heading', { name: 'Other' }).waitFor()
  await dialog.getByText('All events').waitFor()
  expect(bodies).toEqual([{ name: 'Other', kinds: null }])
  await checkAndClose(page)
})

test('[WEB-211] what the server refuses is said at its field, and the input is kept', async () => {
  for (let nth = 1; nth <= 10; nth++) await newWebhook({ name: `Hook ${nth}` })
  const page = await openWebhooks({}, '/new')
  const dialog = dialogOf(page)
  await dialog.getByLabel('Name').fill('CI')
  const url = dialog.getByLabel('URL')
  const refusals = {
    'http://10.0.0.1/': 'The address is not public.',
    'https://ada:secret@example.com/': 'The URL must not have a user name or a password.',
    'ftp://example.com': 'Must be an http or https URL without control characters.',
  }
  for (const [text, reason] of Object.entries(refusals)) {
    await url.fill(text)
    await page.keyboard.press('Enter')
    await dialog.getByText(reason, { exact: true }).waitFor()
    await url.and(page.locator('[aria-invalid=true]:focus')).waitFor()
    expect(await url.inputValue()).toBe(text)
  }
  await url.fill(receiver.url)
  await page.keyboard.press('Enter')
  await dialog.getByRole('alert').getByText('The board has 10 webhooks. Delete one first.').waitFor()
  await dialog.getByRole('alert').and(page.locator(':focus')).waitFor()
  expect(await url.inputValue()).toBe(receiver.url)
  await checkAndClose(page, { ignore: /status of 4(22|09)/ })
})

test('[WEB-212] a failing receiver is shown as retrying, then paused with the reason; it is resumed', async () => {
  receiver.respond = () => 500
  const webhook = await newWebhook()
  const page = await openWebhooks({}, `/${webhook.id}`)
  const dialog = dialogOf(page)
  await dialog.getByText('Events are sent as they happen.').waitFor()
  await newCard('one')
  await dialog.getByText(/The next event failed (once|\d times)\. Later events wait for it\./).waitFor()
  await dialog.getByText(/Next attempt at \d/).waitFor()
  await dialog.getByText('1 event behind').waitFor()
  await env.service.sql.query(
    "update webhooks set failing_since = now() - interval '121 hours', next_attempt_at = now() where id = $1",
    [webhook.id],
  )
  await dialog.getByText('Nothing is sent: the receiver failed for too long.').waitFor()
  await button(page, 'All webhooks').click()
  await rowOf(page, 'CI').getByText('Nothing is sent: the receiver failed for too long.').waitFor()
  await rowOf(page, 'CI').getByRole('link').click()
  receiver.respond = () => 204
  await button(page, 'Resume').click()
  await dialog.getByText('Events are sent as they happen.').waitFor()
  await expect.poll(() => receiver.types.at(-1)).toBe('card.created')
  await button(page, 'Resume').waitFor({ state: 'detached' })

  receiver.respond = () => 410
  await newCard('two')
  await dialog.getByText('Nothing is sent: the receiver answered 410 Gone.').waitFor()
  receiver.respond = () => 204
  await newCard('three')
  await dialog.getByText('2 events behind').waitFor()
  const before = receiver.requests.length
  await button(page, 'Resume from now').click()
  await answer(page, 'Skip 2 events?', 'Cancel')
  await button(page, 'Resume from now').click()
  await answer(page, 'Skip 2 events?', 'Skip and resume')
  await dialog.getByText('Events are sent as they happen.').waitFor()
  await newCard('four')
  await expect.poll(() => receiver.requests.slice(before).map(({ message }) => message.data['title'])).toEqual(['four'])

  await button(page, 'Disable').click()
  await dialog.getByText('Nothing is sent until an owner enables it.').waitFor()
  await button(page, 'Enable').click()
  await dialog.getByText('Events are sent as they happen.').waitFor()
  await expect.poll(() => announcements(page)).toContain('Webhook “CI” is enabled')
  await checkAndClose(page)
})

test('[WEB-213] a test event is sent once however often it is clicked, and its result is shown', async () => {
  const webhook = await newWebhook()
  const released = Promise.withResolvers<number>()
  receiver.respond = () => released.promise
  const page = await openWebhooks({}, `/${webhook.id}`)
  await button(page, 'Send test event').dblclick()
  await button(page, 'Sending…').click({ force: true })
  await expect.poll(() => receiver.types).toEqual(['webhook.test'])
  released.resolve(204)
  await page.getByText(/^The test event was accepted: 204 after \d+ ms\.$/).waitFor()
  await deliveriesOf(page).getByText('webhook.test').waitFor()
  receiver.respond = () => 503
  await button(page, 'Send test event').click()
  await page.getByText(/^The test event was not accepted: 503 after \d+ ms\.$/).waitFor()
  expect(receiver.requests).toHaveLength(2)
  await receiver.close()
  await button(page, 'Send test event').click()
  await page.getByText('The test event failed: The receiver can’t be reached.').waitFor({ timeout: 10_000 })
  await deliveriesOf(page).getByText('Failed: unreachable').waitFor()
  await checkAndClose(page)
})

test('[WEB-214] the secret is shown on request, copied, hidden with the dialog, and stored nowhere', async () => {
  const webhook = await newWebhook()
  const page = await openWebhooks({ permissions: ['clipboard-read', 'clipboard-write'] }, `/${webhook.id}`)
  const dialog = dialogOf(page)
  const field = dialog.getByLabel('Secret', { exact: true }).and(page.locator('input'))
  await button(page, 'Show secret').click()
  await field.and(page.locator(':focus')).waitFor()
  const secret = await field.inputValue()
  expect(secret).toMatch(/^whsec_/)
  await button(page, 'Copy').click()
  await toastOf(page).getByText('Secret copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret)
  await button(page, 'Hide').click()
  await expect.poll(() => focusedText(page)).toBe('Show secret')
  await button(page, 'Show secret').click()
  await field.waitFor()
  await page.keyboard.press('Escape')
  await page.goBack()
  await button(page, 'Show secret').waitFor()
  const kept = await page.evaluate(
    'document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage })',
  )
  expect(kept).not.toContain(secret)

  await button(page, 'Replace secret').click()
  await answer(page, 'Replace the secret of “CI”?', 'Replace secret')
  await dialog.getByText(/^Until .*, the previous secret signs too\.$/).waitFor()
  await button(page, 'Show secret').click()
  expect(await field.inputValue()).not.toBe(secret)
  await checkAndClose(page)
})

test('[WEB-214] after an old login the dialog asks for the password, and shows the secret then', async () => {
  const webhook = await newWebhook()
  const storageState = await oldSession(env.service.baseUrl, board.ada.id)
  const page = await env.openPage(undefined, `${board.path}/webhooks/${webhook.id}`, { storageState })
  const login = page.getByRole('dialog', { name: 'Log in again' })
  await button(page, 'Show secret').click()
  await login.getByLabel('Password', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await login.waitFor({ state: 'detached' })
  await button(page, 'Show secret').click()
  await login.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  const field = dialogOf(page).getByLabel('Secret', { exact: true }).and(page.locator('input'))
  expect(await field.inputValue()).toMatch(/^whsec_/)
  await checkAndClose(page, { ignore: /status of 40[13]/ })
})

test('[WEB-215] deliveries are listed with time, kind, position, result and duration, filtered, and loaded in pages', async () => {
  const webhook = await newWebhook()
  for (let nth = 1; nth <= 23; nth++) await newCard(`Card ${nth}`)
  // The receiver has the last request before it is in the log.
  const logged = 'select from webhook_deliveries where webhook_id = $1'
  await expect.poll(async () => (await env.service.sql.query(logged, [webhook.id])).rowCount).toBe(23)
  const page = await openWebhooks({}, `/${webhook.id}`)
  await expect.poll(() => deliveriesOf(page).count()).toBe(20)
  await expect
    .poll(() => deliveriesOf(page).first().textContent())
    .toMatch(/^\d+:\d\d:\d\d.*card\.createdposition \d+\.25\d+ ms 204$/)
  await button(page, 'Show more').dblclick()
  await expect.poll(() => deliveriesOf(page).count()).toBe(23)
  await button(page, 'Show more').waitFor({ state: 'detached' })
  const shown = await deliveriesOf(page).allTextContents()
  expect(new Set(shown.map((text) => /position (\S+\.\d\d?)/.exec(text)?.[1])).size).toBe(23)

  await dialogOf(page).getByLabel('Only failed').check()
  await dialogOf(page).getByText('No failed deliveries.').waitFor()
  receiver.respond = () => 500
  await newCard('fails')
  // It may be tried again before this sees the first attempt.
  await deliveriesOf(page).getByText('Failed: 500').first().waitFor()
  await dialogOf(page).getByLabel('Only failed').uncheck()
  // The response of a receiver is text, whatever it contains.
  await env.service.sql.query('update webhook_deliveries set response = $1 where not is_accepted', [
    '<img src=x onerror="alert(1)">',
  ])
  await page.reload()
  await expect.poll(() => deliveriesOf(page).count()).toBe(20)
  await deliveriesOf(page).first().getByText('Response').click()
  await deliveriesOf(page).first().getByText('<img src=x onerror="alert(1)">').waitFor()
  await checkAndClose(page)
})

test('[WEB-216] a webhook has its own address: reload and Back work; it is deleted after a question', async () => {
  const webhook = await newWebhook()
  const other = await newWebhook({ name: 'Other' })
  const page = await env.openPage(board.ada, board.path)
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Webhooks' }).click()
  await rowOf(page, 'CI').getByRole('link').click()
  await page.waitForURL(`**/webhooks/${webhook.id}`)
  await page.reload()
  await dialogOf(page).getByRole('heading', { name: 'CI' }).waitFor()
  await page.goBack()
  await rowOf(page, 'Other').waitFor()
  await page.goBack()
  await dialogOf(page).waitFor({ state: 'detached' })
  await page.goForward()
  await button(page, 'New webhook').dblclick()
  await dialogOf(page).getByRole('heading', { name: 'New webhook' }).waitFor()
  await button(page, 'Cancel').click()
  await expect.poll(() => focusedText(page)).toBe('New webhook')

  await rowOf(page, 'CI').getByRole('link').click()
  await button(page, 'Delete').click()
  await answer(page, 'Delete webhook “CI”?', 'Cancel')
  await button(page, 'Delete').click()
  await answer(page, 'Delete webhook “CI”?', 'Delete webhook')
  await rowOf(page, 'Other').waitFor()
  expect(await list()).toMatchObject([{ name: 'Other' }])
  await expect.poll(() => focusedText(page)).toBe('New webhook')
  await rowOf(page, 'Other').getByRole('link').click()
  // Its deliveries are loaded: a request for those of a deleted webhook would be logged as an error.
  await dialogOf(page).getByText('Nothing was sent yet.').waitFor()
  await board.ada.api.call('deleteWebhook', { params: { ...here(), webhook_id: other.id } })
  await dialogOf(page).getByText('This webhook was deleted.').waitFor()
  await checkAndClose(page)
})

const long = 'A_name_without_any_place_where_a_line_could_end_however_narrow_the_screen_is'
test.each([
  ['on a phone', 44, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: 'light' }],
  ['at 320 pixels, in dark', 24, { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }],
  ['with forced colours', 24, { forcedColors: 'active' }],
] as const)(
  '[WEB-74] [WEB-75] [WEB-210] list, webhook and form have no layout problem and pass axe: %s',
  async (_, size, options) => {
    receiver.respond = () => 500
    await newWebhook({ name: long, url: `${receiver.url}?${long}`, kinds: ['card.created', 'comment.created'] })
    await newCard('one')
    const page = await openWebhooks(options)
    const check = async (name: string) => {
      for (const dir of ['ltr', 'rtl']) {
        await page.evaluate(`document.dir = '${dir}'`)
        expect(await findLayoutProblems(page, size), `${name} ${dir}`).toEqual([])
      }
      await page.evaluate(`document.dir = 'ltr'`)
      expect(await auditAccessibility(page), name).toEqual([])
    }
    await rowOf(page, long).getByText('Retrying').waitFor()
    await check('list')
    await rowOf(page, long).getByRole('link').click()
    await deliveriesOf(page).first().waitFor()
    await button(page, 'Show secret').click()
    await button(page, 'Send test event').click()
    await page.getByText('The test event was not accepted', { exact: false }).waitFor()
    await check('webhook')
    await button(page, 'Edit').click()
    await button(page, '1 of 8 Cards').waitFor()
    await check('form')
    await checkAndClose(page)
  },
)

test('[WEB-217] the state is refreshed while the page is visible and online, and only then', async () => {
  await newWebhook()
  const page = await openWebhooks()
  await rowOf(page, 'CI').getByText('Active').waitFor()
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/webhooks')) asked.push(request.url())
  })
  await expect.poll(() => asked.length, { timeout: 8_000 }).toBe(1)
  const setVisibility = (state: string) =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
  await setVisibility('hidden')
  await page.waitForTimeout(6_000)
  expect(asked).toHaveLength(1)
  await setVisibility('visible')
  await expect.poll(() => asked.length).toBe(2)

  await page.context().setOffline(true)
  await dialogOf(page).getByText('Offline. This is the last known state.').waitFor()
  const before = asked.length
  await rowOf(page, 'CI').getByRole('link').click()
  await button(page, 'Send test event').click()
  await dialogOf(page).getByText('Can’t reach the server.', { exact: false }).first().waitFor()
  await page.waitForTimeout(5_500)
  expect(asked).toHaveLength(before)
  await page.context().setOffline(false)
  await expect.poll(() => asked.length, { timeout: 10_000 }).toBeGreaterThan(before)
  await dialogOf(page).getByText('Offline. This is the last known state.').waitFor({ state: 'detached' })
  expect(receiver.requests).toEqual([])
  await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED|WebSocket/ })
})

test('[WEB-218] where webhooks are off, the dialog says what the operator must do', async () => {
  const off = await openEnvironment({ ENCRYPTION_KEY: '' })
  try {
    const { ada, path } = await off.createBoard({ 'To do': [] })
    const page = await off.openPage(ada, `${path}/webhooks`)
    await dialogOf(page).getByText('its operator sets ENCRYPTION_KEY', { exact: false }).waitFor()
    expect(await button(page, 'New webhook').count()).toBe(0)
    await checkAndClose(page, { ignore: /status of 403/ })
  } finally {
    await off.close()
  }
})

test('[WEB-219] on an archived board webhooks, deliveries and the secret are read, and nothing is changed', async () => {
  const webhook = await newWebhook()
  await newCard('one')
  await expect.poll(() => receiver.requests.length).toBe(1)
  await board.ada.api.call('archiveBoard', { params: here() })
  const page = await openWebhooks()
  await dialogOf(page).getByText('This board is archived.', { exact: false }).waitFor()
  await rowOf(page, 'CI').getByRole('link').click()
  await deliveriesOf(page).getByText('card.created').waitFor()
  await button(page, 'Show secret').click()
  await button(page, 'Copy').waitFor()
  for (const name of ['Edit', 'Disable', 'Delete', 'Send test event', 'Replace secret'])
    expect(await button(page, name).count(), name).toBe(0)
  await page.goto(`${env.service.baseUrl}/app${board.path}/webhooks`)
  await rowOf(page, webhook.name).waitFor()
  expect(await button(page, 'New webhook').count()).toBe(0)
  await checkAndClose(page)
})

test('[WEB-220] the board tells its owners that webhooks are paused, until they are resumed; members see nothing', async () => {
  receiver.respond = () => 410
  const webhook = await newWebhook()
  await newCard('one')
  const noticeOf = (page: Page) => page.getByRole('region', { name: 'Webhooks' })
  const page = await env.openPage(board.ada, board.path)
  const notice = noticeOf(page).getByText('The webhook “CI” is paused: it sends nothing.')
  await notice.waitFor()
  await expect.poll(() => announcements(page)).toContain('The webhook “CI” is paused: it sends nothing.')
  expect(await auditAccessibility(page)).toEqual([])
  const asked: string[] = []
  const member = await env.openPage(board.grace, board.path)
  member.on('request', (request) => asked.push(request.url()))
  await member.reload()
  await member.getByText('one').waitFor()

  await noticeOf(page).getByRole('button', { name: 'Show webhook' }).click()
  await dialogOf(page).getByText('Nothing is sent: the receiver answered 410 Gone.').waitFor()
  receiver.respond = () => 204
  await button(page, 'Resume').click()
  await dialogOf(page).getByText('Events are sent as they happen.').waitFor()
  await page.keyboard.press('Escape')
  await noticeOf(page).waitFor({ state: 'detached' })
  await checkAndClose(page)

  for (const other of [webhook, await newWebhook({ name: 'Other' })])
    await env.service.sql.query(`update webhooks set paused_reason = 'failing' where id = $1`, [other.id])
  const again = await env.openPage(board.ada, board.path)
  await noticeOf(again).getByText('2 webhooks are paused: they send nothing.').waitFor()
  await noticeOf(again).getByRole('button', { name: 'Show webhooks' }).click()
  await rowOf(again, 'Other').waitFor()
  await checkAndClose(again)
  expect(await noticeOf(member).count()).toBe(0)
  expect(asked.filter((url) => url.includes('/webhooks'))).toEqual([])
  await checkAndClose(member)
})

// @module-tag journey
import type { TestUser } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { openScreen, screens } from './screens.ts'

let env: TestEnvironment
let ids: { board: string; card: string }
let inside: Page
let outside: Page
beforeAll(async () => {
  env = await openEnvironment({ WEBHOOK_WORKERS: '1' })
  // Everything that users type is digits and Cyrillic, so that other letters come from the client.
  const [ada, grace] = [await env.service.user('1001'), await env.service.user('1002')]
  const { api } = ada
  const board = await api.call('createBoard', { body: { title: 'Доска', description: 'Всё о ней' } })
  const params = { board_id: board.id }
  await api.call('inviteMember', { params, body: { user_id: grace.id } })
  const column = await api.call('createColumn', { params, body: { title: 'Начало' } })
  const done = await api.call('createColumn', { params, body: { title: 'Конец', is_done_column: true } })
  const place = { ...params, column_id: column.id }
  const card = await api.call('createCard', { params: place, body: { title: 'Дело', description: '- [ ] раз\n' } })
  await api.call('createCard', { params: place, body: { title: '2' } })
  const of = { card_id: card.id }
  const label = await api.call('createLabel', { params, body: { name: 'важно', color: '#d33a2c' } })
  await api.call('addCardLabel', { params: { ...of, label_id: label.id } })
  await api.call('assignCard', { params: of, body: { user_ids: [ada.id, grace.id] } })
  const list = await api.call('createChecklist', { params: of, body: { title: 'Шаги' } })
  const item = await api.call('createItem', { params: { checklist_id: list.id }, body: { content: 'раз' } })
  await api.call('assignItem', { params: { item_id: item.id }, body: { user_ids: [ada.id] } })
  await api.call('createAttachment', {
    params: of,
    body: { file: new File(['текст'], 'файл', { type: 'text/plain' }) },
  })
  const old = await api.call('createCard', { params: place, body: { title: '3' } })
  await api.call('deleteCard', { params: { card_id: old.id } })
  const oldColumn = await api.call('createColumn', { params, body: { title: '4' } })
  await api.call('archiveColumn', { params: { column_id: oldColumn.id } })
  await api.call('createRule', {
    params,
    body: {
      name: 'Правило',
      trigger_type: 'CARD_MOVED',
      trigger_column_id: done.id,
      action_type: 'ASSIGN_MEMBER',
      action_user_id: grace.id,
    },
  })
  await api.call('moveCard', { params: of, body: { column_id: done.id } })
  await api.call('moveCard', { params: of, body: { column_id: column.id, position: 0 } })
  // Nothing listens there: it is shown as retrying.
  await api.call('createWebhook', {
    params,
    body: { name: '5', url: 'http://127.0.0.1:9999/', kinds: ['card.created'] },
  })
  await api.call('createCard', { params: place, body: { title: '6' } })
  ids = { board: board.id, card: card.id }

  const open = async (user: TestUser | undefined, path: string) => {
    // Dates are in the language of the browser, which has no Latin letters here.
    const page = await env.openPage(user, path, { locale: 'ru-RU' })
    await page.evaluate(`localStorage.setItem('lockstep/language', 'en-XA')`)
    return page
  }
  inside = await open(ada, '/boards')
  outside = await open(undefined, '/login')
})
afterAll(() => env.close())

/**
 * Runs in the page: visible texts, names, tooltips and placeholders with letters outside the double brackets of the
 * pseudo-language. Single letters are the symbols of a toolbar. Identifiers of the API (`code`) and URLs are not translated.
 */
const UNTRANSLATED = `(() => {
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true })
  const outsideOf = (text) => {
    for (let rest = text; ; ) {
      const next = rest.replace(/⟦[^⟦⟧]*⟧/g, '')
      if (next === rest) return rest
      rest = next
    }
  }
  const isUntranslated = (text) => text !== null && /[A-Za-z]{2}/.test(outsideOf(text).replace(/https?:\\S+/g, ''))
  const found = []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode
    const isText = isVisible(parentElement) && !parentElement.closest('code, kbd, script, style')
    if (isText && isUntranslated(data)) found.push(data)
  }
  const attributes =
    ['aria-label', 'aria-description', 'aria-roledescription', 'aria-valuetext', 'title', 'placeholder', 'alt']
  for (const element of document.body.querySelectorAll('*'))
    for (const name of attributes)
      if (isVisible(element) && isUntranslated(element.getAttribute(name)))
        found.push(name + '="' + element.getAttribute(name) + '"')
  return [...new Set(found)]
})()`
const untranslated = (page: Page) => page.evaluate(UNTRANSLATED) as Promise<string[]>
const openAt = (page: Page, path: string, ready: string) =>
  openScreen(page, env.service.baseUrl, { name: path, path, ready }, ids)

test('[WEB-135] in the pseudo-language every text of every screen is in double brackets', async () => {
  const found: Record<string, string[]> = {}
  for (const screen of [...screens, { name: 'board not found', path: '/b/1', ready: '.state-page' }]) {
    const page = 'isPublic' in screen ? outside : inside
    await openScreen(page, env.service.baseUrl, screen, ids)
    await page.getByText('⟦').first().waitFor()
    const texts = await untranslated(page)
    if (texts.length > 0) found[screen.name] = texts
  }
  expect(found).toEqual({})
})

const onBoard = '/b/{board}'
const onCard = '/b/{board}/c/{card}'
const onWebhooks = '/b/{board}/webhooks'
const onRemoved = '/b/{board}/removed'
/** What opens on a screen, by selectors, because the names are translated. */
const states: [name: string, path: string, act: (page: Page) => Promise<unknown>][] = [
  ['card menu', onBoard, (page) => page.locator('.card-more').first().click()],
  ['column menu', onBoard, (page) => page.locator('.column-head button').first().click()],
  ['board menu', onBoard, (page) => page.locator('.board-head > [aria-haspopup=menu]').first().click()],
  ['account menu', onBoard, (page) => page.locator('.account-button').click()],
  ['filter menu', onBoard, (page) => page.locator('.filter-bar [aria-haspopup=menu]').click()],
  ['label picker', onBoard, (page) => press(page, 'l')],
  ['label manager', onBoard, (page) => press(page, 'l').then(() => page.locator('.label-manage').click())],
  ['assignee picker', onBoard, (page) => press(page, 'a')],
  [
    'question',
    onCard,
    async (page) => {
      await page.locator('.cd-file > .icon-button').last().click()
      await page.getByRole('alertdialog').waitFor()
    },
  ],
  ['removed things', onRemoved, (page) => page.locator('.removed-row').first().waitFor()],
  ['removed card', onRemoved, (page) => openRow(page, '3')],
  ['removed column', onRemoved, (page) => openRow(page, '4')],
  ['description editor', onCard, (page) => page.locator('.cd-section-head button').first().click()],
  [
    'webhook',
    onWebhooks,
    async (page) => {
      await page.locator('.webhook-name').click()
      await page.locator('.deliveries li').first().waitFor()
    },
  ],
  [
    'webhook form',
    `${onWebhooks}/new`,
    async (page) => {
      await page.locator('.webhook-kinds [type=radio]').last().check()
      await page.locator('.webhook-kinds [aria-expanded]').first().click()
      await page.locator('.webhook-form [type=submit]').click()
    },
  ],
  ['rule form', '/b/{board}/automations', (page) => page.locator('.automations-add').click()],
]
async function openRow(page: Page, title: string) {
  await page.getByRole('link', { name: title, exact: true }).click()
  await page.locator('.cd-bar').waitFor()
}
async function press(page: Page, key: string) {
  await page.locator('.card-title').first().focus()
  await page.keyboard.press(key)
}

test('[WEB-135] the same for menus, pickers, questions, editors and toasts', async () => {
  const found: Record<string, string[]> = {}
  const look = async (name: string) => {
    const texts = await untranslated(inside)
    if (texts.length > 0) found[name] = texts
  }
  for (const [name, path, act] of states) {
    await openAt(inside, path, path === onBoard ? '.card-title' : '.layer .dialog-body')
    await act(inside)
    await inside.locator('.layer').first().waitFor()
    await look(name)
  }
  await openAt(inside, onBoard, '.card-title')
  await inside.locator('.card-title').nth(1).focus()
  await inside.keyboard.press('Delete')
  await inside.locator('.toast').waitFor()
  await look('toast')
  expect(found).toEqual({})
})

test.each([
  ['de-DE', /^\p{L}+, \d{1,2}\. \p{L}+ \d{4} um \d\d:\d\d:\d\d$/u],
  ['en-US', /^\p{L}+, \p{L}+ \d{1,2}, \d{4} at \d{1,2}:\d\d:\d\d\s[AP]M$/u],
])('[WEB-136] dates are in the language of the browser: %s', async (locale, pattern) => {
  const user = await env.service.user()
  const { id } = await user.api.call('createBoard', { body: { title: '1' } })
  await user.api.call('createColumn', { params: { board_id: id }, body: { title: '1' } })
  const page = await env.openPage(user, `/b/${id}/activity`, { locale })
  expect(await page.locator('.layer time').first().getAttribute('title')).toMatch(pattern)
  await page.context().close()
})

// @module-tag journey
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { announcements, checkAndClose } from './page-checks.ts'
import { openScreen, screens } from './screens.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

/** The accessibility tree without URLs, which change between runs. */
const tree = async (page: Page, part: string) =>
  (await page.locator(part).ariaSnapshot()).split('\n').filter((line) => !line.includes('/url:'))

test('[WEB-72] the accessibility tree of a board has columns with card counts, headings and lists of cards', async () => {
  const board = await env.createBoard({ 'To do': ['Write', 'Paint'], Doing: ['Sew'], Done: [] })
  const { api } = board.ada
  const label = await api.call('createLabel', {
    params: { board_id: board.id },
    body: { name: 'bug', color: '#d33a2c' },
  })
  await api.call('addCardLabel', { params: { card_id: board.cards['Write'] ?? '', label_id: label.id } })
  await api.call('assignCard', { params: { card_id: board.cards['Sew'] ?? '' }, body: { user_ids: [board.grace.id] } })
  const page = await env.openPage(board.ada, board.path)
  await cardOf(page, 'Write').waitFor()
  expect((await tree(page, 'main')).map((line) => line.replace(/: U\w$/, ''))).toEqual(
    `- main "Board Plan":
  - region "To do, 2 cards":
    - heading "To do" [level=2]
    - button "Actions for To do"
    - list:
      - listitem:
        - link "Write":
        - text: "bug #1"
        - button "Actions for Write"
      - listitem:
        - link "Paint":
        - text: "#2"
        - button "Actions for Paint"
    - button "Add card"
  - region "Doing, 1 card":
    - heading "Doing" [level=2]
    - button "Actions for Doing"
    - list:
      - listitem:
        - link "Sew":
        - text: "#3"
        - 'group "Assigned: ${board.grace.username}"':
          - img "${board.grace.username}"
        - button "Actions for Sew"
    - button "Add card"
  - region "Done, 0 cards":
    - heading "Done" [level=2]
    - button "Actions for Done"
    - list
    - paragraph: No cards yet
    - button "Add card"
  - button "Add column"`.split('\n'),
  )
  // The connection status is text, not only a colour.
  expect(await tree(page, 'header')).toContain('  - text: Live')
  // Each card has its position among all cards of the column.
  const positions = await page.evaluate(
    `[...document.querySelectorAll('.column li')].map((row) => row.ariaPosInSet + ' of ' + row.ariaSetSize)`,
  )
  expect(positions).toEqual(['1 of 2', '2 of 2', '1 of 1'])
  await checkAndClose(page)
})

test('[WEB-72] every screen has one h1 and skips no heading level', async () => {
  const board = await env.createBoard({ 'To do': ['Write'], Done: [] })
  const ids = { board: board.id, card: board.cards['Write'] ?? '' }
  const inside = await env.openPage(board.ada, '/boards')
  const outside = await env.openPage(undefined, '/login')
  for (const screen of screens) {
    const page = screen.isPublic ? outside : inside
    await openScreen(page, env.service.baseUrl, screen, ids)
    const levels = (await page.evaluate(
      `[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((each) => Number(each.tagName[1]))`,
    )) as number[]
    const skipped = levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1)
    expect({ at: screen.name, first: levels[0], ones: levels.filter((level) => level === 1).length, skipped }).toEqual({
      at: screen.name,
      first: 1,
      ones: 1,
      skipped: [],
    })
  }
  await checkAndClose(inside)
  await checkAndClose(outside)
})

test('[WEB-73] own actions are announced at once, changes by others at most every five seconds, and none is lost', async () => {
  const board = await env.createBoard({ 'To do': ['Write', 'Paint'], Done: [] })
  const { grace, columns, cards } = board
  const page = await env.openPage(board.ada, board.path)
  const heard: { text: string; at: number }[] = []
  const listen = setInterval(() => {
    for (const text of announcements(page).slice(heard.length)) heard.push({ text, at: Date.now() })
  }, 20)
  const waitForAnnouncement = (text: string | RegExp) =>
    expect
      .poll(() => heard.map((each) => each.text), { timeout: 15_000 })
      .toContainEqual(typeof text === 'string' ? text : expect.stringMatching(text))
  await page.keyboard.press('n')
  await page.getByLabel('Card title').fill('Read')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await waitForAnnouncement('Created “Read”')
  await page.keyboard.press('Shift+ArrowRight')
  await waitForAnnouncement('Moved “Read” from To do to Done, position 1 of 1')

  const moveAs = (title: string, position: number) =>
    grace.api.call('moveCard', {
      params: { card_id: cards[title] ?? '' },
      body: { column_id: columns['To do'] ?? '', position },
    })
  await moveAs('Write', 1)
  await moveAs('Write', 0)
  await moveAs('Paint', 0)
  await waitForAnnouncement(`${grace.username} moved “Write”. And 2 more changes.`)
  await moveAs('Paint', 1)
  await waitForAnnouncement(`${grace.username} moved “Paint”.`)
  const others = heard.filter(({ text }) => text.startsWith(grace.username))
  expect(others).toHaveLength(2)
  expect((others[1]?.at ?? 0) - (others[0]?.at ?? 0)).toBeGreaterThan(4_900)
  clearInterval(listen)
  await env.waitForSync(board, page)
  await checkAndClose(page)
})

test('[WEB-73] a lost and a restored connection are announced', async () => {
  const board = await env.createBoard({ 'To do': ['Write'] })
  const page = await env.openPage(board.ada, board.path)
  await cardOf(page, 'Write').waitFor()
  await page.context().setOffline(true)
  await page.getByText('Offline.').first().waitFor()
  await cardOf(page, 'Write').locator('.card-title').focus()
  await page.keyboard.press('Space')
  await expect.poll(() => announcements(page).at(-1)).toMatch(/^Offline\. Your change is saved and will be sent/)
  await page.context().setOffline(false)
  await expect
    .poll(() => announcements(page).at(-1), { timeout: 20_000 })
    .toMatch(/^Back online\. Everything is synced: 1 change sent/)
  await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED/ })
})

test('[WEB-73] a rejected change is announced with its reason, also while a dialog is open', async () => {
  const board = await env.createBoard({ 'To do': ['Write', 'Paint'], Done: [] })
  const page = await env.openPage(board.ada, board.path)
  await page.route('**/cards/*', async (route) => {
    const rejection = { detail: 'This title is not allowed.', code: 'invalid_input' }
    if (route.request().method() === 'PATCH') await route.fulfill({ status: 422, json: rejection })
    else await route.fallback()
  })
  const rename = async (title: string) => {
    await cardOf(page, title).locator('.card-title').focus()
    await page.keyboard.press('e')
    await page.getByRole('textbox', { name: 'Title' }).fill('Another')
    await page.keyboard.press('Enter')
  }
  await rename('Write')
  const alert = page.getByRole('alert', { name: 'One change couldn’t be saved' })
  await alert.getByText('This title is not allowed.').waitFor()
  await alert.getByRole('button', { name: 'Dismiss' }).click()
  await alert.waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate('document.activeElement !== document.body')).toBe(true)

  await cardOf(page, 'Write').locator('.card-title').focus()
  await page.keyboard.press('Enter')
  await page.locator('.layer .cd-title').click()
  await page.getByRole('textbox', { name: 'Title' }).fill('Another')
  await page.keyboard.press('Enter')
  await expect.poll(() => announcements(page)).toContain('Couldn’t rename a card. This title is not allowed.')
  await pause(100)
  await checkAndClose(page, { ignore: /status of 422/ })
})

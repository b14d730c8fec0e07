import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf } from './board-hands.ts'
import { finish, liveRegion } from './pages.ts'
import { goTo, places } from './places.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

/** The accessibility tree without what changes from run to run. */
const tree = async (page: Page, part: string) =>
  (await page.locator(part).ariaSnapshot()).split('\n').filter((line) => !line.includes('/url:'))

test('[WEB-72] a board is read as lanes with their numbers, each with a heading and a list of its cards', async () => {
  const board = await stage.board({ 'To do': ['Write', 'Paint'], Doing: ['Sew'], Done: [] })
  const { api } = board.ada
  const label = await api.call('createLabel', {
    params: { board_id: board.id },
    body: { name: 'bug', color: '#d33a2c' },
  })
  await api.call('addCardLabel', { params: { card_id: board.cards['Write'] ?? '', label_id: label.id } })
  await api.call('assignCard', { params: { card_id: board.cards['Sew'] ?? '' }, body: { user_ids: [board.grace.id] } })
  const page = await stage.enter(board.ada, board.path)
  await cardOf(page, 'Write').waitFor()
  expect((await tree(page, 'main')).map((line) => line.replace(/: U\w$/, ''))).toEqual(
    `- main "Board Plan":
  - region "To do, 2 cards":
    - heading "To do" [level=2]
    - button "Actions for To do"
    - list:
      - listitem:
        - text: bug
        - link "Write":
        - button "Actions for Write"
      - listitem:
        - link "Paint":
        - button "Actions for Paint"
    - button "Add a card"
  - region "Doing, 1 card":
    - heading "Doing" [level=2]
    - button "Actions for Doing"
    - list:
      - listitem:
        - link "Sew":
        - 'group "Assigned: ${board.grace.username}"':
          - img "${board.grace.username}"
        - button "Actions for Sew"
    - button "Add a card"
  - region "Done, 0 cards":
    - heading "Done" [level=2]
    - button "Actions for Done"
    - list
    - paragraph: No cards yet.
    - button "Add a card"
  - button "Add a lane"`.split('\n'),
  )
  // What is shown by a colour is also a word.
  expect(await tree(page, 'header')).toContain('  - text: Live')
  // Each card says its place among all of its lane, also of those that are not drawn.
  const places_told = await page.evaluate(
    `[...document.querySelectorAll('.lane li')].map((row) => row.ariaPosInSet + ' of ' + row.ariaSetSize)`,
  )
  expect(places_told).toEqual(['1 of 2', '2 of 2', '1 of 1'])
  await finish(page)
})

test('[WEB-72] every screen has one main heading, and none below it leaves out a level', async () => {
  const board = await stage.board({ 'To do': ['Write'], Done: [] })
  const ids = { board: board.id, card: board.cards['Write'] ?? '' }
  const inside = await stage.enter(board.ada, '/boards')
  const outside = await stage.enter(undefined, '/login')
  for (const place of places) {
    const page = place.is_outside ? outside : inside
    await goTo(page, stage.service.base_url, place, ids)
    const levels = (await page.evaluate(
      `[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((each) => Number(each.tagName[1]))`,
    )) as number[]
    const leaps = levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1)
    expect({ at: place.name, first: levels[0], ones: levels.filter((level) => level === 1).length, leaps }).toEqual({
      at: place.name,
      first: 1,
      ones: 1,
      leaps: [],
    })
  }
  await finish(inside)
  await finish(outside, { but: /status of 401 .*\/auth\/me/ })
}, 60_000)

test('[WEB-73] what one does oneself is told at once, what others do at most every five seconds, and it is never lost', async () => {
  const board = await stage.board({ 'To do': ['Write', 'Paint'], Done: [] })
  const { grace, lanes, cards } = board
  const page = await stage.enter(board.ada, board.path)
  const told: { text: string; at: number }[] = []
  const listen = setInterval(() => {
    for (const text of liveRegion(page).slice(told.length)) told.push({ text, at: Date.now() })
  }, 20)
  const hear = (text: string | RegExp) =>
    expect
      .poll(() => told.map((each) => each.text), { timeout: 15_000 })
      .toContainEqual(typeof text === 'string' ? text : expect.stringMatching(text))
  await page.keyboard.press('n')
  await page.getByLabel('Title of the new card').fill('Read')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await hear('“Read” created.')
  await page.keyboard.press('Shift+ArrowRight')
  await hear('“Read” moved from To do to Done, position 1 of 1.')

  const moveAs = (title: string, position: number) =>
    grace.api.call('moveCard', {
      params: { card_id: cards[title] ?? '' },
      body: { column_id: lanes['To do'] ?? '', position },
    })
  await moveAs('Write', 1)
  await moveAs('Write', 0)
  await moveAs('Paint', 0)
  await hear(`${grace.username} moved “Write”. And 2 more changes.`)
  await moveAs('Paint', 1)
  await hear(`${grace.username} moved “Paint”.`)
  const others = told.filter(({ text }) => text.startsWith(grace.username))
  expect(others).toHaveLength(2)
  expect((others[1]?.at ?? 0) - (others[0]?.at ?? 0)).toBeGreaterThan(4_900)
  clearInterval(listen)
  await stage.agreed(board, page)
  await finish(page)
}, 40_000)

test('[WEB-73] the loss of the connection is told, and its return', async () => {
  const board = await stage.board({ 'To do': ['Write'] })
  const page = await stage.enter(board.ada, board.path)
  await cardOf(page, 'Write').waitFor()
  await page.context().setOffline(true)
  await page.getByText('Offline.').first().waitFor()
  await cardOf(page, 'Write').locator('.card-title').focus()
  await page.keyboard.press('Space')
  await expect.poll(() => liveRegion(page).at(-1)).toMatch(/^Offline\. Your change is kept here and will be sent/)
  await page.context().setOffline(false)
  await expect.poll(() => liveRegion(page).at(-1), { timeout: 20_000 }).toMatch(/^Back online\. 1 sent/)
  await finish(page, { but: /ERR_INTERNET_DISCONNECTED/ })
}, 40_000)

test('[WEB-73] a change that is refused is told with its reason, also to those who have a dialog open', async () => {
  const board = await stage.board({ 'To do': ['Write', 'Paint'], Done: [] })
  const page = await stage.enter(board.ada, board.path)
  await page.route('**/cards/*', async (route) => {
    const refusal = { detail: 'This title is not to be had.', code: 'invalid_input' }
    if (route.request().method() === 'PATCH') await route.fulfill({ status: 422, json: refusal })
    else await route.fallback()
  })
  const rename = async (title: string) => {
    await cardOf(page, title).locator('.card-title').focus()
    await page.keyboard.press('e')
    await page.getByRole('textbox', { name: 'Title' }).fill('Another')
    await page.keyboard.press('Enter')
  }
  await rename('Write')
  const alert = page.getByRole('alert', { name: 'One change could not be made' })
  await alert.getByText('This title is not to be had.').waitFor()
  await alert.getByRole('button', { name: 'Dismiss' }).click()
  await alert.waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate('document.activeElement !== document.body')).toBe(true)

  await cardOf(page, 'Write').locator('.card-title').focus()
  await page.keyboard.press('Enter')
  await page.locator('dialog .cd-title').click()
  await page.getByRole('textbox', { name: 'Title' }).fill('Another')
  await page.keyboard.press('Enter')
  await expect.poll(() => liveRegion(page)).toContain('Changing a card did not work. This title is not to be had.')
  await pause(100)
  await finish(page, { but: /status of 422/ })
})

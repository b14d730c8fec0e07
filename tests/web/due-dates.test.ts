// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addDays, type Day, daysBetween, localDay, weekdayOf } from '../../packages/client/src/days/index.ts'
import { cardOf, focusedCard, shownOrder } from './board-page-object.ts'
import { openCard, storedCard } from './card-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { dialogs, toastOf } from './layers.ts'
import { animationsEnd, announcements, auditAccessibility, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const british = { locale: 'en-GB' }
const phone = { ...british, viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

const chipOf = (page: Page, title: string) => cardOf(page, title).locator('.due > span[aria-hidden]')
const chipText = (page: Page, title: string) => async () => (await chipOf(page, title).allTextContents()).join()
const picker = (page: Page) => page.locator('.due-picker')
const field = (page: Page) => picker(page).getByRole('textbox', { name: 'Due date' })
const storedDay = (board: TestBoard, title: string) => async () => (await storedCard(board, title)).due_on
const setDue = ({ ada, cards }: TestBoard, title: string, due_on: Day) =>
  ada.api.call('updateCard', { params: { card_id: cards[title] ?? '' }, body: { due_on } })
const longName = (day: Day) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(Date.parse(day))
/** The focused day of the calendar. */
const focusedDay = (page: Page) => page.evaluate('document.activeElement.dataset.day ?? null')

/** Opens the picker of the focused card, or of the open one. */
async function openPicker(page: Page) {
  await page.keyboard.press('d')
  await field(page).and(page.locator(':focus')).waitFor()
}

test('[WEB-155] [WEB-154] a due date is set, moved and cleared with keys, and the other user sees it', {
  tags: ['smoke'],
}, async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Done: [] })
  const page = await env.openPage(board.ada, board.path, british)
  const other = await env.openPage(board.grace, board.path, british)
  const today = localDay(new Date())
  const friday = addDays(today, ((5 - weekdayOf(today) + 6) % 7) + 1)
  const card = cardOf(page, 'one').locator('.card-title')
  await card.focus()
  await openPicker(page)
  await page.keyboard.type('fri')
  await picker(page).getByText(longName(friday), { exact: true }).waitFor()
  expect(await auditAccessibility(page)).toEqual([])
  await page.keyboard.press('Enter')
  await expect.poll(storedDay(board, 'one')).toBe(friday)
  await expect.poll(() => focusedCard(page)).toBe('one')
  const days = daysBetween(today, friday)
  const text = days === 1 ? 'Tomorrow' : days === 7 ? /^\d+ \w+$/ : 'Fri'
  for (const each of [page, other]) await expect.poll(chipText(each, 'one')).toMatch(text)
  await expect.poll(() => announcements(page)).toContain(`“one” is due ${longName(friday)}`)

  await openPicker(page)
  await page.keyboard.type('+3x')
  await picker(page).getByText('Not a date').waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('d')
  await page.keyboard.press('Enter')
  await expect.poll(storedDay(board, 'one')).toBe(addDays(today, 3))

  // From the field into the calendar: one day on, one week on, and back to the start of that week.
  await openPicker(page)
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => focusedDay(page)).toBe(addDays(today, 3))
  for (const key of ['ArrowRight', 'ArrowDown', 'Home']) await page.keyboard.press(key)
  const moved = addDays(today, 11)
  const monday = addDays(moved, -((weekdayOf(moved) + 6) % 7))
  expect(await focusedDay(page)).toBe(monday)
  await page.keyboard.press('Escape')
  await picker(page).waitFor({ state: 'detached' })
  await expect.poll(() => focusedCard(page)).toBe('one')
  expect(await storedDay(board, 'one')()).toBe(addDays(today, 3))
  await openPicker(page)
  for (const key of ['ArrowDown', 'PageDown', 'PageUp', 'End', 'Enter']) await page.keyboard.press(key)
  const sunday = addDays(today, 3 + ((7 - weekdayOf(addDays(today, 3))) % 7))
  await expect.poll(storedDay(board, 'one')).toBe(sunday)

  await openPicker(page)
  await page.keyboard.type('none')
  await page.keyboard.press('Enter')
  for (const each of [page, other]) await expect.poll(() => chipOf(each, 'one').count()).toBe(0)
  expect(await storedDay(board, 'one')()).toBeNull()
  await page.keyboard.press('Control+z')
  await expect.poll(storedDay(board, 'one')).toBe(sunday)
  await expect.poll(() => toastOf(page).textContent()).toContain('Undid: due date change of “one”')
  await checkAndClose(page)
  await checkAndClose(other)
})

test('[WEB-155] a due date is picked and cleared with the mouse in the open card', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const page = await env.openPage(board.ada, board.path, { ...british, colorScheme: 'dark' })
  const dialog = await openCard(page, 'one')
  const row = dialog.getByRole('button', { name: /^Due date/ })
  await row.click()
  await picker(page).getByRole('button', { name: 'Next month' }).click()
  const grid = picker(page).getByRole('grid')
  const first = grid.getByRole('gridcell').getByText('15', { exact: true })
  const day = (await first.getAttribute('data-day')) ?? ''
  expect(day.slice(0, 7)).not.toBe(localDay(new Date()).slice(0, 7))
  expect(await auditAccessibility(page)).toEqual([])
  await first.click()
  await expect.poll(storedDay(board, 'one')).toBe(day)
  await row.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('d')
  await grid.getByRole('gridcell', { selected: true }).getByText('15', { exact: true }).waitFor()
  await picker(page).getByRole('button', { name: 'Clear' }).click()
  await expect.poll(storedDay(board, 'one')).toBeNull()
  await row.getByText('None').waitFor()
  // Enter sets the day and closes the picker. It does not press the button that gets the focus.
  await page.keyboard.press('d')
  await field(page).fill('tomorrow')
  await page.keyboard.press('Enter')
  await row.getByText('Tomorrow').waitFor()
  await row.and(page.locator(':focus')).waitFor()
  expect(await picker(page).count()).toBe(0)
  // Buttons for the days that are chosen most.
  const today = localDay(new Date())
  const monday = addDays(today, ((1 - weekdayOf(today) + 6) % 7) + 1)
  for (const [name, day] of [['Today', today] as const, ['Next week', monday] as const]) {
    await page.keyboard.press('d')
    await picker(page).getByRole('button', { name, exact: true }).click()
    await expect.poll(storedDay(board, 'one')).toBe(day)
    await row.and(page.locator(':focus')).waitFor()
  }
  await page.keyboard.press('d')
  await field(page).fill('tomorrow 5pm')
  await picker(page).getByText('Due dates have no time of day. Try tomorrow.').waitFor()
  await page.keyboard.press('Enter')
  expect(await storedDay(board, 'one')()).toBe(monday)
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Card menu' }).click()
  await page.getByRole('menuitem', { name: /^Due date…/ }).click()
  await field(page).waitFor()
  await page.keyboard.press('Escape')
  await picker(page).waitFor({ state: 'detached' })
  expect(await dialogs(page).count()).toBe(1)
  await checkAndClose(page)
})

test('[WEB-155] on a touch screen a due date is picked from the card’s menu, on days of 44 pixels', async () => {
  const board = await env.createBoard({ 'To do': ['zero', 'one', 'two'] })
  const page = await env.openPage(board.ada, board.path, phone)
  await cardOf(page, 'one').getByRole('button', { name: 'Actions for one' }).tap()
  await page.getByRole('menuitem', { name: /^Due date…/ }).tap()
  const today = localDay(new Date())
  const day = page.locator(`[data-day="${addDays(today, 1)}"]`)
  await day.waitFor()
  // The field does not take the focus: that would open the on-screen keyboard.
  expect(await focusedDay(page)).toBe(today)
  await animationsEnd(page)
  const box = await day.boundingBox()
  expect([box?.width, box?.height]).toEqual([44, 44])
  const popover = page.locator('.popover')
  const { x, y, width, height } = (await popover.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 }
  expect(x >= 0 && y >= 0 && x + width <= 390 && y + height <= 844).toBe(true)
  const scrolls =
    '(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(document.querySelector(".popover"))'
  expect(await page.evaluate(scrolls)).toBe(false)
  expect(await auditAccessibility(page)).toEqual([])
  await day.tap()
  await expect.poll(storedDay(board, 'one')).toBe(addDays(today, 1))
  await expect.poll(chipText(page, 'one')).toBe('Tomorrow')
  await checkAndClose(page)
})

test('[WEB-156] [WEB-157] the filter and the chips follow the day, also at midnight, and a done card is never overdue', async () => {
  const board = await env.createBoard({ 'To do': ['late', 'now', 'next', 'far', 'never'], Done: ['old'] })
  await board.ada.api.call('updateColumn', {
    params: { column_id: board.columns['Done'] ?? '' },
    body: { is_done_column: true },
  })
  const days = { late: '2026-11-16', old: '2026-11-16', now: '2026-11-17', next: '2026-11-18', far: '2027-01-05' }
  for (const [title, day] of Object.entries(days)) await setDue(board, title, day)
  const page = await env.openPage(board.ada, board.path, { ...british, timezoneId: 'Pacific/Pago_Pago' })
  // A minute before midnight of 17 November, 11 hours behind UTC.
  await page.clock.install({ time: '2026-11-18T10:59:00Z' })
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  const chips = async () => Promise.all(Object.keys(days).map((title) => chipText(page, title)()))
  await expect.poll(chips).toEqual(['Overdue · 16 Nov', '16 Nov', 'Today', 'Tomorrow', '5 Jan 2027'])
  const filter = page.getByLabel('Filter cards')
  const shown = async () => (await shownOrder(page)).flatMap(([, cards]) => cards)
  await filter.fill('due:overdue')
  await expect.poll(shown).toEqual(['late'])
  await page.getByRole('button', { name: 'Remove filter “Overdue”' }).waitFor()
  await page.clock.fastForward('01:01')
  await expect.poll(shown).toEqual(['late', 'now'])

  await page.getByRole('button', { name: /^Filter 1 active/ }).click()
  for (const name of ['Overdue', 'Due within a week', 'No due date'])
    await page.getByRole('menuitemcheckbox', { name, exact: true }).click()
  await expect.poll(shown).toEqual(['next', 'never'])
  await page.keyboard.press('Escape')
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('due:week due:none')
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expect.poll(chips).toEqual(['Overdue · 16 Nov', '16 Nov', 'Overdue · 17 Nov', 'Today', '5 Jan 2027'])
  await checkAndClose(page)
})

test('[WEB-157] viewers at both ends of the world see and set the same day', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const west = await env.openPage(board.ada, board.path, { ...british, timezoneId: 'Pacific/Pago_Pago' })
  const east = await env.openPage(board.grace, board.path, { ...british, timezoneId: 'Pacific/Kiritimati' })
  for (const [page, typed] of [
    [west, '2030-03-31'],
    [east, '1.11.2030'],
  ] as const) {
    await cardOf(page, 'one').locator('.card-title').focus()
    await openPicker(page)
    await page.keyboard.type(typed)
    await page.keyboard.press('Enter')
    const [day, text] = page === west ? ['2030-03-31', '31 Mar 2030'] : ['2030-11-01', '1 Nov 2030']
    await expect.poll(storedDay(board, 'one')).toBe(day)
    for (const each of [west, east]) await expect.poll(chipText(each, 'one')).toBe(text)
  }
  await checkAndClose(west)
  await checkAndClose(east)
})

test('[WEB-153] [NUM-3] a number leads to its card: in the filter, the palette and a description', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two', 'about #1'], Done: ['three'] })
  const { api } = board.ada
  await api.call('updateColumn', { params: { column_id: board.columns['Done'] ?? '' }, body: { is_done_column: true } })
  const description = 'After #2 and #4, not `#2`, a#2 or #99.'
  await api.call('updateCard', { params: { card_id: board.cards['one'] ?? '' }, body: { description } })
  const page = await env.openPage(board.ada, board.path, {
    ...british,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await cardOf(page, 'two').getByText('#2', { exact: true }).waitFor()
  await page.getByLabel('Filter cards').fill('#2')
  await expect.poll(async () => (await shownOrder(page)).flatMap(([, cards]) => cards)).toEqual(['two'])
  await page.keyboard.press('Escape')

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search cards, boards and actions' }).fill('#1')
  await expect.poll(() => page.getByRole('option').first().textContent()).toMatch(/^one/)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'one' })
  await dialog.locator('.cd-number').getByText('#1', { exact: true }).waitFor()
  const links = dialog.locator('.cd-card-link')
  await expect.poll(() => links.count()).toBe(2)
  await dialog.getByRole('link', { name: '#4 three (done)' }).waitFor()
  const decoration = 'getComputedStyle(document.querySelector(".cd-card-link.is-done")).textDecorationLine'
  expect(await page.evaluate(decoration)).toContain('line-through')
  await dialog.getByRole('link', { name: '#2 two', exact: true }).click()
  await page.getByRole('dialog', { name: 'two' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/app${board.path}/c/${board.cards['two']}`)
  await page.goBack()
  await page.getByRole('dialog', { name: 'one' }).getByRole('button', { name: 'Card menu' }).click()
  await page.getByRole('menuitem', { name: 'Copy #1', exact: true }).click()
  await expect.poll(() => toastOf(page).textContent()).toContain('#1 copied')
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('#1')
  await checkAndClose(page)
})

// @module-tag journey
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { boardLeft, cardOf, columnOf, scrollTopOf } from './board-page-object.ts'
import { editDescription } from './card-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { dialogs } from './layers.ts'
import { checkAndClose } from './page-checks.ts'
import { openScreen, screens } from './screens.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

/** A finger. Playwright can only tap. */
async function fingerOn(page: Page) {
  const session = await page.context().newCDPSession(page)
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints })
  return {
    press: (x: number, y: number) => send('touchStart', { x, y }),
    move: (x: number, y: number) => send('touchMove', { x, y }),
    lift: () => send('touchEnd'),
  }
}
const boxOf = async (page: Page, title: string) => {
  const box = await cardOf(page, title).boundingBox()
  return { x: (box?.x ?? 0) + 60, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 }
}
/** The position of a column on the screen. */
const placeOf = async (page: Page, title: string) => {
  const box = await columnOf(page, title).locator('.column-cards').boundingBox()
  return { left: box?.x ?? 0, right: (box?.x ?? 0) + (box?.width ?? 0), top: box?.y ?? 0 }
}
const isScrolledToEnd = (page: Page) =>
  page.evaluate(`(({ scrollLeft, clientWidth, scrollWidth }) => scrollLeft + clientWidth >= scrollWidth - 1)(
    document.querySelector('main.board'))`)

test('[WEB-142] a tap opens a card; a swipe over cards scrolls the board sideways, and a column up and down', {
  tags: ['smoke'],
}, async () => {
  const long = Array.from({ length: 30 }, (_, i) => `long ${i + 1}`)
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: long })
  const page = await env.openPage(board.ada, board.path, phone)
  const finger = await fingerOn(page)
  const swipe = async (from: { x: number; y: number }, dx: number, dy: number) => {
    await finger.press(from.x, from.y)
    for (let step = 1; step <= 10; step++) await finger.move(from.x + (dx * step) / 10, from.y + (dy * step) / 10)
    expect(await page.locator('.touch-preview').count()).toBe(0)
    await finger.lift()
  }
  const isInSight = async (title: string) => {
    const { left, right } = await placeOf(page, title)
    return left >= 0 && right <= 390
  }
  // From a card of a short column, of a long one, and from the space between two cards.
  const one = await boxOf(page, 'one')
  await swipe({ x: 300, y: one.y }, -250, 0)
  await expect.poll(() => isInSight('Doing')).toBe(true)
  expect(await boardLeft(page)).toBeGreaterThan(300)
  await swipe({ x: 60, y: (await boxOf(page, 'long 2')).y }, 250, 0)
  await expect.poll(() => boardLeft(page)).toBe(0)
  const between = ((await boxOf(page, 'two')).y + one.y) / 2
  await swipe({ x: 300, y: between }, -250, 0)
  await expect.poll(() => isInSight('Doing')).toBe(true)
  const top = () => scrollTopOf(page, 'Doing')
  await swipe(await boxOf(page, 'long 5'), 0, -200)
  await expect.poll(top).toBeGreaterThan(100)
  await swipe({ x: 60, y: (await boxOf(page, 'long 8')).y }, 250, 0)
  await expect.poll(() => boardLeft(page)).toBe(0)
  expect(await dialogs(page).count()).toBe(0)
  await cardOf(page, 'one').locator('.card-title').tap()
  await dialogs(page).waitFor()
  expect(page.url()).toContain(`/c/${board.cards['one']}`)
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', ['one', 'two']],
    ['Doing', long],
  ])
  await checkAndClose(page)
})

test('[WEB-142] a long press lifts a card; at the edge the board scrolls, and the card drops in the next column', {
  tags: ['smoke'],
}, async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: ['three'] })
  const page = await env.openPage(board.ada, board.path, phone)
  const other = await env.openPage(board.grace, board.path)
  const finger = await fingerOn(page)
  const { x, y } = await boxOf(page, 'one')
  await finger.press(x, y)
  await pause(300)
  await page.locator('.touch-preview').waitFor()
  await finger.move(x + 20, y)
  await finger.move(385, y)
  await expect.poll(() => isScrolledToEnd(page)).toBe(true)
  const { right, top } = await placeOf(page, 'Doing')
  await finger.move(right - 30, top + 8)
  await columnOf(page, 'Doing').locator('.placeholder').waitFor()
  await finger.lift()
  expect(await env.waitForSync(board, page, other)).toEqual([
    ['To do', ['two']],
    ['Doing', ['one', 'three']],
  ])
  // The drop is no tap.
  expect(await dialogs(page).count()).toBe(0)
  expect(await page.locator('.touch-preview').count()).toBe(0)
  await checkAndClose(page)
  await checkAndClose(other)
})

test('[WEB-142] a card that is lifted at an edge and let go there stays, and nothing scrolls', async () => {
  const long = Array.from({ length: 30 }, (_, i) => `long ${i + 1}`)
  const board = await env.createBoard({ 'To do': ['one'], Doing: long, Done: [] })
  const page = await env.openPage(board.ada, board.path, phone)
  const finger = await fingerOn(page)
  await columnOf(page, 'Doing').evaluate((column: { scrollIntoView: (options: object) => void }) =>
    column.scrollIntoView({ inline: 'center', behavior: 'instant' }),
  )
  const places = async () => [await boardLeft(page), await scrollTopOf(page, 'Doing')]
  await expect.poll(() => boardLeft(page)).toBeGreaterThan(300)
  const before = await places()
  const { bottom } = await columnOf(page, 'Doing')
    .locator('.column-cards')
    .evaluate((list) => {
      const element = list as unknown as { getBoundingClientRect: () => { bottom: number } }
      return { bottom: element.getBoundingClientRect().bottom }
    })
  const side = await boxOf(page, 'long 3')
  for (const [x, y] of [
    [48, side.y],
    [side.x, bottom - 30],
  ] as const) {
    await finger.press(x, y)
    await page.locator('.touch-preview').waitFor()
    // A finger is never still.
    await finger.move(x + 2, y - 2)
    await pause(400)
    expect(await places()).toEqual(before)
    await finger.lift()
    await page.locator('.touch-preview').waitFor({ state: 'detached' })
  }
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', ['one']],
    ['Doing', long],
    ['Done', []],
  ])
  expect(await dialogs(page).count()).toBe(0)
  await checkAndClose(page)
})

test('[WEB-143] on a phone, New card names the column in view and adds to it', async () => {
  const board = await env.createBoard({ 'To do': ['one'], Doing: ['two'], Done: [] })
  const page = await env.openPage(board.ada, board.path, phone)
  await page.getByRole('button', { name: 'New card in To do' }).waitFor()
  // The focus stays in the first column, out of sight.
  await cardOf(page, 'one').locator('.card-title').focus()
  await columnOf(page, 'Doing').scrollIntoViewIfNeeded()
  await expect
    .poll(async () => {
      const { left, right } = await placeOf(page, 'Doing')
      return left >= 0 && right <= 390
    })
    .toBe(true)
  await page.getByRole('button', { name: 'New card in Doing' }).tap()
  await columnOf(page, 'Doing').getByLabel('Card title').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('three')
  await page.keyboard.press('Enter')
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', ['one']],
    ['Doing', ['two', 'three']],
    ['Done', []],
  ])
  // A message does not cover the button.
  await page.keyboard.press('Escape')
  await cardOf(page, 'two').locator('.card-title').focus()
  await page.keyboard.press('Delete')
  const toast = await page.locator('.toast').boundingBox()
  const button = await page.locator('.board-new').boundingBox()
  expect((toast?.y ?? 0) + (toast?.height ?? 0)).toBeLessThan(button?.y ?? 0)
  await checkAndClose(page)
})

/** Runs in the page: visible fields with text smaller than 16 pixels, on which browsers zoom in. */
const SMALL_FIELDS = `[...document.querySelectorAll('input:not([type=checkbox], [type=radio], [type=file]), textarea')]
  .filter((field) => field.checkVisibility() && !field.closest('[aria-hidden=true], .visually-hidden'))
  .filter((field) => parseFloat(getComputedStyle(field).fontSize) < 16)
  .map((field) => (field.ariaLabel ?? field.name) + ' ' + getComputedStyle(field).fontSize)`

test('[WEB-143] on a phone, the text of every field has at least 16 pixels', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const ids = { board: board.id, card: board.cards['one'] ?? '' }
  const inside = await env.openPage(board.ada, '/boards', phone)
  const outside = await env.openPage(undefined, '/login', phone)
  const found: Record<string, unknown> = {}
  const look = async (page: Page, name: string) => {
    const small = (await page.evaluate(SMALL_FIELDS)) as string[]
    if (small.length > 0) found[name] = small
  }
  for (const screen of screens) {
    const page = screen.isPublic ? outside : inside
    await openScreen(page, env.service.baseUrl, screen, ids)
    await look(page, screen.name)
  }
  const onBoard: [name: string, key: string, field: string][] = [
    ['composer', 'n', 'Card title'],
    ['title editor', 'e', 'Title'],
    ['label picker', 'l', 'Find or create label'],
  ]
  for (const [name, key, field] of onBoard) {
    await inside.goto(`${env.service.baseUrl}/app${board.path}`)
    await cardOf(inside, 'one').locator('.card-title').focus()
    await inside.keyboard.press(key)
    await inside.getByLabel(field, { exact: true }).waitFor()
    await look(inside, name)
  }
  await inside.goto(`${env.service.baseUrl}/app${board.path}/c/${ids.card}`)
  await editDescription(inside)
  await look(inside, 'description editor')
  expect(found).toEqual({})
  await inside.context().close()
  await outside.context().close()
})

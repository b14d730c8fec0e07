// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { boardLeft, cardOf, columnInPage, columnOf, dragColumnOver, scrollTopOf } from './board-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const titles = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name} ${i + 1}`)
const listOf = (page: Page, column: string) => columnOf(page, column).locator('.column-cards')
/** Turns the mouse wheel over an element. */
async function wheelOver(page: Page, target: ReturnType<typeof cardOf>, dx: number, dy: number) {
  const box = await target.boundingBox()
  await page.mouse.move((box?.x ?? 0) + 60, (box?.y ?? 0) + 16)
  await page.mouse.wheel(dx, dy)
}
/** Scrolls a column with the wheel. */
async function scrollTo(page: Page, column: string, top: number) {
  await wheelOver(page, listOf(page, column), 0, top - (await scrollTopOf(page, column)))
  await expect.poll(() => scrollTopOf(page, column)).toBe(top)
}

describe('[WEB-226] the wheel', () => {
  const columns = { Backlog: titles('long', 40), 'To do': ['one'], Doing: ['two'], Done: [] }

  test('scrolls the board sideways over a card, in a long column and in a short one', { tags: ['smoke'] }, async () => {
    const board = await env.createBoard(columns)
    const page = await env.openPage(board.ada, board.path, { viewport: { width: 900, height: 700 } })
    await wheelOver(page, cardOf(page, 'long 1'), 200, 0)
    await expect.poll(() => boardLeft(page)).toBe(200)
    await wheelOver(page, cardOf(page, 'one'), -120, 0)
    await expect.poll(() => boardLeft(page)).toBe(80)
    await checkAndClose(page)
  })

  test('scrolls a column, and at its end not the page', async () => {
    const board = await env.createBoard(columns)
    // The page itself scrolls at this height.
    const page = await env.openPage(board.ada, board.path, { viewport: { width: 900, height: 320 } })
    const pageTop = () => page.evaluate('scrollY')
    const isAtEnd = () =>
      page.evaluate(`(({ scrollTop, clientHeight, scrollHeight }) => scrollTop + clientHeight >= scrollHeight - 1)(
        ${columnInPage('Backlog')}.querySelector('.column-cards'))`)
    await expect.poll(() => page.evaluate('document.documentElement.scrollHeight > innerHeight')).toBe(true)
    await wheelOver(page, cardOf(page, 'long 1'), 0, 10_000)
    await expect.poll(isAtEnd).toBe(true)
    await page.mouse.wheel(0, 300)
    // After this one the page has handled the one before.
    await page.mouse.wheel(0, -100)
    await expect.poll(isAtEnd).toBe(false)
    expect(await pageTop()).toBe(0)
    await checkAndClose(page)
  })
})

test('[WEB-227] a column that is moved leaves the others where they are scrolled to, for everybody', {
  tags: ['smoke'],
}, async () => {
  const columns = { Backlog: titles('a', 40), 'To do': titles('b', 90), Doing: titles('c', 40), Done: titles('d', 40) }
  const board = await env.createBoard(columns)
  const page = await env.openPage(board.ada, board.path)
  const other = await env.openPage(board.grace, board.path)
  const all = Object.keys(columns)
  const tops = async (on: Page) => Promise.all(all.map((column) => scrollTopOf(on, column)))
  for (const [i, column] of all.entries()) {
    await scrollTo(page, column, 300 + i * 20)
    await scrollTo(other, column, 500 - i * 20)
  }
  await dragColumnOver(page, 'Done', 'Backlog', 'before')
  await page.mouse.up()
  await env.waitForSync(board, page, other)
  expect(await tops(page)).toEqual([300, 320, 340, 360])
  expect(await tops(other)).toEqual([500, 480, 460, 440])
  const move = (column: string, position: number) =>
    board.grace.api.call('moveColumn', { params: { column_id: board.columns[column] ?? '' }, body: { position } })
  // To the right, and two at once.
  await Promise.all([move('Done', 3), move('Doing', 0)])
  await env.waitForSync(board, page, other)
  expect(await tops(page)).toEqual([300, 320, 340, 360])
  expect(await tops(other)).toEqual([500, 480, 460, 440])
  await checkAndClose(page)
  await checkAndClose(other)
})

describe.each([
  { size: 'a small column', count: 30 },
  { size: 'a column of 200 cards', count: 200 },
])('[WEB-227] in $size, the card under the pointer stays where it is when', ({ count }) => {
  let board: TestBoard
  let page: Page
  beforeAll(async () => {
    board = await env.createBoard({ 'To do': titles('card', count), Doing: ['moved'] })
    // Cards of different heights, so that none has the estimated one.
    const description = { title: `moved ${'with a long title '.repeat(8)}` }
    await board.grace.api.call('updateCard', { params: { card_id: board.cards['moved'] ?? '' }, body: description })
    page = await env.openPage(board.ada, board.path)
    await page.getByText('Live').waitFor()
  })
  afterAll(() => checkAndClose(page))

  const column_id = () => board.columns['To do'] ?? ''
  const idOf = (title: string) => board.cards[title] ?? ''
  const isThere = async (title: RegExp, isNow: boolean) => {
    const stored = await board.ada.api.call('getBoard', { params: { board_id: board.id } })
    const size = stored.columns.find(({ id }) => id === column_id())?.cards.length
    const shown = columnOf(page, 'To do').locator('li[aria-setsize]').first()
    await expect.poll(() => shown.getAttribute('aria-setsize')).toBe(String(size))
    const cards = stored.columns.find(({ id }) => id === column_id())?.cards ?? []
    expect(cards.some((card) => title.test(card.title))).toBe(isNow)
  }
  const changes: [name: string, change: () => Promise<unknown>, title: RegExp, isNow: boolean][] = [
    [
      'another user adds a card at the top',
      () =>
        board.grace.api.call('createCard', {
          params: { board_id: board.id, column_id: column_id() },
          body: { title: 'new at the top', after_id: null },
        }),
      /^new at the top$/,
      true,
    ],
    [
      'another user moves a card above it',
      () =>
        board.grace.api.call('moveCard', {
          params: { card_id: idOf('moved') },
          body: { column_id: column_id(), position: 1 },
        }),
      /^moved/,
      true,
    ],
    [
      'another user deletes a card above it',
      () => board.grace.api.call('deleteCard', { params: { card_id: idOf('card 2') } }),
      /^card 2$/,
      false,
    ],
    [
      'a card above it gets a longer title',
      () =>
        board.grace.api.call('updateCard', {
          params: { card_id: idOf('card 1') },
          body: { title: `card 1 ${'and more '.repeat(20)}` },
        }),
      /^card 1 and more/,
      true,
    ],
    [
      'the first visible card is moved away',
      async () => {
        const first = await firstVisible()
        await board.grace.api.call('moveCard', { params: { card_id: idOf(first) }, body: { position: 0 } })
      },
      /^card 3$/,
      true,
    ],
  ]
  /** The title of the first card that is at least partly visible. */
  const firstVisible = async () =>
    String(
      await page.evaluate(`(() => {
        const list = ${columnInPage('To do')}.querySelector('.column-cards')
        const { top } = list.getBoundingClientRect()
        const rows = [...list.querySelectorAll('li')].map((row) => ({ row, box: row.getBoundingClientRect() }))
        const visible = rows.filter(({ box }) => box.bottom > top).sort((one, other) => one.box.top - other.box.top)
        return visible[0].row.querySelector('.card-title').textContent
      })()`),
    )
  /** Runs in the page: how far the card at a point moves, in any frame. */
  const record = (x: number, y: number) =>
    page.evaluate(`(() => {
      const card = document.elementFromPoint(${x}, ${y}).closest('.card')
      const from = card.getBoundingClientRect().top
      // The recording of the test before ends.
      const ours = (globalThis.recording = {})
      globalThis.furthest = 0
      const look = () => {
        if (recording !== ours) return
        furthest = Math.max(furthest, Math.abs(card.getBoundingClientRect().top - from))
        requestAnimationFrame(look)
      }
      look()
    })()`)
  const furthest = () => page.evaluate('furthest')

  test.each(changes)('%s', async (_, change, title, isNow) => {
    await scrollTo(page, 'To do', 900)
    // A card in the middle, which is not the first visible one.
    const box = await listOf(page, 'To do').boundingBox()
    const [x, y] = [(box?.x ?? 0) + 60, (box?.y ?? 0) + 250]
    await page.mouse.move(x, y)
    const under = () =>
      page.evaluate(`document.elementFromPoint(${x}, ${y}).closest('.card')?.querySelector('.card-title').textContent`)
    await expect.poll(under).toMatch(/^card /)
    const card = String(await under())
    await record(x, y)
    await change()
    await isThere(title, isNow)
    // Two frames after the change.
    await page.evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
    expect(await furthest()).toBeLessThanOrEqual(1)
    expect(await under()).toBe(card)
  })
})

test('[WEB-227] a column that shows its top goes on showing it', async () => {
  const board = await env.createBoard({ 'To do': titles('card', 30) })
  const page = await env.openPage(board.ada, board.path)
  const params = { board_id: board.id, column_id: board.columns['To do'] ?? '' }
  await board.grace.api.call('createCard', { params, body: { title: 'new', after_id: null } })
  await env.waitForSync(board, page)
  expect(await scrollTopOf(page, 'To do')).toBe(0)
  expect(await cardOf(page, 'new').boundingBox()).toMatchObject({ y: expect.closeTo(await topOf(page), -1.5) })
  await checkAndClose(page)
})
const topOf = async (page: Page) => (await listOf(page, 'To do').boundingBox())?.y ?? 0

test.each([
  { where: 'on a desktop', options: { viewport: { width: 1280, height: 800 } } },
  { where: 'on a phone', options: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } },
])(
  '[WEB-230] $where, the field for a new card is visible with its border, without a second “Add card” below it',
  async ({ options }) => {
    const board = await env.createBoard({ 'To do': titles('card', 30), Doing: [] })
    const page = await env.openPage(board.ada, board.path, options)
    const column = columnOf(page, 'To do')
    await column.locator('.column-add').click()
    const composer = column.locator('.composer')
    await composer.waitFor()
    const spaceBelow = async () => {
      const [list, box] = await Promise.all([listOf(page, 'To do').boundingBox(), composer.boundingBox()])
      return (list?.y ?? 0) + (list?.height ?? 0) - (box?.y ?? 0) - (box?.height ?? 0)
    }
    // The border is 2 pixels wide.
    await expect.poll(spaceBelow).toBeGreaterThanOrEqual(2)
    expect(await column.locator('.column-add').count()).toBe(0)
    // Several lines make the field higher.
    await page.keyboard.type('word '.repeat(30))
    await expect.poll(spaceBelow).toBeGreaterThanOrEqual(2)
    await page.keyboard.press('Control+a')
    await page.keyboard.type('new')
    await page.keyboard.press('Enter')
    await cardOf(page, 'new').waitFor()
    await expect.poll(spaceBelow).toBeGreaterThanOrEqual(2)
    await page.keyboard.press('Escape')
    await column.locator('.column-add').waitFor()
    await checkAndClose(page)
  },
)

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@lockstep/testing/client'
import type { Locator, Page } from 'playwright-core'

/** Card titles by column, in order. */
export type BoardOrder = [column: string, cards: string[]][]
/** A rendered card with its ARIA position. */
interface RenderedCard {
  title: string
  position: number
  size: number
}

const READ = `[...document.querySelectorAll('.column')].map((column) => [
  column.querySelector('h2, .column-title-field').textContent,
  [...column.querySelectorAll('li:not(.is-dragged)')]
    .filter((row) => row.querySelector('[data-card-id]'))
    .map((row) => ({
      title: row.querySelector('.card-title, textarea').textContent,
      position: Number(row.ariaPosInSet),
      size: Number(row.ariaSetSize),
      top: row.getBoundingClientRect().top,
    }))
    .sort((one, other) => one.top - other.top),
])`

const renderedCards = async (page: Page) => (await page.evaluate(READ)) as [column: string, cards: RenderedCard[]][]

/** The cards as rendered, from top to bottom. Columns with more than 60 cards render only the visible ones. */
export const shownOrder = async (page: Page): Promise<BoardOrder> =>
  (await renderedCards(page)).map(([column, cards]) => [column, cards.map(({ title }) => title)])

/** The cards as the server has them. */
export async function storedOrder(api: Client, board_id: string): Promise<BoardOrder> {
  const { columns } = await api.call('getBoard', { params: { board_id } })
  return columns.map(({ title, cards }) => [title, cards.map((card) => card.title)])
}

/** Columns up to this length are rendered completely. */
const VIRTUALIZE_ABOVE = 60

/** The differences between a page and the server's cards. In long columns only rendered cards are compared. */
export async function differencesFrom(page: Page, stored: BoardOrder): Promise<string[]> {
  const shown = await renderedCards(page)
  const columns = (all: [string, unknown][]) => all.map(([column]) => column).join(', ')
  if (columns(shown) !== columns(stored)) return [`The columns are ${columns(shown)}, not ${columns(stored)}`]
  return shown.flatMap(([column, cards], nth) => {
    const titles = stored[nth]?.[1] ?? []
    const wrong = cards.filter(({ title, position, size }) => titles[position - 1] !== title || size !== titles.length)
    const isSorted = cards.every((card, i) => i === 0 || card.position > (cards[i - 1] as RenderedCard).position)
    const isWhole = titles.length > VIRTUALIZE_ABOVE ? cards.length > 0 : cards.length === titles.length
    return [
      ...wrong.map(({ title, position, size }) => `${column}: “${title}” is shown as ${position} of ${size}`),
      ...(isSorted ? [] : [`${column}: visual order and ARIA positions differ`]),
      ...(isWhole ? [] : [`${column}: ${cards.length} of ${titles.length} cards are rendered`]),
    ]
  })
}

const exact = (title: string) => new RegExp(`^${title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
/** A card in its column. A copy of it may be on its way there. */
export const cardOf = (page: Page, title: string): Locator =>
  page.locator('.column .card', { has: page.locator('.card-title', { hasText: exact(title) }) })
export const columnOf = (page: Page, title: string): Locator =>
  page.locator('.column', { has: page.locator('h2', { hasText: exact(title) }) })

/** How far a column is scrolled. */
export const scrollTopOf = async (page: Page, column: string): Promise<number> =>
  Number(await page.evaluate(`${columnInPage(column)}.querySelector('.column-cards').scrollTop`))
/** How far the board is scrolled sideways. */
export const boardLeft = async (page: Page): Promise<number> =>
  Number(await page.evaluate(`document.querySelector('main.board').scrollLeft`))

/** The title of the focused card, or null. */
export const focusedCard = (page: Page) =>
  page.evaluate(`document.activeElement.closest('[data-card-id]')?.querySelector('.card-title')?.textContent ?? null`)

/** Starts to drag a card with the mouse. */
export async function startDrag(page: Page, title: string) {
  const box = await boxOf(cardOf(page, title))
  await page.mouse.move(box.x + 40, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + 46, box.y + box.height / 2 + 6, { steps: 3 })
}

/** Moves the dragged card over an index of a column, following the drop placeholder. */
export async function dragTo(page: Page, column: string, index: number) {
  await columnOf(page, column).locator('.column-cards').scrollIntoViewIfNeeded()
  for (let tries = 0; tries < 12; tries++) {
    const target = (await page.evaluate(targetFor(column, index))) as { x: number; y: number; index: number | null }
    if (target.index === index) return
    await page.mouse.move(target.x, target.y, { steps: 4 })
    await pause(30)
  }
  assert.fail(`The card can't be dragged to index ${index} of ${column}`)
}

/** Expression for a column element by title, for page.evaluate. */
export const columnInPage = (title: string) =>
  `[...document.querySelectorAll('.column')].find((column) => column.querySelector('h2')?.textContent === ${JSON.stringify(title)})`

/** Expression for the point at which a card would drop at an index, and the current drop index. */
const targetFor = (column: string, index: number) => `(() => {
  const column = ${columnInPage(column)}
  const rows = [...column.querySelectorAll('li:not(.is-dragged)')]
  const cards = rows.filter((row) => row.querySelector('[data-card-id]'))
  const at = rows.find((row) => row.querySelector('.placeholder'))?.dataset.index
  const box = (element) => element.getBoundingClientRect()
  const above = cards.find((card) => Number(card.dataset.index) - (Number(card.dataset.index) > Number(at)) === ${index} - 1)
  const { left, width, top, bottom } = box(column.querySelector('.column-cards'))
  const y = above ? box(above).bottom + 3 : cards[0] ? box(cards[0]).top + 2 : top + 30
  const inside = Math.min(Math.max(y, top + 2), bottom - 2)
  return { x: left + width / 2, y: inside, index: at === undefined ? null : Number(at) }
})()`

/** Holds the dragged card at the lower edge of a column until it has scrolled to its end. */
export async function dragToEnd(page: Page, column: string) {
  const box = await boxOf(columnOf(page, column).locator('.column-cards'))
  const isAtEnd = `(({ scrollTop, clientHeight, scrollHeight }) => scrollTop + clientHeight >= scrollHeight - 2)(
    ${columnInPage(column)}.querySelector('.column-cards'))`
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 6 })
  for (let tries = 0; tries < 600; tries++) {
    await page.mouse.move(box.x + box.width / 2 + (tries % 2), box.y + box.height - 6)
    if (await page.evaluate(isAtEnd)) return
    await pause(25)
  }
  assert.fail(`${column} does not scroll to its end`)
}

/** Drags a card to an index among the other cards of a column. */
export async function dragCard(page: Page, title: string, column: string, index: number) {
  await startDrag(page, title)
  await dragTo(page, column, index)
  await page.mouse.up()
}

/** Drags a column by its head over the first or second half of another column, without dropping it. */
export async function dragColumnOver(page: Page, title: string, to: string, half: 'before' | 'after') {
  const head = await boxOf(columnOf(page, title).locator('.column-head h2'))
  await page.mouse.move(head.x + 8, head.y + head.height / 2)
  await page.mouse.down()
  await page.mouse.move(head.x + 16, head.y + head.height / 2 + 6, { steps: 3 })
  const target = await boxOf(columnOf(page, to))
  const x = target.x + target.width * (half === 'before' ? 0.25 : 0.75)
  await page.mouse.move(x, target.y + target.height / 3, { steps: 6 })
}

async function boxOf(locator: Locator) {
  await locator.scrollIntoViewIfNeeded()
  const box = await locator.boundingBox()
  assert.ok(box, 'The element is not rendered')
  return box
}

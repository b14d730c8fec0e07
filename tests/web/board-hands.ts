import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@lockstep/testing/client'
import type { Locator, Page } from 'playwright-core'

/** The titles of the cards of each lane, lane by lane. */
export type Order = [lane: string, cards: string[]][]
/** A card that is drawn: its place as those hear it who cannot see it, and its place on the screen. */
interface Drawn {
  title: string
  position: number
  size: number
}

const READ = `[...document.querySelectorAll('.lane')].map((lane) => [
  lane.querySelector('h2, .lane-title-field').textContent,
  [...lane.querySelectorAll('li:not(.is-dragged)')]
    .filter((row) => row.querySelector('[data-card-id]'))
    .map((row) => ({
      title: row.querySelector('.card-title, textarea').textContent,
      position: Number(row.ariaPosInSet),
      size: Number(row.ariaSetSize),
      top: row.getBoundingClientRect().top,
    }))
    .sort((one, other) => one.top - other.top),
])`

const drawn = async (page: Page) => (await page.evaluate(READ)) as [lane: string, cards: Drawn[]][]

/** The order of the cards as they are drawn from top to bottom. Of lanes over 60 cards only what is in sight is drawn. */
export const order = async (page: Page): Promise<Order> =>
  (await drawn(page)).map(([lane, cards]) => [lane, cards.map(({ title }) => title)])

/** The same as the service has it. */
export async function orderOf(api: Client, board_id: string): Promise<Order> {
  const { columns } = await api.call('getBoard', { params: { board_id } })
  return columns.map(({ title, cards }) => [title, cards.map((card) => card.title)])
}

/** Lanes up to this long are drawn whole. */
const WHOLE = 60

/** Where a page shows something else than the service has; of long lanes, in what is drawn. */
export async function agrees(page: Page, truth: Order): Promise<string[]> {
  const shown = await drawn(page)
  const lanes = (all: [string, unknown][]) => all.map(([lane]) => lane).join(', ')
  if (lanes(shown) !== lanes(truth)) return [`The lanes are ${lanes(shown)}, not ${lanes(truth)}`]
  return shown.flatMap(([lane, cards], nth) => {
    const titles = truth[nth]?.[1] ?? []
    const wrong = cards.filter(({ title, position, size }) => titles[position - 1] !== title || size !== titles.length)
    const isSorted = cards.every((card, i) => i === 0 || card.position > (cards[i - 1] as Drawn).position)
    const isWhole = titles.length > WHOLE ? cards.length > 0 : cards.length === titles.length
    return [
      ...wrong.map(({ title, position, size }) => `${lane}: “${title}” is shown as ${position} of ${size}`),
      ...(isSorted ? [] : [`${lane}: places and numbers differ`]),
      ...(isWhole ? [] : [`${lane}: ${cards.length} of ${titles.length} cards are drawn`]),
    ]
  })
}

const exact = (title: string) => new RegExp(`^${title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
export const cardOf = (page: Page, title: string): Locator =>
  page.locator('.card', { has: page.locator('.card-title', { hasText: exact(title) }) })
export const laneOf = (page: Page, title: string): Locator =>
  page.locator('.lane', { has: page.locator('h2', { hasText: exact(title) }) })

/** The title of the card that has the focus; null when it is on no card. */
export const focusedCard = (page: Page) =>
  page.evaluate(`document.activeElement.closest('[data-card-id]')?.querySelector('.card-title')?.textContent ?? null`)

/** Takes a card with the mouse. */
export async function liftCard(page: Page, title: string) {
  const box = await boxOf(cardOf(page, title))
  await page.mouse.move(box.x + 40, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + 46, box.y + box.height / 2 + 6, { steps: 3 })
}

/** Carries the card in hand to an index among the other cards of a lane, as people do it: looking where it would land. */
export async function carryTo(page: Page, lane: string, index: number) {
  const list = await boxOf(laneOf(page, lane).locator('.lane-cards'))
  const x = list.x + list.width / 2
  for (let tries = 0; tries < 12; tries++) {
    const spot = (await page.evaluate(spotFor(lane, index))) as { y: number; index: number | null }
    if (spot.index === index) return
    await page.mouse.move(x, Math.min(Math.max(spot.y, list.y + 2), list.y + list.height - 2), { steps: 4 })
    await pause(30)
  }
  assert.fail(`The card cannot be carried to place ${index} of ${lane}`)
}

/** A lane of the page, by its title, for what is asked inside the page. */
const laneInPage = (title: string) =>
  `[...document.querySelectorAll('.lane')].find((lane) => lane.querySelector('h2')?.textContent === ${JSON.stringify(title)})`

/** Where to hold a card so that it lands at an index, and where it would land now. */
const spotFor = (lane: string, index: number) => `(() => {
  const lane = ${laneInPage(lane)}
  const rows = [...lane.querySelectorAll('li:not(.is-dragged)')]
  const cards = rows.filter((row) => row.querySelector('[data-card-id]'))
  const at = rows.find((row) => row.querySelector('.placeholder'))?.dataset.index
  const box = (element) => element.getBoundingClientRect()
  const above = cards.find((card) => Number(card.dataset.index) - (Number(card.dataset.index) > Number(at)) === ${index} - 1)
  const list = lane.querySelector('.lane-cards')
  const y = above ? box(above).bottom + 3 : cards[0] ? box(cards[0]).top + 2 : box(list).top + 30
  return { y, index: at === undefined ? null : Number(at) }
})()`

/** Holds the card in hand at the lower edge of a lane until it has scrolled to its end. */
export async function carryToEnd(page: Page, lane: string) {
  const box = await boxOf(laneOf(page, lane).locator('.lane-cards'))
  const isAtEnd = `(({ scrollTop, clientHeight, scrollHeight }) => scrollTop + clientHeight >= scrollHeight - 2)(
    ${laneInPage(lane)}.querySelector('.lane-cards'))`
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 6 })
  for (let tries = 0; tries < 600; tries++) {
    await page.mouse.move(box.x + box.width / 2 + (tries % 2), box.y + box.height - 6)
    if (await page.evaluate(isAtEnd)) return
    await pause(25)
  }
  assert.fail(`${lane} does not scroll to its end`)
}

/** Drags a card to an index among the other cards of a lane. */
export async function dragCard(page: Page, title: string, lane: string, index: number) {
  await liftCard(page, title)
  await carryTo(page, lane, index)
  await page.mouse.up()
}

/** Takes a column by its head and carries it to the near or the far half of another column. */
export async function carryLane(page: Page, title: string, to: string, half: 'before' | 'after') {
  const head = await boxOf(laneOf(page, title).locator('.lane-head h2'))
  await page.mouse.move(head.x + 8, head.y + head.height / 2)
  await page.mouse.down()
  await page.mouse.move(head.x + 16, head.y + head.height / 2 + 6, { steps: 3 })
  const target = await boxOf(laneOf(page, to))
  const x = target.x + target.width * (half === 'before' ? 0.25 : 0.75)
  await page.mouse.move(x, target.y + target.height / 3, { steps: 6 })
}

async function boxOf(locator: Locator) {
  await locator.scrollIntoViewIfNeeded()
  const box = await locator.boundingBox()
  assert.ok(box, 'It is not drawn')
  return box
}

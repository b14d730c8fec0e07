import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '@lockstep/testing/client'
import { makeLargeBoard } from '@lockstep/testing/large-board'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { eventually } from '@lockstep/testing/processes'
import { percentileOfSorted } from '@lockstep/testing/statistics'
import type pg from 'pg'
import type { Browser, Page } from 'playwright-core'
import { GAP } from '../../packages/server/src/core/ordering/rank.ts'
import { dragCard, order } from './board-hands.ts'
import { MEASURE, WORK } from './in-page.ts'
import { logIn, type Visitor } from './pages.ts'

/** Somebody who looks at boards in a browser, or changes them through the API. */
export interface Person extends Visitor {
  id: string
  token: string
}
/** Where is measured: a service, a browser, and two people with boards. */
export interface SpeedStage {
  base_url: string
  sql: pg.Pool
  browser: Browser
  viewer: Person
  writer: Person
}

const PASSWORD = 'hush-hush correct horse'

export async function join(base_url: string, username: string): Promise<Person> {
  const anybody = new Client(base_url)
  const email = `${username}@example.com`
  const { id } = await anybody.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token: token } = await anybody.call('login', { body: { username: email, password: PASSWORD } })
  return { id, email, password: PASSWORD, token }
}

/** A board of five lanes with so many cards. They have the room between them that the service gives: moves are no rebalancing. */
export async function largeBoard({ sql, viewer, writer }: SpeedStage, cards: number): Promise<string> {
  const board_id = await makeLargeBoard(sql, [viewer.id, writer.id], cards)
  await sql.query('update cards set rank = rank * $2::int8 where board_id = $1', [board_id, GAP])
  return board_id
}

/**
 * How slow the machine is now, as a factor of what the bounds were set for: between 1 and 2. The reference is what the
 * same work takes in the same browser on two idle cores of a Xeon server, the machine on which the bounds were found.
 */
const REFERENCE_MS = 14
export async function calibrate(browser: Browser): Promise<{ work_ms: number; factor: number }> {
  const page = await browser.newPage()
  const times = (await page.evaluate(WORK)) as number[]
  await page.close()
  const work_ms = at(times, 50)
  return { work_ms, factor: Math.min(2, Math.max(1, work_ms / REFERENCE_MS)) }
}

export const at = (times: readonly number[], share: number) =>
  percentileOfSorted(
    times.toSorted((a, b) => a - b),
    share,
  )

/** Waits for something in the page. Not by the browser's own means: those compile text, which the policy forbids. */
async function until(page: Page, condition: string) {
  await eventually(condition, async () => {
    await pause(30)
    return (await page.evaluate(condition)) === true
  })
}

/** A board in a browser that was never there, measured from the start. */
export async function openMeasured({ browser, base_url, viewer }: SpeedStage, board_id: string): Promise<Page> {
  const context = await logIn(browser, base_url, viewer)
  const page = await context.newPage()
  await page.addInitScript(MEASURE)
  await page.goto(`${base_url}/app/b/${board_id}`)
  await until(page, 'measured.interactive !== undefined')
  return page
}

/** From the navigation until the board can be used, each time in a new browser context. The service has read the board before. */
export async function measureLoads(stage: SpeedStage, board_id: string, count: number) {
  const loads: { first_card: number; interactive: number; long: { start: number; ms: number }[] }[] = []
  for (let i = 0; i <= count; i++) {
    const page = await openMeasured(stage, board_id)
    const load = await page.evaluate('({ ...measured, afterPaint: null, listenTo: null, countFrames: null })')
    // The first one warms the service, not the browser.
    if (i > 0) loads.push(load as (typeof loads)[number])
    await page.context().close()
  }
  return {
    first_card: loads.map((load) => load.first_card),
    interactive: loads.map((load) => load.interactive),
    long_ms: loads.flatMap((load) => load.long.map(({ ms }) => ms)),
  }
}

/** From the drop of a card, by the mouse, until it is painted at its new place. */
export async function measureDrops(page: Page, count: number): Promise<number[]> {
  for (let i = 0; i < count; i++) {
    const lanes = await order(page)
    const [from, to] = [lanes[i % 3], lanes[(i + 1 + (i % 2)) % 3]]
    assert.ok(from && to)
    await dragCard(page, from[1][i % 3] ?? '', to[0], 1 + (i % 3))
    await until(page, `measured.drops.length > ${i}`)
  }
  const drops = (await page.evaluate('measured.drops')) as { ms: number; is_placed: boolean }[]
  assert.ok(
    drops.every(({ is_placed }) => is_placed),
    'a drop was not painted in the first frame',
  )
  return drops.map(({ ms }) => ms)
}

/** From the moment another client sends a change until it is painted. */
export async function measureEcho(page: Page, { base_url, writer }: SpeedStage, count: number): Promise<number[]> {
  const asker = new HttpClient(base_url, writer.token)
  const card_id = (await page.evaluate(`document.querySelector('[data-card-id]').dataset.cardId`)) as string
  await page.evaluate(`measured.listenTo('${card_id}')`)
  for (let i = 0; i < count; i++) {
    const { status } = await asker.json('PATCH', `/cards/${card_id}`, { title: `sent at ${Date.now()}` })
    assert.equal(status, 200)
    await until(page, `measured.echoes.length > ${i}`)
    // At any point of a frame, not right behind one.
    await pause(5 + ((i * 7) % 40))
  }
  asker.close()
  return (await page.evaluate('measured.echoes')) as number[]
}

/** From a key in the filter's field until it is painted there, and until the cards that fit are. */
export async function measureFilter(page: Page, { base_url, viewer }: SpeedStage, board_id: string, rounds: number) {
  const { columns } = await new Client(base_url, viewer.token).call('getBoard', { params: { board_id } })
  const texts = columns.flatMap(({ cards }) => cards.map((card) => `${card.title} ${card.description}`.toLowerCase()))
  const countOf = (typed: string) => {
    const words = typed.toLowerCase().split(' ').filter(Boolean)
    const shown = texts.filter((text) => words.every((word) => text.includes(word))).length
    return words.length === 0 ? `${texts.length} cards` : `${shown} of ${texts.length} cards`
  }
  const word = 'Card 12'
  const steps = Array.from({ length: word.length }, (_, i) => ({ key: word[i] ?? '', typed: word.slice(0, i + 1) }))
  const back = steps.map(({ typed }) => ({ key: 'Backspace', typed: typed.slice(0, -1) })).reverse()
  await page.getByLabel('Filter cards').focus()
  let count = 0
  for (let i = 0; i < rounds; i++) {
    for (const { key, typed } of [...steps, ...back]) {
      await page.evaluate(`measured.expected = '${countOf(typed)}'`)
      await page.keyboard.press(key)
      await until(page, `measured.keys.length > ${count++}`)
    }
  }
  const keys = (await page.evaluate('measured.keys')) as { letter_ms: number; cards_ms: number }[]
  return { letter: keys.map(({ letter_ms }) => letter_ms), cards: keys.map(({ cards_ms }) => cards_ms) }
}

/** Changes by somebody else on cards that are in sight, at a rate: titles, and every fifth time a move. */
export async function measureBurst(page: Page, { base_url, writer }: SpeedStage, seconds: number, rate: number) {
  const asker = new HttpClient(base_url, writer.token)
  const ids = (await page.evaluate(
    `[...document.querySelectorAll('.lane')].flatMap((lane) => [...lane.querySelectorAll('[data-card-id]')].slice(0, 6).map((card) => card.dataset.cardId))`,
  )) as string[]
  await page.evaluate('measured.countFrames()')
  const since = (await page.evaluate('measured.frames = 0, performance.now()')) as number
  const began = performance.now()
  let under_way = 0
  let [done, refused, last] = [0, 0, '']
  const change = async (i: number) => {
    const id = ids[i % ids.length]
    const title = `Change ${i}`
    under_way++
    const { status } =
      i % 5 === 4
        ? await asker.json('POST', `/cards/${id}/move`, { after_id: null })
        : await asker.json('PATCH', `/cards/${id}`, { title })
    under_way--
    if (status === 200) done++
    else refused++
    if (status === 200 && i % 5 !== 4) last = title
  }
  const changes: Promise<void>[] = []
  for (let i = 0; i < seconds * rate; i++) {
    // A service that is behind is not pushed further: then the rate is lower, and is told.
    if (under_way < 4) changes.push(change(i))
    const wait = began + ((i + 1) * 1_000) / rate - performance.now()
    if (wait > 0) await pause(wait)
  }
  await Promise.all(changes)
  const took = (performance.now() - began) / 1_000
  const [ended_at, frames] = (await page.evaluate('[performance.now(), measured.frames]')) as [number, number]
  await until(page, `document.body.innerText.includes('${last}')`)
  const long = (await page.evaluate(`measured.long.filter(({ start }) => start > ${since})`)) as { ms: number }[]
  asker.close()
  return { rate: done / took, refused, frames: (frames * 1_000) / (ended_at - since), long: long.map(({ ms }) => ms) }
}

/** All shifts of the layout that nobody asked for, added up. */
export async function shiftsOf(page: Page): Promise<number> {
  const shifts = (await page.evaluate('measured.shifts')) as { value: number; is_asked_for: boolean }[]
  return shifts.filter(({ is_asked_for }) => !is_asked_for).reduce((sum, { value }) => sum + value, 0)
}

/** What the first visit of a board loads, in bytes after gzip, by kind. What the service answers about the board counts too. */
export async function measureBytes(stage: SpeedStage, board_id: string) {
  const { browser, base_url, viewer } = stage
  const context = await logIn(browser, base_url, viewer)
  const page = await context.newPage()
  const urls = new Set<string>()
  page.on('request', (request) => urls.add(request.url()))
  await page.goto(`${base_url}/app/b/${board_id}`)
  await page.locator('.card-title').first().waitFor()
  // What comes after that is fetched ahead, when nothing else is to do.
  const needed = [...urls]
  await context.close()
  const asker = new HttpClient(base_url, viewer.token)
  const sizes = { script: 0, style: 0, font: 0, rest: 0 }
  for (const url of needed) {
    const { bytes, headers } = await asker.request('GET', url.slice(base_url.length), { 'accept-encoding': 'gzip' })
    const type = headers['content-type'] ?? ''
    const kind = /javascript/.test(type) ? 'script' : /css/.test(type) ? 'style' : /font/.test(type) ? 'font' : 'rest'
    sizes[kind] += bytes.length
  }
  asker.close()
  return { ...sizes, all: Object.values(sizes).reduce((sum, size) => sum + size, 0), requests: needed.length }
}

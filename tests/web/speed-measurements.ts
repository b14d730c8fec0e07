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
import { dragCard, shownOrder } from './board-page-object.ts'
import { type Credentials, logIn } from './page-checks.ts'
import { MEASURE, WORK } from './page-metrics-script.ts'

/** A user of the browser or the API. */
export interface Person extends Credentials {
  id: string
  token: string
}
/** A service, a browser, and two users. */
export interface SpeedEnvironment {
  baseUrl: string
  sql: pg.Pool
  browser: Browser
  viewer: Person
  writer: Person
}

const PASSWORD = 'hush-hush correct horse'

export async function join(baseUrl: string, username: string): Promise<Person> {
  const anybody = new Client(baseUrl)
  const email = `${username}@example.com`
  const { id } = await anybody.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token: token } = await anybody.call('login', { body: { username: email, password: PASSWORD } })
  return { id, email, password: PASSWORD, token }
}

/** Creates a board of five columns. Ranks have the server's usual gaps, so that moves do not trigger a rebalancing. */
export async function largeBoard({ sql, viewer, writer }: SpeedEnvironment, cards: number): Promise<string> {
  const board_id = await makeLargeBoard(sql, [viewer.id, writer.id], cards)
  await sql.query('update cards set rank = rank * $2::int8 where board_id = $1', [board_id, GAP])
  return board_id
}

/**
 * The speed of this machine relative to the reference, as a factor between 1 and 2 for the bounds. The reference is the duration
 * of the same work in the same browser on two idle cores of a Xeon server, on which the bounds were measured.
 */
const REFERENCE_MS = 14
export async function calibrate(browser: Browser): Promise<{ workMs: number; factor: number }> {
  const page = await browser.newPage()
  const times = (await page.evaluate(WORK)) as number[]
  await page.close()
  const workMs = at(times, 50)
  return { workMs, factor: Math.min(2, Math.max(1, workMs / REFERENCE_MS)) }
}

export const at = (times: readonly number[], share: number) =>
  percentileOfSorted(
    times.toSorted((a, b) => a - b),
    share,
  )

/** Waits for a condition in the page. Playwright's waitForFunction uses eval, which the Content-Security-Policy forbids. */
async function until(page: Page, condition: string) {
  await eventually(condition, async () => {
    await pause(30)
    return (await page.evaluate(condition)) === true
  })
}

export const boardPath = (board_id: string) => `/b/${board_id}`
export const openMeasured = (env: SpeedEnvironment, board_id: string) => openMeasuredPage(env, boardPath(board_id))

/** Opens a board, or the list of boards, in a new browser context, measured from the start. */
async function openMeasuredPage({ browser, baseUrl, viewer }: SpeedEnvironment, path: string): Promise<Page> {
  const context = await logIn(browser, baseUrl, viewer)
  const page = await context.newPage()
  await page.addInitScript(MEASURE)
  await page.goto(`${baseUrl}/app${path}`)
  await until(page, 'measured.interactive !== undefined')
  return page
}

/** Time from navigation to interactive, each in a new browser context. The server is warm. */
export async function measureLoads(env: SpeedEnvironment, path: string, count: number) {
  const loads: { firstCard: number; interactive: number; long: { start: number; ms: number }[] }[] = []
  for (let i = 0; i <= count; i++) {
    const page = await openMeasuredPage(env, path)
    const load = await page.evaluate('({ ...measured, afterPaint: null, listenTo: null, countFrames: null })')
    // The first load only warms the server.
    if (i > 0) loads.push(load as (typeof loads)[number])
    await page.context().close()
  }
  return {
    firstCard: loads.map((load) => load.firstCard),
    interactive: loads.map((load) => load.interactive),
    longMs: loads.flatMap((load) => load.long.map(({ ms }) => ms)),
  }
}

/** Time from a mouse drop until the card is painted in its new position. */
export async function measureDrops(page: Page, count: number): Promise<number[]> {
  for (let i = 0; i < count; i++) {
    const columns = await shownOrder(page)
    const [from, to] = [columns[i % 3], columns[(i + 1 + (i % 2)) % 3]]
    assert.ok(from && to)
    await dragCard(page, from[1][i % 3] ?? '', to[0], 1 + (i % 3))
    await until(page, `measured.drops.length > ${i}`)
  }
  const drops = (await page.evaluate('measured.drops')) as { ms: number; isPlaced: boolean }[]
  assert.ok(
    drops.every(({ isPlaced }) => isPlaced),
    'a drop was not painted in the first frame',
  )
  return drops.map(({ ms }) => ms)
}

/** Time from a change sent by another client until it is painted. */
export async function measureEcho(page: Page, { baseUrl, writer }: SpeedEnvironment, count: number): Promise<number[]> {
  const connection = new HttpClient(baseUrl, writer.token)
  const card_id = (await page.evaluate(`document.querySelector('[data-card-id]').dataset.cardId`)) as string
  await page.evaluate(`measured.listenTo('${card_id}')`)
  for (let i = 0; i < count; i++) {
    const { status } = await connection.json('PATCH', `/cards/${card_id}`, { title: `sent at ${Date.now()}` })
    assert.equal(status, 200)
    await until(page, `measured.echoes.length > ${i}`)
    // Vary the offset within a frame.
    await pause(5 + ((i * 7) % 40))
  }
  connection.close()
  return (await page.evaluate('measured.echoes')) as number[]
}

/** Time from a key press in the filter until the letter is painted, and until the filtered cards are. */
export async function measureFilter(
  page: Page,
  { baseUrl, viewer }: SpeedEnvironment,
  board_id: string,
  rounds: number,
) {
  const { columns } = await new Client(baseUrl, viewer.token).call('getBoard', { params: { board_id } })
  const texts = columns.flatMap(({ cards }) => cards.map((card) => `${card.title} ${card.description}`.toLowerCase()))
  const countOf = (typed: string) => {
    const words = typed.toLowerCase().split(' ').filter(Boolean)
    const shown = texts.filter((text) => words.every((word) => text.includes(word))).length
    const [some, all] = [shown, texts.length].map((count) => count.toLocaleString('en-US'))
    return words.length === 0 ? `${all} cards` : `${some} of ${all} cards`
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
  const keys = (await page.evaluate('measured.keys')) as { letterMs: number; cardsMs: number }[]
  return { letter: keys.map(({ letterMs }) => letterMs), cards: keys.map(({ cardsMs }) => cardsMs) }
}

/** Cards that are visible on a page. */
const visibleCards = (page: Page) =>
  page.evaluate(
    `[...document.querySelectorAll('.column')].flatMap((column) => [...column.querySelectorAll('[data-card-id]')].slice(0, 6).map((card) => card.dataset.cardId))`,
  ) as Promise<string[]>

/** Sends changes of cards at a given rate: titles, and every fifth time a move. Returns the rate and the last new title. */
async function sendChanges({ baseUrl, writer }: SpeedEnvironment, ids: string[], seconds: number, rate: number) {
  const connection = new HttpClient(baseUrl, writer.token)
  const began = performance.now()
  let inFlight = 0
  let [done, rejected, last] = [0, 0, '']
  const change = async (i: number) => {
    const id = ids[i % ids.length]
    const title = `Change ${i}`
    inFlight++
    const { status } =
      i % 5 === 4
        ? await connection.json('POST', `/cards/${id}/move`, { after_id: null })
        : await connection.json('PATCH', `/cards/${id}`, { title })
    inFlight--
    if (status === 200) done++
    else rejected++
    if (status === 200 && i % 5 !== 4) last = title
  }
  const changes: Promise<void>[] = []
  for (let i = 0; i < seconds * rate; i++) {
    // At most four requests in flight. If the server is slower, the reported rate is lower.
    if (inFlight < 4) changes.push(change(i))
    const wait = began + ((i + 1) * 1_000) / rate - performance.now()
    if (wait > 0) await pause(wait)
  }
  await Promise.all(changes)
  connection.close()
  return { rate: (done * 1_000) / (performance.now() - began), rejected, last }
}

/** Frames a second of a page while others change visible cards of its board. */
export async function measureBurst(page: Page, env: SpeedEnvironment, seconds: number, rate: number) {
  const ids = await visibleCards(page)
  const since = (await page.evaluate('performance.now()')) as number
  const { frames, last, ...sent } = await framesDuring(page, () => sendChanges(env, ids, seconds, rate))
  await until(page, `document.body.innerText.includes('${last}')`)
  const long = (await page.evaluate(`measured.long.filter(({ start }) => start > ${since})`)) as { ms: number }[]
  return { ...sent, frames, long: long.map(({ ms }) => ms) }
}

/** Frames a second of a page while others change cards of another board: the service and the browser share the machine. */
export async function measureBurstElsewhere(
  page: Page,
  env: SpeedEnvironment,
  board_id: string,
  seconds: number,
  rate: number,
) {
  const other = await openMeasured(env, board_id)
  const ids = await visibleCards(other)
  await other.context().close()
  return framesDuring(page, () => sendChanges(env, ids, seconds, rate))
}

async function framesDuring<T>(page: Page, work: () => Promise<T>): Promise<T & { frames: number }> {
  await page.evaluate('measured.countFrames()')
  const since = (await page.evaluate('measured.frames = 0, performance.now()')) as number
  const result = await work()
  const [endedAt, frames] = (await page.evaluate('[performance.now(), measured.frames]')) as [number, number]
  return { ...result, frames: (frames * 1_000) / (endedAt - since) }
}

/** The sum of unexpected layout shifts. */
export async function layoutShift(page: Page): Promise<number> {
  const shifts = (await page.evaluate('measured.shifts')) as { value: number; isExpected: boolean }[]
  return shifts.filter(({ isExpected }) => !isExpected).reduce((sum, { value }) => sum + value, 0)
}

/** Bytes after gzip that the first visit of a board loads, by type, including the API responses. */
export async function measureBytes(env: SpeedEnvironment, board_id: string) {
  const { browser, baseUrl, viewer } = env
  const context = await logIn(browser, baseUrl, viewer)
  const page = await context.newPage()
  const urls = new Set<string>()
  page.on('request', (request) => urls.add(request.url()))
  await page.goto(`${baseUrl}/app/b/${board_id}`)
  await page.locator('.card-title').first().waitFor()
  // Later requests are prefetches.
  const needed = [...urls]
  await context.close()
  const connection = new HttpClient(baseUrl, viewer.token)
  const sizes = { script: 0, style: 0, font: 0, rest: 0 }
  for (const url of needed) {
    const { bytes, headers } = await connection.request('GET', url.slice(baseUrl.length), {
      'accept-encoding': 'gzip',
    })
    const type = headers['content-type'] ?? ''
    const kind = /javascript/.test(type) ? 'script' : /css/.test(type) ? 'style' : /font/.test(type) ? 'font' : 'rest'
    sizes[kind] += bytes.length
  }
  connection.close()
  return { ...sizes, all: Object.values(sizes).reduce((sum, size) => sum + size, 0), requests: needed.length }
}

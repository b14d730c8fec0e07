import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf } from './board-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

/** Runs in the page: records when a card starts to fly. */
const RECORD_FLIGHTS = `globalThis.flights = []
  new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes]))
      if (node.className === 'flight') flights.push({ at: Date.now(), text: node.textContent })
  }).observe(document.body, { childList: true })`
interface Flight {
  at: number
  text: string
}
const flightsOn = (page: Page) => page.evaluate('flights') as Promise<Flight[]>

/** Opens the page of Ada, who watches, and of Grace, who moves cards. */
async function openPages(reducedMotion: 'no-preference' | 'reduce') {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: ['three'] })
  const watching = await env.openPage(board.ada, board.path, { reducedMotion })
  const moving = await env.openPage(board.grace, board.path)
  for (const page of [watching, moving]) {
    await page.getByText('Live').waitFor()
    await page.evaluate(RECORD_FLIGHTS)
  }
  return { board, watching, moving }
}
/** Moves the first card to the second column, and returns the time of the response. */
async function moveCard(page: Page, board: TestBoard): Promise<number> {
  const responded = page.waitForResponse((response) => response.url().endsWith(`/cards/${board.cards['one']}/move`))
  await cardOf(page, 'one').locator('.card-title').focus()
  await page.keyboard.press('Shift+ArrowRight')
  const response = await responded
  await response.finished()
  const { startTime, responseEnd } = response.request().timing()
  return startTime + responseEnd
}

test('[WEB-144] a card that someone else moves flies to its new column within 100 ms of the response', async () => {
  const { board, watching, moving } = await openPages('no-preference')
  const respondedAt = await moveCard(moving, board)
  await expect.poll(() => flightsOn(watching)).toHaveLength(1)
  const [flight] = await flightsOn(watching)
  const waited = Math.round((flight?.at ?? 0) - respondedAt)
  console.log(`The card flew ${waited} ms after the response.`)
  // Machines are shared, so that the bound is ten times as long.
  expect(waited).toBeLessThan(1_000)
  expect(flight?.text).toContain('one')
  expect(flight?.text).toContain(`${board.grace.username} moved this`)
  await watching.locator('.flight').waitFor({ state: 'detached' })
  expect(await env.waitForSync(board, watching, moving)).toEqual([
    ['To do', ['two']],
    ['Doing', ['one', 'three']],
  ])
  // The user's own moves do not fly.
  expect(await flightsOn(moving)).toEqual([])
  await checkAndClose(watching)
  await checkAndClose(moving)
})

test('[WEB-144] with reduced motion no card flies', async () => {
  const { board, watching, moving } = await openPages('reduce')
  await moveCard(moving, board)
  await env.waitForSync(board, watching, moving)
  await cardOf(watching, 'one').locator('.card-mark').waitFor()
  expect(await flightsOn(watching)).toEqual([])
  await checkAndClose(watching)
  await checkAndClose(moving)
})

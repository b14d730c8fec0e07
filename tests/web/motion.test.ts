// @module-tag journey
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

/** Runs in the page: records when the animation of a card starts. */
const RECORD_ANIMATIONS = `globalThis.animations = []
  new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes]))
      if (node.className === 'moving-card') animations.push({ at: Date.now(), text: node.textContent })
  }).observe(document.body, { childList: true })`
interface RecordedAnimation {
  at: number
  text: string
}
const animationsOn = (page: Page) => page.evaluate('animations') as Promise<RecordedAnimation[]>

/** Opens the page of Ada, who watches, and of Grace, who moves cards. */
async function openPages(reducedMotion: 'no-preference' | 'reduce') {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: ['three'] })
  const watching = await env.openPage(board.ada, board.path, { reducedMotion })
  const moving = await env.openPage(board.grace, board.path)
  for (const page of [watching, moving]) {
    await page.getByText('Live').waitFor()
    await page.evaluate(RECORD_ANIMATIONS)
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

test('[WEB-144] a card that someone else moves is animated to its new column within 100 ms of the response', async () => {
  const { board, watching, moving } = await openPages('no-preference')
  const respondedAt = await moveCard(moving, board)
  await expect.poll(() => animationsOn(watching)).toHaveLength(1)
  const [animated] = await animationsOn(watching)
  const waited = Math.round((animated?.at ?? 0) - respondedAt)
  console.log(`The card flew ${waited} ms after the response.`)
  // Machines are shared, so that the bound is ten times as long.
  expect(waited).toBeLessThan(1_000)
  expect(animated?.text).toContain('one')
  expect(animated?.text).toContain(`${board.grace.username} moved this`)
  await watching.locator('.moving-card').waitFor({ state: 'detached' })
  expect(await env.waitForSync(board, watching, moving)).toEqual([
    ['To do', ['two']],
    ['Doing', ['one', 'three']],
  ])
  // The user's own moves are not animated.
  expect(await animationsOn(moving)).toEqual([])
  await checkAndClose(watching)
  await checkAndClose(moving)
})

test('[WEB-144] with reduced motion no card is animated', async () => {
  const { board, watching, moving } = await openPages('reduce')
  await moveCard(moving, board)
  await env.waitForSync(board, watching, moving)
  await cardOf(watching, 'one').locator('.card-mark').waitFor()
  expect(await animationsOn(watching)).toEqual([])
  await checkAndClose(watching)
  await checkAndClose(moving)
})

/** Runs in the page: records when the cards of a column change their order, and whether that is animated. */
const RECORD_REORDERS = `globalThis.reorders = []
  const list = document.querySelector('.column-cards ol')
  new MutationObserver(() => reorders.push({ at: performance.now(), isAnimated: list.classList.contains('is-settling') }))
    .observe(list, { subtree: true, attributeFilter: ['data-index'] })`
interface RecordedReorder {
  at: number
  isAnimated: boolean
}

test('[WEB-190] a column is animated when its order changes, but not again within a second', async () => {
  const titles = ['one', 'two', 'three', 'four', 'five']
  const board = await env.createBoard({ 'To do': titles })
  const page = await env.openPage(board.ada, board.path, { reducedMotion: 'no-preference' })
  await page.getByText('Live').waitFor()
  await page.evaluate(RECORD_REORDERS)
  const raise = async (title: string) => {
    await board.grace.api.call('moveCard', { params: { card_id: board.cards[title] ?? '' }, body: { after_id: null } })
    await expect.poll(() => page.locator('.card-title').first().textContent(), { interval: 5 }).toBe(title)
  }
  for (const title of [...titles, ...titles]) await raise(title)
  await page.waitForTimeout(1_300)
  await raise('three')
  const reorders = (await page.evaluate('reorders')) as RecordedReorder[]
  // Classified by the time between them, because the moves may take any time on a busy machine.
  const followers = reorders.slice(1).map(({ at, isAnimated }, i) => ({ gap: at - (reorders[i]?.at ?? 0), isAnimated }))
  const [fast, slow] = [followers.filter(({ gap }) => gap < 900), followers.filter(({ gap }) => gap > 1_100)]
  expect(reorders[0]?.isAnimated).toBe(true)
  expect(fast.length).toBeGreaterThan(0)
  expect(fast.filter(({ isAnimated }) => isAnimated)).toEqual([])
  expect(slow.length).toBeGreaterThan(0)
  expect(slow.filter(({ isAnimated }) => !isAnimated)).toEqual([])
  await checkAndClose(page)
})

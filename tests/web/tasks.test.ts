import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClickHands, handledOf, KeyboardHands, WATCH } from './hands.ts'
import { finish } from './pages.ts'
import { makePlan, type Plan } from './plan.ts'
import { openStage, type Stage } from './stage.ts'
import { lanes, type Task, tasks } from './tasks.ts'

let stage: Stage
let people: Pick<Plan, 'ada' | 'grace' | 'stranger'>
beforeAll(async () => {
  stage = await openStage()
  const [ada, grace, stranger] = await Promise.all([stage.service.user(), stage.service.user(), stage.service.user()])
  people = { ada, grace, stranger }
})
afterAll(() => stage.close())

const effort: Record<string, { keys?: number; clicks?: number }> = {}
/** How many keys and clicks each task takes, besides the typed text. */
afterAll(() => console.table(effort))

/** A page where the task begins, with nothing done to it yet, and the focus nowhere. */
async function begin(page: Page, task: Task): Promise<Plan> {
  const plan = await makePlan(page, people, lanes)
  if (task.from === '/login') await page.context().clearCookies()
  await page.goto(`${stage.service.base_url}/app${task.from ?? `/b/${plan.id}`}`)
  await page.locator('h1').waitFor()
  if (!task.from) await page.locator('main.board').waitFor()
  return plan
}

/** One page for all tasks: each of them has a board of its own. */
function usePage() {
  const own: { page?: Page } = {}
  beforeAll(async () => {
    const page = await stage.enter(people.ada, '/boards')
    await page.addInitScript(WATCH)
    page.setDefaultTimeout(8_000)
    page.on('dialog', (dialog) => void dialog.accept())
    own.page = page
  })
  afterAll(async () => {
    // Whether somebody is logged in is found out by asking, and browsers note every refusal.
    if (own.page) await finish(own.page, { but: /status of 401 .*\/auth\/me/ })
  })
  return () => own.page as Page
}

test('there are twenty-four', () => {
  expect(new Set(tasks.map(({ name }) => name)).size).toBe(24)
})

describe('by keyboard', () => {
  const at = usePage()
  test.each(tasks)('[WEB-70] by keyboard alone, with the focus never lost: $name', async (task) => {
    const page = at()
    const plan = await begin(page, task)
    const hands = new KeyboardHands(page)
    await task.by_keyboard(hands, plan)
    await expect.poll(() => task.check(plan).then(() => 'done', String)).toBe('done')
    await expect.poll(() => page.evaluate('document.activeElement !== document.body')).toBe(true)
    expect((await handledOf(page)).pointed).toBe(0)
    effort[task.name] = { ...effort[task.name], keys: hands.keys }
  })
})

describe('by click', () => {
  const at = usePage()
  test.each(tasks)('[WEB-71] by clicks alone, without a drag: $name', async (task) => {
    const page = at()
    const plan = await begin(page, task)
    const hands = new ClickHands(page)
    await task.by_click(hands, plan)
    await expect.poll(() => task.check(plan).then(() => 'done', String)).toBe('done')
    const { dragged, shortcuts } = await handledOf(page)
    expect({ dragged, shortcuts }).toEqual({ dragged: 0, shortcuts: [] })
    effort[task.name] = { ...effort[task.name], clicks: hands.clicks }
  })
})

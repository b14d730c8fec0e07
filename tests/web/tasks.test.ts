// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { KeyboardUser } from './keyboard-user.ts'
import { MouseUser } from './mouse-user.ts'
import { checkAndClose } from './page-checks.ts'
import { RECORD_INPUT, recordedInput } from './page-user.ts'
import { createTaskBoard, type TaskBoard, type TaskUsers } from './task-board.ts'
import { columns, type Task, tasks } from './tasks.ts'

let env: TestEnvironment
let users: TaskUsers
beforeAll(async () => {
  env = await openEnvironment()
  const [ada, grace, nonMember] = await Promise.all([env.service.user(), env.service.user(), env.service.user()])
  users = { ada, grace, nonMember }
})
afterAll(() => env.close())

const effort: Record<string, { keys?: number; clicks?: number }> = {}
/** The number of keys and clicks of each task, without typed text. */
afterAll(() => console.table(effort))

/** Opens the start page of a task, with a new board. */
async function begin(page: Page, task: Task): Promise<TaskBoard> {
  const board = await createTaskBoard(page, users, columns)
  if (task.from === '/login') {
    // Leave the page first: the list of boards polls, and the browser would log its 401.
    await page.goto('about:blank')
    await page.context().clearCookies()
  }
  await page.goto(`${env.service.baseUrl}/app${task.from ?? `/b/${board.id}`}`)
  await page.locator('h1').waitFor()
  if (!task.from) await page.locator('main.board').waitFor()
  return board
}

/** One page for all tasks. Every task has its own board. */
function usePage() {
  const own: { page?: Page } = {}
  beforeAll(async () => {
    const page = await env.openPage(users.ada, '/boards')
    await page.addInitScript(RECORD_INPUT)
    page.setDefaultTimeout(8_000)
    own.page = page
  })
  afterAll(async () => {
    // A stored login without its cookie is checked with a request, and browsers log its 401.
    if (own.page) await checkAndClose(own.page, { ignore: /status of 401 .*\/auth\/me/ })
  })
  return () => own.page as Page
}

test('there are 24 tasks', () => {
  expect(new Set(tasks.map(({ name }) => name)).size).toBe(24)
})

describe('keyboard', () => {
  const at = usePage()
  test.each(tasks)('[WEB-70] with the keyboard alone, without losing the focus: $name', async (task) => {
    const page = at()
    const board = await begin(page, task)
    const user = new KeyboardUser(page)
    await task.withKeyboard(user, board)
    await expect.poll(() => task.check(board).then(() => 'done', String)).toBe('done')
    await expect.poll(() => page.evaluate('document.activeElement !== document.body')).toBe(true)
    expect((await recordedInput(page)).pointed).toBe(0)
    effort[task.name] = { ...effort[task.name], keys: user.keys }
  })
})

describe('mouse', () => {
  const at = usePage()
  test.each(tasks)('[WEB-71] with clicks alone, without dragging: $name', async (task) => {
    const page = at()
    const board = await begin(page, task)
    const user = new MouseUser(page)
    await task.withMouse(user, board)
    await expect.poll(() => task.check(board).then(() => 'done', String)).toBe('done')
    const { dragged, shortcuts } = await recordedInput(page)
    expect({ dragged, shortcuts }).toEqual({ dragged: 0, shortcuts: [] })
    effort[task.name] = { ...effort[task.name], clicks: user.clicks }
  })
})

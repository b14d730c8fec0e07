// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, dragCard } from './board-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { chooseOption } from './layers.ts'
import { announcements, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

/** Opens the automation dialog from the board menu. */
async function openRules(page: Page) {
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Automation' }).click()
  const dialog = page.getByRole('dialog', { name: 'Automation' })
  await dialog.waitFor()
  return dialog
}
/** Adds a rule with these choices. */
async function addRule(page: Page, choices: Record<string, string>) {
  const dialog = page.getByRole('dialog', { name: 'Automation' })
  await dialog.getByRole('button', { name: 'New rule' }).click()
  const form = dialog.getByRole('form', { name: 'New rule' })
  for (const [label, option] of Object.entries(choices))
    await chooseOption(form.getByRole('combobox', { name: label, exact: true }), option)
  await form.getByRole('button', { name: 'Add rule' }).click()
  await form.waitFor({ state: 'detached' })
}
const moveToReview = { 'When a card': 'moves to', Column: 'Doing', Then: 'move it to', 'Move to column': 'Review' }
const waitForRuleMark = (page: Page) => page.locator('.card-mark', { hasText: 'A rule' }).first().waitFor()

async function createLabel(board: TestBoard) {
  const { id } = await board.ada.api.call('createLabel', {
    params: { board_id: board.id },
    body: { name: 'urgent', color: '#d33a2c' },
  })
  return id
}

test('[WEB-65] a rule moves a dragged card on; all pages show and announce it', { tags: ['smoke'] }, async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: [], Review: ['three'] })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  await openRules(a)
  await addRule(a, moveToReview)
  await a.getByText('When a card moves to Doing, move it to Review').first().waitFor()
  await a.keyboard.press('Escape')

  await dragCard(a, 'one', 'Doing', 0)
  await Promise.all([waitForRuleMark(a), waitForRuleMark(b)])
  const moved = [
    ['To do', ['two']],
    ['Doing', []],
    ['Review', ['three', 'one']],
  ]
  expect(await env.waitForSync(board, a, b)).toEqual(moved)
  // The change is announced as well.
  await expect.poll(() => announcements(b).join(), { timeout: 8_000 }).toContain('“one”')
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-65] a label triggers an assignment; the history lists the runs, and a disabled rule does nothing', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: [], Review: [] })
  await createLabel(board)
  const page = await env.openPage(board.ada, board.path)
  await openRules(page)
  await addRule(page, moveToReview)
  await addRule(page, {
    'When a card': 'gets the label',
    Label: 'urgent',
    Then: 'assign',
    Member: board.grace.username,
  })
  await page.keyboard.press('Escape')

  const urgent = async (title: string) => {
    await cardOf(page, title).locator('a').focus()
    await page.keyboard.press('l')
    await page.getByRole('option', { name: 'urgent', selected: false }).click()
    await page.keyboard.press('Escape')
  }
  await urgent('one')
  await cardOf(page, 'one').getByRole('img', { name: board.grace.username }).waitFor()
  await cardOf(page, 'one').locator('a').focus()
  await page.keyboard.press('Shift+ArrowRight')
  await expect.poll(async () => (await env.waitForSync(board, page))[2]).toEqual(['Review', ['one']])

  const dialog = await openRules(page)
  const log = dialog.getByRole('region', { name: 'History' })
  await expect.poll(() => log.getByRole('listitem').count()).toBe(2)
  const [newest, older] = await log.getByRole('listitem').allTextContents()
  expect(newest).toContain('“one”moved')
  expect(older).toContain('“one”assigned')

  for (const rule of await dialog.getByRole('switch').all()) await rule.click()
  await expect.poll(() => dialog.getByRole('switch', { checked: false }).count()).toBe(2)
  await page.keyboard.press('Escape')
  await urgent('two')
  await cardOf(page, 'two').locator('a').focus()
  await page.keyboard.press('Shift+ArrowRight')
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', []],
    ['Doing', ['two']],
    ['Review', ['one']],
  ])
  const { assignees } = await board.ada.api.call('getCard', { params: { card_id: board.cards['two'] ?? '' } })
  expect(assignees).toEqual([])
  await checkAndClose(page)
})

test('[WEB-65] a member can read the rules and their history, and can’t change them', async () => {
  const board = await env.createBoard({ 'To do': ['one'], Doing: [], Review: [] })
  await board.ada.api.call('createRule', {
    params: { board_id: board.id },
    body: {
      name: 'On to review',
      trigger_type: 'CARD_MOVED',
      trigger_column_id: board.columns['Doing'] ?? '',
      action_type: 'MOVE_TO_COLUMN',
      action_column_id: board.columns['Review'] ?? '',
    },
  })
  const page = await env.openPage(board.grace, board.path)
  await cardOf(page, 'one').locator('a').focus()
  await page.keyboard.press('Shift+ArrowRight')
  await expect.poll(async () => (await env.waitForSync(board, page))[2]).toEqual(['Review', ['one']])
  const dialog = await openRules(page)
  await dialog.getByText('When a card moves to Doing, move it to Review').waitFor()
  await dialog.getByText('Only owners can change rules.').waitFor()
  await dialog.getByRole('region', { name: 'History' }).getByText('On to review').waitFor()
  expect(await dialog.getByRole('switch').count()).toBe(0)
  expect(await dialog.getByRole('button', { name: /rule|^(Edit|Delete)/i }).count()).toBe(0)
  await page.keyboard.press('n')
  expect(await dialog.getByRole('form').count()).toBe(0)
  await checkAndClose(page)
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, dragCard } from './board-hands.ts'
import { finish, liveRegion } from './pages.ts'
import { openStage, type Stage, type StageBoard } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

/** Goes to the rules of the board, by the menu. */
async function openRules(page: Page) {
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Automation' }).click()
  const dialog = page.getByRole('dialog', { name: 'Automation' })
  await dialog.waitFor()
  return dialog
}
/** Makes a rule by choosing what its sentence says. */
async function makeRule(page: Page, gaps: Record<string, string>) {
  const dialog = page.getByRole('dialog', { name: 'Automation' })
  await dialog.getByRole('button', { name: 'New rule' }).click()
  const form = dialog.getByRole('form', { name: 'New rule' })
  for (const [label, option] of Object.entries(gaps)) {
    await form.getByRole('combobox', { name: label, exact: true }).selectOption({ label: option })
  }
  await form.getByRole('button', { name: 'Add the rule' }).click()
  await form.waitFor({ state: 'detached' })
}
const moveToReview = { 'When a card': 'moves to', Lane: 'Doing', Then: 'move it to', 'Lane to move it to': 'Review' }
const saysRule = (page: Page) => page.locator('.card-mark', { hasText: 'A rule' }).first().waitFor()

async function withLabel(board: StageBoard) {
  const { id } = await board.ada.api.call('createLabel', {
    params: { board_id: board.id },
    body: { name: 'urgent', color: '#d33a2c' },
  })
  return id
}

test('[WEB-65] a card that is moved by hand makes its second hop by a rule, on all pages, and they say so', async () => {
  const board = await stage.board({ 'To do': ['one', 'two'], Doing: [], Review: ['three'] })
  const a = await stage.enter(board.ada, board.path)
  const b = await stage.enter(board.grace, board.path)
  await openRules(a)
  await makeRule(a, moveToReview)
  await a.getByText('When a card moves to Doing, move it to Review').first().waitFor()
  await a.keyboard.press('Escape')

  await dragCard(a, 'one', 'Doing', 0)
  await Promise.all([saysRule(a), saysRule(b)])
  const hopped = [
    ['To do', ['two']],
    ['Doing', []],
    ['Review', ['three', 'one']],
  ]
  expect(await stage.agreed(board, a, b)).toEqual(hopped)
  // Those who listen hear it as well.
  await expect.poll(() => liveRegion(b).join(), { timeout: 8_000 }).toContain('“one”')
  await finish(a)
  await finish(b)
}, 40_000)

test('[WEB-65] a label assigns; the log shows what the rules did, and a rule that is off does nothing', async () => {
  const board = await stage.board({ 'To do': ['one', 'two'], Doing: [], Review: [] })
  await withLabel(board)
  const page = await stage.enter(board.ada, board.path)
  await openRules(page)
  await makeRule(page, moveToReview)
  await makeRule(page, {
    'When a card': 'gets the label',
    Label: 'urgent',
    Then: 'assign',
    Member: board.grace.username,
  })
  await page.keyboard.press('Escape')

  const urgent = async (title: string) => {
    await cardOf(page, title).locator('a').focus()
    await page.keyboard.press('l')
    await page.getByRole('checkbox', { name: 'urgent' }).check()
    await page.keyboard.press('Escape')
  }
  await urgent('one')
  await cardOf(page, 'one').getByRole('img', { name: board.grace.username }).waitFor()
  await cardOf(page, 'one').locator('a').focus()
  await page.keyboard.press('Shift+ArrowRight')
  await expect.poll(async () => (await stage.agreed(board, page))[2]).toEqual(['Review', ['one']])

  const dialog = await openRules(page)
  const log = dialog.getByRole('region', { name: 'What the rules did' })
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
  expect(await stage.agreed(board, page)).toEqual([
    ['To do', []],
    ['Doing', ['two']],
    ['Review', ['one']],
  ])
  const { assignees } = await board.ada.api.call('getCard', { params: { card_id: board.cards['two'] ?? '' } })
  expect(assignees).toEqual([])
  await finish(page)
}, 40_000)

test('[WEB-65] a member reads the rules and what they did, and has nothing to change them with', async () => {
  const board = await stage.board({ 'To do': ['one'], Doing: [], Review: [] })
  await board.ada.api.call('createRule', {
    params: { board_id: board.id },
    body: {
      name: 'On to review',
      trigger_type: 'CARD_MOVED',
      trigger_column_id: board.lanes['Doing'] ?? '',
      action_type: 'MOVE_TO_COLUMN',
      action_column_id: board.lanes['Review'] ?? '',
    },
  })
  const page = await stage.enter(board.grace, board.path)
  await cardOf(page, 'one').locator('a').focus()
  await page.keyboard.press('Shift+ArrowRight')
  await expect.poll(async () => (await stage.agreed(board, page))[2]).toEqual(['Review', ['one']])
  const dialog = await openRules(page)
  await dialog.getByText('When a card moves to Doing, move it to Review').waitFor()
  await dialog.getByText('Only owners can change rules.').waitFor()
  await dialog.getByRole('region', { name: 'What the rules did' }).getByText('On to review').waitFor()
  expect(await dialog.getByRole('switch').count()).toBe(0)
  expect(await dialog.getByRole('button', { name: /rule|^(Edit|Delete)/i }).count()).toBe(0)
  await page.keyboard.press('n')
  expect(await dialog.getByRole('form').count()).toBe(0)
  await finish(page)
})

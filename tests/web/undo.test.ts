// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, columnOf } from './board-page-object.ts'
import { openCard } from './card-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { dialogs } from './layers.ts'
import { checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

/** The board on the server, with everything that a change can affect. */
async function storedBoard({ ada, id }: TestBoard) {
  const { columns } = await ada.api.call('getBoard', { params: { board_id: id } })
  return columns.map((column) => ({
    id: column.id,
    title: column.title,
    cards: column.cards.map((card) => ({
      id: card.id,
      title: card.title,
      description: card.description,
      labels: card.labels.map(({ name }) => name),
      people: card.assignees.map(({ username }) => username),
      checklists: card.checklists.map(({ title, items }) => [title, items.map((item) => [item.content, item.is_done])]),
    })),
  }))
}
const focus = (page: Page, title: string) => cardOf(page, title).locator('.card-title').focus()
const undo = (page: Page) => page.keyboard.press('Control+z')
const redo = (page: Page) => page.keyboard.press('Control+Shift+z')

/** Opens a board with a card that has everything except attachments. */
async function openFullBoard() {
  const board = await env.createBoard({ 'To do': ['full', 'two'], Doing: ['three'], Done: [] })
  const { api } = board.ada
  const card = { card_id: board.cards['full'] ?? '' }
  const label = await api.call('createLabel', {
    params: { board_id: board.id },
    body: { name: 'urgent', color: '#d33a2c' },
  })
  await api.call('addCardLabel', { params: { ...card, label_id: label.id } })
  await api.call('assignCard', { params: card, body: { user_ids: [board.grace.id] } })
  await api.call('updateCard', { params: card, body: { description: 'all about it' } })
  const list = await api.call('createChecklist', { params: card, body: { title: 'Steps' } })
  for (const content of ['first', 'second'])
    await api.call('createItem', { params: { checklist_id: list.id }, body: { content } })
  const page = await env.openPage(board.ada, board.path)
  return { board, page }
}

const chooseFromColumnMenu = async (page: Page, column: string, item: string) => {
  await columnOf(page, column)
    .getByRole('button', { name: `Actions for ${column}`, exact: true })
    .click()
  await page.getByRole('menuitem', { name: item }).click()
}
const toggleLabel = async (page: Page) => {
  await page.keyboard.press('l')
  await page.getByRole('option', { name: 'urgent' }).click()
  await page.keyboard.press('Escape')
}
/** All kinds of changes, made through the user interface. */
const changes: [what: string, act: (page: Page) => Promise<unknown>][] = [
  [
    'a new card',
    async (page) => {
      await focus(page, 'two')
      await page.keyboard.press('n')
      await page.keyboard.type('new')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Escape')
    },
  ],
  [
    'a new title',
    async (page) => {
      await focus(page, 'two')
      await page.keyboard.press('e')
      await page.keyboard.type('renamed')
      await page.keyboard.press('Enter')
    },
  ],
  ['a move within the column', (page) => focus(page, 'full').then(() => page.keyboard.press('Shift+ArrowDown'))],
  ['a move across columns', (page) => focus(page, 'full').then(() => page.keyboard.press('Shift+ArrowRight'))],
  ['an archived card with all its content', (page) => focus(page, 'full').then(() => page.keyboard.press('Delete'))],
  [
    'a deleted card with all its content',
    (page) => focus(page, 'full').then(() => page.keyboard.press('Shift+Delete')),
  ],
  ['an added label', (page) => focus(page, 'two').then(() => toggleLabel(page))],
  ['a removed label', (page) => focus(page, 'full').then(() => toggleLabel(page))],
  ['an assignment', (page) => focus(page, 'two').then(() => page.keyboard.press('Space'))],
  [
    'an unassignment',
    async (page) => {
      await focus(page, 'full')
      await page.keyboard.press('a')
      await page.getByRole('option', { selected: true }).click()
      await page.keyboard.press('Escape')
    },
  ],
  [
    'a add column',
    async (page) => {
      await focus(page, 'two')
      await page.keyboard.press('c')
      await page.getByLabel('New column name').fill('Later')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Escape')
    },
  ],
  [
    'a new name of a column',
    async (page) => {
      await chooseFromColumnMenu(page, 'Doing', 'Rename')
      await page.getByLabel('Column name').fill('In work')
      await page.keyboard.press('Enter')
    },
  ],
  ['a moved column', (page) => chooseFromColumnMenu(page, 'Doing', 'Move left')],
  ['an archived column with its cards', (page) => chooseFromColumnMenu(page, 'To do', 'Archive column')],
  ['a deleted column with its cards', (page) => chooseFromColumnMenu(page, 'To do', 'Delete column')],
  [
    'a checked item',
    async (page) => {
      await openCard(page, 'full')
      await page.getByRole('checkbox', { name: 'second' }).click()
    },
  ],
  [
    'an added item',
    async (page) => {
      await openCard(page, 'full')
      await page.getByLabel('Add item').fill('third')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Add checklist' }).focus()
    },
  ],
  [
    'a new description',
    async (page) => {
      await openCard(page, 'full')
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByLabel('Description, in Markdown').fill('something else')
      await page.keyboard.press('Control+Enter')
    },
  ],
]

test.each(changes)(
  '[WEB-67] %s can be undone and redone with shortcuts',
  async (_, act) => {
    const { board, page } = await openFullBoard()
    const before = await storedBoard(board)
    const is = (shape: typeof before) => expect.poll(() => storedBoard(board), { timeout: 5_000 }).toEqual(shape)
    await act(page)
    await expect.poll(() => storedBoard(board), { timeout: 5_000 }).not.toEqual(before)
    await env.waitForSync(board, page)
    const after = await storedBoard(board)
    for (let round = 0; round < 2; round++) {
      await undo(page)
      await is(before)
      await redo(page)
      await is(after)
    }
    await undo(page)
    await is(before)
    await env.waitForSync(board, page)
    // The page and the card dialog show the original state.
    if (await dialogs(page).count()) await page.keyboard.press('Escape')
    const dialog = await openCard(page, 'full')
    for (const text of ['urgent', 'all about it', 'second']) await dialog.getByText(text).first().waitFor()
    await checkAndClose(page)
  },
  40_000,
)

test('[WEB-67] several changes are undone in sequence', async () => {
  const { board, page } = await openFullBoard()
  const before = await storedBoard(board)
  await focus(page, 'two')
  for (const key of ['Space', 'Shift+ArrowUp', 'Shift+ArrowRight', 'Shift+ArrowDown', 'Delete'])
    await page.keyboard.press(key)
  await expect.poll(async () => JSON.stringify(await storedBoard(board))).not.toContain('"two"')
  for (let i = 0; i < 5; i++) await undo(page)
  await expect.poll(() => storedBoard(board)).toEqual(before)
  await undo(page)
  expect(await storedBoard(board)).toEqual(before)
  for (let i = 0; i < 5; i++) await redo(page)
  await expect.poll(async () => JSON.stringify(await storedBoard(board))).not.toContain('"two"')
  await checkAndClose(page)
})

describe('after another user changed the same card', () => {
  const theirs = ({ grace, cards }: TestBoard, body: { title?: string; description?: string }) =>
    grace.api.call('updateCard', { params: { card_id: cards['two'] ?? '' }, body })
  const two = async (board: TestBoard) => {
    const columns = await storedBoard(board)
    const column = columns.find(({ cards }) => cards.some(({ id }) => id === board.cards['two']))
    const card = column?.cards.find(({ id }) => id === board.cards['two'])
    return card && { column: column?.title, title: card.title, description: card.description, people: card.people }
  }

  test('[WEB-67] only the user’s own change is undone', async () => {
    const { board, page } = await openFullBoard()
    await focus(page, 'two')
    await page.keyboard.press('Shift+ArrowRight')
    await page.keyboard.press('Space')
    await env.waitForSync(board, page)
    await theirs(board, { title: 'two of Grace', description: 'hers' })
    await cardOf(page, 'two of Grace').waitFor()
    await undo(page)
    await undo(page)
    const hers = { title: 'two of Grace', description: 'hers' }
    await expect.poll(() => two(board)).toEqual({ ...hers, column: 'To do', people: [] })
    await redo(page)
    await redo(page)
    await expect.poll(() => two(board)).toEqual({ ...hers, column: 'Doing', people: [board.ada.username] })
    await checkAndClose(page)
  })

  test('[WEB-67] a restored card contains the changes of others before its deletion', async () => {
    const { board, page } = await openFullBoard()
    await theirs(board, { title: 'two of Grace' })
    await cardOf(page, 'two of Grace').waitFor()
    await focus(page, 'two of Grace')
    await page.keyboard.press('Delete')
    await expect.poll(() => two(board)).toBeUndefined()
    await undo(page)
    await expect.poll(async () => (await two(board))?.title).toBe('two of Grace')
    await checkAndClose(page)
  })

  test('[WEB-67] a text changed by another user is not overwritten, and the user is told', async () => {
    const { board, page } = await openFullBoard()
    await focus(page, 'two')
    await page.keyboard.press('e')
    await page.keyboard.type('two of Ada')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await two(board))?.title).toBe('two of Ada')
    await theirs(board, { title: 'two of Grace' })
    await cardOf(page, 'two of Grace').waitFor()
    await undo(page)
    await page.getByRole('alert', { name: 'One change couldn’t be saved' }).waitFor()
    expect((await two(board))?.title).toBe('two of Grace')
    expect(await env.waitForSync(board, page)).toMatchObject([['To do', ['full', 'two of Grace']], {}, {}])
    await checkAndClose(page, { ignore: /status of 412/ })
  })
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, laneOf } from './board-hands.ts'
import { openCard } from './card-hands.ts'
import { finish } from './pages.ts'
import { openStage, type Stage, type StageBoard } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

/** The board as the service has it, with all that a change can touch. */
async function shapeOf({ ada, id }: StageBoard) {
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

/** A board on which everything can be taken back: one card has all that a card can have, but for files. */
async function openFull() {
  const board = await stage.board({ 'To do': ['full', 'two'], Doing: ['three'], Done: [] })
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
  const page = await stage.enter(board.ada, board.path)
  page.on('dialog', (dialog) => void dialog.accept())
  return { board, page }
}

const laneMenu = async (page: Page, lane: string, item: string) => {
  await laneOf(page, lane)
    .getByRole('button', { name: `Actions for ${lane}`, exact: true })
    .click()
  await page.getByRole('menuitem', { name: item }).click()
}
const toggleLabel = async (page: Page) => {
  await page.keyboard.press('l')
  await page.getByRole('checkbox', { name: 'urgent' }).click()
  await page.keyboard.press('Escape')
}
/** What can be done on a board, each by hand. */
const kinds: [what: string, act: (page: Page) => Promise<unknown>][] = [
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
    'another title',
    async (page) => {
      await focus(page, 'two')
      await page.keyboard.press('e')
      await page.keyboard.type('renamed')
      await page.keyboard.press('Enter')
    },
  ],
  ['a move in the lane', (page) => focus(page, 'full').then(() => page.keyboard.press('Shift+ArrowDown'))],
  ['a move across lanes', (page) => focus(page, 'full').then(() => page.keyboard.press('Shift+ArrowRight'))],
  ['a deleted card with all that is on it', (page) => focus(page, 'full').then(() => page.keyboard.press('Delete'))],
  ['a label put on', (page) => focus(page, 'two').then(() => toggleLabel(page))],
  ['a label taken off', (page) => focus(page, 'full').then(() => toggleLabel(page))],
  ['somebody assigned', (page) => focus(page, 'two').then(() => page.keyboard.press('Space'))],
  [
    'somebody taken off',
    async (page) => {
      await focus(page, 'full')
      await page.keyboard.press('a')
      await page.getByRole('dialog').getByRole('checkbox', { checked: true }).click()
      await page.keyboard.press('Escape')
    },
  ],
  [
    'a new lane',
    async (page) => {
      await focus(page, 'two')
      await page.keyboard.press('c')
      await page.getByLabel('Title of the new lane').fill('Later')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Escape')
    },
  ],
  [
    'another title of a lane',
    async (page) => {
      await laneMenu(page, 'Doing', 'Rename')
      await page.getByLabel('Title of the lane').fill('In work')
      await page.keyboard.press('Enter')
    },
  ],
  ['a lane moved', (page) => laneMenu(page, 'Doing', 'Move left')],
  ['a lane deleted with its cards', (page) => laneMenu(page, 'To do', 'Delete the lane')],
  [
    'an item ticked',
    async (page) => {
      await openCard(page, 'full')
      await page.getByRole('checkbox', { name: 'second' }).click()
    },
  ],
  [
    'an item added',
    async (page) => {
      await openCard(page, 'full')
      await page.getByLabel('Add an item').fill('third')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Add a checklist' }).focus()
    },
  ],
  [
    'another description',
    async (page) => {
      await openCard(page, 'full')
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByLabel('Description, in Markdown').fill('something else')
      await page.keyboard.press('Control+Enter')
    },
  ],
]

test.each(kinds)(
  '[WEB-67] %s is taken back and done again by keys',
  async (_, act) => {
    const { board, page } = await openFull()
    const before = await shapeOf(board)
    const is = (shape: typeof before) => expect.poll(() => shapeOf(board), { timeout: 5_000 }).toEqual(shape)
    await act(page)
    await expect.poll(() => shapeOf(board), { timeout: 5_000 }).not.toEqual(before)
    await stage.agreed(board, page)
    const after = await shapeOf(board)
    for (let round = 0; round < 2; round++) {
      await undo(page)
      await is(before)
      await redo(page)
      await is(after)
    }
    await undo(page)
    await is(before)
    await stage.agreed(board, page)
    // What is shown is what was there from the beginning, also on the card itself.
    if (await page.locator('dialog[open]').count()) await page.keyboard.press('Escape')
    const dialog = await openCard(page, 'full')
    await expect.poll(() => dialog.innerText()).toMatch(/urgent[\s\S]*all about it[\s\S]*second/)
    await finish(page)
  },
  40_000,
)

test('[WEB-67] many changes are taken back one after the other, in one run', async () => {
  const { board, page } = await openFull()
  const before = await shapeOf(board)
  await focus(page, 'two')
  for (const key of ['Space', 'Shift+ArrowUp', 'Shift+ArrowRight', 'Shift+ArrowDown', 'Delete'])
    await page.keyboard.press(key)
  await expect.poll(async () => JSON.stringify(await shapeOf(board))).not.toContain('"two"')
  for (let i = 0; i < 5; i++) await undo(page)
  await expect.poll(() => shapeOf(board)).toEqual(before)
  await undo(page)
  expect(await shapeOf(board)).toEqual(before)
  for (let i = 0; i < 5; i++) await redo(page)
  await expect.poll(async () => JSON.stringify(await shapeOf(board))).not.toContain('"two"')
  await finish(page)
})

describe('after somebody else changed the same card', () => {
  const theirs = ({ grace, cards }: StageBoard, body: { title?: string; description?: string }) =>
    grace.api.call('updateCard', { params: { card_id: cards['two'] ?? '' }, body })
  const two = async (board: StageBoard) => {
    const columns = await shapeOf(board)
    const column = columns.find(({ cards }) => cards.some(({ id }) => id === board.cards['two']))
    const card = column?.cards.find(({ id }) => id === board.cards['two'])
    return card && { lane: column?.title, title: card.title, description: card.description, people: card.people }
  }

  test('[WEB-67] only what the user did is taken back', async () => {
    const { board, page } = await openFull()
    await focus(page, 'two')
    await page.keyboard.press('Shift+ArrowRight')
    await page.keyboard.press('Space')
    await stage.agreed(board, page)
    await theirs(board, { title: 'two of Grace', description: 'hers' })
    await cardOf(page, 'two of Grace').waitFor()
    await undo(page)
    await undo(page)
    const hers = { title: 'two of Grace', description: 'hers' }
    await expect.poll(() => two(board)).toEqual({ ...hers, lane: 'To do', people: [] })
    await redo(page)
    await redo(page)
    await expect.poll(() => two(board)).toEqual({ ...hers, lane: 'Doing', people: [board.ada.username] })
    await finish(page)
  })

  test('[WEB-67] a card that is brought back has what the others wrote before it was deleted', async () => {
    const { board, page } = await openFull()
    await theirs(board, { title: 'two of Grace' })
    await cardOf(page, 'two of Grace').waitFor()
    await focus(page, 'two of Grace')
    await page.keyboard.press('Delete')
    await expect.poll(() => two(board)).toBeUndefined()
    await undo(page)
    await expect.poll(async () => (await two(board))?.title).toBe('two of Grace')
    await finish(page)
  })

  test('[WEB-67] a text that they wrote over it stays, and the user is told', async () => {
    const { board, page } = await openFull()
    await focus(page, 'two')
    await page.keyboard.press('e')
    await page.keyboard.type('two of Ada')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await two(board))?.title).toBe('two of Ada')
    await theirs(board, { title: 'two of Grace' })
    await cardOf(page, 'two of Grace').waitFor()
    await undo(page)
    await page.getByRole('alert', { name: 'One change could not be made' }).waitFor()
    expect((await two(board))?.title).toBe('two of Grace')
    expect(await stage.agreed(board, page)).toMatchObject([['To do', ['full', 'two of Grace']], {}, {}])
    await finish(page, { but: /status of 412/ })
  })
})

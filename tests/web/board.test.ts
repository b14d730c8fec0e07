// @module-tag journey
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, columnOf, dragColumnOver, focusedCard, shownOrder } from './board-page-object.ts'
import { openCard, storedCard } from './card-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { dialogs, toastOf as toast } from './layers.ts'
import { announcements, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const focus = (page: Page, title: string) => cardOf(page, title).locator('.card-title').focus()
const columns = async (page: Page) => (await shownOrder(page)).map(([column]) => column)
const labelsOf = async (board: TestBoard) =>
  (await board.ada.api.call('getBoard', { params: { board_id: board.id } })).labels.map(({ name }) => name)
const rename = async (page: Page, from: string, to: string) => {
  await focus(page, from)
  await page.keyboard.press('e')
  await page.keyboard.type(to)
  await page.keyboard.press('Enter')
}

describe('two users on one board', () => {
  let board: TestBoard
  let a: Page
  let b: Page
  beforeAll(async () => {
    board = await env.createBoard({ 'To do': ['one', 'two'], Doing: ['three'], Review: [], Done: ['four'] })
    a = await env.openPage(board.ada, board.path)
    b = await env.openPage(board.grace, board.path)
  })
  afterAll(async () => {
    await checkAndClose(a)
    await checkAndClose(b)
  })
  /** The cards of a column, once both pages are in sync with the server. */
  const cardsIn = async (column: string) => Object.fromEntries(await env.waitForSync(board, a, b))[column]
  /** The cards of a column on Ada's page. */
  const shownIn = async (column: string) => Object.fromEntries(await shownOrder(a))[column]

  test('[WEB-91] a column is dragged by its head: a line shows the drop position, and the other page shows the same result', {
    tags: ['smoke'],
  }, async () => {
    await dragColumnOver(a, 'To do', 'Review', 'after')
    await columnOf(a, 'Done').and(a.locator('.is-drop-before')).waitFor()
    await a.mouse.up()
    const moved = ['Doing', 'Review', 'To do', 'Done']
    expect(await columns(a)).toEqual(moved)
    expect((await env.waitForSync(board, a, b)).map(([column]) => column)).toEqual(moved)
    expect(announcements(a).at(-1)).toBe('Moved column “To do”, position 3 of 4')

    // The other user moves it back to the front, and another column to the end.
    await dragColumnOver(b, 'To do', 'Doing', 'before')
    await columnOf(b, 'Doing').and(b.locator('.is-drop-before')).waitFor()
    await b.mouse.up()
    await dragColumnOver(b, 'Doing', 'Done', 'after')
    await columnOf(b, 'Done').and(b.locator('.is-drop-after')).waitFor()
    await b.mouse.move(1430, 300, { steps: 4 })
    await b.mouse.up()
    expect((await env.waitForSync(board, a, b)).map(([column]) => column)).toEqual(['To do', 'Review', 'Done', 'Doing'])

    // Dropped in the same position, dropped outside the board, and cancelled: nothing moves.
    await dragColumnOver(a, 'Review', 'To do', 'after')
    expect(await a.locator('.is-drop-before, .is-drop-after').count()).toBe(0)
    await a.mouse.up()
    await dragColumnOver(a, 'Review', 'Doing', 'after')
    await a.mouse.move(700, 10, { steps: 4 })
    await a.mouse.up()
    await dragColumnOver(a, 'Review', 'Doing', 'after')
    await a.keyboard.press('Escape')
    await a.mouse.up()
    expect((await env.waitForSync(board, a, b)).map(([column]) => column)).toEqual(['To do', 'Review', 'Done', 'Doing'])
  })

  test('[WEB-92] Enter in the label picker toggles the highlighted label; creating one must be chosen, and an empty field changes nothing', async () => {
    for (const name of ['Bug', 'Not urgent', 'Urgent'])
      await board.ada.api.call('createLabel', { params: { board_id: board.id }, body: { name, color: '#d33a2c' } })
    const tags = (page: Page) => cardOf(page, 'one').locator('.tag').allTextContents()
    const field = a.getByLabel('Find or create label')
    const open = async () => {
      await focus(a, 'one')
      await a.keyboard.press('l')
      await field.and(a.locator(':focus')).waitFor()
    }
    /** The row that Enter would take. */
    const isHighlighted = (name: string) =>
      a.getByRole('option', { name, exact: true }).and(a.locator('[data-highlighted]')).waitFor()
    // Part of a name: the label that starts with it is added, and none is created.
    await open()
    await a.keyboard.type('urg')
    await expect.poll(() => a.getByRole('option').last().textContent()).toBe('Create “urg”')
    await isHighlighted('Urgent')
    await a.keyboard.press('Enter')
    await expect.poll(() => tags(b)).toEqual(['Urgent'])
    // An empty field: Enter closes the picker.
    await a.keyboard.press('Enter')
    await field.waitFor({ state: 'detached' })
    await expect.poll(() => focusedCard(a)).toBe('one')
    await open()
    await a.keyboard.press('Enter')
    await field.waitFor({ state: 'detached' })
    // The row that creates a label is chosen with the arrow keys, a click, or because no label matches.
    await open()
    await a.keyboard.type('bu')
    await isHighlighted('Bug')
    await a.keyboard.press('ArrowDown')
    await isHighlighted('Create “bu”')
    await a.keyboard.press('Enter')
    await expect.poll(() => tags(b)).toEqual(['Urgent', 'bu'])
    await a.keyboard.type('later')
    await isHighlighted('Create “later”')
    await a.keyboard.press('Enter')
    await expect.poll(() => tags(b)).toEqual(['Urgent', 'bu', 'later'])
    // Arrow keys move through the labels, Enter toggles one.
    const bug = a.getByRole('option', { name: 'Bug', exact: true })
    while ((await bug.getAttribute('data-highlighted')) === null) await a.keyboard.press('ArrowDown')
    await a.keyboard.press('Enter')
    await expect.poll(async () => (await tags(b)).toSorted()).toEqual(['Bug', 'Urgent', 'bu', 'later'])
    expect(await labelsOf(board)).toEqual(['Bug', 'Not urgent', 'Urgent', 'bu', 'later'])
    await a.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
  })

  test('[WEB-93] the Undo button of a toast undoes the change that the toast is about', {
    tags: ['smoke'],
  }, async () => {
    await focus(a, 'one')
    await a.keyboard.press('Delete')
    await toast(a).getByText('Archived “one”').waitFor()
    await rename(a, 'two', 'renamed')
    await toast(a).getByRole('button', { name: 'Undo' }).click()
    expect(await cardsIn('To do')).toEqual(['one', 'renamed'])

    // The same for a column, with its cards.
    await columnOf(a, 'Doing').getByRole('button', { name: 'Actions for Doing' }).click()
    await a.getByRole('menuitem', { name: 'Delete column' }).click()
    await columnOf(a, 'Doing').waitFor({ state: 'detached' })
    await rename(a, 'renamed', 'two')
    await toast(a).getByRole('button', { name: 'Undo' }).click()
    expect(await cardsIn('To do')).toEqual(['one', 'two'])
    expect(await cardsIn('Doing')).toEqual(['three'])
  })

  test('[WEB-96] a card added under a filter stays visible until the filter changes, with a toast', async () => {
    await a.getByLabel('Filter cards').fill('one')
    await expect.poll(() => shownIn('To do')).toEqual(['one'])
    await focus(a, 'one')
    await a.keyboard.press('n')
    await a.keyboard.type('new')
    await a.keyboard.press('Enter')
    await cardOf(b, 'new').waitFor()
    expect(await shownIn('To do')).toEqual(['one', 'new'])
    await expect.poll(() => toast(a).textContent()).toContain('doesn’t match the filter')
    // The next card is added after it; a matching card needs no toast.
    expect(await a.evaluate('document.activeElement.tagName')).toBe('TEXTAREA')
    await a.keyboard.type('one more')
    await a.keyboard.press('Enter')
    await expect.poll(() => shownIn('To do')).toEqual(['one', 'new', 'one more'])
    expect(announcements(a).at(-1)).toBe('Created “one more”')
    await a.keyboard.press('Escape')
    expect(await focusedCard(a)).toBe('one more')
    await a.getByLabel('Filter cards').fill('on')
    await expect.poll(() => shownIn('To do')).toEqual(['one', 'one more'])
    // In a column without visible cards.
    await columnOf(a, 'Review').getByRole('button', { name: 'Add card' }).click()
    await a.keyboard.press('Escape')
    expect(await a.evaluate('document.activeElement.textContent')).toContain('Add card')
    await a.keyboard.press('Enter')
    await a.keyboard.type('last')
    await a.keyboard.press('Enter')
    await cardOf(a, 'last').waitFor()
    await toast(a).getByRole('button', { name: 'Clear filter' }).click()
    expect(await cardsIn('To do')).toEqual(['one', 'new', 'one more', 'two'])
    expect(await cardsIn('Review')).toEqual(['last'])
  })
})

test('[WEB-21] labels and people are chosen in a menu: one of several labels is enough, and each has a chip', {
  tags: ['smoke'],
}, async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: ['three', 'four'] })
  const { api } = board.ada
  const labels = { one: 'bug', two: 'later', three: 'later' }
  const ids: Record<string, string> = {}
  for (const name of ['bug', 'later'])
    ids[name] = (await api.call('createLabel', { params: { board_id: board.id }, body: { name, color: '#d33a2c' } })).id
  for (const [title, name] of Object.entries(labels))
    await api.call('addCardLabel', { params: { card_id: board.cards[title] ?? '', label_id: ids[name] ?? '' } })
  await api.call('assignCard', { params: { card_id: board.cards['one'] ?? '' }, body: { user_ids: [board.grace.id] } })
  const page = await env.openPage(board.ada, board.path)
  const shown = async () => (await shownOrder(page)).flatMap(([, cards]) => cards)
  const menu = page.getByRole('button', { name: /^Filter .*by due date, label or person$/ })
  const choose = (name: string) => page.getByRole('menuitemcheckbox', { name, exact: true }).click()
  await menu.click()
  await choose('bug')
  await expect.poll(shown).toEqual(['one'])
  await choose('later')
  await expect.poll(shown).toEqual(['one', 'two', 'three'])
  await choose(board.grace.username)
  await expect.poll(shown).toEqual(['one'])
  await page.getByText('1 of 4 cards').waitFor()
  await page.keyboard.press('Escape')
  await menu.and(page.locator(':focus')).waitFor()
  expect(await menu.getAttribute('aria-label')).toBe('Filter 3 active: by due date, label or person')

  await page.getByRole('button', { name: `Remove filter “${board.grace.username}”` }).click()
  await page.getByLabel('Filter cards').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('t')
  await expect.poll(shown).toEqual(['two', 'three'])
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('label:bug label:later t')
  await page.reload()
  await expect.poll(shown).toEqual(['two', 'three'])
  expect(await page.getByLabel('Filter cards').inputValue()).toBe('t')
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expect.poll(shown).toEqual(['one', 'two', 'three', 'four'])
  await checkAndClose(page)
})

test('[WEB-94] the button of a long toast stays on the screen, on a phone and on a desktop', async () => {
  const url = `https://example.com/${'a'.repeat(235)}`
  const board = await env.createBoard({ 'To do': [url, 'two'] })
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
  const a = await env.openPage(board.ada, board.path, phone)
  const b = await env.openPage(board.grace, board.path)
  for (const page of [a, b]) {
    await focus(page, url)
    await page.keyboard.press('Delete')
    const undo = toast(page).getByRole('button', { name: 'Undo' })
    const { width = 0 } = page.viewportSize() ?? {}
    for (const each of [undo, toast(page)]) {
      const box = await each.boundingBox()
      expect(box?.x).toBeGreaterThanOrEqual(0)
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width)
      expect(box?.height).toBeLessThan(100)
    }
    await undo.click()
    expect(await env.waitForSync(board, a, b)).toEqual([['To do', [url, 'two']]])
  }
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-95] the icons and faces of a card have tooltips; an icon opens the card, a face shows the person', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const { api } = board.ada
  const params = { card_id: board.cards['one'] ?? '' }
  await api.call('updateCard', { params, body: { description: 'text' } })
  await api.call('assignCard', { params, body: { user_ids: [board.grace.id] } })
  const list = await api.call('createChecklist', { params, body: { title: 'Steps' } })
  const [item] = await Promise.all(
    ['first', 'second'].map((content) =>
      api.call('createItem', { params: { checklist_id: list.id }, body: { content } }),
    ),
  )
  await api.call('updateItem', { params: { item_id: item?.id ?? '' }, body: { is_done: true } })
  const page = await env.openPage(board.ada, board.path)
  const shownAt = (selector: string) =>
    page.evaluate(`(({ left, top, width, height }) =>
      document.elementFromPoint(left + width / 2, top + height / 2).closest('[title]')?.title)(
      document.querySelector('.card ${selector}').getBoundingClientRect())`)
  expect(await shownAt('.avatar')).toBe(board.grace.username)
  expect(await shownAt('.card-foot svg')).toBe('Has a description')
  expect(await shownAt('.meter')).toBe('1 of 2 done')
  await page.locator('.card .avatar').click()
  const person = page.getByRole('dialog', { name: board.grace.username })
  await person.getByText(`${board.grace.username} · Member`).waitFor()
  await person.getByRole('button', { name: 'Show assigned cards only' }).click()
  await person.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: `Remove filter “${board.grace.username}”` }).click()
  await page.locator('.card .card-foot svg').first().click()
  await dialogs(page).waitFor()
  expect(page.url()).toContain(`/c/${board.cards['one']}`)
  await checkAndClose(page)
})

test('[WEB-97] undo and redo say what they did, offer the reverse, and show the card', {
  tags: ['smoke'],
}, async () => {
  const many = Array.from({ length: 70 }, (_, i) => `card ${i + 1}`)
  const board = await env.createBoard({ 'To do': many, Doing: ['one'], Review: [], Later: [], Done: [] })
  const card = await board.ada.api.call('createChecklist', {
    params: { card_id: board.cards['card 70'] ?? '' },
    body: { title: 'Steps' },
  })
  await board.ada.api.call('createItem', { params: { checklist_id: card.id }, body: { content: 'Failing test' } })
  const a = await env.openPage(board.ada, board.path, { viewport: { width: 800, height: 600 } })
  const b = await env.openPage(board.grace, board.path)
  const isVisible = (title: string) =>
    a.evaluate(`new Promise((resolve) => new IntersectionObserver(([{ isIntersecting }]) => resolve(isIntersecting)).observe(
      document.querySelector('[data-card-id="${board.cards[title]}"]')))`)
  // Check an item of a card at the end of a long column, close the card, and move another card.
  await a.goto(`${env.service.baseUrl}/app${board.path}/c/${board.cards['card 70']}`)
  await a.getByRole('checkbox', { name: 'Failing test' }).click()
  await a.keyboard.press('Escape')
  await focus(a, 'one')
  await a.keyboard.press('Shift+ArrowRight')
  await a.keyboard.press('Shift+ArrowRight')
  await env.waitForSync(board, a, b)

  await a.keyboard.press('Control+z')
  await expect.poll(() => toast(a).locator('span').first().textContent()).toBe('Undid: move of “one”')
  await expect.poll(() => focusedCard(a)).toBe('one')
  await toast(a).getByRole('button', { name: 'Redo' }).click()
  await expect.poll(() => toast(a).locator('span').first().textContent()).toBe('Redid: move of “one”')
  expect((await env.waitForSync(board, a, b))[3]).toEqual(['Later', ['one']])
  await toast(a).getByRole('button', { name: 'Undo' }).click()
  await a.keyboard.press('Control+z')
  await a.evaluate(`document.querySelector('main.board').scrollTo(10000, 0)`)
  await a.keyboard.press('Control+z')
  await toast(a).getByText('Undid: check mark of “Failing test” in “card 70”').waitFor()
  await expect.poll(() => isVisible('card 70')).toBe(true)
  expect(await focusedCard(a)).toBe('card 70')
  await expect.poll(() => cardOf(a, 'card 70').locator('.card-mark').textContent()).toBe('Undone')
  const isStoredAsDone = async () => (await storedCard(board, 'card 70')).checklists[0]?.items[0]?.is_done
  await expect.poll(isStoredAsDone).toBe(false)

  await a.keyboard.press('Control+y')
  await toast(a).getByText('Redid: check mark of “Failing test” in “card 70”').waitFor()
  await a.keyboard.press('Control+y')
  await expect.poll(() => isVisible('one')).toBe(true)
  expect((await env.waitForSync(board, a, b))[2]).toEqual(['Review', ['one']])
  // A new change clears the redo stack and hides its button.
  await a.keyboard.press('Control+z')
  await toast(a).getByRole('button', { name: 'Redo' }).waitFor()
  await rename(a, 'one', 'renamed')
  await toast(a).waitFor({ state: 'detached' })
  await a.keyboard.press('Control+y')
  await expect.poll(() => toast(a).textContent()).toBe('Nothing to redo')
  // The same in the card dialog, which stays open.
  await openCard(a, 'renamed')
  await a.keyboard.press('Control+z')
  await toast(a).getByText('Undid: rename of “one”').waitFor()
  await a.keyboard.press('Control+y')
  await toast(a).getByText('Redid: rename of “renamed”').waitFor()
  expect(await dialogs(a).count()).toBe(1)
  expect((await env.waitForSync(board, a, b))[1]).toEqual(['Doing', ['renamed']])
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-98] each column keeps its own draft of a new card', async () => {
  const board = await env.createBoard({ 'To do': [], Doing: [] })
  const page = await env.openPage(board.ada, board.path)
  const field = page.getByLabel('Card title')
  const compose = (column: string) => columnOf(page, column).getByRole('button', { name: 'Add card' }).click()
  await compose('To do')
  await field.fill('for later')
  await compose('Doing')
  expect(await field.inputValue()).toBe('')
  await field.fill('for now')
  await compose('To do')
  expect(await field.inputValue()).toBe('for later')
  await field.press('Enter')
  await compose('Doing')
  expect(await field.inputValue()).toBe('for now')
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', ['for later']],
    ['Doing', []],
  ])
  await checkAndClose(page)
})

test('[WEB-99] on a board without columns, New card and N ask for the first column', async () => {
  const board = await env.createBoard({})
  const page = await env.openPage(board.ada, board.path)
  const field = page.getByLabel('New column name')
  const isWriting = () => page.locator(':focus').and(field).count()
  await page.keyboard.press('n')
  await expect.poll(isWriting).toBe(1)
  await expect.poll(() => toast(page).textContent()).toBe('Add a column first. Cards go into columns.')
  await page.getByRole('button', { name: 'New card' }).click()
  await expect.poll(isWriting).toBe(1)
  await page.keyboard.type('To do')
  await page.keyboard.press('Enter')
  expect(await env.waitForSync(board, page)).toEqual([['To do', []]])
  await checkAndClose(page)
})

test('[WEB-100] a title that is too long is not cut: the field shows an error and keeps the text', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const page = await env.openPage(board.ada, board.path)
  const long = 'word '.repeat(60).trim()
  const field = page.getByLabel('Card title')
  const paste = (text: string) =>
    page.evaluate(`(() => {
      const data = new DataTransfer()
      data.setData('text/plain', ${JSON.stringify(text)})
      const field = document.activeElement
      const isHandled = !field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
      if (!isHandled) document.execCommand('insertText', false, ${JSON.stringify(text)})
    })()`)
  await focus(page, 'one')
  await page.keyboard.press('n')
  await paste(long)
  await page.keyboard.press('Enter')
  const alert = page.getByText('Too long: 299 of 255 characters')
  await alert.waitFor()
  expect(await field.inputValue()).toBe(long)
  expect(await env.waitForSync(board, page)).toEqual([['To do', ['one']]])
  await field.fill('')
  // A pasted list with a line that is too long creates no cards.
  await paste(`short\n${long}`)
  await alert.waitFor()
  expect(await field.inputValue()).toBe(`short\n${long}`)
  await field.fill(`short\n${long.slice(0, 254)}`)
  await page.keyboard.press('Enter')
  expect(await env.waitForSync(board, page)).toEqual([['To do', ['one', 'short', long.slice(0, 254)]]])
  await page.keyboard.press('Escape')

  // The same when renaming a card or a column.
  await focus(page, 'one')
  await page.keyboard.press('e')
  await paste(long)
  await page.keyboard.press('Enter')
  await alert.waitFor()
  expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe(long)
  await page.keyboard.press('Escape')
  await columnOf(page, 'To do').getByRole('button', { name: 'Actions for To do' }).click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await paste(long)
  await page.keyboard.press('Enter')
  await toast(page).getByText('Too long: 299 of 255 characters').waitFor()
  expect(await page.getByLabel('Column name').inputValue()).toBe(long)
  await page.keyboard.press('Escape')
  // And when adding a column.
  await page.getByRole('button', { name: 'Add column' }).click()
  await paste(long)
  await page.keyboard.press('Enter')
  await alert.first().waitFor()
  expect(await page.getByLabel('New column name').inputValue()).toBe(long)
  expect((await env.waitForSync(board, page)).map(([column]) => column)).toEqual(['To do'])
  await checkAndClose(page)
})

test('[WEB-100] the same for all other names: in the card, in a rule, on the board list', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const page = await env.openPage(board.ada, board.path)
  const long = 'x'.repeat(299)
  const isKept = async (field: Locator, text: string, max = 255) => {
    await field.fill(text)
    await field.press('Enter')
    const [length, limit] = [text.length, max].map((count) => count.toLocaleString('en-US'))
    await page.getByText(`Too long: ${length} of ${limit} characters`).waitFor()
    expect(await field.inputValue()).toBe(text)
  }
  const dialog = await openCard(page, 'one')
  await dialog.getByRole('button', { name: 'one', exact: true }).click()
  const title = dialog.getByLabel('Title', { exact: true })
  await isKept(title, long)
  // Leaving the field does not save it either.
  await title.blur()
  expect(await title.inputValue()).toBe(long)
  await title.press('Escape')
  await page.keyboard.press('k')
  const checklist = dialog.getByLabel('New checklist name')
  await isKept(checklist, long)
  await checklist.fill('List')
  await checklist.press('Enter')
  await isKept(dialog.getByLabel('Add item'), 'x'.repeat(2_001), 2_000)
  await dialog.getByLabel('Add item').fill('')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await focus(page, 'one')
  await page.keyboard.press('l')
  await isKept(page.getByLabel('Find or create label'), 'x'.repeat(51), 50)
  await page.keyboard.press('Escape')
  expect(await labelsOf(board)).toEqual([])
  const card = await storedCard(board, 'one')
  expect(card.checklists.map(({ items }) => items)).toEqual([[]])

  await page.goto(`${env.service.baseUrl}/app${board.path}/automations`)
  await page.getByRole('button', { name: 'New rule' }).first().click()
  await isKept(page.getByLabel('Name', { exact: true }), long)
  await page.goto(`${env.service.baseUrl}/app/boards`)
  await isKept(page.getByLabel('Board name'), long)
  await checkAndClose(page)
})

test('[WEB-13] a double click on Add card leaves the focus in the field, and the whole composer is visible', async () => {
  const titles = Array.from({ length: 12 }, (_, i) => `card ${i}`)
  const board = await env.createBoard({ 'To do': titles })
  const page = await env.openPage(board.ada, board.path)
  const column = columnOf(page, 'To do')
  await column.locator('.column-add').dblclick()
  await page.getByLabel('Card title').and(page.locator(':focus')).waitFor()
  const bottomOf = async (selector: string) => {
    const box = await column.locator(selector).boundingBox()
    return (box?.y ?? 0) + (box?.height ?? 0)
  }
  await expect.poll(async () => (await bottomOf('.column-cards')) - (await bottomOf('.composer'))).toBeGreaterThan(0)
  await page.keyboard.type('made after a double click')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  expect((await env.waitForSync(board, page))[0]?.[1].at(-1)).toBe('made after a double click')
  await checkAndClose(page)
})

test('[WEB-152] after a double click on Share, Back closes the dialog', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const page = await env.openPage(board.ada, board.path)
  await page.getByRole('button', { name: 'Share' }).dblclick()
  await page.getByRole('dialog').waitFor()
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await checkAndClose(page)
})

// @module-tag journey
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, columnOf, dragCard, dragTo, dragToEnd, shownOrder, startDrag } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { announcements, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

test('[WEB-5] a card is dragged within its column, across columns and into an empty one, and the other page follows', {
  tags: ['smoke'],
}, async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two', 'three', 'four'], Doing: ['five'], Done: [] })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  await env.waitForSync(board, a, b)

  await dragCard(a, 'one', 'To do', 2)
  // Immediately on the page of the drag.
  expect((await shownOrder(a))[0]).toEqual(['To do', ['two', 'three', 'one', 'four']])
  expect((await env.waitForSync(board, a, b))[0]).toEqual(['To do', ['two', 'three', 'one', 'four']])

  await dragCard(a, 'four', 'To do', 0)
  expect((await env.waitForSync(board, a, b))[0]).toEqual(['To do', ['four', 'two', 'three', 'one']])

  await dragCard(a, 'two', 'Doing', 0)
  await dragCard(a, 'three', 'Doing', 2)
  await dragCard(a, 'four', 'Done', 0)
  expect(await env.waitForSync(board, a, b)).toEqual([
    ['To do', ['one']],
    ['Doing', ['two', 'five', 'three']],
    ['Done', ['four']],
  ])
  expect(announcements(a).at(-1)).toBe('Moved “four” from To do to Done, position 1 of 1')
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-5] a card dropped outside the columns stays where it was', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: ['three'] })
  const page = await env.openPage(board.ada, board.path)
  await startDrag(page, 'one')
  await dragTo(page, 'Doing', 1)
  await page.mouse.move(700, 10, { steps: 4 })
  await page.mouse.up()
  await expect.poll(() => announcements(page)).toContain('Nothing moved')
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', ['one', 'two']],
    ['Doing', ['three']],
  ])
  await checkAndClose(page)
})

test('[WEB-6] a card held at the edge of a long column scrolls it, and can be dropped at its end', async () => {
  const many = Array.from({ length: 300 }, (_, i) => `card ${i + 1}`)
  const board = await env.createBoard({ 'To do': ['one', 'two'], Long: many })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  await startDrag(a, 'one')
  await dragToEnd(a, 'Long')
  await dragTo(a, 'Long', 300)
  await a.mouse.up()
  const stored = await env.waitForSync(board, a, b)
  expect(stored[0]).toEqual(['To do', ['two']])
  expect(stored[1]?.[1].at(-1)).toBe('one')
  // It is visible and focused.
  expect(await cardOf(a, 'one').isVisible()).toBe(true)
  await expect.poll(() => columnOf(a, 'Long').locator('.card-title:focus').textContent()).toBe('one')
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-7] two users drop the same card at the same time: both pages end in sync with the server', {
  tags: ['smoke'],
}, async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two', 'three'], Doing: ['four'], Done: ['five'] })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  for (const [title, at] of [
    ['one', 0],
    ['two', 1],
  ] as const) {
    await Promise.all([startDrag(a, title), startDrag(b, title)])
    await Promise.all([dragTo(a, 'Doing', at), dragTo(b, 'Done', at)])
    await Promise.all([a.mouse.up(), b.mouse.up()])
    await env.waitForSync(board, a, b)
  }
  const stored = await env.waitForSync(board, a, b)
  const cards = stored.flatMap(([, titles]) => titles)
  expect(cards.toSorted()).toEqual(['five', 'four', 'one', 'three', 'two'])
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-8] under a filter a card is placed beside the visible card it was dropped at', async () => {
  const board = await env.createBoard({
    'To do': ['hidden 1', 'seen 1', 'hidden 2', 'hidden 3', 'seen 2', 'hidden 4'],
    Doing: ['hidden 5', 'seen 3', 'hidden 6'],
  })
  const page = await env.openPage(board.ada, board.path)
  await page.getByLabel('Filter cards').fill('seen')
  const isFiltered = () =>
    expect.poll(async () => (await shownOrder(page)).flatMap(([, cards]) => cards)).not.toContain('hidden 1')
  await isFiltered()
  expect(await shownOrder(page)).toEqual([
    ['To do', ['seen 1', 'seen 2']],
    ['Doing', ['seen 3']],
  ])
  // Between two visible cards: right after the upper one, whatever is hidden in between.
  await dragCard(page, 'seen 3', 'To do', 1)
  await page.getByLabel('Filter cards').fill('')
  expect(await env.waitForSync(board, page)).toEqual([
    ['To do', ['hidden 1', 'seen 1', 'seen 3', 'hidden 2', 'hidden 3', 'seen 2', 'hidden 4']],
    ['Doing', ['hidden 5', 'hidden 6']],
  ])
  // Above the first visible card: right before it.
  await page.getByLabel('Filter cards').fill('seen')
  await isFiltered()
  await dragCard(page, 'seen 2', 'To do', 0)
  await page.getByLabel('Filter cards').fill('')
  expect((await env.waitForSync(board, page))[0]).toEqual([
    'To do',
    ['hidden 1', 'seen 2', 'seen 1', 'seen 3', 'hidden 2', 'hidden 3', 'hidden 4'],
  ])
  await checkAndClose(page)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, carryTo, carryToEnd, dragCard, laneOf, liftCard, order } from './board-hands.ts'
import { finish, liveRegion } from './pages.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('[WEB-5] a card is dragged within its lane, across lanes and into an empty one, and the other page shows the same each time', async () => {
  const board = await stage.board({ 'To do': ['one', 'two', 'three', 'four'], Doing: ['five'], Done: [] })
  const a = await stage.enter(board.ada, board.path)
  const b = await stage.enter(board.grace, board.path)
  await stage.agreed(board, a, b)

  await dragCard(a, 'one', 'To do', 2)
  // At once on the page where it happened.
  expect((await order(a))[0]).toEqual(['To do', ['two', 'three', 'one', 'four']])
  expect((await stage.agreed(board, a, b))[0]).toEqual(['To do', ['two', 'three', 'one', 'four']])

  await dragCard(a, 'four', 'To do', 0)
  expect((await stage.agreed(board, a, b))[0]).toEqual(['To do', ['four', 'two', 'three', 'one']])

  await dragCard(a, 'two', 'Doing', 0)
  await dragCard(a, 'three', 'Doing', 2)
  await dragCard(a, 'four', 'Done', 0)
  expect(await stage.agreed(board, a, b)).toEqual([
    ['To do', ['one']],
    ['Doing', ['two', 'five', 'three']],
    ['Done', ['four']],
  ])
  expect(liveRegion(a).at(-1)).toBe('“four” moved from To do to Done, position 1 of 1.')
  await finish(a)
  await finish(b)
})

test('[WEB-5] a card that is dropped beside the lanes, or whose drag is given up, stays where it was', async () => {
  const board = await stage.board({ 'To do': ['one', 'two'], Doing: ['three'] })
  const page = await stage.enter(board.ada, board.path)
  await liftCard(page, 'one')
  await carryTo(page, 'Doing', 1)
  await page.mouse.move(700, 10, { steps: 4 })
  await page.mouse.up()
  await expect.poll(() => liveRegion(page)).toContain('Nothing was moved.')
  expect(await stage.agreed(board, page)).toEqual([
    ['To do', ['one', 'two']],
    ['Doing', ['three']],
  ])
  await finish(page)
})

test('[WEB-6] held at the edge of a long lane, a card scrolls it, and lands at its end', async () => {
  const many = Array.from({ length: 300 }, (_, i) => `card ${i + 1}`)
  const board = await stage.board({ 'To do': ['one', 'two'], Long: many })
  const a = await stage.enter(board.ada, board.path)
  const b = await stage.enter(board.grace, board.path)
  await liftCard(a, 'one')
  await carryToEnd(a, 'Long')
  await carryTo(a, 'Long', 300)
  await a.mouse.up()
  const truth = await stage.agreed(board, a, b)
  expect(truth[0]).toEqual(['To do', ['two']])
  expect(truth[1]?.[1].at(-1)).toBe('one')
  // It stays in sight, with the focus on it.
  expect(await cardOf(a, 'one').isVisible()).toBe(true)
  await expect.poll(() => laneOf(a, 'Long').locator('.card-title:focus').textContent()).toBe('one')
  await finish(a)
  await finish(b)
}, 60_000)

test('[WEB-7] two people drop the same card at the same instant: both pages end as the service has it', async () => {
  const board = await stage.board({ 'To do': ['one', 'two', 'three'], Doing: ['four'], Done: ['five'] })
  const a = await stage.enter(board.ada, board.path)
  const b = await stage.enter(board.grace, board.path)
  for (const [title, at] of [
    ['one', 0],
    ['two', 1],
  ] as const) {
    await Promise.all([liftCard(a, title), liftCard(b, title)])
    await Promise.all([carryTo(a, 'Doing', at), carryTo(b, 'Done', at)])
    await Promise.all([a.mouse.up(), b.mouse.up()])
    await stage.agreed(board, a, b)
  }
  const truth = await stage.agreed(board, a, b)
  const cards = truth.flatMap(([, titles]) => titles)
  expect(cards.toSorted()).toEqual(['five', 'four', 'one', 'three', 'two'])
  await finish(a)
  await finish(b)
})

test('[WEB-8] under a filter a card lands beside the visible neighbour it was dropped at', async () => {
  const board = await stage.board({
    'To do': ['hidden 1', 'seen 1', 'hidden 2', 'hidden 3', 'seen 2', 'hidden 4'],
    Doing: ['hidden 5', 'seen 3', 'hidden 6'],
  })
  const page = await stage.enter(board.ada, board.path)
  await page.getByLabel('Filter cards').fill('seen')
  const isFiltered = () =>
    expect.poll(async () => (await order(page)).flatMap(([, cards]) => cards)).not.toContain('hidden 1')
  await isFiltered()
  expect(await order(page)).toEqual([
    ['To do', ['seen 1', 'seen 2']],
    ['Doing', ['seen 3']],
  ])
  // Between two visible cards: right behind the upper one, whatever is hidden in between.
  await dragCard(page, 'seen 3', 'To do', 1)
  await page.getByLabel('Filter cards').fill('')
  expect(await stage.agreed(board, page)).toEqual([
    ['To do', ['hidden 1', 'seen 1', 'seen 3', 'hidden 2', 'hidden 3', 'seen 2', 'hidden 4']],
    ['Doing', ['hidden 5', 'hidden 6']],
  ])
  // On top of the first visible card: right before it.
  await page.getByLabel('Filter cards').fill('seen')
  await isFiltered()
  await dragCard(page, 'seen 2', 'To do', 0)
  await page.getByLabel('Filter cards').fill('')
  expect((await stage.agreed(board, page))[0]).toEqual([
    'To do',
    ['hidden 1', 'seen 2', 'seen 1', 'seen 3', 'hidden 2', 'hidden 3', 'hidden 4'],
  ])
  await finish(page)
})

import { PASSWORD } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf, focusedCard, order } from './board-hands.ts'
import { finish, liveRegion } from './pages.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

const three = { 'To do': ['a1', 'a2', 'a3'], Doing: ['b1', 'b2'], Done: ['c1'] }

test('[WEB-1] from nothing to a first card without the mouse: a few keys besides what is typed, a few seconds', async () => {
  const page = await stage.enter(undefined, '/register')
  const began = performance.now()
  let keys = 0
  const press = (key: string) => {
    keys++
    return page.keyboard.press(key)
  }
  await page.getByLabel('E-mail').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('new.comer@example.com')
  await press('Tab')
  await page.keyboard.type('newcomer')
  await press('Tab')
  await page.keyboard.type(PASSWORD)
  await press('Enter')
  await page.getByRole('heading', { name: 'My first board' }).waitFor()
  await press('n')
  await page.getByLabel('Title of the new card').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('My first card')
  await press('Enter')
  await cardOf(page, 'My first card').waitFor()
  const seconds = (performance.now() - began) / 1_000
  await press('Escape')
  await expect.poll(() => focusedCard(page)).toBe('My first card')
  expect((await order(page))[0]).toEqual(['To do', ['My first card']])
  expect(keys).toBeLessThanOrEqual(6)
  expect(seconds).toBeLessThan(10)
  // Whether somebody is logged in is found out by asking, and browsers note every refusal.
  await finish(page, { but: /status of 401 .*\/auth\/me/ })
})

test('[WEB-10] arrows lead from card to card, Home and End to the ends, and Tab past a lane with one stop for its cards', async () => {
  const board = await stage.board(three)
  const page = await stage.enter(board.ada, board.path)
  await cardOf(page, 'a1').locator('.card-title').focus()
  const walk = async (keys: string[]) => {
    const stops: unknown[] = []
    for (const key of keys) {
      await page.keyboard.press(key)
      stops.push(await focusedCard(page))
    }
    return stops
  }
  expect(await walk(['ArrowDown', 'ArrowDown', 'ArrowDown'])).toEqual(['a2', 'a3', 'a3'])
  expect(await walk(['ArrowRight', 'ArrowUp', 'ArrowRight', 'ArrowRight'])).toEqual(['b2', 'b1', 'c1', 'c1'])
  expect(await walk(['ArrowLeft', 'ArrowLeft', 'End', 'Home'])).toEqual(['b1', 'a1', 'a3', 'a1'])
  // Each lane has one card to which Tab leads.
  expect(await page.locator('.card-title[tabindex="0"]').allTextContents()).toEqual(['a1', 'b1', 'c1'])
  await finish(page)
})

test('[WEB-11] Shift with an arrow moves the card, and says where to', async () => {
  const board = await stage.board(three)
  const page = await stage.enter(board.ada, board.path)
  await cardOf(page, 'a1').locator('.card-title').focus()
  for (const key of ['ArrowDown', 'End', 'Home', 'ArrowUp', 'ArrowRight', 'ArrowRight', 'ArrowRight']) {
    await page.keyboard.press(`Shift+${key}`)
    await expect.poll(() => focusedCard(page)).toBe('a1')
  }
  expect(await stage.agreed(board, page)).toEqual([
    ['To do', ['a2', 'a3']],
    ['Doing', ['b1', 'b2']],
    ['Done', ['a1', 'c1']],
  ])
  expect(liveRegion(page)).toEqual([
    '“a1” moved, position 2 of 3.',
    '“a1” moved, position 3 of 3.',
    '“a1” moved, position 1 of 3.',
    'It is at the edge.',
    '“a1” moved from To do to Doing, position 1 of 3.',
    '“a1” moved from Doing to Done, position 1 of 2.',
    'It is at the edge.',
  ])
  await finish(page)
})

test('[WEB-11] M asks for lane and position', async () => {
  const board = await stage.board(three)
  const page = await stage.enter(board.ada, board.path)
  await cardOf(page, 'a2').locator('.card-title').focus()
  await page.keyboard.press('m')
  const dialog = page.getByRole('dialog', { name: 'Move “a2”' })
  await dialog.waitFor()
  await dialog.getByLabel('Lane').focus()
  await page.keyboard.type('Doing')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(await stage.agreed(board, page)).toEqual([
    ['To do', ['a1', 'a3']],
    ['Doing', ['b1', 'b2', 'a2']],
    ['Done', ['c1']],
  ])
  await expect.poll(() => focusedCard(page)).toBe('a2')
  // Escape leaves everything, and the focus, where it was.
  await page.keyboard.press('m')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focusedCard(page)).toBe('a2')
  await finish(page)
})

test('[WEB-12] what is done is said: cards that are made, moved, deleted and brought back', async () => {
  const board = await stage.board({ 'To do': ['one'] })
  const page = await stage.enter(board.ada, board.path)
  await cardOf(page, 'one').locator('.card-title').focus()
  await page.keyboard.press('n')
  await page.keyboard.type('two')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await expect.poll(() => focusedCard(page)).toBe('two')
  await page.keyboard.press('Shift+ArrowUp')
  await expect.poll(async () => (await order(page))[0]?.[1]).toEqual(['two', 'one'])
  await page.keyboard.press('Delete')
  await expect.poll(async () => (await order(page))[0]?.[1]).toEqual(['one'])
  await page.keyboard.press('Control+z')
  await expect.poll(async () => (await order(page))[0]?.[1]).toEqual(['two', 'one'])
  expect(liveRegion(page)).toEqual([
    '“two” created.',
    '“two” moved, position 1 of 2.',
    'Deleted “two”',
    'Undid: deletion of “two”',
  ])
  await stage.agreed(board, page)
  await finish(page)
})

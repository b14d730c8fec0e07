// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { columnOf, dragCard, storedOrder } from './board-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { announcements, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

test('[WEB-3] users see each other’s changes and presence, until one closes the page', {
  tags: ['smoke'],
}, async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  const grace = a.getByRole('button', { name: `Members. Also here: ${board.grace.username}` })
  await grace.waitFor()
  await b.getByRole('button', { name: `Members. Also here: ${board.ada.username}` }).waitFor()

  await a.getByRole('button', { name: 'New card' }).click()
  await a.getByLabel('Card title').fill('made by Ada')
  await a.keyboard.press('Enter')
  expect(await env.waitForSync(board, a, b)).toEqual([['To do', ['one', 'made by Ada']]])

  await checkAndClose(b)
  await a.getByRole('button', { name: 'Members. No one else is here' }).waitFor()
  await checkAndClose(a)
})

const backgrounds = (page: Page, selector: string) =>
  page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => getComputedStyle(each).backgroundColor)`,
  ) as Promise<string[]>

test('[WEB-232] a person has the same colour on every page, in both themes', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const { ada, grace, cards } = board
  const params = { card_id: cards['one'] ?? '' }
  await ada.api.call('assignCard', { params, body: { user_ids: [grace.id, ada.id] } })
  await ada.api.call('createComment', { params, body: { body: `@[Grace](user:${grace.id}) look` } })
  // On a second board, Grace was there first.
  const { id } = await grace.api.call('createBoard', { body: { title: 'Other' } })
  await grace.api.call('inviteMember', { params: { board_id: id }, body: { user_id: ada.id } })

  const colors = { ada: new Set<string>(), grace: new Set<string>() }
  const places = { ada: 0, grace: 0 }
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await env.openPage(grace, '/boards', { colorScheme })
    const look = async (path: string, ready: string) => {
      await page.goto(`${env.service.baseUrl}/app${path}`)
      await page.locator(ready).first().waitFor()
      for (const [name, user] of [['ada', ada] as const, ['grace', grace] as const]) {
        const found = await backgrounds(page, `.avatar[data-person-id="${user.id}"]`)
        for (const color of found) colors[name].add(color)
        places[name] += found.length
      }
    }
    await look('/boards', '.tile .avatar')
    await look('/inbox', '.inbox-row .avatar')
    await look('/settings', '.top .avatar')
    await look(board.path, '.card .avatar')
    await look(`${board.path}/members`, '.layer .avatar')
    await look(`${board.path}/activity`, '.layer .avatar, .layer ol')
    await look(`${board.path}/c/${cards['one']}`, '.comment .avatar')
    await page.keyboard.press('a')
    await page.locator('.popover .avatar').first().waitFor()
    await look(`/b/${id}`, '.face-pile .avatar')
    // The mark of a change.
    await look(board.path, '.card .avatar')
    await ada.api.call('updateCard', { params, body: { title: `one, ${colorScheme}` } })
    await page.locator('.card-mark').waitFor()
    for (const color of await backgrounds(page, '.card-mark')) colors.ada.add(color)
    await checkAndClose(page)
  }
  expect(places.ada).toBeGreaterThan(12)
  expect(places.grace).toBeGreaterThan(18)
  expect([...colors.ada]).toHaveLength(1)
  expect([...colors.grace]).toHaveLength(1)
})

test('[WEB-4] two tabs of one browser work on the same board: no change is lost or duplicated', {
  tags: ['smoke'],
}, async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: ['three'] })
  const one = await env.openPage(board.ada, board.path)
  const other = await env.openTab(one, board.path)
  const write = async (page: typeof one, column: string, name: string) => {
    await columnOf(page, column).getByRole('button', { name: 'Add card' }).click()
    for (let i = 1; i <= 10; i++) {
      await page.getByLabel('Card title').fill(`${name} ${i}`)
      await page.keyboard.press('Enter')
    }
    await page.keyboard.press('Escape')
  }
  await Promise.all([write(one, 'To do', 'left'), write(other, 'Doing', 'right')])
  // A reloaded tab must not resend the changes of the other tab.
  await one.reload()
  await one.locator('main.board').waitFor()
  await dragCard(other, 'two', 'Doing', 0)
  const stored = await env.waitForSync(board, one, other)
  const cards = (name: string) => Array.from({ length: 10 }, (_, i) => `${name} ${i + 1}`)
  expect(stored).toEqual([
    ['To do', ['one', ...cards('left')]],
    ['Doing', ['two', 'three', ...cards('right')]],
  ])
  await checkAndClose(one)
  await checkAndClose(other)
})

test('[WEB-9] two hundred cards inserted at the same position have the same order everywhere', async () => {
  const board = await env.createBoard({ 'To do': ['first', 'last'], Doing: ['other'] })
  const a = await env.openPage(board.ada, board.path)
  const b = await env.openPage(board.grace, board.path)
  const params = { board_id: board.id, column_id: board.columns['To do'] ?? '' }
  const after_id = board.cards['first'] ?? null
  for (let i = 1; i <= 200; i++) {
    const { api } = i % 2 ? board.ada : board.grace
    await api.call('createCard', { params, body: { title: `card ${i}`, after_id } })
  }
  const [column] = await env.waitForSync(board, a, b)
  expect(column?.[1]).toEqual(['first', ...Array.from({ length: 200 }, (_, i) => `card ${200 - i}`), 'last'])
  // Rebalancing events have no user and are not announced.
  const moves = 'select from board_events where board_id = $1 and user_id is null'
  expect((await env.service.sql.query(moves, [board.id])).rowCount).toBeGreaterThan(0)
  await a.waitForTimeout(5_500)
  expect(announcements(a).join()).not.toContain('A rule')
  // And at the other end of the column, which was not rendered during the changes.
  for (const page of [a, b]) {
    await page.locator('.card-title', { hasText: 'first' }).focus()
    await page.keyboard.press('End')
    await page.locator('.card-title', { hasText: 'last' }).waitFor()
  }
  await env.waitForSync(board, a, b)
  expect(await storedOrder(board.grace.api, board.id)).toEqual(await storedOrder(board.ada.api, board.id))
  await checkAndClose(a)
  await checkAndClose(b)
})

/** Runs in the page: the faces whose initials are covered by another face, and by how many pixels each face covers the next. */
const FACES = `(() => {
  const faces = [...document.querySelectorAll('.face-pile .face')]
  const isCovered = (face) => {
    const range = document.createRange()
    range.selectNodeContents(face.querySelector('.avatar'))
    const { left, right, top, bottom } = range.getBoundingClientRect()
    const points = [left + 1, right - 1].flatMap((x) => [top + 2, bottom - 2].map((y) => [x, y]))
    return points.some(([x, y]) => document.elementFromPoint(x, y)?.closest('.face') !== face)
  }
  const boxes = faces.map((face) => face.getBoundingClientRect())
  return {
    count: faces.length,
    covered: faces.filter(isCovered).map((face) => face.textContent),
    overlap: Math.max(...boxes.slice(1).map(({ left }, i) => boxes[i].right - left)),
  }
})()`

test.each([2, 11])('[WEB-229] with %i members, the initials of no face are covered', async (count) => {
  const board = await env.createBoard({ 'To do': ['one'] })
  for (let i = 2; i < count; i++) {
    const { id } = await env.service.user()
    await board.ada.api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: id } })
  }
  const page = await env.openPage(board.ada, board.path)
  const other = await env.openPage(board.grace, board.path)
  await expect.poll(() => page.locator('.face.is-online').count()).toBe(2)
  expect(await page.evaluate(FACES)).toEqual({ count: Math.min(count, 4), covered: [], overlap: 4 })
  await checkAndClose(page)
  await checkAndClose(other)
})

// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, columnOf, dragTo, focusedCard, shownOrder, startDrag } from './board-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { answer, chooseOption, dialogs, toastOf } from './layers.ts'
import { announcements, auditAccessibility, checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const idOf = (board: TestBoard, title: string) => board.cards[title] ?? ''
const removedAs = async ({ ada, id }: TestBoard) =>
  (await ada.api.call('listRemoved', { params: { board_id: id } })).map(({ title, removed }) => [title, removed.as])
const focus = (page: Page, title: string) => cardOf(page, title).locator('.card-title').focus()
const undoInToast = (page: Page) => toastOf(page).getByRole('button', { name: 'Undo' })
const row = (page: Page, title: string) =>
  page
    .getByRole('list', { name: 'Archive and trash' })
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: title, exact: true }) })
const titles = (page: Page) => page.getByRole('list', { name: 'Archive and trash' }).getByRole('link').allTextContents()
/** Archives cards in order: the last one is the newest. */
async function archive(board: TestBoard, ...cards: string[]) {
  for (const title of cards) await board.grace.api.call('archiveCard', { params: { card_id: idOf(board, title) } })
}
async function openMenu(page: Page, title: string) {
  const menu = page.getByRole('button', { name: `Actions for ${title}`, exact: true })
  await menu.click()
  await page.getByRole('menu').waitFor()
}
/** Adds everything that a card can have. */
async function fill(board: TestBoard, title: string) {
  const { api } = board.ada
  const params = { card_id: idOf(board, title) }
  await api.call('updateCard', { params, body: { description: 'All **about** it', due_on: '2030-01-02' } })
  const label = await api.call('createLabel', {
    params: { board_id: board.id },
    body: { name: 'Urgent', color: '#aa0000' },
  })
  await api.call('addCardLabel', { params: { ...params, label_id: label.id } })
  const list = await api.call('createChecklist', { params, body: { title: 'Steps' } })
  await api.call('createItem', { params: { checklist_id: list.id }, body: { content: 'first step' } })
  await api.call('createAttachment', { params, body: { file: new File(['the bytes'], 'notes.txt') } })
}

describe('[WEB-160] archiving and deleting cards', () => {
  test('[WEB-160] by menu: Archive, and Delete below it; the toast undoes it for everyone, with its files', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two', 'three'] })
    await fill(board, 'two')
    const [a, b] = await Promise.all([env.openPage(board.ada, board.path), env.openPage(board.grace, board.path)])
    for (const [item, as, said] of [
      [/^Archive/, 'archived', 'Archived “two”'],
      [/^Delete/, 'deleted', 'Deleted “two”. You can restore it from the trash.'],
    ] as const) {
      await openMenu(a, 'two')
      expect(await a.getByRole('menuitem').allTextContents()).toEqual(
        expect.arrayContaining([expect.stringMatching(/^Archive/), expect.stringMatching(/^Delete/)]),
      )
      await a.getByRole('menuitem', { name: item }).click()
      await toastOf(a).getByText(said).waitFor()
      await cardOf(b, 'two').waitFor({ state: 'detached' })
      await expect.poll(() => removedAs(board)).toEqual([['two', as]])
      await undoInToast(a).click()
      await cardOf(b, 'two').waitFor()
      expect(await env.waitForSync(board, a, b)).toEqual([['To do', ['one', 'two', 'three']]])
      const { attachments, labels, checklists } = await board.ada.api.call('getCard', {
        params: { card_id: idOf(board, 'two') },
      })
      expect([attachments.length, labels.length, checklists.length]).toEqual([1, 1, 1])
    }
    // Others are told that it was restored, not added.
    await expect.poll(() => cardOf(b, 'two').locator('.card-mark').textContent()).toMatch(/restored this$/)
    await checkAndClose(a)
    await checkAndClose(b)
  })

  test('[WEB-160] by keyboard: Del archives, Shift Del deletes, and the focus goes to the neighbour', {
    tags: ['smoke'],
  }, async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two', 'three'] })
    await fill(board, 'one')
    const page = await env.openPage(board.ada, board.path)
    await focus(page, 'one')
    // It asks nothing, although the card has a file: that comes back too.
    await page.keyboard.press('Delete')
    await expect.poll(() => focusedCard(page)).toBe('two')
    await page.keyboard.press('Shift+Delete')
    await expect.poll(() => focusedCard(page)).toBe('three')
    await expect
      .poll(() => removedAs(board))
      .toEqual([
        ['two', 'deleted'],
        ['one', 'archived'],
      ])
    await page.keyboard.press('Control+z')
    await page.keyboard.press('Control+z')
    await expect.poll(() => removedAs(board)).toEqual([])
    expect(await env.waitForSync(board, page)).toEqual([['To do', ['one', 'two', 'three']]])
    const said = announcements(page)
    expect(said).toEqual(expect.arrayContaining(['Archived “one”', 'Restored “two”', 'Restored “one”']))
    await page.keyboard.press('Control+Shift+z')
    await expect.poll(() => removedAs(board)).toEqual([['one', 'archived']])
    await expect.poll(() => announcements(page)).toContain('Redid: archiving of “one”')
    await checkAndClose(page)
  })

  test('[WEB-160] by touch, and in the menu of the open card', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'] })
    const page = await env.openPage(board.ada, board.path, phone)
    await page.getByRole('button', { name: 'Actions for one', exact: true }).tap()
    await page.getByRole('menuitem', { name: 'Archive' }).tap()
    await undoInToast(page).tap()
    await cardOf(page, 'one').locator('.card-title').tap()
    await dialogs(page).waitFor()
    await page.getByRole('button', { name: 'Card menu' }).tap()
    await page.getByRole('menuitem', { name: 'Archive' }).tap()
    await dialogs(page).waitFor({ state: 'detached' })
    await toastOf(page).getByText('Archived “one”').waitFor()
    await expect.poll(() => removedAs(board)).toEqual([['one', 'archived']])
    await undoInToast(page).tap()
    expect(await env.waitForSync(board, page)).toEqual([['To do', ['one', 'two']]])
    await checkAndClose(page)
  })

  test('[WEB-160] offline, an archived card and its return are sent after the reconnect', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'] })
    const page = await env.openPage(board.ada, board.path)
    await page.context().setOffline(true)
    await focus(page, 'one')
    await page.keyboard.press('Delete')
    await cardOf(page, 'one').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+z')
    await cardOf(page, 'one').waitFor()
    await focus(page, 'two')
    await page.keyboard.press('Delete')
    await page.context().setOffline(false)
    await expect.poll(() => removedAs(board), { timeout: 20_000 }).toEqual([['two', 'archived']])
    expect(await env.waitForSync(board, page)).toEqual([['To do', ['one']]])
    await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED|WebSocket/ })
  })
})

test('[WEB-161] a column is archived or deleted with its cards, without a question, and undone', async () => {
  const board = await env.createBoard({ 'To do': ['one'], Doing: ['two', 'three'], Done: [] })
  const [a, b] = await Promise.all([env.openPage(board.ada, board.path), env.openPage(board.grace, board.path)])
  for (const [item, as, said] of [
    ['Archive column', 'archived', 'Archived column “Doing”'],
    ['Delete column', 'deleted', 'Deleted column “Doing”. You can restore it from the trash.'],
  ] as const) {
    await openMenu(a, 'Doing')
    await a.getByRole('menuitem', { name: item }).click()
    await toastOf(a).getByText(said).waitFor()
    await columnOf(b, 'Doing').waitFor({ state: 'detached' })
    await expect.poll(() => removedAs(board)).toEqual([['Doing', as]])
    await undoInToast(a).click()
    await columnOf(b, 'Doing').waitFor()
    expect(await env.waitForSync(board, a, b)).toEqual([
      ['To do', ['one']],
      ['Doing', ['two', 'three']],
      ['Done', []],
    ])
  }
  await checkAndClose(a)
  await checkAndClose(b)
})

describe('[WEB-162] archive and trash', () => {
  test('[WEB-162] lists what left, newest first, is searched and filtered, and restores with one click', {
    tags: ['smoke'],
  }, async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two', 'three', 'four'], Done: ['five'] })
    await archive(board, 'one', 'two')
    await board.ada.api.call('deleteCard', { params: { card_id: idOf(board, 'three') } })
    await board.ada.api.call('archiveColumn', { params: { column_id: board.columns['Done'] ?? '' } })
    const page = await env.openPage(board.ada, board.path)
    await page.getByRole('button', { name: 'Board menu' }).click()
    await page.getByRole('menuitem', { name: 'Archive and trash' }).click()
    await expect.poll(() => titles(page)).toEqual(['Done', 'three', 'two', 'one'])
    expect(await row(page, 'one').textContent()).toMatch(/one #1Archived by .* just now.*from To do/)
    expect(await row(page, 'three').textContent()).toMatch(/#3Deleted by you just now.*30 days left/)
    expect(await row(page, 'Done').textContent()).toMatch(/Column.*Archived by you.*1 card/)
    for (const [chips, expected] of [
      [['Archived'], ['Done', 'two', 'one']],
      [['Cards'], ['two', 'one']],
      [['Deleted'], ['three']],
      [['All', 'Columns'], ['Done']],
      [['Columns'], ['Done', 'three', 'two', 'one']],
    ] as const) {
      for (const name of chips) await dialogs(page).getByRole('button', { name, exact: true }).click()
      await expect.poll(() => titles(page)).toEqual(expected)
    }
    // A search also finds cards that left with their column.
    await page.getByLabel('Search titles and descriptions').fill('FIVE')
    await expect.poll(() => titles(page)).toEqual(['five'])
    await page.getByLabel('Search titles and descriptions').fill('nothing like it')
    await dialogs(page).getByText('Nothing matches.').waitFor()
    await page.getByLabel('Search titles and descriptions').fill('')
    await expect.poll(() => titles(page)).toHaveLength(4)
    await row(page, 'two').getByRole('button', { name: 'Restore “two”' }).dblclick()
    await toastOf(page).getByText('Restored “two”').waitFor()
    await expect.poll(() => titles(page)).toEqual(['Done', 'three', 'one'])
    // The focus is in the next row.
    expect(await page.evaluate('document.activeElement.textContent')).toBe('one')
    await row(page, 'Done').getByRole('button', { name: 'Restore “Done”' }).click()
    await expect.poll(() => titles(page)).toEqual(['three', 'one'])
    expect(await auditAccessibility(page)).toEqual([])
    await page.keyboard.press('Escape')
    expect(await env.waitForSync(board, page)).toEqual([
      ['To do', ['two', 'four']],
      ['Done', ['five']],
    ])
    await checkAndClose(page)
  })

  test('[WEB-162] with the keyboard alone: G then R, arrows, Enter opens, Escape closes', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two', 'three'] })
    await archive(board, 'one', 'two')
    const page = await env.openPage(board.grace, board.path)
    await focus(page, 'three')
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await row(page, 'one').waitFor()
    const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.ariaLabel')
    await expect.poll(focused).toBe('Search titles and descriptions')
    while ((await focused()) !== 'two') await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await expect.poll(focused).toBe('one')
    await page.keyboard.press('Enter')
    await dialogs(page).getByText('Archived by you').waitFor()
    await expect.poll(focused).toMatch(/Archive and trash/)
    await page.keyboard.press('Enter')
    await expect.poll(focused).toBe('one')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => titles(page)).toEqual(['two'])
    await page.keyboard.press('Escape')
    await dialogs(page).waitFor({ state: 'detached' })
    await expect.poll(() => focusedCard(page)).toBe('three')
    expect(await env.waitForSync(board, page)).toEqual([['To do', ['one', 'three']]])
    // The palette has it too.
    await page.keyboard.press('Control+k')
    await page.getByLabel('Search cards, boards and actions').fill('trash')
    await page.getByRole('option', { name: /Archive and trash/ }).click()
    await row(page, 'two').waitFor()
    await checkAndClose(page)
  })

  test('[WEB-162] says when nothing was archived or deleted, and when there is no network', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.grace, `${board.path}/removed`)
    await dialogs(page).getByText('Nothing was archived or deleted.').waitFor()
    await archive(board, 'one')
    await row(page, 'one').waitFor()
    await page.context().setOffline(true)
    await dialogs(page).getByText('You’re offline. The archive and the trash need a connection.').waitFor({
      timeout: 15_000,
    })
    await row(page, 'one')
      .getByRole('button', { name: /^Restore/ })
      .click()
    await expect
      .poll(() => announcements(page))
      .toContain('You’re offline. The archive and the trash need a connection.')
    await page.context().setOffline(false)
    await dialogs(page).getByText('You’re offline.').waitFor({ state: 'detached', timeout: 20_000 })
    await row(page, 'one')
      .getByRole('button', { name: /^Restore/ })
      .click()
    await dialogs(page).getByText('Nothing was archived or deleted.').waitFor()
    await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED|WebSocket/ })
  })

  test('[WEB-163] shows 200 of them in pages, long titles too, also on a phone', async () => {
    const board = await env.createBoard({ 'To do': [] })
    const params = { board_id: board.id, column_id: board.columns['To do'] ?? '' }
    for (let i = 0; i < 200; i += 20)
      await Promise.all(
        Array.from({ length: 20 }, async (_, j) => {
          const title = (i + j) % 7 === 0 ? `${i + j} ${'x'.repeat(240)}` : `card ${i + j}`
          const card = await board.ada.api.call('createCard', { params, body: { title } })
          await board.ada.api.call('archiveCard', { params: { card_id: card.id } })
        }),
      )
    const page = await env.openPage(board.ada, `${board.path}/removed`, phone)
    const more = page.getByRole('button', { name: 'Show more' })
    for (const count of [50, 100, 150, 200]) {
      await expect.poll(async () => (await titles(page)).length).toBe(count)
      if (count < 200) await more.dblclick()
    }
    await more.waitFor({ state: 'detached' })
    expect(new Set(await titles(page)).size).toBe(200)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(
      await page.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.removed'))`,
      ),
    ).toBe(true)
    // A row that is opened keeps the list as it was.
    await page.getByRole('link', { name: 'card 3', exact: true }).tap()
    await page.goBack()
    await expect.poll(async () => (await titles(page)).length).toBe(200)
    await checkAndClose(page)
  })

  test('[WEB-164] the list is live, and the second of two people who restore the same thing is told', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two', 'three'] })
    await archive(board, 'one', 'two')
    const [a, b] = await Promise.all([
      env.openPage(board.ada, `${board.path}/removed`),
      env.openPage(board.grace, `${board.path}/removed`),
    ])
    await Promise.all([a, b].map((page) => row(page, 'one').waitFor()))
    await row(a, 'one')
      .getByRole('button', { name: /^Restore/ })
      .click()
    await row(b, 'one').waitFor({ state: 'detached' })
    await archive(board, 'three')
    await Promise.all([a, b].map((page) => expect.poll(() => titles(page)).toEqual(['three', 'two'])))
    // The events reach this page too late.
    await b.route('**/removed/*/restore', async (route) => {
      await board.ada.api.call('restoreRemoved', {
        params: { board_id: board.id, removed_id: idOf(board, 'two') },
        body: {},
      })
      await route.continue()
    })
    await row(b, 'two')
      .getByRole('button', { name: /^Restore/ })
      .click()
    await toastOf(b)
      .getByText(/“two” (is already back|was deleted for good)/)
      .waitFor()
    await Promise.all([a, b].map((page) => expect.poll(() => titles(page)).toEqual(['three'])))
    await checkAndClose(a)
    await checkAndClose(b, { ignore: /status of 404/ })
  })

  test('[WEB-165] a card whose column is gone asks for another one', async () => {
    const board = await env.createBoard({ 'To do': [], Doing: [], Done: ['one', 'two'] })
    await archive(board, 'one')
    const page = await env.openPage(board.grace, `${board.path}/removed`)
    await row(page, 'one').waitFor()
    await board.ada.api.call('deleteColumn', { params: { column_id: board.columns['Done'] ?? '' } })
    await row(page, 'Done').waitFor()
    await row(page, 'one')
      .getByRole('button', { name: /^Restore/ })
      .click()
    const question = page.getByRole('dialog', { name: 'Where to restore “one”?' })
    await question.getByText('Its column is not on the board anymore.').waitFor()
    expect(await auditAccessibility(page)).toEqual([])
    await question.getByRole('button', { name: 'Cancel' }).click()
    await row(page, 'one')
      .getByRole('button', { name: /^Restore/ })
      .click()
    await chooseOption(question.getByRole('combobox', { name: 'Column' }), 'Doing')
    await question.getByRole('button', { name: 'Restore' }).click()
    await row(page, 'one').waitFor({ state: 'detached' })
    // The column shows its cards, and brings the other one back.
    await page.getByRole('link', { name: 'Done' }).click()
    await dialogs(page).getByRole('link', { name: 'two' }).waitFor()
    expect(await auditAccessibility(page)).toEqual([])
    await dialogs(page).getByRole('button', { name: 'Restore', exact: true }).click()
    await dialogs(page).waitFor({ state: 'detached' })
    expect(await env.waitForSync(board, page)).toEqual([
      ['To do', []],
      ['Doing', ['one']],
      ['Done', ['two']],
    ])
    await checkAndClose(page)
  })

  test('[WEB-166] owners delete for good, after a question; members cannot', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'] })
    await archive(board, 'one', 'two')
    const member = await env.openPage(board.grace, `${board.path}/removed`)
    await row(member, 'one').waitFor()
    expect(await member.getByRole('button', { name: /for good/ }).count()).toBe(0)
    const page = await env.openPage(board.ada, `${board.path}/removed`)
    const purge = row(page, 'one').getByRole('button', { name: 'Delete “one” for good' })
    await purge.click()
    await answer(page, 'Delete “one” for good?', 'Cancel')
    await purge.click()
    await answer(page, 'Delete “one” for good?', 'Delete for good')
    await toastOf(page).getByText('Deleted “one” for good').waitFor()
    await expect.poll(() => titles(page)).toEqual(['two'])
    expect(await removedAs(board)).toEqual([['two', 'archived']])
    // No event tells the others; who tries is told.
    await row(member, 'one')
      .getByRole('button', { name: /^Restore/ })
      .click()
    await toastOf(member).getByText('“one” was deleted for good.').waitFor()
    await expect.poll(() => titles(member)).toEqual(['two'])
    await checkAndClose(page)
    await checkAndClose(member, { ignore: /status of 404/ })
  })
})

describe('[WEB-167] a card that left the board', () => {
  test('[WEB-167] its address shows it read-only, and restores it with everything', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'] })
    await fill(board, 'one')
    await archive(board, 'one')
    const page = await env.openPage(board.grace, `${board.path}/c/${idOf(board, 'one')}`)
    const dialog = page.getByRole('dialog', { name: 'one' })
    for (const text of ['All about it', 'Urgent', 'first step', 'notes.txt', 'Archived by you', '#1'])
      await dialog.getByText(text).first().waitFor()
    expect(await dialog.getByRole('textbox').count()).toBe(0)
    expect(await dialog.getByRole('checkbox', { name: 'first step' }).isDisabled()).toBe(true)
    expect(await auditAccessibility(page)).toEqual([])
    await page.reload()
    await dialog.getByRole('button', { name: 'Restore' }).dblclick()
    // It is the open card now.
    await dialog.getByRole('button', { name: 'Card menu' }).waitFor()
    await dialog.getByText('notes.txt').waitFor()
    await page.keyboard.press('Escape')
    expect(await env.waitForSync(board, page)).toEqual([['To do', ['one', 'two']]])
    await checkAndClose(page)
  })

  test('[WEB-167] someone archives the open card: it stays readable, a draft is kept, and Restore opens it again', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'] })
    const page = await env.openPage(board.ada, `${board.path}/c/${idOf(board, 'one')}`)
    await page.getByRole('button', { name: 'Add description…' }).click()
    await page.getByLabel('Description, in Markdown').fill('half a sen')
    await archive(board, 'one')
    await dialogs(page)
      .getByText(/^Archived by/)
      .waitFor()
    await dialogs(page).getByText('half a sen').waitFor()
    await dialogs(page).getByRole('button', { name: 'Restore' }).click()
    await dialogs(page).getByText('Unsaved draft from').waitFor()
    await dialogs(page).getByText('half a sen').waitFor()
    await checkAndClose(page)
  })

  test('[WEB-167] one that was deleted for good, or never existed, is not found', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    await archive(board, 'one')
    await board.ada.api.call('purgeRemoved', { params: { board_id: board.id, removed_id: idOf(board, 'one') } })
    const page = await env.openPage(board.ada, `${board.path}/c/${idOf(board, 'one')}`)
    await page.getByRole('dialog', { name: 'Card not found' }).waitFor()
    await page.getByRole('button', { name: 'Back to board' }).click()
    await dialogs(page).waitFor({ state: 'detached' })
    await checkAndClose(page, { ignore: /status of 404/ })
  })
})

test('[WEB-168] the history tells archived, deleted and restored apart', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'] })
  await archive(board, 'one')
  const params = { board_id: board.id }
  const restored = { params: { ...params, removed_id: idOf(board, 'one') }, body: {} }
  await board.ada.api.call('restoreRemoved', restored)
  await board.ada.api.call('deleteCard', { params: { card_id: idOf(board, 'two') } })
  await board.ada.api.call('archiveBoard', { params })
  await board.ada.api.call('restoreBoard', { params })
  const page = await env.openPage(board.ada, `${board.path}/activity`)
  const lines = page.locator('.activity-line p')
  await lines.first().waitFor()
  expect((await lines.allTextContents()).slice(0, 5).map((line) => line.replace(/^\S+ /, ''))).toEqual([
    'restored the board',
    'archived the board',
    'deleted “two” from To do',
    'restored “one” to To do',
    'archived “one” from To do',
  ])
  await checkAndClose(page)
})

describe('[WEB-169] an archived board', () => {
  const banner = (page: Page) => page.getByRole('region', { name: 'This board is archived.' })

  test('[WEB-169] switches at once for everybody: read-only, shortcuts say why not, and back', async () => {
    const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: [] })
    await fill(board, 'one')
    const [a, b] = await Promise.all([env.openPage(board.ada, board.path), env.openPage(board.grace, board.path)])
    // Grace is adding a card when it happens.
    await columnOf(b, 'Doing').getByRole('button', { name: 'Add card' }).click()
    await b.getByLabel('Card title').fill('unsent')
    await a.getByRole('button', { name: 'Board menu' }).click()
    await a.getByRole('menuitem', { name: 'Archive board' }).click()
    await toastOf(a).getByText('Archived board “Plan”').waitFor()
    for (const page of [a, b]) {
      await banner(page).waitFor()
      for (const name of ['Add card', 'Add column', 'New card', 'Actions for To do'])
        expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0)
    }
    expect(await banner(b).getByRole('button').count()).toBe(0)
    expect(announcements(b)).toContain('This board is archived.')
    expect(announcements(a)).not.toContain('This board is archived.')
    expect(await b.evaluate('document.activeElement !== document.body')).toBe(true)
    for (const key of [
      'e',
      'n',
      'm',
      'l',
      'a',
      'd',
      'Space',
      'Delete',
      'Shift+Delete',
      'Shift+ArrowDown',
      'c',
      'Control+z',
    ]) {
      await focus(b, 'one')
      const before = announcements(b).length
      await b.keyboard.press(key)
      await expect.poll(() => announcements(b).length, { message: key }).toBeGreaterThan(before)
      expect(announcements(b).at(-1), key).toBe('This board is archived. An owner can restore it.')
      expect(await b.locator('.layer').count(), key).toBe(0)
    }
    // Menus have only what changes nothing.
    await openMenu(b, 'one')
    expect(
      (await b.getByRole('menuitem').allTextContents()).map((text) => text.replace(/(Enter|Ctrl C)$/, '')),
    ).toEqual(['Open', 'Copy link', 'Copy #1'])
    await b.keyboard.press('Escape')
    // Dragging does nothing.
    await startDrag(b, 'two')
    await dragTo(b, 'Doing', 0).catch(() => {})
    await b.mouse.up()
    expect(await shownOrder(b)).toEqual([
      ['To do', ['one', 'two']],
      ['Doing', []],
    ])
    // A card opens read-only, and its files can be opened.
    if ((await dialogs(b).count()) === 0) await cardOf(b, 'one').locator('.card-title').click()
    await dialogs(b).getByText('All about it').waitFor()
    await dialogs(b)
      .getByRole('button', { name: /^notes\.txt/ })
      .waitFor()
    for (const name of ['Edit', 'Add checklist', 'Attach files', 'Delete notes.txt'])
      expect(await dialogs(b).getByRole('button', { name }).count(), name).toBe(0)
    await b.keyboard.press('k')
    await expect.poll(() => announcements(b).at(-1)).toBe('This board is archived. An owner can restore it.')
    expect(await auditAccessibility(b)).toEqual([])
    await b.keyboard.press('Escape')
    expect(await auditAccessibility(b)).toEqual([])
    await banner(a).getByRole('button', { name: 'Restore' }).click()
    for (const page of [a, b]) {
      await banner(page).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'New card' }).waitFor()
    }
    // The text of the new card is still there.
    await columnOf(b, 'Doing').getByRole('button', { name: 'Add card' }).click()
    expect(await b.getByLabel('Card title').inputValue()).toBe('unsent')
    await checkAndClose(a)
    await checkAndClose(b)
  })

  test('[WEB-170] changes that were queued end as failed changes, with their text', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.grace, board.path)
    await page.context().setOffline(true)
    await focus(page, 'one')
    await page.keyboard.press('n')
    await page.keyboard.type('written offline')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await board.ada.api.call('archiveBoard', { params: { board_id: board.id } })
    await page.context().setOffline(false)
    const failed = page.getByRole('alert', { name: 'One change couldn’t be saved' })
    await failed.getByText('Couldn’t add a card. The board is archived. An owner can restore it.').waitFor({
      timeout: 20_000,
    })
    await failed.getByText('written offline').waitFor()
    await failed.getByRole('button', { name: 'Copy text' }).waitFor()
    expect(await env.waitForSync(board, page)).toEqual([['To do', ['one']]])
    await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED|WebSocket|status of 409/ })
  })

  test('[WEB-171] is behind “Archived” in the list of boards; owners archive and restore there', async () => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.ada, '/boards')
    const disclosure = page.getByText('Archived (1)')
    await openMenu(page, 'Plan')
    await page.getByRole('menuitem', { name: 'Archive board' }).click()
    await disclosure.waitFor()
    expect(await page.getByRole('link', { name: 'Plan' }).isVisible()).toBe(false)
    await undoInToast(page).click()
    await page.getByRole('link', { name: 'Plan' }).waitFor()
    expect(await disclosure.count()).toBe(0)
    await board.ada.api.call('archiveBoard', { params: { board_id: board.id } })
    await page.reload()
    await disclosure.click()
    expect(await auditAccessibility(page)).toEqual([])
    await openMenu(page, 'Plan')
    await page.getByRole('menuitem', { name: 'Restore board' }).click()
    await toastOf(page).getByText('Restored board “Plan”').waitFor()
    await disclosure.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Plan' }).click()
    await page.getByRole('button', { name: 'New card' }).waitFor()
    await checkAndClose(page)
    const member = await env.openPage(board.grace, '/boards')
    await member.getByRole('link', { name: 'Plan' }).waitFor()
    expect(await member.getByRole('button', { name: 'Actions for Plan' }).count()).toBe(0)
    await checkAndClose(member)
  })
})

test('[WEB-207] without a trash, a deletion asks first and offers no undo; archiving still does', async () => {
  const withoutTrash = await openEnvironment({ TRASH_DAYS: '0' })
  try {
    const board = await withoutTrash.createBoard({ 'To do': ['one', 'two'], Done: ['three'] })
    const page = await withoutTrash.openPage(board.ada, board.path)
    await focus(page, 'one')
    await page.keyboard.press('Shift+Delete')
    await answer(page, 'Delete “one” for good?', 'Cancel')
    await focus(page, 'one')
    await page.keyboard.press('Shift+Delete')
    expect(await auditAccessibility(page)).toEqual([])
    await answer(page, 'Delete “one” for good?', 'Delete for good')
    await toastOf(page).getByText('Deleted “one” for good').waitFor()
    expect(await undoInToast(page).count()).toBe(0)
    await expect.poll(() => focusedCard(page)).toBe('two')
    await openMenu(page, 'Done')
    await page.getByRole('menuitem', { name: 'Delete column' }).click()
    await page.getByText('Its card is deleted too. This can’t be undone.').waitFor()
    await answer(page, 'Delete “Done” for good?', 'Delete for good')
    expect(await withoutTrash.waitForSync(board, page)).toEqual([['To do', ['two']]])
    await focus(page, 'two')
    await page.keyboard.press('Delete')
    await undoInToast(page).click()
    expect(await withoutTrash.waitForSync(board, page)).toEqual([['To do', ['two']]])
    await checkAndClose(page)
  } finally {
    await withoutTrash.close()
  }
})

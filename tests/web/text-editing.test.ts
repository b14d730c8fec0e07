// @module-tag journey
import { PASSWORD } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, columnOf } from './board-page-object.ts'
import {
  descriptionField,
  editDescription,
  openCard,
  saveDescription,
  storedDescription,
  storedDraft,
  writeDescription,
} from './card-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { HARMLESS, HOSTILE, inspectMarkdown } from './hostile-markdown.ts'
import { toastOf } from './layers.ts'
import { checkAndClose } from './page-checks.ts'

/** Messages of the browser while offline, and about conflicts (412). */
const OFFLINE_ERRORS = /net::ERR_|WebSocket connection|status of (50[234]|412)/

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

/** Opens a card with this description in the pages of two users. */
async function openDescription(text: string) {
  const board = await env.createBoard({ 'To do': ['card', 'other'] })
  await changeDescription(board, text)
  const a = await env.openPage(board.ada, `${board.path}/c/${board.cards['card']}`)
  const b = await env.openPage(board.grace, `${board.path}/c/${board.cards['card']}`)
  await Promise.all([a, b].map((page) => page.getByRole('region', { name: 'Description', exact: true }).waitFor()))
  return { board, a, b }
}
/** Another user changes the description through the API. */
const changeDescription = ({ grace, cards }: TestBoard, description: string) =>
  grace.api.call('updateCard', { params: { card_id: cards['card'] ?? '' }, body: { description } })
const choices = (page: Page) => page.locator('.cd-conflict').getByRole('button')
const keepTheirs = (page: Page) => choices(page).last().click()
const closed = (page: Page) => descriptionField(page).waitFor({ state: 'detached' })

describe('two users edit the same description', () => {
  test('[WEB-60] edits of different paragraphs are merged', { tags: ['smoke'] }, async () => {
    const { board, a, b } = await openDescription('one\n\ntwo\n\nthree')
    await writeDescription(a, 'one of Ada\n\ntwo\n\nthree')
    await writeDescription(b, 'one\n\ntwo\n\nthree of Grace')
    await saveDescription(a)
    await closed(a)
    await b.getByText(`${board.ada.username} edited this while you were writing`).waitFor()
    await saveDescription(b)
    await closed(b)
    await expect.poll(() => storedDescription(board, 'card')).toBe('one of Ada\n\ntwo\n\nthree of Grace')
    await b.getByText('also edited this. Both edits are kept').waitFor()
    await a.locator('.cd-description').getByText('three of Grace').waitFor()
    await checkAndClose(a)
    await checkAndClose(b)
  })

  test('[WEB-60] an editor in which nothing was typed takes the text of the other user, without a note', async () => {
    const { board, a, b } = await openDescription('one')
    await editDescription(a)
    await changeDescription(board, 'one of Grace')
    await expect.poll(() => descriptionField(a).inputValue()).toBe('one of Grace')
    expect(await a.getByText('while you were writing').count()).toBe(0)
    // What is typed now is based on it.
    await descriptionField(a).press('End')
    await a.keyboard.type(' and Ada')
    await saveDescription(a)
    await closed(a)
    await expect.poll(() => storedDescription(board, 'card')).toBe('one of Grace and Ada')
    await b.locator('.cd-description').getByText('one of Grace and Ada').waitFor()
    await checkAndClose(a)
    await checkAndClose(b)
  })

  test('[WEB-60] edits of the same line are a conflict: nothing is overwritten before the user has chosen', {
    tags: ['smoke'],
  }, async () => {
    const { board, a, b } = await openDescription('one\ntwo')
    const conflict = async (text: string, mine: string) => {
      await writeDescription(a, mine)
      await changeDescription(board, text)
      await a.getByText(`${board.grace.username} edited this while you were writing`).waitFor()
      await saveDescription(a)
      await a.getByText('edited the same lines').waitFor()
      const labels = ['Compare', 'Keep mine', `Keep ${board.grace.username}’s`]
      await expect.poll(() => choices(a).allTextContents()).toEqual(labels)
      expect(await storedDescription(board, 'card')).toBe(text)
      expect(await descriptionField(a).inputValue()).toBe(mine)
    }
    await conflict('one of Grace\ntwo', 'one of Ada\ntwo')
    await a.getByRole('button', { name: 'Compare' }).click()
    expect(await a.locator('.cd-both pre').allTextContents()).toEqual(['one of Ada\ntwo', 'one of Grace\ntwo'])
    expect(await storedDescription(board, 'card')).toBe('one of Grace\ntwo')
    await a.getByRole('button', { name: 'Keep mine' }).click()
    await closed(a)
    await expect.poll(() => storedDescription(board, 'card')).toBe('one of Ada\ntwo')
    await b.locator('.cd-description').getByText('one of Ada').waitFor()

    await conflict('theirs\ntwo', 'mine\ntwo')
    await keepTheirs(a)
    await closed(a)
    await a.locator('.cd-description').getByText('theirs').waitFor()
    expect(await storedDescription(board, 'card')).toBe('theirs\ntwo')
    // This can be undone.
    await toastOf(a).getByRole('button', { name: 'Undo' }).click()
    await a.getByRole('button', { name: 'Restore' }).click()
    expect(await descriptionField(a).inputValue()).toBe('mine\ntwo')
    await checkAndClose(a)
    await checkAndClose(b)
  })

  test('[WEB-60] saving at the same time overwrites nothing: each text is saved, or kept as a draft', async () => {
    const { board, a, b } = await openDescription('begin')
    const card_id = board.cards['card'] ?? ''
    const isWith = async (page: Page, mine: string) =>
      [await storedDescription(board, 'card'), await storedDraft(page, card_id, 'description')].some((text) =>
        text.includes(mine),
      )
    let conflicts = 0
    for (let round = 1; round <= 6; round++) {
      const [mine, theirs] = [`Ada ${round}`, `Grace ${round}`]
      await Promise.all([writeDescription(a, mine), writeDescription(b, theirs)])
      await Promise.all([saveDescription(a), saveDescription(b)])
      // Wait until both pages show the saved text or a conflict.
      await expect
        .poll(async () => (await Promise.all([a, b].map((page) => settled(page, board)))).every(Boolean))
        .toBe(true)
      expect(await isWith(a, mine), mine).toBe(true)
      expect(await isWith(b, theirs), theirs).toBe(true)
      for (const page of [a, b]) {
        if ((await choices(page).count()) === 0) continue
        conflicts++
        expect(await descriptionField(page).inputValue()).toBe(page === a ? mine : theirs)
        await keepTheirs(page)
        await closed(page)
      }
      await expect.poll(() => storedDraft(a, card_id, 'description')).toBe('')
      await expect.poll(() => storedDraft(b, card_id, 'description')).toBe('')
    }
    expect(conflicts).toBe(6)
    await checkAndClose(a, { ignore: OFFLINE_ERRORS })
    await checkAndClose(b, { ignore: OFFLINE_ERRORS })
  })
})

/** Whether a page shows the saved text, or a conflict. */
async function settled(page: Page, board: TestBoard) {
  if ((await choices(page).count()) > 0) return true
  // While the editor is open there is no rendered description.
  const [shown] = await page.locator('.cd-description').allTextContents()
  return shown?.trim() === (await storedDescription(board, 'card'))
}

/** Goes offline, once the service worker is active. */
async function goOffline(page: Page) {
  await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null'), { timeout: 15_000 }).toBe(true)
  await page.context().setOffline(true)
}

describe('offline', () => {
  test('[WEB-60] an offline edit that conflicts with another user’s edit is not lost', async () => {
    const { board, a } = await openDescription('one\ntwo')
    await goOffline(a)
    await writeDescription(a, 'one of Ada\ntwo')
    await saveDescription(a)
    await closed(a)
    await a.locator('.cd-description').getByText('one of Ada').waitFor()
    await changeDescription(board, 'one of Grace\ntwo')
    await a.context().setOffline(false)
    await a.getByText('edited the same lines').waitFor({ timeout: 20_000 })
    expect(await descriptionField(a).inputValue()).toBe('one of Ada\ntwo')
    expect(await storedDescription(board, 'card')).toBe('one of Grace\ntwo')
    await a.getByRole('button', { name: 'Keep mine' }).click()
    await expect.poll(() => storedDescription(board, 'card')).toBe('one of Ada\ntwo')
    await checkAndClose(a, { ignore: OFFLINE_ERRORS })
  })

  test('[WEB-60] after a reload in between, the conflicting text is offered as a draft', async () => {
    const { board, a } = await openDescription('one\ntwo')
    await goOffline(a)
    await writeDescription(a, 'one of Ada\ntwo')
    await saveDescription(a)
    await closed(a)
    await a.reload()
    await a.locator('.cd-description').getByText('one of Ada').waitFor()
    await changeDescription(board, 'one of Grace\ntwo')
    await a.context().setOffline(false)
    await a.locator('.cd-description').getByText('one of Grace').waitFor({ timeout: 20_000 })
    await a.getByText('Unsaved draft from').waitFor()
    await a.getByRole('button', { name: 'Restore' }).click()
    expect(await descriptionField(a).inputValue()).toBe('one of Ada\ntwo')
    await saveDescription(a)
    await a.getByText('edited the same lines').waitFor()
    expect(await storedDescription(board, 'card')).toBe('one of Grace\ntwo')
    await checkAndClose(a, { ignore: OFFLINE_ERRORS })
  })
})

describe('unsaved text', () => {
  const text = 'begun\n\nnot finished'

  test.each([
    ['a reload', (page: Page) => page.reload()],
    ['Escape, twice', (page: Page) => page.keyboard.press('Escape').then(() => page.keyboard.press('Escape'))],
    ['a click outside the dialog', (page: Page) => page.mouse.click(5, 450)],
    ['the back button', (page: Page) => page.goBack()],
    [
      'the next card',
      (page: Page) => page.keyboard.press('Escape').then(() => page.keyboard.press('Control+ArrowDown')),
    ],
  ])('[WEB-61] a description is offered as a draft after %s', async (_, leave) => {
    const board = await env.createBoard({ 'To do': ['card', 'other'] })
    await changeDescription(board, 'as it was')
    const page = await env.openPage(board.ada, board.path)
    await openCard(page, 'card')
    await editDescription(page)
    await descriptionField(page).fill(text)
    await leave(page)
    if ((await page.getByRole('button', { name: 'Restore' }).count()) === 0) {
      await page.goto(`${env.service.baseUrl}/app${board.path}/c/${board.cards['card']}`)
    }
    await page.getByText('Unsaved draft from').waitFor()
    expect(await storedDescription(board, 'card')).toBe('as it was')
    expect((await page.locator('.cd-description').textContent())?.trim()).toBe('as it was')
    await page.getByRole('button', { name: 'Restore' }).click()
    expect(await descriptionField(page).inputValue()).toBe(text)
    await saveDescription(page)
    await expect.poll(() => storedDescription(board, 'card')).toBe(text)
    await expect.poll(() => storedDraft(page, board.cards['card'] ?? '', 'description')).toBe('')
    await checkAndClose(page)
  })

  test('[WEB-61] a title is offered as a draft after a reload, in the dialog and on the board', async () => {
    const board = await env.createBoard({ 'To do': ['card'] })
    const page = await env.openPage(board.ada, board.path)
    await openCard(page, 'card')
    const field = page.getByLabel('Title', { exact: true })
    const restored = async (wanted: string) => {
      await page.getByRole('button', { name: 'Restore' }).click()
      expect(await field.inputValue()).toBe(wanted)
    }
    await page.getByTitle('Edit: Title').click()
    await field.fill('a better title')
    await page.reload()
    await restored('a better title')
    await field.fill('the best title')
    await field.press('Enter')
    await cardOf(page, 'the best title').waitFor({ state: 'attached' })
    await expect.poll(() => storedDraft(page, board.cards['card'] ?? '', 'title')).toBe('')
    await page.keyboard.press('Escape')

    // On the board the field starts with the draft.
    await cardOf(page, 'the best title').locator('a').focus()
    await page.keyboard.press('e')
    await field.fill('begun on the board')
    await page.reload()
    await cardOf(page, 'the best title').locator('a').focus()
    await page.keyboard.press('e')
    expect(await field.inputValue()).toBe('begun on the board')
    await field.press('Enter')
    expect(await env.waitForSync(board, page)).toEqual([['To do', ['begun on the board']]])
    await checkAndClose(page)
  })

  test('[WEB-61] the title of a new card is restored after a reload and after Escape', async () => {
    const board = await env.createBoard({ 'To do': ['card'], Done: [] })
    const page = await env.openPage(board.ada, board.path)
    const compose = () => columnOf(page, 'To do').getByRole('button', { name: 'Add card' }).click()
    const field = page.getByLabel('Card title')
    await compose()
    await field.fill('begun')
    await page.reload()
    await compose()
    expect(await field.inputValue()).toBe('begun')
    await field.press('Escape')
    await compose()
    expect(await field.inputValue()).toBe('begun')
    await field.press('Enter')
    expect(await field.inputValue()).toBe('')
    expect(await env.waitForSync(board, page)).toEqual([
      ['To do', ['card', 'begun']],
      ['Done', []],
    ])
    await checkAndClose(page)
  })

  test('[WEB-61] drafts belong to their user: another user of the browser does not see them', async () => {
    const board = await env.createBoard({ 'To do': ['card'] })
    const page = await env.openPage(board.ada, board.path)
    const begin = async () => {
      await openCard(page, 'card')
      await page.getByRole('button', { name: 'Add description…' }).waitFor()
    }
    const enterAs = async ({ email }: { email: string }) => {
      await page.getByRole('button', { name: 'Account' }).click()
      await page.getByRole('menuitem', { name: 'Log out' }).click()
      await page.getByLabel('Email').fill(email)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.locator('main.board').waitFor()
    }
    await begin()
    await editDescription(page)
    await descriptionField(page).fill('secret of Ada')
    await page.keyboard.press('Escape')
    await page.getByText('Unsaved draft from').waitFor()
    await page.keyboard.press('Escape')
    await columnOf(page, 'To do').getByRole('button', { name: 'Add card' }).click()
    await page.getByLabel('Card title').fill('plan of Ada')
    await page.keyboard.press('Escape')

    await enterAs(board.grace)
    await begin()
    expect(await page.getByText('Unsaved draft from').count()).toBe(0)
    await editDescription(page)
    expect(await descriptionField(page).inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await columnOf(page, 'To do').getByRole('button', { name: 'Add card' }).click()
    expect(await page.getByLabel('Card title').inputValue()).toBe('')
    await page.keyboard.press('Escape')

    await enterAs(board.ada)
    await begin()
    await page.getByRole('button', { name: 'Restore' }).click()
    expect(await descriptionField(page).inputValue()).toBe('secret of Ada')
    await checkAndClose(page, { ignore: /status of 401/ })
  })
})

test('[WEB-60] a title changed by another user is not overwritten by an open editor, with or without an edit', async () => {
  const board = await env.createBoard({ 'To do': ['card'] })
  const page = await env.openPage(board.ada, board.path)
  const params = { card_id: board.cards['card'] ?? '' }
  const rename = async (title: string) => {
    await board.grace.api.call('updateCard', { params, body: { title } })
    await page.getByRole('button', { name: `Actions for ${title}`, includeHidden: true }).waitFor({ state: 'attached' })
  }
  const field = page.getByLabel('Title', { exact: true })

  await cardOf(page, 'card').locator('a').focus()
  await page.keyboard.press('e')
  await rename('theirs')
  await field.press('Enter')
  expect(await env.waitForSync(board, page)).toEqual([['To do', ['theirs']]])

  await cardOf(page, 'theirs').locator('a').focus()
  await page.keyboard.press('e')
  await field.fill('mine')
  await rename('theirs again')
  await field.press('Enter')
  const notice = page.getByRole('alert', { name: 'One change couldn’t be saved' })
  await notice.getByText('mine').waitFor()
  expect(await env.waitForSync(board, page)).toEqual([['To do', ['theirs again']]])

  await notice.getByRole('button', { name: 'Open card' }).click()
  await page.getByRole('button', { name: 'Restore' }).click()
  expect(await field.inputValue()).toBe('mine')
  await rename('once more')
  await field.press('Enter')
  await toastOf(page).getByText('Yours is saved as a draft').waitFor()
  expect((await board.ada.api.call('getCard', { params })).title).toBe('once more')
  await checkAndClose(page, { ignore: OFFLINE_ERRORS })
})

test('[WEB-25] a task is ticked in the rendered text, for all users and by keyboard, and tasks of others stay', async () => {
  const { board, a, b } = await openDescription('- [ ] first\n- [ ] second')
  await b.getByRole('checkbox', { name: 'second' }).waitFor()
  await a.getByRole('checkbox', { name: 'first' }).click()
  await b.getByRole('checkbox', { name: 'first', checked: true }).waitFor()
  await b.getByRole('checkbox', { name: 'second' }).focus()
  await b.keyboard.press('Space')
  await a.getByRole('checkbox', { name: 'second', checked: true }).waitFor()
  await expect.poll(() => storedDescription(board, 'card')).toBe('- [x] first\n- [x] second')
  await b.getByRole('checkbox', { name: 'second' }).and(b.locator(':focus')).waitFor()
  // The editor does not open.
  expect(await descriptionField(a).count()).toBe(0)
  await checkAndClose(a)
  await checkAndClose(b)
})

test('[WEB-62] a malicious description runs no script, loads no resource, and has only safe links', async () => {
  const board = await env.createBoard({ 'To do': ['card'] })
  await changeDescription(board, HOSTILE)
  const page = await env.openPage(board.ada, board.path)
  await openCard(page, 'card')
  await page.locator('.cd-description .cd-markdown table').waitFor()
  // Also in the preview.
  await editDescription(page)
  await page.locator('.cd-preview .cd-markdown table').waitFor()
  await page.waitForTimeout(300)

  const preview = await inspectMarkdown(page, '.cd-preview .cd-markdown')
  expect(preview).toMatchObject(HARMLESS)
  expect(preview.kept).toBeGreaterThanOrEqual(3)
  await page.keyboard.press('Escape')
  await page.locator('.cd-description .cd-markdown table').waitFor()
  expect(await inspectMarkdown(page, '.cd-description .cd-markdown')).toEqual(preview)
  // checkAndClose verifies that there were no foreign requests and no policy violations.
  await checkAndClose(page)
})

// @module-tag journey
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf } from './board-page-object.ts'
import {
  descriptionField,
  editDescription,
  openCard,
  saveDescription,
  storedDescription,
  storedDraft,
} from './card-page-object.ts'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { answer, chooseOption, dialogs, toastOf } from './layers.ts'
import { checkAndClose } from './page-checks.ts'

/** Messages of the browser about failed requests and error responses. */
const REQUEST_ERRORS = /net::ERR_|status of 4\d\d/

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

describe('a board URL', () => {
  const mistakes: [string, (id: string) => string][] = [
    ['one character short', (id) => id.slice(0, -1)],
    ['mistyped', () => 'not-a-uuid'],
    ['unknown', () => randomUUID()],
  ]
  test.each(mistakes)('[WEB-111] that is %s shows an error with a link to the boards', async (_, change) => {
    const board = await env.createBoard({ 'To do': ['one'] })
    const page = await env.openPage(board.ada, '/boards')
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    const wrong = change(board.id)
    await page.goto(`${env.service.baseUrl}/app/b/${wrong}`)
    await page.getByRole('heading', { name: 'Board not found' }).waitFor()
    await page.getByRole('button', { name: 'Account' }).waitFor()
    // The request is not retried.
    expect(requested.filter((url) => url.includes(`/boards/${wrong}`)).length).toBeLessThanOrEqual(1)
    await page.getByRole('main').getByRole('link', { name: 'Your boards' }).click()
    await page.locator('.tile', { hasText: 'Plan' }).waitFor()
    // The correct URL still works.
    const other = await env.openPage(board.grace, board.path)
    await page.goto(other.url())
    await cardOf(page, 'one').waitFor()
    await checkAndClose(page, { ignore: REQUEST_ERRORS })
    await checkAndClose(other)
  })
})

describe('a new board', () => {
  const columns = ['To do', 'Doing', 'Done']
  const create = async (page: Page, title: string) => {
    await page.getByLabel('Board name').fill(title)
    await page.keyboard.press('Enter')
  }
  const columnsOn = (page: Page) => page.locator('.column h2').allTextContents()

  test('[WEB-112] is created once, however often Enter is pressed on a slow connection', {
    tags: ['smoke'],
  }, async () => {
    const [ada, grace] = await Promise.all([env.service.user(), env.service.user()])
    const page = await env.openPage(ada, '/boards')
    await page.route('**/boards', async (route) => {
      if (route.request().method() === 'POST') await new Promise((resolve) => setTimeout(resolve, 600))
      await route.continue()
    })
    await create(page, 'Double')
    await page.getByRole('button', { name: /^Creating/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Creating/ }).dispatchEvent('click')
    await page.locator('main.board').waitFor()
    await expect.poll(() => columnsOn(page)).toEqual(columns)
    const boards = await ada.api.call('listBoards', {})
    expect(boards.map(({ title }) => title)).toEqual(['Double'])
    await ada.api.call('inviteMember', { params: { board_id: boards[0]?.id ?? '' }, body: { user_id: grace.id } })
    const other = await env.openPage(grace, `/b/${boards[0]?.id}`)
    await expect.poll(() => columnsOn(other)).toEqual(columns)
    await checkAndClose(page)
    await checkAndClose(other)
  })

  test('[WEB-112] is completed after a network failure and a reload', async () => {
    const ada = await env.service.user()
    const page = await env.openPage(ada, '/boards')
    let requests = 0
    await page.route('**/boards/*/columns', async (route) => {
      // The second column is created, but its response is lost; after that all requests fail.
      if (++requests <= 2) await route.fetch()
      if (requests === 1) await route.continue()
      else await route.abort('connectionreset')
    })
    await create(page, 'Half')
    await toastOf(page).getByText('Can’t reach the server.').waitFor({ timeout: 20_000 })
    expect(await page.getByLabel('Board name').inputValue()).toBe('Half')
    await page.unroute('**/boards/*/columns')
    await page.reload()
    const made = async () => {
      const boards = await ada.api.call('listBoards', {})
      const full = await ada.api.call('getBoard', { params: { board_id: boards[0]?.id ?? '' } })
      return [boards.length, full.columns.map(({ title }) => title)]
    }
    await expect.poll(made, { timeout: 10_000 }).toEqual([1, columns])
    await page.locator('.tile', { hasText: 'Half' }).click()
    await expect.poll(() => columnsOn(page)).toEqual(columns)
    await checkAndClose(page, { ignore: REQUEST_ERRORS })
  })
})

test('[WEB-113] a file over the limit is rejected before the upload, with readable sizes', async () => {
  const board = await env.createBoard({ 'To do': ['card'] })
  const page = await env.openPage(board.ada, board.path)
  await openCard(page, 'card')
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/attachments')) sent.push(request.url())
  })
  // Created in the page: transferring them through the DevTools protocol would be slow.
  await page.evaluate(`(() => {
    const data = new DataTransfer()
    for (const [name, size] of [['big.bin', 11_000_000], ['one-more.bin', 10_485_761], ['fits.bin', 10]])
      data.items.add(new File([new Uint8Array(size)], name))
    const event = new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data })
    document.querySelector('.layer .cd').dispatchEvent(event)
  })()`)
  const section = page.getByRole('region', { name: 'Attachments' })
  await section.getByText('Too large (11 MB). Limit: 10 MB', { exact: true }).waitFor()
  await section.getByText('Too large (10,485,761 bytes). Limit: 10,485,760 bytes', { exact: true }).waitFor()
  await section.locator('button.cd-file-name', { hasText: 'fits.bin' }).waitFor()
  expect(sent).toHaveLength(1)
  expect(await section.getByRole('button', { name: 'Retry' }).count()).toBe(0)
  await checkAndClose(page)
})

describe('an empty form', () => {
  const errors = (page: Page) => page.locator('.field-error').allTextContents()
  const watch = (page: Page) => {
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url())
    })
    return sent
  }

  test('[WEB-114] for login is not sent', async () => {
    const page = await env.openPage(undefined, '/login')
    const sent = watch(page)
    await page.getByRole('button', { name: 'Log in' }).click()
    await expect.poll(() => errors(page)).toEqual(['Enter your email address.', 'Enter your password.'])
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('username')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.keyboard.press('Enter')
    await expect.poll(() => errors(page)).toEqual(['Enter your password.'])
    expect(sent).toEqual([])
    await checkAndClose(page, { ignore: REQUEST_ERRORS })
  })

  test('[WEB-114] for registration marks all three fields and is not sent', async () => {
    const page = await env.openPage(undefined, '/register')
    const sent = watch(page)
    await page.getByRole('button', { name: 'Create account' }).click()
    await expect
      .poll(() => errors(page))
      .toEqual(['Enter your email address.', 'Choose a username.', 'Choose a password.'])
    expect(sent).toEqual([])
    await checkAndClose(page, { ignore: REQUEST_ERRORS })
  })
})

describe('discarding text', () => {
  test('[WEB-115] Escape cancels editing a title, in the dialog and on the board, and leaves no draft', async () => {
    const board = await env.createBoard({ 'To do': ['card'] })
    const page = await env.openPage(board.ada, board.path)
    const field = page.getByLabel('Title', { exact: true })
    await openCard(page, 'card')
    await page.getByTitle('Edit: Title').click()
    await field.fill('not this')
    await field.press('Escape')
    await page.getByTitle('Edit: Title').getByText('card', { exact: true }).waitFor()
    expect(await page.getByText('Unsaved draft from').count()).toBe(0)
    await page.keyboard.press('Escape')
    await cardOf(page, 'card').locator('a').focus()
    await page.keyboard.press('e')
    expect(await field.inputValue()).toBe('card')
    await field.fill('nor this')
    await field.press('Escape')
    await field.waitFor({ state: 'detached' })
    await page.keyboard.press('e')
    expect(await field.inputValue()).toBe('card')
    await field.press('Escape')
    expect(await env.waitForSync(board, page)).toEqual([['To do', ['card']]])
    await checkAndClose(page)
  })

  test('[WEB-115] a description can be discarded, and that can be undone', async () => {
    const board = await env.createBoard({ 'To do': ['card'] })
    const page = await env.openPage(board.ada, board.path)
    await openCard(page, 'card')
    await editDescription(page)
    const discard = page.getByRole('button', { name: 'Discard', exact: true })
    // Nothing to discard yet.
    expect(await discard.count()).toBe(0)
    await descriptionField(page).fill('not this')
    await discard.click()
    await page.getByRole('button', { name: 'Add description…' }).waitFor()
    expect(await page.getByText('Unsaved draft from').count()).toBe(0)
    await toastOf(page).getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Unsaved draft from').waitFor()
    await checkAndClose(page)
  })
})

describe('a rejected description', () => {
  const alert = (page: Page) => dialogs(page).locator('.cd-editor').getByRole('alert')

  test('[WEB-116] that is too long stays in the editor, with the reason', async () => {
    const board = await env.createBoard({ 'To do': ['card'] })
    const page = await env.openPage(board.ada, board.path)
    await openCard(page, 'card')
    await editDescription(page)
    const text = 'x'.repeat(65_537)
    await descriptionField(page).fill(text)
    await saveDescription(page)
    await alert(page).getByText('Too long: 65,537 of 65,536 characters').waitFor()
    expect(await descriptionField(page).inputValue()).toBe(text)
    await descriptionField(page).fill(text.slice(1))
    await saveDescription(page)
    await expect.poll(async () => (await storedDescription(board, 'card')).length).toBe(65_536)
    expect(await page.locator('.failedChanges').count()).toBe(0)
    await checkAndClose(page)
  })

  test('[WEB-116] returns to the editor, with the server’s reason', async () => {
    const board = await env.createBoard({ 'To do': ['card'] })
    const page = await env.openPage(board.ada, board.path)
    await openCard(page, 'card')
    await page.route('**/cards/*', (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 409, json: { code: 'text_limit', detail: 'This board is full.' } })
        : route.continue(),
    )
    await editDescription(page)
    await descriptionField(page).fill('one word too many')
    await saveDescription(page)
    await alert(page).getByText('This board is full.').waitFor()
    expect(await descriptionField(page).inputValue()).toBe('one word too many')
    expect(await storedDraft(page, board.cards['card'] ?? '', 'description')).toBe('one word too many')
    await page.unroute('**/cards/*')
    await saveDescription(page)
    await expect.poll(() => storedDescription(board, 'card')).toBe('one word too many')
    await checkAndClose(page, { ignore: REQUEST_ERRORS })
  })
})

test('[WEB-117] an open card that is deleted for good is recreated with labels, assignees and checklists; the dialog says that files are lost', async () => {
  const board = await env.createBoard({ 'To do': ['card'] })
  const { ada, grace } = board
  const card_id = board.cards['card'] ?? ''
  const params = { card_id }
  const label = await ada.api.call('createLabel', {
    params: { board_id: board.id },
    body: { name: 'Urgent', color: '#aa0000' },
  })
  await ada.api.call('addCardLabel', { params: { card_id, label_id: label.id } })
  await ada.api.call('assignCard', { params, body: { user_ids: [grace.id] } })
  const checklist = await ada.api.call('createChecklist', { params, body: { title: 'Steps' } })
  for (const content of ['first', 'second']) {
    const item = await ada.api.call('createItem', { params: { checklist_id: checklist.id }, body: { content } })
    if (content === 'first') await ada.api.call('updateItem', { params: { item_id: item.id }, body: { is_done: true } })
    else await ada.api.call('assignItem', { params: { item_id: item.id }, body: { user_ids: [ada.id] } })
  }
  await ada.api.call('createAttachment', { params, body: { file: new File(['x'], 'x.txt') } })
  const page = await env.openPage(grace, `${board.path}/c/${card_id}`)
  await page.getByRole('region', { name: 'Attachments' }).getByText('x.txt').waitFor()
  await ada.api.call('deleteCard', { params })
  const bar = page.locator('.cd-bar')
  await bar.getByText('Deleted by').waitFor()
  await ada.api.call('purgeRemoved', { params: { board_id: board.id, removed_id: card_id } })
  await bar.getByRole('button', { name: 'Restore' }).click()
  await bar.getByText('“card” was deleted and can’t be restored. Its file is lost.').waitFor()
  await bar.getByRole('button', { name: 'Recreate' }).click()
  await page.getByRole('region', { name: /^Checklist Steps|^Steps/ }).waitFor()
  const recreated = async () => {
    const { columns } = await ada.api.call('getBoard', { params: { board_id: board.id } })
    return columns[0]?.cards.map(({ title, labels, assignees, checklists, attachments }) => ({
      title,
      labels: labels.map(({ name }) => name),
      assignees: assignees.map(({ id }) => id),
      checklists: checklists.map((each) => [
        each.title,
        each.items.map(({ content, is_done, assignees: on }) => [content, is_done, on.map(({ id }) => id)]),
      ]),
      files: attachments.length,
    }))
  }
  await expect.poll(recreated, { timeout: 10_000 }).toEqual([
    {
      title: 'card',
      labels: ['Urgent'],
      assignees: [grace.id],
      checklists: [
        [
          'Steps',
          [
            ['first', true, []],
            ['second', false, [ada.id]],
          ],
        ],
      ],
      files: 0,
    },
  ])
  await checkAndClose(page, { ignore: /status of 404/ })
})

test('[WEB-118] the last owner can’t leave, and is told what to do', async () => {
  const board = await env.createBoard({ 'To do': ['card'] })
  const page = await env.openPage(board.ada, `${board.path}/members`)
  const question = page.getByRole('alertdialog')
  const leave = page.getByRole('button', { name: 'Leave board' })
  await leave.click()
  await page
    .getByRole('alert')
    .getByText('A board needs an owner. Make someone else an owner first, or delete the board.')
    .waitFor()
  expect(await question.count()).toBe(0)
  // With a second owner the error disappears, and the confirmation is shown.
  await chooseOption(page.getByRole('combobox', { name: `Role of ${board.grace.username}` }), 'Owner')
  await page.getByRole('alert').getByText('A board needs an owner.').waitFor({ state: 'detached' })
  await leave.click()
  await question.getByText('Only an owner can invite you again.').waitFor()
  await answer(page, 'Leave “Plan”?', 'Cancel')
  await leave.and(page.locator(':focus')).waitFor()
  const { members } = await board.ada.api.call('getBoard', { params: { board_id: board.id } })
  expect(members).toHaveLength(2)
  await checkAndClose(page)
})

test('[WEB-119] a card whose description would freeze the page opens at once, as plain text', async () => {
  const board = await env.createBoard({ 'To do': ['usual', 'quotes', 'links', 'word'] })
  const texts: Record<string, string> = {
    quotes: '> '.repeat(30_000),
    links: '[a]('.repeat(16_000),
    word: 'x'.repeat(65_536),
  }
  for (const [title, description] of Object.entries({ ...texts, usual: '**bold**' }))
    await board.ada.api.call('updateCard', { params: { card_id: board.cards[title] ?? '' }, body: { description } })
  const page = await env.openPage(board.grace, board.path)
  // Before the parser is loaded, every text is plain.
  await openCard(page, 'usual')
  await page.locator('.layer .cd-markdown strong').waitFor()
  await page.keyboard.press('Escape')
  for (const [title, description] of Object.entries(texts)) {
    await openCard(page, title)
    const plain = page.locator('.layer .cd-markdown.is-plain')
    await plain.waitFor()
    expect(await plain.textContent()).toBe(description)
    // Long words have no kerning, so that line breaking is fast.
    const kerning = await page.evaluate(`getComputedStyle(document.querySelector('.layer .cd-markdown')).fontKerning`)
    expect(kerning).toBe(title === 'quotes' ? 'auto' : 'none')
    await page.keyboard.press('Escape')
  }
  await checkAndClose(page)
})

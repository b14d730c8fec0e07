import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf } from './board-hands.ts'
import { beginDescription, descriptionField, descriptionOf, draftOf, openCard, saveDescription } from './card-hands.ts'
import { finish } from './pages.ts'
import { openStage, type Stage } from './stage.ts'

/** What a browser says by itself about a request that did not arrive, or was refused. */
const UNDELIVERED = /net::ERR_|status of 4\d\d/

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

describe('the address of a board', () => {
  const mistakes: [string, (id: string) => string][] = [
    ['one character short', (id) => id.slice(0, -1)],
    ['mistyped', () => 'not-a-uuid'],
    ['of no board', () => randomUUID()],
  ]
  test.each(mistakes)('[WEB-111] that is %s says so, and leads home', async (_, spoil) => {
    const board = await stage.board({ 'To do': ['one'] })
    const page = await stage.enter(board.ada, '/boards')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const wrong = spoil(board.id)
    await page.goto(`${stage.service.base_url}/app/b/${wrong}`)
    await page.getByRole('heading', { name: 'There is no such board' }).waitFor()
    await page.getByRole('button', { name: 'Account' }).waitFor()
    // It is not asked for again and again.
    expect(asked.filter((url) => url.includes(`/boards/${wrong}`)).length).toBeLessThanOrEqual(1)
    await page.getByRole('main').getByRole('link', { name: 'Your boards' }).click()
    await page.locator('.tile', { hasText: 'Plan' }).waitFor()
    // The right address, which the other one sends, still works.
    const other = await stage.enter(board.grace, board.path)
    await page.goto(other.url())
    await cardOf(page, 'one').waitFor()
    await finish(page, { but: UNDELIVERED })
    await finish(other)
  })
})

describe('a new board', () => {
  const lanes = ['To do', 'Doing', 'Done']
  const create = async (page: Page, title: string) => {
    await page.getByLabel('Title of the new board').fill(title)
    await page.keyboard.press('Enter')
  }
  const lanesOn = (page: Page) => page.locator('.lane h2').allTextContents()

  test('[WEB-112] is made once, however often Enter is pressed on a slow line; the other one sees all of it', async () => {
    const [ada, grace] = await Promise.all([stage.service.user(), stage.service.user()])
    const page = await stage.enter(ada, '/boards')
    await page.route('**/boards', async (route) => {
      if (route.request().method() === 'POST') await new Promise((resolve) => setTimeout(resolve, 600))
      await route.continue()
    })
    await create(page, 'Double')
    await page.getByRole('button', { name: /^Creating/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Creating/ }).dispatchEvent('click')
    await page.locator('main.board').waitFor()
    await expect.poll(() => lanesOn(page)).toEqual(lanes)
    const boards = await ada.api.call('listBoards', {})
    expect(boards.map(({ title }) => title)).toEqual(['Double'])
    await ada.api.call('inviteMember', { params: { board_id: boards[0]?.id ?? '' }, body: { user_id: grace.id } })
    const other = await stage.enter(grace, `/b/${boards[0]?.id}`)
    await expect.poll(() => lanesOn(other)).toEqual(lanes)
    await finish(page)
    await finish(other)
  }, 60_000)

  test('[WEB-112] is completed when the network fails between its requests, also after a reload', async () => {
    const ada = await stage.service.user()
    const page = await stage.enter(ada, '/boards')
    let columns = 0
    await page.route('**/boards/*/columns', async (route) => {
      // The second column arrives, and its answer is lost; then nothing arrives any more.
      if (++columns <= 2) await route.fetch()
      if (columns === 1) await route.continue()
      else await route.abort('connectionreset')
    })
    await create(page, 'Half')
    await page.locator('.toast', { hasText: 'The service cannot be reached.' }).waitFor({ timeout: 20_000 })
    expect(await page.getByLabel('Title of the new board').inputValue()).toBe('Half')
    await page.unroute('**/boards/*/columns')
    await page.reload()
    const made = async () => {
      const boards = await ada.api.call('listBoards', {})
      const full = await ada.api.call('getBoard', { params: { board_id: boards[0]?.id ?? '' } })
      return [boards.length, full.columns.map(({ title }) => title)]
    }
    await expect.poll(made, { timeout: 10_000 }).toEqual([1, lanes])
    await page.locator('.tile', { hasText: 'Half' }).click()
    await expect.poll(() => lanesOn(page)).toEqual(lanes)
    await finish(page, { but: UNDELIVERED })
  }, 60_000)
})

test('[WEB-113] a file over the limit is refused before it is sent, in sizes that people read', async () => {
  const board = await stage.board({ 'To do': ['card'] })
  const page = await stage.enter(board.ada, board.path)
  await openCard(page, 'card')
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/attachments')) sent.push(request.url())
  })
  // Made in the page: the browser's debugger would take long to hand them over.
  await page.evaluate(`(() => {
    const data = new DataTransfer()
    for (const [name, size] of [['big.bin', 11_000_000], ['one-more.bin', 10_485_761], ['fits.bin', 10]])
      data.items.add(new File([new Uint8Array(size)], name))
    const event = new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data })
    document.querySelector('dialog[open] .cd').dispatchEvent(event)
  })()`)
  const section = page.getByRole('region', { name: 'Attachments' })
  await section.getByText('Too large (11 MB). The limit is 10 MB.', { exact: true }).waitFor()
  await section.getByText('Too large (10,485,761 bytes). The limit is 10,485,760 bytes.', { exact: true }).waitFor()
  await section.locator('button.cd-file-name', { hasText: 'fits.bin' }).waitFor()
  expect(sent).toHaveLength(1)
  expect(await section.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  await finish(page)
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

  test('[WEB-114] of the login is not sent', async () => {
    const page = await stage.enter(undefined, '/login')
    const sent = watch(page)
    await page.getByRole('button', { name: 'Log in' }).click()
    await expect.poll(() => errors(page)).toEqual(['Enter your e-mail address.', 'Enter your password.'])
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('username')
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.keyboard.press('Enter')
    await expect.poll(() => errors(page)).toEqual(['Enter your password.'])
    expect(sent).toEqual([])
    await finish(page, { but: UNDELIVERED })
  })

  test('[WEB-114] of the registration names all three fields at once, and is not sent', async () => {
    const page = await stage.enter(undefined, '/register')
    const sent = watch(page)
    await page.getByRole('button', { name: 'Create account' }).click()
    await expect
      .poll(() => errors(page))
      .toEqual(['Enter your e-mail address.', 'Choose a username.', 'Choose a password.'])
    expect(sent).toEqual([])
    await finish(page, { but: UNDELIVERED })
  })
})

describe('what was typed and is not wanted', () => {
  test('[WEB-115] Escape cancels a new title, in the dialog and on the board, and leaves no draft', async () => {
    const board = await stage.board({ 'To do': ['card'] })
    const page = await stage.enter(board.ada, board.path)
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
    expect(await stage.agreed(board, page)).toEqual([['To do', ['card']]])
    await finish(page)
  })

  test('[WEB-115] a description has Discard beside Keep as draft; it can be undone', async () => {
    const board = await stage.board({ 'To do': ['card'] })
    const page = await stage.enter(board.ada, board.path)
    await openCard(page, 'card')
    await beginDescription(page)
    const discard = page.getByRole('button', { name: 'Discard', exact: true })
    // Nothing to discard yet.
    expect(await discard.count()).toBe(0)
    await descriptionField(page).fill('not this')
    await discard.click()
    await page.getByRole('button', { name: 'Add a description…' }).waitFor()
    expect(await page.getByText('Unsaved draft from').count()).toBe(0)
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Unsaved draft from').waitFor()
    await finish(page)
  })
})

describe('a description that is refused', () => {
  const alert = (page: Page) => page.locator('dialog[open] .cd-editor').getByRole('alert')

  test('[WEB-116] for its length stays in the editor, with the reason above it', async () => {
    const board = await stage.board({ 'To do': ['card'] })
    const page = await stage.enter(board.ada, board.path)
    await openCard(page, 'card')
    await beginDescription(page)
    const text = 'x'.repeat(65_537)
    await descriptionField(page).fill(text)
    await saveDescription(page)
    await alert(page).getByText('65,537 characters. At most 65,536 fit.').waitFor()
    expect(await descriptionField(page).inputValue()).toBe(text)
    await descriptionField(page).fill(text.slice(1))
    await saveDescription(page)
    await expect.poll(async () => (await descriptionOf(board, 'card')).length).toBe(65_536)
    expect(await page.locator('.notice').count()).toBe(0)
    await finish(page)
  })

  test('[WEB-116] by the service comes back into the editor, with the reason in the dialog', async () => {
    const board = await stage.board({ 'To do': ['card'] })
    const page = await stage.enter(board.ada, board.path)
    await openCard(page, 'card')
    await page.route('**/cards/*', (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 409, json: { code: 'text_limit', detail: 'This board is full.' } })
        : route.continue(),
    )
    await beginDescription(page)
    await descriptionField(page).fill('one word too many')
    await saveDescription(page)
    await alert(page).getByText('This board is full.').waitFor()
    expect(await descriptionField(page).inputValue()).toBe('one word too many')
    expect(await draftOf(page, board.cards['card'] ?? '', 'description')).toBe('one word too many')
    await page.unroute('**/cards/*')
    await saveDescription(page)
    await expect.poll(() => descriptionOf(board, 'card')).toBe('one word too many')
    await finish(page, { but: UNDELIVERED })
  })
})

test('[WEB-117] a deleted card is recreated with labels, people and checklists, and says that files are lost', async () => {
  const board = await stage.board({ 'To do': ['card'] })
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
  const page = await stage.enter(grace, `${board.path}/c/${card_id}`)
  await page.getByRole('region', { name: 'Attachments' }).getByText('x.txt').waitFor()
  await ada.api.call('deleteCard', { params })
  const bar = page.getByRole('alert').filter({ hasText: 'was deleted by' })
  await bar.getByText('Its file cannot be brought back.').waitFor()
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
  await finish(page)
})

test('[WEB-118] the last owner who wants to leave is told the way out, and not asked first', async () => {
  const board = await stage.board({ 'To do': ['card'] })
  const page = await stage.enter(board.ada, `${board.path}/members`)
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    void dialog.dismiss()
  })
  const leave = page.getByRole('button', { name: 'Leave the board' })
  await leave.click()
  await page
    .getByRole('alert')
    .getByText('You are the only owner. Make somebody else an owner first, or delete the board.')
    .waitFor()
  expect(asked).toEqual([])
  // With a second owner the question comes, and the sentence is gone.
  await page
    .getByRole('combobox', { name: /^Role of/ })
    .nth(1)
    .selectOption('owner')
  await page.getByRole('alert').getByText('You are the only owner.').waitFor({ state: 'detached' })
  await leave.click()
  await expect.poll(() => asked).toEqual(['Leave “Plan”? Only an owner can invite you again.'])
  await finish(page)
})

test('[WEB-119] a card whose description would freeze the page opens at once, with its text as it was written', async () => {
  const board = await stage.board({ 'To do': ['usual', 'quotes', 'links', 'word'] })
  const texts: Record<string, string> = {
    quotes: '> '.repeat(30_000),
    links: '[a]('.repeat(16_000),
    word: 'x'.repeat(65_536),
  }
  for (const [title, description] of Object.entries({ ...texts, usual: '**bold**' }))
    await board.ada.api.call('updateCard', { params: { card_id: board.cards[title] ?? '' }, body: { description } })
  const page = await stage.enter(board.grace, board.path)
  // Until the parser has loaded, every text is plain.
  await openCard(page, 'usual')
  await page.locator('dialog .cd-markdown strong').waitFor()
  await page.keyboard.press('Escape')
  for (const [title, description] of Object.entries(texts)) {
    await openCard(page, title)
    const plain = page.locator('dialog .cd-markdown.is-plain')
    await plain.waitFor()
    expect(await plain.textContent()).toBe(description)
    // Without kerning a long word is broken into lines in no time.
    const kerning = await page.evaluate(`getComputedStyle(document.querySelector('dialog .cd-markdown')).fontKerning`)
    expect(kerning).toBe(title === 'quotes' ? 'auto' : 'none')
    await page.keyboard.press('Escape')
  }
  await finish(page)
})

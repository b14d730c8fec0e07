// @module-tag journey
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf } from './board-page-object.ts'
import { descriptionField, openCard, storedDescription } from './card-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { HARMLESS, HOSTILE, inspectMarkdown } from './hostile-markdown.ts'
import { KeyboardUser } from './keyboard-user.ts'
import { answer, dialogs, toastOf } from './layers.ts'
import { announcements, auditAccessibility, checkAndClose } from './page-checks.ts'
import { RECORD_INPUT, recordedInput } from './page-user.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

/** A board with one card, whose members have full names. */
async function namedBoard(): Promise<TestBoard> {
  const board = await env.createBoard({ 'To do': ['card'] })
  await board.ada.api.call('updateMe', { body: { firstname: 'Ada', lastname: 'Lovelace' } })
  await board.grace.api.call('updateMe', { body: { firstname: 'Grace', lastname: 'Hopper' } })
  return board
}
const cardId = ({ cards }: TestBoard) => cards['card'] ?? ''
const comment = (board: TestBoard, body: string, by = board.ada) =>
  by.api.call('createComment', { params: { card_id: cardId(board) }, body: { body } })
const stored = (board: TestBoard) =>
  board.ada.api.call('listComments', { params: { card_id: cardId(board) }, query: { limit: 100 } })
const token = (name: string, id: string) => `@[${name}](user:${id})`

const sectionOf = (page: Page) => page.getByRole('region', { name: 'Comments' })
const rowsOf = (page: Page) => sectionOf(page).locator('.comment')
const texts = (page: Page) => rowsOf(page).locator('.cd-markdown').allInnerTexts()
const field = (page: Page) => page.getByLabel('Comment, in Markdown', { exact: true })
const sendButton = (page: Page) => page.getByRole('button', { name: /^Comment( Ctrl Enter)?$/ })
const optionsOf = (page: Page) => page.getByRole('listbox', { name: 'Members to mention' }).getByRole('option')
const choose = async (row: Locator, item: string) => {
  await row.getByRole('button', { name: /^Actions for the comment/ }).click()
  await row.page().getByRole('menuitem', { name: item }).click()
}
const cardPath = (board: TestBoard) => `${board.path}/c/${cardId(board)}`

test('[WEB-180] [WEB-181] by keyboard: C, a mention from the list, and Ctrl Enter; it appears for others', {
  tags: ['smoke'],
}, async () => {
  const board = await namedBoard()
  const other = await env.openPage(board.grace, cardPath(board))
  const page = await env.openPage(board.ada, board.path)
  await page.evaluate(RECORD_INPUT)
  const user = new KeyboardUser(page)
  await user.focusCard('card')
  await user.press('Enter')
  await field(page).waitFor()
  await user.press('c')
  await user.expectFocus('Comment, in Markdown')
  await user.type('Is this **done**, @')
  expect(await optionsOf(page).count()).toBe(2)
  await user.type('hop')
  await expect.poll(() => optionsOf(page).count()).toBe(1)
  expect(await auditAccessibility(page)).toEqual([])
  await user.press('Enter')
  expect(await field(page).inputValue()).toBe('Is this **done**, @Grace Hopper ')
  await user.type('and @l')
  // Escape closes only the list.
  await user.press('Escape')
  await expect.poll(() => optionsOf(page).count()).toBe(0)
  await user.press('Backspace')
  await user.press('Backspace')
  await user.type('@love')
  await user.press('ArrowDown', 'ArrowUp', 'Tab')
  await user.type('?')
  await user.press('Control+Enter')
  await expect.poll(() => texts(page)).toEqual(['Is this done, @Grace Hopper and @Ada Lovelace ?'])
  expect(await field(page).inputValue()).toBe('')
  await user.expectFocus('Comment, in Markdown')
  const [first] = await stored(board)
  const [grace, ada] = [token('Grace Hopper', board.grace.id), token('Ada Lovelace', board.ada.id)]
  expect(first?.body).toBe(`Is this **done**, ${grace} and ${ada} ?`)
  expect(first?.mentions.map(({ id }) => id)).toEqual([board.grace.id, board.ada.id])
  expect((await recordedInput(page)).pointed).toBe(0)

  // The second person sees it at once, with their own name filled, and hears it once.
  await expect.poll(() => texts(other)).toEqual(['Is this done, @Grace Hopper and @Ada Lovelace ?'])
  expect(await rowsOf(other).locator('.cd-mention').allInnerTexts()).toEqual(['@Grace Hopper', '@Ada Lovelace'])
  expect(await rowsOf(other).locator('.cd-mention.is-me').allInnerTexts()).toEqual(['@Grace Hopper'])
  await expect.poll(() => announcements(other), { timeout: 8_000 }).toContain('Ada commented on “card”.')
  expect(announcements(page)).toContain('Comment added.')
  await checkAndClose(page)
  await other.keyboard.press('Escape')
  await cardOf(other, 'card').getByText('1 comment').waitFor()
  await checkAndClose(other)
})

test('[WEB-180] [WEB-181] by mouse: a member from the list, and a double click on Comment sends once', async () => {
  const board = await namedBoard()
  const page = await env.openPage(board.ada, board.path)
  await openCard(page, 'card')
  await field(page).click()
  await page.keyboard.type('Ask @')
  await optionsOf(page).filter({ hasText: 'Grace Hopper' }).click()
  await page.keyboard.type('please')
  await sendButton(page).dblclick()
  await expect.poll(() => texts(page)).toEqual(['Ask @Grace Hopper please'])
  await page.waitForTimeout(500)
  expect((await stored(board)).map(({ body }) => body)).toEqual([`Ask ${token('Grace Hopper', board.grace.id)} please`])
  expect(await rowsOf(page).count()).toBe(1)
  await checkAndClose(page)
})

test('[WEB-180] [WEB-181] by touch', async () => {
  const board = await namedBoard()
  const page = await env.openPage(board.ada, board.path, phone)
  await cardOf(page, 'card').locator('.card-title').tap()
  await field(page).tap()
  await page.keyboard.type('@gr')
  await optionsOf(page).tap()
  expect(await field(page).inputValue()).toBe('@Grace Hopper ')
  await sendButton(page).tap()
  await expect.poll(() => texts(page)).toEqual(['@Grace Hopper'])
  await checkAndClose(page)
})

test('[WEB-182] the author edits a comment in place, for all; an owner deletes others’ comments after a question', {
  tags: ['smoke'],
}, async () => {
  const board = await namedBoard()
  await comment(board, `first ${token('Ada Lovelace', board.ada.id)}`, board.grace)
  await comment(board, 'second')
  const page = await env.openPage(board.grace, cardPath(board))
  const other = await env.openPage(board.ada, cardPath(board))
  await expect.poll(() => rowsOf(page).count()).toBe(2)
  // Grace is no owner, and Ada's comment is not hers.
  await rowsOf(page)
    .last()
    .getByRole('button', { name: /^Actions/ })
    .click()
  await expect.poll(() => page.getByRole('menuitem').allInnerTexts()).toEqual(['Copy link'])
  await page.keyboard.press('Escape')

  const mine = rowsOf(page).first()
  await choose(mine, 'Edit')
  const editor = page.getByLabel('Edit comment, in Markdown')
  expect(await editor.inputValue()).toBe('first @Ada Lovelace')
  await editor.press('End')
  await page.keyboard.type(' again')
  // Escape keeps the text, Cancel discards it.
  await page.keyboard.press('Escape')
  await editor.waitFor({ state: 'detached' })
  await choose(mine, 'Edit')
  expect(await editor.inputValue()).toBe('first @Ada Lovelace again')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await choose(mine, 'Edit')
  await editor.fill('changed @Ada Lovelace')
  await page.getByRole('button', { name: /^Save/ }).click()
  await expect.poll(() => texts(other)).toEqual(['changed @Ada Lovelace', 'second'])
  expect((await stored(board)).at(-1)?.body).toBe(`changed ${token('Ada Lovelace', board.ada.id)}`)
  await rowsOf(other).first().getByText('edited', { exact: true }).waitFor()
  await mine
    .getByRole('button', { name: /^Actions/ })
    .and(page.locator(':focus'))
    .waitFor()

  await choose(rowsOf(other).first(), 'Delete')
  await answer(other, 'Delete the comment by Grace Hopper?', 'Delete comment')
  await expect.poll(() => texts(page)).toEqual(['second'])
  await expect.poll(() => texts(other)).toEqual(['second'])
  // One's own comment is deleted at once, and comes back with Undo.
  await choose(rowsOf(other).first(), 'Delete')
  await expect.poll(() => texts(page)).toEqual([])
  await toastOf(other).getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => texts(page)).toEqual(['second'])
  await expect.poll(() => texts(other)).toEqual(['second'])
  await checkAndClose(page)
  await checkAndClose(other)
})

test('[WEB-182] Edit always puts the focus into the editor: what is typed next is text, and never a shortcut', async () => {
  const board = await namedBoard()
  await comment(board, 'text')
  const page = await env.openPage(board.ada, cardPath(board))
  const editor = page.getByLabel('Edit comment, in Markdown')
  for (let i = 1; i <= 50; i++) {
    await choose(rowsOf(page).first(), 'Edit')
    await editor.waitFor()
    await page.keyboard.type(' Please.')
    expect(await editor.inputValue(), `round ${i}`).toBe('text Please.')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await editor.waitFor({ state: 'detached' })
  }
  // Where the dialog has the focus, a letter does not open a picker over the text.
  await choose(rowsOf(page).first(), 'Edit')
  await page.evaluate("document.querySelector('.layer.dialog').focus()")
  const fields = await page.locator('textarea, input').count()
  await page.keyboard.type('lamdkeu')
  expect(await page.locator('.layer').count()).toBe(1)
  expect(await page.locator('textarea, input').count()).toBe(fields)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.keyboard.press('l')
  await expect.poll(() => page.locator('.layer').count()).toBe(2)
  await page.keyboard.press('Escape')
  await checkAndClose(page)
})

test('[WEB-180] after a comment is sent, the field and its buttons are in view', async () => {
  const board = await namedBoard()
  const page = await env.openPage(board.ada, cardPath(board), { viewport: { width: 1280, height: 640 } })
  for (let i = 1; i <= 6; i++) {
    await field(page).fill(`line ${i}\n\nand another\n\nand the last`)
    await field(page).press('Control+Enter')
    await expect.poll(() => rowsOf(page).count()).toBe(i)
    const [composer, body] = [page.locator('.comment-composer'), page.locator('.dialog-body')]
    await expect
      .poll(async () => {
        const [inner, outer] = [await composer.boundingBox(), await body.boundingBox()]
        return inner && outer && inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height
      })
      .toBe(true)
    expect(await sendButton(page).isVisible()).toBe(true)
  }
  await checkAndClose(page)
})

test('[WEB-183] a draft of a comment survives closing and a reload, with its mention', async () => {
  const board = await namedBoard()
  const page = await env.openPage(board.ada, cardPath(board))
  await field(page).click()
  await page.keyboard.type('@hop')
  await optionsOf(page).first().click()
  await page.keyboard.type('later')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await openCard(page, 'card')
  expect(await field(page).inputValue()).toBe('@Grace Hopper later')
  await page.reload()
  await expect.poll(() => field(page).inputValue()).toBe('@Grace Hopper later')
  await field(page).press('Control+Enter')
  await expect.poll(() => texts(page)).toEqual(['@Grace Hopper later'])
  expect((await stored(board))[0]?.mentions).toHaveLength(1)
  await page.reload()
  await expect.poll(() => texts(page)).toEqual(['@Grace Hopper later'])
  expect(await field(page).inputValue()).toBe('')
  await checkAndClose(page)
})

test('[WEB-184] offline, or when it is rejected, the text stays in the field and can be sent again', async () => {
  const board = await namedBoard()
  const page = await env.openPage(board.ada, cardPath(board))
  await field(page).fill('over the wire')
  await page.route(/\/cards\/[^/]+\/comments$/, (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 500, body: '{}' }) : route.fallback(),
  )
  await field(page).press('Control+Enter')
  await sectionOf(page).getByRole('alert').getByText('Couldn’t send the comment').waitFor()
  await page.unroute(/\/cards\/[^/]+\/comments$/)
  await page.context().setOffline(true)
  await sendButton(page).click()
  // At once: the device knows that it is offline.
  await sectionOf(page).getByRole('alert').getByText('offline').waitFor({ timeout: 2_000 })
  expect(await field(page).inputValue()).toBe('over the wire')
  await page.context().setOffline(false)
  await expect
    .poll(
      async () => {
        await field(page).press('Control+Enter')
        return texts(page)
      },
      { timeout: 15_000, interval: 1_000 },
    )
    .toEqual(['over the wire'])
  expect(await stored(board)).toHaveLength(1)
  // Too long is not sent.
  await field(page).fill('x'.repeat(16_385))
  await sectionOf(page).getByRole('alert').getByText('Too long: 16,385 of 16,384').waitFor()
  await field(page).press('Control+Enter')
  await page.waitForTimeout(300)
  expect(await stored(board)).toHaveLength(1)
  await checkAndClose(page, { ignore: /net::ERR_|WebSocket connection|status of 500/ })
})

test('[WEB-245] a card that was opened offline gets its comments with the connection', async () => {
  const board = await namedBoard()
  await comment(board, 'said before')
  const page = await env.openPage(board.ada, cardPath(board))
  await expect.poll(() => texts(page)).toEqual(['said before'])
  await page.keyboard.press('Escape')
  await dialogs(page).waitFor({ state: 'detached' })
  await page.context().setOffline(true)
  await page.locator('.card-title').first().click()
  await sectionOf(page).getByRole('button', { name: 'Retry' }).waitFor()
  expect(await texts(page)).toEqual([])
  await page.context().setOffline(false)
  await expect.poll(() => texts(page)).toEqual(['said before'])
  await checkAndClose(page, { ignore: /net::ERR_|WebSocket connection/ })
})

test('[WEB-185] the last 30 comments are shown, earlier ones on request; a link leads to any of them', async () => {
  const board = await namedBoard()
  const made = []
  for (let i = 1; i <= 70; i++) made.push(await comment(board, `number ${i}`))
  const page = await env.openPage(board.grace, cardPath(board))
  await expect.poll(() => texts(page)).toEqual(made.slice(40).map(({ body }) => body))
  await sectionOf(page).getByRole('button', { name: 'Show earlier' }).click()
  await expect.poll(() => texts(page)).toEqual(made.slice(10).map(({ body }) => body))
  await checkAndClose(page)

  const linked = await env.openPage(board.grace, `${cardPath(board)}?comment=${made[2]?.id}`)
  const row = rowsOf(linked).filter({ hasText: /number 3$/ })
  await row.and(linked.locator('.is-marked:focus')).waitFor()
  const box = await row.boundingBox()
  expect(box?.y).toBeGreaterThan(0)
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(900)
  await expect.poll(() => row.getAttribute('class'), { timeout: 6_000 }).not.toContain('is-marked')
  await checkAndClose(linked)

  const gone = await env.openPage(board.grace, `${cardPath(board)}?comment=01890000-0000-7000-8000-000000000000`)
  await toastOf(gone).getByText('This comment was deleted.').waitFor()
  await checkAndClose(gone)
})

test('[WEB-186] all activity has the changes between the comments; an earlier description becomes a draft', async () => {
  const board = await namedBoard()
  const { api } = board.ada
  const params = { card_id: cardId(board) }
  await api.call('updateCard', { params, body: { description: 'the first text' } })
  await comment(board, 'in between')
  await api.call('updateCard', { params, body: { description: 'the second text' } })
  const page = await env.openPage(board.ada, cardPath(board))
  await expect.poll(() => texts(page)).toEqual(['in between'])
  await sectionOf(page).getByRole('button', { name: 'All activity' }).click()
  const rows = () => sectionOf(page).locator('.comments-list > li p').allInnerTexts()
  await expect
    .poll(rows)
    .toEqual([
      'Ada Lovelace added “card” to To do',
      'Ada Lovelace changed the description of “card”',
      'in between',
      'Ada Lovelace changed the description of “card”',
    ])
  // What happens meanwhile appears.
  await api.call('updateCard', { params, body: { title: 'Card' } })
  await expect.poll(async () => (await rows()).at(-1)).toBe('Ada Lovelace renamed “card” to “Card”')
  const show = sectionOf(page).getByRole('button', { name: 'Show earlier text' })
  await show.last().click()
  await sectionOf(page).getByRole('region', { name: 'Earlier description' }).getByText('the first text').waitFor()
  expect(await auditAccessibility(page)).toEqual([])
  await sectionOf(page).getByRole('button', { name: 'Use this text' }).click()
  await descriptionField(page).and(page.locator(':focus')).waitFor()
  expect(await descriptionField(page).inputValue()).toBe('the first text')
  expect(await api.call('getCard', { params })).toMatchObject({ description: 'the second text' })
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => storedDescription(board, 'card')).toBe('the first text')
  await checkAndClose(page)
})

test('[WEB-186] where older events were removed, the history says so', async () => {
  const board = await namedBoard()
  await board.ada.api.call('updateCard', { params: { card_id: cardId(board) }, body: { description: 'text' } })
  await env.service.sql.query("delete from board_events where board_id = $1 and body like '%card.created%'", [board.id])
  const page = await env.openPage(board.ada, cardPath(board))
  await sectionOf(page).getByRole('button', { name: 'All activity' }).click()
  await sectionOf(page).getByText('Earlier changes are no longer kept.').waitFor()
  await checkAndClose(page)
})

test('[WEB-187] a malicious comment runs no script, loads no resource, and has only safe links', async () => {
  const board = await namedBoard()
  const evil = '@[<img src=x onerror=globalThis.broken=20>"onclick="x](user:'
  await comment(board, `${HOSTILE}\n\n${evil}${board.grace.id}) ${evil}javascript:globalThis.broken=21)`)
  const page = await env.openPage(board.ada, cardPath(board))
  await rowsOf(page).locator('.cd-markdown table').waitFor()
  await page.waitForTimeout(300)
  const found = await inspectMarkdown(page, '.comment .cd-markdown')
  expect(found).toMatchObject(HARMLESS)
  expect(found.kept).toBeGreaterThanOrEqual(3)
  await checkAndClose(page)
})

test('[WEB-188] a mention of a non-member is text; a member has their current name', async () => {
  const board = await namedBoard()
  const nonMember = await env.service.user()
  await comment(
    board,
    `${token('*No* #1', nonMember.id)} ${token('Old Name', board.grace.id)} \`${token('Code', board.grace.id)}\``,
  )
  const page = await env.openPage(board.ada, cardPath(board))
  await expect.poll(() => texts(page)).toEqual([`@*No* #1 @Grace Hopper ${token('Code', board.grace.id)}`])
  expect(await rowsOf(page).locator('.cd-mention').allInnerTexts()).toEqual(['@Grace Hopper'])
  expect(await rowsOf(page).locator('.cd-markdown a').count()).toBe(0)
  await checkAndClose(page)
})

test('[WEB-189] on an archived board comments can be read, and nothing else', async () => {
  const board = await namedBoard()
  await comment(board, 'the end')
  await board.ada.api.call('archiveBoard', { params: { board_id: board.id } })
  const page = await env.openPage(board.ada, cardPath(board))
  await expect.poll(() => texts(page)).toEqual(['the end'])
  expect(await field(page).count()).toBe(0)
  await rowsOf(page)
    .getByRole('button', { name: /^Actions/ })
    .click()
  await expect.poll(() => page.getByRole('menuitem').allInnerTexts()).toEqual(['Copy link'])
  await page.keyboard.press('Escape')
  await checkAndClose(page)
})

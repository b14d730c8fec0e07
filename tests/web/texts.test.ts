import { PASSWORD } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf, laneOf } from './board-hands.ts'
import {
  beginDescription,
  descriptionField,
  descriptionOf,
  draftOf,
  openCard,
  saveDescription,
  writeDescription,
} from './card-hands.ts'
import { finish } from './pages.ts'
import { openStage, type Stage, type StageBoard } from './stage.ts'

/** What a browser says by itself when there is no line, or when somebody was quicker. */
const NO_LINE = /net::ERR_|WebSocket connection|status of (50[234]|412)/

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

/** A board with one card and its text, open with two people. */
async function withText(text: string) {
  const board = await stage.board({ 'To do': ['card', 'other'] })
  await change(board, text)
  const a = await stage.enter(board.ada, `${board.path}/c/${board.cards['card']}`)
  const b = await stage.enter(board.grace, `${board.path}/c/${board.cards['card']}`)
  await Promise.all([a, b].map((page) => page.getByRole('region', { name: 'Description', exact: true }).waitFor()))
  return { board, a, b }
}
/** What somebody else does, from elsewhere. */
const change = ({ grace, cards }: StageBoard, description: string) =>
  grace.api.call('updateCard', { params: { card_id: cards['card'] ?? '' }, body: { description } })
const choices = (page: Page) => page.getByRole('button', { name: /^(See both|Use mine|Use theirs)$/ })
const closed = (page: Page) => descriptionField(page).waitFor({ state: 'detached' })

describe('two people write the same description', () => {
  test('[WEB-60] different paragraphs: both are kept', async () => {
    const { board, a, b } = await withText('one\n\ntwo\n\nthree')
    await writeDescription(a, 'one of Ada\n\ntwo\n\nthree')
    await writeDescription(b, 'one\n\ntwo\n\nthree of Grace')
    await saveDescription(a)
    await closed(a)
    await b.getByText('Somebody changed this text while you write').waitFor()
    await saveDescription(b)
    await closed(b)
    await expect.poll(() => descriptionOf(board, 'card')).toBe('one of Ada\n\ntwo\n\nthree of Grace')
    await b.getByText('also edited this; both changes are kept').waitFor()
    await a.locator('.cd-description').getByText('three of Grace').waitFor()
    await finish(a)
    await finish(b)
  }, 40_000)

  test('[WEB-60] the same line: nothing is overwritten before somebody has chosen', async () => {
    const { board, a, b } = await withText('one\ntwo')
    const conflict = async (text: string, mine: string) => {
      await writeDescription(a, mine)
      await change(board, text)
      await a.getByText('Somebody changed this text while you write').waitFor()
      await saveDescription(a)
      await a.getByText('changed this text meanwhile').waitFor()
      expect(await choices(a).allTextContents()).toEqual(['See both', 'Use mine', 'Use theirs'])
      expect(await descriptionOf(board, 'card')).toBe(text)
      expect(await descriptionField(a).inputValue()).toBe(mine)
    }
    await conflict('one of Grace\ntwo', 'one of Ada\ntwo')
    await a.getByRole('button', { name: 'See both' }).click()
    expect(await a.locator('.cd-both pre').allTextContents()).toEqual(['one of Ada\ntwo', 'one of Grace\ntwo'])
    expect(await descriptionOf(board, 'card')).toBe('one of Grace\ntwo')
    await a.getByRole('button', { name: 'Use mine' }).click()
    await closed(a)
    await expect.poll(() => descriptionOf(board, 'card')).toBe('one of Ada\ntwo')
    await b.locator('.cd-description').getByText('one of Ada').waitFor()

    await conflict('theirs\ntwo', 'mine\ntwo')
    await a.getByRole('button', { name: 'Use theirs' }).click()
    await closed(a)
    await a.locator('.cd-description').getByText('theirs').waitFor()
    expect(await descriptionOf(board, 'card')).toBe('theirs\ntwo')
    // Even this can be thought better of.
    await a.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    await a.getByRole('button', { name: 'Restore' }).click()
    expect(await descriptionField(a).inputValue()).toBe('mine\ntwo')
    await finish(a)
    await finish(b)
  }, 40_000)

  test('[WEB-60] whoever saves in the same moment overwrites nobody: each text is saved, or still with its writer', async () => {
    const { board, a, b } = await withText('begin')
    const card_id = board.cards['card'] ?? ''
    const isWith = async (page: Page, mine: string) =>
      [await descriptionOf(board, 'card'), await draftOf(page, card_id, 'description')].some((text) =>
        text.includes(mine),
      )
    let conflicts = 0
    for (let round = 1; round <= 6; round++) {
      const [mine, theirs] = [`Ada ${round}`, `Grace ${round}`]
      await Promise.all([writeDescription(a, mine), writeDescription(b, theirs)])
      await Promise.all([saveDescription(a), saveDescription(b)])
      // Until both know how it ended: saved and shown, or asked.
      await expect
        .poll(async () => (await Promise.all([a, b].map((page) => settled(page, board)))).every(Boolean))
        .toBe(true)
      expect(await isWith(a, mine), mine).toBe(true)
      expect(await isWith(b, theirs), theirs).toBe(true)
      for (const page of [a, b]) {
        if ((await choices(page).count()) === 0) continue
        conflicts++
        expect(await descriptionField(page).inputValue()).toBe(page === a ? mine : theirs)
        await page.getByRole('button', { name: 'Use theirs' }).click()
        await closed(page)
      }
      await expect.poll(() => draftOf(a, card_id, 'description')).toBe('')
      await expect.poll(() => draftOf(b, card_id, 'description')).toBe('')
    }
    expect(conflicts).toBe(6)
    await finish(a, { but: NO_LINE })
    await finish(b, { but: NO_LINE })
  }, 60_000)
})

/** Whether a page shows what the service has, or asks which of two texts is meant. */
async function settled(page: Page, board: StageBoard) {
  if ((await choices(page).count()) > 0) return true
  // While it is written there is none: that is not waited for.
  const [shown] = await page.locator('.cd-description').allTextContents()
  return shown?.trim() === (await descriptionOf(board, 'card'))
}

/** Not before the browser has all that the page may need without it. */
async function loseLine(page: Page) {
  await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null'), { timeout: 15_000 }).toBe(true)
  await page.context().setOffline(true)
}

describe('without a network', () => {
  test('[WEB-60] a description that another changes meanwhile is asked about, and nothing of it is lost', async () => {
    const { board, a } = await withText('one\ntwo')
    await loseLine(a)
    await writeDescription(a, 'one of Ada\ntwo')
    await saveDescription(a)
    await closed(a)
    await a.locator('.cd-description').getByText('one of Ada').waitFor()
    await change(board, 'one of Grace\ntwo')
    await a.context().setOffline(false)
    await a.getByText('changed this text meanwhile').waitFor({ timeout: 20_000 })
    expect(await descriptionField(a).inputValue()).toBe('one of Ada\ntwo')
    expect(await descriptionOf(board, 'card')).toBe('one of Grace\ntwo')
    await a.getByRole('button', { name: 'Use mine' }).click()
    await expect.poll(() => descriptionOf(board, 'card')).toBe('one of Ada\ntwo')
    await finish(a, { but: NO_LINE })
  }, 40_000)

  test('[WEB-60] also when the page is loaded anew in between: it is told of, and the text is offered', async () => {
    const { board, a } = await withText('one\ntwo')
    await loseLine(a)
    await writeDescription(a, 'one of Ada\ntwo')
    await saveDescription(a)
    await closed(a)
    await a.reload()
    await a.locator('.cd-description').getByText('one of Ada').waitFor()
    await change(board, 'one of Grace\ntwo')
    await a.context().setOffline(false)
    await a.locator('.cd-description').getByText('one of Grace').waitFor({ timeout: 20_000 })
    await a.getByText('Unsaved draft from').waitFor()
    await a.getByRole('button', { name: 'Restore' }).click()
    expect(await descriptionField(a).inputValue()).toBe('one of Ada\ntwo')
    await saveDescription(a)
    await a.getByText('changed this text meanwhile').waitFor()
    expect(await descriptionOf(board, 'card')).toBe('one of Grace\ntwo')
    await finish(a, { but: NO_LINE })
  }, 40_000)
})

describe('what was typed and not saved', () => {
  const text = 'begun\n\nnot finished'

  test.each([
    ['a reload', (page: Page) => page.reload()],
    ['Escape, twice', (page: Page) => page.keyboard.press('Escape').then(() => page.keyboard.press('Escape'))],
    ['a click beside the dialog', (page: Page) => page.mouse.click(5, 450)],
    ['the back button', (page: Page) => page.goBack()],
    [
      'the next card',
      (page: Page) => page.keyboard.press('Escape').then(() => page.keyboard.press('Control+ArrowDown')),
    ],
  ])('[WEB-61] a description is offered after %s', async (_, leave) => {
    const board = await stage.board({ 'To do': ['card', 'other'] })
    await change(board, 'as it was')
    const page = await stage.enter(board.ada, board.path)
    await openCard(page, 'card')
    await beginDescription(page)
    await descriptionField(page).fill(text)
    await leave(page)
    if ((await page.getByRole('button', { name: 'Restore' }).count()) === 0) {
      await page.goto(`${stage.service.base_url}/app${board.path}/c/${board.cards['card']}`)
    }
    await page.getByText('Unsaved draft from').waitFor()
    expect(await descriptionOf(board, 'card')).toBe('as it was')
    expect((await page.locator('.cd-description').textContent())?.trim()).toBe('as it was')
    await page.getByRole('button', { name: 'Restore' }).click()
    expect(await descriptionField(page).inputValue()).toBe(text)
    await saveDescription(page)
    await expect.poll(() => descriptionOf(board, 'card')).toBe(text)
    await expect.poll(() => draftOf(page, board.cards['card'] ?? '', 'description')).toBe('')
    await finish(page)
  })

  test('[WEB-61] a title is offered after a reload, in the dialog and on the board', async () => {
    const board = await stage.board({ 'To do': ['card'] })
    const page = await stage.enter(board.ada, board.path)
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
    await expect.poll(() => draftOf(page, board.cards['card'] ?? '', 'title')).toBe('')
    await page.keyboard.press('Escape')

    // On the board the field itself begins with it.
    await cardOf(page, 'the best title').locator('a').focus()
    await page.keyboard.press('e')
    await field.fill('begun on the board')
    await page.reload()
    await cardOf(page, 'the best title').locator('a').focus()
    await page.keyboard.press('e')
    expect(await field.inputValue()).toBe('begun on the board')
    await field.press('Enter')
    expect(await stage.agreed(board, page)).toEqual([['To do', ['begun on the board']]])
    await finish(page)
  })

  test('[WEB-61] the title of a new card is there again after a reload and after Escape', async () => {
    const board = await stage.board({ 'To do': ['card'], Done: [] })
    const page = await stage.enter(board.ada, board.path)
    const compose = () => laneOf(page, 'To do').getByRole('button', { name: 'Add a card' }).click()
    const field = page.getByLabel('Title of the new card')
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
    expect(await stage.agreed(board, page)).toEqual([
      ['To do', ['card', 'begun']],
      ['Done', []],
    ])
    await finish(page)
  })

  test('[WEB-61] it is nobody else’s: the next user of the browser sees none of it, and its writer finds it again', async () => {
    const board = await stage.board({ 'To do': ['card'] })
    const page = await stage.enter(board.ada, board.path)
    const begin = async () => {
      await openCard(page, 'card')
      await page.getByRole('button', { name: 'Add a description…' }).waitFor()
    }
    const enterAs = async ({ email }: { email: string }) => {
      await page.getByRole('button', { name: 'Account' }).click()
      await page.getByRole('menuitem', { name: 'Log out' }).click()
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.locator('main.board').waitFor()
    }
    await begin()
    await beginDescription(page)
    await descriptionField(page).fill('secret of Ada')
    await page.keyboard.press('Escape')
    await page.getByText('Unsaved draft from').waitFor()
    await page.keyboard.press('Escape')
    await laneOf(page, 'To do').getByRole('button', { name: 'Add a card' }).click()
    await page.getByLabel('Title of the new card').fill('plan of Ada')
    await page.keyboard.press('Escape')

    await enterAs(board.grace)
    await begin()
    expect(await page.getByText('Unsaved draft from').count()).toBe(0)
    await beginDescription(page)
    expect(await descriptionField(page).inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await laneOf(page, 'To do').getByRole('button', { name: 'Add a card' }).click()
    expect(await page.getByLabel('Title of the new card').inputValue()).toBe('')
    await page.keyboard.press('Escape')

    await enterAs(board.ada)
    await begin()
    await page.getByRole('button', { name: 'Restore' }).click()
    expect(await descriptionField(page).inputValue()).toBe('secret of Ada')
    await finish(page, { but: /status of 401/ })
  }, 40_000)
})

test('[WEB-60] a title that another changes is not overwritten by who has it open, whether he wrote or only looked', async () => {
  const board = await stage.board({ 'To do': ['card'] })
  const page = await stage.enter(board.ada, board.path)
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
  expect(await stage.agreed(board, page)).toEqual([['To do', ['theirs']]])

  await cardOf(page, 'theirs').locator('a').focus()
  await page.keyboard.press('e')
  await field.fill('mine')
  await rename('theirs again')
  await field.press('Enter')
  const notice = page.getByRole('alert', { name: 'One change could not be made' })
  await notice.getByText('mine').waitFor()
  expect(await stage.agreed(board, page)).toEqual([['To do', ['theirs again']]])

  await notice.getByRole('button', { name: 'Open the card' }).click()
  await page.getByRole('button', { name: 'Restore' }).click()
  expect(await field.inputValue()).toBe('mine')
  await rename('once more')
  await field.press('Enter')
  await page.locator('.toast').getByText('Yours is kept as a draft').waitFor()
  expect((await board.ada.api.call('getCard', { params })).title).toBe('once more')
  await finish(page, { but: NO_LINE })
})

const HOSTILE = [
  '<script>globalThis.broken = "script"</script>',
  '<img src=x onerror="globalThis.broken = 1"> and <svg onload="globalThis.broken = 2"></svg>',
  '<a href="javascript:globalThis.broken = 3">raw</a> <iframe src="https://evil.example/frame"></iframe>',
  '<style>@import "https://evil.example/style.css"; body { display: none }</style>',
  '<!-- a comment --> <!--><img src=x onerror="globalThis.broken = 4">-->',
  '[script](javascript:globalThis.broken=5) [SCRIPT](JaVaScRiPt:globalThis.broken=5) [tab](java&#9;script:globalThis.broken=5)',
  '[data](data:text/html,<script>globalThis.broken=6</script>) [vb](vbscript:x) [file](file:///etc/passwd) [blob](blob:x)',
  '[chat](xmpp:room@example.com) [irc](irc://example.com) [phone](tel:123)',
  '![x](https://evil.example/track.png) ![y](javascript:globalThis.broken=7) ![z](x" onerror="globalThis.broken=8)',
  '[a[b[c](javascript:globalThis.broken=9)](https://good.example/nested)](javascript:globalThis.broken=9)',
  '[quote](https://good.example/" onmouseover="globalThis.broken=10) [tick](<https://good.example/\'> "t\' onclick=\'x")',
  '<https://good.example/auto> <javascript:globalThis.broken=11> www.good.example someone@good.example',
  '[ref]: javascript:globalThis.broken=12\n\n[ref] [^note]\n\n[^note]: <b onclick="globalThis.broken=13">note</b>',
  '| a | <img src=x onerror=globalThis.broken=14> |\n|---|---|\n| `<script>` | [x](javascript:globalThis.broken=15) |',
  `${'['.repeat(200)}x${']'.repeat(200)}(javascript:globalThis.broken=16)`,
  '&lt;script&gt;globalThis.broken = 17&lt;/script&gt;',
].join('\n\n')

test('[WEB-62] a description runs nothing, loads nothing and leads nowhere unseen, whatever is written in it', async () => {
  const board = await stage.board({ 'To do': ['card'] })
  await change(board, HOSTILE)
  const page = await stage.enter(board.ada, board.path)
  await openCard(page, 'card')
  await page.locator('.cd-description .cd-markdown table').waitFor()
  // Also as it will look, while somebody writes.
  await beginDescription(page)
  await page.locator('.cd-preview .cd-markdown table').waitFor()
  await page.waitForTimeout(300)

  const inspect = (place: string) =>
    page.evaluate(`(() => {
      const all = [...document.querySelectorAll('${place} *')]
      const links = all.filter((each) => each.localName === 'a' && each.hasAttribute('href'))
      return {
        broken: String(globalThis.broken),
        tags: [...new Set(all.map((each) => each.localName))].filter((tag) => /script|img|iframe|style|svg|form|object|embed|link|meta|base/.test(tag)),
        handlers: all.flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith('on') || name === 'style'),
        schemes: [...new Set(links.map((link) => link.protocol))].filter((each) => !['https:', 'http:', 'mailto:'].includes(each)),
        // Those within the text stay on the page.
        unguarded: links.filter((link) => !link.getAttribute('href').startsWith('#'))
          .filter(({ target, rel }) => target !== '_blank' || !rel.includes('noopener')).map((link) => link.outerHTML),
        kept: links.filter((link) => link.hostname === 'good.example').length,
      }
    })()`) as Promise<Record<string, unknown> & { kept: number }>
  const nothing = { broken: 'undefined', tags: [], handlers: [], schemes: [], unguarded: [] }
  const preview = await inspect('.cd-preview .cd-markdown')
  expect(preview).toMatchObject(nothing)
  expect(preview.kept).toBeGreaterThanOrEqual(3)
  await page.keyboard.press('Escape')
  await page.locator('.cd-description .cd-markdown table').waitFor()
  expect(await inspect('.cd-description .cd-markdown')).toEqual(preview)
  // That nothing was asked of others and no policy had to step in, the notes of the page say.
  await finish(page)
})

// @module-tag journey
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf } from './board-page-object.ts'
import { descriptionField, editDescription, openCard, saveDescription } from './card-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { answer, dialogs, toastOf } from './layers.ts'
import { checkAndClose } from './page-checks.ts'

/** Messages of the browser about failed requests and error responses. */
const REQUEST_ERRORS = /net::ERR_|status of 400/

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

interface InputFile {
  name: string
  mimeType: string
  buffer: Buffer
}
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC',
  'base64',
)
const file = (name: string, mimeType: string, content: string | Buffer): InputFile => ({
  name,
  mimeType,
  buffer: Buffer.from(content),
})
const big = () => file('big.bin', 'application/octet-stream', randomBytes(5_000_000))

async function openCardPage(on = env) {
  const board = await on.createBoard({ 'To do': ['card'] })
  const page = await on.openPage(board.ada, board.path)
  await openCard(page, 'card')
  return { board, page }
}
const choose = (page: Page, ...files: InputFile[]) => page.getByLabel('Files to attach').setInputFiles(files)
const section = (page: Page) => page.getByRole('region', { name: 'Attachments' })
/** A file in the list, by name and click action. */
const rowOf = (page: Page, name: string, act: 'preview' | 'download') =>
  section(page).locator('button.cd-file-name', { hasText: `${name}, ${act}` })
/** Limits the upload speed of the page; without a number there is no limit. */
async function limitUpload(page: Page, uploadThroughput = -1) {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput,
  })
}
const filesOf = async ({ ada, cards }: TestBoard) =>
  (await ada.api.call('getCard', { params: { card_id: cards['card'] ?? '' } })).attachments
/** Another user attaches a file through the API. */
const attach = ({ grace, cards }: TestBoard, { name, mimeType, buffer }: InputFile) =>
  grace.api.call('createAttachment', {
    params: { card_id: cards['card'] ?? '' },
    body: { file: new File([new Uint8Array(buffer)], name, { type: mimeType }) },
  })

describe('an upload', () => {
  test('[WEB-63] shows its progress, continues while the card is closed, and appears for others', {
    tags: ['smoke'],
  }, async () => {
    const { board, page } = await openCardPage()
    const other = await env.openPage(board.grace, `${board.path}/c/${board.cards['card']}`)
    await limitUpload(page, 1_000_000)
    await choose(page, big())
    const progress = page.getByRole('progressbar', { name: 'Uploading big.bin' })
    const seen = new Set<number>()
    await expect
      .poll(async () => seen.add(Number(await progress.getAttribute('value'))).size, { interval: 100, timeout: 10_000 })
      .toBeGreaterThan(3)
    await section(page)
      .getByText(/^\d+ % of 5\.0 MB$/)
      .waitFor()
    await page.keyboard.press('Escape')
    await openCard(page, 'card')
    await rowOf(page, 'big.bin', 'download').waitFor({ timeout: 20_000 })
    await rowOf(other, 'big.bin', 'download').waitFor()
    expect(await filesOf(board)).toMatchObject([{ name: 'big.bin', size: 5_000_000 }])
    await checkAndClose(page)
    await checkAndClose(other)
  })

  test('[WEB-63] can be cancelled, and the next one in the queue continues', async () => {
    const { board, page } = await openCardPage()
    await limitUpload(page, 500_000)
    await choose(page, big(), file('small.txt', 'text/plain', 'small'))
    await section(page)
      .getByText(/^[1-9]\d* % of/)
      .waitFor()
    await section(page).getByText('Waiting', { exact: true }).waitFor()
    await section(page).getByRole('button', { name: 'Cancel' }).first().click()
    await section(page).getByText('big.bin').waitFor({ state: 'detached' })
    await rowOf(page, 'small.txt', 'preview').waitFor({ timeout: 10_000 })
    expect((await filesOf(board)).map(({ name }) => name)).toEqual(['small.txt'])
    await checkAndClose(page, { ignore: REQUEST_ERRORS })
  })

  test('[WEB-63] that fails can be retried, and is stored once', async () => {
    const { board, page } = await openCardPage()
    let isBroken = true
    let tries = 0
    await page.route('**/attachments', async (route) => {
      tries++
      // The second attempt succeeds, but its response is lost.
      if (tries === 2) await route.fetch()
      if (isBroken) await route.abort('connectionreset')
      else await route.continue()
    })
    await choose(page, file('notes.txt', 'text/plain', 'notes'))
    await section(page).getByText('Can’t reach the server.').waitFor({ timeout: 30_000 })
    isBroken = false
    await section(page).getByRole('button', { name: 'Retry' }).click()
    await rowOf(page, 'notes.txt', 'preview').waitFor()
    expect(tries).toBeGreaterThan(1)
    expect((await filesOf(board)).map(({ name }) => name)).toEqual(['notes.txt'])
    await checkAndClose(page, { ignore: REQUEST_ERRORS })
  })

  test('[WEB-63] that is too large is rejected without a retry button', async () => {
    const narrow = await openEnvironment({ MAX_ATTACHMENT_BYTES: '100000' })
    const { board, page } = await openCardPage(narrow)
    await choose(page, big(), file('fits.txt', 'text/plain', 'fits'))
    await section(page)
      .getByText(/larger than|too large|at most/i)
      .waitFor({ timeout: 20_000 })
    expect(await section(page).getByRole('button', { name: 'Retry' }).count()).toBe(0)
    await rowOf(page, 'fits.txt', 'preview').waitFor()
    await section(page).getByRole('button', { name: 'Remove' }).click()
    await section(page).getByText('big.bin').waitFor({ state: 'detached' })
    const filesOfNarrow = await board.ada.api.call('getCard', { params: { card_id: board.cards['card'] ?? '' } })
    expect(filesOfNarrow.attachments.map(({ name }) => name)).toEqual(['fits.txt'])
    await checkAndClose(page, { ignore: REQUEST_ERRORS })
    await narrow.close()
  })

  test('[WEB-63] also starts by pasting an image or dropping files on the dialog', async () => {
    const { board, page } = await openCardPage()
    const give = (type: string, name: string) =>
      page.evaluate(`(() => {
        const data = new DataTransfer()
        const bytes = Uint8Array.from(atob('${PNG.toString('base64')}'), (char) => char.charCodeAt(0))
        data.items.add(new File([bytes], '${name}', { type: 'image/png' }))
        const init = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data }
        const event = '${type}' === 'paste' ? new ClipboardEvent('paste', init) : new DragEvent('${type}', init)
        document.querySelector('.layer .cd').dispatchEvent(event)
      })()`)
    await give('paste', 'pasted.png')
    await rowOf(page, 'pasted.png', 'preview').waitFor()
    await give('dragover', 'dropped.png')
    await page.getByText('Drop to attach').waitFor()
    await give('drop', 'dropped.png')
    await rowOf(page, 'dropped.png', 'preview').waitFor()
    // Both have a thumbnail.
    await expect
      .poll(() => page.evaluate(`[...document.querySelectorAll('.cd-thumb img')].map((img) => img.naturalWidth)`))
      .toEqual([10, 10])
    expect((await filesOf(board)).map(({ mime_type }) => mime_type)).toEqual(['image/png', 'image/png'])
    await checkAndClose(page)
  })
})

describe('[WEB-63] files dropped on a card of the board', () => {
  /** Drops files from the file manager at a card. */
  async function dropOn(page: Page, title: string, files: readonly string[]) {
    const box = await cardOf(page, title).boundingBox()
    const at = { x: (box?.x ?? 0) + 40, y: (box?.y ?? 0) + 20 }
    const session = await page.context().newCDPSession(page)
    const data = { items: [], files: [...files], dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver'] as const)
      await session.send('Input.dispatchDragEvent', { type, ...at, data })
    const isMarked = (await cardOf(page, title).and(page.locator('.is-under-files')).count()) === 1
    await session.send('Input.dispatchDragEvent', { type: 'drop', ...at, data })
    return { isMarked }
  }
  const stored = async (board: TestBoard) => (await filesOf(board)).map(({ name }) => name)
  let folder: string
  let names: string[]
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dropped-'))
    names = ['first.txt', 'second.txt', 'third.bin'].map((name) => join(folder, name))
    await Promise.all(names.map((path, i) => writeFile(path, i < 2 ? path : randomBytes(200_000))))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('are attached to it, and no card opens', async () => {
    const board = await env.createBoard({ 'To do': ['other', 'card'] })
    const page = await env.openPage(board.ada, board.path)
    expect(await dropOn(page, 'card', names)).toEqual({ isMarked: true })
    await expect.poll(() => toastOf(page).allTextContents()).toEqual(['Attached 3 files to “card”'])
    expect(await stored(board)).toEqual(['first.txt', 'second.txt', 'third.bin'])
    await cardOf(page, 'card').getByTitle('3 files').waitFor()
    expect(await dialogs(page).count()).toBe(0)
    expect(new URL(page.url()).pathname).toBe(`/app${board.path}`)
    expect(await page.locator('.is-under-files').count()).toBe(0)
    await checkAndClose(page)
  })

  test('show a message while they are sent, and one for those that are too large, both leading to the card', async () => {
    const narrow = await openEnvironment({ MAX_ATTACHMENT_BYTES: '100000' })
    const board = await narrow.createBoard({ 'To do': ['card'] })
    const page = await narrow.openPage(board.ada, board.path)
    await page.route('**/attachments', async (route) => {
      await page.getByText('Attaching 2 files to “card”…').waitFor()
      await route.continue()
    })
    await dropOn(page, 'card', names.slice(1))
    await expect.poll(() => toastOf(page).textContent()).toMatch(/^“third\.bin”: Too large/)
    expect(await stored(board)).toEqual(['second.txt'])
    await toastOf(page).getByRole('button', { name: 'Open card' }).click()
    await section(page)
      .getByText(/^Too large/)
      .waitFor()
    await rowOf(page, 'second.txt', 'preview').waitFor()
    await checkAndClose(page)
    await narrow.close()
  })

  test('are refused on an archived board', async () => {
    const board = await env.createBoard({ 'To do': ['card'] })
    await board.ada.api.call('archiveBoard', { params: { board_id: board.id } })
    const page = await env.openPage(board.ada, board.path)
    expect(await dropOn(page, 'card', names)).toEqual({ isMarked: false })
    await expect.poll(() => toastOf(page).textContent()).toMatch(/archived|Restore/)
    expect(await stored(board)).toEqual([])
    await checkAndClose(page)
  })

  test('fail offline, and are sent once by Retry', async () => {
    const board = await env.createBoard({ 'To do': ['card', 'other'] })
    const page = await env.openPage(board.ada, board.path)
    // Loads the dialog.
    await openCard(page, 'card')
    await page.keyboard.press('Escape')
    await dialogs(page).waitFor({ state: 'detached' })
    // Loads the toast, which the page has not shown yet.
    await dropOn(page, 'other', names.slice(0, 1))
    await toastOf(page).getByText('Attached 1 file to “other”').waitFor()
    await page.context().setOffline(true)
    await dropOn(page, 'card', names.slice(0, 2))
    await expect
      .poll(() => toastOf(page).textContent())
      .toMatch(/^“first\.txt”: You’re offline\. Retry when you’re back online\. 1 more file failed\./)
    await page.context().setOffline(false)
    await toastOf(page).getByRole('button', { name: 'Open card' }).click()
    for (const _ of [1, 2]) await section(page).getByRole('button', { name: 'Retry' }).first().click()
    await rowOf(page, 'second.txt', 'preview').waitFor()
    expect(await stored(board)).toEqual(['first.txt', 'second.txt'])
    await checkAndClose(page, { ignore: /ERR_INTERNET_DISCONNECTED|WebSocket/ })
  })
})

test('[WEB-25] an image of the card is shown in its description; an image of another card or site is a link', async () => {
  const board = await env.createBoard({ 'To do': ['card', 'other'] })
  const image = await attach(board, file('picture.png', 'image/png', PNG))
  const drawing = await attach(board, file('drawing.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'))
  const links = [`![svg](/attachments/${drawing.id})`, '![cat](https://evil.example/cat.png)']
  const write = (title: string) =>
    board.ada.api.call('updateCard', {
      params: { card_id: board.cards[title] ?? '' },
      body: { description: [`![own](/attachments/${image.id})`, ...links].join('\n\n') },
    })
  await Promise.all([write('card'), write('other')])
  const page = await env.openPage(board.ada, board.path)
  const shown = () =>
    page.evaluate(`[...document.querySelectorAll('.cd-description :is(img, a)')].map((each) =>
      each.localName === 'img' ? each.alt + ' ' + each.naturalWidth : 'link ' + each.textContent)`)
  await openCard(page, 'card')
  await expect.poll(shown).toEqual(['own 10', 'link svg', 'link cat'])
  await page.keyboard.press('Escape')
  await dialogs(page).waitFor({ state: 'detached' })
  await openCard(page, 'other')
  await expect.poll(shown).toEqual(['link own', 'link svg', 'link cat'])
  await checkAndClose(page)
})

test('[WEB-145] deleting a file asks first; Escape closes only the question, and the card stays open', async () => {
  const { board, page } = await openCardPage()
  await attach(board, file('first.txt', 'text/plain', 'first'))
  await attach(board, file('second.txt', 'text/plain', 'second'))
  const remove = section(page).getByRole('button', { name: 'Delete first.txt' })
  await remove.click()
  await page.getByRole('alertdialog', { name: 'Delete “first.txt”?' }).getByText('This can’t be undone.').waitFor()
  await page.keyboard.press('Escape')
  await remove.and(page.locator(':focus')).waitFor()
  expect(await dialogs(page).count()).toBe(1)
  await remove.click()
  await answer(page, 'Delete “first.txt”?', 'Delete file')
  await remove.waitFor({ state: 'detached' })
  expect((await filesOf(board)).map(({ name }) => name)).toEqual(['second.txt'])
  // The focus is at the next file.
  await rowOf(page, 'second.txt', 'preview').and(page.locator(':focus')).waitFor()
  await checkAndClose(page)
})

test('[WEB-63] a file dropped on a card is attached to it; dropped elsewhere, the browser does not open it', async () => {
  const board = await env.createBoard({ 'To do': ['card'] })
  const page = await env.openPage(board.ada, board.path)
  const dropOn = (selector: string) =>
    page.evaluate(`(() => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(['a text'], 'dropped.txt', { type: 'text/plain' }))
      const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true })
      document.querySelector('${selector}').dispatchEvent(event)
      return event.defaultPrevented
    })()`)
  expect(await dropOn('.column-add')).toBe(true)
  await toastOf(page).getByText('Drop files on a card to attach them.').waitFor()
  expect(await dropOn('.card-title')).toBe(true)
  await toastOf(page).getByText('Attached 1 file to “card”').waitFor()
  // The card stays closed, and has the number of its files.
  expect(await dialogs(page).count()).toBe(0)
  await page.locator('.card').getByTitle('1 file').waitFor()
  expect((await filesOf(board)).map(({ name }) => name)).toEqual(['dropped.txt'])
  await checkAndClose(page)
})

describe('previewing a file', () => {
  const SCRIPT = 'globalThis.broken = 1; parent.broken = 1; top.broken = 1; fetch("https://evil.example/")'
  const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="${SCRIPT.replaceAll('"', "'")}">
    <script>${SCRIPT.replaceAll('"', "'")}</script><image href="https://evil.example/x.png"/><rect width="40" height="40"/></svg>`
  const HTML = `<!doctype html><script>${SCRIPT}</script><img src="https://evil.example/y.png">`
  const isUntouched = (page: Page) => page.evaluate('globalThis.broken === undefined')

  test('[WEB-64] images, text files and PDFs are shown from their bytes; nothing in them runs or loads other resources', async () => {
    const { board, page } = await openCardPage()
    await attach(board, file('picture.png', 'image/png', PNG))
    await attach(board, file('drawing.svg', 'image/svg+xml', SVG))
    await attach(board, file('notes.txt', 'text/plain', `<b>plain</b> ${HTML}`))
    await attach(board, file('paper.pdf', 'application/pdf', pdf('A paper')))
    // A file that only claims to be an image can't be shown.
    await attach(board, file('page.png', 'image/png', HTML))
    const preview = async (name: string) => {
      await rowOf(page, name, 'preview').click()
      const dialog = page.getByRole('dialog', { name })
      await dialog.waitFor()
      return dialog
    }
    const picture = await preview('picture.png')
    await expect.poll(() => picture.locator('img').evaluate((img) => Reflect.get(img, 'naturalWidth'))).toBe(10)
    await page.keyboard.press('Escape')
    await rowOf(page, 'drawing.svg', 'download').waitFor()
    const text = await preview('notes.txt')
    await expect.poll(() => text.locator('pre').textContent()).toBe(`<b>plain</b> ${HTML}`)
    await page.keyboard.press('Escape')
    const paper = await preview('paper.pdf')
    await paper.locator('iframe[title="paper.pdf"]').waitFor()
    await page.keyboard.press('Escape')
    const broken = await preview('page.png')
    await broken.getByText('This image can’t be shown.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'page.png' }).waitFor({ state: 'detached' })
    expect(await isUntouched(page)).toBe(true)
    await checkAndClose(page)
  })

  test('[WEB-243] Back closes it and leaves the card open, also after a reload', async () => {
    const { board, page } = await openCardPage()
    await attach(board, file('one.png', 'image/png', PNG))
    await attach(board, file('two.png', 'image/png', PNG))
    const card = page.getByRole('dialog', { name: 'card' })
    const preview = (name: string) => page.getByRole('dialog', { name })
    await rowOf(page, 'one.png', 'preview').click()
    await preview('one.png').waitFor()
    await page.keyboard.press('ArrowRight')
    await preview('two.png').waitFor()
    await page.goBack()
    await preview('two.png').waitFor({ state: 'detached' })
    await rowOf(page, 'one.png', 'preview').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await preview('one.png').waitFor()
    await page.reload()
    await preview('one.png').waitFor()
    await page.keyboard.press('Escape')
    await preview('one.png').waitFor({ state: 'detached' })
    await card.waitFor()
    await page.goBack()
    await card.waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toBe(`/app${board.path}`)
    await checkAndClose(page)
  })

  test('[WEB-64] a web page is only downloaded, and can’t be opened in the origin of the server', async () => {
    const { board, page } = await openCardPage()
    const { id } = await attach(board, file('page.html', 'text/html', HTML))
    await attach(board, file('page.xhtml', 'application/xhtml+xml', HTML))
    for (const name of ['page.html', 'page.xhtml']) {
      const [download] = await Promise.all([page.waitForEvent('download'), rowOf(page, name, 'download').click()])
      expect(download.suggestedFilename()).toBe(name)
    }
    expect(await dialogs(page).count()).toBe(1)
    const { headers } = await board.ada.api.request('GET', `/attachments/${id}`)
    expect(headers.get('content-disposition')).toMatch(/^attachment/)
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    // Opening its URL directly also downloads it.
    const tab = await page.context().newPage()
    const [opened] = await Promise.all([
      tab.waitForEvent('download'),
      tab.goto(`${env.service.baseUrl}/attachments/${id}`).catch(() => undefined),
    ])
    expect(opened.suggestedFilename()).toBe('page.html')
    await tab.close()
    expect(await isUntouched(page)).toBe(true)
    await checkAndClose(page)
  })

  test('[WEB-64] malicious file names are harmless', async () => {
    const board = await env.createBoard({ 'To do': ['card'] })
    const names = [
      '<img src=x onerror=globalThis.broken=1>.png',
      'invoice\u202egnp.exe',
      `${'long '.repeat(39)}name.png`,
      `${'w'.repeat(196)}.png`,
      '..\\..\\windows\\win.ini',
      'etc%2Fpasswd.txt',
    ]
    for (const name of names) await attach(board, file(name, 'image/png', PNG))
    const stored = (await filesOf(board)).map(({ name }) => name)
    expect(stored).toHaveLength(names.length)
    for (const width of [1440, 390]) {
      const page = await env.openPage(board.ada, board.path, { viewport: { width, height: 844 } })
      await openCard(page, 'card')
      await expect.poll(() => section(page).locator('.cd-file').count()).toBe(names.length)
      const shown = await section(page).locator('button.cd-file-name').allTextContents()
      const wanted = stored.map((name) => `${name.replace('\u202e', '�')}, preview`)
      expect(shown).toEqual(wanted)
      expect(await page.locator('.cd-files img[onerror]').count()).toBe(0)
      // It stays within the dialog, and its buttons are reachable.
      const overflow = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.layer.dialog'))`
      expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0)
      for (const button of await section(page)
        .getByRole('button', { name: /^Delete / })
        .all()) {
        const box = await button.boundingBox()
        expect((box?.x ?? width) + (box?.width ?? 0)).toBeLessThanOrEqual(width)
      }
      await section(page)
        .getByRole('button', { name: /onerror/ })
        .first()
        .click()
      await page
        .getByRole('dialog', { name: /onerror/ })
        .locator('img')
        .waitFor()
      await page.keyboard.press('Escape')
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        section(page)
          .getByRole('button', { name: /^Download .*exe/ })
          .click(),
      ])
      expect(download.suggestedFilename()).not.toMatch(/\u202e|\//)
      expect(await isUntouched(page)).toBe(true)
      await checkAndClose(page)
    }
  })
})

/** A minimal PDF with one line of text. */
function pdf(line: string): string {
  const stream = `BT /F1 24 Tf 20 100 Td (${line}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  const body = objects.map((each, i) => `${i + 1} 0 obj\n${each}\nendobj\n`).join('')
  return `%PDF-1.4\n${body}trailer\n<< /Root 1 0 R /Size 6 >>\n%%EOF\n`
}

describe('an image for a text', () => {
  /** Pastes an image into the field that has the focus, or drops it there. */
  const give = (page: Page, type: 'paste' | 'drop', name: string) =>
    page.evaluate(`(() => {
      const bytes = Uint8Array.from(atob('${PNG.toString('base64')}'), (char) => char.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([bytes], '${name}', { type: 'image/png' }))
      const init = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data }
      const event = '${type}' === 'paste' ? new ClipboardEvent('paste', init) : new DragEvent('${type}', init)
      document.activeElement.dispatchEvent(event)
    })()`)
  const comment = (page: Page) => page.getByLabel('Comment, in Markdown', { exact: true })
  /** Holds uploads until the returned function is called. */
  async function holdUploads(page: Page) {
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/attachments', async (route) => {
      await promise
      await route.fallback()
    })
    return resolve
  }
  /** The images of a text that are loaded. */
  const imagesOf = (page: Page, text: string) => () =>
    page.evaluate(`[...document.querySelectorAll('${text} .cd-markdown img')]
      .filter(({ complete, naturalWidth }) => complete && naturalWidth === 10).map(({ alt }) => alt)`)

  test('[WEB-233] is inserted where the cursor was when its upload ends, and shown in the comment to both', async () => {
    const { board, page } = await openCardPage()
    const other = await env.openPage(board.grace, `${board.path}/c/${board.cards['card']}`)
    const field = comment(page)
    await field.click()
    await page.keyboard.type('Look:  end')
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowLeft')
    const release = await holdUploads(page)
    await give(page, 'paste', 'one.png')
    await give(page, 'paste', 'two.png')
    await page.getByRole('status').getByText('Uploading the image').waitFor()
    // The text can be changed, but not sent without the image.
    await page.keyboard.press('Home')
    await page.keyboard.type('Please. ')
    await page.keyboard.press('End')
    await page.keyboard.type('!')
    await page.keyboard.press('Control+Enter')
    expect(await field.inputValue()).toBe('Please. Look:  end!')
    release()
    await expect.poll(() => field.inputValue(), { timeout: 10_000 }).toContain('two.png')
    const [one, two] = await filesOf(board)
    // Separated from what is before it.
    const images = `![one.png](/attachments/${one?.id}) ![two.png](/attachments/${two?.id})`
    expect(await field.inputValue()).toBe(`Please. Look: ${images} end!`)
    // The cursor is still at the end.
    await page.keyboard.type('!')
    await page.keyboard.press('Control+Enter')
    for (const each of [page, other])
      await expect.poll(imagesOf(each, '.comment'), { timeout: 10_000 }).toEqual(['one.png', 'two.png'])
    expect(await filesOf(board)).toHaveLength(2)
    await checkAndClose(page)
    await checkAndClose(other)
  })

  test('[WEB-233] dropped on the description, it is in the text; a failed upload leaves nothing in it', async () => {
    const { board, page } = await openCardPage()
    await editDescription(page)
    const field = descriptionField(page)
    await page.keyboard.type('Before ')
    await page.route('**/attachments', (route) => route.fulfill({ status: 400, body: '{}' }))
    await give(page, 'paste', 'broken.png')
    await section(page).getByText('broken.png').waitFor()
    await page.getByRole('status').getByText('Uploading the image').waitFor({ state: 'detached' })
    expect(await field.inputValue()).toBe('Before ')
    await page.unroute('**/attachments')
    await give(page, 'drop', 'plan.png')
    await expect
      .poll(() => field.inputValue(), { timeout: 10_000 })
      .toMatch(/^Before !\[plan\.png\]\(\/attachments\/[0-9a-f-]{36}\)$/)
    await expect.poll(imagesOf(page, '.cd-preview'), { timeout: 10_000 }).toEqual(['plan.png'])
    await saveDescription(page)
    await expect.poll(imagesOf(page, '.cd-description'), { timeout: 10_000 }).toEqual(['plan.png'])
    expect((await filesOf(board)).map(({ name }) => name)).toEqual(['plan.png'])
    await checkAndClose(page, { ignore: REQUEST_ERRORS })
  })
})

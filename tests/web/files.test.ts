import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCard } from './card-hands.ts'
import { finish } from './pages.ts'
import { openStage, type Stage, type StageBoard } from './stage.ts'

/** What a browser says by itself about a request that did not arrive, or was refused. */
const UNDELIVERED = /net::ERR_|status of 400/

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

interface Given {
  name: string
  mimeType: string
  buffer: Buffer
}
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC',
  'base64',
)
const file = (name: string, mimeType: string, content: string | Buffer): Given => ({
  name,
  mimeType,
  buffer: Buffer.from(content),
})
const big = () => file('big.bin', 'application/octet-stream', randomBytes(5_000_000))

async function withCard(on = stage) {
  const board = await on.board({ 'To do': ['card'] })
  const page = await on.enter(board.ada, board.path)
  await openCard(page, 'card')
  return { board, page }
}
const choose = (page: Page, ...files: Given[]) => page.getByLabel('Files to attach').setInputFiles(files)
const section = (page: Page) => page.getByRole('region', { name: 'Attachments' })
/** A file in the list, by what a click on its name does. */
const rowOf = (page: Page, name: string, act: 'preview' | 'download') =>
  section(page).locator('button.cd-file-name', { hasText: `${name}, ${act}` })
/** How fast the page's line is; it is as fast as can be without a number. */
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
const filesOf = async ({ ada, cards }: StageBoard) =>
  (await ada.api.call('getCard', { params: { card_id: cards['card'] ?? '' } })).attachments
/** Somebody else attaches a file, from elsewhere. */
const attach = ({ grace, cards }: StageBoard, { name, mimeType, buffer }: Given) =>
  grace.api.call('createAttachment', {
    params: { card_id: cards['card'] ?? '' },
    body: { file: new File([new Uint8Array(buffer)], name, { type: mimeType }) },
  })

describe('an upload', () => {
  test('[WEB-63] shows how far it is, goes on while its card is closed, and arrives with the others as well', async () => {
    const { board, page } = await withCard()
    const other = await stage.enter(board.grace, `${board.path}/c/${board.cards['card']}`)
    await limitUpload(page, 1_000_000)
    await choose(page, big())
    const progress = page.getByRole('progressbar', { name: 'Sending big.bin' })
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
    await finish(page)
    await finish(other)
  }, 60_000)

  test('[WEB-63] is cancelled at once, and what waited behind it goes on', async () => {
    const { board, page } = await withCard()
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
    await finish(page, { but: UNDELIVERED })
  }, 40_000)

  test('[WEB-63] that fails says so and can be tried again; it arrives once', async () => {
    const { board, page } = await withCard()
    let isBroken = true
    let tries = 0
    await page.route('**/attachments', async (route) => {
      tries++
      // The second time it has arrived, and only its answer is lost.
      if (tries === 2) await route.fetch()
      if (isBroken) await route.abort('connectionreset')
      else await route.continue()
    })
    await choose(page, file('notes.txt', 'text/plain', 'notes'))
    await section(page).getByText('The service cannot be reached.').waitFor({ timeout: 30_000 })
    isBroken = false
    await section(page).getByRole('button', { name: 'Try again' }).click()
    await rowOf(page, 'notes.txt', 'preview').waitFor()
    expect(tries).toBeGreaterThan(1)
    expect((await filesOf(board)).map(({ name }) => name)).toEqual(['notes.txt'])
    await finish(page, { but: UNDELIVERED })
  }, 60_000)

  test('[WEB-63] that is too large is refused in a sentence, and not offered again', async () => {
    const narrow = await openStage({ MAX_ATTACHMENT_BYTES: '100000' })
    const { board, page } = await withCard(narrow)
    await choose(page, big(), file('fits.txt', 'text/plain', 'fits'))
    await section(page)
      .getByText(/larger than|too large|at most/i)
      .waitFor({ timeout: 20_000 })
    expect(await section(page).getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await rowOf(page, 'fits.txt', 'preview').waitFor()
    await section(page).getByRole('button', { name: 'Remove' }).click()
    await section(page).getByText('big.bin').waitFor({ state: 'detached' })
    const filesOfNarrow = await board.ada.api.call('getCard', { params: { card_id: board.cards['card'] ?? '' } })
    expect(filesOfNarrow.attachments.map(({ name }) => name)).toEqual(['fits.txt'])
    await finish(page, { but: UNDELIVERED })
    await narrow.close()
  }, 60_000)

  test('[WEB-63] is also made by pasting a picture, and of what is dropped on the dialog', async () => {
    const { board, page } = await withCard()
    const give = (type: string, name: string) =>
      page.evaluate(`(() => {
        const data = new DataTransfer()
        const bytes = Uint8Array.from(atob('${PNG.toString('base64')}'), (char) => char.charCodeAt(0))
        data.items.add(new File([bytes], '${name}', { type: 'image/png' }))
        const init = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data }
        const event = '${type}' === 'paste' ? new ClipboardEvent('paste', init) : new DragEvent('${type}', init)
        document.querySelector('dialog[open] .cd').dispatchEvent(event)
      })()`)
    await give('paste', 'pasted.png')
    await rowOf(page, 'pasted.png', 'preview').waitFor()
    await give('dragover', 'dropped.png')
    await page.getByText('Drop to attach').waitFor()
    await give('drop', 'dropped.png')
    await rowOf(page, 'dropped.png', 'preview').waitFor()
    // A small picture of each.
    await expect
      .poll(() => page.evaluate(`[...document.querySelectorAll('.cd-thumb img')].map((img) => img.naturalWidth)`))
      .toEqual([10, 10])
    expect((await filesOf(board)).map(({ mime_type }) => mime_type)).toEqual(['image/png', 'image/png'])
    await finish(page)
  })
})

test('[WEB-63] dropped on a card of the board it is attached to that card; beside one it does not lead away', async () => {
  const board = await stage.board({ 'To do': ['card'] })
  const page = await stage.enter(board.ada, board.path)
  const dropOn = (selector: string) =>
    page.evaluate(`(() => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(['a text'], 'dropped.txt', { type: 'text/plain' }))
      const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true })
      document.querySelector('${selector}').dispatchEvent(event)
      return event.defaultPrevented
    })()`)
  expect(await dropOn('.lane-add')).toBe(true)
  await page.locator('.toast', { hasText: 'Drop files on the card that they belong to.' }).waitFor()
  expect(await dropOn('.card-title')).toBe(true)
  await rowOf(page, 'dropped.txt', 'preview').waitFor()
  expect((await filesOf(board)).map(({ name }) => name)).toEqual(['dropped.txt'])
  await finish(page)
})

describe('a file that is looked at', () => {
  const SCRIPT = 'globalThis.broken = 1; parent.broken = 1; top.broken = 1; fetch("https://evil.example/")'
  const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="${SCRIPT.replaceAll('"', "'")}">
    <script>${SCRIPT.replaceAll('"', "'")}</script><image href="https://evil.example/x.png"/><rect width="40" height="40"/></svg>`
  const HTML = `<!doctype html><script>${SCRIPT}</script><img src="https://evil.example/y.png">`
  const isUntouched = (page: Page) => page.evaluate('globalThis.broken === undefined')

  test('[WEB-64] pictures, texts and PDFs are shown from their bytes; nothing in them runs or loads anything', async () => {
    const { board, page } = await withCard()
    await attach(board, file('picture.png', 'image/png', PNG))
    await attach(board, file('drawing.svg', 'image/svg+xml', SVG))
    await attach(board, file('notes.txt', 'text/plain', `<b>plain</b> ${HTML}`))
    await attach(board, file('paper.pdf', 'application/pdf', pdf('A paper')))
    // What only says that it is a picture is one that cannot be shown.
    await attach(board, file('page.png', 'image/png', HTML))
    const look = async (name: string) => {
      await rowOf(page, name, 'preview').click()
      const dialog = page.getByRole('dialog', { name })
      await dialog.waitFor()
      return dialog
    }
    const picture = await look('picture.png')
    await expect.poll(() => picture.locator('img').evaluate((img) => Reflect.get(img, 'naturalWidth'))).toBe(10)
    await page.keyboard.press('Escape')
    await rowOf(page, 'drawing.svg', 'download').waitFor()
    const text = await look('notes.txt')
    await expect.poll(() => text.locator('pre').textContent()).toBe(`<b>plain</b> ${HTML}`)
    await page.keyboard.press('Escape')
    const paper = await look('paper.pdf')
    await paper.locator('iframe[title="paper.pdf"]').waitFor()
    await page.keyboard.press('Escape')
    const broken = await look('page.png')
    await broken.getByText('This picture cannot be shown.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'page.png' }).waitFor({ state: 'detached' })
    expect(await isUntouched(page)).toBe(true)
    await finish(page)
  }, 40_000)

  test('[WEB-64] a web page is never shown: it is downloaded, and cannot be opened under the service’s address', async () => {
    const { board, page } = await withCard()
    const { id } = await attach(board, file('page.html', 'text/html', HTML))
    await attach(board, file('page.xhtml', 'application/xhtml+xml', HTML))
    for (const name of ['page.html', 'page.xhtml']) {
      const [download] = await Promise.all([page.waitForEvent('download'), rowOf(page, name, 'download').click()])
      expect(download.suggestedFilename()).toBe(name)
    }
    expect(await page.getByRole('dialog').count()).toBe(1)
    const { headers } = await board.ada.api.request('GET', `/attachments/${id}`)
    expect(headers.get('content-disposition')).toMatch(/^attachment/)
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    // Whoever enters the address gets a file as well, and no page.
    const tab = await page.context().newPage()
    const [opened] = await Promise.all([
      tab.waitForEvent('download'),
      tab.goto(`${stage.service.base_url}/attachments/${id}`).catch(() => undefined),
    ])
    expect(opened.suggestedFilename()).toBe('page.html')
    await tab.close()
    expect(await isUntouched(page)).toBe(true)
    await finish(page)
  }, 40_000)

  test('[WEB-64] its name is only a name, however it is made', async () => {
    const board = await stage.board({ 'To do': ['card'] })
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
      const page = await stage.enter(board.ada, board.path, { viewport: { width, height: 844 } })
      await openCard(page, 'card')
      await expect.poll(() => section(page).locator('.cd-file').count()).toBe(names.length)
      const shown = await section(page).locator('button.cd-file-name').allTextContents()
      const wanted = stored.map((name) => `${name.replace('\u202e', '�')}, preview`)
      expect(shown).toEqual(wanted)
      expect(await page.locator('.cd-files img[onerror]').count()).toBe(0)
      // It stays within the dialog, with its buttons to be reached.
      const overflow = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog[open]'))`
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
      await finish(page)
    }
  }, 40_000)
})

/** The smallest PDF with a line of text. */
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

// @module-tag journey
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf } from './board-page-object.ts'
import { openCard } from './card-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment({}, { isWhole: true })
})
afterAll(() => env.close())

test('[WEB-15] [SEC-4] the Content-Security-Policy of every page forbids inline scripts, eval, other origins and framing', {
  tags: ['smoke'],
}, async () => {
  for (const path of ['/app/', '/app/login', '/app/boards', '/app/b/anything/c/anything']) {
    const { headers } = await env.service.anybody.request('GET', path)
    expect(headers.get('permissions-policy'), path).toContain('camera=()')
    const policy = new Map(
      (headers.get('content-security-policy') ?? '').split('; ').map((part) => {
        const [name = '', ...sources] = part.split(' ')
        return [name, sources]
      }),
    )
    expect(policy.get('default-src'), path).toEqual(["'none'"])
    const files = `${new URL(env.service.baseUrl).host}/app/`
    for (const name of ['script-src', 'style-src', 'font-src', 'worker-src'])
      expect(policy.get(name), `${path} ${name}`).toEqual([files])
    expect(policy.get('connect-src')).toEqual(["'self'"])
    expect(policy.get('frame-ancestors')).toEqual(["'none'"])
    expect(policy.get('base-uri')).toEqual(["'none'"])
    expect(policy.get('require-trusted-types-for')).toEqual(["'script'"])
    expect(policy.get('trusted-types')).toEqual(['lockstep-markdown', 'lockstep-worker'])
    const all = [...policy.values()].flat()
    expect(all.filter((source) => /unsafe|\*|https?:/.test(source))).toEqual([])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})

test('[WEB-15] the browser enforces it: text becomes neither script nor HTML', { tags: ['smoke'] }, async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const page = await env.openPage(board.ada, board.path)
  // In a task of the page: code run by the debugger is exempt from the policy.
  const tried = await page.evaluate(`new Promise((resolve) => setTimeout(() => {
    const tries = {
      eval: () => (0, eval)('1'),
      html: () => { document.createElement('div').innerHTML = '<b>x</b>' },
      script: () => { document.createElement('script').text = 'globalThis.broken = 1' },
      handler: () => { document.body.setAttribute('onclick', 'globalThis.broken = 1') },
      policy: () => globalThis.trustedTypes.createPolicy('mine', {}),
    }
    resolve(Object.entries(tries).flatMap(([name, run]) => { try { run(); return [name] } catch { return [] } }))
  }))`)
  expect(tried).toEqual([])
  await page.context().close()
})

test('[WEB-16] no script can read the session token, and the page sends requests only to its own server', async () => {
  const board = await env.createBoard({ 'To do': ['one'] })
  const page = await env.openPage(board.ada, board.path)
  // Queued changes and drafts are stored in the browser and must not contain the token.
  await cardOf(page, 'one').locator('.card-title').focus()
  await page.keyboard.press('n')
  await page.keyboard.type('two')
  await page.keyboard.press('Enter')
  await page.keyboard.type('a draft')
  await env.waitForSync(board, page)

  const cookies = await page.context().cookies()
  expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
    { name: 'svc_auth', httpOnly: true, sameSite: 'Lax' },
  ])
  const readable = (await page.evaluate(`Promise.all([
    document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.documentElement.outerHTML,
    indexedDB.databases().then((all) => JSON.stringify(all)),
  ])`)) as string[]
  expect(readable[0]).toBe('')
  for (const { value } of cookies) expect(readable.filter((text) => text.includes(value))).toEqual([])
  expect(readable.filter((text) => /eyJ[\w-]+\.[\w-]+\.[\w-]+/.test(text))).toEqual([])
  await checkAndClose(page)
})

describe('an SVG file with scripts', () => {
  /** A script that leaves a trace in localStorage, which all documents of our origin share. */
  const leave = (trace: string) => `localStorage.setItem('${trace}', location.href)`
  const traces = (page: Page) => page.evaluate(`Object.keys(localStorage).filter((key) => key.startsWith('svg-'))`)
  const attach = ({ grace, cards }: TestBoard, name: string, type: string, content: string) =>
    grace.api.call('createAttachment', {
      params: { card_id: cards['card'] ?? '' },
      body: { file: new File([content], name, { type }) },
    })
  const svg = (script: string) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"/>${script}</svg>`
  /** Opens a URL in a popup with and without opener, and in a new tab. */
  async function openEverywhere(page: Page, url: string) {
    for (const features of ['', 'noopener']) {
      const [popup] = await Promise.all([
        page.context().waitForEvent('page'),
        page.evaluate(`void window.open(${JSON.stringify(url)}, '_blank', '${features}')`),
      ])
      // A popup closes itself if the URL is a download.
      await Promise.race([popup.waitForLoadState(), popup.waitForEvent('close')]).catch(() => undefined)
      await popup.close()
    }
    const tab = await page.context().newPage()
    await tab.goto(url).catch((error: Error) => expect(error.message).toContain('Download is starting'))
    await tab.close()
  }

  test('[WEB-110] [V41] is only downloaded: the page makes no document of it that could be opened', async () => {
    const board = await env.createBoard({ 'To do': ['card'] })
    const script = await attach(board, 'a.js', 'text/javascript', leave('svg-external'))
    const external = `<script href="${env.service.baseUrl}/attachments/${script.id}"/>`
    await attach(board, 'pic.svg', 'image/svg+xml', svg(`<script>${leave('svg-inline')}</script>${external}`))
    const page = await env.openPage(board.ada, board.path)
    await page.evaluate(`globalThis.blobs = []; const make = URL.createObjectURL
      URL.createObjectURL = (blob) => { const url = make(blob); blobs.push(url); return url }`)
    await openCard(page, 'card')
    const name = page.locator('button.cd-file-name', { hasText: 'pic.svg' })
    await name.click()
    const blobs = () => page.evaluate('globalThis.blobs') as Promise<string[]>
    await expect.poll(blobs).not.toEqual([])
    for (const url of await blobs()) await openEverywhere(page, url)
    expect(await traces(page)).toEqual([])
    expect(await name.textContent()).toBe('pic.svg, download')
    await checkAndClose(page)
  })

  test('[SEC-4] [ATT-11] [V41] loads no script from a file of a board, even as a document of our origin', async () => {
    const board = await env.createBoard({ 'To do': ['card'] })
    const script = await attach(board, 'a.js', 'text/javascript', leave('svg-external'))
    const page = await env.openPage(board.ada, board.path)
    const content = svg(`<script href="${env.service.baseUrl}/attachments/${script.id}"/>`)
    const url = (await page.evaluate(
      `URL.createObjectURL(new Blob([${JSON.stringify(content)}], { type: 'image/svg+xml' }))`,
    )) as string
    const statuses: number[] = []
    page.context().on('response', (response) => {
      if (response.url().includes(script.id)) statuses.push(response.status())
    })
    await openEverywhere(page, url)
    expect(await traces(page)).toEqual([])
    // Documents opened by the page inherit its policy, which forbids the request; in a new tab the server rejects it.
    expect(statuses).toEqual([403])
    await checkAndClose(page)
  })
})

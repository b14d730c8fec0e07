import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

/** Who comes to a page. */
export interface Visitor {
  email: string
  password: string
}
/** What went wrong on a page, and what it said to those who listen. */
interface Notes {
  complaints: string[]
  spoken: string[]
}

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const notes = new WeakMap<Page, Notes>()

/** Runs in every page before its own scripts: tells what is announced, and what the policy refused. */
const LISTEN = `
  addEventListener('securitypolicyviolation', (event) =>
    noted('complaint', 'policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      const place = target.nodeType === 1 ? target : target.parentElement
      if (!place?.closest('[data-announcer]')) continue
      const text = target.nodeType === 1 ? [...addedNodes].map((node) => node.textContent).join(' ') : target.data
      if (text.trim()) noted('spoken', text)
    }
  }).observe(document, { subtree: true, childList: true, characterData: true })`

/** A browser of somebody's own, logged in: the cookie is all that a page of it has. */
export async function logIn(browser: Browser, base_url: string, who?: Visitor, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  if (who) {
    const form = { username: who.email, password: who.password, cookie: 'true' }
    const answer = await context.request.post(`${base_url}/auth/login`, { form, headers: { origin: base_url } })
    assert.equal(answer.status(), 200, await answer.text())
  }
  return context
}

/** A page in which everything is noted that must not be. */
export async function openNoted(context: BrowserContext, base_url: string): Promise<Page> {
  const page = await context.newPage()
  const noted: Notes = { complaints: [], spoken: [] }
  notes.set(page, noted)
  const own = [`${base_url}/`, `${base_url.replace('http', 'ws')}/`]
  const meet = (url: string) => {
    // PDFs are shown by the browser's own viewer.
    const isOwn = /^(data|blob|chrome|chrome-extension):/.test(url) || own.some((start) => url.startsWith(start))
    if (!isOwn) noted.complaints.push(`foreign: ${url}`)
  }
  page.on('request', (request) => meet(request.url()))
  page.on('websocket', (socket) => meet(socket.url()))
  page.on('pageerror', (error) => noted.complaints.push(`error: ${error.name} ${error.message} ${error.stack}`))
  page.on('console', (message) => {
    const { url } = message.location()
    if (message.type() === 'error') noted.complaints.push(`console: ${message.text()} (${url})`)
  })
  await page.exposeBinding('noted', (_, kind: 'complaint' | 'spoken', text: string) => {
    noted[kind === 'spoken' ? 'spoken' : 'complaints'].push(text)
  })
  await page.addInitScript(LISTEN)
  return page
}

const notesOf = (page: Page): Notes => {
  const noted = notes.get(page)
  assert.ok(noted, 'This page is not of the stage')
  return noted
}

/** Everything that the page has announced so far, in order. */
export const liveRegion = (page: Page): string[] => notesOf(page).spoken

interface Violation {
  id: string
  help: string
  nodes: { target: string[]; failureSummary: string }[]
}

/** What axe finds on the page as it stands, one sentence for each rule. */
export async function auditAccess(page: Page): Promise<string[]> {
  // Colours are judged as they will stay.
  await page.evaluate(`Promise.all(document.getAnimations().filter((each) => each.effect.getTiming().iterations === 1)
    .map((each) => each.finished.catch(() => {}))).then(() => {})`)
  await page.evaluate(`${AXE}; undefined`)
  const found = (await page.evaluate(
    `axe.run({ runOnly: ${JSON.stringify(TAGS)} }).then(({ violations }) => violations)`,
  )) as Violation[]
  return found.map(({ id, help, nodes }) => {
    const [first] = nodes
    return `${id}: ${help} (${nodes.length}): ${first?.target.join(' ')}: ${first?.failureSummary}`
  })
}

/** Every journey ends with this: whoever cannot see was not left out, and nothing went wrong that nobody looked at. */
export async function finish(page: Page, { but }: { but?: RegExp } = {}) {
  assert.deepEqual(await auditAccess(page), [], `axe on ${page.url()}`)
  const { complaints } = notesOf(page)
  const unexpected = but ? complaints.filter((each) => !but.test(each)) : complaints
  assert.deepEqual(unexpected, [], page.url())
  await page.close()
}

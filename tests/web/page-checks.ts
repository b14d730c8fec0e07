import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Token } from '@lockstep/client'
import { JWT_SECRET } from '@lockstep/testing/secrets'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { Tokens } from '../../packages/server/src/security/tokens.ts'
import { loginOf } from '../../packages/web/src/login.ts'

/** Login of a user. */
export interface Credentials {
  email: string
  password: string
}
/** Problems of a page, and its announcements for screen readers. */
interface PageRecord {
  problems: string[]
  announcements: string[]
}

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const records = new WeakMap<Page, PageRecord>()

/** Init script: reports announcements and violations of the Content-Security-Policy. */
const RECORDER = `
  addEventListener('securitypolicyviolation', (event) =>
    report('problem', 'policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      const element = target.nodeType === 1 ? target : target.parentElement
      if (!element?.closest('[data-announcer]')) continue
      const text = target.nodeType === 1 ? [...addedNodes].map((node) => node.textContent).join(' ') : target.data
      if (text.trim()) report('announcement', text)
    }
  }).observe(document, { subtree: true, childList: true, characterData: true })`

/** Opens a browser context, logged in like by the login form if there are credentials. */
export async function logIn(
  browser: Browser,
  baseUrl: string,
  credentials?: Credentials,
  options: BrowserContextOptions = {},
) {
  const viewport = { width: 1440, height: 900 }
  if (!credentials) return browser.newContext({ viewport, ...options })
  const body = new URLSearchParams({ username: credentials.email, password: credentials.password })
  const response = await fetch(`${baseUrl}/auth/login`, { method: 'POST', body })
  assert.equal(response.status, 200)
  const storageState = sessionOf(baseUrl, (await response.json()) as Token)
  return browser.newContext({ viewport, ...options, storageState })
}

/** What a browser stores at a login: the cookie, and the login that the web client reads. */
export function sessionOf(baseUrl: string, token: Token) {
  const { origin, hostname: domain } = new URL(baseUrl)
  const cookie = { name: 'svc_auth', value: token.access_token, domain, path: '/', httpOnly: true, secure: false }
  const localStorage = [{ name: 'lockstep/login', value: JSON.stringify(loginOf(token)) }]
  return { cookies: [{ ...cookie, expires: -1, sameSite: 'Lax' as const }], origins: [{ origin, localStorage }] }
}

/** The same for a session that began two hours ago. */
export async function oldSession(baseUrl: string, user_id: string) {
  const now = Math.floor(Date.now() / 1_000)
  const sessions = new Tokens({ secret: JWT_SECRET, algorithm: 'HS256', lifetimeSeconds: 3_600 })
  const access_token = await sessions.issue(user_id, now, now - 7_200)
  return sessionOf(baseUrl, { access_token, token_type: 'bearer', sessions_ended_at: null })
}

/** Opens a page that records errors, requests to other origins, policy violations and announcements. */
export async function openRecordedPage(context: BrowserContext, baseUrl: string): Promise<Page> {
  const page = await context.newPage()
  // The default of 30 s is short for a shared machine.
  page.setDefaultTimeout(60_000)
  const record: PageRecord = { problems: [], announcements: [] }
  records.set(page, record)
  const own = [`${baseUrl}/`, `${baseUrl.replace('http', 'ws')}/`]
  const checkOrigin = (url: string) => {
    // PDFs are shown by the browser's viewer, an extension.
    const isOwn = /^(data|blob|chrome|chrome-extension):/.test(url) || own.some((start) => url.startsWith(start))
    if (!isOwn) record.problems.push(`foreign: ${url}`)
  }
  page.on('request', (request) => checkOrigin(request.url()))
  page.on('websocket', (socket) => checkOrigin(socket.url()))
  page.on('pageerror', (error) => record.problems.push(`error: ${error.name} ${error.message} ${error.stack}`))
  page.on('console', (message) => {
    const { url } = message.location()
    if (message.type() === 'error') record.problems.push(`console: ${message.text()} (${url})`)
  })
  await page.exposeBinding('report', (_, kind: 'problem' | 'announcement', text: string) => {
    record[kind === 'announcement' ? 'announcements' : 'problems'].push(text)
  })
  await page.addInitScript(RECORDER)
  return page
}

const recordOf = (page: Page): PageRecord => {
  const record = records.get(page)
  assert.ok(record, 'The page was not opened by openRecordedPage')
  return record
}

/** All announcements of the page so far, in order. */
export const announcements = (page: Page): string[] => recordOf(page).announcements

interface Violation {
  id: string
  help: string
  nodes: { target: string[]; failureSummary: string }[]
}

/** Hidden elements at the edges of menus and dialogs. They pass the focus on at once, which axe cannot know. */
const FOCUS_GUARDS = '[data-base-ui-focus-guard]'
/** Like a dialog, an open menu has a name of its own and need not be in a landmark. */
const OUTSIDE_MENUS = "!document.querySelector(target[0])?.closest('.positioner')"

/** Waits for animations that do not repeat. */
export const animationsEnd = (page: Page): Promise<unknown> =>
  page.evaluate(`Promise.all(document.getAnimations().filter((each) => each.effect.getTiming().iterations === 1)
    .map((each) => each.finished.catch(() => {}))).then(() => {})`)

/** The axe violations of the current page, one line per rule. */
export async function auditAccessibility(page: Page): Promise<string[]> {
  // So that axe sees the final colours.
  await animationsEnd(page)
  await page.evaluate(`${AXE}; undefined`)
  const found = (await page.evaluate(
    `axe.run({ exclude: ['${FOCUS_GUARDS}'] }, { runOnly: ${JSON.stringify(TAGS)} }).then(({ violations }) => violations
      .map((each) => each.id === 'region' ? { ...each, nodes: each.nodes.filter(({ target }) => ${OUTSIDE_MENUS}) } : each)
      .filter(({ nodes }) => nodes.length > 0))`,
  )) as Violation[]
  return found.map(({ id, help, nodes }) => {
    const [first] = nodes
    return `${id}: ${help} (${nodes.length}): ${first?.target.join(' ')}: ${first?.failureSummary}`
  })
}

/** Ends a test page: fails if axe finds a violation or the page recorded a problem that is not ignored. */
export async function checkAndClose(page: Page, { ignore }: { ignore?: RegExp } = {}) {
  assert.deepEqual(await auditAccessibility(page), [], `axe on ${page.url()}`)
  const { problems } = recordOf(page)
  const unexpected = ignore ? problems.filter((each) => !ignore.test(each)) : problems
  assert.deepEqual(unexpected, [], page.url())
  await page.close()
}

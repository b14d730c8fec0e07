import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openBrowser } from '@lockstep/testing/browser'
import { openApp, startPages } from '@lockstep/testing/client/app-page'
import { startService, type TestService } from '@lockstep/testing/service'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from './index.ts'

/** Code blocks with the same name form one program. */
const guide = readFileSync(new URL('../../../docs/guide.md', import.meta.url), 'utf8')
const programs = new Map<string, string>()
for (const [, name = '', code = ''] of guide.matchAll(/```tsx? (\S+)\n([\s\S]*?)```/g))
  programs.set(name, (programs.get(name) ?? '') + code)

const folder = fileURLToPath(new URL('../../../.test-output/guide/', import.meta.url))
const PASSWORD = 'correct horse'
const ran = new Set<string>()

let service: TestService
let browser: Browser
let pages: Awaited<ReturnType<typeof startPages>>
let ada: Client
/** The board created by the first program and used by the others. */
let board_id: string

beforeAll(async () => {
  service = await startService({ CORS_ORIGINS: '*' })
  pages = await startPages()
  browser = await openBrowser()
  mkdirSync(folder, { recursive: true })
  for (const [name, code] of programs)
    writeFileSync(folder + name, code.replace('http://127.0.0.1:8000', service.baseUrl))
  const { stdout, stderr } = await inNode('first-call.ts')
  expect(stderr).toBe('')
  board_id = stdout.trim()
  ada = createClient({ baseUrl: service.baseUrl })
  await ada.login({ username: 'ada@example.com', password: PASSWORD })
})
afterAll(async () => {
  ada.close()
  await browser.close()
  await pages.stop()
  await service.stop()
  rmSync(folder, { recursive: true })
})

function inNode(name: string, ...args: string[]) {
  ran.add(name)
  return promisify(execFile)(process.execPath, [folder + name, ...args], { timeout: 15_000 })
}

/** Bundles a program and runs it in a page. */
async function inPage(name: string) {
  ran.add(name)
  const options = { bundle: true, write: false, format: 'esm', jsx: 'automatic' } as const
  const { outputFiles } = await build({ ...options, entryPoints: [folder + name] })
  const app = await openApp(browser, `${pages.url}#${board_id}`)
  await app.page.addScriptTag({ content: outputFiles[0]?.text ?? '', type: 'module' })
  return app
}
const waitForText = (page: Page, text: string) => page.waitForSelector(`text=${text}`)
const firstColumn = async () => (await ada.getBoard({ board_id })).columns[0]
const addCard = async (title: string) => ada.createCard({ board_id, column_id: (await firstColumn())?.id ?? '', title })

test('[DOC-9] all code in the guide compiles with the strictest options', () => {
  const compilerOptions = { lib: ['ES2024', 'ESNext.Disposable', 'DOM', 'DOM.Iterable'], jsx: 'react-jsx' }
  const config = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts', '*.tsx'] }
  writeFileSync(`${folder}tsconfig.json`, JSON.stringify(config))
  expect(spawnSync('tsc', ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' }).stdout).toBe('')
})

test('[DOC-9] the first call creates a board with a column', async () => {
  expect(await ada.getBoard({ board_id })).toMatchObject({ title: 'Plan', columns: [{ title: 'To do', cards: [] }] })
})

test('[DOC-9] a first live board is 12 lines long', () => {
  const [, code = ''] = /```ts tabs\.ts\n([\s\S]*?)```/.exec(guide) ?? []
  expect(code.trim().split('\n')).toHaveLength(12)
})

test('[DOC-9] a card created in one tab appears in the other', async () => {
  const [one, other] = await Promise.all([inPage('tabs.ts'), inPage('tabs.ts')])
  await Promise.all([waitForText(one.page, 'To do'), waitForText(other.page, 'To do')])
  await one.page.mouse.dblclick(200, 200)
  const title = (await firstTitle(one.page)) ?? ''
  await other.page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(title)})`)
  expect([...one.errors, ...other.errors]).toEqual([])
  await Promise.all([one.page.close(), other.page.close()])
})
const firstTitle = async (page: Page) => {
  await page.waitForFunction("document.body.innerText.includes('· ')")
  return (await page.evaluate<string>('document.body.innerText')).split('\n')[1]
}

test('[DOC-9] the React page adds, renames and undoes, and keeps the text of a rejected change', async () => {
  const { page, errors } = await inPage('app.tsx')
  const field = page.locator('section input').last()
  const value = () => field.inputValue()
  await page.click('text=Add a card')
  await expect.poll(value).toBe('New')
  await field.fill('Renamed')
  await field.blur()
  expect(await value()).toBe('Renamed')
  await page.click('text=Undo')
  await expect.poll(value).toBe('New')
  await page.click('text=Redo')
  await expect.poll(value).toBe('Renamed')
  await page.click('text=Undo')
  await expect.poll(value).toBe('New')
  await field.fill('long '.repeat(1_000))
  await field.blur()
  await page.waitForSelector('q:has-text("long long long")')
  expect(await value()).toBe('New')
  await page.click('footer p')
  await page.waitForSelector('footer p', { state: 'detached' })
  expect(await page.locator('.news').count()).toBe(0)
  await addCard('from elsewhere')
  await page.waitForSelector('.news:has-text("card.created")')
  // The browser logs the 422 response.
  expect(errors.filter((error) => !error.includes('422'))).toEqual([])
  await page.close()
})

test('[DOC-9] text that someone else changed is not overwritten', async () => {
  const { id: card_id } = await addCard('with a text')
  await ada.moveCard({ card_id, after_id: null })
  const { stdout } = await inNode('draft.ts', board_id)
  expect(stdout).toBe('Edited by someone else. What I wrote meanwhile.\n')
  expect(await ada.getCard({ card_id })).toMatchObject({ description: 'Edited by someone else.' })
})

test('[DOC-9] changes made offline are saved when the network is back', async () => {
  const { page } = await inPage('offline.ts')
  await page.waitForFunction("document.title === 'Saved'")
  await page.context().setOffline(true)
  await page.mouse.dblclick(200, 200)
  await page.waitForFunction("document.title.startsWith('1 unsaved')")
  await page.context().setOffline(false)
  await page.waitForFunction("document.title === 'Saved'")
  expect((await ada.getBoard({ board_id })).labels).toMatchObject([{ name: 'made offline' }])
  await page.close()
})

test('[DOC-9] a file is uploaded with a progress bar', async () => {
  await addCard('with a file')
  const { page, errors } = await inPage('upload.ts')
  await page.setInputFiles('input', { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.alloc(300_000, 'a') })
  await page.waitForFunction("document.title === 'notes.txt uploaded'")
  expect(await page.evaluate("document.querySelector('progress').value")).toBe(1)
  const cards = (await ada.getBoard({ board_id })).columns.flatMap((column) => column.cards)
  expect(cards.flatMap((card) => card.attachments)).toMatchObject([{ name: 'notes.txt', size: 300_000 }])
  expect(errors).toEqual([])
  await page.close()
})

test('[DOC-9] a comment mentions a member, and is in the history of its card', async () => {
  const { id } = await addCard('Discuss me')
  const { stdout, stderr } = await inNode('comments.ts', board_id, id)
  expect(stderr).toBe('')
  expect(stdout.split('\n')).toEqual([
    expect.stringMatching(/^ada @\[Ada\]\(user:.+\) Is this ready\? 1$/),
    ...['comment.updated', 'comment.created', 'card.created', ''],
  ])
})

test('[DOC-9] a card is archived, listed and restored', async () => {
  const { id } = await addCard('Put me away')
  const { stdout, stderr } = await inNode('archive.ts', board_id, id)
  expect(stderr).toBe('')
  expect(stdout).toBe('true Put me away archived\nPut me away\n')
})

test('[DOC-9] the inbox is read and marked', async () => {
  const { stdout, stderr } = await inNode('inbox.ts')
  expect([stdout, stderr]).toEqual(['0\n', ''])
})

test('[DOC-9] the bot adds a checklist to a new card', async () => {
  const { id } = await ada.register({ email: 'bot@example.com', username: 'bot', password: PASSWORD })
  await ada.inviteMember({ board_id, user_id: id })
  const account = createClient({ baseUrl: service.baseUrl })
  await account.login({ username: 'bot@example.com', password: PASSWORD })
  const { token } = await account.createToken({ name: 'bot', scope: 'write' })
  ran.add('bot.ts')
  const env = { ...process.env, LOCKSTEP_TOKEN: token }
  const bot = spawn(process.execPath, [`${folder}bot.ts`, board_id], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(bot.stdout, 'data')
    const card = await addCard('Review me')
    const items = async () => (await ada.getCard({ card_id: card.id })).checklists.flatMap((list) => list.items)
    await expect.poll(items, { timeout: 10_000 }).toMatchObject([{ content: 'Read “Review me”' }])
  } finally {
    bot.kill()
  }
})

test('[DOC-9] pages are followed, and an unknown field is named', async () => {
  for (const title of ['One', 'Two', 'Three']) await addCard(title)
  const { stdout, stderr } = await inNode('pages.ts', board_id)
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^(2\n)+[12]\ncolour\n$/)
})

test('[DOC-9] errors are reported as the guide says', async () => {
  const { stdout, stderr } = await inNode('errors.ts', board_id)
  expect(stderr).toBe('')
  expect(stdout.split('\n')).toEqual([expect.stringMatching(/^401 /), 'invalid_input', 'board_not_found', ''])
})

test('[DOC-9] every code block of the guide is tested', () => {
  expect(guide.match(/```\w+/g)?.length).toBe(guide.match(/```tsx? \S+\.tsx?\n/g)?.length)
  expect([...ran].sort()).toEqual([...programs.keys()].sort())
})

import { fileURLToPath } from 'node:url'
import { openBrowser } from '@lockstep/testing/browser'
import { openApp, startPages } from '@lockstep/testing/client/app-page'
import type * as ReactPage from '@lockstep/testing/client/react-page'
import { PASSWORD, startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Api } from '../live/api.ts'
import { useBoard } from './index.ts'

let service: TestService
let browser: Browser
let pages: Awaited<ReturnType<typeof startPages>>
let script: string
beforeAll(async () => {
  const entry = fileURLToPath(new URL('../../../testing/src/client/react-page.ts', import.meta.url))
  const options = { bundle: true, write: false, format: 'iife', globalName: 'lockstep' } as const
  const { outputFiles } = await build({ ...options, entryPoints: [entry] })
  script = `${outputFiles[0]?.text}; globalThis.lockstep = lockstep`
  service = await startService({ CORS_ORIGINS: '*' })
  pages = await startPages()
  browser = await openBrowser()
}, 60_000)
afterAll(async () => {
  await browser.close()
  await pages.stop()
  await service.stop()
})

/** The page of `react-page.ts` for a user. */
async function open({ api }: TestUser, board: TestBoard, more: Partial<ReactPage.Given> = {}) {
  const app = await openApp(browser, pages.url)
  const given = { base_url: service.base_url, token: api.token, board_id: board.id, ...more }
  const mount = async () => {
    await app.page.evaluate(script)
    await app.page.evaluate(`lockstep.mount(${JSON.stringify(given)})`)
  }
  await mount()
  return { ...app, mount }
}
const live = (page: Page) => page.waitForSelector('main[data-phase=live]')
const handed = (page: Page, text: string) => page.waitForSelector(`#handed li:text-is("${text}")`)
const change = (page: Page, name: string, input: object) =>
  page.evaluate(`lockstep.board().change('${name}', ${JSON.stringify(input)}); undefined`)
const addCard = ({ id, owner, columns }: TestBoard, title: string) =>
  owner.api.call('createCard', { params: { board_id: id, column_id: columns[0].id }, body: { title } })

test('[REACT-1] what is changed on one page is shown there at once, and appears on the other', async () => {
  const board = await service.board()
  const [one, other] = await Promise.all([open(board.owner, board), open(board.member, board)])
  await Promise.all([live(one.page), live(other.page)])
  const shown = await one.page.evaluate(`
    lockstep.board().change('createCard', { column_id: '${board.columns[0].id}', title: 'from one' })
    Promise.resolve().then(() => document.querySelector('#handed').textContent)`)
  expect(shown).toBe('from one')
  await handed(other.page, 'from one')
  await change(other.page, 'createCard', { column_id: board.columns[1].id, title: 'from the other' })
  await handed(one.page, 'from the other')
  await one.page.evaluate('lockstep.board().undo(); undefined')
  await other.page.waitForSelector('#handed li:text-is("from one")', { state: 'detached' })
  expect(await one.page.evaluate('lockstep.board().can_redo')).toBe(true)
  await one.page.evaluate('lockstep.board().redo(); undefined')
  await handed(other.page, 'from one')
  expect(await one.page.evaluate('lockstep.board().can_redo')).toBe(false)
  expect([...one.errors, ...other.errors]).toEqual([])
})

test('[REACT-2] all components of a page share one board, also in StrictMode', async () => {
  const board = await service.board()
  await addCard(board, 'card')
  const { page, sockets, requests, errors } = await open(board.owner, board, { is_strict: true })
  await live(page)
  await page.waitForSelector('#found li:text-is("card")')
  expect(sockets).toHaveLength(1)
  expect(requests.filter((url) => url.endsWith(`/boards/${board.id}`))).toHaveLength(1)
  expect(errors).toEqual([])
})

test('[REACT-3] when the last component is gone, no timer and no socket is left; mounted again it is live again', async () => {
  const board = await service.board()
  const { page, sockets, mount } = await open(board.owner, board, { is_strict: true })
  await live(page)
  expect(await page.evaluate('lockstep.openTimers()')).toBeGreaterThan(0)
  const closed = sockets[0]?.waitForEvent('close')
  await page.evaluate('lockstep.unmount()')
  await closed
  expect(await page.evaluate('lockstep.openTimers()')).toBe(0)
  expect(sockets).toHaveLength(1)
  const failure = 'try { lockstep.board().undo(); "" } catch (error) { error.message }'
  expect(await page.evaluate(failure)).toContain('not open')
  await mount()
  await live(page)
})

test('[REACT-4] a component renders only when its card changes, handed down or selected', async () => {
  const board = await service.board()
  const [first] = [await addCard(board, 'first'), await addCard(board, 'second')]
  const { page } = await open(board.owner, board)
  await live(page)
  await handed(page, 'second')
  const before = (await page.evaluate('lockstep.rendered()')) as Record<string, number>
  expect(before).toMatchObject({ 'handed first': 1, 'handed second': 1, 'found first': 1, 'found second': 1 })
  for (const title of ['a', 'b', 'c']) await change(page, 'updateCard', { card_id: first.id, title })
  await page.waitForFunction('lockstep.board().status.pending === 0')
  await change(page, 'updateBoard', { title: 'Other' })
  await page.waitForSelector('h1:text-is("Other")')
  const after = (await page.evaluate('lockstep.rendered()')) as Record<string, number>
  expect(after).toMatchObject({ 'handed second': 1, 'found second': 1, found: before['found'] })
  expect(after['handed c']).toBeGreaterThan(0)
  expect(after['found c']).toBeGreaterThan(0)
})

test('[REACT-5] a change that is refused is in the notices with its text, until it is dismissed', async () => {
  const board = await service.board()
  const card = await addCard(board, 'card')
  const { page } = await open(board.owner, board)
  await live(page)
  await handed(page, 'card')
  // Only the service knows how long a title may be.
  await change(page, 'updateCard', { card_id: card.id, title: 'long '.repeat(1_000) })
  await page.waitForFunction('lockstep.board().notices.length === 1')
  await handed(page, 'card')
  const [notice] = (await page.evaluate('lockstep.board().notices')) as { key: string; text: string }[]
  expect(notice?.text).toContain('long long')
  await page.evaluate(`lockstep.board().dismiss('${notice?.key}')`)
  await page.waitForFunction('lockstep.board().notices.length === 0')
})

test('[REACT-6] with a storage, what could not be sent is pending after a reload, and is sent then', async () => {
  const board = await service.board()
  const { page, mount } = await open(board.owner, board, { user_id: board.owner.id })
  await live(page)
  const barred = '**/columns/*/cards'
  await page.route(barred, (route) => route.abort())
  await change(page, 'createCard', { column_id: board.columns[0].id, title: 'kept' })
  await handed(page, 'kept')
  await page.reload()
  await mount()
  await page.waitForFunction('lockstep.board().pending.length === 1')
  await page.unroute(barred)
  await page.waitForFunction('lockstep.board().status.phase === "live" && lockstep.board().pending.length === 0')
  expect((await board.events()).filter(({ type }) => type === 'card.created')).toHaveLength(1)
})

test('[REACT-8] the latest listener is told of every event once, and which are of this page, also in StrictMode', async () => {
  const board = await service.board()
  const { page, errors } = await open(board.owner, board, { is_strict: true })
  await live(page)
  const told = async (count: number) => {
    await page.waitForFunction(`lockstep.events().length >= ${count}`)
    return (await page.evaluate('lockstep.events()')) as [string, boolean, number][]
  }
  await change(page, 'updateBoard', { title: 'Mine' })
  const [own] = await told(1)
  expect(own?.slice(0, 2)).toEqual(['board.updated', true])
  // The same user elsewhere, and another one.
  await board.owner.api.call('updateBoard', { params: { board_id: board.id }, body: { title: 'From elsewhere' } })
  await page.waitForSelector('h1:text-is("From elsewhere")')
  const { api } = board.member
  const column = { params: { board_id: board.id, column_id: board.columns[0].id }, body: { title: 'Theirs' } }
  await api.call('createCard', column)
  const all = await told(3)
  expect(all.map(([type, is_own]) => [type, is_own])).toEqual([
    ['board.updated', true],
    ['board.updated', false],
    ['card.created', false],
  ])
  expect(all[2]?.[2]).toBeGreaterThan(own?.[2] ?? 0)
  expect(errors).toEqual([])
})

test('[REACT-8] who only listens keeps the board open too', async () => {
  const board = await service.board()
  const { page, sockets } = await open(board.owner, board, { is_strict: true, is_silent: true })
  for (let i = 0; (await page.evaluate('lockstep.events().length')) === 0 && i < 50; i++) {
    await addCard(board, 'card')
    await page.waitForTimeout(100)
  }
  expect(await page.evaluate('lockstep.events()[0]')).toEqual(['card.created', false, 0])
  expect(sockets).toHaveLength(1)
  const closed = sockets[0]?.waitForEvent('close')
  await page.evaluate('lockstep.unmount()')
  await closed
})

test.each(['with a storage', 'without a storage'])(
  '[REACT-9] %s, what was changed while nobody was logged in is sent once when its user is, and asks for it',
  async (how) => {
    const board = await service.board()
    const more = how === 'with a storage' ? { user_id: board.owner.id } : {}
    const { page } = await open(board.owner, board, { is_strict: true, ...more })
    await live(page)
    await page.evaluate('lockstep.session().logout()')
    const column_id = board.columns[0].id
    await change(page, 'createCard', { column_id, title: 'first' })
    await page.waitForSelector('main[data-phase=closed]')
    await change(page, 'createCard', { column_id, title: 'second' })
    await handed(page, 'second')
    await page.evaluate('lockstep.board().retry()')
    await addCard(board, 'from elsewhere')
    const state = '[lockstep.board().status.reason, lockstep.board().pending.length]'
    expect(await page.evaluate(state)).toEqual(['unauthorized', 2])
    const login = { username: board.owner.email, password: PASSWORD }
    await page.evaluate(`lockstep.session().login(${JSON.stringify(login)})`)
    await page.evaluate('lockstep.board().retry()')
    await live(page)
    await page.waitForFunction('lockstep.board().status.pending === 0')
    await handed(page, 'from elsewhere')
    const created = (await board.events()).filter(({ type }) => type === 'card.created')
    expect(created.map(({ data }) => data['title'])).toEqual(['from elsewhere', 'first', 'second'])
    const told = (await page.evaluate('lockstep.events()')) as [string, boolean][]
    expect(told.map(([type, is_own]) => [type, is_own])).toEqual([
      ['card.created', false],
      ['card.created', true],
      ['card.created', true],
    ])
    await page.evaluate('lockstep.unmount()')
    expect(await page.evaluate('lockstep.openTimers()')).toBe(0)
  },
)

const Phase = ({ api }: { api: Api }) => createElement('p', null, useBoard(api, 'board').status.phase)

test('[REACT-7] rendered on a server, it opens nothing', async () => {
  const asked: string[] = []
  const api: Api = { base_url: '', request: async (name) => ({ data: asked.push(name) }) }
  expect(renderToString(createElement(Phase, { api }))).toBe('<p>connecting</p>')
  await new Promise(setImmediate)
  expect(asked).toEqual([])
})

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
})
afterAll(async () => {
  await browser.close()
  await pages.stop()
  await service.stop()
})

/** Opens the page of `react-page.ts` as a user. */
async function open({ api }: TestUser, board: TestBoard, more: Partial<ReactPage.PageOptions> = {}) {
  const app = await openApp(browser, pages.url)
  const given = { baseUrl: service.baseUrl, token: api.token, board_id: board.id, ...more }
  const mount = async () => {
    await app.page.evaluate(script)
    await app.page.evaluate(`lockstep.mount(${JSON.stringify(given)})`)
  }
  await mount()
  const show = (board_id: string | undefined) =>
    app.page.evaluate(`lockstep.render(${JSON.stringify({ ...given, board_id })})`)
  return { ...app, mount, show }
}
const live = (page: Page) => page.waitForSelector('main[data-phase=live]')
const handed = (page: Page, text: string) => page.waitForSelector(`#handed li:text-is("${text}")`)
const change = (page: Page, name: string, input: object) =>
  page.evaluate(`lockstep.board().change('${name}', ${JSON.stringify(input)}); undefined`)
const addCard = ({ id, owner, columns }: TestBoard, title: string) =>
  owner.api.call('createCard', { params: { board_id: id, column_id: columns[0].id }, body: { title } })

test('[REACT-1] a change is shown immediately on its page, and appears on the other', async () => {
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
  expect(await one.page.evaluate('lockstep.board().canRedo')).toBe(true)
  await one.page.evaluate('lockstep.board().redo(); undefined')
  await handed(other.page, 'from one')
  expect(await one.page.evaluate('lockstep.board().canRedo')).toBe(false)
  expect([...one.errors, ...other.errors]).toEqual([])
})

test('[REACT-2] all components of a page share one board, even in StrictMode', async () => {
  const board = await service.board()
  await addCard(board, 'card')
  const { page, sockets, requests, errors } = await open(board.owner, board, { isStrict: true })
  await live(page)
  await page.waitForSelector('#found li:text-is("card")')
  expect(sockets).toHaveLength(1)
  expect(requests.filter((url) => url.endsWith(`/boards/${board.id}`))).toHaveLength(1)
  expect(errors).toEqual([])
})

test('[REACT-3] after the last component unmounts, no timer and no WebSocket is left; mounting again reconnects', async () => {
  const board = await service.board()
  const { page, sockets, mount } = await open(board.owner, board, { isStrict: true })
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

test('[REACT-4] a component rerenders only when its card changes, with props and with a selector', async () => {
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

test('[REACT-5] a rejected change is in failedChanges with its text until it is dismissed', async () => {
  const board = await service.board()
  const card = await addCard(board, 'card')
  const { page } = await open(board.owner, board)
  await live(page)
  await handed(page, 'card')
  // Only the service checks the length of a title.
  await change(page, 'updateCard', { card_id: card.id, title: 'long '.repeat(1_000) })
  await page.waitForFunction('lockstep.board().failedChanges.length === 1')
  await handed(page, 'card')
  const [failed] = (await page.evaluate('lockstep.board().failedChanges')) as { key: string; text: string }[]
  expect(failed?.text).toContain('long long')
  await page.evaluate(`lockstep.board().dismiss('${failed?.key}')`)
  await page.waitForFunction('lockstep.board().failedChanges.length === 0')
})

test('[REACT-6] with a storage, unsent changes are pending after a reload and then sent', async () => {
  const board = await service.board()
  const { page, mount } = await open(board.owner, board, { userId: board.owner.id })
  await live(page)
  const blocked = '**/columns/*/cards'
  await page.route(blocked, (route) => route.abort())
  await change(page, 'createCard', { column_id: board.columns[0].id, title: 'unsent' })
  await handed(page, 'unsent')
  await page.reload()
  await mount()
  await page.waitForFunction('lockstep.board().pending.length === 1')
  await page.unroute(blocked)
  await page.waitForFunction('lockstep.board().status.phase === "live" && lockstep.board().pending.length === 0')
  expect((await board.events()).filter(({ type }) => type === 'card.created')).toHaveLength(1)
})

test('[REACT-8] the latest listener gets every event once, and whether this page caused it, even in StrictMode', async () => {
  const board = await service.board()
  const { page, errors } = await open(board.owner, board, { isStrict: true })
  await live(page)
  const received = async (count: number) => {
    await page.waitForFunction(`lockstep.events().length >= ${count}`)
    return (await page.evaluate('lockstep.events()')) as [string, boolean, number][]
  }
  await change(page, 'updateBoard', { title: 'Mine' })
  const [own] = await received(1)
  expect(own?.slice(0, 2)).toEqual(['board.updated', true])
  // The same user in another client, and another user.
  await board.owner.api.call('updateBoard', { params: { board_id: board.id }, body: { title: 'From elsewhere' } })
  await page.waitForSelector('h1:text-is("From elsewhere")')
  const { api } = board.member
  const column = { params: { board_id: board.id, column_id: board.columns[0].id }, body: { title: 'Theirs' } }
  await api.call('createCard', column)
  const all = await received(3)
  expect(all.map(([type, isOwn]) => [type, isOwn])).toEqual([
    ['board.updated', true],
    ['board.updated', false],
    ['card.created', false],
  ])
  expect(all[2]?.[2]).toBeGreaterThan(own?.[2] ?? 0)
  expect(errors).toEqual([])
})

test('[REACT-8] an event listener alone keeps the board open', async () => {
  const board = await service.board()
  const { page, sockets } = await open(board.owner, board, { isStrict: true, isHeadless: true })
  for (let i = 0; (await page.evaluate('lockstep.events().length')) === 0 && i < 50; i++) {
    await addCard(board, 'card')
    await page.waitForTimeout(100)
  }
  expect(await page.evaluate('lockstep.events()[0]')).toEqual(['card.created', false, 0, 'card'])
  expect(sockets).toHaveLength(1)
  const closed = sockets[0]?.waitForEvent('close')
  await page.evaluate('lockstep.unmount()')
  await closed
})

test.each(['with a storage', 'without a storage'])(
  '[REACT-9] %s, changes made while logged out are sent once when the same user has logged in and retries',
  async (how) => {
    const board = await service.board()
    const more = how === 'with a storage' ? { userId: board.owner.id } : {}
    const { page } = await open(board.owner, board, { isStrict: true, ...more })
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
    const delivered = (await page.evaluate('lockstep.events()')) as [string, boolean][]
    expect(delivered.map(([type, isOwn]) => [type, isOwn])).toEqual([
      ['card.created', false],
      ['card.created', true],
      ['card.created', true],
    ])
    await page.evaluate('lockstep.unmount()')
    expect(await page.evaluate('lockstep.openTimers()')).toBe(0)
  },
)

test('[REACT-10] many changes of others render at most every 50 ms, and every event is delivered in order', async () => {
  const board = await service.board()
  const { page } = await open(board.owner, board)
  await live(page)
  const titles = Array.from({ length: 60 }, (_, i) => `title ${i}`)
  const start = performance.now()
  const before = (await page.evaluate('lockstep.rendered().board')) as number
  for (const title of titles)
    await board.owner.api.call('updateBoard', { params: { board_id: board.id }, body: { title } })
  await page.waitForFunction(`lockstep.events().length >= ${titles.length}`)
  const after = (await page.evaluate('lockstep.rendered().board')) as number
  const intervals = Math.ceil((performance.now() - start) / 50)
  expect(after - before).toBeLessThanOrEqual(intervals + 1)
  expect(after - before).toBeLessThan(titles.length)
  const events = (await page.evaluate('lockstep.events()')) as [string, boolean, number, string][]
  expect(events.map(([, , , title]) => title)).toEqual(titles)
  await page.waitForSelector('h1:text-is("title 59")')
  // The user's own change does not wait.
  const shown = await page.evaluate(`
    lockstep.board().change('updateBoard', { title: 'one' })
    lockstep.board().change('updateBoard', { title: 'two' })
    Promise.resolve().then(() => document.querySelector('h1').textContent)`)
  expect(shown).toBe('two')
  // Neither does undoing one exact change.
  await board.owner.api.call('updateBoard', { params: { board_id: board.id }, body: { description: 'busy' } })
  await page.waitForFunction(`lockstep.board().view.description === 'busy'`)
  const undone = await page.evaluate(`
    globalThis.made = lockstep.board().change('updateBoard', { title: 'three' })
    globalThis.made.undo()
    Promise.resolve().then(() => document.querySelector('h1').textContent)`)
  expect(undone).toBe('two')
})

const Phase = ({ api }: { api: Api }) => createElement('p', null, useBoard(api, 'board').status.phase)

test('[REACT-7] server-side rendering opens nothing', async () => {
  const requested: string[] = []
  const api: Api = { baseUrl: '', request: async (name) => ({ data: requested.push(name) }) }
  expect(renderToString(createElement(Phase, { api }))).toBe('<p>connecting</p>')
  await new Promise(setImmediate)
  expect(requested).toEqual([])
})

test('[REACT-12] without the id of a board the hooks wait, and open nothing until there is one', async () => {
  const board = await service.board()
  await addCard(board, 'card')
  const { page, sockets, requests, errors, show } = await open(board.owner, board, {
    board_id: undefined,
    isStrict: true,
  })
  await page.waitForSelector('main[data-phase=connecting]', { state: 'attached' })
  expect(await page.evaluate("lockstep.board().view === undefined && lockstep.board().change.name === 'change'")).toBe(
    true,
  )
  expect([requests.filter((url) => url.startsWith(service.baseUrl)), sockets]).toEqual([[], []])

  await show(board.id)
  await live(page)
  await page.waitForSelector('#found li:text-is("card")')
  expect(sockets).toHaveLength(1)

  await show(undefined)
  await page.waitForSelector('main[data-phase=connecting]', { state: 'attached' })
  await page.waitForSelector('#found li', { state: 'detached' })
  await expect.poll(() => sockets[0]?.isClosed()).toBe(true)
  expect(errors).toEqual([])
})

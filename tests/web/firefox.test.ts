// @module-tag journey
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { listenOnFreePort } from '@lockstep/testing/ports'
import { PASSWORD } from '@lockstep/testing/service'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEnvironment, type TestEnvironment } from './environment.ts'

let env: TestEnvironment
let browser: Browser
beforeAll(async () => {
  env = await openEnvironment()
  browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: '/usr/bin/firefox-esr',
    headless: true,
    // Firefox asks its maker's servers for settings and updates.
    extraPrefsFirefox: { 'app.normandy.enabled': false, 'datareporting.policy.dataSubmissionEnabled': false },
  })
})
afterAll(async () => {
  await browser.close()
  await env.close()
})

/** A network connection to the service that can be cut and restored. */
async function openConnection(target: string) {
  const { port: targetPort } = new URL(target)
  const sockets = new Set<Socket>()
  const accept = (socket: Socket) => {
    const other = connect(Number(targetPort), '127.0.0.1')
    for (const each of [socket, other]) {
      sockets.add(each)
      each.on('error', () => {})
      each.on('close', () => sockets.delete(each))
    }
    socket.pipe(other).pipe(socket)
  }
  let server: Server = createServer(accept)
  const port = await listenOnFreePort(server)
  const cut = async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  }
  const restore = async () => {
    server = createServer(accept).listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  return { url: `http://127.0.0.1:${port}`, cut, restore }
}

/** Types into the field with this label. */
async function type(page: Page, label: string, text: string) {
  const field = await page.waitForSelector(`aria/${label}`)
  await field?.type(text)
}

test('[WEB-146] in Firefox a user logs in, adds, moves and edits a card offline, and everything is sent after the reconnect', async () => {
  const board = await env.createBoard({ 'To do': ['one', 'two'], Doing: [] })
  const connection = await openConnection(env.service.baseUrl)
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  await page.goto(`${connection.url}/app/login`)
  await type(page, 'Email', board.ada.email)
  await type(page, 'Password', PASSWORD)
  await page.keyboard.press('Enter')
  await page.waitForSelector('a.tile')
  await page.click('a.tile')
  await page.waitForSelector(`[data-card-id="${board.cards['one']}"]`)

  // Online: add a card, and move another one to the next column.
  await page.click('.column-add')
  await page.keyboard.type('three')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.focus(`[data-card-id="${board.cards['one']}"] a`)
  await page.keyboard.down('Shift')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.up('Shift')
  const titles = async () => {
    const { columns } = await board.ada.api.call('getBoard', { params: { board_id: board.id } })
    return columns.map(({ cards }) => cards.map(({ title }) => title))
  }
  await expect.poll(titles).toEqual([['two', 'three'], ['one']])

  // Offline: rename a card. The change is queued.
  await connection.cut()
  await page.focus(`[data-card-id="${board.cards['two']}"] a`)
  await page.keyboard.press('e')
  await page.keyboard.type('renamed')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.banner')
  expect(await titles()).toEqual([['two', 'three'], ['one']])

  await connection.restore()
  await expect.poll(titles, { timeout: 30_000 }).toEqual([['renamed', 'three'], ['one']])
  await page.waitForSelector('.banner', { hidden: true })
  expect(errors).toEqual([])
  await context.close()
  await connection.cut()
}, 120_000)

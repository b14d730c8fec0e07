import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, WebSocket } from 'playwright-core'

/** Serves an empty page from its own origin, like a developer's bundler. */
export async function startPages() {
  const html = '<!doctype html><link rel="icon" href="data:,"><div id="root"></div>'
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url, stop }
}

/** Opens a page and records its WebSockets, requests and errors. */
export async function openApp(browser: Browser, url: string) {
  const page = await browser.newPage()
  const sockets: WebSocket[] = []
  const requests: string[] = []
  const errors: string[] = []
  page.on('websocket', (socket) => sockets.push(socket))
  page.on('request', (request) => request.method() !== 'OPTIONS' && requests.push(request.url()))
  page.on('pageerror', (error) => errors.push(error.stack ?? error.message))
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  await page.goto(url)
  return { page, sockets, requests, errors }
}

import { type Browser, chromium } from 'playwright-core'

/** Debian's chromium, which asks nobody for anything by itself. */
export const openBrowser = () =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

/** A page that notes what goes wrong on it and what it asks of other hosts. */
export async function openPage(browser: Browser, base_url: string, path: string) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const foreign: string[] = []
  const errors: string[] = []
  const own = [base_url, base_url.replace('http', 'ws')]
  const note = (url: string) => {
    if (!/^(data|blob):/.test(url) && !own.some((start) => url.startsWith(`${start}/`))) foreign.push(url)
  }
  // What the page's policy forbids fails before it leaves the browser, and never finishes.
  page.on('requestfinished', (request) => note(request.url()))
  page.on('websocket', (socket) => note(socket.url()))
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(base_url + path)
  return { page, foreign, errors }
}

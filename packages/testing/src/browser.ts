import { type Browser, chromium } from 'playwright-core'

/**
 * Debian's Chromium, which makes no requests on its own. The headless build uses a third less CPU time than the full
 * browser, but has no back/forward cache, and does not open downloads as new tabs. `hostName` is resolved to this machine.
 */
export const openBrowser = ({ hasPageCache = false, isWhole = false, hostName = '' } = {}) =>
  chromium.launch({
    executablePath: isWhole || hasPageCache ? '/usr/bin/chromium' : '/usr/bin/chromium-headless-shell',
    ...(hasPageCache && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...(hostName ? [`--host-resolver-rules=MAP ${hostName} 127.0.0.1`] : []),
    ],
  })

/** Opens a page, and records its errors and its requests to other hosts. */
export async function openPage(browser: Browser, baseUrl: string, path: string) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const foreign: string[] = []
  const errors: string[] = []
  const own = [baseUrl, baseUrl.replace('http', 'ws')]
  const note = (url: string) => {
    if (!/^(data|blob):/.test(url) && !own.some((start) => url.startsWith(`${start}/`))) foreign.push(url)
  }
  // Also those that the content security policy forbids, which never finish.
  page.on('request', (request) => note(request.url()))
  page.on('websocket', (socket) => note(socket.url()))
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    const text = message.text()
    // The browser reports each 4xx.
    const isStatus = text.startsWith('Failed to load resource: the server responded with')
    if (message.type() === 'error' && !isStatus) errors.push(text)
  })
  await page.goto(baseUrl + path)
  return { page, foreign, errors }
}

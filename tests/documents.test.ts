import { readFileSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PASSWORD, startService, type TestService } from '../packages/server/testing/service.ts'

let service: TestService
let browser: Browser
beforeAll(async () => {
  service = await startService()
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
})
afterAll(async () => {
  await browser.close()
  await service.stop()
})

/** A page that notes what goes wrong on it and what it asks of other hosts. */
async function open(path: string) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const foreign: string[] = []
  const errors: string[] = []
  // What the page's policy forbids fails before it leaves the browser, and never finishes.
  page.on('requestfinished', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(service.base_url)) foreign.push(request.url())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(service.base_url + path)
  return { page, foreign, errors }
}

describe('documents', () => {
  test('[DOC-1] /openapi.json is the document under docs/api', async () => {
    const { body } = await service.anybody.request('GET', '/openapi.json')
    expect(body).toEqual(JSON.parse(readFileSync('docs/api/openapi.json', 'utf8')))
  })

  test('[DOC-2] / leads to /docs', async () => {
    const { status, headers } = await service.anybody.request('GET', '/')
    expect([status, headers.get('location')]).toEqual([302, '/docs'])
  })

  test('[DOC-2] /docs logs in with a password and calls the API, and loads nothing from elsewhere', async () => {
    const { email, username } = await service.user()
    const { page, foreign, errors } = await open('/docs')
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    const dialog = page.locator('.auth-container').filter({ hasText: 'OAuth2' })
    await dialog.locator('#oauth_username').fill(email)
    await dialog.locator('#oauth_password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click()
    await dialog.getByRole('button', { name: 'Remove authorization' }).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()

    const me = page.locator('#operations-authentication-getMe')
    await me.locator('.opblock-summary-control').click()
    await me.getByRole('button', { name: 'Try it out' }).click()
    await me.getByRole('button', { name: 'Execute' }).click()
    await expect.poll(() => me.locator('.live-responses-table').textContent(), { timeout: 10_000 }).toContain(username)
    expect(foreign).toEqual([])
    expect(errors).toEqual([])
  })

  test('[DOC-2] /redoc shows every operation, and reaches nobody else', async () => {
    const { page, foreign, errors } = await open('/redoc')
    await page.getByText('cards', { exact: true }).first().click()
    await page.getByText('Move a card within its column or to another one').first().waitFor()
    expect(foreign).toEqual([])
    expect(errors).toEqual([])
  })
})

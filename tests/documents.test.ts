import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBrowser, openPage } from '../packages/server/testing/browser.ts'
import { PASSWORD, startService, type TestService } from '../packages/server/testing/service.ts'

let service: TestService
let browser: Browser
beforeAll(async () => {
  service = await startService()
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
})

const open = (path: string) => openPage(browser, service.base_url, path)

describe('documents', () => {
  test('[DOC-1] /openapi.json is the document under docs/api', async () => {
    const { body } = await service.anybody.request('GET', '/openapi.json')
    expect(body).toEqual(JSON.parse(readFileSync('docs/api/openapi.json', 'utf8')))
  })

  test('[DOC-2] / leads to the web client', async () => {
    const { status, headers } = await service.anybody.request('GET', '/')
    expect([status, headers.get('location')]).toEqual([302, '/app'])
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

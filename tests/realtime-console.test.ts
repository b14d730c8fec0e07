import { readFileSync } from 'node:fs'
import { DOCUMENTED_HOST } from '@lockstep/contract/asyncapi'
import { openBrowser, openPage } from '@lockstep/testing/browser'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

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

const open = (path: string) => openPage(browser, service.baseUrl, path)

/** The rows of the table, oldest first: number, type and message. */
async function rows(page: Page): Promise<[string, string, string][]> {
  const all = await page.locator('#frames tr').all()
  const texts = await Promise.all(all.map((row) => row.locator('td').allTextContents()))
  return texts.map(([, seq = '', type = '', message = '']): [string, string, string] => [seq, type, message]).reverse()
}
/** The events that the page took as seen, by number. */
const taken = async (page: Page) =>
  (await rows(page)).filter(([, type, message]) => type.includes('.') && message.startsWith('{')).map(([seq]) => seq)

describe('the documents of the socket', () => {
  test('[DOC-6] /asyncapi.json is the document under docs/api', async () => {
    const { text } = await service.anybody.request('GET', '/asyncapi.json')
    const { host } = new URL(service.baseUrl)
    const { servers, ...rest } = JSON.parse(text) as Record<string, object>
    expect(Object.values(servers ?? {}).map(({ variables }) => variables.host.default)).toEqual([host, host])
    expect(rest).toMatchObject({ asyncapi: '3.0.0' })
    expect(text.replaceAll(`"${host}"`, JSON.stringify(DOCUMENTED_HOST))).toBe(
      JSON.stringify(JSON.parse(readFileSync('docs/api/asyncapi.json', 'utf8'))),
    )
    const odd = await service.anybody.request('GET', '/asyncapi.json', { headers: { host: 'a"b' } })
    expect(odd.text).not.toContain('a\\"b')
  })

  test('[DOC-6] /redoc/realtime shows the messages, and loads nothing from other hosts', async () => {
    const { page, foreign, errors } = await open('/redoc/realtime')
    await page.getByText('One socket for each board').first().waitFor()
    await page.getByText('No pong arrived within 10 seconds').first().waitFor()
    // Messages are rendered when they are scrolled into view.
    await page.getByText('Servers').last().scrollIntoViewIfNeeded()
    await page.mouse.wheel(0, 10_000)
    await page.getByText('The first message if sequence numbers were requested').first().waitFor()
    expect(foreign).toEqual([])
    expect(errors).toEqual([])
    await page.close()
  })

  test('[DOC-6] /docs/realtime can drop a socket and skip an event, and shows how the gap is filled', async () => {
    const { email } = await service.user()
    const { page, foreign, errors } = await open('/docs/realtime')
    const press = (name: string) => page.getByRole('button', { name }).click()
    const state = () => page.locator('#state').textContent()
    const position = () => page.locator('#position').textContent()

    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await press('Log in')
    await press('New board')
    await page.locator('option').waitFor({ state: 'attached' })
    await press('Connect')
    await expect.poll(state).toBe('connected')
    await press('Change the board')
    await expect.poll(position).toBe('1.1')

    // A change without a socket is delivered after reconnecting.
    await press('Drop the socket')
    await press('Change the board')
    await expect.poll(position, { timeout: 10_000 }).toBe('1.2')
    expect((await rows(page)).map(([, type]) => type)).toContain('closed 4000')

    // An event that is skipped is missed at the next one, and fetched.
    await press('Skip the next event')
    await press('Change the board')
    await page.getByText('skipped, as if it had been lost').waitFor()
    await press('Change the board')
    await expect.poll(position, { timeout: 10_000 }).toBe('1.4')
    expect(await rows(page)).toContainEqual(['', 'gap', '4 came after 2: coming back with since=1.2'])
    await expect.poll(state).toBe('connected')
    expect(await taken(page)).toEqual(['1', '2', '3', '4'])
    expect(await page.locator('#problem').textContent()).toBe('')
    // For docs/pictures, on request.
    const folder = process.env['TEST_PICTURES']
    if (folder) await page.screenshot({ path: `${folder}/realtime-console.png` })
    expect(foreign).toEqual([])
    expect(errors).toEqual([])
    await page.close()
  })

  test('[DOC-6] the console shows errors', async () => {
    const { page, errors } = await open('/docs/realtime')
    await page.getByLabel('E-mail').fill('nobody@example.com')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Log in' }).click()
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/\w+/)
    expect(await page.locator('#panel').isVisible()).toBe(false)
    expect(errors).toEqual([])
    await page.close()
  })
})

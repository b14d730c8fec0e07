import { readFileSync } from 'node:fs'
import { openBrowser, openPage } from '@lockstep/testing/browser'
import { judgeBy } from '@lockstep/testing/json-schema'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

interface Described {
  description?: string
  responses: Record<number, { $ref: string }>
}
interface OpenApi {
  paths: Record<string, Record<string, Described>>
  components: {
    responses: Record<string, { content: { 'application/json': { schema: { allOf: { required?: string[] }[] } } } }>
  }
}

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

describe('documents', () => {
  test('[DOC-1] [OBS-19] /openapi.json is the document under docs/api, with the commit', async () => {
    const { body } = await service.anybody.request('GET', '/openapi.json')
    const { info, ...rest } = JSON.parse(readFileSync('docs/api/openapi.json', 'utf8'))
    expect(body).toEqual({ ...rest, info: { ...info, 'x-revision': process.env['REVISION'] } })
  })

  test('[DOC-25] the document says which placement a column move requires', async () => {
    const { body } = await service.anybody.request('GET', '/openapi.json')
    const { post } = (body as OpenApi).paths['/columns/{column_id}/move'] as { post: Described }
    expect(post.description).toBe('`position` or `after_id` is required. If both are sent, `after_id` has priority.')
    const { owner, columns } = await service.board()
    const move = (sent: object) =>
      owner.api.request('POST', `/columns/${columns[0].id}/move`, { json: sent }).then(({ status }) => status)
    expect(await Promise.all([{}, { position: null }, { position: 1 }, { after_id: null }].map(move))).toEqual([
      422, 422, 200, 200,
    ])
  })

  test('[DOC-26] the document says what /health returns with 503, and that is what it returns', async () => {
    const { body } = await service.anybody.request('GET', '/openapi.json')
    const { paths, components } = body as OpenApi
    const { get } = paths['/health'] as { get: Described }
    const name = get.responses[503]?.$ref.replace('#/components/responses/', '') ?? ''
    const [problem, , fields] = components.responses[name]?.content['application/json'].schema.allOf ?? []
    expect(problem).toEqual({ $ref: '#/components/schemas/Problem' })
    const lost = await startService({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/lost' })
    const response = await lost.anybody.request('GET', '/health')
    await lost.stop()
    expect(response.status).toBe(503)
    const judge = judgeBy({ ...fields, additionalProperties: false })
    const { detail, code, ...rest } = response.body as Record<string, unknown>
    expect([typeof detail, code]).toEqual(['string', 'unavailable'])
    expect(judge(rest)).toEqual([])
    expect(Object.keys(rest)).toEqual(fields?.required)
  })

  test('[DOC-2] [SEC-12] / and /app redirect to the web client, inside the scope of its service worker', async () => {
    for (const path of ['/', '/app']) {
      const { status, headers } = await service.anybody.request('GET', path)
      expect([status, headers.get('location')]).toEqual([302, '/app/'])
    }
    for (const path of ['/app/', '/app/?q=']) expect((await service.anybody.request('GET', path)).status).toBe(200)
  })

  test('[DOC-27] with API_DOCS=off the pages are unknown paths, and the documents stay', async () => {
    const off = await startService({ API_DOCS: 'off' })
    const statusOf = async (path: string) => (await off.anybody.request('GET', path)).status
    const pages = [
      '/docs',
      '/docs/',
      '/docs/static/swagger-ui.css',
      '/docs/json',
      '/docs/realtime',
      '/docs/realtime.js',
    ]
    for (const path of [...pages, '/redoc', '/redoc/realtime', '/redoc/redoc.standalone.js', '/api/docs'])
      expect([path, await statusOf(path)]).toEqual([path, 404])
    expect([await statusOf('/openapi.json'), await statusOf('/asyncapi.json')]).toEqual([200, 200])
    await off.stop()
  })

  test('[SEC-6] /docs keeps the token over a reload in development, and not in production', async () => {
    const production = await startService({ ENVIRONMENT: 'production' })
    const keeps = async ({ anybody }: TestService) => {
      const { text } = await anybody.request('GET', '/docs/static/swagger-initializer.js')
      return /"persistAuthorization":\s*(\w+)/.exec(text)?.[1]
    }
    expect([await keeps(service), await keeps(production)]).toEqual(['true', 'false'])
    await production.stop()
  })

  test('[DOC-2] /docs logs in with a password and calls the API, and loads nothing from other hosts', async () => {
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

  test('[APIDOC-11] Authorize on /docs begins with the password, and says in words that it was wrong', async () => {
    const { page, foreign, errors } = await open('/docs')
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    const schemes = page.locator('.auth-container h4')
    await schemes.first().waitFor()
    expect((await schemes.allTextContents()).map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
      'password (OAuth2, password)',
      'bearer (http, Bearer)',
    ])
    const focused = page.locator(':focus')
    expect(await focused.getAttribute('id')).toBe('oauth_username')
    expect(await page.evaluate("document.querySelector('.modal-ux-content').scrollTop")).toBe(0)
    await page.keyboard.type('nobody@example.com')
    await page.keyboard.press('Tab')
    expect(await focused.getAttribute('id')).toBe('oauth_password')
    await page.keyboard.type('wrong horse')
    await page.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click()
    const shown = await page.locator('.auth-container .errors').textContent()
    expect(shown).toContain('Incorrect e-mail address or password.')
    expect(shown).not.toContain('Unauthorized')
    expect(foreign).toEqual([])
    expect(errors).toEqual([])
  })

  test('[APIDOC-10] /docs and /redoc name one server, which is the one that they come from', async () => {
    const { host } = new URL(service.baseUrl)
    const docs = await open('/docs')
    const server = docs.page.locator('.servers option')
    await server.first().waitFor({ state: 'attached' })
    expect(await server.allTextContents()).toEqual(['/ - The service that this document comes from.'])
    const redoc = await open('/redoc')
    await redoc.page.getByText('The service that this document comes from.').waitFor()
    const text = (await redoc.page.locator('body').innerText()).split('\nServers\n')[1] ?? ''
    expect(text.match(/https?:\/\/\S*/g)).toEqual([`http://${host}`])
    // The logo is on another host. Its link remains in the page, hidden.
    expect(await redoc.page.getByText('API docs by').isVisible()).toBe(false)
    expect([...docs.foreign, ...redoc.foreign, ...docs.errors, ...redoc.errors]).toEqual([])
  })

  test('[DOC-2] /redoc shows every operation, and loads nothing from other hosts', async () => {
    const { page, foreign, errors } = await open('/redoc')
    await page.getByText('cards', { exact: true }).first().click()
    await page.getByText('Move a card within its column or to another column').first().waitFor()
    expect(foreign).toEqual([])
    expect(errors).toEqual([])
  })
})

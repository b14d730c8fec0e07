import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardOf } from './board-hands.ts'
import { finish } from './pages.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('[WEB-15] every page comes with a policy that allows no inline script, no eval, no other origin and no frame around it', async () => {
  for (const path of ['/app', '/app/login', '/app/boards', '/app/b/anything/c/anything']) {
    const { headers } = await stage.service.anybody.request('GET', path)
    const policy = new Map(
      (headers.get('content-security-policy') ?? '').split('; ').map((part) => {
        const [name = '', ...sources] = part.split(' ')
        return [name, sources]
      }),
    )
    expect(policy.get('default-src'), path).toEqual(["'none'"])
    for (const name of ['script-src', 'style-src', 'connect-src', 'font-src', 'worker-src'])
      expect(policy.get(name), `${path} ${name}`).toEqual(["'self'"])
    expect(policy.get('frame-ancestors')).toEqual(["'none'"])
    expect(policy.get('base-uri')).toEqual(["'none'"])
    expect(policy.get('require-trusted-types-for')).toEqual(["'script'"])
    const all = [...policy.values()].flat()
    expect(all.filter((source) => /unsafe|\*|https?:/.test(source))).toEqual([])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})

test('[WEB-15] the browser holds to it: text becomes neither script nor HTML', async () => {
  const board = await stage.board({ 'To do': ['one'] })
  const page = await stage.enter(board.ada, board.path)
  // In a task of the page's own: what a debugger runs is not held to the policy.
  const tried = await page.evaluate(`new Promise((resolve) => setTimeout(() => {
    const tries = {
      eval: () => (0, eval)('1'),
      html: () => { document.createElement('div').innerHTML = '<b>x</b>' },
      script: () => { document.createElement('script').text = 'globalThis.broken = 1' },
      handler: () => { document.body.setAttribute('onclick', 'globalThis.broken = 1') },
      policy: () => globalThis.trustedTypes.createPolicy('mine', {}),
    }
    resolve(Object.entries(tries).flatMap(([name, run]) => { try { run(); return [name] } catch { return [] } }))
  }))`)
  expect(tried).toEqual([])
  await page.context().close()
})

test('[WEB-16] no script can read what the session is made of, and the page asks nobody but its own service', async () => {
  const board = await stage.board({ 'To do': ['one'] })
  const page = await stage.enter(board.ada, board.path)
  // A change that waits is kept in the browser, too: it must not carry the session along.
  await cardOf(page, 'one').locator('.card-title').focus()
  await page.keyboard.press('n')
  await page.keyboard.type('two')
  await page.keyboard.press('Enter')
  await page.keyboard.type('a draft')
  await stage.agreed(board, page)

  const cookies = await page.context().cookies()
  expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
    { name: 'svc_auth', httpOnly: true, sameSite: 'Lax' },
  ])
  const readable = (await page.evaluate(`Promise.all([
    document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.documentElement.outerHTML,
    indexedDB.databases().then((all) => JSON.stringify(all)),
  ])`)) as string[]
  expect(readable[0]).toBe('')
  for (const { value } of cookies) expect(readable.filter((text) => text.includes(value))).toEqual([])
  expect(readable.filter((text) => /eyJ[\w-]+\.[\w-]+\.[\w-]+/.test(text))).toEqual([])
  await finish(page)
})

import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openBrowser } from '@lockstep/testing/browser'
import { startScenarioEnvironment } from '@lockstep/testing/client/scenario-environment'
import { type ScenarioContext, scenarios } from '@lockstep/testing/client/scenarios'
import { nodeVersions } from '@lockstep/testing/node-versions'
import { startService } from '@lockstep/testing/service'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** Runs the scenarios of client.test.ts in the other supported environments: a browser, and other Node versions. */
let environment: Awaited<ReturnType<typeof startScenarioEnvironment>>
beforeAll(async () => {
  environment = await startScenarioEnvironment()
})
afterAll(() => environment.stop())

async function bundle(format: 'iife' | 'esm', file = '../../testing/src/client/scenarios.ts'): Promise<string> {
  const entry = fileURLToPath(new URL(file, import.meta.url))
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format,
    globalName: 'lockstep',
    target: 'es2022',
  })
  return outputFiles[0]?.text ?? ''
}

describe('in chromium', () => {
  let browser: Browser
  let page: Page
  let context: ScenarioContext
  const names = Object.keys(scenarios)
  beforeAll(async () => {
    browser = await openBrowser()
    context = await environment.newContext()
    // A different origin than the service, like a developer's bundler.
    page = await open(context.faultyUrl)
  })
  afterAll(() => browser.close())

  test.concurrent.each(names)('[SDK-12] %s', (name) => run(page, `scenarios[${JSON.stringify(name)}]`, context))

  /** Opens another page with the scenarios loaded. */
  const open = async (url: string) => {
    const opened = await browser.newPage()
    await opened.goto(url)
    await opened.evaluate(`${await bundle('iife')}; globalThis.lockstep = lockstep`)
    return opened
  }

  test('[SDK-8] with cookie authentication, the page has no token, the session survives a reload, and its end is reported', async () => {
    await run(await open(`${environment.service.baseUrl}/docs`), 'cookieScenario', context)
  })

  test('[SYNC-11] a dead connection is replaced immediately when the network is back or the page becomes visible', async () => {
    await run(page, 'wakeScenario', context)
  })

  test('[SDK-21] a call to another origin that fails says that the service may not allow the origin', async () => {
    const strict = await startService({ CORS_ORIGINS: 'https://boards.example.com' }, { beside: environment.service })
    try {
      const here = await browser.newPage()
      await here.goto(`${strict.baseUrl}/docs`)
      const there = await browser.newPage()
      await there.goto(context.faultyUrl)
      const script = `${await bundle('iife', '../src/index.ts')}
        lockstep.createClient({ baseUrl: '${strict.baseUrl}', maxTries: 1 }).getLiveness().then(() => 'allowed', (e) => e.message)`
      expect(await here.evaluate(script)).toBe('allowed')
      expect(await there.evaluate(script)).toBe(
        `getLiveness: The service could not be reached, or does not allow this origin (CORS_ORIGINS). (network_failed, ${strict.baseUrl}/live)`,
      )
      await here.context().setOffline(true)
      expect(await here.evaluate(script)).toContain('The service could not be reached. (')
    } finally {
      await strict.stop()
    }
  })

  test('[SDK-10] on a slow connection, progress is reported during the upload', async () => {
    const slow = await open(context.faultyUrl)
    const devtools = await slow.context().newCDPSession(slow)
    const conditions = { offline: false, latency: 1, downloadThroughput: 1_000_000, uploadThroughput: 500_000 }
    await devtools.send('Network.emulateNetworkConditions', conditions)
    const reported = await slow.evaluate<number[]>(`lockstep.progressOfUpload(${JSON.stringify(context)})`)
    expect(reported.length).toBeGreaterThan(3)
  })
})

test('[SDK-12] a bundle with HTTP calls only contains no WebSocket code', async () => {
  expect(await bundle('esm', '../src/index.ts')).not.toMatch(/WebSocket|node:/)
})

/** Fails the test if the scenario fails in the page. */
const run = async (page: Page, expression: string, context: ScenarioContext) => {
  const code = `lockstep.${expression}(${JSON.stringify(context)}).then(() => 'passed', (e) => e.stack)`
  expect(await page.evaluate(code)).toBe('passed')
}

test.each(Object.entries(nodeVersions()))(
  '[SDK-12] in Node.js %s as a plain process, which exits on its own',
  async (version, node) => {
    const folder = fileURLToPath(new URL('../../../.test-output/client/', import.meta.url))
    mkdirSync(folder, { recursive: true })
    const context = await environment.newContext()
    // Node.js 20 has no WebSocket. There live boards poll, which the tests of the packed package cover.
    const names = Object.keys(scenarios).filter((name) => !version.startsWith('20.') || name.startsWith('[SDK'))
    const code = `${await bundle('esm')}
const context = ${JSON.stringify(context)}
const results = await Promise.allSettled(Object.entries(scenarios).filter(([name]) => ${JSON.stringify(names)}.includes(name)).map(async ([name, scenario]) => {
  await scenario(context).catch((error) => { throw new Error(name, { cause: error }) })
}))
for (const { reason } of results) if (reason) console.log(reason)
console.log(process.version, results.filter(({ status }) => status === 'fulfilled').length, 'passed')
`
    writeFileSync(`${folder}scenarios.mjs`, code)
    const { stdout, stderr } = await promisify(execFile)(node, [`${folder}scenarios.mjs`], { timeout: 80_000 })
    expect(stdout + stderr).toBe(`v${version} ${names.length} passed\n`)
  },
  90_000,
)

import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openBrowser } from '@lockstep/testing/browser'
import { type Setting, scenarios } from '@lockstep/testing/client/scenarios'
import { startSetting } from '@lockstep/testing/client/setting'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** The scenarios of client.test.ts, in the other places where the client must work: a browser, and older Nodes. */
let started: Awaited<ReturnType<typeof startSetting>>
beforeAll(async () => {
  started = await startSetting()
})
afterAll(() => started.stop())

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
  let setting: Setting
  const names = Object.keys(scenarios)
  beforeAll(async () => {
    browser = await openBrowser()
    setting = await started.setting()
    // Of another origin than the service, as a developer has it.
    page = await open(setting.faulty_url)
  }, 60_000)
  afterAll(() => browser.close())

  test.concurrent.each(names)('[SDK-12] %s', (name) => run(page, `scenarios[${JSON.stringify(name)}]`, setting))

  /** Another page with the scenarios on it. */
  const open = async (url: string) => {
    const opened = await browser.newPage()
    await opened.goto(url)
    await opened.evaluate(`${await bundle('iife')}; globalThis.lockstep = lockstep`)
    return opened
  }

  test('[SDK-8] a session in a cookie needs no token in the page, lasts over a reload, and tells its end', async () => {
    await run(await open(`${started.service.base_url}/docs`), 'cookieScenario', setting)
  })

  test('[SYNC-11] a line that died is not waited for when the network is back, or the page is looked at again', async () => {
    await run(page, 'wakeScenario', setting)
  })

  test('[SDK-10] on a slow line, progress is told while the file is on its way', async () => {
    const slow = await open(setting.faulty_url)
    const devtools = await slow.context().newCDPSession(slow)
    const line = { offline: false, latency: 1, downloadThroughput: 1_000_000, uploadThroughput: 500_000 }
    await devtools.send('Network.emulateNetworkConditions', line)
    const told = await slow.evaluate<number[]>(`lockstep.progressOfUpload(${JSON.stringify(setting)})`)
    expect(told.length).toBeGreaterThan(3)
  })
})

test('[SDK-12] who makes calls alone loads nothing of sockets', async () => {
  expect(await bundle('esm', '../src/index.ts')).not.toMatch(/WebSocket|node:/)
})

/** A failure in the page is one of the test. */
const run = async (page: Page, expression: string, setting: Setting) => {
  const code = `lockstep.${expression}(${JSON.stringify(setting)}).then(() => 'passed', (e) => e.stack)`
  expect(await page.evaluate(code)).toBe('passed')
}

/** `TEST_NODES` names further Node binaries, separated by commas. */
const nodes = [process.execPath, ...(process.env['TEST_NODES']?.split(',') ?? [])]

test.each(nodes)(
  '[SDK-12] in %s as a plain process, which ends by itself',
  async (node) => {
    const folder = fileURLToPath(new URL('../../../.test-output/client/', import.meta.url))
    mkdirSync(folder, { recursive: true })
    const setting = await started.setting()
    const code = `${await bundle('esm')}
const setting = ${JSON.stringify(setting)}
const results = await Promise.allSettled(Object.entries(scenarios).map(async ([name, scenario]) => {
  await scenario(setting).catch((error) => { throw new Error(name, { cause: error }) })
}))
for (const { reason } of results) if (reason) console.log(reason)
console.log(process.version, results.filter(({ status }) => status === 'fulfilled').length, 'passed')
`
    writeFileSync(`${folder}scenarios.mjs`, code)
    const { stdout, stderr } = await promisify(execFile)(node, [`${folder}scenarios.mjs`], { timeout: 80_000 })
    expect(stdout + stderr).toMatch(new RegExp(`^v2[46]\\.\\S+ ${Object.keys(scenarios).length} passed\\n$`))
  },
  90_000,
)

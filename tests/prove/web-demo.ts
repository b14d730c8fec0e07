import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../../packages/server/testing/browser.ts'
import { freePort } from '../../packages/server/testing/ports.ts'
import { cardOf } from '../web/board-hands.ts'
import { atMost, collectGoals, told } from './goals.ts'
import type { Progress, Report } from './report.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BOUND_S = 120
const CARD = 'Drag me to Review'

/** From a fresh clone to two browsers that share a board, by the two commands of the README, against the clock. */
export async function prove(progress: Progress): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-clone-'))
  const clone = join(folder, 'lockstep')
  const browser = await openBrowser()
  let demo: ChildProcess | undefined
  try {
    execFileSync('git', ['clone', '--quiet', ROOT, clone])
    // Neither a database nor Redis is named.
    const { DATABASE_URL: _, REDIS_URL: __, ...env } = process.env
    const started = performance.now()
    const seconds = () => (performance.now() - started) / 1000
    progress('npm ci')
    execFileSync('npm', ['ci'], { cwd: clone, env, stdio: 'ignore' })
    const installed = seconds()
    progress('npm run demo')
    demo = spawn('npm', ['run', 'demo', '--', '--port', String(await freePort())], { cwd: clone, env, detached: true })
    const links = await linksOf(demo, progress)
    const ready = seconds()
    const [ada, grace] = await Promise.all(links.map((link) => open(browser, link)))
    if (!ada || !grace) throw new Error('The demo printed no two links')
    await cardOf(ada, CARD).locator('a').first().focus()
    await ada.keyboard.press('Shift+ArrowRight')
    await cardOf(grace, CARD).locator('.card-mark').waitFor()
    const shared = seconds()
    const goals = collectGoals(progress)
    const text = `A fresh clone, \`npm ci\`, \`npm run demo\`, the two links in two browsers; then Ada moves a card and Grace sees it.`
    goals.add('From npm ci to a shared board', text, [
      told('npm ci', installed, 's'),
      told('npm run demo until its links', ready - installed, 's'),
      told('both browsers until one sees what the other does', shared - ready, 's'),
      atMost('in all', shared, BOUND_S, 's'),
    ])
    const { sections, violations } = goals
    return { title: 'The demo', setting: { bound: `${BOUND_S} s` }, sections, violations }
  } finally {
    await browser.close()
    // The whole group: npm passes no signal on.
    if (demo?.pid) {
      const ended = once(demo, 'exit')
      process.kill(-demo.pid, 'SIGTERM')
      await ended
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function linksOf(demo: ChildProcess, progress: Progress): Promise<string[]> {
  let output = ''
  for await (const text of demo.stdout ?? []) {
    output += String(text)
    const links = output.match(/http:\S+\/app\/demo\/\w+/g) ?? []
    if (links.length === 2) return links
  }
  progress(output)
  throw new Error('The demo has ended before it printed its links')
}

async function open(browser: Browser, link: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(link)
  await page.getByText('Live').waitFor()
  return page
}

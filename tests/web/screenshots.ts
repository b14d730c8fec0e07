import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { cardOf, dragTo, startDrag } from './board-page-object.ts'
import { auditAccessibility, type Credentials, logIn, openRecordedPage } from './page-checks.ts'

/** A viewport, and what to do before the screenshot is taken. */
interface Scene {
  name: string
  path: string
  /** Without a login. */
  isPublic?: boolean
  /** Only on a wide viewport with a mouse. */
  isWideOnly?: boolean
  act?: (page: Page) => Promise<unknown>
  /** Runs before the axe audit. */
  end?: (page: Page) => Promise<unknown>
}
/** The service, the user and the boards of the screenshots. */
export interface ScreenshotSetup {
  baseUrl: string
  credentials: Credentials
  /** The demo board, an empty board, and a board of a thousand cards. */
  board_id: string
  emptyId: string
  largeId: string
  /** Another member moves a card of the demo board. */
  moveCardAsGrace: () => Promise<unknown>
}

const menu = (item: string) => async (page: Page) => {
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

const scenes = ({ board_id, moveCardAsGrace, emptyId, largeId }: ScreenshotSetup): Scene[] => {
  const path = `/b/${board_id}`
  const card = (page: Page) => cardOf(page, 'Open me and paste an image').locator('a').first()
  return [
    { name: 'login', path: '/login', isPublic: true },
    {
      name: 'login-error',
      path: '/login',
      isPublic: true,
      act: async (page) => {
        await page.getByLabel('Email').fill('ada@example.com')
        await page.getByLabel('Password', { exact: true }).fill('not it')
        await page.keyboard.press('Enter')
        await page.getByRole('alert').waitFor()
      },
    },
    {
      name: 'register-error',
      path: '/register',
      isPublic: true,
      act: async (page) => {
        await page.getByLabel('Email').fill('ada@example.com')
        await page.getByLabel('Username').fill('another-user')
        await page.getByLabel('Password', { exact: true }).fill('correct horse')
        await page.keyboard.press('Enter')
        await page.locator('[aria-invalid=true]').waitFor()
      },
    },
    { name: 'boards', path: '/boards', act: (page) => page.locator('a.tile').first().waitFor() },
    { name: 'board', path },
    { name: 'board-empty', path: `/b/${emptyId}` },
    { name: 'board-large', path: `/b/${largeId}` },
    {
      name: 'board-dragging',
      path,
      isWideOnly: true,
      act: async (page) => {
        const title = (await page.locator('.column').first().locator('.card-title').first().textContent()) ?? ''
        await startDrag(page, title)
        await dragTo(page, (await page.locator('.column h2').nth(2).textContent()) ?? '', 1)
      },
      end: (page) => page.mouse.up().then(() => undo(page)),
    },
    {
      name: 'board-remote',
      path,
      act: async (page) => {
        await page.waitForTimeout(300)
        await moveCardAsGrace()
        await page.locator('.card-mark').first().waitFor()
      },
    },
    { name: 'board-filtered', path: `${path}?q=nothing+like+this` },
    {
      name: 'board-offline',
      path,
      act: async (page) => {
        await page.context().setOffline(true)
        await page.locator('.banner').waitFor()
        await page.locator('.card-title').first().focus()
        await page.keyboard.press('Shift+ArrowDown')
        await page.locator('.card.is-pending').waitFor()
      },
      end: async (page) => {
        await page.context().setOffline(false)
        await page.locator('.banner.is-good').waitFor()
        await undo(page)
      },
    },
    {
      name: 'card',
      path,
      act: (page) =>
        card(page)
          .click()
          .then(() => page.waitForTimeout(600)),
    },
    {
      name: 'card-editing',
      path,
      act: async (page) => {
        await card(page).click()
        await page.getByRole('region', { name: 'Description' }).getByRole('button').first().click()
        await page.waitForTimeout(400)
      },
    },
    {
      name: 'card-comments',
      path,
      act: async (page) => {
        await cardOf(page, 'Open the other link side by side').locator('a').first().click()
        await page.getByText('it is in my inbox').waitFor()
      },
    },
    { name: 'inbox', path: '/inbox', act: (page) => page.getByText('mentioned you').first().waitFor() },
    { name: 'move', path, act: (page) => card(page).press('m') },
    { name: 'due-date', path, act: (page) => card(page).press('d') },
    {
      name: 'palette',
      path,
      act: async (page) => {
        await page.keyboard.press('Control+k')
        await page.getByRole('dialog').getByRole('combobox').fill('dr')
      },
    },
    {
      name: 'shortcuts',
      path,
      act: (page) => page.keyboard.press('?').then(() => page.getByRole('dialog').waitFor()),
    },
    { name: 'automations', path, act: menu('Automation') },
    { name: 'webhooks', path, act: menu('Webhooks') },
    { name: 'members', path, act: menu('Members') },
    { name: 'activity', path, act: menu('Activity') },
    { name: 'settings', path: '/settings' },
    { name: 'accessibility', path: '/accessibility', isPublic: true },
    { name: 'denied', path: '/b/01a1de03-0000-7000-8000-000000000000' },
  ]
}

/** Undoes the change of a scene, so that the next one shows the same board. */
async function undo(page: Page) {
  await page.keyboard.press('Control+z')
  await page.waitForTimeout(500)
}

const viewports: [name: string, options: BrowserContextOptions][] = [
  ['wide', { viewport: { width: 1440, height: 900 } }],
  ['medium', { viewport: { width: 1024, height: 768 } }],
  ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
]

/** Takes a screenshot of every screen, in light and dark, wide and on a phone, and returns the axe violations. */
export async function takeScreenshots(
  browser: Browser,
  setup: ScreenshotSetup,
  folder: string,
  log: (line: string) => void,
) {
  await mkdir(folder, { recursive: true })
  const found: { name: string; violations: string[] }[] = []
  for (const [viewport, options] of viewports) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const scene of scenes(setup)) {
        if (scene.isWideOnly && viewport === 'phone') continue
        const name = `${scene.name}-${viewport}-${colorScheme}`
        log(name)
        const credentials = scene.isPublic ? undefined : setup.credentials
        const context = await logIn(browser, setup.baseUrl, credentials, { ...options, colorScheme })
        const page = await openRecordedPage(context, setup.baseUrl)
        await page.goto(`${setup.baseUrl}/app${scene.path}`)
        await page.locator('#main:not([aria-busy])').waitFor()
        await scene.act?.(page)
        // Wait for late content and animations.
        await page.waitForTimeout(500)
        await page.screenshot({ path: join(folder, `${name}.png`) })
        await scene.end?.(page)
        found.push({ name, violations: await auditAccessibility(page) })
        await context.close()
      }
    }
  }
  return found
}

const WINDOW = { width: 960, height: 720 }

/** The pages of two users side by side, right after one of them has moved a card. */
export async function screenshotTwoUsers(
  browser: Browser,
  baseUrl: string,
  board_id: string,
  password: string,
  file: string,
) {
  const open = async (name: string) => {
    const context = await logIn(browser, baseUrl, { email: `${name}@example.com`, password }, { viewport: WINDOW })
    const page = await openRecordedPage(context, baseUrl)
    await page.goto(`${baseUrl}/app/b/${board_id}`)
    await page.getByText('Live').waitFor()
    return page
  }
  const [ada, grace] = [await open('ada'), await open('grace')]
  await cardOf(grace, 'Press N to add a card').locator('a').first().focus()
  await grace.keyboard.press('Shift+ArrowRight')
  await ada.locator('.card-mark').first().waitFor()
  // Wait for the move animation.
  await ada.waitForTimeout(400)
  const shots = await Promise.all([ada, grace].map((page) => page.screenshot()))
  const images = shots.map((shot) => `<img width="720" src="data:image/png;base64,${shot.toString('base64')}">`)
  const sheet = await browser.newPage({ viewport: { width: 1496, height: 576 } })
  const style = 'margin:0;padding:18px;display:flex;gap:20px;background:#837c6e'
  await sheet.setContent(`<style>body{${style}}img{border-radius:10px}</style>${images.join('')}`)
  await sheet.screenshot({ path: file })
  await grace.keyboard.press('Control+z')
  for (const page of [ada, grace]) await page.context().close()
}

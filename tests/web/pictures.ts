import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { cardOf, carryTo, liftCard } from './board-hands.ts'
import { auditAccess, logIn, openNoted, type Visitor } from './pages.ts'

/** A screen as it is looked at: where it is, and what is done before the picture is taken. */
interface Scene {
  name: string
  path: string
  /** Nobody is logged in. */
  is_public?: boolean
  /** Only where there is room, or a mouse. */
  is_wide_only?: boolean
  act?: (page: Page) => Promise<unknown>
  /** Ends what cannot be audited while it lasts. */
  end?: (page: Page) => Promise<unknown>
}
/** What is shown, and who looks at it. */
export interface Exhibition {
  base_url: string
  visitor: Visitor
  /** The demo's board, one without anything, and one of a thousand cards. */
  board_id: string
  empty_id: string
  large_id: string
  /** Another member moves a card of the demo's board. */
  stir: () => Promise<unknown>
}

const menu = (item: string) => async (page: Page) => {
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

const scenes = ({ board_id, stir, empty_id, large_id }: Exhibition): Scene[] => {
  const path = `/b/${board_id}`
  const card = (page: Page) => cardOf(page, 'Open me and paste an image').locator('a').first()
  return [
    { name: 'login', path: '/login', is_public: true },
    {
      name: 'login-refused',
      path: '/login',
      is_public: true,
      act: async (page) => {
        await page.getByLabel('E-mail').fill('ada@example.com')
        await page.getByLabel('Password', { exact: true }).fill('not it')
        await page.keyboard.press('Enter')
        await page.getByRole('alert').waitFor()
      },
    },
    {
      name: 'register-refused',
      path: '/register',
      is_public: true,
      act: async (page) => {
        await page.getByLabel('E-mail').fill('ada@example.com')
        await page.getByLabel('Username').fill('somebody-else')
        await page.getByLabel('Password', { exact: true }).fill('correct horse')
        await page.keyboard.press('Enter')
        await page.locator('[aria-invalid=true]').waitFor()
      },
    },
    { name: 'boards', path: '/boards', act: (page) => page.locator('.tile').first().waitFor() },
    { name: 'board', path },
    { name: 'board-empty', path: `/b/${empty_id}` },
    { name: 'board-large', path: `/b/${large_id}` },
    {
      name: 'board-dragging',
      path,
      is_wide_only: true,
      act: async (page) => {
        const title = (await page.locator('.lane').first().locator('.card-title').first().textContent()) ?? ''
        await liftCard(page, title)
        await carryTo(page, (await page.locator('.lane h2').nth(2).textContent()) ?? '', 1)
      },
      end: (page) => page.mouse.up(),
    },
    {
      name: 'board-remote',
      path,
      act: async (page) => {
        await page.waitForTimeout(300)
        await stir()
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
      },
    },
    { name: 'card', path, act: async (page) => (await card(page).click(), page.waitForTimeout(600)) },
    {
      name: 'card-editing',
      path,
      act: async (page) => {
        await card(page).click()
        await page.getByRole('region', { name: 'Description' }).getByRole('button').first().click()
        await page.waitForTimeout(400)
      },
    },
    { name: 'move', path, act: async (page) => (await card(page).focus(), page.keyboard.press('m')) },
    { name: 'palette', path, act: async (page) => (await page.keyboard.press('Control+k'), page.keyboard.type('dr')) },
    { name: 'shortcuts', path, act: (page) => page.keyboard.press('?') },
    { name: 'automations', path, act: menu('Automation') },
    { name: 'members', path, act: menu('Members') },
    { name: 'activity', path, act: menu('Activity') },
    { name: 'settings', path: '/settings' },
    { name: 'accessibility', path: '/accessibility', is_public: true },
    { name: 'denied', path: '/b/01a1de03-0000-7000-8000-000000000000' },
  ]
}

export const screens: [name: string, options: BrowserContextOptions][] = [
  ['wide', { viewport: { width: 1440, height: 900 } }],
  ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
]

/** Takes a picture of every screen, light and dark, wide and on a phone, and tells what axe finds on it. */
export async function takePictures(browser: Browser, show: Exhibition, folder: string, tell: (line: string) => void) {
  await mkdir(folder, { recursive: true })
  const found: { picture: string; violations: string[] }[] = []
  for (const [screen, options] of screens) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const scene of scenes(show)) {
        if (scene.is_wide_only && screen === 'phone') continue
        const picture = `${scene.name}-${screen}-${colorScheme}`
        tell(picture)
        const visitor = scene.is_public ? undefined : show.visitor
        const context = await logIn(browser, show.base_url, visitor, { ...options, colorScheme })
        const page = await openNoted(context, show.base_url)
        await page.goto(`${show.base_url}/app${scene.path}`)
        await page.locator('#main:not([aria-busy])').waitFor()
        await scene.act?.(page)
        // Until what comes after it has come.
        await page.waitForTimeout(500)
        await page.screenshot({ path: join(folder, `${picture}.png`) })
        await scene.end?.(page)
        found.push({ picture, violations: await auditAccess(page) })
        await context.close()
      }
    }
  }
  return found
}

const WINDOW = { width: 960, height: 720 }

/** Ada and Grace side by side, at the moment in which one sees what the other does. */
export async function pictureTwoPeople(
  browser: Browser,
  base_url: string,
  board_id: string,
  password: string,
  file: string,
) {
  const enter = async (name: string) => {
    const context = await logIn(browser, base_url, { email: `${name}@example.com`, password }, { viewport: WINDOW })
    const page = await openNoted(context, base_url)
    await page.goto(`${base_url}/app/b/${board_id}`)
    await page.getByText('Live').waitFor()
    return page
  }
  const [ada, grace] = [await enter('ada'), await enter('grace')]
  await cardOf(grace, 'Press N to add a card').locator('a').first().focus()
  await grace.keyboard.press('Shift+ArrowRight')
  await ada.locator('.card-mark').first().waitFor()
  // Until the others have glided to their places.
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

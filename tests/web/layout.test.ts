// @module-tag journey
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf } from './board-page-object.ts'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { findLayoutProblems, focusRing, indistinguishableStates } from './layout-checks.ts'
import { auditAccessibility } from './page-checks.ts'
import { openScreen, type Screen, screens } from './screens.ts'

let env: TestEnvironment
let board: TestBoard
let card: string
beforeAll(async () => {
  env = await openEnvironment()
  const long = 'A_title_without_any_place_where_a_line_could_end_however_narrow_the_screen_is'
  board = await env.createBoard({ 'To do': ['Write', long, 'Paint'], Doing: ['Sew'], Done: [] })
  card = board.cards['Write'] ?? ''
  const { api } = board.ada
  const params = { card_id: card }
  const label = await api.call('createLabel', {
    params: { board_id: board.id },
    body: { name: 'bug', color: '#d33a2c' },
  })
  await api.call('addCardLabel', { params: { ...params, label_id: label.id } })
  await api.call('assignCard', { params, body: { user_ids: [board.ada.id, board.grace.id] } })
  await api.call('updateCard', { params, body: { description: `See https://example.com/${long}\n\n- one\n- two` } })
  const list = await api.call('createChecklist', { params, body: { title: 'Steps' } })
  for (const content of ['Think', long])
    await api.call('createItem', { params: { checklist_id: list.id }, body: { content } })
})
afterAll(() => env.close())

/** Opens screens in two pages: one logged in, one not. */
function useScreens(options: BrowserContextOptions) {
  const pages: Page[] = []
  beforeAll(async () => {
    pages.push(await env.openPage(board.ada, '/boards', options), await env.openPage(undefined, '/login', options))
    for (const page of pages) page.setDefaultTimeout(8_000)
  })
  afterAll(() => Promise.all(pages.map((page) => page.context().close())))
  return async (screen: Screen): Promise<Page> => {
    const page = pages[screen.isPublic ? 1 : 0] as Page
    await openScreen(page, env.service.baseUrl, screen, { board: board.id, card })
    return page
  }
}

describe('narrow', () => {
  const open = useScreens({ viewport: { width: 320, height: 640 } })
  test.each(screens)(
    '[WEB-74] no layout problem at 320 pixels, at 400 % zoom, and right to left: $name',
    async (screen) => {
      const page = await open(screen)
      expect(await findLayoutProblems(page, 24)).toEqual([])
      await page.setViewportSize({ width: 320, height: 256 })
      expect(await findLayoutProblems(page, 24)).toEqual([])
      await page.evaluate(`document.dir = 'rtl'`)
      expect(await findLayoutProblems(page, 24)).toEqual([])
      await page.setViewportSize({ width: 320, height: 640 })
      expect(await findLayoutProblems(page, 24)).toEqual([])
      await page.evaluate(`document.dir = 'ltr'`)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await auditAccessibility(page)).toEqual([])
      }
      await page.emulateMedia({ colorScheme: 'light' })
    },
  )
})

describe('wide', () => {
  const open = useScreens({ viewport: { width: 1280, height: 1024 } })
  test.each(screens)('[WEB-75] nothing is cut off, and every target has at least 24 pixels: $name', async (screen) => {
    const page = await open(screen)
    expect(await findLayoutProblems(page, 24)).toEqual([])
    await page.evaluate(`document.dir = 'rtl'`)
    expect(await findLayoutProblems(page, 24)).toEqual([])
  })
})

describe('touch', () => {
  const open = useScreens({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  test.each(screens)('[WEB-75] targets have at least 44 pixels on touch screens: $name', async (screen) => {
    expect(await findLayoutProblems(await open(screen), 44)).toEqual([])
  })

  test('[WEB-88] the menu of a card opens by touch', async () => {
    const page = await open(screens.find(({ name }) => name === 'board') as Screen)
    await page.getByRole('button', { name: 'Actions for Paint' }).tap()
    await page.getByRole('menuitem', { name: 'Move to…' }).waitFor()
  })

  test('[WEB-75] menus and pickers have targets of at least 44 pixels on touch screens', async () => {
    const page = await open(screens.find(({ name }) => name === 'board') as Screen)
    for (const menu of ['Actions for To do', 'Filter by due date, label or person', 'Board menu']) {
      await page.getByRole('button', { name: menu, exact: true }).tap()
      await page.locator('.layer').waitFor()
      expect(await findLayoutProblems(page, 44), menu).toEqual([])
      await page.keyboard.press('Escape')
      await page.locator('.layer').waitFor({ state: 'detached' })
    }
    await cardOf(page, 'Write').locator('.card-title').focus()
    await page.keyboard.press('l')
    for (const next of ['Manage labels…', 'Colour of bug']) {
      await page.getByRole('button', { name: next }).waitFor()
      expect(await findLayoutProblems(page, 44), next).toEqual([])
      await page.getByRole('button', { name: next }).tap()
    }
    await page.getByRole('radio', { name: 'Blue' }).waitFor()
    expect(await findLayoutProblems(page, 44), 'colours').toEqual([])
  })
})

describe('forced colours', () => {
  const open = useScreens({ viewport: { width: 1280, height: 800 }, forcedColors: 'active' })
  test.each(screens)(
    '[WEB-76] in forced-colours mode states are distinguishable, and axe finds no violation: $name',
    async (screen) => {
      const page = await open(screen)
      expect(await indistinguishableStates(page)).toEqual([])
      expect(await auditAccessibility(page)).toEqual([])
    },
  )

  test('[WEB-76] in forced-colours mode the ticks of a menu and the chosen colour are distinguishable', async () => {
    const page = await open(screens.find(({ name }) => name === 'board') as Screen)
    await page.getByRole('button', { name: 'Filter by due date, label or person' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Mine' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Mine', checked: true }).waitFor()
    expect(await indistinguishableStates(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Actions for To do' }).click()
    await page.getByRole('menuitemradio', { name: 'Teal' }).click()
    await page.getByRole('button', { name: 'Actions for To do' }).click()
    await page.getByRole('menuitemradio', { name: 'Teal', checked: true }).waitFor()
    expect(await indistinguishableStates(page)).toEqual([])
    expect(await auditAccessibility(page)).toEqual([])
  })

  test.each(screens)('[WEB-85] every Tab stop has a focus ring: $name', async (screen) => {
    const page = await open(screen)
    await page.emulateMedia({ forcedColors: 'none' })
    const shown = new Set<string>()
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab')
      shown.add(await focusRing(page))
    }
    await page.emulateMedia({ forcedColors: 'active' })
    expect([...shown].filter((each) => each !== 'page')).toEqual(['ring'])
  })
})

test('[WEB-77] with reduced motion nothing is animated, neither own nor remote moves', async () => {
  const page = await env.openPage(board.ada, board.path, { reducedMotion: 'reduce' })
  const moving = () =>
    page.evaluate(`new Promise((resolve) => {
      const seen = new Set()
      const until = performance.now() + 400
      const look = () => {
        for (const each of document.getAnimations()) seen.add(each.animationName ?? each.transitionProperty)
        if (performance.now() < until) requestAnimationFrame(look)
        else resolve([...seen])
      }
      look()
    })`)
  await cardOf(page, 'Paint').locator('.card-title').focus()
  for (const key of ['Shift+ArrowUp', 'Shift+ArrowRight']) {
    const seen = moving()
    await page.keyboard.press(key)
    expect(await seen).toEqual([])
  }
  const seen = moving()
  const body = { column_id: board.columns['Done'] ?? '', position: 0 }
  await board.grace.api.call('moveCard', { params: { card_id: board.cards['Sew'] ?? '' }, body })
  expect(await seen).toEqual([])
  await env.waitForSync(board, page)
  await page.context().close()
})

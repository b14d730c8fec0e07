import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardOf } from './board-hands.ts'
import { measure, ringOf, sameInColours } from './measures.ts'
import { auditAccess } from './pages.ts'
import { goTo, type Place, places } from './places.ts'
import { openStage, type Stage, type StageBoard } from './stage.ts'

let stage: Stage
let board: StageBoard
let card: string
beforeAll(async () => {
  stage = await openStage()
  const long = 'A_title_without_any_place_where_a_line_could_end_however_narrow_the_screen_is'
  board = await stage.board({ 'To do': ['Write', long, 'Paint'], Doing: ['Sew'], Done: [] })
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
afterAll(() => stage.close())

/** Pages for all places: one of somebody who is logged in, one of somebody who is not. */
function usePages(options: BrowserContextOptions) {
  const pages: Page[] = []
  beforeAll(async () => {
    pages.push(await stage.enter(board.ada, '/boards', options), await stage.enter(undefined, '/login', options))
    for (const page of pages) page.setDefaultTimeout(8_000)
  })
  afterAll(() => Promise.all(pages.map((page) => page.context().close())))
  return async (place: Place): Promise<Page> => {
    const page = pages[place.is_outside ? 1 : 0] as Page
    await goTo(page, stage.service.base_url, place, { board: board.id, card })
    return page
  }
}

describe('narrow', () => {
  const open = usePages({ viewport: { width: 320, height: 640 } })
  test.each(places)('[WEB-74] at 320 pixels, at four times the size, and from right to left: $name', async (place) => {
    const page = await open(place)
    expect(await measure(page, 24)).toEqual([])
    await page.setViewportSize({ width: 320, height: 256 })
    expect(await measure(page, 24)).toEqual([])
    await page.evaluate(`document.dir = 'rtl'`)
    expect(await measure(page, 24)).toEqual([])
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await measure(page, 24)).toEqual([])
    await page.evaluate(`document.dir = 'ltr'`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await auditAccess(page)).toEqual([])
    }
    await page.emulateMedia({ colorScheme: 'light' })
  })
})

describe('wide', () => {
  const open = usePages({ viewport: { width: 1280, height: 1024 } })
  test.each(places)('[WEB-75] nothing is cut off, and every target has 24 pixels: $name', async (place) => {
    const page = await open(place)
    expect(await measure(page, 24)).toEqual([])
    await page.evaluate(`document.dir = 'rtl'`)
    expect(await measure(page, 24)).toEqual([])
  })
})

describe('touched', () => {
  const open = usePages({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  test.each(places)('[WEB-75] targets have 44 pixels where the pointer is a finger: $name', async (place) => {
    expect(await measure(await open(place), 44)).toEqual([])
  })

  test('[WEB-88] the menu of a card opens by touch, with nothing over it', async () => {
    const page = await open(places.find(({ name }) => name === 'board') as Place)
    await page.getByRole('button', { name: 'Actions for Paint' }).tap()
    await page.getByRole('menuitem', { name: 'Move to…' }).waitFor()
  })
})

describe('forced colours', () => {
  const open = usePages({ viewport: { width: 1280, height: 800 }, forcedColors: 'active' })
  test.each(places)(
    '[WEB-76] with the colours of the system states are told, and axe finds nothing: $name',
    async (place) => {
      const page = await open(place)
      if (place.name === 'board') await page.getByRole('button', { name: 'Mine' }).click()
      expect(await sameInColours(page)).toEqual([])
      expect(await auditAccess(page)).toEqual([])
    },
  )

  test.each(places)('[WEB-85] every stop of Tab shows the focus: $name', async (place) => {
    const page = await open(place)
    await page.emulateMedia({ forcedColors: 'none' })
    const shown = new Set<string>()
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab')
      shown.add(await ringOf(page))
    }
    await page.emulateMedia({ forcedColors: 'active' })
    expect([...shown].filter((each) => each !== 'page')).toEqual(['ring'])
  })
})

test('[WEB-77] with less motion nothing moves by itself: not on loading, not when others or one’s own keys move a card', async () => {
  const page = await stage.enter(board.ada, board.path, { reducedMotion: 'reduce' })
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
  const body = { column_id: board.lanes['Done'] ?? '', position: 0 }
  await board.grace.api.call('moveCard', { params: { card_id: board.cards['Sew'] ?? '' }, body })
  expect(await seen).toEqual([])
  await stage.agreed(board, page)
  await page.context().close()
})

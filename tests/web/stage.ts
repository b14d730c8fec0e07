import { openBrowser } from '@lockstep/testing/browser'
import { PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { agrees, type Order, orderOf } from './board-hands.ts'
import { logIn, openNoted } from './pages.ts'

export interface Stage {
  service: TestService
  browser: Browser
  /** A page of somebody's own browser, logged in unless it is nobody; on a board or at any path below /app. */
  enter: (who: TestUser | undefined, path: string, options?: BrowserContextOptions) => Promise<Page>
  /** One more tab of the same browser. */
  enterBeside: (page: Page, path: string) => Promise<Page>
  /** A board of two people with these lanes and cards, by their titles. */
  board: (lanes: Record<string, string[]>) => Promise<StageBoard>
  /** Ends with all of these pages showing the board as the service has it. */
  agreed: (board: StageBoard, ...pages: Page[]) => Promise<Order>
  close: () => Promise<void>
}
export interface StageBoard {
  id: string
  path: string
  ada: TestUser
  grace: TestUser
  lanes: Record<string, string>
  cards: Record<string, string>
}

/** The real service, the built client and a real browser. */
export async function openStage(
  settings: Record<string, string> = {},
  ...browser_options: Parameters<typeof openBrowser>
): Promise<Stage> {
  const service = await startService({ LOG_LEVEL: 'info', ...settings })
  const browser = await openBrowser(...browser_options)
  const { base_url } = service

  const openIn = async (context: BrowserContext, path: string) => {
    const page = await openNoted(context, base_url)
    await page.goto(`${base_url}/app${path}`)
    if (path.startsWith('/b/')) await page.locator('main.board').waitFor()
    return page
  }
  const enter: Stage['enter'] = async (who, path, options) =>
    openIn(await logIn(browser, base_url, who && { email: who.email, password: PASSWORD }, options), path)

  const board: Stage['board'] = async (wanted) => {
    const [ada, grace] = await Promise.all([service.user(), service.user()])
    const { id } = await ada.api.call('createBoard', { body: { title: 'Plan' } })
    const params = { board_id: id }
    await ada.api.call('inviteMember', { params, body: { user_id: grace.id } })
    const lanes: StageBoard['lanes'] = {}
    const cards: StageBoard['cards'] = {}
    for (const [title, titles] of Object.entries(wanted)) {
      const column = await ada.api.call('createColumn', { params, body: { title } })
      lanes[title] = column.id
      for (const each of titles) {
        const card = await ada.api.call('createCard', {
          params: { ...params, column_id: column.id },
          body: { title: each },
        })
        cards[each] = card.id
      }
    }
    return { id, path: `/b/${id}`, ada, grace, lanes, cards }
  }

  const agreed: Stage['agreed'] = async ({ ada, id }, ...pages) => {
    const differences = async () => {
      const truth = await orderOf(ada.api, id)
      return (await Promise.all(pages.map((page) => agrees(page, truth)))).flat()
    }
    await expect.poll(differences, { timeout: 10_000 }).toEqual([])
    return orderOf(ada.api, id)
  }

  const close = async () => {
    await browser.close()
    await service.stop()
  }
  return { service, browser, enter, enterBeside: (page, path) => openIn(page.context(), path), board, agreed, close }
}

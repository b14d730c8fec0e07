import { openBrowser } from '@lockstep/testing/browser'
import { PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { type BoardOrder, differencesFrom, storedOrder } from './board-page-object.ts'
import { logIn, openRecordedPage } from './page-checks.ts'

export interface TestEnvironment {
  service: TestService
  browser: Browser
  /** Opens a page below /app in a new browser context, logged in as the user if there is one. */
  openPage: (user: TestUser | undefined, path: string, options?: BrowserContextOptions) => Promise<Page>
  /** Opens another tab in the same browser context. */
  openTab: (page: Page, path: string) => Promise<Page>
  /** Creates a board with two members and these columns and cards, by title. */
  createBoard: (columns: Record<string, string[]>) => Promise<TestBoard>
  /** Waits until all pages show the board as the server has it, and returns its cards. */
  waitForSync: (board: TestBoard, ...pages: Page[]) => Promise<BoardOrder>
  close: () => Promise<void>
}
export interface TestBoard {
  id: string
  path: string
  /** The owner. */
  ada: TestUser
  /** A member. */
  grace: TestUser
  /** Column ids by title. */
  columns: Record<string, string>
  /** Card ids by title. */
  cards: Record<string, string>
}

/** Starts the real service with the built client, and a real browser. */
export async function openEnvironment(
  settings: Record<string, string> = {},
  ...browserOptions: Parameters<typeof openBrowser>
): Promise<TestEnvironment> {
  const service = await startService({ LOG_LEVEL: 'info', ...settings })
  const browser = await openBrowser(...browserOptions)
  const { baseUrl } = service

  const openIn = async (context: BrowserContext, path: string) => {
    const page = await openRecordedPage(context, baseUrl)
    await page.goto(`${baseUrl}/app${path}`)
    if (path.startsWith('/b/')) await page.locator('main.board').waitFor()
    return page
  }
  const openPage: TestEnvironment['openPage'] = async (user, path, options) =>
    openIn(await logIn(browser, baseUrl, user && { email: user.email, password: PASSWORD }, options), path)

  const createBoard: TestEnvironment['createBoard'] = async (titles) => {
    const [ada, grace] = await Promise.all([service.user(), service.user()])
    const { id } = await ada.api.call('createBoard', { body: { title: 'Plan' } })
    const params = { board_id: id }
    await ada.api.call('inviteMember', { params, body: { user_id: grace.id } })
    const columns: TestBoard['columns'] = {}
    const cards: TestBoard['cards'] = {}
    for (const [title, cardTitles] of Object.entries(titles)) {
      const column = await ada.api.call('createColumn', { params, body: { title } })
      columns[title] = column.id
      for (const each of cardTitles) {
        const card = await ada.api.call('createCard', {
          params: { ...params, column_id: column.id },
          body: { title: each },
        })
        cards[each] = card.id
      }
    }
    return { id, path: `/b/${id}`, ada, grace, columns, cards }
  }

  const waitForSync: TestEnvironment['waitForSync'] = async ({ ada, id }, ...pages) => {
    const differences = async () => {
      const stored = await storedOrder(ada.api, id)
      return (await Promise.all(pages.map((page) => differencesFrom(page, stored)))).flat()
    }
    await expect.poll(differences, { timeout: 10_000 }).toEqual([])
    return storedOrder(ada.api, id)
  }

  const close = async () => {
    await browser.close()
    await service.stop()
  }
  const openTab: TestEnvironment['openTab'] = (page, path) => openIn(page.context(), path)
  return { service, browser, openPage, openTab, createBoard, waitForSync, close }
}

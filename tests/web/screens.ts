import type { Page } from 'playwright-core'

/** A screen of the client, and how to open it. */
export interface Screen {
  name: string
  /** Below /app; `{board}` and `{card}` are replaced by ids. */
  path: string
  /** For users who are not logged in. */
  isPublic?: true
  /** Shortcuts that open an overlay on the page. */
  keys?: string[]
  /** Selector that exists once the screen is loaded. */
  ready: string
}

const board = '/b/{board}'
export const screens: Screen[] = [
  { name: 'login', path: '/login', isPublic: true, ready: '.account-form' },
  { name: 'register', path: '/register', isPublic: true, ready: '.account-form' },
  { name: 'invalid link', path: '/invite', isPublic: true, ready: '.account-main .button' },
  { name: 'reset password', path: `/reset#${'x'.repeat(43)}`, isPublic: true, ready: '.account-form' },
  { name: 'boards', path: '/boards', ready: '.tile strong' },
  { name: 'board', path: board, ready: '.card-title' },
  { name: 'card', path: `${board}/c/{card}`, ready: '.cd-add' },
  { name: 'move dialog', path: board, keys: ['/', 'ArrowDown', 'm'], ready: '.layer [role=combobox]' },
  { name: 'due date', path: board, keys: ['/', 'ArrowDown', 'd'], ready: '.layer [role=grid]' },
  { name: 'members', path: `${board}/members`, ready: '.layer .member' },
  { name: 'automations', path: `${board}/automations`, ready: '.layer .automations-add' },
  { name: 'webhooks', path: `${board}/webhooks`, ready: '.layer .webhooks-add' },
  { name: 'new webhook', path: `${board}/webhooks/new`, ready: '.layer .webhook-form' },
  { name: 'activity', path: `${board}/activity`, ready: '.layer time' },
  { name: 'inbox', path: '/inbox', ready: '.inbox-list, .inbox-empty' },
  { name: 'archive and trash', path: `${board}/removed`, ready: '.layer .removed-chip' },
  { name: 'settings', path: '/settings', ready: '.setting-form' },
  { name: 'shortcuts', path: board, keys: ['?'], ready: '.layer kbd' },
  { name: 'palette', path: board, keys: ['Control+k'], ready: '.palette-item' },
  { name: 'accessibility', path: '/accessibility', ready: '.criteria' },
]

/** Opens a screen and waits until it is loaded. */
export async function openScreen(page: Page, baseUrl: string, screen: Screen, ids: { board: string; card: string }) {
  const path = screen.path.replace('{board}', ids.board).replace('{card}', ids.card)
  // Not a reload, which would show again what was open.
  if (page.url() === `${baseUrl}/app${path}`) await page.goto('about:blank')
  await page.goto(`${baseUrl}/app${path}`)
  if (screen.keys) await page.locator('.card-title').first().waitFor()
  for (const key of screen.keys ?? []) await page.keyboard.press(key)
  await page.locator(screen.ready).first().waitFor()
}

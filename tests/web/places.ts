import type { Page } from 'playwright-core'

/** A screen of the client, and how it is come to. */
export interface Place {
  name: string
  /** Below /app; `{board}` and `{card}` are filled in. */
  path: string
  /** Whether it is for those who are not logged in. */
  is_outside?: true
  /** Opens what lies over the page, from the keyboard. */
  keys?: string[]
  /** What is there when it is all there. */
  ready: string
}

const board = '/b/{board}'
export const places: Place[] = [
  { name: 'login', path: '/login', is_outside: true, ready: '.account-form' },
  { name: 'register', path: '/register', is_outside: true, ready: '.account-form' },
  { name: 'boards', path: '/boards', ready: '.tile strong' },
  { name: 'board', path: board, ready: '.card-title' },
  { name: 'card', path: `${board}/c/{card}`, ready: '.cd-add' },
  { name: 'move dialog', path: board, keys: ['/', 'ArrowDown', 'm'], ready: 'dialog select' },
  { name: 'members', path: `${board}/members`, ready: 'dialog .member' },
  { name: 'automations', path: `${board}/automations`, ready: 'dialog .automations-add' },
  { name: 'activity', path: `${board}/activity`, ready: 'dialog time' },
  { name: 'settings', path: '/settings', ready: '.setting-form' },
  { name: 'shortcuts', path: board, keys: ['?'], ready: 'dialog kbd' },
  { name: 'palette', path: board, keys: ['Control+k'], ready: '.palette-item' },
  { name: 'accessibility', path: '/accessibility', ready: '.criteria' },
]

/** Goes there and waits until everything is. */
export async function goTo(page: Page, base_url: string, place: Place, ids: { board: string; card: string }) {
  const path = place.path.replace('{board}', ids.board).replace('{card}', ids.card)
  await page.goto(`${base_url}/app${path}`)
  if (place.keys) await page.locator('.card-title').first().waitFor()
  for (const key of place.keys ?? []) await page.keyboard.press(key)
  await page.locator(place.ready).first().waitFor()
}

import type { Page } from 'playwright-core'
import { shownOrder } from './board-page-object.ts'
import { dialogs } from './layers.ts'

/** A full name, or a pattern. */
export type Name = string | RegExp

/** A simulated user of a page: what both keyboard and mouse users can do without input. */
export class PageUser {
  protected readonly page: Page
  constructor(page: Page) {
    this.page = page
  }
  async waitForText(text: Name) {
    await this.page.getByText(text).first().waitFor()
  }
  async waitForHeading(name: Name) {
    await this.page.getByRole('heading', { name, exact: typeof name === 'string' }).waitFor()
  }
  async waitForNoDialog() {
    await dialogs(this.page).first().waitFor({ state: 'detached' })
  }
  /** The titles of the cards that the board shows, in all columns. */
  async shownCards(): Promise<string[]> {
    return (await shownOrder(this.page)).flatMap(([, titles]) => titles)
  }
}

/** Init script: records pointer input, drags and shortcuts. */
export const RECORD_INPUT = `
  window.recorded = { pointed: 0, dragged: 0, shortcuts: [] }
  addEventListener('pointerdown', (event) => { if (event.isTrusted) recorded.pointed++ }, true)
  addEventListener('dragstart', () => { recorded.dragged++ }, true)
  addEventListener('keydown', (event) => {
    if (!event.target.matches('input, textarea')) recorded.shortcuts.push(event.key)
  }, true)`
interface RecordedInput {
  pointed: number
  dragged: number
  shortcuts: string[]
}
export const recordedInput = (page: Page) => page.evaluate('window.recorded') as Promise<RecordedInput>

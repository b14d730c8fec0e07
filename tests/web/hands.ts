import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { order } from './board-hands.ts'

/** What a name is held against: the whole of it, or a pattern. */
type Name = string | RegExp
/** The role and the name of what has the focus, as a screen reader says them. */
interface Focused {
  role: string
  name: string
}

const fits = (name: string, wanted: Name) => (typeof wanted === 'string' ? name === wanted : wanted.test(name))
/** Nothing is further away than this, on any page. */
const MOST_STEPS = 40

/** What both kinds of hands may do without touching anything: look. */
class Eyes {
  protected readonly page: Page
  constructor(page: Page) {
    this.page = page
  }
  /** Waits until something can be seen. */
  async sees(text: Name) {
    await this.page.getByText(text).first().waitFor()
  }
  async seesHeading(name: Name) {
    await this.page.getByRole('heading', { name, exact: typeof name === 'string' }).waitFor()
  }
  async noDialog() {
    await this.page.locator('dialog[open]').waitFor({ state: 'detached' })
  }
  /** The cards that the board shows, whatever their lane. */
  async cards(): Promise<string[]> {
    return (await order(this.page)).flatMap(([, titles]) => titles)
  }
}

/**
 * Somebody with a keyboard and nothing else. The page itself is out of reach, so that no task can take the mouse; and the page
 * is asked afterwards whether it was pointed at.
 */
export class KeyboardHands extends Eyes {
  /** Keys so far, without those of typed text. */
  keys = 0

  async press(...keys: string[]) {
    for (const key of keys) {
      this.keys++
      await this.page.keyboard.press(key)
    }
  }
  async type(text: string) {
    await this.page.keyboard.type(text)
  }
  /** Undefined when nothing has the focus. */
  async focused(): Promise<Focused | undefined> {
    const place = this.page.locator(':focus')
    if ((await place.count()) === 0) return undefined
    const [, role = '', name = ''] = /^- '?([\w-]+)(?: "((?:[^"\\]|\\.)*)")?/.exec(await place.ariaSnapshot()) ?? []
    return { role, name: name.replaceAll('\\"', '"') }
  }
  /** Waits until the focus has come to something of this name. */
  async at(name: Name) {
    const label = async () => (await this.focused())?.name ?? ''
    const isThere = async () =>
      fits(await label(), name) ? 'there' : `The focus is on “${await label()}”, not on ${name}`
    await expect.poll(isThere).toBe('there')
  }
  /** Goes on with a key until the focus has come to something of this name. */
  async pressTo(key: string, name: Name) {
    const passed: string[] = []
    while (passed.length < MOST_STEPS) {
      await this.press(key)
      const { name: reached = '' } = (await this.focused()) ?? {}
      if (fits(reached, name)) return
      passed.push(reached)
    }
    assert.fail(`${key} does not lead to ${name}, but past ${passed.join(' | ')}`)
  }
  async tabTo(name: Name) {
    await this.pressTo('Tab', name)
  }
  /** Opens the menu that has the focus, and chooses from it. */
  async choose(item: Name) {
    await this.press('Enter')
    const { name = '' } = (await this.focused()) ?? {}
    if (!fits(name, item)) await this.pressTo('ArrowDown', item)
    await this.press('Enter')
  }
  /** Chooses from a list that has the focus, by its letters. */
  async pick(option: string) {
    this.keys += 1
    await this.page.keyboard.type(option)
  }
  /** From anywhere on a board to one of its cards: the filter leads to the first one. */
  async toCard(title: string, ...arrows: string[]) {
    await this.press('/')
    await this.at('Filter cards')
    await this.press('ArrowDown', ...arrows)
    await this.at(title)
  }
  /** From anywhere on a board to the menu of a lane. */
  async toLane(title: string, ...keys: string[]) {
    await this.press('/')
    await this.at('Filter cards')
    await this.press('ArrowDown', ...keys)
    await this.at(`Actions for ${title}`)
  }
}

/** Somebody who can click and write, and neither drag nor remember a key. */
export class ClickHands extends Eyes {
  clicks = 0

  async click(role: 'button' | 'link' | 'menuitem' | 'checkbox' | 'radio' | 'option', name: Name) {
    this.clicks++
    await this.page.getByRole(role, { name, exact: typeof name === 'string' }).click()
  }
  /** The same, in a lane or another part of the page that has a name. */
  async clickIn(region: Name, role: 'button', name: Name) {
    this.clicks++
    await this.page.getByRole('region', { name: region }).getByRole(role, { name }).click()
  }
  /** Opens a menu and chooses from it. */
  async choose(menu: Name, item: Name) {
    await this.click('button', menu)
    await this.click('menuitem', item)
  }
  async write(field: Name, text: string) {
    this.clicks++
    const place = this.page
      .getByLabel(field, { exact: typeof field === 'string' })
      .and(this.page.locator('input, textarea'))
    await place.click()
    await place.fill(text)
  }
  /** Browsers draw the lists of `select` themselves, outside of the page. */
  async pick(field: string, option: string) {
    this.clicks += 2
    await this.page.getByRole('combobox', { name: field, exact: true }).selectOption({ label: option })
  }
}

/** Runs in the page: tells what was done to it that one of the two kinds of hands cannot do. */
export const WATCH = `
  window.handled = { pointed: 0, dragged: 0, shortcuts: [] }
  addEventListener('pointerdown', (event) => { if (event.isTrusted) handled.pointed++ }, true)
  addEventListener('dragstart', () => { handled.dragged++ }, true)
  addEventListener('keydown', (event) => {
    if (!event.target.matches('input, textarea, select')) handled.shortcuts.push(event.key)
  }, true)`
export interface Handled {
  pointed: number
  dragged: number
  shortcuts: string[]
}
export const handledOf = (page: Page) => page.evaluate('window.handled') as Promise<Handled>

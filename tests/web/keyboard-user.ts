import assert from 'node:assert/strict'
import { expect } from 'vitest'
import { type Name, PageUser } from './page-user.ts'

/** Role and name of the focused element, as a screen reader announces them. */
interface FocusedElement {
  role: string
  name: string
}

const matches = (name: string, wanted: Name) => (typeof wanted === 'string' ? name === wanted : wanted.test(name))
/** No element is further away than this on any page. */
const MAX_STEPS = 40

/** A user with only a keyboard. The tests check afterwards that no pointer event occurred. */
export class KeyboardUser extends PageUser {
  /** Keys pressed so far, without typed text. */
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
  private async focused(): Promise<FocusedElement | undefined> {
    const element = this.page.locator(':focus')
    if ((await element.count()) === 0) return undefined
    const [, role = '', name = ''] = /^- '?([\w-]+)(?: "((?:[^"\\]|\\.)*)")?/.exec(await element.ariaSnapshot()) ?? []
    return { role, name: name.replaceAll('\\"', '"') }
  }
  /** Waits until the focused element has this name. */
  async expectFocus(name: Name) {
    const label = async () => (await this.focused())?.name ?? ''
    const hasFocus = async () =>
      matches(await label(), name) ? 'focused' : `The focus is on “${await label()}”, not on ${name}`
    await expect.poll(hasFocus).toBe('focused')
  }
  /** Presses a key until the focused element has this name. */
  async pressTo(key: string, name: Name) {
    const passed: string[] = []
    while (passed.length < MAX_STEPS) {
      await this.press(key)
      const { name: reached = '' } = (await this.focused()) ?? {}
      if (matches(reached, name)) return
      passed.push(reached)
    }
    assert.fail(`${key} does not lead to ${name}; it passed ${passed.join(' | ')}`)
  }
  async tabTo(name: Name) {
    await this.pressTo('Tab', name)
  }
  /** Opens the focused menu and chooses an item. */
  async chooseFromMenu(item: Name) {
    await this.press('Enter')
    await this.page.locator('[role^=menuitem]:focus').waitFor()
    const { name = '' } = (await this.focused()) ?? {}
    if (!matches(name, item)) await this.pressTo('ArrowDown', item)
    await this.press('Enter')
  }
  /** Opens the focused drop-down list and chooses an option. */
  async selectOption(option: string) {
    await this.press('Enter')
    await this.page.locator('[role=option]:focus').waitFor()
    await this.press('Home')
    const { name = '' } = (await this.focused()) ?? {}
    if (name !== option) await this.pressTo('ArrowDown', option)
    await this.press('Enter')
  }
  /** From anywhere on a board to a card: the filter leads to the first one, arrow keys to the others. */
  async focusCard(title: string, ...arrows: string[]) {
    await this.press('/')
    await this.expectFocus('Filter cards')
    await this.press('ArrowDown', ...arrows)
    await this.expectFocus(title)
  }
  /** From anywhere on a board to the menu of a column. */
  async focusColumnMenu(title: string, ...keys: string[]) {
    await this.press('/')
    await this.expectFocus('Filter cards')
    await this.press('ArrowDown', ...keys)
    await this.expectFocus(`Actions for ${title}`)
  }
}

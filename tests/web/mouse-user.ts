import { chooseOption } from './layers.ts'
import { type Name, PageUser } from './page-user.ts'

type Role = 'button' | 'link' | 'menuitem' | 'menuitemcheckbox' | 'menuitemradio' | 'checkbox' | 'radio' | 'option'

/** A user who clicks and types, without dragging or shortcuts. */
export class MouseUser extends PageUser {
  clicks = 0

  async click(role: Role, name: Name) {
    this.clicks++
    await this.page.getByRole(role, { name, exact: typeof name === 'string' }).click()
  }
  /** Clicks a button in a column or another named region. */
  async clickIn(region: Name, name: Name) {
    this.clicks++
    await this.page.getByRole('region', { name: region }).getByRole('button', { name }).click()
  }
  /** Clicks a button of the field for new cards. */
  async clickInComposer(name: Name) {
    this.clicks++
    await this.page.locator('.composer').getByRole('button', { name }).click()
  }
  /** Opens a menu and chooses an item. */
  async chooseFromMenu(menu: Name, item: Name, role: Role = 'menuitem') {
    await this.click('button', menu)
    await this.click(role, item)
  }
  /** Clicks the empty corner of a board, which closes a popover. */
  async clickOutside() {
    this.clicks++
    await this.page.mouse.click(1_430, 890)
  }
  async fill(label: Name, text: string) {
    this.clicks++
    const field = this.page
      .getByLabel(label, { exact: typeof label === 'string' })
      .and(this.page.locator('input, textarea'))
    await field.click()
    await field.fill(text)
  }
  async selectOption(label: string, option: string) {
    this.clicks += 2
    await chooseOption(this.page.getByRole('combobox', { name: label, exact: true }), option)
  }
}

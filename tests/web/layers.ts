import type { Locator, Page } from 'playwright-core'

/** The open dialogs. Toasts have the same role, so that a role alone is not enough. */
export const dialogs = (page: Page): Locator => page.locator('.layer.dialog')

/** The toast. One that was replaced may still be fading out. */
export const toastOf = (page: Page): Locator => page.locator('.toast:not([data-ending-style])')

/** Chooses an option of a drop-down list. */
export async function chooseOption(list: Locator, name: string) {
  await list.click()
  const option = list.page().getByRole('option', { name, exact: true })
  await option.click()
  await option.waitFor({ state: 'hidden' })
}

/** Answers a question with one of its buttons. */
export async function answer(page: Page, title: string, button: string) {
  const question = page.getByRole('alertdialog', { name: title, exact: true })
  await question.getByRole('button', { name: button, exact: true }).click()
  await question.waitFor({ state: 'detached' })
}

import type { Locator, Page } from 'playwright-core'
import { cardOf } from './board-page-object.ts'
import type { TestBoard } from './environment.ts'
import { dialogs } from './layers.ts'

/** Opens the dialog of a card from the board. */
export async function openCard(page: Page, title: string): Promise<Locator> {
  await cardOf(page, title).locator('.card-title').click()
  const dialog = dialogs(page).filter({ has: page.locator('.cd') })
  await dialog.waitFor()
  return dialog
}

export const descriptionField = (page: Page) => page.getByLabel('Description, in Markdown')

/** Opens the description editor of the open card. */
export async function editDescription(page: Page) {
  const section = page.getByRole('region', { name: 'Description', exact: true })
  await section.getByRole('button', { name: /^(Edit|Add description…)$/ }).click()
  await descriptionField(page).waitFor()
}

/** Replaces the text in the description editor, without saving. */
export async function writeDescription(page: Page, text: string) {
  if ((await descriptionField(page).count()) === 0) await editDescription(page)
  await descriptionField(page).fill(text)
}

export const saveDescription = (page: Page) => page.keyboard.press('Control+Enter')

/** A card as the server has it. */
export async function storedCard({ ada, cards }: TestBoard, title: string) {
  return ada.api.call('getCard', { params: { card_id: cards[title] ?? '' } })
}

/** The description as the server has it. */
export const storedDescription = async (board: TestBoard, title: string) =>
  (await storedCard(board, title)).description ?? ''

/** The draft of a card's field in the browser's storage. */
export const storedDraft = (page: Page, card_id: string, field: string) =>
  page.evaluate(`Object.entries(localStorage)
    .filter(([key]) => key.includes('/draft/') && key.endsWith(${JSON.stringify(`/${card_id}/${field}`)}))
    .map(([, value]) => JSON.parse(value).text).join()`) as Promise<string>

import type { Locator, Page } from 'playwright-core'
import { cardOf } from './board-hands.ts'
import type { StageBoard } from './stage.ts'

/** Opens the dialog of a card from the board. */
export async function openCard(page: Page, title: string): Promise<Locator> {
  await cardOf(page, title).locator('.card-title').click()
  const dialog = page.locator('dialog[open]', { has: page.locator('.cd') })
  await dialog.waitFor()
  return dialog
}

export const descriptionField = (page: Page) => page.getByLabel('Description, in Markdown')

/** Begins to write a description, on the open card. */
export async function beginDescription(page: Page) {
  const section = page.getByRole('region', { name: 'Description', exact: true })
  await section.getByRole('button', { name: /^(Edit|Add a description…)$/ }).click()
  await descriptionField(page).waitFor()
}

/** Puts a text in place of what the field of a description holds. Nothing is saved. */
export async function writeDescription(page: Page, text: string) {
  if ((await descriptionField(page).count()) === 0) await beginDescription(page)
  await descriptionField(page).fill(text)
}

export const saveDescription = (page: Page) => page.keyboard.press('Control+Enter')

/** A card as the service has it. */
export async function cardFromService({ ada, cards }: StageBoard, title: string) {
  return ada.api.call('getCard', { params: { card_id: cards[title] ?? '' } })
}

/** The description as the service has it. */
export const descriptionOf = async (board: StageBoard, title: string) =>
  (await cardFromService(board, title)).description ?? ''

/** The text that somebody wrote about a card and has not saved, as his browser keeps it. */
export const draftOf = (page: Page, card_id: string, field: string) =>
  page.evaluate(`Object.entries(localStorage)
    .filter(([key]) => key.includes('/draft/') && key.endsWith(${JSON.stringify(`/${card_id}/${field}`)}))
    .map(([, value]) => JSON.parse(value).text).join()`) as Promise<string>

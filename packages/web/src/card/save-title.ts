import type { BoardTools } from '../board-state/board-tools.ts'
import { readDraft, writeDraft } from './drafts.ts'

/** Saves a title, unless another user has changed it since `base`. Then the draft is kept. */
export async function saveTitle(tools: BoardTools, card_id: string, draftName: string, title: string, base: string) {
  writeDraft(draftName, { text: title, base })
  const settled = await tools.change('updateCard', { card_id, title }, { unlessChanged: { title: base } }).done
  if (settled.outcome === 'confirmed' && readDraft(draftName)?.text === title) writeDraft(draftName, undefined)
  return settled.outcome
}

import type { BoardTools } from '../board/board-tools.ts'
import { keepDraft, readDraft } from './drafts.ts'

/** Saves a title. One that somebody else has changed meanwhile is not overwritten: the draft is offered again. */
export async function saveTitle(tools: BoardTools, card_id: string, draft_name: string, title: string, base: string) {
  keepDraft(draft_name, { text: title, base })
  const settled = await tools.change('updateCard', { card_id, title }, { unlessChanged: { title: base } }).done
  if (settled.outcome === 'confirmed' && readDraft(draft_name)?.text === title) keepDraft(draft_name, undefined)
  return settled.outcome
}

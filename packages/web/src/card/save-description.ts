import type { BoardTools } from '../board/board-tools.ts'
import { type Draft, keepDraft, readDraft } from './drafts.ts'
import { mergeText } from './merge-text.ts'

/** What becomes of a text on its way: it may be told twice, when somebody is quicker after all. */
export type Step =
  | { state: 'shown'; is_merged: boolean; theirs: string }
  | { state: 'conflict'; theirs: string; draft: Pick<Draft, 'text' | 'base'> }
  | { state: 'refused'; problem: string; notice_key: string; draft: Pick<Draft, 'text' | 'base'> }

/** The text as the service has it, and the notice that told so: it stays unless both texts can be brought together. */
interface Seen {
  seen: string | null
  notice_key?: string
}

/**
 * Saves a description. What others wrote since `base` is merged into it; where that cannot be, nothing is saved. The
 * draft stays until the service has confirmed it, whatever happens to the page.
 */
export async function saveDescription(
  tools: BoardTools,
  where: { card_id: string; draft_name: string },
  { text, base }: Pick<Draft, 'text' | 'base'>,
  tell: (step: Step) => void,
  { seen, notice_key }: Seen = { seen: tools.find(where.card_id)?.card.description ?? null },
): Promise<void> {
  const { card_id, draft_name } = where
  const theirs = seen ?? ''
  const merged = theirs === base || theirs === text ? text : mergeText(base, text, theirs)
  keepDraft(draft_name, merged === undefined ? { text, base } : { text: merged, base: theirs })
  if (merged === undefined) return tell({ state: 'conflict', theirs, draft: { text, base } })
  if (notice_key) tools.dismiss(notice_key)
  tell({ state: 'shown', is_merged: merged !== text, theirs })
  const settled =
    merged === theirs
      ? ({ outcome: 'confirmed' } as const)
      : await tools.change(
          'updateCard',
          { card_id, description: merged || null },
          { unlessChanged: { description: seen } },
        ).done
  // Another one may have been begun meanwhile.
  if (settled.outcome === 'confirmed' && readDraft(draft_name)?.text === merged) keepDraft(draft_name, undefined)
  if (settled.outcome === 'rejected') {
    const { key, problem } = settled.failure
    const sentence = problem?.detail ?? 'The text could not be saved.'
    return tell({ state: 'refused', problem: sentence, notice_key: key, draft: { text: merged, base: theirs } })
  }
  if (settled.outcome !== 'conflict') return
  const { key, current } = settled.failure
  const now = { seen: current?.description ?? null, notice_key: key }
  return saveDescription(tools, where, { text: merged, base: theirs }, tell, now)
}

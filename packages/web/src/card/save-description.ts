import type { BoardTools } from '../board-state/board-tools.ts'
import { type Draft, readDraft, writeDraft } from './drafts.ts'
import { mergeText } from './merge-text.ts'
import { t } from './messages.ts'

/** Progress of a save. Reported twice if another user's change arrives first. */
export type SaveStep =
  | { state: 'shown'; isMerged: boolean; theirs: string }
  | { state: 'conflict'; theirs: string; draft: Pick<Draft, 'text' | 'base'> }
  | { state: 'rejected'; problem: string; noticeKey: string; draft: Pick<Draft, 'text' | 'base'> }

/** The text on the server, and the failed change that reported it, which is dismissed if both texts can be merged. */
interface SavedText {
  seen: string | null
  noticeKey?: string
}

/**
 * Saves a description. Changes by others since `base` are merged; on a conflict nothing is saved. The draft is kept until the
 * server has confirmed the change.
 */
export async function saveDescription(
  tools: BoardTools,
  where: { card_id: string; draftName: string },
  { text, base }: Pick<Draft, 'text' | 'base'>,
  onProgress: (step: SaveStep) => void,
  { seen, noticeKey }: SavedText = { seen: tools.find(where.card_id)?.card.description ?? null },
): Promise<void> {
  const { card_id, draftName } = where
  const theirs = seen ?? ''
  const merged = theirs === base || theirs === text ? text : mergeText(base, text, theirs)
  writeDraft(draftName, merged === undefined ? { text, base } : { text: merged, base: theirs })
  if (merged === undefined) return onProgress({ state: 'conflict', theirs, draft: { text, base } })
  if (noticeKey) tools.dismiss(noticeKey)
  onProgress({ state: 'shown', isMerged: merged !== text, theirs })
  const settled =
    merged === theirs
      ? ({ outcome: 'confirmed' } as const)
      : await tools.change(
          'updateCard',
          { card_id, description: merged || null },
          { unlessChanged: { description: seen } },
        ).done
  // The user may have started another draft.
  if (settled.outcome === 'confirmed' && readDraft(draftName)?.text === merged) writeDraft(draftName, undefined)
  if (settled.outcome === 'rejected') {
    const { key, problem } = settled.failure
    const message = problem?.detail ?? t.descriptionNotSaved
    return onProgress({ state: 'rejected', problem: message, noticeKey: key, draft: { text: merged, base: theirs } })
  }
  if (settled.outcome !== 'conflict') return
  const { key, current } = settled.failure
  const now = { seen: current?.description ?? null, noticeKey: key }
  return saveDescription(tools, where, { text: merged, base: theirs }, onProgress, now)
}

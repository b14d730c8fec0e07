import type { BoardTools } from '../board-state/board-tools.ts'
import { showToast } from '../ui/toasts.ts'
import { mergeText } from './merge-text.ts'
import { t } from './messages.ts'

/** Saves a description in which one task was ticked. Changes by others since `base` are merged. There is no draft. */
export async function saveTask(tools: BoardTools, card_id: string, text: string, base: string): Promise<void> {
  if (text === base) return
  const change = { card_id, description: text }
  const settled = await tools.change('updateCard', change, { unlessChanged: { description: base } }).done
  if (settled.outcome !== 'conflict') return
  const { key, current } = settled.failure
  tools.dismiss(key)
  const theirs = current?.description ?? ''
  const merged = mergeText(base, text, theirs)
  if (merged === undefined) showToast(t.taskConflict)
  else await saveTask(tools, card_id, merged, theirs)
}

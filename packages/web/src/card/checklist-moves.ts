import type { Card, Checklist, ChecklistItem } from '@lockstep/client'
import type { BoardTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { restoreFocus } from './restore-focus.ts'

/** The placement of an item after one step in its list; `undefined` at the edge. */
function stepIn(list: readonly { id: string }[], id: string, step: -1 | 1) {
  const position = list.findIndex((each) => each.id === id) + step
  if (position < 0 || position >= list.length) return undefined
  const others = list.filter((each) => each.id !== id)
  return { after_id: others[position - 1]?.id ?? null, position }
}

export function stepItem(tools: BoardTools, { items }: Checklist, item: ChecklistItem, step: -1 | 1) {
  const placement = stepIn(items, item.id, step)
  if (!placement) return announce('Can’t move further')
  restoreFocus()
  tools.change('moveItem', { item_id: item.id, ...placement })
  announce(`Moved “${item.content}”, ${placement.position + 1} of ${items.length}`)
}

export function stepChecklist(tools: BoardTools, { checklists }: Card, { id, title }: Checklist, step: -1 | 1) {
  const placement = stepIn(checklists, id, step)
  if (!placement) return announce('Can’t move further')
  restoreFocus()
  tools.change('moveChecklist', { checklist_id: id, ...placement })
  announce(`Moved “${title}”, ${placement.position + 1} of ${checklists.length}`)
}

export function moveToChecklist(tools: BoardTools, item: ChecklistItem, to: Checklist) {
  tools.change('moveItem', { item_id: item.id, checklist_id: to.id, after_id: to.items.at(-1)?.id ?? null })
  announce(`Moved “${item.content}” to “${to.title}”`)
}

export function removeItem(tools: BoardTools, { id, content }: ChecklistItem) {
  tools.showUndoToast(`Deleted “${content}”`, tools.change('deleteItem', { item_id: id }))
}

export function removeChecklist(tools: BoardTools, { id, title }: Checklist) {
  tools.showUndoToast(`Deleted “${title}”`, tools.change('deleteChecklist', { checklist_id: id }))
}

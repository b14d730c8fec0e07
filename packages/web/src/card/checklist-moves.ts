import type { Card, Checklist, ChecklistItem } from '@lockstep/client'
import type { BoardTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { t } from './messages.ts'
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
  if (!placement) return announce(t.cantMoveFurther)
  restoreFocus()
  tools.change('moveItem', { item_id: item.id, ...placement })
  announce(t.movedToPosition({ name: item.content, position: placement.position + 1, total: items.length }))
}

export function stepChecklist(tools: BoardTools, { checklists }: Card, { id, title }: Checklist, step: -1 | 1) {
  const placement = stepIn(checklists, id, step)
  if (!placement) return announce(t.cantMoveFurther)
  restoreFocus()
  tools.change('moveChecklist', { checklist_id: id, ...placement })
  announce(t.movedToPosition({ name: title, position: placement.position + 1, total: checklists.length }))
}

export function moveToChecklist(tools: BoardTools, item: ChecklistItem, to: Checklist) {
  tools.change('moveItem', { item_id: item.id, checklist_id: to.id, after_id: to.items.at(-1)?.id ?? null })
  announce(t.movedToChecklist({ content: item.content, title: to.title }))
}

export function removeItem(tools: BoardTools, { id, content }: ChecklistItem) {
  tools.showUndoToast(t.deleted({ name: content }), tools.change('deleteItem', { item_id: id }))
}

export function removeChecklist(tools: BoardTools, { id, title }: Checklist) {
  tools.showUndoToast(t.deleted({ name: title }), tools.change('deleteChecklist', { checklist_id: id }))
}

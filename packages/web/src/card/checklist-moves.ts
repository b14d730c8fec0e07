import type { Card, Checklist, ChecklistItem } from '@lockstep/client'
import type { BoardTools } from '../board/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { keepFocus } from './keep-focus.ts'

/** Where one of a list stands after a step: behind which of the others, and at which index. Undefined at the edge. */
function stepIn(list: readonly { id: string }[], id: string, step: -1 | 1) {
  const position = list.findIndex((each) => each.id === id) + step
  if (position < 0 || position >= list.length) return undefined
  const others = list.filter((each) => each.id !== id)
  return { after_id: others[position - 1]?.id ?? null, position }
}

export function stepItem(tools: BoardTools, { items }: Checklist, item: ChecklistItem, step: -1 | 1) {
  const place = stepIn(items, item.id, step)
  if (!place) return announce('It is at the edge.')
  keepFocus()
  tools.change('moveItem', { item_id: item.id, ...place })
  announce(`“${item.content}” moved, ${place.position + 1} of ${items.length}.`)
}

export function stepChecklist(tools: BoardTools, { checklists }: Card, { id, title }: Checklist, step: -1 | 1) {
  const place = stepIn(checklists, id, step)
  if (!place) return announce('It is at the edge.')
  keepFocus()
  tools.change('moveChecklist', { checklist_id: id, ...place })
  announce(`“${title}” moved, ${place.position + 1} of ${checklists.length}.`)
}

export function moveToChecklist(tools: BoardTools, item: ChecklistItem, to: Checklist) {
  tools.change('moveItem', { item_id: item.id, checklist_id: to.id, after_id: to.items.at(-1)?.id ?? null })
  announce(`“${item.content}” moved to “${to.title}”.`)
}

export function removeItem(tools: BoardTools, { id, content }: ChecklistItem) {
  tools.offerUndo(`Deleted “${content}”`, tools.change('deleteItem', { item_id: id }))
}

export function removeChecklist(tools: BoardTools, { id, title }: Checklist) {
  tools.offerUndo(`Deleted “${title}”`, tools.change('deleteChecklist', { checklist_id: id }))
}

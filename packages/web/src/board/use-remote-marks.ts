import type { BoardEvent, FullBoard } from '@lockstep/client'
import { useBoardEvents } from '@lockstep/client/react'
import { boardApi } from '../board-state/board-api.ts'
import type { BoardTools } from '../board-state/board-tools.ts'
import { announceOthers } from '../ui/announcer.tsx'
import { colorOf, nameOf } from '../ui/people.tsx'
import { showToast } from '../ui/toasts.tsx'

/** Maximum number of marks at once: more would be unreadable and slow. */
const MAX_MARKS = 24

const verbs: Record<string, string> = {
  'card.created': 'added',
  'card.updated': 'edited',
  'card.moved': 'moved',
  'card.labeled': 'labelled',
  'card.unlabeled': 'removed a label from',
  'card.assigned': 'assigned',
  'card.unassigned': 'unassigned someone from',
}

/** Marks cards that others change, with their name and colour. */
export function useRemoteMarks(tools: BoardTools) {
  useBoardEvents(boardApi, tools.board_id, (event, { isOwn }) => {
    if (isOwn || event.type === 'resync' || isRebalancing(tools, event) || isMemberRemoval(event)) return
    // Uploads bypass the live board, so `isOwn` is not set for them.
    if (event.type === 'attachment.created' && event.user_id === tools.me.id) return
    const who = actorOf(tools, event.user_id)
    warnWhileDragging(tools, event, who.name)
    const card_id = cardOf(tools, event)
    if (!card_id) return
    const text = `${who.name} ${verbs[event.type] ?? 'changed'} this${who.where}`
    if (tools.marks.get().size < MAX_MARKS || tools.marks.get().has(card_id))
      tools.mark(card_id, { color: who.color, text })
    const { title } = event.data as { title?: string }
    announceOthers(`${who.name} ${verbs[event.type] ?? 'changed'} “${title ?? 'a card'}”${who.where}.`)
  })
}

/** Rebalancing: the server spreads the ranks of neighbours. The visible order does not change. */
function isRebalancing(tools: BoardTools, { type, user_id, data }: BoardEvent): boolean {
  if (user_id !== null || !type.endsWith('.moved')) return false
  const { id, column_id } = data as { id: string; column_id?: string }
  // The event is not applied yet: a card that a rule moves is still in its old column.
  return type !== 'card.moved' || tools.find(id)?.column.id === column_id
}

/** A removed member is unassigned from cards and items. The removal event, which follows, says who did it. */
const isMemberRemoval = ({ type, user_id }: BoardEvent) => user_id === null && type.endsWith('.unassigned')

function actorOf(tools: BoardTools, user_id: string | null): { name: string; where: string; color: string } {
  if (user_id === null) return { name: 'A rule', where: '', color: '#6a655a' }
  if (user_id === tools.me.id) return { name: 'You', where: ' in another window', color: colorOf(user_id) }
  const user = tools.member(user_id)
  return { name: user ? (user.firstname ?? nameOf(user)) : 'Someone', where: '', color: colorOf(user_id) }
}

/** The card that an event is about, directly or through a checklist. */
function cardOf(tools: BoardTools, { type, data }: BoardEvent): string | undefined {
  if (type.startsWith('card.')) return type === 'card.deleted' ? undefined : (data as { id: string }).id
  const { card_id, checklist_id } = data as { card_id?: string; checklist_id?: string }
  return card_id ?? (checklist_id && cardOfChecklist(tools.view, checklist_id))
}

const cardOfChecklist = (view: FullBoard, checklist_id: string) =>
  view.columns.flatMap(({ cards }) => cards).find(({ checklists }) => checklists.some(({ id }) => id === checklist_id))
    ?.id

/** Tells the user at once if someone changes the card they are dragging. */
function warnWhileDragging(tools: BoardTools, { type, data }: BoardEvent, name: string) {
  const { id, title, column_id } = data as { id: string; title?: string; column_id?: string }
  if (tools.dragging.get()?.id !== id) return
  const column = tools.view.columns.find(({ id: each }) => each === column_id)?.title
  if (type === 'card.deleted') showToast(`${name} deleted the card you are dragging.`)
  if (type === 'card.moved')
    showToast(`${name} moved this card to ${column}. Drop it to move it again, or press Esc to leave it there.`)
  if (type === 'card.updated') showToast(`${name} edited the card you are dragging. Its title is now “${title}”.`)
}

import type { BoardEvent, FullBoard } from '@lockstep/client'
import { useBoardEvents } from '@lockstep/client/react'
import { announceOthers } from '../ui/announcer.tsx'
import { hueOf, nameOf } from '../ui/people.tsx'
import { showToast } from '../ui/toasts.tsx'
import { boardApi } from './board-api.ts'
import type { BoardTools } from './board-tools.ts'

/** More at once is a crowd: nobody could read it, and it would cost the page. */
const MOST = 24

const verbs: Record<string, string> = {
  'card.created': 'added',
  'card.updated': 'edited',
  'card.moved': 'moved',
  'card.labeled': 'labelled',
  'card.unlabeled': 'took a label off',
  'card.assigned': 'assigned',
  'card.unassigned': 'took somebody off',
}

/** Marks what others do on the cards they do it to, with their name and colour. */
export function useBoardMarks(tools: BoardTools) {
  useBoardEvents(boardApi, tools.board_id, (event, { isOwn: is_own }) => {
    if (is_own || event.type === 'resync' || isMakingRoom(tools, event) || isOfRemoval(event)) return
    // Files go past the live board, so it does not know its own.
    if (event.type === 'attachment.created' && event.user_id === tools.me.id) return
    const who = actorOf(tools, event.user_id)
    tellDragger(tools, event, who.name)
    const card_id = cardOf(tools, event)
    if (!card_id) return
    const text = `${who.name} ${verbs[event.type] ?? 'changed'} this`
    if (tools.marks.get().size < MOST || tools.marks.get().has(card_id)) tools.mark(card_id, { color: who.color, text })
    const { title } = event.data as { title?: string }
    announceOthers(`${who.name} ${verbs[event.type] ?? 'changed'} “${title ?? 'a card'}”.`)
  })
}

/** Neighbours that get other numbers so that something fits between them: nobody did that, and nothing is seen of it. */
function isMakingRoom(tools: BoardTools, { type, user_id, data }: BoardEvent): boolean {
  if (user_id !== null || !type.endsWith('.moved')) return false
  const { id, column_id } = data as { id: string; column_id?: string }
  // The page does not show the event yet: a card that a rule moves is in another lane still.
  return type !== 'card.moved' || tools.find(id)?.column.id === column_id
}

/** A removed member is taken off cards and items: the event of the removal, which follows, names who did it. */
const isOfRemoval = ({ type, user_id }: BoardEvent) => user_id === null && type.endsWith('.unassigned')

function actorOf(tools: BoardTools, user_id: string | null): { name: string; color: string } {
  if (user_id === null) return { name: 'A rule', color: '#6a655a' }
  if (user_id === tools.me.id) return { name: 'You, elsewhere,', color: hueOf(user_id) }
  const user = tools.member(user_id)
  return { name: user ? (user.firstname ?? nameOf(user)) : 'Somebody', color: hueOf(user_id) }
}

/** The card that an event is about, or that what it is about hangs from. */
function cardOf(tools: BoardTools, { type, data }: BoardEvent): string | undefined {
  if (type.startsWith('card.')) return type === 'card.deleted' ? undefined : (data as { id: string }).id
  const { card_id, checklist_id } = data as { card_id?: string; checklist_id?: string }
  return card_id ?? (checklist_id && cardOfChecklist(tools.view, checklist_id))
}

const cardOfChecklist = (view: FullBoard, checklist_id: string) =>
  view.columns.flatMap(({ cards }) => cards).find(({ checklists }) => checklists.some(({ id }) => id === checklist_id))
    ?.id

/** Whoever holds a card must hear at once what happens to it in his hand. */
function tellDragger(tools: BoardTools, { type, data }: BoardEvent, name: string) {
  const { id, title, column_id } = data as { id: string; title?: string; column_id?: string }
  if (tools.dragging.get()?.id !== id) return
  const lane = tools.view.columns.find((column) => column.id === column_id)?.title
  if (type === 'card.deleted') showToast(`${name} deleted the card that you hold.`)
  if (type === 'card.moved')
    showToast(`${name} moved this card to ${lane}. Drop it to move it on, Esc leaves it there.`)
  if (type === 'card.updated') showToast(`${name} changed the card that you hold: it is “${title}” now.`)
}

import type { BoardEvent, Card, FullBoard } from '@lockstep/client'
import { useBoardEvents } from '@lockstep/client/react'
import { boardApi } from '../board-state/board-api.ts'
import type { BoardTools } from '../board-state/board-tools.ts'
import { announceOthers } from '../ui/announcer.tsx'
import { nameOf } from '../ui/people.tsx'
import { personColor, RULE_COLOR } from '../ui/person-color.ts'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

/** Maximum number of marks at once: more would be unreadable and slow. */
const MAX_MARKS = 24

/** The words for a change: at the card, and announced. A change of the user's own was made in another window. */
interface ChangeWords {
  mark: (values: { name: string }) => string
  ownMark: string
  news: (values: { name: string; title: string }) => string
  ownNews: (values: { title: string }) => string
}
const changed: ChangeWords = {
  mark: t.changedThis,
  ownMark: t.youChangedThis,
  news: t.changed,
  ownNews: t.youChanged,
}
const restored: ChangeWords = {
  mark: t.restoredThis,
  ownMark: t.youRestoredThis,
  news: t.restored,
  ownNews: t.youRestored,
}
const words: Record<string, ChangeWords> = {
  'card.created': { mark: t.addedThis, ownMark: t.youAddedThis, news: t.added, ownNews: t.youAdded },
  'card.updated': { mark: t.editedThis, ownMark: t.youEditedThis, news: t.edited, ownNews: t.youEdited },
  'card.moved': { mark: t.movedThis, ownMark: t.youMovedThis, news: t.moved, ownNews: t.youMoved },
  'card.labeled': { mark: t.labeledThis, ownMark: t.youLabeledThis, news: t.labeled, ownNews: t.youLabeled },
  'card.unlabeled': { mark: t.unlabeledThis, ownMark: t.youUnlabeledThis, news: t.unlabeled, ownNews: t.youUnlabeled },
  'card.assigned': { mark: t.assignedThis, ownMark: t.youAssignedThis, news: t.assigned, ownNews: t.youAssigned },
  'card.unassigned': {
    mark: t.unassignedThis,
    ownMark: t.youUnassignedThis,
    news: t.unassigned,
    ownNews: t.youUnassigned,
  },
  'comment.created': {
    mark: t.commentedOnThis,
    ownMark: t.youCommentedOnThis,
    news: t.commentedOn,
    ownNews: t.youCommentedOn,
  },
}

/** Marks cards that others change, with their name and colour. */
export function useRemoteMarks(tools: BoardTools) {
  useBoardEvents(boardApi, tools.board_id, (event, { isOwn }) => {
    if (isOwn || event.type === 'resync' || isRebalancing(tools, event) || isMemberRemoval(event)) return
    // Uploads and comments bypass the live board, so `isOwn` is not set for them.
    if (/^(attachment|comment)\.created$/.test(event.type) && event.user_id === tools.me.id) return
    if (event.type === 'comment.updated' || event.type === 'comment.deleted') return
    const { name, isMe, color } = actorOf(tools, event.user_id)
    warnWhileDragging(tools, event, name)
    const card_id = cardOf(tools, event)
    if (!card_id) return
    const { mark, ownMark, news, ownNews } = isReturn(event) ? restored : (words[event.type] ?? changed)
    if (tools.marks.get().size < MAX_MARKS || tools.marks.get().has(card_id))
      tools.mark(card_id, { color, text: isMe ? ownMark : mark({ name }) })
    const { title = tools.find(card_id)?.card.title ?? t.aCard } = event.data as { title?: string }
    announceOthers(isMe ? ownNews({ title }) : news({ name, title }))
  })
}

/** A restored card is older than its event. */
const isReturn = ({ type, data, timestamp }: BoardEvent): boolean =>
  type === 'card.created' && Date.parse(data.created_at) < Date.parse(timestamp)

/** Rebalancing: the server spreads the ranks of neighbours. The visible order does not change. */
function isRebalancing(tools: BoardTools, { type, user_id, data }: BoardEvent): boolean {
  if (user_id !== null || !type.endsWith('.moved')) return false
  const { id, column_id } = data as { id: string; column_id?: string }
  // The event is not applied yet: a card that a rule moves is still in its old column.
  return type !== 'card.moved' || tools.find(id)?.column.id === column_id
}

/** A removed member is unassigned from cards and items. The removal event, which follows, says who did it. */
const isMemberRemoval = ({ type, user_id }: BoardEvent) => user_id === null && type.endsWith('.unassigned')

function actorOf(tools: BoardTools, user_id: string | null): { name: string; isMe: boolean; color: string } {
  if (user_id === null) return { name: t.aRule, isMe: false, color: RULE_COLOR }
  const color = personColor(user_id)
  if (user_id === tools.me.id) return { name: t.you, isMe: true, color }
  const user = tools.member(user_id)
  return { name: user ? (user.firstname ?? nameOf(user)) : t.someone, isMe: false, color }
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
  const { id, title = '', column_id } = data as { id: string; title?: string; column_id?: string }
  if (tools.dragging.get()?.id !== id) return
  const column = tools.view.columns.find(({ id: each }) => each === column_id)?.title ?? ''
  const { removed } = data as Partial<Card>
  if (type === 'card.deleted') showToast((removed?.as === 'archived' ? t.archivedDragged : t.deletedDragged)({ name }))
  if (type === 'card.moved') showToast(t.movedDragged({ name, column }))
  if (type === 'card.updated') showToast(t.editedDragged({ name, title }))
}

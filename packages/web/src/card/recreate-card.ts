import type { Card } from '@lockstep/client'
import type { BoardTools } from '../board-state/board-tools.ts'

interface NewCardPosition {
  column_id: string
  position: number
}

/**
 * Creates a deleted card again with new ids: text, due date, checklists, and the labels and assignees that still exist on the
 * board. Attachments can't be restored.
 */
export function recreateCard(tools: BoardTools, card: Card, description: string, position: NewCardPosition): string {
  const { labels, members } = tools.view
  const present = (people: readonly { id: string }[]) =>
    people.map(({ id }) => id).filter((id) => members.some(({ user_id }) => user_id === id))
  const { id: card_id } = tools.change('createCard', {
    ...position,
    title: card.title,
    ...(description && { description }),
    ...(card.due_on && { due_on: card.due_on }),
  })
  for (const { id: label_id } of card.labels)
    if (labels.some(({ id }) => id === label_id)) tools.change('addCardLabel', { card_id, label_id })
  const user_ids = present(card.assignees)
  if (user_ids.length > 0) tools.change('assignCard', { card_id, user_ids })
  for (const { title, items } of card.checklists) {
    const { id: checklist_id } = tools.change('createChecklist', { card_id, title })
    for (const { content, is_done, assignees } of items) {
      const { id: item_id } = tools.change('createItem', { checklist_id, content })
      if (is_done) tools.change('updateItem', { item_id, is_done })
      const onItem = present(assignees)
      if (onItem.length > 0) tools.change('assignItem', { item_id, user_ids: onItem })
    }
  }
  return card_id
}

import type { Card } from '@lockstep/client'
import type { BoardTools } from '../board/board-tools.ts'

interface Place {
  column_id: string
  position: number
}

/**
 * Makes a deleted card again, under new ids: its texts, labels, people and checklists, as far as they are still on the
 * board. Its files are gone.
 */
export function recreateCard(tools: BoardTools, card: Card, description: string, place: Place): string {
  const { labels, members } = tools.view
  const present = (people: readonly { id: string }[]) =>
    people.map(({ id }) => id).filter((id) => members.some(({ user_id }) => user_id === id))
  const { id: card_id } = tools.change('createCard', {
    ...place,
    title: card.title,
    ...(description && { description }),
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
      const on_item = present(assignees)
      if (on_item.length > 0) tools.change('assignItem', { item_id, user_ids: on_item })
    }
  }
  return card_id
}

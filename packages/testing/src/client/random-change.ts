import type { Change, FullBoard } from '../../../client/src/live/types.ts'

/** A random change that a user could make to the board they see; undefined if there is no target for it. */
export function randomChange(
  board: FullBoard,
  below: (n: number) => number,
  newId: (kind: string) => string,
  users: readonly string[],
): Change | undefined {
  // Prefers the first item, because users often work on the same things.
  const pick = <T>(list: readonly T[]): T | undefined => list[below(3) === 0 ? 0 : below(list.length)]
  const cards = board.columns.flatMap((column) => column.cards)
  const checklists = cards.flatMap((card) => card.checklists)
  const [column, card, label] = [pick(board.columns), pick(cards), pick(board.labels)]
  const [checklist, item] = [pick(checklists), pick(checklists.flatMap((list) => list.items))]
  const user_id = pick(users) ?? ''
  const text = `text ${below(1_000)}`
  if (!column) return { name: 'createColumn', input: { id: newId('column'), title: text } }
  const position = below(column.cards.length + 1)
  const kind = below(40)
  if (kind < 5)
    return {
      name: 'createCard',
      input: { id: newId('card'), column_id: column.id, title: text, ...(below(3) && { position }) },
    }
  if (kind === 5) return { name: 'createColumn', input: { id: newId('column'), title: text, position: below(3) } }
  if (kind === 6) return { name: 'updateColumn', input: { column_id: column.id, title: text } }
  if (kind < 9) return { name: 'moveColumn', input: { column_id: column.id, position: below(board.columns.length) } }
  if (kind === 9 && below(4) === 0)
    return { name: below(2) ? 'deleteColumn' : 'archiveColumn', input: { column_id: column.id } }
  if (kind === 10) return { name: 'updateBoard', input: { title: text } }
  if (kind === 11) return { name: 'createLabel', input: { id: newId('label'), name: text } }
  if (kind === 12 && label) return { name: 'updateLabel', input: { label_id: label.id, name: text } }
  if (kind === 13 && label && below(4) === 0) return { name: 'deleteLabel', input: { label_id: label.id } }
  if (!card) return undefined
  const card_id = card.id
  if (kind < 20) return { name: 'moveCard', input: { card_id, column_id: column.id, position } }
  if (kind === 20) return { name: 'moveCard', input: { card_id, position: below(4) } }
  if (kind < 23) return { name: 'updateCard', input: { card_id, ...changedField(text, below) } }
  if (kind < 25) return { name: below(2) ? 'deleteCard' : 'archiveCard', input: { card_id } }
  if (kind === 25) return { name: 'assignCard', input: { card_id, user_ids: [user_id, ...users.slice(0, below(2))] } }
  if (kind === 26) return { name: 'unassignCard', input: { card_id, user_id: card.assignees[0]?.id ?? user_id } }
  if (kind < 29 && label) return { name: 'addCardLabel', input: { card_id, label_id: label.id } }
  if (kind === 29 && label)
    return { name: 'removeCardLabel', input: { card_id, label_id: card.labels[0]?.id ?? label.id } }
  if (kind === 30) return { name: 'createChecklist', input: { id: newId('checklist'), card_id, title: text } }
  if (!checklist) return undefined
  const checklist_id = checklist.id
  if (kind === 31) return { name: 'createItem', input: { id: newId('item'), checklist_id, content: text } }
  if (kind === 32) return { name: 'moveChecklist', input: { checklist_id, position: below(3) } }
  if (kind === 33) return { name: 'updateChecklist', input: { checklist_id, title: text } }
  if (kind === 34 && below(3) === 0) return { name: 'deleteChecklist', input: { checklist_id } }
  if (!item) return undefined
  const item_id = item.id
  if (kind === 35) return { name: 'updateItem', input: { item_id, is_done: !item.is_done } }
  if (kind === 36) return { name: 'deleteItem', input: { item_id } }
  if (kind === 37) return { name: 'assignItem', input: { item_id, user_ids: [user_id] } }
  if (kind === 38) return { name: 'unassignItem', input: { item_id, user_id: item.assignees[0]?.id ?? user_id } }
  return { name: 'moveItem', input: { item_id, checklist_id, position: below(checklist.items.length + 1) } }
}

/** The ids of the list into which a change puts an item, without the item itself unless `isWhole`. */
export function listOf(board: FullBoard, { name, input }: Change, isWhole = false): string[] | undefined {
  const { column_id, checklist_id, card_id, item_id, id } = input as Record<string, string | undefined>
  const cards = board.columns.flatMap((column) => column.cards)
  const lists = cards.flatMap((card) => card.checklists)
  const holder = {
    createColumn: board.columns,
    moveColumn: board.columns,
    createCard: board.columns.find((column) => column.id === column_id)?.cards,
    moveCard: board.columns.find((column) =>
      column_id ? column.id === column_id : column.cards.some((card) => card.id === card_id),
    )?.cards,
    moveChecklist: cards.find((card) => card.checklists.some((list) => list.id === checklist_id))?.checklists,
    moveItem: lists.find((list) =>
      checklist_id ? list.id === checklist_id : list.items.some((item) => item.id === item_id),
    )?.items,
  }[name as string] as { id: string }[] | undefined
  const self = { moveColumn: column_id, moveCard: card_id, moveChecklist: checklist_id, moveItem: item_id }[
    name as string
  ]
  return holder?.map((item) => item.id).filter((other) => isWhole || other !== (self ?? id))
}

/** The same change without its neighbour, only with an index. */
export function withoutAnchor(change: Change): Change {
  const { after_id: _, ...rest } = change.input as { after_id?: unknown }
  return { ...change, input: rest } as Change
}

/** One field of a card with a new value. */
function changedField(text: string, below: (n: number) => number) {
  const fields = [{ title: text }, { description: text }, { due_on: below(2) ? null : `2026-11-${10 + below(20)}` }]
  return fields[below(fields.length)]
}

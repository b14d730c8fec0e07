import { defined, type Fields, subjectOf } from './predict.ts'
import { CARDS, find, type Item } from './tree.ts'
import type { Card, Change, Checklist, ChecklistItem, Column, FullBoard, Label } from './types.ts'

/**
 * The changes that undo a change, given the board before it; none if it cannot be undone. Deleted resources are
 * restored with their ids, but not the content of files.
 */
export function inverse(board: FullBoard, change: Change): Change[] {
  const { verb, kindName, kind, fields, id } = subjectOf(change)
  const make = (name: string, input: Fields) => [{ name, input } as unknown as Change]
  if (change.name === 'updateBoard') return make(change.name, pick(board as unknown as Item, fields))
  if (!kind) return []
  const idField = `${kindName.toLowerCase()}_id`
  if (verb === 'create') return make(`delete${kindName}`, { [idField]: id })
  if (verb === 'add' || verb === 'remove') {
    const card = find(board, CARDS, fields['card_id'] as string)?.item as Card | undefined
    const hasLabel = card?.labels.some((label) => label.id === fields['label_id']) ?? false
    if (hasLabel === (verb === 'add')) return []
    return make(verb === 'add' ? 'removeCardLabel' : 'addCardLabel', fields)
  }
  const found = find(board, kind.path, id)
  if (!found) return []
  const { item, parent, index } = found
  switch (verb) {
    case 'move':
      return make(change.name, {
        [idField]: id,
        ...listPosition(parent, kind.path, index),
        ...parentOf(kindName, item),
      })
    case 'update':
      return make(change.name, { [idField]: id, ...pick(item, fields) })
    case 'delete':
      return restore(board, kindName, item, listPosition(parent, kind.path, index))
    case 'assign': {
      const before = (item as unknown as Card).assignees.map((user) => user.id)
      const added = (fields.user_ids ?? []).filter((user_id) => !before.includes(user_id))
      return added.flatMap((user_id) => make(`unassign${kindName}`, { [idField]: id, user_id }))
    }
    default: {
      const wasAssigned = (item as unknown as Card).assignees.some((user) => user.id === fields['user_id'])
      return wasAssigned ? make(`assign${kindName}`, { [idField]: id, user_ids: [fields['user_id'] as string] }) : []
    }
  }
}

const pick = (item: Item, fields: Fields): Fields =>
  Object.fromEntries(Object.keys(defined(fields)).map((key) => [key, item[key]]))

/** After the same neighbour, or at the same index if the neighbour is gone by then. */
function listPosition(parent: Item, path: readonly string[], position: number) {
  const list = parent[path.at(-1) as string] as Item[]
  return { after_id: list[position - 1]?.id ?? null, position }
}

/** Only cards and checklist items can change their parent. */
function parentOf(kindName: string, item: Item): Fields {
  const parent = { Card: 'column_id', Item: 'checklist_id' }[kindName]
  return parent ? { [parent]: item[parent] } : {}
}

type ListPosition = ReturnType<typeof listPosition>

function restore(board: FullBoard, kindName: string, item: Item, position: ListPosition): Change[] {
  switch (kindName) {
    case 'Column': {
      const { id, title, color, is_done_column, cards } = item as unknown as Column
      const input = { id, title, color, is_done_column, ...position }
      return [{ name: 'createColumn', input }, ...cards.flatMap((card) => restoreCard(card))]
    }
    case 'Card':
      return restoreCard(item as unknown as Card, position)
    case 'Checklist':
      return restoreChecklist(item as unknown as Checklist, position)
    case 'Item':
      return restoreItem(item as unknown as ChecklistItem, position)
    case 'Label': {
      const { id, name, color } = item as unknown as Label
      const carriers = board.columns.flatMap((c) => c.cards).filter((card) => card.labels.some((l) => l.id === id))
      const labels = carriers.map(
        (card): Change => ({ name: 'addCardLabel', input: { card_id: card.id, label_id: id } }),
      )
      return [{ name: 'createLabel', input: { id, name, color } }, ...labels]
    }
    default:
      return []
  }
}

function restoreCard(card: Card, position?: ListPosition): Change[] {
  const { id: card_id, column_id, title, description } = card
  const user_ids = card.assignees.map((user) => user.id)
  return [
    { name: 'createCard', input: { id: card_id, column_id, title, description, ...position } },
    ...card.labels.map((label): Change => ({ name: 'addCardLabel', input: { card_id, label_id: label.id } })),
    ...(user_ids.length > 0 ? [{ name: 'assignCard', input: { card_id, user_ids } } as const] : []),
    ...card.checklists.flatMap((checklist) => restoreChecklist(checklist)),
  ]
}

/** Checklists and items are created at the end and then moved. */
function restoreChecklist({ id, card_id, title, items }: Checklist, position?: ListPosition): Change[] {
  return [
    { name: 'createChecklist', input: { id, card_id, title } },
    ...(position ? [{ name: 'moveChecklist', input: { checklist_id: id, ...position } } as const] : []),
    ...items.flatMap((item) => restoreItem(item)),
  ]
}

function restoreItem(
  { id, checklist_id, content, is_done, assignees }: ChecklistItem,
  position?: ListPosition,
): Change[] {
  const user_ids = assignees.map((user) => user.id)
  return [
    { name: 'createItem', input: { id, checklist_id, content } },
    ...(position ? [{ name: 'moveItem', input: { item_id: id, ...position } } as const] : []),
    ...(is_done ? [{ name: 'updateItem', input: { item_id: id, is_done } } as const] : []),
    ...(user_ids.length > 0 ? [{ name: 'assignItem', input: { item_id: id, user_ids } } as const] : []),
  ]
}

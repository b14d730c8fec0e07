import { defined, type Fields, kinds, subjectOf } from './predict.ts'
import { find, type Item } from './tree.ts'
import type { Card, Change, Checklist, ChecklistItem, Column, FullBoard, Label } from './types.ts'

/**
 * The changes that take one back, given the board before it; none when it cannot be taken back. What was deleted comes
 * back under its own id, but for the content of files.
 */
export function inverse(board: FullBoard, change: Change): Change[] {
  const { verb, kindName, kind, fields, id } = subjectOf(change)
  const make = (name: string, input: Fields) => [{ name, input } as unknown as Change]
  if (change.name === 'updateBoard') return make(change.name, pick(board as unknown as Item, fields))
  if (!kind) return []
  const self = `${kindName.toLowerCase()}_id`
  if (verb === 'create') return make(`delete${kindName}`, { [self]: id })
  if (verb === 'add' || verb === 'remove') {
    const card = find(board, kinds['Card']?.path ?? [], fields['card_id'] as string)?.item as Card | undefined
    const hasIt = card?.labels.some((label) => label.id === fields['label_id']) ?? false
    if (hasIt === (verb === 'add')) return []
    return make(verb === 'add' ? 'removeCardLabel' : 'addCardLabel', fields)
  }
  const found = find(board, kind.path, id)
  if (!found) return []
  const { item, parent, index } = found
  switch (verb) {
    case 'move':
      return make(change.name, { [self]: id, ...placeOf(parent, kind.path, index), ...parentOf(kindName, item) })
    case 'update':
      return make(change.name, { [self]: id, ...pick(item, fields) })
    case 'delete':
      return restore(board, kindName, item, placeOf(parent, kind.path, index))
    case 'assign': {
      const before = (item as unknown as Card).assignees.map((user) => user.id)
      const news = (fields.user_ids ?? []).filter((user_id) => !before.includes(user_id))
      return news.flatMap((user_id) => make(`unassign${kindName}`, { [self]: id, user_id }))
    }
    default: {
      const wasThere = (item as unknown as Card).assignees.some((user) => user.id === fields['user_id'])
      return wasThere ? make(`assign${kindName}`, { [self]: id, user_ids: [fields['user_id'] as string] }) : []
    }
  }
}

const pick = (item: Item, fields: Fields): Fields =>
  Object.fromEntries(Object.keys(defined(fields)).map((key) => [key, item[key]]))

/** Behind the same neighbour; should it be gone by then, at the same position. */
function placeOf(parent: Item, path: readonly string[], position: number) {
  const list = parent[path.at(-1) as string] as Item[]
  return { after_id: list[position - 1]?.id ?? null, position }
}

/** Only cards and items can change what they hang from. */
function parentOf(kindName: string, item: Item): Fields {
  const parent = { Card: 'column_id', Item: 'checklist_id' }[kindName]
  return parent ? { [parent]: item[parent] } : {}
}

type Place = ReturnType<typeof placeOf>

function restore(board: FullBoard, kindName: string, item: Item, place: Place): Change[] {
  switch (kindName) {
    case 'Column': {
      const { id, title, color, is_done_column, cards } = item as unknown as Column
      const input = { id, title, color, is_done_column, ...place }
      return [{ name: 'createColumn', input }, ...cards.flatMap((card) => restoreCard(card))]
    }
    case 'Card':
      return restoreCard(item as unknown as Card, place)
    case 'Checklist':
      return restoreChecklist(item as unknown as Checklist, place)
    case 'Item':
      return restoreItem(item as unknown as ChecklistItem, place)
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

function restoreCard(card: Card, place?: Place): Change[] {
  const { id: card_id, column_id, title, description } = card
  const user_ids = card.assignees.map((user) => user.id)
  return [
    { name: 'createCard', input: { id: card_id, column_id, title, description, ...place } },
    ...card.labels.map((label): Change => ({ name: 'addCardLabel', input: { card_id, label_id: label.id } })),
    ...(user_ids.length > 0 ? [{ name: 'assignCard', input: { card_id, user_ids } } as const] : []),
    ...card.checklists.flatMap((checklist) => restoreChecklist(checklist)),
  ]
}

/** Checklists and items are made at the end, and go to their place from there. */
function restoreChecklist({ id, card_id, title, items }: Checklist, place?: Place): Change[] {
  return [
    { name: 'createChecklist', input: { id, card_id, title } },
    ...(place ? [{ name: 'moveChecklist', input: { checklist_id: id, ...place } } as const] : []),
    ...items.flatMap((item) => restoreItem(item)),
  ]
}

function restoreItem({ id, checklist_id, content, is_done, assignees }: ChecklistItem, place?: Place): Change[] {
  const user_ids = assignees.map((user) => user.id)
  return [
    { name: 'createItem', input: { id, checklist_id, content } },
    ...(place ? [{ name: 'moveItem', input: { item_id: id, ...place } } as const] : []),
    ...(is_done ? [{ name: 'updateItem', input: { item_id: id, is_done } } as const] : []),
    ...(user_ids.length > 0 ? [{ name: 'assignItem', input: { item_id: id, user_ids } } as const] : []),
  ]
}

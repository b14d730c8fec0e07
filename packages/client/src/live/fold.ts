import {
  ATTACHMENTS,
  CARD_LABELS,
  CARDS,
  CHECKLISTS,
  COLUMNS,
  find,
  ITEMS,
  type Item,
  inLists,
  insertRanked,
  LABELS,
  type Path,
  put,
  remove,
  share,
  update,
} from './tree.ts'
import type { BoardEvent, BoardMember, FullBoard } from './types.ts'

/** The ordered kinds: where they are, and the field with the parent's id. */
const ranked: Record<string, [path: Path, parent: string]> = {
  column: [COLUMNS, 'board_id'],
  card: [CARDS, 'column_id'],
  checklist: [CHECKLISTS, 'card_id'],
  checklist_item: [ITEMS, 'checklist_id'],
}

/**
 * The board after one event. Only changed parts become new objects. Unknown kinds of events, sent by newer servers,
 * change nothing.
 */
export function applyEvent(board: FullBoard, event: BoardEvent): FullBoard {
  const [kind = '', verb] = event.type.split('.')
  const data = event.data as unknown as Item
  const rankedKind = ranked[kind]
  if (rankedKind) {
    const [path, parent] = rankedKind
    if (verb === 'deleted') return remove(board, path, data.id)
    const item = share(find(board, path, data.id)?.item, data)
    return put(board, path, data[parent] as string, item, (others) => insertRanked(others, item))
  }
  if (kind === 'label') return foldLabel(board, verb, data)
  if (kind === 'attachment') {
    if (verb === 'deleted') return remove(board, ATTACHMENTS, data.id)
    return put(board, ATTACHMENTS, data['card_id'] as string, data, (others) => [...others, data])
  }
  if (event.type === 'board.updated') return share(board, { ...board, ...event.data })
  if (event.type === 'board.member_added')
    return { ...board, members: [...withoutMember(board, event.data), event.data] }
  if (event.type === 'board.member_removed') return { ...board, members: withoutMember(board, event.data) }
  return board
}

/** Labels are embedded in the board and in every card that has them. */
function foldLabel(board: FullBoard, verb: string | undefined, label: Item): FullBoard {
  if (verb === 'created') return inLists(board, LABELS, (list) => [...list, label])
  const change = (from: FullBoard, path: Path) =>
    verb === 'deleted' ? remove(from, path, label.id) : update(from, path, label.id, () => label)
  return change(change(board, LABELS), CARD_LABELS)
}

const withoutMember = ({ members }: FullBoard, { user_id }: BoardMember) => members.filter((m) => m.user_id !== user_id)

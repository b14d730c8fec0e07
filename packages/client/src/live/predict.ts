import {
  ATTACHMENTS,
  CARD_LABELS,
  CARDS,
  CHECKLISTS,
  COLUMNS,
  find,
  ITEMS,
  type Item,
  indexOf,
  inLists,
  LABELS,
  type Path,
  put,
  remove,
  share,
  update,
  without,
} from './tree.ts'
import type { BoardEvent, Change, ExpectedFields, FullBoard } from './types.ts'

/** The input of any change. */
export type Fields = Record<string, unknown> & {
  id?: string
  position?: number | null
  after_id?: string | null
  user_ids?: string[]
}
export interface Kind {
  path: Path
  /** The field with the parent's id. */
  parent: string
}
export const kinds: Record<string, Kind> = {
  Column: { path: COLUMNS, parent: 'board_id' },
  Card: { path: CARDS, parent: 'column_id' },
  Checklist: { path: CHECKLISTS, parent: 'card_id' },
  Item: { path: ITEMS, parent: 'checklist_id' },
  Label: { path: LABELS, parent: 'board_id' },
  Attachment: { path: ATTACHMENTS, parent: 'card_id' },
}

/** `moveCard` → verb, kind and id. Changes of the board and its members have no kind. */
export function subjectOf({ name, input }: Change) {
  const [, verb = '', kindName = ''] = /^([a-z]+)(?:Card(?=L))?(\w+)$/.exec(name) ?? []
  const fields = input as Fields
  const kind = kinds[kindName]
  return { verb, kindName, kind, fields, id: (fields[`${kindName.toLowerCase()}_id`] ?? fields.id) as string }
}

/**
 * Optimistic update: the board after a change. Returns the same board if the change has no effect or cannot be
 * predicted, like changes of members.
 */
export function predict(board: FullBoard, change: Change, at: string): FullBoard {
  const { verb, kindName, kind, fields, id } = subjectOf(change)
  if (change.name === 'updateBoard') return share(board, { ...board, ...defined(fields) })
  if (!kind) return board
  if (verb === 'add' || verb === 'remove') return predictLabel(board, verb, fields)
  const found = find(board, kind.path, id)
  if (verb === 'create') {
    if (found) return board
    const parent_id = (fields[kind.parent] ?? board.id) as string
    return insertAt(board, kind, parent_id, newItem(kindName, parent_id, kind.parent, fields, at), fields)
  }
  if (!found) return board
  const { item, parent } = found
  switch (verb) {
    case 'move': {
      const parent_id = (fields[kind.parent] ?? parent.id) as string
      const moved = item[kind.parent] === parent_id ? item : { ...item, [kind.parent]: parent_id }
      return insertAt(board, kind, parent_id, moved, fields)
    }
    case 'update':
      return everywhere(board, kind, (from, path) =>
        update(from, path, id, (old) => share(old, { ...old, ...defined(fields) })),
      )
    case 'delete':
      return everywhere(board, kind, (from, path) => remove(from, path, id))
    default: {
      const assignees = item['assignees'] as Item[]
      const next =
        verb === 'assign' ? assigned(board, assignees, fields) : without(assignees, fields['user_id'] as string)
      return next === assignees ? board : update(board, kind.path, id, () => ({ ...item, assignees: next }))
    }
  }
}

const LABEL_EVENTS: Record<string, string> = { add: 'labeled', remove: 'unlabeled' }
const BOARD_EVENTS: Record<string, string> = {
  updateBoard: 'updated',
  deleteBoard: 'deleted',
  inviteMember: 'member_added',
  updateMember: 'updated',
  removeMember: 'member_removed',
}

/** Whether an event does the same to the same resource as a change. */
export function isDoneBy(change: Change, { type, data }: BoardEvent): boolean {
  const { verb, kind, fields, id } = subjectOf(change)
  const [, past] = type.split('.')
  // Removing a member also unassigns them.
  if (!kind)
    return type === `board.${BOARD_EVENTS[change.name]}` || (change.name === 'removeMember' && past === 'unassigned')
  const about = LABEL_EVENTS[verb] ? fields['card_id'] : id
  return (data as { id: string }).id === about && past === (LABEL_EVENTS[verb] ?? `${verb.replace(/e$/, '')}ed`)
}

/** Whether the resources that a change needs exist. */
export function isPossible(board: FullBoard, change: Change): boolean {
  const { verb, kind, fields, id } = subjectOf(change)
  if (!kind) return true
  const has = (path: Path, wanted: unknown) => wanted == null || find(board, path, wanted as string) !== undefined
  const hasParent = kind.parent === 'board_id' || has(kind.path.slice(0, -1), fields[kind.parent])
  if (verb === 'create') return hasParent
  if (verb === 'add' || verb === 'remove') return has(CARDS, fields['card_id']) && has(LABELS, fields['label_id'])
  return has(kind.path, id) && (verb !== 'move' || hasParent)
}

/** A change that depends on expected field values. */
export interface ConditionalChange {
  change: Change
  expected?: ExpectedFields | undefined
}

/** The current values of the expected fields if one of them is neither expected nor wanted; otherwise undefined. */
export function conflictOf(
  { change, expected: guard }: ConditionalChange,
  item: Item | undefined,
): ExpectedFields | undefined {
  if (!guard || !item) return undefined
  const wanted = change.input as Record<string, unknown>
  const entries = Object.entries(guard).filter(([, value]) => value !== undefined)
  if (entries.every(([key, value]) => item[key] === value || item[key] === wanted[key])) return undefined
  return Object.fromEntries(entries.map(([key]) => [key, item[key]])) as ExpectedFields
}

/** Adds the neighbour that the user saw (`after_id`): an index alone is wrong if others move things in the meantime. */
export function withAnchor(board: FullBoard, change: Change): Change {
  const { kind, fields, verb, id } = subjectOf(change)
  const { position, after_id } = fields
  if (!kind || (verb !== 'create' && verb !== 'move') || after_id !== undefined || position == null) return change
  const parent_id = fields[kind.parent] ?? find(board, kind.path, id)?.parent.id ?? board.id
  const parent = parent_id === board.id ? board : find(board, kind.path.slice(0, -1), parent_id as string)?.item
  if (!parent) return change
  const list = without((parent as unknown as Item)[kind.path.at(-1) as string] as Item[], id)
  const before = list[Math.min(position, list.length) - 1]
  return { ...change, input: { ...fields, after_id: before?.id ?? null } } as Change
}

function insertAt(board: FullBoard, { path }: Kind, parent_id: string, item: Item, position: Fields): FullBoard {
  return put(board, path, parent_id, item, (others, before) => {
    const index = indexOf(others, position)
    // Already at this position.
    if (before[index] === item) return before
    if (path === LABELS) return [...others, item]
    return others.toSpliced(index, 0, { ...item, rank: between(others[index - 1], others[index]) })
  })
}

/** A temporary local rank, until the server assigns one. It may be a fraction and is never sent. */
function between(before: Item | undefined, after: Item | undefined): number {
  const [low, high] = [before?.['rank'] as number | undefined, after?.['rank'] as number | undefined]
  if (low === undefined) return (high ?? 1) - 1
  return high === undefined ? low + 1 : (low + high) / 2
}

function newItem(kindName: string, parent_id: string, parent: string, fields: Fields, at: string): Item {
  const { id = '', title, name, content } = fields
  const own = { id, [parent]: parent_id }
  const color = fields['color'] ?? '#6b7280'
  switch (kindName) {
    case 'Column':
      return { ...own, title, rank: 0, color, is_done_column: fields['is_done_column'] ?? false, cards: [] }
    case 'Card': {
      const lists = { labels: [], assignees: [], checklists: [], attachments: [] }
      const description = fields['description'] ?? null
      return { ...own, title, description, rank: 0, ...lists, created_at: at, updated_at: at }
    }
    case 'Checklist':
      return { ...own, title, rank: 0, items: [] }
    case 'Item':
      return { ...own, content, rank: 0, is_done: false, assignees: [] }
    default:
      return { ...own, name, color }
  }
}

/** Labels are embedded in the board and in every card that has them. */
const everywhere = (board: FullBoard, { path }: Kind, change: (from: FullBoard, path: Path) => FullBoard) =>
  path === LABELS ? change(change(board, LABELS), CARD_LABELS) : change(board, path)

function predictLabel(board: FullBoard, verb: string, { card_id, label_id }: Fields): FullBoard {
  const label = find(board, LABELS, label_id as string)?.item
  if (!label) return board
  return inLists(board, CARD_LABELS, (list, card) => {
    if (card.id !== card_id) return list
    const others = without(list, label.id)
    if (verb === 'remove') return others
    return others === list ? [...list, label] : list
  })
}

/** Adds members, without duplicates and unknown users. */
function assigned({ members }: FullBoard, assignees: Item[], { user_ids = [] }: Fields): Item[] {
  const news = [...new Set(user_ids)]
    .filter((user_id) => assignees.every(({ id }) => id !== user_id))
    .flatMap((user_id) => members.filter((member) => member.user_id === user_id).map(({ user }) => user))
  return news.length === 0 ? assignees : [...assignees, ...(news as unknown as Item[])]
}

/** The fields to change: without path ids and undefined values. */
export const defined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([key, value]) => value !== undefined && !key.endsWith('_id')))

import type { FullBoard } from './types.ts'

/** A resource with an id, and its child lists. */
export interface Item {
  id: string
  [field: string]: unknown
}
/** The list fields that lead from the board to the items of a kind. */
export type Path = readonly string[]

export const COLUMNS = ['columns']
export const CARDS = ['columns', 'cards']
export const CHECKLISTS = ['columns', 'cards', 'checklists']
export const ITEMS = ['columns', 'cards', 'checklists', 'items']
export const ATTACHMENTS = ['columns', 'cards', 'attachments']
export const CARD_LABELS = ['columns', 'cards', 'labels']
export const LABELS = ['labels']

type Change = (list: Item[], parent: Item) => Item[]

/**
 * Maps every list at the end of a path. Unchanged parts keep their object identity, up to the board itself, so that
 * renderers can compare with `===`.
 */
export const inLists = (board: FullBoard, path: Path, change: Change) =>
  descend(board as unknown as Item, path, change, 0) as unknown as FullBoard

function descend(node: Item, path: Path, change: Change, depth: number): Item {
  const key = path[depth] as string
  const list = node[key] as Item[]
  const next =
    depth === path.length - 1 ? change(list, node) : mapList(list, (child) => descend(child, path, change, depth + 1))
  return next === list ? node : { ...node, [key]: next }
}

/** Maps a list; returns the same list if no item changed. */
export function mapList<T>(list: T[], change: (item: T) => T): T[] {
  const next = list.map(change)
  return next.some((item, i) => item !== list[i]) ? next : list
}

export const without = <T extends { id: string }>(list: T[], id: string): T[] =>
  list.some((item) => item.id === id) ? list.filter((item) => item.id !== id) : list

/** Maps the item with this id. */
export const update = (board: FullBoard, path: Path, id: string, change: (item: Item) => Item) =>
  inLists(board, path, (list) => mapList(list, (item) => (item.id === id ? change(item) : item)))

export const remove = (board: FullBoard, path: Path, id: string) => inLists(board, path, (list) => without(list, id))

/** Inserts an item into the list of one parent, and removes it from all others. */
export const put = (
  board: FullBoard,
  path: Path,
  parent_id: string,
  item: Item,
  insert: (others: Item[], before: Item[]) => Item[],
) =>
  inLists(board, path, (list, parent) => {
    const others = without(list, item.id)
    return parent.id === parent_id ? insert(others, list) : others
  })

interface Found {
  item: Item
  parent: Item
  index: number
}

/** Finds an item by id, with its parent and index. */
export function find(board: FullBoard, path: Path, id: string): Found | undefined {
  const search = (parent: Item, depth: number): Found | undefined => {
    const list = parent[path[depth] as string] as Item[]
    const isLast = depth === path.length - 1
    for (const [index, item] of list.entries()) {
      const found = isLast ? item.id === id && { item, parent, index } : search(item, depth + 1)
      if (found) return found
    }
    return undefined
  }
  return search(board as unknown as Item, 0)
}

/** The index at which to insert an item, by the server's rule. */
export function indexOf(
  list: readonly Item[],
  { position, after_id }: { position?: number | null; after_id?: string | null },
): number {
  if (after_id === null) return 0
  const anchor = after_id === undefined ? -1 : list.findIndex((item) => item.id === after_id)
  if (anchor >= 0) return anchor + 1
  return Math.min(position ?? list.length, list.length)
}

/** Inserts an item by rank, then id. */
export function insertRanked(list: Item[], item: Item): Item[] {
  const isBehind = (other: Item) => {
    const [a, b] = [other['rank'] as number, item['rank'] as number]
    return a > b || (a === b && other.id > item.id)
  }
  const index = list.findIndex(isBehind)
  return list.toSpliced(index < 0 ? list.length : index, 0, item)
}

/** Structural sharing: returns `next`, but reuses every equal part of `previous`. List items are matched by id. */
export function share<T>(previous: unknown, next: T): T {
  if (previous === next || !isObject(previous) || !isObject(next)) return next
  if (Array.isArray(next)) {
    if (!Array.isArray(previous)) return next
    const before: unknown[] = previous
    const shared = next.map((item: unknown, i) => {
      // Fast path: most items are at the same index or moved by one.
      if (item === before[i] || item === before[i - 1] || item === before[i + 1]) return item
      const id = idOf(item)
      return share(idOf(before[i]) === id ? before[i] : before.find((other) => idOf(other) === id), item)
    })
    const isSame = shared.length === before.length && shared.every((item, i) => item === before[i])
    return (isSame ? previous : shared) as T
  }
  const keys = Object.keys(next)
  const [old, fresh] = [previous as Record<string, unknown>, next as Record<string, unknown>]
  const shared = Object.fromEntries(keys.map((key) => [key, share(old[key], fresh[key])]))
  const isSame = keys.length === Object.keys(old).length && keys.every((key) => shared[key] === old[key])
  return (isSame ? previous : shared) as T
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
/** Members are identified by their user id. */
const idOf = (value: unknown) => {
  const item = value as { id?: unknown; user_id?: unknown } | null
  return item?.id ?? item?.user_id
}

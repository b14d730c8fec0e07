import type { FullBoard } from './types.ts'

/** Anything on a board that has an id, with the lists that hang from it. */
export interface Item {
  id: string
  [field: string]: unknown
}
/** Which lists lead from the board to the things of a kind. */
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
 * Changes every list at the end of a path. Whatever is not changed stays the very same object, up to the board itself:
 * who draws a board need only look where something is new.
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

/** The list with every item changed; the same list when none did. */
export function mapList<T>(list: T[], change: (item: T) => T): T[] {
  const next = list.map(change)
  return next.some((item, i) => item !== list[i]) ? next : list
}

export const without = <T extends { id: string }>(list: T[], id: string): T[] =>
  list.some((item) => item.id === id) ? list.filter((item) => item.id !== id) : list

/** Changes the one item with this id, wherever it stands at the end of a path. */
export const update = (board: FullBoard, path: Path, id: string, change: (item: Item) => Item) =>
  inLists(board, path, (list) => mapList(list, (item) => (item.id === id ? change(item) : item)))

export const remove = (board: FullBoard, path: Path, id: string) => inLists(board, path, (list) => without(list, id))

/** Puts an item into the list of one parent, and takes it out of every other. */
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

/** The item with this id at the end of a path, and what it hangs from. */
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

/** Where an item goes in a list that does not hold it: the server's own rule. */
export function indexOf(
  list: readonly Item[],
  { position, after_id }: { position?: number | null; after_id?: string | null },
): number {
  if (after_id === null) return 0
  const anchor = after_id === undefined ? -1 : list.findIndex((item) => item.id === after_id)
  if (anchor >= 0) return anchor + 1
  return Math.min(position ?? list.length, list.length)
}

/** A list with an item in the place that its rank gives it: by rank, then by id. */
export function insertRanked(list: Item[], item: Item): Item[] {
  const isBehind = (other: Item) => {
    const [a, b] = [other['rank'] as number, item['rank'] as number]
    return a > b || (a === b && other.id > item.id)
  }
  const index = list.findIndex(isBehind)
  return list.toSpliced(index < 0 ? list.length : index, 0, item)
}

/**
 * The second value, made of as much of the first as is equal to it: what did not change is the very same object again.
 * Items of a list are compared with the one of the same id.
 */
export function share<T>(previous: unknown, next: T): T {
  if (previous === next || !isObject(previous) || !isObject(next)) return next
  if (Array.isArray(next)) {
    if (!Array.isArray(previous)) return next
    const before: unknown[] = previous
    const shared = next.map((item: unknown, i) => {
      // Most of what moved was moved by one.
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
/** Members have no id of their own. */
const idOf = (value: unknown) => {
  const item = value as { id?: unknown; user_id?: unknown } | null
  return item?.id ?? item?.user_id
}

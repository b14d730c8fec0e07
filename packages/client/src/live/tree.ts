import type { ResourceModel } from './model.ts'
import type { Path } from './model-types.ts'
import type { FullBoard } from './types.ts'

/** A resource. Its other fields are read by their names, with `get`. */
export interface Item {
  id: string
}
/** A field of a resource, by its name in the model. */
export const get = (item: object, name: string) => (item as Record<string, unknown>)[name]
/** A list of resources, by its name in the model. */
export const listOf = (item: object, name: string) => (get(item, name) ?? []) as Item[]
/** The resources of one kind in a parent. */
export const siblingsOf = (parent: object, { path }: ResourceModel) => listOf(parent, path.at(-1) ?? '')
export const pick = (item: object, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, get(item, name)]))

type Change = (list: Item[], parent: Item) => Item[]

/**
 * Maps every list at the end of a path. Unchanged parts keep their object identity, up to the board itself, so that
 * renderers can compare with `===`.
 */
export function inLists<T extends Item>(node: T, path: Path, change: Change, depth = 0): T {
  const key = path[depth] ?? ''
  const list = listOf(node, key)
  const isLast = depth === path.length - 1
  const next = isLast ? change(list, node) : mapList(list, (child) => inLists(child, path, change, depth + 1))
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

/** Applies a change to all lists with items of a kind, also to those with copies (labels of cards). */
export const everywhere = (
  board: FullBoard,
  { path, linkedPath }: ResourceModel,
  change: (from: FullBoard, path: Path) => FullBoard,
) => (linkedPath ? change(change(board, path), linkedPath) : change(board, path))

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
    const isLast = depth === path.length - 1
    for (const [index, item] of listOf(parent, path[depth] ?? '').entries()) {
      const found = isLast ? item.id === id && { item, parent, index } : search(item, depth + 1)
      if (found) return found
    }
    return undefined
  }
  return search(board, 0)
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
    const [a, b] = [rankOf(other), rankOf(item)]
    return a > b || (a === b && other.id > item.id)
  }
  const index = list.findIndex(isBehind)
  return list.toSpliced(index < 0 ? list.length : index, 0, item)
}

export const rankOf = (item: Item) => get(item, 'rank') as number

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

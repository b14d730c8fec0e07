import { type Fields, idField, modelOf, type ResourceModel, subjectOf } from './model.ts'
import type { Path } from './model-types.ts'
import {
  everywhere,
  find,
  get,
  type Item,
  indexOf,
  inLists,
  listOf,
  pick,
  put,
  rankOf,
  remove,
  share,
  siblingsOf,
  update,
  without,
} from './tree.ts'
import type { BoardEvent, Change, ExpectedFields, FullBoard } from './types.ts'

/**
 * Optimistic update: the board after a change. Returns the same board if the change has no effect or cannot be
 * predicted, like changes of members.
 */
export function predict(board: FullBoard, change: Change, at: string): FullBoard {
  const { verb, linked, model, fields, id, item: restored } = subjectOf(change)
  if (!model) return board
  if (!model.parent) return verb === 'update' ? share(board, { ...board, ...updated(model, fields) }) : board
  const found = find(board, model.path, id)
  const parent_id = (fields[model.parent] ?? found?.parent.id ?? board.id) as string
  if (verb === 'create')
    return found ? board : insertAt(board, model, parent_id, newItem(model, parent_id, fields, at), fields)
  if (restored) return found ? board : insertAt(board, model, parent_id, restored, fields)
  if (!found) return board
  const { item } = found
  switch (verb) {
    case 'move': {
      const moved = get(item, model.parent) === parent_id ? item : { ...item, [model.parent]: parent_id }
      return insertAt(board, model, parent_id, moved, fields)
    }
    case 'update':
      return everywhere(board, model, (from, path) =>
        update(from, path, id, (old) => share(old, { ...old, ...updated(model, fields) })),
      )
    case 'delete':
      return everywhere(board, model, (from, path) => remove(from, path, id))
    case 'link':
    case 'unlink': {
      const other = linked && find(board, modelOf(linked).path, fields[idField(linked)] as string)?.item
      if (!other) return board
      return inLists(board, modelOf(linked).linkedPath ?? [], (list, owner) => {
        if (owner.id !== id) return list
        const others = without(list, other.id)
        if (verb === 'unlink') return others
        return others === list ? [...list, other] : list
      })
    }
    default: {
      const assignees = listOf(item, 'assignees')
      const next =
        verb === 'assign' ? assigned(board, assignees, fields) : without(assignees, fields['user_id'] as string)
      return next === assignees ? board : update(board, model.path, id, () => ({ ...item, assignees: next }))
    }
  }
}

/** Whether an event does the same to the same resource as a change. */
export function isDoneBy(change: Change, { type, data }: BoardEvent): boolean {
  const { model, id, event, verb } = subjectOf(change)
  if (verb === 'restore') return /^c\w+\.created$/.test(type) && get(data, 'id') === id
  return type === event && (!model?.parent || get(data, 'id') === id)
}

/** Whether the resources that a change needs exist. */
export function isPossible(board: FullBoard, change: Change): boolean {
  const { verb, linked, model, fields, id } = subjectOf(change)
  if (!model?.parent) return true
  const has = (path: Path, wanted: unknown) =>
    wanted == null || path.length === 0 || find(board, path, wanted as string) !== undefined
  const isAdded = verb === 'create' || verb === 'restore'
  if (!isAdded && !has(model.path, id)) return false
  if (linked) return has(modelOf(linked).path, fields[idField(linked)])
  return (!isAdded && verb !== 'move') || has(model.path.slice(0, -1), fields[model.parent])
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
  const entries = Object.entries(guard).filter(([, value]) => value !== undefined)
  const isExpected = ([key, value]: [string, unknown]) =>
    get(item, key) === value || get(item, key) === get(change.input, key)
  return entries.every(isExpected)
    ? undefined
    : pick(
        item,
        entries.map(([key]) => key),
      )
}

/** Adds the neighbour that the user saw (`after_id`): an index alone is wrong if others move things in the meantime. */
export function withAnchor(board: FullBoard, change: Change): Change {
  const { model, fields, verb, id } = subjectOf(change)
  const { position, after_id } = fields
  if (!model?.parent || (verb !== 'create' && verb !== 'move') || after_id !== undefined || position == null)
    return change
  const { path } = model
  const parent_id = (fields[model.parent] ?? find(board, path, id)?.parent.id ?? board.id) as string
  const parent = parent_id === board.id ? board : find(board, path.slice(0, -1), parent_id)?.item
  if (!parent) return change
  const list = without(siblingsOf(parent, model), id)
  const before = list[Math.min(position, list.length) - 1]
  return { ...change, input: { ...fields, after_id: before?.id ?? null } } as Change
}

function insertAt(
  board: FullBoard,
  { path, isOrdered }: ResourceModel,
  parent_id: string,
  item: Item,
  position: Fields,
): FullBoard {
  return put(board, path, parent_id, item, (others, before) => {
    const index = indexOf(others, position)
    // Already at this position.
    if (before[index] === item) return before
    const placed = isOrdered ? { ...item, rank: between(others[index - 1], others[index]) } : item
    return others.toSpliced(index, 0, placed)
  })
}

/** A temporary local rank, until the server assigns one. It may be a fraction and is never sent. */
function between(before: Item | undefined, after: Item | undefined): number {
  const [low, high] = [before && rankOf(before), after && rankOf(after)]
  if (low === undefined) return (high ?? 1) - 1
  return high === undefined ? low + 1 : (low + high) / 2
}

function newItem(model: ResourceModel, parent_id: string, fields: Fields, at: string): Item {
  const { parent = '', initial, update: names, create = names, times = [] } = model
  return {
    id: fields.id ?? '',
    [parent]: parent_id,
    ...initial,
    // Null is the same as leaving it out.
    ...Object.fromEntries(create.map((name) => [name, fields[name] ?? initial[name]])),
    ...Object.fromEntries(times.map((name) => [name, at])),
  }
}

/** Adds members, without duplicates and unknown users. */
function assigned({ members }: FullBoard, assignees: Item[], { user_ids = [] }: Fields): Item[] {
  const added = [...new Set(user_ids)]
    .filter((user_id) => assignees.every(({ id }) => id !== user_id))
    .flatMap((user_id) => members.filter((member) => member.user_id === user_id).map(({ user }) => user))
  return added.length === 0 ? assignees : [...assignees, ...added]
}

/** The fields that an update sets. */
export const updated = ({ update: names }: ResourceModel, fields: Fields) =>
  pick(
    fields,
    names.filter((name) => fields[name] !== undefined),
  )

import type { ResourceName } from './model.gen.ts'
import { changeFor, type Fields, idField, linkedList, modelOf, type ResourceModel, subjectOf } from './model.ts'
import { updated } from './predict.ts'
import { find, get, type Item, inLists, listOf, pick, siblingsOf } from './tree.ts'
import type { Change, FullBoard, RestoredItem } from './types.ts'

/**
 * The changes that undo a change, given the board before it; none if it cannot be undone. Cards and columns are restored by the
 * server. Other deleted resources are created again with their ids, but not the content of files.
 */
export function inverse(board: FullBoard, change: Change): Change[] {
  const { verb, on, linked, model, fields, id } = subjectOf(change)
  if (!model || on === 'member') return []
  const before = (item: Item) => pick(item, Object.keys(updated(model, fields)))
  if (!model.parent) return verb === 'update' ? changeFor(verb, on, before(board)) : []
  const self = { [idField(on)]: id }
  if (verb === 'create') return changeFor('delete', on, self)
  const found = find(board, model.path, id)
  if (!found) return []
  const { item, parent, index } = found
  // After the same neighbour, or at the same index if the neighbour is gone by then.
  const place = { after_id: siblingsOf(parent, model)[index - 1]?.id ?? null, position: index }
  const assignees = listOf(item, 'assignees').map((user) => user.id)
  switch (verb) {
    case 'move':
      return changeFor(verb, on, { ...self, ...place, ...pick(item, model.changesParent ? [model.parent] : []) })
    case 'update':
      return changeFor(verb, on, { ...self, ...before(item) })
    case 'delete':
      if (on !== 'card' && on !== 'column') return recreate(board, on, item, place)
      return [
        {
          name: 'restoreRemoved',
          input: { removed_id: id, ...place, ...pick(item, model.changesParent ? [model.parent] : []) },
          restores: { on, item } as RestoredItem,
        },
      ]
    case 'assign':
      return (fields.user_ids ?? [])
        .filter((user_id) => !assignees.includes(user_id))
        .flatMap((user_id) => changeFor('unassign', on, { ...self, user_id }))
    case 'unassign': {
      const user_id = fields['user_id'] as string
      return assignees.includes(user_id) ? changeFor('assign', on, { ...self, user_ids: [user_id] }) : []
    }
    default: {
      if (!linked) return []
      const isLinked = listOf(item, linkedList(linked)).some((other) => other.id === fields[idField(linked)])
      if (isLinked === (verb === 'link')) return []
      return changeFor(verb === 'link' ? 'unlink' : 'link', on, fields, linked)
    }
  }
}

/** Creates a deleted resource again, with everything in it. Without a place it comes last, in the order of the list. */
function recreate(board: FullBoard, on: ResourceName, item: Item, place?: Fields): Change[] {
  const model = modelOf(on)
  const { path, parent = '', update, create = update, initial, isOrdered } = model
  const self = { [idField(on)]: item.id }
  // Files cannot be created again.
  if (create.length === 0) return []
  const names = path.length > 1 ? [parent, ...create] : create
  const created = changeFor('create', on, { id: item.id, ...pick(item, names) })
  const later = update.filter((name) => !create.includes(name) && get(item, name) !== initial[name])
  const user_ids = listOf(item, 'assignees').map((user) => user.id)
  return [
    ...created,
    ...(place && isOrdered ? changeFor('move', on, { ...self, ...place }) : []),
    ...(later.length > 0 ? changeFor('update', on, { ...self, ...pick(item, later) }) : []),
    ...(user_ids.length > 0 ? changeFor('assign', on, { ...self, user_ids }) : []),
    ...model.children.flatMap((child) =>
      siblingsOf(item, modelOf(child)).flatMap((each) => recreate(board, child, each)),
    ),
    ...ownersOf(board, model, item.id).flatMap((id) =>
      model.linkedTo ? changeFor('link', model.linkedTo, { [idField(model.linkedTo)]: id, ...self }, on) : [],
    ),
  ]
}

/** The ids of the resources to which another one is linked. */
function ownersOf(board: FullBoard, { linkedPath }: ResourceModel, id: string): string[] {
  const ids: string[] = []
  if (linkedPath)
    inLists(board, linkedPath, (list, owner) => {
      if (list.some((item) => item.id === id)) ids.push(owner.id)
      return list
    })
  return ids
}

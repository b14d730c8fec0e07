import { eventModel, modelOf } from './model.ts'
import { everywhere, find, get, insertRanked, put, remove, share, update } from './tree.ts'
import type { BoardEvent, BoardMember, FullBoard } from './types.ts'

/**
 * The board after one event. Only changed parts become new objects. Unknown kinds of events, sent by newer servers,
 * change nothing.
 */
export function applyEvent(board: FullBoard, event: BoardEvent): FullBoard {
  const { verb, on = 'board' } = eventModel(event.type) ?? {}
  const model = modelOf(on)
  if (model.parent && 'id' in event.data) {
    const { data } = event
    if (verb === 'delete') return everywhere(board, model, (from, path) => remove(from, path, data.id))
    if (verb === 'update' && !model.isOrdered)
      return everywhere(board, model, (from, path) => update(from, path, data.id, (old) => ({ ...old, ...data })))
    // An event of an older instance lacks newer fields: they stay as they are.
    const old = find(board, model.path, data.id)?.item
    const item = share(old, { ...old, ...data })
    const insert = model.isOrdered ? insertRanked : <T>(list: T[], last: T) => [...list, last]
    return put(board, model.path, get(data, model.parent) as string, item, (others) => insert(others, item))
  }
  if (event.type === 'board.updated') return share(board, { ...board, ...event.data })
  // Members have no id of their own.
  if (event.type === 'board.member_added')
    return { ...board, members: [...withoutMember(board, event.data), event.data] }
  if (event.type === 'board.member_removed') return { ...board, members: withoutMember(board, event.data) }
  // The board does not contain comments, only their number.
  if ('comment_count' in event.data && 'card_id' in event.data) {
    const { card_id, comment_count } = event.data
    return update(board, modelOf('card').path, card_id, (card) => share(card, { ...card, comment_count }))
  }
  return board
}

const withoutMember = ({ members }: FullBoard, { user_id }: BoardMember) => members.filter((m) => m.user_id !== user_id)

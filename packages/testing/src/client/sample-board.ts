import type { BoardMember, Change } from '../../../client/src/live/types.ts'
import { ModelServer } from './model-server.ts'

export const users = Array.from({ length: 4 }, (_, i) => `user-${i}`)

/** A model server with a board of three columns, six cards, two labels and two checklists. */
export function smallServer(emitsNeighbourMoves = true): ModelServer {
  const server = new ModelServer(users.map(member), emitsNeighbourMoves)
  let made = 0
  const seeded = (change: Change) => server.execute('user-0', `seed-${made++}`, change)
  for (const id of ['column-a', 'column-b', 'column-c']) seeded({ name: 'createColumn', input: { id, title: id } })
  for (const id of ['label-a', 'label-b']) seeded({ name: 'createLabel', input: { id, name: id } })
  for (let i = 0; i < 6; i++) {
    const column_id = `column-${'abc'[i % 3]}`
    seeded({ name: 'createCard', input: { id: `card-s${i}`, column_id, title: `card ${i}` } })
  }
  for (const id of ['checklist-s0', 'checklist-s1']) {
    seeded({ name: 'createChecklist', input: { id, card_id: 'card-s0', title: id } })
    seeded({ name: 'createItem', input: { id: `item-${id}`, checklist_id: id, content: id } })
  }
  return server
}
export const smallBoard = () => smallServer().board

export function member(user_id: string): BoardMember {
  const user = { id: user_id, username: user_id, email: `${user_id}@example.com`, firstname: '', lastname: '' }
  return { board_id: 'board', user_id, role: 'owner', user: user as unknown as BoardMember['user'] }
}
